//! Plan to finished run: starts the agent, keeps the journal, feeds the live view.
//!
//! The conductor measures nothing and stays off the measured CPUs. Each frame is in the journal
//! before anybody looks at it, so that what is shown is what would be recovered.

pub mod agents;
pub mod campaign;
mod guest;
pub mod here;
mod keep;
pub mod live;
mod pause;
pub mod respond;
mod room;
mod sync;

pub use guest::guest;
pub use keep::go_to;
use keep::{Home, Keeper, Kept};
use latlab_lab::Guest;
use latlab_model::frame::{Examine, FrameReader, Hello, Message, Next, Refusal, STREAM_VERSION};
use latlab_model::{Plan, Snapshot};
use latlab_store::{CONSOLE, Finished, OpenRun, Store};
use latlab_sys::signal::{self, Signal};
use live::Live;
use pause::Pauses;
pub use room::check_room;
use std::io::{self, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// The live view is refreshed this often.
pub const REFRESH: Duration = Duration::from_millis(250);
/// It is looked this often whether the run has ended, or is asked to.
const LOOK: Duration = Duration::from_millis(50);
/// An agent that was asked to end and says nothing for this long is ended.
const PATIENCE: Duration = Duration::from_secs(10);

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
    /// The guest ended before anything was measured.
    #[error("{0}")]
    Guest(String),
    /// The guest cannot be made.
    #[error(transparent)]
    Lab(#[from] latlab_lab::Error),
    /// The run folder cannot be written.
    #[error(transparent)]
    Store(#[from] latlab_store::Error),
}

impl Failure {
    /// Of a plan that cannot be right.
    pub fn unfit(text: String) -> Failure {
        Failure::Refused(Refusal { plan_is_wrong: true, of_every_run: false, text })
    }

    /// Why a stream that has ended makes no run, if it makes none.
    fn of(refusal: Option<Refusal>, counted: bool) -> Option<Failure> {
        refusal.map(Failure::Refused).or((!counted).then_some(Failure::Nothing))
    }
}

/// The first words to an agent: who speaks, and what it is to do.
fn greet(to_agent: &mut impl Write, id: &str, order: &Message) -> io::Result<()> {
    let latlab = env!("CARGO_PKG_VERSION").into();
    let hello = Message::Hello(Hello { stream: STREAM_VERSION, latlab, id: id.into() });
    to_agent.write_all(&hello.encode())?;
    to_agent.write_all(&order.encode())
}

static INTERRUPTED: AtomicU8 = AtomicU8::new(0);

/// Whether the user has asked for the end.
fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed) != 0
}

/// Who speaks the agent's side of the stream.
pub enum By {
    /// A process that is told on its standard input what to do.
    Process(Command),
    /// A guest that brings its job with it, and is ended after this time whatever it does.
    Guest(Box<Guest>, Duration),
}

/// What is to be conducted.
pub struct Order<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Who measures.
    pub by: By,
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
    let Order { plan, by, store, id, keep_going } = order;
    listen(keep_going).map_err(io::Error::from)?;
    let _home = Home::here();
    let open = store.begin(id)?;
    let started = match start(by, plan, &open) {
        Ok(started) => started,
        Err(failure) => {
            open.discard()?;
            return Err(failure);
        }
    };
    let Started { mut child, stream, to_agent, guest } = started;
    let console = guest.as_ref().map(|_| open.path().join(CONSOLE));
    let pauses = Pauses::of(plan);
    let keeper = Keeper::start(stream, open, guest.is_none());
    std::thread::scope(|scope| {
        // What ends the run and makes its folder waits for no terminal: that may be stopped, or
        // at the far end of a link that is dead.
        let (done_in, done) = sync_channel(1);
        let keeper = &keeper;
        // Received below in any case.
        scope.spawn(move || {
            drop(done_in.send(conduct(keeper, to_agent, &mut child, guest, pauses)));
        });
        let mut moved = false;
        let mut shown = 0;
        loop {
            let finished = done.recv_timeout(REFRESH);
            for text in keeper.said_after(shown) {
                // Nobody may be there to read it.
                let _ = writeln!(io::stderr(), "latlab: {text}");
                shown += 1;
            }
            match finished {
                Ok(finished) => return finished,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(died().into()),
            }
            moved = moved || keeper.leave_measured_cpus();
            let mut live = keeper.live();
            live.console.clone_from(&console);
            watch(&live);
        }
    })
}

