//! A measuring thread: set up, warm up, measure, report.

use crate::placing::{Place, Placed};
use crate::reasons::{STOP_ABOVE, reason_of};
use crate::waker::{self, Woken};
use latlab_measure::cyclic::{Cycles, Ended, Ending, NO_END, Stop, count_passed, measure};
use latlab_measure::recorder::Recorder;
use latlab_measure::samples::{Keep, SampleRing};
use latlab_measure::timer::{Nanosleep, Periodic, Relative, Timer, Wake};
use latlab_model::frame::Refusal;
use latlab_model::plan::{ClockName, Mechanism, MissedPolicy};
use latlab_model::run::ThreadEnd;
use latlab_model::{Nanos, Plan};
use latlab_sys::clock::{self, Clock};
use latlab_sys::files::Root;
use latlab_sys::sched;
use latlab_sys::timer::{PosixTimer, TimerFd};
use latlab_sys::{Errno, memory, trace};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Stack of a measuring thread; of it only what is touched becomes resident.
pub const STACK_BYTES: usize = 128 << 10;
/// What the loop and what it calls may use of it.
pub const TOUCHED_STACK_BYTES: usize = 24 << 10;

/// What a measuring thread is told before it is started.
pub struct Job {
    /// Its number.
    pub thread: u32,
    /// The CPU to pin it to; none to let it float.
    pub cpu: Option<u32>,
    /// The CPU of the thread that wakes it, if one does; none to let it float.
    pub waker_cpu: Option<u32>,
    /// That thread, once this one is set up.
    pub woken: Option<Woken>,
    /// Where it may float.
    pub usable: Vec<u32>,
    /// The order.
    pub plan: Arc<Plan>,
    /// What it counts into.
    pub recorder: Recorder,
    /// Where every latency goes, if that was asked for.
    pub samples: Option<SampleRing>,
    /// How it is asked to end.
    pub stop: Stop,
}

/// When a measuring thread begins, on the clock of the plan.
#[derive(Clone, Copy)]
pub struct Start {
    /// First release of the warm-up.
    pub warm_up_from: i64,
    /// First release that counts.
    pub from: i64,
}

/// A measuring thread, seen from the session.
pub struct Worker {
    /// Ends with what the thread says of itself; with nothing if it was never started.
    pub handle: JoinHandle<Option<ThreadEnd>>,
    /// Whether the thread is set up.
    pub ready: Receiver<Result<Placed, Refusal>>,
    /// Starts the thread; dropping it sends the thread home.
    pub start: SyncSender<Start>,
}

/// Starts the thread; it sets itself up and waits.
pub fn spawn(mut job: Job) -> std::io::Result<Worker> {
    let (ready_in, ready) = sync_channel(1);
    let (start, start_out) = sync_channel::<Start>(1);
    let handle = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        memory::touch_stack::<TOUCHED_STACK_BYTES>();
        let set_up = set_up(&mut job);
        let usable = set_up.is_ok();
        // The session waits for this; if it has given up, the start below never comes.
        let _ = ready_in.send(set_up);
        let start = start_out.recv().ok().filter(|_| usable)?;
        Some(run_with_timer(job, start))
    })?;
    Ok(Worker { handle, ready, start })
}

fn set_up(job: &mut Job) -> Result<Placed, Refusal> {
    sched::set_name(&format!("latlab/{}", job.thread));
    let (thread, cpu) = (job.thread, job.cpu);
    let place =
        Place { thread, whose: "", cpu, usable: &job.usable, policy: job.plan.policy_of(thread) };
    let mut placed = place.take()?;
    if let Some(by) = job.plan.wake {
        let (woken, settings) = waker::spawn(job, by)?;
        placed.settings.extend(settings);
        job.woken = Some(woken);
    }
    Ok(placed)
}

/// The kernel's clock of a plan.
pub fn clock_of(plan: &Plan) -> Clock {
    match plan.clock {
        ClockName::Monotonic => Clock::Monotonic,
        ClockName::Tai => Clock::Tai,
        ClockName::Realtime => Clock::Realtime,
    }
}

fn run_with_timer(mut job: Job, start: Start) -> ThreadEnd {
    let clock = clock_of(&job.plan);
    let period = job.plan.period_of(job.thread).0;
    let catch_up = job.plan.missed == MissedPolicy::CatchUp;
    let first = start.warm_up_from;
    if let Some(Woken { timer, waker }) = job.woken.take() {
        waker.begin(first, period);
        let end = run(job, start, timer);
        return ThreadEnd { cpu_ns: end.cpu_ns + Nanos(waker.end()), ..end };
    }
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
                // A stall that began in the warm-up may have passed counted releases.
                _ => count_passed(&warmed, start.from, &counted, &mut recorder, &mut samples),
            };
            let rest = Cycles { count: counted.count - served, ..counted };
            let ended = measure(&mut timer, warmed.next, &rest, &mut recorder, &mut samples, &stop);
            Ended { cycles: ended.cycles + served, ..ended }
        }
        ending => Ended { ending, next: start.from, cycles: 0, ..warmed },
    };
    let after = memory::thread_usage();
    if ended.ending == Ending::StopAbove {
        if plan.mark_trace {
            trace::mark_and_stop(&Root::default(), "latlab: a latency above the limit");
        }
        stop.all.fetch_or(STOP_ABOVE, Ordering::Relaxed);
    }
    let totals = recorder.finish(ended.next);
    ThreadEnd {
        thread,
        reason: reason_of(ended.ending),
        cycles: ended.cycles,
        missed: totals.missed,
        page_faults: after.page_faults - before.page_faults,
        involuntary_switches: after.involuntary_switches - before.involuntary_switches,
        voluntary_switches: after.voluntary_switches - before.voluntary_switches,
        spikes_lost: totals.spikes_lost,
        intervals_grown: totals.intervals_grown,
        samples_lost: samples.lost(),
        cpu_ns: Nanos(clock::thread_cpu_time()),
    }
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
