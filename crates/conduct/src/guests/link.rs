//! A guest of the lab: it carries its job with it and only sends, so the only way to stop it is to
//! end its emulator.

use super::pauses::PauseSchedule;
use crate::link::{Link, Start, StreamOutcome};
use crate::responders::sources;
use crate::{Failure, agents};
use latlab_lab::{
    BoardWire, Cache, GuestConfig, GuestImage, HostCpus, Identity, InstructionTrace, KernelMap,
};
use latlab_model::fault::{Fault, InjectedFault};
use latlab_model::finding::{EndFinding, Finding, FindingKind};
use latlab_model::frame::{Message, RawFrame};
use latlab_model::guest::{self, GuestMeasurement, IN_VIRTUAL_TIME, MARK};
use latlab_model::respond::LinuxResponder;
use latlab_model::{Nanos, Plan};
use latlab_store::OpenRun;
use latlab_sys::files::Root;
use latlab_sys::spool::{End, Spool};
use latlab_sys::{child, sched};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Time limit for booting.
const BOOT: Duration = Duration::from_secs(240);
/// Upper limit for the slowdown of guest time against host time, under load.
const SLOWEST: u32 = 240;
const ONCE: &str = "a guest can run only once";
/// If the emulator's threads only take turns on their CPU, they wait for up to a tenth of the time.
const CROWDED: f64 = 0.15;

/// The emulator is a child process that ends with us.
pub struct GuestLink {
    /// `None` once started.
    guest: Option<GuestImage>,
    /// After this time it is killed.
    limit: Duration,
    pauses: PauseSchedule,
    emulator: Option<Emulator>,
    last_words: Option<GuestEnd>,
    console: PathBuf,
    /// Checksum of what it has measured so far.
    measured: Arc<Mutex<Measured>>,
    /// Where its execution is recorded.
    recorder: Option<Recorder>,
    /// Between lines of its board.
    wire: Option<BoardWire>,
    /// Whether responses over it have a breakdown.
    has_breakdown: bool,
}

/// How a guest's execution is recorded.
struct Recorder {
    recording: InstructionTrace,
    /// Where the plugin writes; ours, kept open for the emulator.
    to: RawFd,
    /// The requested releases.
    wanted: Option<PathBuf>,
}

/// Length and checksum of what a stream has measured.
#[derive(Default)]
struct Measured {
    bytes: u64,
    sum: Sha256,
    /// The start of a frame that is not whole yet.
    pending: Vec<u8>,
}

impl Measured {
    fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        let mut taken = 0;
        while let Some(frame) = RawFrame::first_of(&self.pending[taken..]) {
            taken += frame.bytes.len();
            if frame.is_measured {
                self.bytes += frame.bytes.len() as u64;
                self.sum.update(frame.bytes);
            }
        }
        self.pending.drain(..taken);
    }

    fn finish(self) -> GuestMeasurement {
        let sha256 = self.sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        GuestMeasurement { bytes: self.bytes, sha256 }
    }
}

/// A reader that computes the checksum of what its stream measures.
struct Summed {
    stream: Spool,
    measured: Arc<Mutex<Measured>>,
}

impl Read for Summed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        crate::lock(&self.measured).push(&buffer[..count]);
        Ok(count)
    }
}

/// The emulator of a running guest.
struct Emulator {
    child: Child,
    begun: Instant,
    /// Notified when the emulator is gone.
    end: End,
    /// The emulator's stderr.
    stderr: Spool,
    /// Reserved while it runs.
    _cpus: HostCpus,
    /// How long its threads have waited for their CPU; `None` if a replay would differ anyway.
    waited: Option<Nanos>,
    /// Why it was killed from outside, if it was.
    cut: Option<Finding>,
}

/// What a guest leaves in addition to its stream.
struct GuestEnd {
    cut: Option<Finding>,
    complaint: Option<String>,
}

