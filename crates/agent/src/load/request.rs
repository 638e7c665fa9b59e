//! What a supervisor is asked to do, and what it waits for.

use latlab_model::Nanos;
use latlab_model::load::Load;
use latlab_sys::child::ChildExit;
use latlab_sys::release_times::ReleaseTimes;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::SyncSender;

/// Bytes of what a program says of its version.
const VERSION_BYTES: u64 = 4096;

/// The first line that a supervisor reads.
#[derive(Serialize, Deserialize)]
pub struct LoadRequest {
    /// Place of the load in the plan.
    pub number: u32,
    /// What to run.
    pub load: Load,
    /// Where the program of each of its processes lies.
    pub programs: Vec<String>,
    /// Where it may run.
    pub cpus: Vec<u32>,
}

impl LoadRequest {
    /// Asks the program for its version, before anything loads the machine.
    pub fn version(&self) -> String {
        let (Some(rule), Some(program)) = (&self.load.version, self.programs.last()) else {
            return String::new();
        };
        let mut text = Vec::new();
        // Some say it on one of the two, some on the other, and not all end by themselves.
        let asked = std::io::pipe().and_then(|(reader, writer)| {
            let child = Command::new("timeout")
                .args(["-s", "KILL", "2", program])
                .args(&rule.args)
                .stdin(Stdio::null())
                .stdout(writer.try_clone()?)
                .stderr(writer)
                .spawn();
            let mut child = child?;
            reader.take(VERSION_BYTES).read_to_end(&mut text)?;
            child.wait()
        });
        asked.map(|_| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default()
    }
}

/// What a line begins with that tells the releases of the measuring threads.
pub const RELEASES_WORD: &str = "releases ";
/// The last line; without it, whoever started the supervisor has died.
pub const STOP_WORD: &str = "stop\n";

/// Listens for the word to end, or for the end of whoever says it.
pub fn listen(
    mut input: impl BufRead + Send + 'static,
    events: SyncSender<SupervisorEvent>,
    releases: ReleaseTimes,
) -> std::io::Result<()> {
    let listen = move || {
        let mut line = String::new();
        let mut word = input.read_line(&mut line);
        if let Some(text) = line.strip_prefix(RELEASES_WORD) {
            releases.publish(&serde_json::from_str::<Vec<_>>(text).unwrap_or_default());
            line.clear();
            word = input.read_line(&mut line);
        }
        let event = match word.is_ok() && line == STOP_WORD {
            true => SupervisorEvent::Stop,
            false => SupervisorEvent::Abandoned,
        };
        let _ = events.send(event);
    };
    std::thread::Builder::new().spawn(listen).map(drop)
}

/// Something has happened.
pub enum SupervisorEvent {
    /// A process has printed that it is ready, by its place in the load.
    Ready(usize),
    /// A line with a figure was printed.
    Line(Nanos, String),
    /// Nothing more will be printed by one of the processes.
    OutputEnded,
    /// A child has ended, or an orphan below it, which still ran at this time.
    Ended(ChildExit, Nanos),
    /// The load is to end.
    Stop,
    /// Whoever started the supervisor has died.
    Abandoned,
}
