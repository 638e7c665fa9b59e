//! A board over ssh: OpenSSH's client as a process, with the user's own configuration, and a
//! one-line command for the board's shell that finds, copies, checks and starts the agent.

mod detached;
mod handshake;
#[cfg(test)]
mod hostile;
mod lines;
mod ssh;
mod ssh_error;

use super::labgrid::Held;
use super::{Link, Start, StreamOutcome, greeting};
use crate::{Failure, StopFlag};
pub use detached::{DetachedRuns, DetachedStart, FinishedDetachedRun, detach};
use handshake::{Greeting, Right, greet};
use latlab_model::finding::{EndFinding, Finding};
use latlab_model::frame::{
    FrameReader, Hello, Message, ReadResult, STREAM_VERSION, SnapshotRequest,
};
use latlab_model::target::{BoardState, BoardTarget, SIGN_OF_LIFE};
use latlab_model::{Nanos, Plan, Snapshot};
use latlab_store::OpenRun;
use ssh::{BoardCommand, Connection};
use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A clock that is off by less is one that keeps time.
const CLOCK_OFF: Nanos = Nanos(86_400_000_000_000);
/// How long a board may take to restore itself after its agent was killed.
const RESTORE: Duration = Duration::from_secs(20);
/// Shorter measurements have no meaningful rate.
const SHORTEST: Nanos = Nanos(2_000_000_000);
/// How long a snapshot of a board may take.
const SNAPSHOT: Duration = Duration::from_secs(60);

/// The link to the agent of a board.
pub struct BoardLink {
    board: BoardTarget,
    may_ask: bool,
    /// Whether the plan needs root.
    wants_root: bool,
    /// Whether it attaches to a program, which takes root in any case.
    attaches: bool,
    connection: Option<Connection>,
    greeting: Option<Greeting>,
    /// The keep-alive frame, and when it was last sent.
    sign_of_life: (Vec<u8>, Instant),
    /// Traffic over the link since the measurement started.
    traffic: Traffic,
    /// Why the link ended before the stream did.
    lost: Option<String>,
    /// Why the agent is no longer waited for.
    given_up: Option<String>,
    /// Whether the agent died and the board can still be reached.
    agent_died: bool,
    /// The labgrid place of the board; dropped last, which releases it.
    held: Option<Held>,
}

impl BoardLink {
    /// A link that is not yet started; `may_ask` lets ssh ask for a password.
    pub fn new(board: &BoardTarget, plan: &Plan, may_ask: bool) -> BoardLink {
        BoardLink {
            board: board.clone(),
            may_ask,
            wants_root: wants_root(plan),
            attaches: plan.method.attach().is_some(),
            connection: None,
            greeting: None,
            sign_of_life: (Vec::new(), Instant::now()),
            traffic: Traffic::default(),
            lost: None,
            given_up: None,
            agent_died: false,
            held: None,
        }
    }

    /// A link to the board of a labgrid place, which is released with it.
    pub fn of_place(held: Held, plan: &Plan, may_ask: bool) -> BoardLink {
        let link = BoardLink::new(&held.board, plan, may_ask);
        BoardLink { held: Some(held), ..link }
    }

    fn send(&mut self, frame: &[u8]) {
        if let Some(connection) = &mut self.connection {
            // If the agent has died already, its stream shows it.
            let _ = connection.send(frame);
        }
    }

    /// Findings about the board that the run reports in any case.
    fn findings(&self) -> Vec<Message> {
        let clock = self.greeting.as_ref().map(|greeting| greeting.clock_off_ns);
        let clock = clock.and_then(clock_finding);
        clock.into_iter().chain(self.traffic.finding()).map(Message::Finding).collect()
    }
}

impl Link for BoardLink {
    fn start(&mut self, start: &Start<'_>) -> Result<Box<dyn Read + Send>, Failure> {
        let board_command = BoardCommand::Run { id: start.id, wants_root: self.wants_root };
        let mut connection = Connection::start(&self.board, &board_command, self.may_ask)?;
        let greeting = greet(&mut connection, start.stop)?;
        let stream = connection.stream();
        self.traffic.bytes = stream.counter();
        self.connection = Some(connection);
        self.greeting = Some(greeting);
        let hello = Hello {
            stream: STREAM_VERSION,
            latlab: latlab_model::VERSION.into(),
            id: start.id.into(),
        };
        self.sign_of_life = (Message::Hello(hello).encode(), Instant::now());
        self.send(start.greeting);
        Ok(Box::new(stream))
    }

