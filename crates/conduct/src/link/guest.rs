//! A guest of the lab in the place of a machine.

use crate::{By, Failure, agents};
use latlab_lab::{Cache, Guest, GuestConfig, HostCpus, Identity};
use latlab_model::fault::{Fault, FaultKind};
use latlab_model::frame::Message;
use latlab_model::guest::{self, IN_VIRTUAL_TIME, MARK, TIME_LIMIT_FINDING};
use latlab_model::run::{Finding, Severity};
use latlab_model::{Nanos, Plan};
use latlab_store::{CONSOLE, OpenRun};
use latlab_sys::files::Root;
use latlab_sys::spool::{End, Spool};
use latlab_sys::{child, sched};
use std::fs;
use std::io::{self, Read};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// A guest that takes longer to boot is ended.
const BOOT: Duration = Duration::from_secs(240);
/// Under load a second of the guest takes much longer than one of ours, but not so long.
const SLOWEST: u32 = 240;
/// Where the emulator's threads only take turns, they wait for up to a tenth of the time.
const CROWDED: f64 = 0.15;

/// Lays a plan over a guest: who measures it, and the plan with what makes it repeatable.
pub fn guest(config: &GuestConfig, cache: &Cache, plan: Plan) -> Result<(By, Plan), Failure> {
    let machine = config.machine.architecture;
    let agent = agents::program(machine).unwrap_or_else(|| {
        let text = format!(
            "this build carries no agent for {machine}, which a guest needs: `make dist` makes one \
             that does"
        );
        Err(io::Error::other(text))
    })?;
    let programs = plan.loads.iter().flat_map(|load| &load.processes);
    let programs = programs.filter_map(|process| process.argv.first()).map(String::as_str);
    let mut guest = Guest::new(config, cache, agent, plan.seed, programs)?;
    let is_virtual = guest.is_in_virtual_time();
    let time = if is_virtual { IN_VIRTUAL_TIME } else { "in the host's time" };
    guest.add_file(MARK, format!("lab:{} {time}", config.machine.name));
    if Fault::among(&plan.loads).any(|fault| fault.kind == FaultKind::IrqsOff) {
        guest.add_fault(cache)?;
    }
    let Identity { emulator, accelerator, kernel, kernel_sha256, files_sha256 } =
        guest.identity()?;
    let asked = guest::Guest {
        seed: plan.seed,
        emulator,
        accelerator: accelerator.map(str::to_string),
        kernel,
        kernel_sha256,
        files_sha256,
    };
    let limit = BOOT + SLOWEST * virtual_length(&plan);
    Ok((By::Guest(Box::new(guest), limit), Plan { guest: Some(Box::new(asked)), ..plan }))
}

fn virtual_length(plan: &Plan) -> Duration {
    let cycles =
        plan.cycles.map(|cycles| plan.period_ns * i64::try_from(cycles).unwrap_or(i64::MAX));
    (plan.duration_ns.or(cycles).unwrap_or(Nanos::ZERO) + plan.warm_up_ns).duration()
}

/// A guest that runs, from the start of its emulator on.
pub(crate) struct Running {
    begun: Instant,
    /// After this it is ended.
    limit: Duration,
    /// To be told when the emulator has gone.
    end: End,
    /// What the emulator says beside the stream.
    said: Spool,
    /// The CPU that it has, taken while it runs.
    _cpus: HostCpus,
    /// How long its threads have waited for their CPU; none where a second run has other bits anyway.
    waited: Option<Nanos>,
    /// Why it was ended from outside, if it was.
    cut: Option<Finding>,
}

/// Starts a guest, an ordinary process that ends with us; its stream comes out of the spool.
pub(crate) fn start(
    guest: Guest,
    limit: Duration,
    open: &OpenRun,
) -> Result<(Child, Spool, Running), Failure> {
    let (stream, said) = (Spool::new()?, Spool::new()?);
    let waited = guest.is_in_virtual_time().then_some(Nanos::ZERO);
    let cpus = guest.reserve_cpus(sched::affinity().map_err(io::Error::from)?);
    let mut emulator = guest.prepare(&open.path().join(CONSOLE))?;
    child::ordinary(&mut emulator, cpus.cpus.clone(), child::niceness());
    let child = emulator.stdout(stream.writer()?).stderr(said.writer()?).spawn()?;
    let (begun, end) = (Instant::now(), stream.end());
    let running = Running { begun, limit, end, said, _cpus: cpus, waited, cut: None };
    Ok((child, stream, running))
}

impl Running {
    /// Its user wants its end; it hears nothing.
    pub(crate) fn stop(&mut self) {
        let text = "The guest was ended from outside, so that what it had not yet sent, up to half \
                    a second of its time, is not here.";
        self.cut = Some(Finding::new("guest-ended", Severity::Info, text));
    }

