//! The stream of one run, from the plan to the last frame.

use crate::drain::IntervalObserver;
use crate::outbox::Outbox;
use crate::reasons::{INTERRUPTED, RAN_AWAY, STOP};
use crate::run::{Arrangement, Session, run};
use crate::snapshot::snapshot;
use latlab_model::frame::{FrameReader, Hello, Message, ReadResult, STREAM_VERSION};
use latlab_model::target::SILENCE;
use latlab_sys::files::Root;
use latlab_sys::sched::{self, Scheduling};
use latlab_sys::signal::{self, Signal};
use latlab_sys::write_watch::{Wake, wait};
use std::io::{Read, Write, stdin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

/// Whether a board's conductor was silent for too long; what waits for the link will never leave.
static LOST: AtomicBool = AtomicBool::new(false);
/// How often to check whether the last frames have left a board.
const LOOK: Duration = Duration::from_millis(20);

/// Serves one plan: reads it from `input`, writes the stream to `output`.
///
/// The error is for a person who started the agent by hand; what concerns the run is in the stream,
/// which always ends with a whole frame.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<(), String> {
    serve_with_observer(input, output, None)
}

/// As [`serve`], for a conductor in the same process, which may observe the counts.
///
/// It also waits for the start, so the threads are started before the machine is described.
pub fn serve_with_observer(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    observer: Option<IntervalObserver>,
) -> Result<(), String> {
    let mut frames = FrameReader::new(input);
    let hello = match next_message(&mut frames)? {
        Message::Hello(hello) if hello.stream == STREAM_VERSION => hello,
        Message::Hello(hello) => {
            return Err(format!("the other side uses stream version {}", hello.stream));
        }
        _ => return Err("expected the hello frame of a stream".into()),
    };
    let plan = match next_message(&mut frames)? {
        Message::Plan(plan) => plan,
        Message::Examine(_) => return send_snapshot(output),
        _ => return Err("expected a plan".into()),
    };
    let root = Root::default();
    let ground = Arrangement::arrange(&root, plan.clone());
    let on_board = plan.is_behind_a_link();
    let outbox = match &plan.on.detached {
        // The input is a file with the plan, so its end is not a request to stop.
        Some(detached) => {
            listen_to_signals(observer.is_some())?;
            Outbox::bounded(detached.most_bytes)
        }
        None => {
            listen(frames, observer.is_some(), on_board)?;
            Outbox::default()
        }
    };
    let lifted = ground.as_ref().is_ok_and(Arrangement::raises_priority);
    let carrier = spawn({
        let outbox = outbox.clone();
        move || {
            if lifted {
                // Like the drainer: its data would wait here.
                let _ = sched::set_scheduling(Scheduling::Fifo(1));
            }
            outbox.carry(output)
        }
    })?;
    let hello = Hello { latlab: latlab_model::VERSION.into(), ..hello };
    let head = [Message::Hello(hello), Message::Plan(plan)];
    head.iter().for_each(|message| outbox.send(message));
    let session = Session { root: &root, outbox: &outbox, head, has_observer: observer.is_some() };
    match ground.and_then(|ground| run(&session, ground, observer)) {
        Ok(end) => outbox.send(&Message::End(end)),
        Err(refusal) => outbox.send(&Message::Refusal(refusal)),
    }
    outbox.close();
    while on_board && !carrier.is_finished() {
        if LOST.load(Ordering::Relaxed) {
            return Err(format!("the conductor was silent for {SILENCE:?}: the run was ended"));
        }
        sleep(LOOK);
    }
    carrier
        .join()
        .map_err(|_| "the thread that writes the stream ended because of a bug".to_string())
}

/// Sends a description of the machine without measuring.
fn send_snapshot(mut output: impl Write) -> Result<(), String> {
    let frame = Message::Snapshot(snapshot(&Root::default())).encode();
    let written = output.write_all(&frame).and_then(|()| output.flush());
    written.map_err(|error| format!("cannot send the snapshot: {error}"))
}

fn next_message(frames: &mut FrameReader<impl Read>) -> Result<Message, String> {
    match frames.next_for_agent() {
        Ok(ReadResult::Frame(frame)) => Ok(frame.message),
        Ok(ReadResult::End) => {
            Err("the input ends without a plan; this command is started by `latlab run`".into())
        }
        Ok(ReadResult::Damaged(damage)) => Err(format!("the input is not a stream: {damage}")),
        Err(error) => Err(format!("cannot read the plan: {error}")),
    }
}

/// Handles all requests to end: a word, the end of input, a signal, and on a board the silence of
/// the conductor.
fn listen(
    mut frames: FrameReader<impl Read + Send + 'static>,
    alone: bool,
    on_board: bool,
) -> Result<(), String> {
    listen_to_signals(alone)?;
    spawn(move || {
        // Any input after the plan except a keep-alive, or its end, is a request to stop.
        while !on_board || is_spoken_to() {
            match frames.next_for_agent() {
                Ok(ReadResult::Frame(frame)) if matches!(frame.message, Message::Hello(_)) => {}
                _ => break,
            }
        }
        STOP.fetch_or(INTERRUPTED, Ordering::Relaxed);
    })
    .map(drop)
}

fn listen_to_signals(alone: bool) -> Result<(), String> {
    // SIGHUP may or may not end the conductor; this end follows it.
    let hang_up = match alone {
        true => signal::store_on(Signal::HangUp, &STOP, INTERRUPTED),
        false => signal::ignore(Signal::HangUp),
    };
    let installed = signal::store_on(Signal::Interrupt, &STOP, INTERRUPTED)
        .and_then(|()| signal::store_on(Signal::Terminate, &STOP, INTERRUPTED))
        .and(hang_up)
        .and_then(|()| signal::store_on(Signal::CpuLimit, &STOP, RAN_AWAY))
        .and_then(|()| signal::accept_wake());
    installed.map_err(|error| format!("cannot listen to signals: {error}"))
}

/// Waits for input from the conductor; returns false once it counts as lost.
fn is_spoken_to() -> bool {
    let until = Instant::now() + SILENCE;
    while Instant::now() < until {
        let left = until.saturating_duration_since(Instant::now());
        if matches!(wait(None, &stdin(), left), Wake::Stopped) {
            return true;
        }
    }
    LOST.store(true, Ordering::Relaxed);
    false
}

fn spawn(work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, String> {
    let thread = std::thread::Builder::new().spawn(work);
    thread.map_err(|error| format!("cannot start a thread ({error}): raise `ulimit -u`"))
}

#[cfg(test)]
pub(crate) mod tests {
    use latlab_model::plan::*;
    use latlab_model::{Nanos, Plan};

    /// A short plan that needs no privileges, for tests to modify.
    pub fn plan() -> Plan {
        Plan {
            seed: Some(1),
            who: Who { policy: Some(Policy::Other), ..Who::default() },
            until: Until { cycles: Some(100), warm_up_ns: Some(Nanos::ZERO), ..Until::default() },
            on: OnMachine { idle_states: Some(IdleStates::System), ..OnMachine::default() },
            ..Plan::default()
        }
    }
}
