//! A measuring thread: set up, warm up, measure, report.

use crate::companion::{STACK_BYTES, TOUCHED_STACK_BYTES};
use crate::job::{Job, Start, clock_of, last_word, tell_others};
use crate::placing::{Place, Placed};
use crate::spin;
use crate::timerlat::KernelTimer;
use crate::waker::{self, Woken};
use latlab_measure::cyclic::{Cycles, Ended, Ending, NO_END, count_passed, measure};
use latlab_measure::samples::Keep;
use latlab_measure::timer::{Nanosleep, Periodic, Relative, Timer, Wake};
use latlab_model::Nanos;
use latlab_model::frame::Refusal;
use latlab_model::plan::{Instrument, Mechanism, MissedPolicy};
use latlab_model::run::ThreadEnd;
use latlab_sys::timer::{PosixTimer, TimerFd};
use latlab_sys::{Errno, memory, sched};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// A measuring thread, seen from the session.
pub struct Worker {
    /// Ends with what the thread says of itself; with nothing if it was never started.
    pub handle: JoinHandle<Option<ThreadEnd>>,
    /// Whether the thread is set up.
    pub ready: Receiver<Result<Placed, Refusal>>,
    /// Starts the thread; dropping it sends the thread home.
    pub start: SyncSender<Start>,
}

impl Worker {
    /// Waits until it has ended without having been started, and nothing of it is open any more.
    pub fn send_home(self) {
        drop((self.start, self.ready));
        let _ = self.handle.join();
    }
}

/// Starts the thread; it sets itself up and waits.
pub fn spawn(mut job: Job) -> std::io::Result<Worker> {
    let (ready_in, ready) = sync_channel(1);
    let (start, start_out) = sync_channel::<Start>(1);
    let handle = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        memory::touch_stack::<TOUCHED_STACK_BYTES>();
        let (set_up, woken) = match set_up(&mut job) {
            Ok((placed, woken)) => (Ok(placed), woken),
            Err(refusal) => (Err(refusal), None),
        };
        let usable = set_up.is_ok();
        // The session waits for this; if it has given up, the start below never comes.
        let _ = ready_in.send(set_up);
        let start = start_out.recv().ok().filter(|_| usable)?;
        Some(match (job.plan.instrument, woken) {
            (Instrument::Spin, _) => spin::run(job, start),
            (_, Some(woken)) => run_woken(job, start, woken),
            (_, None) => run_with_timer(job, start),
        })
    })?;
    Ok(Worker { handle, ready, start })
}

/// Takes the thread to its place; where another one wakes it, that one as well.
fn set_up(job: &mut Job) -> Result<(Placed, Option<Woken>), Refusal> {
    sched::set_name(&format!("latlab/{}", job.thread));
    let (thread, cpu, policy) = (job.thread, job.cpu, job.plan.policy_of(job.thread));
    if let Some(kernel) = &mut job.kernel {
        return Ok((kernel.set_up(thread, policy)?, None));
    }
    let mut placed = Place { thread, whose: "", cpu, usable: &job.usable, policy }.take()?;
    let mut woken = None;
    if let Some(by) = job.plan.wake {
        let (pair, settings) = waker::spawn(job, by)?;
        placed.settings.extend(settings);
        woken = Some(pair);
    }
    if job.plan.instrument == Instrument::Spin {
        placed.settings.extend(spin::settings(job));
    }
    Ok((placed, woken))
}

/// Sleeps until the other thread wakes it, whose CPU time is told with its own.
fn run_woken(job: Job, start: Start, Woken { timer, waker }: Woken) -> ThreadEnd {
    waker.begin(start.warm_up_from, job.plan.period_of(job.thread).0);
    let end = run(job, start, timer);
    ThreadEnd { cpu_ns: end.cpu_ns + Nanos(waker.end()), ..end }
}

/// The kernel tells of another thread, whose CPU time is told with its own where it is ours.
fn run_told(job: Job, start: Start, mut timer: KernelTimer) -> ThreadEnd {
    let end = run(job, start, &mut timer);
    ThreadEnd { cpu_ns: end.cpu_ns + Nanos(timer.end()), ..end }
}