    fn notes(&mut self) -> Vec<String> {
        let told = self.greeting.iter().flat_map(|greeting| &greeting.told);
        let told = told.map(|told| format!("{}: {told}", self.board));
        let place = self.held.iter().map(|held| format!("{} is {}", held.place.name, self.board));
        place.chain(told).collect()
    }

    fn stop(&mut self) {
        self.send(&Message::Stop.encode());
        if let Some(connection) = &mut self.connection {
            connection.close_input();
        }
    }

    fn kill(&mut self) {
        if let Some(connection) = &mut self.connection {
            connection.kill();
        }
    }

    fn give_up(&mut self, reason: &str) {
        self.given_up = Some(reason.to_string());
        self.kill();
    }

    fn poll(&mut self, _: Duration, measured: &dyn Fn() -> Nanos) {
        if self.connection.is_some() {
            self.traffic.look(measured());
        }
        if self.sign_of_life.1.elapsed() >= SIGN_OF_LIFE {
            self.sign_of_life.1 = Instant::now();
            let frame = self.sign_of_life.0.clone();
            self.send(&frame);
        }
    }

    fn has_ended(&mut self) -> bool {
        self.connection.as_mut().is_none_or(Connection::has_ended)
    }

    fn wait(&mut self, stream: &StreamOutcome) -> Result<Vec<Message>, Failure> {
        let Some(mut connection) = self.connection.take() else { return Ok(Vec::new()) };
        let end = connection.wait();
        let reason = match stream {
            StreamOutcome::Whole => None,
            StreamOutcome::Damaged(damage) => {
                Some(format!("what it sends is not the stream of an agent: {damage}"))
            }
            StreamOutcome::Cut => {
                self.agent_died = end.agent_died();
                Some(self.given_up.take().unwrap_or_else(|| end.reason()))
            }
        };
        let lost = reason.iter().map(|reason| {
            let (target, reason) = (self.board.to_string(), reason.clone());
            Message::Finding(Finding::new(EndFinding::BoardLost { target, reason }))
        });
        let messages = self.findings().into_iter().chain(lost).collect();
        self.lost = reason;
        Ok(messages)
    }

    fn explain(&mut self, _: &OpenRun) -> Option<Failure> {
        let reason = self.lost.as_ref()?;
        Some(Failure::Board(format!("{}: nothing was measured: {reason}", self.board)))
    }

    fn refused(&self, failure: Failure) -> Failure {
        let right = self.greeting.as_ref().map_or(Right::Enough, |greeting| greeting.right);
        refusal(&self.board, right, self.attaches, failure)
    }

    fn restore(&mut self) -> Vec<String> {
        if !self.agent_died {
            return Vec::new();
        }
        match restore_board(&self.board, &StopFlag::new()) {
            Ok(told) => told.iter().map(|told| format!("{}: {told}", self.board)).collect(),
            Err(failure) => vec![format!(
                "{failure}; what the killed agent left changed is restored when the next one starts"
            )],
        }
    }
}

/// Load of the stream on the link during the measurement, without what comes before and after.
#[derive(Default)]
struct Traffic {
    bytes: Arc<AtomicU64>,
    /// Bytes and measured time at the first and the last poll at which they changed.
    first: Option<(u64, Nanos)>,
    last: (u64, Nanos),
}

impl Traffic {
    fn look(&mut self, measured: Nanos) {
        if measured > self.last.1 {
            self.last = (self.bytes.load(Ordering::Relaxed), measured);
            self.first.get_or_insert(self.last);
        }
    }

    fn finding(&self) -> Option<Finding> {
        let (bytes, since) = self.first?;
        let (bytes, length_ns) = (self.last.0 - bytes, self.last.1 - since);
        let is_long = length_ns >= SHORTEST;
        is_long.then(|| Finding::new(EndFinding::BoardTraffic { bytes, length_ns }))
    }
}

/// Replaces the remedy for a missing right, which is different on a board.
fn refusal(board: &BoardTarget, right: Right, attaches: bool, failure: Failure) -> Failure {
    let Failure::Refused(mut refusal) = failure else { return failure };
    let for_lack_of_it = refusal.of_every_run || (attaches && !refusal.plan_is_wrong);
    if let Some(missing) = right.missing().filter(|_| for_lack_of_it) {
        let root = BoardTarget { user: Some("root".to_string()), ..board.clone() };
        let other_way = match attaches {
            true => "",
            false => ", or measure with --policy other --idle-states system",
        };
        refusal.text = format!(
            "{board}: no right to measure there: {missing}, or connect as {root}{other_way}"
        );
    }
    Failure::Refused(refusal)
}

