//! Detached runs, which a board measures without a link: start, status, collection.
//!
//! Such a run is a folder on the board. All commands go to a shell there that reads one per line
//! (`serve` in `reach.sh`), so that collecting a run needs no agent.

use super::handshake::{BoardHello, Greeting, detached_run, greet, why_failed};
use super::lines::{ANSWER, Lines};
use super::ssh::{BoardCommand, Connection, agent_end};
use super::{clock_finding, refusal, restore_board, wants_root};
use crate::disk_space::{BoardFolder, check_room_here, room_on_board};
use crate::link::greeting;
use crate::{Failure, StopFlag};
use latlab_model::finding::{EndFinding, Finding};
use latlab_model::frame::{FrameReader, Message, ReadResult};
use latlab_model::plan::Detached;
use latlab_model::target::{BoardTarget, DetachedRun, DetachedState};
use latlab_model::{Nanos, Plan};
use latlab_store::{Error, Finished, Incoming, Store, verify};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Polling interval.
const ASK: Duration = Duration::from_millis(250);
/// How long to wait for a run to start measuring; loads may be slow to start. The run continues in
/// any case.
const BEGIN: Duration = Duration::from_secs(90);
/// How long an agent may take to end after a stop request.
const END: Duration = Duration::from_secs(30);
/// How much of a stream is read to see whether the run measures.
const LOOKED_AT: u64 = 16 << 20;

/// A detached run that was started.
pub struct DetachedStart {
    pub board: BoardTarget,
    pub id: String,
    /// The folder on the board that contains the run's own.
    pub folder: String,
    /// Size of its stream at which it ends.
    pub most_bytes: u64,
    /// Notes for the user, one per line.
    pub notes: Vec<String>,
}

/// Starts a detached run on a board and waits until it measures.
///
/// The limit in the plan's [`Detached`] is set by the free space there.
pub fn detach(mut plan: Plan, id: &str, stop: &StopFlag) -> Result<DetachedStart, Failure> {
    let (Some(board), Some(detached)) = (plan.on.target.board().cloned(), plan.on.detached.clone())
    else {
        return Err(Failure::wrong_plan("only a board measures without its link".to_string()));
    };
    let attaches = plan.method.attach().is_some();
    let folder = detached.folder.as_deref();
    let board_command = BoardCommand::Detach { id, wants_root: wants_root(&plan), folder };
    let mut connection = Connection::open(&board, &board_command)?;
    let Greeting { right, told, .. } = greet(&mut connection, stop)?;
    let mut notes: Vec<String> = told.iter().map(|told| format!("{board}: {told}")).collect();

    let mut lines = Lines::new(&mut connection, stop);
    let board_folder = read_board_folder(&mut lines)?;
    let (most_bytes, arithmetic) = match room_on_board(&plan, &board_folder) {
        Ok(room) => room,
        Err(why) => {
            let failure = lines.failure(&why);
            // The shell there removes the folder before it ends.
            connection.end();
            return Err(failure);
        }
    };
    notes.push(format!("{board}: {arithmetic}"));
    plan.on.detached = Some(Detached { most_bytes, ..detached });
    let greeting = greeting(id, &Message::Plan(plan));
    lines.say(&format!("{}\n", greeting.len()))?;
    lines.send(&greeting)?;
    expect(&mut lines, "detached")?;

    let run = DetachedRun {
        id: id.to_string(),
        state: DetachedState::Measures,
        bytes: 0,
        folder: board_folder.path.clone(),
    };
    match await_begin(&mut lines, &run) {
        Ok(true) => {}
        Ok(false) => notes.push(format!("{board}: it does not measure yet; see its status")),
        Err(failure) => {
            // Clean up a run that could not start; without a link it is collected as empty later.
            let _ = end(&mut lines, &run).and_then(|()| ask(&mut lines, "remove", &run.id));
            return Err(refusal(&board, right, attaches, failure));
        }
    }
    Ok(DetachedStart { board, id: run.id, folder: run.folder, most_bytes, notes })
}