fn run_with_timer(mut job: Job, start: Start) -> ThreadEnd {
    if let Some(kernel) = job.kernel.take() {
        return run_told(job, start, kernel.counting_from(start.from));
    }
    let clock = clock_of(&job.plan);
    let period = job.plan.period_of(job.thread).0;
    let catch_up = job.plan.missed == MissedPolicy::CatchUp;
    let first = start.warm_up_from;
    match job.plan.mechanism {
        Mechanism::Nanosleep => run(job, start, Nanosleep(clock)),
        Mechanism::Relative => run(job, start, Relative { clock, period }),
        Mechanism::Timerfd => match TimerFd::start(clock, first, period) {
            Ok(timer) => run(job, start, Periodic::new(timer, clock, catch_up)),
            Err(error) => failed(job, start, error),
        },
        Mechanism::PosixTimer => match PosixTimer::start(clock, first, period) {
            Ok(timer) => run(job, start, Periodic::new(timer, clock, catch_up)),
            Err(error) => failed(job, start, error),
        },
    }
}

fn run<T: Timer>(mut job: Job, start: Start, timer: T) -> ThreadEnd {
    match job.samples.take() {
        Some(samples) => run_and_keep(job, start, timer, samples),
        None => run_and_keep(job, start, timer, ()),
    }
}

fn run_and_keep<T: Timer, S: Keep>(
    job: Job,
    start: Start,
    mut timer: T,
    mut samples: S,
) -> ThreadEnd {
    let Job { thread, plan, mut recorder, stop, .. } = job;
    let warm_up = Cycles {
        period: plan.period_of(thread).0,
        catch_up: plan.missed == MissedPolicy::CatchUp,
        deadline: i64::MAX,
        stop_above: i64::MAX,
        until: start.from,
        count: NO_END,
    };
    let from = start.warm_up_from;
    let mut warmed = measure(&mut timer, from, &warm_up, &mut recorder, &mut samples, &stop);
    recorder.start(start.from);
    samples.start();
    let counted = Cycles {
        deadline: plan.deadline_ns.map_or(i64::MAX, |limit| limit.0),
        stop_above: plan.stop_above_ns.map_or(i64::MAX, |limit| limit.0),
        until: plan.duration_ns.map_or(i64::MAX, |length| start.from.saturating_add(length.0)),
        count: plan.cycles.unwrap_or(NO_END).min(NO_END),
        ..warm_up
    };
    let before = memory::thread_usage();
    let ended = match warmed.ending {
        Ending::Finished => {
            let served = match plan.mechanism {
                // Without releases there are none to pass.
                Mechanism::Relative => 0,
                // Those that were left out come with the next that is served.
                _ if plan.wake.is_some() => {
                    warmed.next = start.from;
                    0
                }
                // The tracer's releases lie anywhere in a period: its next may well be its first.
                _ if plan.instrument == Instrument::Timerlat
                    && warmed.next < start.from + counted.period =>
                {
                    0
                }
                // A stall that began in the warm-up may have passed counted releases.
                _ => count_passed(&warmed, start.from, &counted, &mut recorder, &mut samples),
            };
            let rest = Cycles { count: counted.count - served, ..counted };
            let ended = measure(&mut timer, warmed.next, &rest, &mut recorder, &mut samples, &stop);
            Ended { cycles: ended.cycles + served, ..ended }
        }
        ending => Ended { ending, next: start.from, cycles: 0, ..warmed },
    };
    tell_others(&plan, &stop, ended.ending);
    let totals = recorder.finish(ended.next);
    let end = last_word(thread, ended.ending, ended.cycles, totals, before);
    ThreadEnd { samples_lost: samples.lost(), ..end }
}

/// A timer that could not be started is a thread that failed without a cycle.
fn failed(job: Job, start: Start, error: Errno) -> ThreadEnd {
    struct Never(Errno);
    impl Timer for Never {
        fn wait(&mut self, _: i64) -> Result<Wake, Errno> {
            Err(self.0)
        }
        fn passed(&mut self, _: i64, _: i64) -> i64 {
            0
        }
    }
    run(job, start, Never(error))
}
