//! Links to agents: a process of this machine, threads of this process, a board; that to a guest is in `guests`.

mod board;
mod in_process;
mod labgrid;
mod process;

use crate::{Failure, StopFlag, guests};
use board::BoardLink;
pub use board::{
    DetachedRuns, DetachedStart, FinishedDetachedRun, board_state, detach, programs_of_board,
    read_board_snapshot, restore_board,
};
pub use in_process::InProcess;
use latlab_model::frame::{Damage, Hello, Message, STREAM_VERSION};
use latlab_model::{Nanos, Plan, Target};
use latlab_store::OpenRun;
pub use process::LocalProcess;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The link to one agent, for one run.
///
/// What the agent's target shares with this machine is a property of the plan's [`Target`].
pub trait Link: Send {
    /// Starts the agent; returns its stream.
    fn start(&mut self, start: &Start<'_>) -> Result<Box<dyn Read + Send>, Failure>;

    /// Asks the agent to stop; its stream ends when it has.
    fn stop(&mut self);

    /// Ends the agent at once, in any state.
    fn kill(&mut self);

    /// Ends the agent for this reason, without waiting for it any longer.
    fn give_up(&mut self, _reason: &str) {
        self.kill();
    }

    /// Moves threads of the agent that never run because others of a higher priority keep their CPU
    /// busy: until then not even SIGKILL ends them.
    fn free_threads(&mut self) {}

    /// Does what is due until the next call, which comes after `next`; `measured` returns the time
    /// measured so far.
    fn poll(&mut self, _next: Duration, _measured: &dyn Fn() -> Nanos) {}

    /// Whether the agent is gone, or nothing more is to be expected.
    fn has_ended(&mut self) -> bool {
        true
    }

    /// Notes about the target for the user, once it has started.
    fn notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Waits until the agent is gone; returns messages to append to its stream.
    fn wait(&mut self, stream: &StreamOutcome) -> Result<Vec<Message>, Failure>;

    /// Rephrases a refusal of the agent in terms of its target.
    fn refused(&self, failure: Failure) -> Failure {
        failure
    }

    /// Why nothing was measured, if neither the stream nor the user tells; called after `wait`.
    fn explain(&mut self, _run: &OpenRun) -> Option<Failure> {
        None
    }

    /// Where the messages of the target's kernel are written while it runs.
    fn console(&self) -> Option<&Path> {
        None
    }

    /// Undoes what a killed agent left changed; one line per change.
    fn restore(&mut self) -> Vec<String> {
        Vec::new()
    }
}

pub struct Start<'a> {
    pub id: &'a str,
    /// The first frames for the agent.
    pub greeting: &'a [u8],
    /// File for the messages of the target's kernel, if it has its own.
    pub console: &'a Path,
    /// Aborts a slow start.
    pub stop: &'a StopFlag,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StreamOutcome {
    /// With the agent's last message.
    Whole,
    /// Before the agent's last message.
    Cut,
    /// By bytes that are not a frame.
    Damaged(Damage),
}

/// The first frames to an agent: who speaks, and the order.
pub(crate) fn greeting(id: &str, order: &Message) -> Vec<u8> {
    let latlab = latlab_model::VERSION.into();
    let hello = Message::Hello(Hello { stream: STREAM_VERSION, latlab, id: id.into() });
    [hello.encode(), order.encode()].concat()
}

/// Connects to the agent of any target.
pub struct Connector {
    /// The program that serves as the agent on this machine, with its subcommand `agent`.
    pub program: PathBuf,
    /// Folder of the kernels and programs of guests.
    pub lab_folder: PathBuf,
    /// Whether ssh may ask for a password; only one board at a time.
    pub may_ask: bool,
    /// Undoes what a killed agent left changed on this machine; one line per change.
    pub restore: fn() -> Vec<String>,
}

impl Connector {
    /// Connects to the agent for a plan; returns the plan with what is now known of its target.
    pub fn connect(&self, mut plan: Plan) -> Result<(Box<dyn Link>, Plan), Failure> {
        match &plan.on.target {
            Target::Local => {
                let mut agent = Command::new(&self.program);
                agent.arg("agent");
                Ok((Box::new(LocalProcess::new(agent, self.restore)), plan))
            }
            Target::Lab(target) => guests::connect(&target.clone(), &self.lab_folder, plan),
            Target::Board(board) => {
                Ok((Box::new(BoardLink::new(board, &plan, self.may_ask)), plan))
            }
            Target::Labgrid(asked) => {
                let held = labgrid::hold(asked, StopFlag::of_process())?;
                plan.on.place = Some(Box::new(held.place.clone()));
                Ok((Box::new(BoardLink::of_place(held, &plan, self.may_ask)), plan))
            }
        }
    }
}