    /// Ends it where that is due, and tells its stream when it has gone.
    pub(crate) fn look(&mut self, emulator: &mut Child) {
        if self.begun.elapsed() > self.limit && self.cut.is_none() {
            let text = format!(
                "The guest was ended after {} s of wall time, which is the limit for a run of this \
                 length: what it had not yet sent, up to half a second of its time, is not here.",
                self.limit.as_secs()
            );
            self.cut = Some(Finding::new(TIME_LIMIT_FINDING, Severity::Warning, text));
        }
        if self.cut.is_some() {
            // Its journal is whole up to here.
            let _ = emulator.kill();
        }
        // Its threads do not end all at once.
        self.waited = self.waited.map(|before| before.max(waited(emulator.id())));
        if !matches!(emulator.try_wait(), Ok(None)) {
            self.end.reached();
        }
    }

    /// What is to be said of it when it has gone.
    pub(crate) fn ended(self, status: io::Result<ExitStatus>) -> Ended {
        let crowded = self.waited.and_then(|waited| crowded(waited, self.begun.elapsed()));
        let complaint = complaint(self.said);
        let failed = status.ok().filter(|status| !status.success() && self.cut.is_none());
        let crashed = failed.map(|status| crashed(status, complaint.as_deref()));
        let findings = [&self.cut, &crashed, &crowded].into_iter().flatten().cloned().collect();
        Ended { cut: self.cut, complaint, findings }
    }
}

/// What a guest leaves.
pub(crate) struct Ended {
    cut: Option<Finding>,
    complaint: Option<String>,
    findings: Vec<Finding>,
}

impl Ended {
    /// What belongs behind its stream.
    pub(crate) fn messages(&self) -> Vec<u8> {
        let stop = self.cut.iter().map(|_| Message::Stop.encode());
        let findings = self.findings.iter().map(|one| Message::Finding(one.clone()).encode());
        stop.chain(findings).flatten().collect()
    }

    /// Where it measured nothing: it, or its emulator, says why.
    pub(crate) fn failure(&self, open: &OpenRun) -> Failure {
        let why = match (&self.cut, &self.complaint) {
            (Some(cut), _) => cut.text.clone(),
            (None, Some(complaint)) => format!("its emulator said: {complaint}"),
            (None, None) => "it turned itself off".to_string(),
        };
        let said = fs::read(open.path().join(CONSOLE)).unwrap_or_default();
        let kept = last_line(&said).and_then(|last| Some((last, open.keep_console()?)));
        let kernel = match kept {
            Some((last, kept)) => {
                format!("its console is in {}, whose last line is: {last}", kept.display())
            }
            None => "its kernel said nothing".to_string(),
        };
        Failure::Guest(format!("the guest measured nothing: {why}; {kernel}"))
    }
}

/// How long the threads of an emulator have waited for a CPU; nothing when it has gone.
fn waited(emulator: u32) -> Nanos {
    let root = Root::default();
    let folder = format!("proc/{emulator}/task");
    let waited = |thread: String| -> Option<i64> {
        let stat = root.read(format!("{folder}/{thread}/schedstat"))?;
        stat.split_whitespace().nth(1)?.parse().ok()
    };
    let threads = root.names(&folder).unwrap_or_default();
    Nanos(threads.into_iter().filter_map(waited).sum())
}

/// What the run says of an emulator whose CPU others had as well.
fn crowded(waited: Nanos, of: Duration) -> Option<Finding> {
    let share = waited.as_secs_f64() / of.as_secs_f64().max(1e-9);
    let text = format!(
        "The emulator waited for its CPU in {:.0} % of the wall time, because the host had other \
         work there. QEMU may then set a timer some hundred instructions late, so that a second \
         run of this seed can differ in a few latencies.",
        share * 100.0
    );
    let found = Finding::new("host-crowded", Severity::Info, text);
    let remedy = "Where the same bits matter, leave a CPU of the host free for each guest.";
    (share > CROWDED).then(|| found.remedy(remedy))
}

/// What the run says of an emulator that did not end as it should.
fn crashed(status: ExitStatus, complaint: Option<&str>) -> Finding {
    let said = complaint.map(|said| format!(" It said: {said}.")).unwrap_or_default();
    let text = format!("The emulator ended with {status}.{said}");
    Finding::new("emulator-failed", Severity::Error, text)
}

/// What the emulator has said of itself when it had ended; it only speaks of what went wrong.
fn complaint(mut said: Spool) -> Option<String> {
    said.end().reached();
    let mut words = Vec::new();
    let _ = said.read_to_end(&mut words);
    last_line(&words)
}

/// The last line that says anything.
fn last_line(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_string)
}