/// Where the stream will lie.
pub fn read_board_folder(lines: &mut Lines<'_>) -> Result<BoardFolder, Failure> {
    let said = expect(lines, "place")?;
    let read = || {
        let mut words = said.splitn(4, ' ');
        let free: u64 = words.next()?.parse().ok()?;
        let (kind, cpus) = (words.next()?, words.next()?.parse().ok()?);
        let in_memory = matches!(kind, "tmpfs" | "ramfs" | "rootfs");
        let path = words.next()?.to_string();
        Some(BoardFolder { free_bytes: free.saturating_mul(1024), in_memory, cpus, path })
    };
    read().ok_or_else(|| lines.meaningless(&said))
}

/// Waits until a run measures; returns whether it does. The error says why it cannot.
fn await_begin(lines: &mut Lines<'_>, run: &DetachedRun) -> Result<bool, Failure> {
    let until = Instant::now() + BEGIN;
    let mut stream = Vec::new();
    while Instant::now() < until {
        // Checked before the stream, so that the agent's last words are read.
        let (code, last) = end_of(lines, run)?;
        let bytes = piece_length(lines, run, stream.len() as u64)?;
        if stream.len() as u64 + bytes > LOOKED_AT {
            return Err(lines.failure("what it sends is not the stream of an agent"));
        }
        lines.piece(bytes, |part| {
            stream.extend_from_slice(part);
            Ok(())
        })?;
        match begin_of(&stream) {
            Some(Ok(())) => return Ok(true),
            Some(Err(failure)) => return Err(failure),
            None if code.is_some() => {
                let reason = how_it_ended(code, &last);
                return Err(lines.failure(&format!("nothing was measured: {reason}")));
            }
            None => sleep(ASK),
        }
    }
    Ok(false)
}

/// What the first frames say: that the threads start, or why they cannot; `None` while neither is
/// known.
pub fn begin_of(stream: &[u8]) -> Option<Result<(), Failure>> {
    let mut frames = FrameReader::new(stream);
    while let Ok(ReadResult::Frame(frame)) = frames.next_frame() {
        match frame.message {
            Message::Refusal(refusal) => return Some(Err(Failure::Refused(refusal))),
            // The last frame before the threads start.
            Message::Clocks(_) => return Some(Ok(())),
            _ => {}
        }
    }
    None
}

/// The detached runs of a board, over one connection.
pub struct DetachedRuns<'a> {
    connection: Connection,
    stop: &'a StopFlag,
    clock_off_ns: Nanos,
}

/// A collected run.
pub struct FinishedDetachedRun {
    pub finished: Finished,
    /// Notes for the user, one per line.
    pub notes: Vec<String>,
}

