//! Boards that send arbitrary data get a one-line error, without a panic, hang or unbounded memory.
//!
//! The inputs are conversations with random but reproducible damage; `make fuzz` spends a minute on
//! them.

#[path = "../../../../capture/tests/it/damage.rs"]
mod damage;

use super::detached::{DetachedRuns, begin_of, fetch, read_board_folder};
use super::handshake::{greet_with, programs, state};
use super::lines::Lines;
use super::ssh::Connection;
use crate::{Failure, StopFlag};
use damage::Fuzz;
use latlab_model::frame::{FrameReader, Hello, Message, ReadResult, STREAM_VERSION};
use latlab_model::target::BoardTarget;
use latlab_model::{Plan, Target};
use latlab_store::Store;
use sha2::{Digest, Sha256};
use std::io::{BufReader, Cursor, Read, repeat};

const INPUTS: usize = 200;
const LARGEST: usize = 1 << 16;
const WORDS: &[&[u8]] = &[
    b"latlab-board ",
    b"latlab-board hello x86_64 root 0\n",
    b"latlab-board send\n",
    b"latlab-board run 20261124T000000Z_x ended 18446744073709551615 /\n",
    b"latlab-board piece 18446744073709551615\n",
    b"latlab-board piece -1\n",
    b"latlab-board done\n",
    b"latlab-board failed room \x1b[2J\n",
    b"\xff\xff\xff\x7f\x01\0\0\0xxxx",
    b"\n",
    b"\0",
    b" ",
];

fn board() -> BoardTarget {
    match "ssh://pi".parse() {
        Ok(Target::Board(board)) => board,
        other => panic!("{other:?}"),
    }
}

fn connection(said: &[u8]) -> Connection {
    Connection::scripted(board(), Cursor::new(said.to_vec()))
}

/// The start of a stream.
fn stream() -> Vec<u8> {
    let hello = Hello { stream: STREAM_VERSION, latlab: "0".into(), id: "x".into() };
    let plan = Message::Plan(Plan::default());
    [Message::Hello(hello).encode(), plan.encode(), Message::Stop.encode()].concat()
}

/// Conversations of well-behaved boards.
fn conversations() -> Vec<Vec<u8>> {
    let version = format!("latlab-agent {}", latlab_model::VERSION);
    let sum: String = Sha256::digest(stream()).iter().map(|byte| format!("{byte:02x}")).collect();
    let greeting = format!(
        "Welcome!\nlatlab-board hello x86_64 root 1795552045\nlatlab-board send\n\
         latlab-board told restored x\nlatlab-board start {version}\n"
    );
    let detached = "latlab-board place 71238196 ext4 2 /root/.cache/latlab/runs\n".to_string();
    let length = stream().len();
    let status = "latlab-board hello aarch64 sudo 1795552045\nlatlab-board kernel 6.1\n\
                  latlab-board cpus 4\nlatlab-board agent\nlatlab-board has hackbench\n\
                  latlab-board done\n";
    let listed = format!(
        "latlab-board hello aarch64 root 1795552045\n\
         latlab-board run 20261124T000000Z_x ended {length} /root/.cache/latlab/runs\n\
         latlab-board done\nlatlab-board piece {length}\n"
    );
    let listed = [listed.into_bytes(), stream()].concat();
    vec![
        [greeting.clone().into_bytes(), stream()].concat(),
        [greeting, detached].concat().into_bytes(),
        status.as_bytes().to_vec(),
        [listed, format!("latlab-board sum {sum}  -\n").into_bytes()].concat(),
    ]
}

/// Whether an error is one line without control characters.
fn in_one_line<T>(done: Result<T, Failure>) -> Option<T> {
    done.map_err(|failure| {
        let text = failure.to_string();
        assert!(!text.chars().any(char::is_control), "{text:?}");
    })
    .ok()
}

