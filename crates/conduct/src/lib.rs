//! Plan to finished run: starts the agent, keeps the journal, feeds the live view.
//!
//! The conductor measures nothing and stays off the measured CPUs. Each frame is in the journal
//! before anybody looks at it, so that what is shown is what would be recovered.

pub mod agents;
pub mod live;
mod room;

use latlab_model::frame::{Frame, FrameReader, Hello, Message, Next, Refusal, STREAM_VERSION};
use latlab_model::{CpuSet, Plan};
use latlab_store::{Finished, OpenRun, Store};
use latlab_sys::sched;
use latlab_sys::signal::{self, Signal};
use live::Live;
pub use room::check_room;
use std::io::{self, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// The live view is refreshed this often.
pub const REFRESH: Duration = Duration::from_millis(250);
/// The journal is brought to the disk this often.
const SYNC_EVERY: Duration = Duration::from_secs(1);
/// An agent that was asked to end and says nothing for this long is ended.
const PATIENCE: Duration = Duration::from_secs(10);
/// Frames that may wait for the live view.
const FRAMES_AHEAD: usize = 1024;

/// Why there is no finished run.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The agent cannot measure what was asked.
    #[error("{}", .0.text)]
    Refused(Refusal),
    /// The run was ended before its first counted cycle.
    #[error("nothing was measured: the run was ended before its first counted cycle")]
    Nothing,
    /// The agent could not be started or spoken to.
    #[error("the agent cannot be started: {0}")]
    Agent(#[from] io::Error),
    /// The disk cannot hold the run.
    #[error("{0}")]
    NoRoom(String),
    /// The run folder cannot be written.
    #[error(transparent)]
    Store(#[from] latlab_store::Error),
}

static INTERRUPTED: AtomicU8 = AtomicU8::new(0);

/// What is to be conducted.
pub struct Order<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// What speaks the agent's side of the stream.
    pub agent: Command,
    /// Where the run is kept.
    pub store: &'a Store,
    /// The id it shall have.
    pub id: &'a str,
    /// Whether to go on when the terminal is closed.
    pub keep_going: bool,
}

/// Runs a plan by an agent and stores what it says; `watch` is called four times a second.
///
/// An interrupt ends the run cleanly: what was measured until then is a run like any other.
pub fn run(order: Order<'_>, mut watch: impl FnMut(&Live)) -> Result<Finished, Failure> {
    let Order { plan, mut agent, store, id, keep_going } = order;
    listen(keep_going).map_err(io::Error::from)?;
    let open = store.begin(id)?;
    // A group of its own, so that Ctrl-C reaches the agent only through us.
    use std::os::unix::process::CommandExt;
    let child =
        agent.arg(open.id()).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            open.discard()?;
            return Err(error.into());
        }
    };
    let hello = Hello {
        stream: STREAM_VERSION,
        latlab: env!("CARGO_PKG_VERSION").into(),
        id: open.id().into(),
    };
    let (to_agent, stream) = (child.stdin.take(), child.stdout.take());
    let (Some(mut to_agent), Some(stream)) = (to_agent, stream) else {
        return Err(io::Error::from(io::ErrorKind::BrokenPipe).into());
    };
    // An agent that has died already shows in its stream, which is read below.
    let _ = to_agent.write_all(&Message::Hello(hello).encode());
    let _ = to_agent.write_all(&Message::Plan(plan.clone()).encode());

    let (frames_in, frames) = sync_channel(FRAMES_AHEAD);
    let keeper = std::thread::spawn(move || keep(stream, open, &frames_in));
    let (refusal, counted) = follow(&frames, to_agent, &mut child, &mut watch);
    let _ = child.wait();
    let open = keeper.join().map_err(|_| io::Error::other("the journal's thread has died"))?;
    match refusal.map(Failure::Refused).or((!counted).then_some(Failure::Nothing)) {
        Some(failure) => {
            open.discard()?;
            Err(failure)
        }
        None => Ok(open.finish()?),
    }
}

/// The ways in which a run is asked to end.
fn listen(keep_going: bool) -> Result<(), latlab_sys::Errno> {
    signal::store_on(Signal::Interrupt, &INTERRUPTED, 1)?;
    signal::store_on(Signal::Terminate, &INTERRUPTED, 1)?;
    match keep_going || signal::is_ignored(Signal::HangUp) {
        true => signal::ignore(Signal::HangUp),
        false => signal::store_on(Signal::HangUp, &INTERRUPTED, 1),
    }
}

/// Appends each frame to the journal, and only then passes it on.
///
/// A journal that cannot be written any more counts what it loses and says so in the run; the
/// measuring goes on.
fn keep(stream: impl Read, mut open: OpenRun, frames: &SyncSender<Message>) -> OpenRun {
    let mut reader = FrameReader::new(BufReader::with_capacity(1 << 16, stream));
    let mut synced = Instant::now();
    while let Ok(Next::Frame(frame)) = reader.next_frame() {
        let Frame { message, bytes } = *frame;
        if let Err(error) = open.append(&bytes) {
            // Nobody may be there to read it; the run says it as well.
            let _ = writeln!(io::stderr(), "latlab: {error}");
        }
        if let Message::Prepared(prepared) = &message {
            leave_measured_cpus(&prepared.helpers_on);
        }
        if synced.elapsed() >= SYNC_EVERY {
            // What the disk refuses here it refuses on the next writing as well, which is told.
            if let Ok(Some(finding)) = open.sync() {
                let _ = writeln!(io::stderr(), "latlab: {}", finding.text);
            }
            synced = Instant::now();
        }
        if frames.send(message).is_err() {
            break;
        }
    }
    open
}

/// Shows what passes by, and asks the agent to end when the user does; gives back why nothing
/// could be measured, and whether anything was.
fn follow(
    frames: &Receiver<Message>,
    to_agent: ChildStdin,
    agent: &mut Child,
    watch: &mut impl FnMut(&Live),
) -> (Option<Refusal>, bool) {
    let mut live = Live::default();
    let mut to_agent = Some(to_agent);
    let mut asked_at: Option<Instant> = None;
    let (mut refusal, mut counted) = (None, false);
    let mut shown = Instant::now();
    loop {
        match frames.recv_timeout(REFRESH) {
            Ok(Message::Refusal(text)) => refusal = Some(text),
            Ok(message) => {
                match &message {
                    Message::Prepared(prepared) => leave_measured_cpus(&prepared.helpers_on),
                    Message::Interval(interval) => counted |= interval.counts.count > 0,
                    _ => {}
                }
                live.take(&message);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return (refusal, counted),
        }
        if shown.elapsed() >= REFRESH {
            watch(&live);
            shown = Instant::now();
        }
        if INTERRUPTED.load(Ordering::Relaxed) != 0
            && let Some(mut input) = to_agent.take()
        {
            let _ = input.write_all(&Message::Stop.encode());
            asked_at = Some(Instant::now());
        }
        if asked_at.is_some_and(|asked| asked.elapsed() > PATIENCE) {
            // It had its time; its journal is whole up to here.
            let _ = agent.kill();
        }
    }
}

/// Takes the calling thread to where it disturbs no measuring thread.
fn leave_measured_cpus(helpers_on: &str) {
    if let Ok(cpus) = helpers_on.parse::<CpuSet>() {
        // Where the kernel refuses, the agent's own setting of the same kind tells.
        let _ = sched::set_affinity(cpus.iter());
    }
}