impl<'a> DetachedRuns<'a> {
    /// Connects to a board; `folder` is searched in addition to the usual ones.
    pub fn open(
        board: &BoardTarget,
        folder: Option<&str>,
        stop: &'a StopFlag,
    ) -> Result<DetachedRuns<'a>, Failure> {
        DetachedRuns::over(Connection::open(board, &BoardCommand::Collect { folder })?, stop)
    }

    /// Over a connection on which nothing was sent yet.
    pub(super) fn over(
        mut connection: Connection,
        stop: &'a StopFlag,
    ) -> Result<DetachedRuns<'a>, Failure> {
        let hello = BoardHello::hear(&mut Lines::new(&mut connection, stop))?;
        Ok(DetachedRuns { connection, stop, clock_off_ns: hello.clock_off_ns })
    }

    pub(super) fn lines(&mut self) -> Lines<'_> {
        Lines::new(&mut self.connection, self.stop)
    }

    pub fn list(&mut self) -> Result<Vec<DetachedRun>, Failure> {
        list(&mut self.lines())
    }

    /// Asks a run to end, and waits until its agent has restored the board.
    pub fn end(&mut self, run: &DetachedRun) -> Result<(), Failure> {
        end(&mut self.lines(), run)
    }

    /// Collects a run that has ended; the board's copy is removed once it is complete here. `watch`
    /// gets the number of bytes received.
    ///
    /// After an error the next attempt resumes where this one stopped.
    pub fn collect(
        &mut self,
        run: &DetachedRun,
        store: &Store,
        mut watch: impl FnMut(u64),
    ) -> Result<FinishedDetachedRun, Failure> {
        let board = self.connection.board.clone();
        let clock_off_ns = self.clock_off_ns;
        let mut lines = self.lines();
        let (code, last) = end_of(&mut lines, run)?;
        let reason = how_it_ended(code, &last);
        let mut incoming = store
            .receive(&run.id)?
            .ok_or_else(|| lines.failure(&format!("another latlab collects {} now", run.id)))?;
        let needed = run.bytes.saturating_sub(incoming.bytes()).saturating_add(run.bytes);
        check_room_here(store, needed)?;
        fetch(&mut lines, run, &mut incoming, &mut watch)?;
        let finished = match known(store, run, &incoming)? {
            Some(finished) => {
                incoming.discard()?;
                finished
            }
            None => {
                let is_whole = incoming.ends_with_last_word()?;
                let lost = (!is_whole).then(|| {
                    let target = board.to_string();
                    Finding::new(EndFinding::BoardLost { target, reason: reason.clone() })
                });
                let last = clock_finding(clock_off_ns).into_iter().chain(lost);
                let last: Vec<Message> = last.map(Message::Finding).collect();
                match incoming.finish(&last, !is_whole) {
                    Ok(finished) => finished,
                    Err(Error::NothingMeasured { holds_counts: false, .. }) => {
                        ask(&mut lines, "remove", &run.id)?;
                        let text = format!("{} has measured nothing: {reason}", run.id);
                        return Err(lines.failure(&text));
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        };
        let mut notes = Vec::new();
        match verify(&finished.path).whole {
            true => match ask(&mut lines, "remove", &run.id)?.as_str() {
                "removed" => {}
                _ => notes.push(format!("{board}: {} cannot be removed there", run.folder)),
            },
            false => notes.push(format!(
                "{} is not as it was written: it stays on {board} until it is collected again",
                finished.path.display()
            )),
        }
        if run.state == DetachedState::Cut || finished.run.recovered {
            match restore_board(&board, self.stop) {
                Ok(told) => notes.extend(told.iter().map(|told| format!("{board}: {told}"))),
                Err(failure) => notes.push(failure.to_string()),
            }
        }
        Ok(FinishedDetachedRun { finished, notes })
    }
}

/// Copies the rest of a stream, and compares the whole with the board's.
pub fn fetch(
    lines: &mut Lines<'_>,
    run: &DetachedRun,
    incoming: &mut Incoming,
    watch: &mut impl FnMut(u64),
) -> Result<(), Failure> {
    // What an earlier attempt left may be damaged; a copy in one piece is not.
    for _ in 0..2 {
        if incoming.bytes() > run.bytes {
            incoming.restart()?;
        }
        let bytes = piece_length(lines, run, incoming.bytes())?;
        if bytes != run.bytes - incoming.bytes() {
            return Err(lines.failure(&format!("{} has not ended there", run.id)));
        }
        lines.piece(bytes, |part| {
            incoming.append(part)?;
            watch(incoming.bytes());
            Ok(())
        })?;
        let here = incoming.sync()?;
        // A slow board may take long to read its flash.
        lines.patience(ANSWER * 10);
        lines.say(&format!("sum {}\n", run.id))?;
        let there = expect(lines, "sum")?;
        match there.split_whitespace().next() {
            None => return Err(lines.failure(&why_failed("sum", 0))),
            Some(there) if there == here.sha256 => return Ok(()),
            Some(_) => incoming.restart()?,
        }
    }
    Err(lines.failure(&format!("{} arrived damaged: it stays there; try again", run.id)))
}

/// The stored run, if an earlier attempt has collected it already; a different run may have the
/// same id.
fn known(
    store: &Store,
    run: &DetachedRun,
    incoming: &Incoming,
) -> Result<Option<Finished>, Failure> {
    let path = store.root().join(&run.id);
    let Ok(found) = latlab_store::read_run(&path) else { return Ok(None) };
    let is_same = incoming.plan()?.is_some_and(|plan| plan == found.asked);
    Ok(is_same.then_some(Finished { run: found, path }))
}

/// The exit code of a run's agent, if it has ended, and its last error message.
fn end_of(lines: &mut Lines<'_>, run: &DetachedRun) -> Result<(Option<i32>, String), Failure> {
    lines.patience(ANSWER);
    lines.say(&format!("end {}\n", run.id))?;
    let said = expect(lines, "end")?;
    let (code, last) = said.split_once(' ').unwrap_or((&said, ""));
    Ok((code.parse().ok(), last.trim().to_string()))
}

fn how_it_ended(code: Option<i32>, last: &str) -> String {
    let last = if last.is_empty() { String::new() } else { format!(": {last}") };
    match code {
        Some(code) => agent_end(code, &last),
        None => format!("the board went down, or its agent was killed, while it measured{last}"),
    }
}

fn list(lines: &mut Lines<'_>) -> Result<Vec<DetachedRun>, Failure> {
    lines.patience(ANSWER);
    lines.say("list\n")?;
    let mut runs: Vec<DetachedRun> = Vec::new();
    loop {
        let line = lines.next()?;
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("run", words) => {
                let run = detached_run(lines, words)?;
                // The user may name the usual folder.
                if !runs.iter().any(|known| known.id == run.id) {
                    runs.push(run);
                }
            }
            ("done", _) => return Ok(runs),
            _ => return Err(lines.meaningless(&line)),
        }
    }
}

fn state_of(lines: &mut Lines<'_>, run: &DetachedRun) -> Result<Option<DetachedState>, Failure> {
    let found = list(lines)?.into_iter().find(|one| one.id == run.id);
    Ok(found.map(|run| run.state))
}

fn end(lines: &mut Lines<'_>, run: &DetachedRun) -> Result<(), Failure> {
    ask(lines, "stop", &run.id)?;
    let until = Instant::now() + END;
    while state_of(lines, run)? == Some(DetachedState::Measures) {
        if Instant::now() > until {
            return Err(lines.failure(&format!("the agent of {} does not end", run.id)));
        }
        sleep(ASK);
    }
    Ok(())
}

/// Sends a command about a run; returns the answer.
fn ask(lines: &mut Lines<'_>, word: &str, id: &str) -> Result<String, Failure> {
    lines.patience(ANSWER);
    lines.say(&format!("{word} {id}\n"))?;
    lines.next()
}

/// Asks for the part of a stream from this offset; returns the length of the piece that follows.
fn piece_length(lines: &mut Lines<'_>, run: &DetachedRun, from: u64) -> Result<u64, Failure> {
    lines.patience(ANSWER);
    lines.say(&format!("get {} {from}\n", run.id))?;
    let said = expect(lines, "piece")?;
    said.parse().map_err(|_| lines.meaningless(&said))
}

/// The rest of the next line, which must begin with `word` unless something failed.
fn expect(lines: &mut Lines<'_>, word: &str) -> Result<String, Failure> {
    let line = lines.next()?;
    match line.split_once(' ').unwrap_or((&line, "")) {
        (first, rest) if first == word => Ok(rest.to_string()),
        ("failed", why) => Err(lines.failure(&why_failed(why, 0))),
        ("gone", _) => Err(lines.failure("the run is not there any more")),
        _ => Err(lines.meaningless(&line)),
    }
}