/// The finding about a board whose clock is off by a day or more.
fn clock_finding(off_ns: Nanos) -> Option<Finding> {
    let is_off = off_ns > CLOCK_OFF || off_ns < -CLOCK_OFF;
    is_off.then(|| Finding::new(EndFinding::BoardClockOff { off_ns }))
}

/// Whether a plan needs more than an ordinary user's rights.
fn wants_root(plan: &Plan) -> bool {
    use latlab_model::plan::IdleStates;
    plan.is_realtime()
        || plan.keep.explain
        || plan.method.has_breakdown()
        || plan.method.attach().is_some()
        || plan.method.gpio().is_some()
        || !plan.on.kernel_files.is_empty()
        || !plan.on.tunings.is_empty()
        || plan.on.idle_states.is_none_or(|idle| idle != IdleStates::System)
}

/// Undoes what killed agents left changed on a board; one line per change.
pub fn restore_board(board: &BoardTarget, stop: &StopFlag) -> Result<Vec<String>, Failure> {
    let mut connection = Connection::open(board, &BoardCommand::Restore)?;
    connection.limit(RESTORE);
    greet(&mut connection, stop).map(|greeting| greeting.told)
}

/// The agent's description of a board, without a measurement.
pub fn read_board_snapshot(board: &BoardTarget, stop: &StopFlag) -> Result<Snapshot, Failure> {
    let mut connection =
        Connection::open(board, &BoardCommand::Run { id: "doctor", wants_root: true })?;
    greet(&mut connection, stop)?;
    let greeting = greeting("doctor", &Message::Examine(SnapshotRequest));
    let sent = connection.send(&greeting);
    connection.limit(SNAPSHOT);
    let answer = FrameReader::new(BufReader::new(connection.stream())).next_frame();
    let end = connection.end();
    match (sent, answer) {
        (Ok(()), Ok(ReadResult::Frame(frame))) => match frame.message {
            Message::Snapshot(snapshot) => Ok(snapshot),
            _ => Err(Failure::Board(format!(
                "{board}: the agent sent something other than a snapshot"
            ))),
        },
        (_, Ok(ReadResult::Damaged(damage))) => Err(Failure::Board(format!(
            "{board}: what it sends is not the answer of an agent: {damage}"
        ))),
        _ => Err(Failure::Board(format!("{board}: {}", end.reason()))),
    }
}

/// What a board is, and what latlab does there; `folder` is searched for detached runs in addition
/// to the usual ones.
pub fn board_state(
    board: &BoardTarget,
    folder: Option<&str>,
    stop: &StopFlag,
) -> Result<BoardState, Failure> {
    handshake::state(&mut Connection::open(board, &BoardCommand::Status { folder })?, stop)
}

/// Those of the programs that a board has.
pub fn programs_of_board<'a>(
    board: &BoardTarget,
    programs: &[&'a str],
    stop: &StopFlag,
) -> Result<Vec<&'a str>, Failure> {
    let mut connection = Connection::open(board, &BoardCommand::Programs(programs))?;
    let found = handshake::programs(&mut connection, stop)?;
    Ok(programs.iter().copied().filter(|name| found.iter().any(|one| one == name)).collect())
}

/// A failed connection, as one line.
fn failed(board: &BoardTarget, error: &io::Error) -> Failure {
    let text = match error.kind() {
        io::ErrorKind::NotFound => {
            "there is no program `ssh` here: install OpenSSH's client (openssh-client), or name \
             another one in LATLAB_SSH"
                .to_string()
        }
        _ => format!("cannot start ssh: {error}"),
    };
    Failure::Board(format!("{board}: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::frame::Refusal;
    use latlab_model::target::Target;

    #[test]
    fn what_only_root_can_do_has_no_way_around_it() {
        let target: Target = "ssh://me@board".parse().unwrap();
        let board = target.board().unwrap();
        let told = |attaches: bool, plan_is_wrong: bool, of_every_run: bool| {
            let text = "attach: cannot read /sys/kernel/tracing: use sudo".to_string();
            let refused = Failure::Refused(Refusal { plan_is_wrong, of_every_run, text });
            refusal(board, Right::NoSudo, attaches, refused).to_string()
        };
        let ordinary = told(false, false, true);
        assert!(ordinary.contains("install it there") && ordinary.contains("--policy other"));
        let attached = told(true, false, false);
        assert!(attached.contains("connect as ssh://root@board"), "{attached}");
        assert!(!attached.contains("--policy other"), "{attached}");
        assert!(told(true, true, false).contains("use sudo"), "another fault");
    }
}
