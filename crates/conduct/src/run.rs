//! Plan to finished run, over any link to an agent.

use crate::journal::{
    AffinityGuard, JournalThread, Problems, StreamResult, move_to_cpus, record_stream,
};
use crate::link::{Link, Start, StreamOutcome, greeting};
use crate::live::LiveRun;
use crate::self_interference::OwnThreads;
use crate::{Failure, StopFlag, thread_died};
use latlab_model::frame::Message;
use latlab_model::sanitize::escape_controls;
use latlab_model::self_interference::OwnThread;
use latlab_model::{Plan, Target};
use latlab_store::{CONSOLE, Finished, OpenRun, Store};
use std::io::{self, Write, stderr};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// Polling intervals and timeouts of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Refresh interval of the live view.
    pub refresh: Duration,
    /// How often to check whether the run has ended, or should end.
    pub poll: Duration,
    /// An agent that has not stopped this long after a stop request is killed.
    pub patience: Duration,
    /// An agent that should send something and is silent for this long is given up.
    pub silence: Duration,
}

impl Default for Timing {
    fn default() -> Timing {
        Timing {
            refresh: Duration::from_millis(250),
            poll: Duration::from_millis(50),
            patience: Duration::from_secs(10),
            silence: Duration::from_secs(40),
        }
    }
}

pub struct RunRequest<'a> {
    pub plan: &'a Plan,
    pub link: &'a mut dyn Link,
    pub store: &'a Store,
    pub id: &'a str,
    /// Ends the run when set.
    pub stop: &'a StopFlag,
    pub timing: Timing,
}

/// Runs a plan through an agent and stores what it sends; `watch` is called at each refresh.
///
/// A stopped run ends cleanly: what was measured until then is an ordinary run.
pub fn run(request: RunRequest<'_>, mut watch: impl FnMut(&LiveRun)) -> Result<Finished, Failure> {
    let RunRequest { plan, link, store, id, stop, timing } = request;
    let _guard = AffinityGuard::new();
    let open = store.begin(id)?;
    let greeting = greeting(open.id(), &Message::Plan(plan.clone()));
    let console = open.path().join(CONSOLE);
    let start = Start { id: open.id(), greeting: &greeting, console: &console, stop };
    let stream = match link.start(&start) {
        Ok(stream) => stream,
        Err(failure) => {
            open.discard()?;
            return Err(failure);
        }
    };
    for note in link.notes() {
        // Standard error may be closed.
        let _ = writeln!(stderr(), "latlab: {}", escape_controls(&note));
    }
    let console = link.console().map(Path::to_path_buf);
    let journal = match JournalThread::start(stream, open, plan.on.target.shares_cpus()) {
        Ok(journal) => journal,
        Err(error) => return Err(abandon(link, None, error)),
    };
    let ended = std::thread::scope(|scope| {
        // The thread that ends the run and writes its folder must not wait for the terminal, which
        // may be stopped, or at the far end of a dead link.
        let (done_in, done) = sync_channel(1);
        let journal = &journal;
        let link = &mut *link;
        // Received below in any case.
        let work = move || drop(done_in.send(supervise(journal, link, plan, stop, &timing)));
        std::thread::Builder::new().spawn_scoped(scope, work)?;
        let mut printed = 0;
        let log = journal.begin_log(OwnThread::Display);
        loop {
            let finished = done.recv_timeout(timing.refresh);
            let work = log.work();
            for problem in journal.problems_after(printed) {
                // Standard error may be closed.
                let _ = writeln!(stderr(), "latlab: {}", escape_controls(&problem));
                printed += 1;
            }
            match finished {
                Ok(finished) => return Ok(finished),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(Err(thread_died().into())),
            }
            let mut live = journal.live();
            live.console.clone_from(&console);
            drop(work);
            let _work = log.work();
            watch(&live);
        }
    });
    ended.unwrap_or_else(|error| {
        link.kill();
        let open = journal.finish().and_then(|stream| stream.journal);
        Err(abandon(link, open, error))
    })
}

/// Ends an agent whose stream cannot be read.
fn abandon(link: &mut dyn Link, open: Option<OpenRun>, error: io::Error) -> Failure {
    link.kill();
    let _ = link.wait(&StreamOutcome::Cut);
    // If it cannot be removed now, the next opening removes it, as after a kill.
    let _ = open.map(OpenRun::discard);
    Failure::Thread(error)
}

