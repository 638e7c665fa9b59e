//! The journal loop: each frame of a stream is in the journal before anybody else sees it.

use crate::link::StreamOutcome;
use crate::live::LiveRun;
use crate::lock;
use crate::own_work::{OwnThreads, OwnWorkWriter};
use latlab_model::CpuSet;
use latlab_model::finding::{Finding, JournalFinding};
use latlab_model::frame::{Damage, Frame, FrameReader, Message, ReadResult, Refusal};
use latlab_model::own_work::OwnThread;
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

/// The journal is brought to the disk this often: with the half second that an interval takes to
/// come, a power cut costs no more than one second.
const SYNC_EVERY: Duration = Duration::from_millis(400);

/// What a stream came to.
pub struct StreamResult {
    /// The run, whose journal holds all of the stream; none where nothing is stored.
    pub journal: Option<OpenRun>,
    /// Why nothing could be measured.
    pub refusal: Option<Refusal>,
    /// Whether a cycle was counted.
    pub counted: bool,
    /// How it ended.
    pub outcome: StreamOutcome,
}

/// What went wrong on the way to the disk while the measuring went on, each once.
#[derive(Default)]
pub struct Problems(Mutex<Vec<String>>);

impl Problems {
    /// Notes a problem; it is printed elsewhere, since a terminal may take its time.
    pub fn add(&self, problem: impl Display) {
        let (mut problems, problem) = (lock(&self.0), problem.to_string());
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }

    /// The problems after the first so many.
    pub fn after(&self, known: usize) -> Vec<String> {
        lock(&self.0)[known..].to_vec()
    }
}

/// Reads a stream to its end: appends each frame to the journal, and only then shows its message to
/// `observe`.
///
/// A journal that cannot be written any more counts what it loses and says so in the run; the
/// measuring goes on. What the conductor's own `threads` note is among the frames, where the target shares
/// its CPUs with them.
pub fn record_stream(
    stream: impl Read,
    mut journal: Option<OpenRun>,
    problems: &Problems,
    threads: Option<&OwnThreads>,
    mut observe: impl FnMut(&Message),
) -> StreamResult {
    let log = threads.map(|threads| threads.begin_log(OwnThread::Journal));
    let stream = LoggedSource::new(stream, log);
    let mut own_work = threads.map(OwnWorkWriter::new);
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
        // Whatever the agent does after its last word, nobody waits for more.
        let is_last = matches!(message, Message::End(_) | Message::Refusal(_));
        if let Some(journal) = &mut journal {
            let written = own_work.as_mut().filter(|_| prepared);
            if let Some(Err(error)) = written.map(|own_work| own_work.write(journal, is_last)) {
                problems.add(error);
            }
            if let Err(error) = journal.append(&bytes) {
                problems.add(error);
            }
            // A thread starts on the CPUs of its parent, which has moved once the agent has prepared.
            if prepared && synced.elapsed() >= SYNC_EVERY {
                synced = Instant::now();
                match disk.take().map_or_else(|| DiskSync::start(threads), Ok) {
                    Ok(started) => disk.insert(started).sync(journal, problems),
                    // It is tried again.
                    Err(error) => report_not_synced(&error, journal, problems),
                }
            }
        }
        match &message {
            Message::Interval(interval) => counted |= interval.counts.count > 0,
            // Of a program without a cycle that is what there is to tell.
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

/// A thread that brings the journal to the disk, since that may take as long as it likes.
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
            // It is tried again.
            Err(error) => problems.add(error),
        }
        if let Ok(file) = journal.file() {
            // One that still waits for the disk will find this there as well.
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

/// What the disk has refused afterwards is in no journal for sure, whatever it says later.
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

/// The journal loop in a thread of its own, which waits for the stream and for nothing else.
pub struct JournalThread {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<StreamResult>>>,
    started: Instant,
}

/// What other threads may know of the stream while it goes on.
#[derive(Default)]
struct Shared {
    live: Mutex<LiveRun>,
    problems: Problems,
    helpers_on: OnceLock<String>,
    /// When the last frame came.
    heard: Mutex<Option<Instant>>,
    /// When the frame came with which the measuring begins.
    prepared: OnceLock<Instant>,
    threads: OwnThreads,
    /// Threads beside the journal's that leave the measured CPUs with it.
    beside: Mutex<Vec<u32>>,
}

impl JournalThread {
    /// Records a stream in the journal of a run; where the target shares this machine's CPUs, the
    /// thread leaves those that are measured. Without a thread the journal is removed.
    pub fn start(
        stream: impl Read + Send + 'static,
        journal: OpenRun,
        shares_cpus: bool,
    ) -> io::Result<JournalThread> {
        let shared = Arc::new(Shared::default());
        // What a thread is started with is lost where none can be.
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
                // What cannot be removed now is no worse than a kill: the next opening removes it.
                let _ = journal.discard();
                Err(error)
            }
        }
    }

    /// The run as it stands; a copy, since whoever shows it may take his time.
    pub fn live(&self) -> LiveRun {
        lock(&self.shared.live).clone()
    }

    /// How long nothing has come.
    pub fn silent(&self) -> Duration {
        lock(&self.shared.heard).unwrap_or(self.started).elapsed()
    }

    /// Since when the agent measures; none before.
    pub fn measures(&self) -> Option<Duration> {
        self.shared.prepared.get().map(Instant::elapsed)
    }

    /// Whether a run that is to end then has decided whether it keeps its limit of miss bursts.
    pub fn is_decided(&self) -> bool {
        lock(&self.shared.live).is_decided()
    }

    /// What went wrong after the first so many problems; the run says it as well.
    pub fn problems_after(&self, known: usize) -> Vec<String> {
        self.shared.problems.after(known)
    }

    /// Begins the log in which the calling thread notes its work; it leaves the measured CPUs as soon as
    /// they are known, whatever it waits for then.
    pub fn begin_log(&self, thread: OwnThread) -> TimedLog {
        self.shared.add_thread(sched::thread_id().unsigned_abs());
        self.shared.threads.begin_log(thread)
    }

    /// Whether the stream has ended.
    pub fn has_ended(&self) -> bool {
        lock(&self.thread).as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the end of the stream; none if its thread has died.
    pub fn finish(&self) -> Option<StreamResult> {
        lock(&self.thread).take()?.join().ok()
    }
}

impl Shared {
    /// Moves the calling thread and those beside it to these CPUs.
    fn leave_measured_cpus(&self, helpers_on: &str) {
        let _ = self.helpers_on.set(helpers_on.to_string());
        move_to_cpus(helpers_on);
        for thread in lock(&self.beside).iter() {
            move_thread_to_cpus(*thread, helpers_on);
        }
    }

    /// Adds a thread that is to leave the measured CPUs, or has to now.
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
        // Where the kernel refuses, the agent's own setting of the same kind tells.
        let _ = sched::set_affinity_of(thread, cpus.iter());
    }
}

/// Moves the calling thread back to its CPUs when dropped, since the agent of the next run begins
/// on those of its parent.
pub struct AffinityGuard(Vec<u32>);

impl AffinityGuard {
    /// Remembers the CPUs that the calling thread may run on.
    pub fn new() -> Option<AffinityGuard> {
        sched::affinity().ok().map(AffinityGuard)
    }
}

impl Drop for AffinityGuard {
    fn drop(&mut self) {
        let _ = sched::set_affinity(self.0.iter().copied());
    }
}
