//! The journal loop: each frame of a stream is written to the journal before anything else sees it.

use crate::link::StreamOutcome;
use crate::live::LiveRun;
use crate::lock;
use crate::self_interference::{OwnThreads, SelfInterferenceWriter};
use latlab_model::CpuSet;
use latlab_model::finding::{Finding, JournalFinding};
use latlab_model::frame::{Damage, Frame, FrameReader, Message, ReadResult, Refusal};
use latlab_model::self_interference::OwnThread;
use latlab_store::OpenRun;
use latlab_store::disk::DiskFile;
use latlab_sys::sched;
use latlab_sys::work_log::{LoggedSource, TimedLog};
use std::fmt::Display;
use std::io::{self, BufReader, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The journal is synced to disk this often: with the half second that an interval takes to arrive,
/// a power cut costs at most one second.
const SYNC_EVERY: Duration = Duration::from_millis(400);

/// What a stream yielded.
pub struct StreamResult {
    /// The run, whose journal holds the whole stream; `None` if nothing is stored.
    pub journal: Option<OpenRun>,
    pub refusal: Option<Refusal>,
    /// Whether any cycle was counted.
    pub counted: bool,
    pub outcome: StreamOutcome,
}

/// Problems with the disk during the measurement, each once.
#[derive(Default)]
pub struct Problems(Mutex<Vec<String>>);

impl Problems {
    /// Notes a problem; another thread prints it, since a terminal may block.
    pub fn add(&self, problem: impl Display) {
        let (mut problems, problem) = (lock(&self.0), problem.to_string());
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }

    /// Problems after the first `known`.
    pub fn after(&self, known: usize) -> Vec<String> {
        lock(&self.0)[known..].to_vec()
    }
}

/// Reads a stream to its end: appends each frame to the journal, and only then passes its message
/// to `observe`.
///
/// If the journal can no longer be written, the loss is counted and reported in the run, and the
/// measurement goes on. If the target shares its CPUs with the conductor, the conductor's `threads`
/// add their notes among the frames.
pub fn record_stream(
    stream: impl Read,
    mut journal: Option<OpenRun>,
    problems: &Problems,
    threads: Option<&OwnThreads>,
    mut observe: impl FnMut(&Message),
) -> StreamResult {
    let log = threads.map(|threads| threads.begin_log(OwnThread::Journal));
    let stream = LoggedSource::new(stream, log);
    let mut self_interference = threads.map(SelfInterferenceWriter::new);
    let mut reader = FrameReader::new(BufReader::with_capacity(1 << 16, stream));
    let mut disk: Option<DiskSync> = None;
    let mut synced = Instant::now();
    let (mut refusal, mut prepared, mut counted) = (None, false, false);
    let mut plan = None;
    let mut outcome = StreamOutcome::Cut;
    loop {
        let frame = match reader.next_frame() {
            Ok(ReadResult::Frame(frame)) => frame,
            Ok(ReadResult::Damaged(damage)) if damage != Damage::CutOff => {
                outcome = StreamOutcome::Damaged(damage);
                break;
            }
            Ok(ReadResult::Damaged(_) | ReadResult::End) | Err(_) => break,
        };
        let Frame { message, bytes } = *frame;
        // Do not wait for anything after the agent's last message.
        let is_last = matches!(message, Message::End(_) | Message::Refusal(_));
        if let Some(journal) = &mut journal {
            let written = self_interference.as_mut().filter(|_| prepared);
            if let Some(Err(error)) =
                written.map(|self_interference| self_interference.write(journal, is_last))
            {
                problems.add(error);
            }
            if let Err(error) = journal.append(&bytes) {
                problems.add(error);
            }
            // A thread starts on the CPUs of its parent, which moves once the agent has prepared.
            if prepared && synced.elapsed() >= SYNC_EVERY {
                synced = Instant::now();
                match disk.take().map_or_else(|| DiskSync::start(threads), Ok) {
                    Ok(started) => disk.insert(started).sync(journal, problems),
                    // It will be retried.
                    Err(error) => report_not_synced(&error, journal, problems),
                }
            }
        }
        match &message {
            Message::Interval(interval) => counted |= interval.counts.count > 0,
            // A program without cycles has this as its only result.
            Message::AttachedThread(_) => counted = true,
            Message::AttachReport(report) => counted |= report.events > 0,
            Message::Edges(edges) => counted |= !edges.edges.is_empty(),
            Message::Refusal(why) => refusal = Some(why.clone()),
            Message::Plan(of_stream) => plan = Some(of_stream.clone()),
            Message::Prepared(setup) => {
                prepared = true;
                if let (Some(threads), Some(plan)) = (threads, &plan) {
                    threads.prepare(plan, setup);
                }
            }
            _ => {}
        }
        observe(&message);
        if is_last {
            outcome = StreamOutcome::Whole;
            break;
        }
    }
    if let (Some(disk), Some(journal)) = (disk, &mut journal) {
        disk.finish(journal, problems);
    }
    StreamResult { journal, refusal, counted, outcome }
}

/// A thread that syncs the journal, since that may block for any time.
struct DiskSync {
    files: SyncSender<DiskFile>,
    errors: Receiver<io::Error>,
    thread: JoinHandle<()>,
}

impl DiskSync {
    fn start(threads: Option<&OwnThreads>) -> io::Result<DiskSync> {
        let (files, to_sync) = sync_channel::<DiskFile>(1);
        let (failed, errors) = channel();
        let threads = threads.cloned();
        let sync = move || {
            let log = threads.map(|threads| threads.begin_log(OwnThread::Disk));
            sync_each(&to_sync, &failed, log.as_ref());
        };
        let thread = std::thread::Builder::new().spawn(sync)?;
        Ok(DiskSync { files, errors, thread })
    }

    fn sync(&self, journal: &mut OpenRun, problems: &Problems) {
        match journal.rescue() {
            Ok(Some(_)) => problems.add("the folder of the run was deleted: it is written again"),
            Ok(None) => {}
            // It will be retried.
            Err(error) => problems.add(error),
        }
        if let Ok(file) = journal.file() {
            // If a file is already queued, its sync will cover this data too.
            let _ = self.files.try_send(file);
        }
        report(&self.errors, journal, problems);
    }

    fn finish(self, journal: &mut OpenRun, problems: &Problems) {
        let DiskSync { files, errors, thread } = self;
        drop(files);
        let _ = thread.join();
        report(&errors, journal, problems);
    }
}

/// After a failed sync the data may be lost even if later syncs succeed.
fn report(errors: &Receiver<io::Error>, journal: &mut OpenRun, problems: &Problems) {
    if let Some(error) = errors.try_iter().last() {
        report_not_synced(&error, journal, problems);
    }
}

fn report_not_synced(error: &io::Error, journal: &mut OpenRun, problems: &Problems) {
    let finding = Finding::new(JournalFinding::JournalNotSynced { error: error.to_string() });
    problems.add(format_args!("the journal cannot be synced to the disk: {error}"));
    let _ = journal.append(&Message::Finding(finding).encode());
}

fn sync_each(files: &Receiver<DiskFile>, failed: &Sender<io::Error>, log: Option<&TimedLog>) {
    for file in files {
        let _work = log.map(TimedLog::work);
        if let Err(error) = file.sync() {
            let _ = failed.send(error);
        }
    }
}

/// The journal loop in its own thread, which waits only for the stream.
pub struct JournalThread {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<StreamResult>>>,
    started: Instant,
}

/// State that other threads may read while the stream goes on.
#[derive(Default)]
struct Shared {
    live: Mutex<LiveRun>,
    problems: Problems,
    helpers_on: OnceLock<String>,
    /// When the last frame arrived.
    heard: Mutex<Option<Instant>>,
    /// When the frame arrived that starts the measurement.
    prepared: OnceLock<Instant>,
    threads: OwnThreads,
    /// Other threads that leave the measured CPUs together with the journal's.
    beside: Mutex<Vec<u32>>,
}

impl JournalThread {
    /// Records a stream in the journal of a run; if the target shares this machine's CPUs, the
    /// thread leaves the measured ones. If no thread can be started, the journal is removed.
    pub fn start(
        stream: impl Read + Send + 'static,
        journal: OpenRun,
        shares_cpus: bool,
    ) -> io::Result<JournalThread> {
        let shared = Arc::new(Shared::default());
        // Sent through a channel: if the thread cannot be spawned, its closure is dropped with all
        // it owns.
        let (to_thread, from_here) = sync_channel::<OpenRun>(1);
        let record = {
            let shared = Arc::clone(&shared);
            move || {
                let journal = from_here.recv().ok();
                let threads = shares_cpus.then_some(&shared.threads);
                record_stream(stream, journal, &shared.problems, threads, |message| {
                    *lock(&shared.heard) = Some(Instant::now());
                    if let Message::Prepared(_) = message {
                        let _ = shared.prepared.set(Instant::now());
                    }
                    if let (Message::Prepared(prepared), true) = (message, shares_cpus) {
                        shared.leave_measured_cpus(&prepared.helpers_on);
                    }
                    lock(&shared.live).apply(message);
                })
            }
        };
        match std::thread::Builder::new().spawn(record) {
            Ok(thread) => {
                let _ = to_thread.send(journal);
                Ok(JournalThread {
                    shared,
                    thread: Mutex::new(Some(thread)),
                    started: Instant::now(),
                })
            }
            Err(error) => {
                // If it cannot be removed now, the next opening removes it, as after a kill.
                let _ = journal.discard();
                Err(error)
            }
        }
    }

    /// A copy of the current state, since the reader may be slow.
    pub fn live(&self) -> LiveRun {
        lock(&self.shared.live).clone()
    }

    /// Time since the last frame.
    pub fn silent(&self) -> Duration {
        lock(&self.shared.heard).unwrap_or(self.started).elapsed()
    }

    /// How long the agent has been measuring; `None` before that.
    pub fn measures(&self) -> Option<Duration> {
        self.shared.prepared.get().map(Instant::elapsed)
    }

    /// Whether a run that ends when its limit of miss bursts is decided has decided it.
    pub fn is_decided(&self) -> bool {
        lock(&self.shared.live).is_decided()
    }

    /// Problems after the first `known`; the run reports them too.
    pub fn problems_after(&self, known: usize) -> Vec<String> {
        self.shared.problems.after(known)
    }

    /// Starts the log in which the calling thread notes its work; the thread leaves the measured
    /// CPUs as soon as they are known, even while it waits.
    pub fn begin_log(&self, thread: OwnThread) -> TimedLog {
        self.shared.add_thread(sched::thread_id().unsigned_abs());
        self.shared.threads.begin_log(thread)
    }

    pub fn has_ended(&self) -> bool {
        lock(&self.thread).as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the end of the stream; `None` if its thread died.
    pub fn finish(&self) -> Option<StreamResult> {
        lock(&self.thread).take()?.join().ok()
    }
}

impl Shared {
    /// Moves the calling thread and the registered ones to these CPUs.
    fn leave_measured_cpus(&self, helpers_on: &str) {
        let _ = self.helpers_on.set(helpers_on.to_string());
        move_to_cpus(helpers_on);
        for thread in lock(&self.beside).iter() {
            move_thread_to_cpus(*thread, helpers_on);
        }
    }

    /// Registers a thread that must leave the measured CPUs, now or once they are known.
    fn add_thread(&self, thread: u32) {
        lock(&self.beside).push(thread);
        if let Some(helpers_on) = self.helpers_on.get() {
            move_thread_to_cpus(thread, helpers_on);
        }
    }
}

/// Moves the calling thread to these CPUs, a list such as `0,2-3`.
pub fn move_to_cpus(cpus: &str) {
    move_thread_to_cpus(sched::thread_id().unsigned_abs(), cpus);
}

fn move_thread_to_cpus(thread: u32, cpus: &str) {
    if let Ok(cpus) = cpus.parse::<CpuSet>() {
        // If the kernel refuses, the agent's own setting of this kind reports it.
        let _ = sched::set_affinity_of(thread, cpus.iter());
    }
}

/// Restores the CPUs of the calling thread when dropped, since the agent of the next run inherits
/// them.
pub struct AffinityGuard(Vec<u32>);

impl AffinityGuard {
    pub fn new() -> Option<AffinityGuard> {
        sched::affinity().ok().map(AffinityGuard)
    }
}

impl Drop for AffinityGuard {
    fn drop(&mut self) {
        let _ = sched::set_affinity(self.0.iter().copied());
    }
}
