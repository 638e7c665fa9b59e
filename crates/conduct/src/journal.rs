//! The journal's own thread: it waits for the agent's stream and for nothing else.

use crate::live::Live;
use crate::sync::lock;
use latlab_model::CpuSet;
use latlab_model::frame::{Frame, FrameReader, Message, Next, Refusal};
use latlab_model::run::{Finding, Severity};
use latlab_store::OpenRun;
use latlab_sys::sched;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The journal is brought to the disk this often: with the half second that an interval takes to come,
/// a power cut costs no more than one.
pub(crate) const SYNC_EVERY: Duration = Duration::from_millis(400);

/// The thread that keeps what the agent says.
pub struct Keeper {
    seen: Arc<Seen>,
    thread: Mutex<Option<JoinHandle<Kept>>>,
}

/// What became of the stream.
pub struct Kept {
    /// The run, whose journal holds all of it.
    pub open: OpenRun,
    /// Why nothing could be measured.
    pub refusal: Option<Refusal>,
    /// Whether anything was.
    pub counted: bool,
}

/// What others may know of the stream while it goes on.
#[derive(Default)]
struct Seen {
    live: Mutex<Live>,
    /// What went wrong, each once.
    said: Mutex<Vec<String>>,
    helpers_on: OnceLock<String>,
}

impl Keeper {
    /// Keeps this stream in the journal of this run; `here` says whether this machine is measured.
    pub fn start(stream: impl Read + Send + 'static, open: OpenRun, here: bool) -> Keeper {
        let seen = Arc::new(Seen::default());
        let thread = std::thread::spawn({
            let seen = Arc::clone(&seen);
            move || keep(stream, open, &seen, here)
        });
        Keeper { seen, thread: Mutex::new(Some(thread)) }
    }

    /// The run as it stands; a copy, since whoever shows it may take his time.
    pub fn live(&self) -> Live {
        lock(&self.seen.live).clone()
    }

    /// What went wrong after the first so many things; the run says it as well.
    pub fn said_after(&self, known: usize) -> Vec<String> {
        lock(&self.seen.said)[known..].to_vec()
    }

    /// Takes the calling thread to where it disturbs no measuring thread, once that is known.
    pub fn leave_measured_cpus(&self) -> bool {
        self.seen.leave_measured_cpus()
    }

    /// Whether the stream has ended.
    pub fn has_ended(&self) -> bool {
        lock(&self.thread).as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the end of the stream; none if its thread has died.
    pub fn end(&self) -> Option<Kept> {
        lock(&self.thread).take()?.join().ok()
    }
}

impl Seen {
    /// Only noted here, since a terminal may take its time.
    fn say(&self, text: impl Display) {
        let (mut said, text) = (lock(&self.said), text.to_string());
        if !said.contains(&text) {
            said.push(text);
        }
    }

    fn leave_measured_cpus(&self) -> bool {
        let Some(helpers_on) = self.helpers_on.get() else { return false };
        go_to(helpers_on);
        true
    }
}

/// Takes the calling thread to these CPUs.
pub fn go_to(cpus: &str) {
    if let Ok(cpus) = cpus.parse::<CpuSet>() {
        // Where the kernel refuses, the agent's own setting of the same kind tells.
        let _ = sched::set_affinity(cpus.iter());
    }
}

/// Where the calling thread was; it goes back there when this is dropped, since the agent of the
/// next run begins where its parent is.
pub struct Home(Vec<u32>);

impl Home {
    /// The CPUs that it may run on now.
    pub fn here() -> Option<Home> {
        sched::affinity().ok().map(Home)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = sched::set_affinity(self.0.iter().copied());
    }
}

/// Appends each frame to the journal, and only then lets others see it.
///
/// A journal that cannot be written any more counts what it loses and says so in the run; the
/// measuring goes on.
fn keep(stream: impl Read, mut open: OpenRun, seen: &Seen, here: bool) -> Kept {
    let mut reader = FrameReader::new(BufReader::with_capacity(1 << 16, stream));
    let mut disk = None;
    let mut looked = Instant::now();
    let (mut refusal, mut counted) = (None, false);
    while let Ok(Next::Frame(frame)) = reader.next_frame() {
        let Frame { message, bytes } = *frame;
        if let Err(error) = open.append(&bytes) {
            seen.say(error);
        }
        if looked.elapsed() >= SYNC_EVERY {
            looked = Instant::now();
            // Only now, since a thread starts where its parent has gone to.
            let disk = disk.get_or_insert_with(Disk::start);
            disk.look_after(&mut open, &mut |text| seen.say(text));
        }
        match &message {
            Message::Prepared(prepared) if here => {
                let _ = seen.helpers_on.set(prepared.helpers_on.clone());
                seen.leave_measured_cpus();
            }
            Message::Interval(interval) => counted |= interval.counts.count > 0,
            Message::Refusal(why) => refusal = Some(why.clone()),
            _ => {}
        }
        lock(&seen.live).take(&message);
    }
    if let Some(disk) = disk {
        disk.end(&mut open, &mut |text| seen.say(text));
    }
    Kept { open, refusal, counted }
}

/// Brings the journal to the disk in a thread of its own, since that may take as long as it likes.
pub(crate) struct Disk {
    files: SyncSender<File>,
    refused: Receiver<io::Error>,
    thread: JoinHandle<()>,
}

impl Disk {
    pub(crate) fn start() -> Disk {
        let (files, to_sync) = sync_channel::<File>(1);
        let (refuse, refused) = channel();
        let thread = std::thread::spawn(move || sync_each(&to_sync, &refuse));
        Disk { files, refused, thread }
    }

    pub(crate) fn look_after(&self, open: &mut OpenRun, say: &mut dyn FnMut(String)) {
        match open.rescue() {
            Ok(Some(finding)) => say(finding.text),
            Ok(None) => {}
            // It is tried again.
            Err(error) => say(error.to_string()),
        }
        if let Ok(file) = open.file() {
            // One that still waits for the disk will find this there as well.
            let _ = self.files.try_send(file);
        }
        self.tell(open, say);
    }

    /// What the disk has refused afterwards is in no journal for sure.
    fn tell(&self, open: &mut OpenRun, say: &mut dyn FnMut(String)) {
        let Some(error) = self.refused.try_iter().last() else { return };
        let text = format!("The journal could not be brought to the disk: {error}.");
        say(text.clone());
        let finding = Finding::new("journal-not-synced", Severity::Warning, text);
        let _ = open.append(&Message::Finding(finding).encode());
    }

    pub(crate) fn end(self, open: &mut OpenRun, say: &mut dyn FnMut(String)) {
        self.tell(open, say);
        drop(self.files);
        let _ = self.thread.join();
    }
}

fn sync_each(files: &Receiver<File>, refuse: &Sender<io::Error>) {
    for file in files {
        if let Err(error) = file.sync_data() {
            let _ = refuse.send(error);
        }
    }
}