impl GuestLink {
    /// A guest of this configuration for a plan, with the components that it is made of.
    pub fn new(
        config: &GuestConfig,
        cache: &Cache,
        plan: &Plan,
    ) -> Result<(GuestLink, guest::Guest), Failure> {
        let machine = config.machine.architecture;
        let agent = agents::agent_program(machine).unwrap_or_else(|| {
            Err(io::Error::other(agents::missing_agent(machine).unwrap_or_default()))
        })?;
        let programs = plan.on.loads.iter().flat_map(|load| &load.processes);
        let programs = programs.filter_map(|process| process.argv.first()).map(String::as_str);
        let seed = plan.seed.ok_or_else(|| io::Error::other("the plan of a guest has no seed"))?;
        let mut guest = GuestImage::new(config, cache, agent, seed, programs)?;
        let is_virtual = guest.is_in_virtual_time();
        let time = if is_virtual { IN_VIRTUAL_TIME } else { "in the host's time" };
        guest.add_file(MARK, format!("lab:{} {time}", config.machine.name));
        if Fault::among(&plan.on.loads).any(|fault| fault.kind == InjectedFault::IrqsOff) {
            guest.add_fault(cache)?;
        }
        if let Some(linux) = linux(plan) {
            guest.add_responder(cache, &sources().map_err(io::Error::other)?, linux, seed)?;
        }
        let asked = plan.method.gpio();
        let wire = asked.map(|asked| BoardWire::of(config, asked)).transpose();
        let mut wire = wire.map_err(io::Error::other)?.flatten();
        if linux(plan).is_some_and(|linux| linux.board_pins) {
            wire = BoardWire::with_responder(config);
        }
        if asked.is_some() && wire.is_none() {
            guest.add_wires(cache, &sources().map_err(io::Error::other)?)?;
        }
        let Identity { emulator, accelerator, kernel, kernel_sha256, files_sha256 } =
            guest.identity()?;
        let made = guest::Guest {
            seed,
            emulator,
            accelerator: accelerator.map(str::to_string),
            kernel,
            kernel_sha256,
            files_sha256,
        };
        let link = GuestLink {
            guest: Some(guest),
            limit: BOOT + SLOWEST * virtual_length(plan),
            pauses: PauseSchedule::new(plan),
            emulator: None,
            last_words: None,
            console: PathBuf::new(),
            measured: Arc::default(),
            recorder: None,
            wire,
            has_breakdown: asked.is_some_and(|wire| !wire.external),
        };
        Ok((link, made))
    }

    /// Has the guest's execution written to a file, which must stay open until it has started.
    pub(crate) fn record(
        &mut self,
        cache: &Cache,
        agent: Vec<u8>,
        to: &impl AsRawFd,
        wanted: Option<&Path>,
    ) -> Result<KernelMap, Failure> {
        let guest = self.guest.as_ref().ok_or_else(|| io::Error::other(ONCE))?;
        let recording = guest.recording(cache, agent)?;
        let map = recording.map.clone();
        let wanted = wanted.map(Path::to_path_buf);
        self.recorder = Some(Recorder { recording, to: to.as_raw_fd(), wanted });
        Ok(map)
    }
}

impl GuestLink {
    fn measurement(&self) -> Message {
        let measured = std::mem::take(&mut *crate::lock(&self.measured));
        Message::GuestMeasurement(measured.finish())
    }
}

fn linux(plan: &Plan) -> Option<&LinuxResponder> {
    plan.method.respond()?.linux.as_ref()
}

fn virtual_length(plan: &Plan) -> Duration {
    let cycles = plan.until.cycles.zip(plan.method.period());
    let cycles = cycles.map(|(count, period)| period * i64::try_from(count).unwrap_or(i64::MAX));
    let wire = plan.method.gpio().zip(plan.until.cycles);
    let wire = wire.map(|(wire, count)| wire.to_ns * i64::try_from(count).unwrap_or(i64::MAX));
    let edges = linux(plan).map(LinuxResponder::longest).or(wire);
    let measured = plan.until.duration_ns.or(cycles).or(edges).unwrap_or_default();
    (measured + plan.until.warm_up_ns.unwrap_or_default()).duration()
}

