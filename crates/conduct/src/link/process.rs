//! An agent that is a process of this machine and gets its orders on standard input.

use super::{Link, Start, StreamOutcome};
use crate::Failure;
use latlab_model::Nanos;
use latlab_model::finding::{EndFinding, Finding};
use latlab_model::frame::Message;
use latlab_store::OpenRun;
use latlab_sys::child::stopped_or_continued;
use latlab_sys::files::Root;
use latlab_sys::memory;
use latlab_sys::sched::{self, Scheduling};
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

pub struct LocalProcess {
    command: Command,
    restore: fn() -> Vec<String>,
    child: Option<Child>,
    to_agent: Option<ChildStdin>,
    /// Why it is no longer waited for.
    given_up: Option<String>,
    stops: Stops,
    is_begun: bool,
}

/// How often the agent was stopped (SIGSTOP), and for how long.
#[derive(Default)]
struct Stops {
    times: u64,
    length: Duration,
    since: Option<Instant>,
}

impl Stops {
    fn look(&mut self, child: &Child) {
        match stopped_or_continued(child) {
            Some(true) => self.since = Some(Instant::now()),
            Some(false) => self.end(),
            None => {}
        }
    }

    fn end(&mut self) {
        if let Some(since) = self.since.take() {
            self.times += 1;
            self.length += since.elapsed();
        }
    }

    fn finding(&self) -> Option<Finding> {
        let length_ns = Nanos(self.length.as_nanos() as i64);
        let stopped = EndFinding::AgentStopped { times: self.times, length_ns };
        (self.times > 0).then(|| Finding::new(stopped))
    }
}

impl LocalProcess {
    /// The command gets the id of the run as its last argument; `restore` undoes what it left
    /// changed.
    pub fn new(command: Command, restore: fn() -> Vec<String>) -> LocalProcess {
        let (child, to_agent, given_up) = (None, None, None);
        let stops = Stops::default();
        LocalProcess { command, restore, child, to_agent, given_up, stops, is_begun: false }
    }
}

impl Link for LocalProcess {
    fn start(&mut self, start: &Start<'_>) -> Result<Box<dyn Read + Send>, Failure> {
        let command = self.command.arg(start.id).stdin(Stdio::piped()).stdout(Stdio::piped());
        // Its own process group, so that Ctrl-C reaches the agent only through us.
        let child = self.child.insert(command.process_group(0).spawn()?);
        self.to_agent = child.stdin.take();
        if let Some(to_agent) = &mut self.to_agent {
            // If the agent has died already, its stream, which is read later, shows it.
            let _ = to_agent.write_all(start.greeting);
        }
        let stream = child.stdout.take().ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe));
        Ok(Box::new(stream?))
    }

    fn stop(&mut self) {
        if let Some(mut to_agent) = self.to_agent.take() {
            let _ = to_agent.write_all(&Message::Stop.encode());
        }
    }

    fn kill(&mut self) {
        if let Some(child) = &mut self.child {
            // Its journal is complete up to here.
            let _ = child.kill();
            self.free_threads();
        }
    }

    fn give_up(&mut self, reason: &str) {
        self.given_up = Some(reason.to_string());
        self.kill();
    }

    fn free_threads(&mut self) {
        let Some(child) = &self.child else { return };
        let threads = Root::default().names(format!("proc/{}/task", child.id()));
        let cpus = sched::affinity().unwrap_or_default();
        for thread in threads.into_iter().flatten().filter_map(|thread| thread.parse().ok()) {
            // Threads that have ended no longer need it.
            let _ = sched::set_affinity_of(thread, cpus.iter().copied());
            let _ = sched::set_scheduling_of(thread, Scheduling::Other);
        }
    }

    fn poll(&mut self, _: Duration, measured: &dyn Fn() -> Nanos) {
        // Start-up code is no longer needed once the agent measures.
        if !self.is_begun && measured() > Nanos::ZERO {
            self.is_begun = true;
            memory::release_code(&Root::default());
        }
        if let Some(child) = &self.child {
            self.stops.look(child);
        }
    }

    fn has_ended(&mut self) -> bool {
        let still_runs = |child: &mut Child| matches!(child.try_wait(), Ok(None));
        !self.child.as_mut().is_some_and(still_runs)
    }

    fn wait(&mut self, _: &StreamOutcome) -> Result<Vec<Message>, Failure> {
        // Its stream shows how it ended, or is incomplete.
        let _ = self.child.as_mut().map(Child::wait);
        self.stops.end();
        Ok(self.stops.finding().map(Message::Finding).into_iter().collect())
    }

    fn explain(&mut self, _: &OpenRun) -> Option<Failure> {
        let reason = self.given_up.take()?;
        Some(Failure::Agent(io::Error::new(io::ErrorKind::TimedOut, reason)))
    }

    fn restore(&mut self) -> Vec<String> {
        (self.restore)()
    }
}
