//! The request to a supervisor, and the events it waits for.

use latlab_model::Nanos;
use latlab_model::load::Load;
use latlab_sys::child::ChildExit;
use latlab_sys::release_times::ReleaseTimes;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::SyncSender;

/// Bytes kept of a program's version text.
const VERSION_BYTES: u64 = 4096;

/// The first line that a supervisor reads.
#[derive(Serialize, Deserialize)]
pub struct LoadRequest {
    /// Index of the load in the plan.
    pub number: u32,
    /// The load to run.
    pub load: Load,
    /// Path of the program of each of its processes.
    pub programs: Vec<String>,
    /// CPUs it may run on.
    pub cpus: Vec<u32>,
}

impl LoadRequest {
    /// Asks the program for its version, before anything loads the machine.
    pub fn version(&self) -> String {
        let (Some(rule), Some(program)) = (&self.load.version, self.programs.last()) else {
            return String::new();
        };
        let mut text = Vec::new();
        // Programs print it on standard output or standard error, and some do not exit by
        // themselves.
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

/// Prefix of a line with the release times of the measuring threads.
pub const RELEASES_WORD: &str = "releases ";
/// The last line; if it is missing, the agent has died.
pub const STOP_WORD: &str = "stop\n";

/// Reports the stop word, or the end of input when the agent has died.
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

/// An event of a supervisor.
pub enum SupervisorEvent {
    /// The process at this index has printed that it is ready.
    Ready(usize),
    /// A line with a figure was printed.
    Line(Nanos, String),
    /// One of the processes will print no more.
    OutputEnded,
    /// A child or an orphan below it has ended; it still ran at this time.
    Ended(ChildExit, Nanos),
    /// The load is to end.
    Stop,
    /// The agent has died.
    Abandoned,
}