impl Link for GuestLink {
    /// The stream goes through a spool, so that the emulator never waits for a reader.
    fn start(&mut self, start: &Start<'_>) -> Result<Box<dyn Read + Send>, Failure> {
        let mut guest = self.guest.take().ok_or_else(|| io::Error::other(ONCE))?;
        guest.job = start.greeting.to_vec();
        self.console = start.console.to_path_buf();
        let (stream, stderr) = (Spool::new()?, Spool::new()?);
        let is_alike = guest.is_in_virtual_time() && self.wire.is_none();
        let waited = is_alike.then_some(Nanos::ZERO);
        let cpus = guest.reserve_cpus(sched::affinity().map_err(io::Error::from)?);
        let wired = self.wire.as_ref().map(|wire| Ok::<_, io::Error>((wire, UnixStream::pair()?)));
        let wired = wired.transpose()?;
        let end = wired.as_ref().map(|(_, (_, qemu))| qemu.as_raw_fd());
        let mut command = guest.prepare(start.console, end)?;
        if let Some(end) = end {
            child::keep_descriptor(&mut command, end);
        }
        if let Some(Recorder { recording, to, wanted }) = &self.recorder {
            let out = format!("/proc/self/fd/{to}");
            recording.add_to(child::keep_descriptor(&mut command, *to), &out, wanted.as_deref());
        }
        child::ordinary_command(&mut command, cpus.cpus.clone(), child::niceness());
        let child = command.stdout(stream.writer()?).stderr(stderr.writer()?).spawn()?;
        if let Some((wire, (ours, _))) = wired {
            let wire = wire.clone();
            // It ends with the emulator, which reports the reason itself.
            thread::Builder::new().name("wire".to_string()).spawn(move || wire.carry(ours))?;
        }
        let (begun, end) = (Instant::now(), stream.end());
        self.emulator =
            Some(Emulator { child, begun, end, stderr, _cpus: cpus, waited, cut: None });
        Ok(Box::new(Summed { stream, measured: Arc::clone(&self.measured) }))
    }

    /// A guest cannot be asked to stop, so it is killed.
    fn stop(&mut self) {
        let Some(emulator) = &mut self.emulator else { return };
        emulator.cut = Some(Finding::new(EndFinding::GuestEnded {}));
        self.kill();
    }

    fn kill(&mut self) {
        if let Some(emulator) = &mut self.emulator {
            // Its journal is complete up to here.
            let _ = emulator.child.kill();
        }
    }

    fn poll(&mut self, next: Duration, measured: &dyn Fn() -> Nanos) {
        let Some(emulator) = &mut self.emulator else { return };
        emulator.poll(self.limit);
        self.pauses.run_due(next, &emulator.child, measured);
    }

    fn wait(&mut self, _: &StreamOutcome) -> Result<Vec<Message>, Failure> {
        let Some(mut emulator) = self.emulator.take() else { return Ok(Vec::new()) };
        let status = emulator.child.wait();
        let crowded = emulator.waited.and_then(|waited| crowded(waited, emulator.begun.elapsed()));
        let complaint = complaint(emulator.stderr);
        let whole = matches!(&status, Ok(status) if status.success()) && emulator.cut.is_none();
        let sum = (whole && emulator.waited.is_some()).then(|| self.measurement());
        let failed = status.ok().filter(|status| !status.success() && emulator.cut.is_none());
        let crashed = failed.map(|status| crashed(status, complaint.as_deref()));
        let stop = emulator.cut.iter().map(|_| Message::Stop);
        let wired = self.wire.as_ref().map(|wire| {
            let (wires, has_breakdown) = (wire.words(), self.has_breakdown);
            Finding::new(EndFinding::WireByHost { wires, has_breakdown })
        });
        let findings = [&emulator.cut, &crashed, &crowded, &wired].into_iter().flatten().cloned();
        let messages = stop.chain(findings.map(Message::Finding)).chain(sum).collect();
        self.last_words = Some(GuestEnd { cut: emulator.cut, complaint });
        Ok(messages)
    }

