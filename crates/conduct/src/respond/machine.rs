//! The answering machine, if an agent can run on it while an instrument measures: the agent runs
//! the loads, applies the settings, and reads the conditions and the doctor's files.

use crate::link::{Link, Start, StreamOutcome, greeting};
use crate::{Failure, StopFlag};
use latlab_model::frame::{FrameReader, Message, ReadResult};
use latlab_model::machine::Machine;
use latlab_model::run::{AgentEnd, AppliedSetup};
use latlab_model::sanitize::escape_controls;
use latlab_model::{Nanos, Plan};
use std::io::{BufReader, Read, Write, stderr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Polling interval for the agent.
const POLL: Duration = Duration::from_millis(50);
/// Time for loads to start.
const WARM_UP: Duration = Duration::from_secs(1);
/// An agent that has not ended this long after a stop request is killed.
const PATIENCE: Duration = Duration::from_secs(10);

/// An agent on the machine that answers.
pub struct AnsweringMachine {
    /// Messages of the agent that were not taken yet.
    frames: Receiver<Message>,
    is_wanted: Arc<AtomicBool>,
    supervisor: Option<JoinHandle<()>>,
    /// Messages before it was ready.
    head: Vec<Message>,
    machine: Machine,
    applied: AppliedSetup,
    /// When it was ready, here and on its clock.
    ready: (Instant, Nanos),
    end: Option<AgentEnd>,
}

impl AnsweringMachine {
    /// Starts the agent, and waits until its loads run and its settings are applied.
    pub fn start(
        mut link: Box<dyn Link>,
        plan: &Plan,
        id: &str,
        stop: &StopFlag,
    ) -> Result<AnsweringMachine, Failure> {
        let greeting = greeting(id, &Message::Plan(plan.clone()));
        let console = Path::new("/dev/null");
        let stream = link.start(&Start { id, greeting: &greeting, console, stop })?;
        print_lines(&link.notes());
        let (sender, frames) = channel();
        let is_wanted = Arc::new(AtomicBool::new(true));
        let supervisor = {
            let is_wanted = Arc::clone(&is_wanted);
            let work = move || supervise(link, stream, &sender, &is_wanted);
            std::thread::Builder::new().spawn(work).map_err(Failure::Thread)?
        };
        let mut started = AnsweringMachine {
            frames,
            is_wanted,
            supervisor: Some(supervisor),
            head: Vec::new(),
            machine: Machine::default(),
            applied: AppliedSetup::default(),
            ready: (Instant::now(), Nanos::ZERO),
            end: None,
        };
        started.wait_until_ready(stop)?;
        let until =
            Instant::now() + if plan.on.loads.is_empty() { Duration::ZERO } else { WARM_UP };
        while Instant::now() < until && !stop.is_set() {
            std::thread::sleep(POLL);
        }
        Ok(started)
    }

    fn wait_until_ready(&mut self, stop: &StopFlag) -> Result<(), Failure> {
        loop {
            match self.frames.recv_timeout(POLL) {
                Ok(Message::Machine(machine)) => self.machine = machine,
                Ok(Message::Prepared(applied)) => {
                    let first = applied.threads.first();
                    let first = first.map_or(Nanos::ZERO, |thread| thread.first_release_ns);
                    self.ready = (Instant::now(), first);
                    self.applied = applied;
                    return Ok(());
                }
                Ok(Message::Refusal(refusal)) => return Err(Failure::Refused(refusal)),
                Ok(other) => self.head.extend(keep_for_stream(other)),
                Err(RecvTimeoutError::Timeout) if stop.is_set() => return Err(Failure::Nothing),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Failure::Nothing),
            }
        }
    }

    pub fn machine(&self) -> Machine {
        self.machine.clone()
    }

    /// What was applied there, without the agent's own thread, which only waits.
    pub fn applied(&self) -> AppliedSetup {
        let of_machine = self.applied.settings.iter().filter(|setting| setting.thread.is_none());
        AppliedSetup {
            settings: of_machine.cloned().collect(),
            threads: Vec::new(),
            helpers_on: self.applied.helpers_on.clone(),
        }
    }

    /// Converts an instant of this machine to the clock of the other; off by the latency of the
    /// link.
    pub fn clock_at(&self, instant: Instant) -> Nanos {
        let (here, there) = self.ready;
        let since = instant.saturating_duration_since(here);
        there + Nanos(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
    }

    /// Messages since the last call.
    pub fn take_messages(&mut self) -> Vec<Message> {
        let mut said = std::mem::take(&mut self.head);
        let new = std::iter::from_fn(|| self.frames.try_recv().ok());
        for message in new {
            match message {
                Message::End(end) => self.end = Some(end),
                other => said.extend(keep_for_stream(other)),
            }
        }
        said
    }

    /// Asks it to end its loads, restore its settings and fall silent.
    pub fn stop(&mut self) {
        self.is_wanted.store(false, Ordering::Relaxed);
        if let Some(supervisor) = self.supervisor.take() {
            let _ = supervisor.join();
        }
    }

    /// Its last message; `None` if it ended without one. Call after the last
    /// [`Self::take_messages`].
    pub fn end(&self) -> Option<&AgentEnd> {
        self.end.as_ref()
    }
}

/// Giving up early must leave nothing behind.
impl Drop for AnsweringMachine {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Filters the agent's messages: the instrument's stream has its own for the rest, and latlab's
/// self-interference says nothing about responses whose times come over a link.
fn keep_for_stream(message: Message) -> Option<Message> {
    let own = matches!(
        message,
        Message::Hello(_)
            | Message::Plan(_)
            | Message::Stop
            | Message::Machine(_)
            | Message::Prepared(_)
            | Message::Interval(_)
            | Message::Spikes(_)
            | Message::SelfInterference(_)
            | Message::ThreadEnd(_)
            | Message::End(_)
            | Message::Refusal(_)
    );
    (!own).then_some(message)
}

/// Supervises the agent until it has ended.
fn supervise(
    mut link: Box<dyn Link>,
    stream: Box<dyn Read + Send>,
    frames: &Sender<Message>,
    is_wanted: &AtomicBool,
) {
    let reader = {
        let frames = frames.clone();
        std::thread::spawn(move || read(stream, &frames))
    };
    let (mut stopped_at, mut ended_at): (Option<Instant>, Option<Instant>) = (None, None);
    while !(reader.is_finished() && link.has_ended()) {
        if stopped_at.is_none() && !is_wanted.load(Ordering::Relaxed) {
            stopped_at = Some(Instant::now());
            link.stop();
        }
        if reader.is_finished() {
            ended_at.get_or_insert_with(Instant::now);
        }
        if [stopped_at, ended_at].iter().flatten().any(|at| at.elapsed() > PATIENCE) {
            link.kill();
        }
        link.poll(POLL, &|| Nanos::ZERO);
        std::thread::sleep(POLL);
    }
    let outcome = reader.join().unwrap_or(StreamOutcome::Cut);
    for message in link.wait(&outcome).unwrap_or_default() {
        // The receiver may have given up.
        let _ = frames.send(message);
    }
    print_lines(&link.restore());
}

fn read(stream: Box<dyn Read + Send>, frames: &Sender<Message>) -> StreamOutcome {
    let mut reader = FrameReader::new(BufReader::new(stream));
    loop {
        let message = match reader.next_frame() {
            Ok(ReadResult::Frame(frame)) => frame.message,
            Ok(ReadResult::Damaged(damage)) => return StreamOutcome::Damaged(damage),
            Ok(ReadResult::End) | Err(_) => return StreamOutcome::Cut,
        };
        let is_last = matches!(message, Message::End(_) | Message::Refusal(_));
        if frames.send(message).is_err() || is_last {
            return if is_last { StreamOutcome::Whole } else { StreamOutcome::Cut };
        }
    }
}

fn print_lines(lines: &[String]) {
    for line in lines {
        // Standard error may be closed.
        let _ = writeln!(stderr(), "latlab: {}", escape_controls(line));
    }
}