/// Runs every parser of board output.
fn listen(said: &[u8]) {
    let stop = &StopFlag::new();
    let mut greeted = connection(said);
    let agent = |_: &str| Ok(vec![1; 100_000]);
    if in_one_line(greet_with(&mut greeted, stop, agent)).is_some() {
        in_one_line(read_board_folder(&mut Lines::new(&mut greeted, stop)));
        let mut frames = FrameReader::new(BufReader::new(greeted.stream()));
        while let Ok(ReadResult::Frame(_)) = frames.next_frame() {}
    }
    in_one_line(state(&mut connection(said), stop));
    in_one_line(programs(&mut connection(said), stop));
    let _ = begin_of(said).map(in_one_line);
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::new(folder.path());
    let Some(mut there) = in_one_line(DetachedRuns::over(connection(said), stop)) else { return };
    for run in in_one_line(there.list()).unwrap_or_default() {
        let Ok(Some(mut incoming)) = store.receive(&run.id) else { continue };
        in_one_line(fetch(&mut there.lines(), &run, &mut incoming, &mut |_| {}));
    }
}

#[test]
fn a_board_that_asks_for_the_agent_again_is_refused() {
    let stop = &StopFlag::new();
    let hello = "latlab-board hello x86_64 root 1795552045\n";
    let said = hello.to_string() + &"latlab-board send\n".repeat(1000);
    let failure = greet_with(&mut connection(said.as_bytes()), stop, |_| Ok(vec![1; 100_000]));
    let text = failure.err().expect("a failure").to_string();
    assert!(text.contains("it sent 'send', which is not an answer"), "{text}");
}

/// Invariant (boards): A board that sends nonsense is one line, in bounded memory.
#[test]
fn fuzz_what_a_board_says() {
    let fuzz = Fuzz { name: "board", inputs: INPUTS, words: WORDS, largest: LARGEST };
    fuzz.run(&conversations(), &<[u8]>::to_vec, &listen);
}

#[test]
fn what_boards_say_that_mean_it_well_is_understood() {
    let stop = &StopFlag::new();
    let [run, detached, status, listed] = &conversations()[..] else { panic!() };
    let agent = |_: &str| Ok(vec![1; 100_000]);
    let mut connected = connection(run);
    let greeting = greet_with(&mut connected, stop, agent).expect("a greeting");
    assert_eq!(greeting.told, ["restored x"]);
    let mut connected = connection(detached);
    greet_with(&mut connected, stop, agent).expect("a greeting");
    let folder = read_board_folder(&mut Lines::new(&mut connected, stop)).expect("a place");
    assert_eq!((folder.free_bytes, folder.cpus, folder.in_memory), (71_238_196 << 10, 2, false));
    // Output about programs is not valid in a status.
    assert!(state(&mut connection(status), stop).is_err());
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::new(folder.path());
    let mut there = DetachedRuns::over(connection(listed), stop).expect("a greeting");
    let runs = there.list().expect("a list");
    let mut incoming = store.receive(&runs[0].id).expect("a folder").expect("no other receiver");
    fetch(&mut there.lines(), &runs[0], &mut incoming, &mut |_| {}).expect("a whole stream");
    assert_eq!(incoming.bytes(), stream().len() as u64);
}

#[test]
fn answers_without_an_end_are_ended_from_here() {
    let stop = &StopFlag::new();
    let hello = "latlab-board hello aarch64 root 1795552045\n";
    let line = "latlab-board has x\nlatlab-board process /agent-\n".repeat(1000).into_bytes();
    let endless = || {
        let lines = Cursor::new(hello).chain(Endless(line.clone(), 0));
        Connection::scripted(board(), lines)
    };
    for failure in [
        programs(&mut endless(), stop).unwrap_err(),
        state(&mut endless(), stop).unwrap_err(),
        state(&mut Connection::scripted(board(), repeat(b'x')), stop).unwrap_err(),
    ] {
        let text = failure.to_string();
        assert!(
            text.contains("makes no sense") || text.contains("not an answer that latlab knows"),
            "{text}"
        );
    }
}

/// Repeats the same bytes forever.
struct Endless(Vec<u8>, usize);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = buffer.len().min(self.0.len() - self.1);
        buffer[..count].copy_from_slice(&self.0[self.1..self.1 + count]);
        self.1 = (self.1 + count) % self.0.len();
        Ok(count)
    }
}