    /// The guest, or its emulator, explains why nothing was measured.
    fn explain(&mut self, run: &OpenRun) -> Option<Failure> {
        let GuestEnd { cut, complaint } = self.last_words.as_ref()?;
        let why = match (cut, complaint) {
            (Some(cut), _) => match &cut.kind {
                FindingKind::End(EndFinding::GuestTimeLimit { limit_ns }) => {
                    format!("it was stopped after {limit_ns} of wall time")
                }
                _ => "it was stopped".to_string(),
            },
            (None, Some(complaint)) => format!("QEMU: {complaint}"),
            (None, None) => "the guest powered off".to_string(),
        };
        let console = fs::read(&self.console).unwrap_or_default();
        let kept = last_line(&console).and_then(|last| Some((last, run.keep_console()?)));
        let kernel = match kept {
            Some((last, kept)) => {
                format!("the console is in {}; last line: {last}", kept.display())
            }
            None => "the console is empty".to_string(),
        };
        Some(Failure::Guest(format!("the guest measured nothing: {why}; {kernel}")))
    }

    fn console(&self) -> Option<&Path> {
        Some(&self.console)
    }
}

impl Emulator {
    /// Kills it when due, and ends its stream when it is gone.
    fn poll(&mut self, limit: Duration) {
        if self.begun.elapsed() > limit && self.cut.is_none() {
            let limit_ns = Nanos(i64::try_from(limit.as_nanos()).unwrap_or(i64::MAX));
            self.cut = Some(Finding::new(EndFinding::GuestTimeLimit { limit_ns }));
            let _ = self.child.kill();
        }
        // Its threads do not all end at once.
        self.waited = self.waited.map(|before| before.max(cpu_wait(self.child.id())));
        if !matches!(self.child.try_wait(), Ok(None)) {
            self.end.reached();
        }
    }
}

/// How long an emulator's threads have waited for a CPU; zero when it is gone.
fn cpu_wait(emulator: u32) -> Nanos {
    let root = Root::default();
    let folder = format!("proc/{emulator}/task");
    let waited = |thread: String| -> Option<i64> {
        let stat = root.read(format!("{folder}/{thread}/schedstat"))?;
        stat.split_whitespace().nth(1)?.parse().ok()
    };
    let threads = root.names(&folder).unwrap_or_default();
    Nanos(threads.into_iter().filter_map(waited).sum())
}

/// The finding for an emulator that had to share its CPU.
fn crowded(waited: Nanos, of: Duration) -> Option<Finding> {
    let waited_share = waited.as_secs_f64() / of.as_secs_f64().max(1e-9);
    (waited_share > CROWDED).then(|| Finding::new(EndFinding::HostCrowded { waited_share }))
}

/// The finding for an emulator that failed.
fn crashed(status: ExitStatus, complaint: Option<&str>) -> Finding {
    let (status, last_line) = (status.to_string(), complaint.map(str::to_string));
    Finding::new(EndFinding::EmulatorFailed { status, last_line })
}

/// The emulator's messages after it has ended; it prints errors only.
fn complaint(mut stderr: Spool) -> Option<String> {
    stderr.end().reached();
    let mut said = Vec::new();
    let _ = stderr.read_to_end(&mut said);
    last_line(&said)
}

/// The last line that is not blank.
fn last_line(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::frame::{Hello, Interval, STREAM_VERSION};
    use latlab_model::histogram::{BinLayout, Histogram};
    use latlab_model::run::{EndReason, ThreadEnd};

    /// Checksum of a stream with this id and latency, read in pieces of a length.
    fn sum_of(id: &str, latency: i64, piece: usize) -> GuestMeasurement {
        let counts = Histogram::with_layout(BinLayout::default(), [Nanos(latency)]);
        let (start_ns, end_ns) = (Nanos(1_000), Nanos(2_000));
        let messages = [
            Message::Hello(Hello { stream: STREAM_VERSION, latlab: "1".into(), id: id.into() }),
            Message::Interval(Interval { thread: 0, start_ns, end_ns, counts }),
            Message::ThreadEnd(ThreadEnd::new(0, EndReason::Finished, 1)),
        ];
        let stream: Vec<u8> = messages.iter().flat_map(Message::encode).collect();
        let mut measured = Measured::default();
        stream.chunks(piece).for_each(|part| measured.push(part));
        measured.finish()
    }

    #[test]
    fn runs_that_measured_the_same_have_one_checksum_whatever_their_ids() {
        let one = sum_of("one", 5_000, 4096);
        assert!(one.bytes > 0);
        assert_eq!(one, sum_of("another", 5_000, 7));
        assert_ne!(one.sha256, sum_of("one", 6_000, 4096).sha256);
    }
}