/// An agent that has begun.
struct Started {
    child: Child,
    stream: Box<dyn Read + Send>,
    /// None where it hears nothing.
    to_agent: Option<ChildStdin>,
    /// Where it is a guest.
    guest: Option<guest::Running>,
}

fn start(by: By, plan: &Plan, open: &OpenRun) -> Result<Started, Failure> {
    let order = Message::Plan(plan.clone());
    match by {
        By::Process(mut agent) => {
            // A group of its own, so that Ctrl-C reaches the agent only through us.
            agent.arg(open.id()).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
            let mut child = agent.spawn()?;
            let mut to_agent = child.stdin.take();
            if let Some(to_agent) = &mut to_agent {
                // An agent that has died already shows in its stream, which is read later.
                let _ = greet(to_agent, open.id(), &order);
            }
            let stream = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe);
            let stream = Box::new(stream.map_err(io::Error::from)?);
            Ok(Started { child, stream, to_agent, guest: None })
        }
        By::Guest(mut guest, limit) => {
            greet(&mut guest.job, open.id(), &order)?;
            let (child, stream, guest) = guest::start(*guest, limit, open)?;
            let guest = Some(guest);
            Ok(Started { child, stream: Box::new(stream), to_agent: None, guest })
        }
    }
}

/// Asks the agent to end when the user does, and makes a run of what it said.
fn conduct(
    keeper: &Keeper,
    mut to_agent: Option<ChildStdin>,
    agent: &mut Child,
    mut guest: Option<guest::Running>,
    mut pauses: Pauses,
) -> Result<Finished, Failure> {
    let mut asked_at: Option<Instant> = None;
    let mut moved = false;
    while !keeper.has_ended() {
        moved = moved || keeper.leave_measured_cpus();
        if interrupted() && asked_at.is_none() {
            asked_at = Some(Instant::now());
            if let Some(mut input) = to_agent.take() {
                let _ = input.write_all(&Message::Stop.encode());
            }
            guest.iter_mut().for_each(guest::Running::stop);
        }
        if asked_at.is_some_and(|asked| asked.elapsed() > PATIENCE) {
            // It had its time; its journal is whole up to here.
            let _ = agent.kill();
        }
        guest.iter_mut().for_each(|guest| guest.look(agent));
        pauses.take(LOOK, agent, || keeper.live().measured);
        std::thread::sleep(LOOK);
    }
    let status = agent.wait();
    let guest = guest.map(|guest| guest.ended(status));
    let Kept { mut open, refusal, counted } = keeper.end().ok_or_else(died)?;
    if let Some(guest) = &guest {
        open.append(&guest.messages())?;
    }
    match Failure::of(refusal, counted) {
        Some(failure) => {
            let failure = match (failure, &guest) {
                (Failure::Nothing, Some(guest)) if asked_at.is_none() => guest.failure(&open),
                (failure, _) => failure,
            };
            // What cannot be removed now is no worse than a kill: the next opening removes it.
            let _ = open.discard();
            Err(failure)
        }
        None => Ok(open.finish()?),
    }
}

/// What an agent sees of its machine, without measuring anything.
pub fn examine(mut agent: Command) -> Result<Snapshot, Failure> {
    let mut child = agent.arg("doctor").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (to_agent, stream) = (child.stdin.take(), child.stdout.take());
    let (Some(mut to_agent), Some(stream)) = (to_agent, stream) else {
        return Err(io::Error::from(io::ErrorKind::BrokenPipe).into());
    };
    // An agent that has died already shows in its stream, which is read below.
    let _ = greet(&mut to_agent, "doctor", &Message::Examine(Examine));
    let answer = FrameReader::new(BufReader::new(stream)).next_frame();
    let _ = child.wait();
    match answer? {
        Next::Frame(frame) => match frame.message {
            Message::Snapshot(snapshot) => Ok(snapshot),
            _ => Err(io::Error::other("it sent something else than a snapshot").into()),
        },
        Next::Damaged(damage) => Err(io::Error::other(damage).into()),
        Next::End => Err(io::Error::other("it ended without an answer").into()),
    }
}

fn died() -> io::Error {
    io::Error::other("a thread of the conductor has died")
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