/// Waits for the end of the stream and of the agent, stops it on the user's request, and finishes
/// the run.
fn supervise(
    journal: &JournalThread,
    link: &mut dyn Link,
    plan: &Plan,
    stop: &StopFlag,
    timing: &Timing,
) -> Result<Finished, Failure> {
    let mut stopped_at: Option<Instant> = None;
    let mut is_freed = false;
    let mut killed_at: Option<Instant> = None;
    // An agent may close its stream and live on.
    let mut ended_at: Option<Instant> = None;
    let mut decided = DecisionLook(Instant::now());
    let log = journal.begin_log(OwnThread::Conductor);
    while !(journal.has_ended() && link.has_ended()) {
        let work = log.work();
        if stopped_at.is_none() && (stop.is_set() || decided.look(journal)) {
            stopped_at = Some(Instant::now());
            link.stop();
        }
        if killed_at.is_none()
            && let Some(silence) = silence(journal, plan, timing)
        {
            link.give_up(&silence);
            killed_at = Some(Instant::now());
        }
        if journal.has_ended() {
            ended_at.get_or_insert_with(Instant::now);
        }
        let waits = |time| [stopped_at, ended_at].iter().flatten().any(|at| at.elapsed() > time);
        if waits(timing.patience / 2) && !std::mem::replace(&mut is_freed, true) {
            link.free_threads();
        }
        if waits(timing.patience) {
            link.kill();
            killed_at.get_or_insert_with(Instant::now);
        }
        if killed_at.is_some_and(|at| at.elapsed() > timing.silence) {
            // What was stored remains, and the next command makes a run of it.
            let text = "it was killed and does not end; the next latlab finishes the run";
            return Err(io::Error::new(io::ErrorKind::TimedOut, text).into());
        }
        link.poll(timing.poll, &|| journal.live().measured);
        drop(work);
        std::thread::sleep(timing.poll);
    }
    let ended = journal.finish();
    let outcome = ended.as_ref().map_or(&StreamOutcome::Cut, |stream| &stream.outcome);
    let last_messages = link.wait(outcome);
    let StreamResult { journal, refusal, counted, .. } = ended.ok_or_else(thread_died)?;
    let mut open = journal.ok_or_else(thread_died)?;
    for message in last_messages? {
        open.append(&message.encode())?;
    }
    match Failure::from_stream(refusal, counted) {
        None => Ok(open.finish()?),
        Some(failure) => {
            let explained = match failure {
                Failure::Nothing if stopped_at.is_none() => link.explain(&open),
                _ => None,
            };
            // If it cannot be removed now, the next opening removes it, as after a kill.
            let _ = open.discard();
            Err(explained.unwrap_or_else(|| link.refused(failure)))
        }
    }
}

/// Why a silent agent is given up: before it measures, and after its plan should have ended. In
/// between, the processes on its CPUs may silence it for any time. Guests have their own time
/// limit.
fn silence(journal: &JournalThread, plan: &Plan, timing: &Timing) -> Option<String> {
    if matches!(plan.on.target, Target::Lab(_)) {
        return None;
    }
    let silent = journal.silent();
    let seconds = timing.silence.as_secs();
    let Some(measures) = journal.measures() else {
        let text = format!("its agent said nothing for {seconds} s before it measured");
        return (silent > timing.silence).then_some(text);
    };
    let length = plan.until.warm_up_ns.unwrap_or_default() + plan.until.duration_ns?;
    let is_over = measures > length.duration() + timing.silence;
    let text = format!("its agent said nothing for {seconds} s after the end of the run");
    (is_over && silent > timing.silence).then_some(text)
}

/// Checks whether a run has decided its limit, no more often than intervals arrive.
struct DecisionLook(Instant);

impl DecisionLook {
    const EVERY: Duration = Duration::from_millis(500);

    fn look(&mut self, journal: &JournalThread) -> bool {
        let is_due = self.0.elapsed() >= DecisionLook::EVERY;
        if is_due {
            self.0 = Instant::now();
        }
        is_due && journal.is_decided()
    }
}

/// Result of a run whose stream was read in the calling thread.
pub struct InProcessResult {
    /// The stored run; `None` if storing was not requested or failed.
    pub finished: Option<Finished>,
    /// Problems with the disk, each once; the measurement went on.
    pub problems: Vec<String>,
}

/// Runs a plan and passes each frame to `observe` once it is in the journal; `observe` runs in the
/// calling thread, which reads the stream, and can delay it.
///
/// The agent starts before anything is written to the disk. If the store cannot take the run, it is
/// measured anyway.
pub fn run_in_process(
    plan: &Plan,
    link: &mut dyn Link,
    store: Option<(&Store, &str)>,
    mut observe: impl FnMut(&Message),
) -> Result<InProcessResult, Failure> {
    let id = store.map_or("not-stored", |(_, id)| id);
    let greeting = greeting(id, &Message::Plan(plan.clone()));
    let (console, stop) = (Path::new("/dev/null"), &StopFlag::new());
    let stream = link.start(&Start { id, greeting: &greeting, console, stop })?;
    let problems = Problems::default();
    let not_stored = |error: &_| problems.add(format_args!("the run is not stored: {error}"));
    let journal = store.and_then(|(store, id)| store.begin(id).inspect_err(not_stored).ok());
    let threads = OwnThreads::default();
    let result = record_stream(stream, journal, &problems, Some(&threads), |message| {
        if let Message::Prepared(prepared) = message {
            move_to_cpus(&prepared.helpers_on);
        }
        observe(message);
    });
    link.wait(&result.outcome)?;
    let StreamResult { journal, refusal, counted, .. } = result;
    let finished = match Failure::from_stream(refusal, counted) {
        Some(failure) => {
            // If it cannot be removed now, the next opening removes it, as after a kill.
            journal.map(OpenRun::discard).transpose().ok();
            return Err(failure);
        }
        None => journal.and_then(|open| open.finish().inspect_err(not_stored).ok()),
    };
    Ok(InProcessResult { finished, problems: problems.after(0) })
}
