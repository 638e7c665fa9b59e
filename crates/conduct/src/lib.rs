//! Plan to finished run: starts the agent, keeps the journal, feeds the live view.
//!
//! The conductor measures nothing and stays off the measured CPUs. Each frame is journalled before
//! it is shown, so that the live view shows what would be recovered.

pub mod agents;
mod budget;
pub mod campaign;
mod disk_space;
#[cfg_attr(not(feature = "guests"), path = "guests/absent.rs")]
pub mod guests;
mod journal;
pub mod link;
pub mod live;
#[cfg(feature = "pins")]
pub mod respond;
pub mod responders;
mod run;
mod self_interference;
mod stop;
pub mod tune;

pub use budget::CpuBudget;
pub use disk_space::check_disk_space;
pub use journal::move_to_cpus;
use latlab_model::Snapshot;
use latlab_model::finding::Finding;
use latlab_model::frame::{FrameReader, Message, ReadResult, Refusal, SnapshotRequest};
pub use run::{InProcessResult, RunRequest, Timing, run, run_in_process};
use std::io::{self, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
pub use stop::StopFlag;

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The agent cannot measure what was requested.
    #[error("{}", shortened(&.0.text))]
    Refused(Refusal),
    /// The run was ended before its first counted cycle.
    #[error("nothing was measured: the run ended before its first counted cycle")]
    Nothing,
    /// The agent could not be started or reached.
    #[error("cannot start the agent: {0}")]
    Agent(#[from] io::Error),
    #[error("cannot start a thread ({0}): raise `ulimit -u` and `ulimit -v`")]
    Thread(io::Error),
    #[error("{0}")]
    NoRoom(String),
    /// The guest ended before anything was measured.
    #[error("{0}")]
    Guest(String),
    /// A finding makes what a guest measured invalid.
    #[error("the guest measured nothing valid: {}", .0.code())]
    Invalid(Box<Finding>),
    /// The board cannot be reached, or the link broke before anything was measured.
    #[error("{0}")]
    Board(String),
    /// No guest can be prepared here.
    #[error("{0}")]
    NoGuest(String),
    #[error(transparent)]
    Store(#[from] latlab_store::Error),
}

impl Failure {
    pub fn wrong_plan(text: String) -> Failure {
        Failure::Refused(Refusal { plan_is_wrong: true, of_every_run: false, text })
    }

    /// Why a stream yields no run, if it does not.
    fn from_stream(refusal: Option<Refusal>, counted: bool) -> Option<Failure> {
        refusal.map(Failure::Refused).or((!counted).then_some(Failure::Nothing))
    }
}

/// Longest refusal shown: latlab's agents send less, but a frame may hold 16 MB.
const LONGEST_REFUSAL: usize = 2000;

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_REFUSAL) {
        None => text.to_string(),
        Some((end, _)) => format!("{} … ({} bytes more)", &text[..end], text.len() - end),
    }
}

/// The agent's description of its machine, without a measurement.
pub fn read_snapshot(mut agent: Command) -> Result<Snapshot, Failure> {
    let mut child = agent.arg("doctor").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (to_agent, stream) = (child.stdin.take(), child.stdout.take());
    let (Some(mut to_agent), Some(stream)) = (to_agent, stream) else {
        return Err(io::Error::from(io::ErrorKind::BrokenPipe).into());
    };
    // If the agent has died already, its stream, read below, tells why.
    let _ = to_agent.write_all(&link::greeting("doctor", &Message::Examine(SnapshotRequest)));
    let answer = FrameReader::new(BufReader::new(stream)).next_frame();
    let _ = child.wait();
    match answer? {
        ReadResult::Frame(frame) => match frame.message {
            Message::Snapshot(snapshot) => Ok(snapshot),
            _ => Err(io::Error::other("the agent sent something other than a snapshot").into()),
        },
        ReadResult::Damaged(damage) => Err(io::Error::other(damage).into()),
        ReadResult::End => Err(io::Error::other("the agent ended without an answer").into()),
    }
}

fn thread_died() -> io::Error {
    io::Error::other("a thread of latlab ended because of a bug: please report it")
}

/// Locks, ignoring poison: a panicked thread leaves these values consistent.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_of_megabytes_is_shown_in_part() {
        let failure = |text: &str| Failure::wrong_plan(text.to_string()).to_string();
        assert_eq!(failure("no right to measure"), "no right to measure");
        let long = failure(&"ö".repeat(8_000_000));
        assert!(long.len() < 5000 && long.ends_with("ö … (15996000 bytes more)"), "{}", long.len());
    }
}
