//! The loads of a run, each supervised by its own process.
//!
//! Everything that a load forks becomes a child of its supervisor when its parent exits. The
//! supervisor ends all of it on request, or when the agent is gone. Before anything is measured it
//! waits until the load uses its CPU. Each second it reads the load's CPU time and a kernel counter
//! that this kind of load drives up.

mod check;
mod counters;
mod coverage;
mod output;
mod processes;
mod request;
mod supervisor;
mod tree;

use crate::layout::{Cpus, Layout, check_cpus};
use crate::outbox::Outbox;
use crate::reasons::STOP;
use crate::refusals::{machine_refuses, plan_is_wrong};
pub use check::missing_program;
use latlab_sys::release_times::ReleaseTimes;

use latlab_model::frame::{FrameReader, Message, ReadResult, Refusal};
use latlab_model::load::{Load, LoadCpus};
use latlab_model::self_interference::OwnThread;
use latlab_model::{CpuSet, Plan};
use latlab_sys::files::Root;
use latlab_sys::undo::restore_loads;
use latlab_sys::work_log::{LoggedSource, TimedLog};
use request::{LoadRequest, RELEASES_WORD, STOP_WORD};
use std::io::{BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
pub use supervisor::supervise;

/// Argument that makes this program a supervisor.
pub const LOAD_SUPERVISOR: &str = "load-supervisor";
/// Upper bound of the time until a supervisor reports that its load runs or failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// Loads that run, or wait to be started; dropping this kills them.
pub struct Loads(Vec<SupervisedLoad>);

struct SupervisedLoad {
    request: LoadRequest,
    supervisor: u32,
    /// Open while the agent lives.
    input: Option<ChildStdin>,
    forwarder: Option<JoinHandle<()>>,
    /// Reports that the load runs, or has ended.
    begun: Receiver<()>,
}

impl Loads {
    /// Checks the needs of the loads and starts their supervisors, which wait for a request.
    pub fn start_supervisors(
        root: &Root,
        plan: &Plan,
        layout: &Layout,
        cpus: &Cpus,
        outbox: &Outbox,
    ) -> Result<Loads, Refusal> {
        let mut loads = Loads(Vec::new());
        if plan.on.loads.is_empty() {
            return Ok(loads);
        }
        let placement = placement(plan, layout, cpus).map_err(plan_is_wrong)?;
        let programs = check::check(root, plan).map_err(machine_refuses)?;
        for ((number, load), programs) in (0..).zip(&plan.on.loads).zip(programs) {
            let cpus = placement.iter().collect();
            let request = LoadRequest { number, load: load.clone(), programs, cpus };
            let supervised = SupervisedLoad::spawn(request, outbox)
                .map_err(|error| cannot_start(load, &error))?;
            loads.0.push(supervised);
        }
        Ok(loads)
    }

    /// Starts all loads, and waits until they run.
    pub fn start(&mut self) -> Result<(), Refusal> {
        for load in &mut self.0 {
            load.start().map_err(|error| cannot_start(&load.request.load, &error))?;
        }
        let until = Instant::now() + PATIENCE;
        self.0.iter().for_each(|load| load.wait_until_started(until));
        Ok(())
    }

    /// The supervisor processes; each process that they start leads a process group.
    pub fn supervisors(&self) -> Vec<u32> {
        self.0.iter().map(|load| load.supervisor).collect()
    }

    /// Sends the supervisors the release times, between which they check their loads.
    pub fn tell_releases(&mut self, releases: &ReleaseTimes) {
        if releases.threads().is_empty() {
            return;
        }
        let text = serde_json::to_string(releases.threads()).expect("they are numbers");
        for input in self.0.iter_mut().filter_map(|load| load.input.as_mut()) {
            // Fails only if the supervisor has gone.
            let _ = writeln!(input, "{RELEASES_WORD}{text}");
        }
    }

    /// Ends all loads together and waits until nothing of them is left.
    pub fn end(mut self) {
        for load in &mut self.0 {
            if let Some(mut input) = load.input.take() {
                // Fails only if the supervisor has gone.
                let _ = input.write_all(STOP_WORD.as_bytes());
            }
        }
    }
}

fn cannot_start(load: &Load, error: &std::io::Error) -> Refusal {
    machine_refuses(format!("cannot start the load {}: {error}", load.name))
}

impl Drop for SupervisedLoad {
    fn drop(&mut self) {
        self.input.take();
        if let Some(forwarder) = self.forwarder.take() {
            let _ = forwarder.join();
        }
    }
}

impl SupervisedLoad {
    fn spawn(request: LoadRequest, outbox: &Outbox) -> std::io::Result<SupervisedLoad> {
        let mut supervisor = Command::new(std::env::current_exe()?)
            .args([LOAD_SUPERVISOR, &request.load.name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (input, output) = (supervisor.stdin.take(), supervisor.stdout.take());
        let id = supervisor.id();
        let (begin, begun) = channel();
        let outbox = outbox.clone();
        let forward = move || {
            if let Some(output) = output {
                forward_frames(output, &outbox, &begin);
            }
            let _ = supervisor.wait();
            // A killed supervisor has left its load behind.
            restore_loads(&Root::default());
        };
        let forwarder = std::thread::Builder::new().spawn(forward)?;
        Ok(SupervisedLoad { request, supervisor: id, input, forwarder: Some(forwarder), begun })
    }

    fn start(&mut self) -> std::io::Result<()> {
        let line = serde_json::to_string(&self.request).expect("a request has only text keys");
        self.input.as_mut().map_or(Ok(()), |input| writeln!(input, "{line}"))
    }

    fn wait_until_started(&self, until: Instant) {
        while STOP.load(Ordering::Relaxed) == 0 && Instant::now() < until {
            match self.begun.recv_timeout(Duration::from_millis(50)) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }
}

/// Forwards the frames of a supervisor.
fn forward_frames(output: ChildStdout, outbox: &Outbox, begin: &Sender<()>) {
    let log = TimedLog::new(outbox.begin_log(OwnThread::Loads), outbox.releases.clone());
    let output = LoggedSource::new(output, Some(log));
    let mut frames = FrameReader::new(BufReader::new(output));
    while let Ok(ReadResult::Frame(frame)) = frames.next_for_agent() {
        let message = frame.message;
        match &message {
            // The next sample includes a lost one, and dropped figures are counted elsewhere.
            Message::LoadSample(_) | Message::LoadLine(_) | Message::SelfInterference(_) => {
                outbox.offer(&message);
            }
            _ => outbox.send(&message),
        }
        if matches!(message, Message::LoadBegin(_)) {
            let _ = begin.send(());
        }
    }
}

/// The CPUs that the loads may run on.
fn placement(plan: &Plan, layout: &Layout, cpus: &Cpus) -> Result<CpuSet, String> {
    let placement = match &plan.on.load_on {
        LoadCpus::Everywhere => cpus.usable.clone(),
        LoadCpus::Measured => layout.measured(cpus),
        LoadCpus::Others => cpus.usable.without(&layout.measured(cpus)),
        LoadCpus::Cpus(asked) => check_cpus(asked, cpus, "--load-on")?,
    };
    match placement.is_empty() {
        true => Err("--load-on others: every CPU is measured; measure fewer with --cpus".into()),
        false => Ok(placement),
    }
}
