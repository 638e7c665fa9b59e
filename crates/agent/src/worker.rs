//! A measuring thread: set up, warm up, measure, report.

use crate::prepare::{machine_refuses, scheduling_refused};
use crate::reasons::{STOP_ABOVE, reason_of};
use crate::timerlat::KernelTimer;
use latlab_measure::cyclic::{Cycles, Ended, Ending, NO_END, Stop, count_passed, measure};
use latlab_measure::recorder::Recorder;
use latlab_measure::samples::{Keep, SampleRing};
use latlab_measure::timer::{Nanosleep, Periodic, Relative, Timer, Wake};
use latlab_model::frame::Refusal;
use latlab_model::plan::{ClockName, Mechanism, MissedPolicy, Policy};
use latlab_model::run::{Setting, ThreadEnd};
use latlab_model::{Nanos, Plan};
use latlab_sys::clock::{self, Clock};
use latlab_sys::files::Root;
use latlab_sys::sched::{self, Scheduling};
use latlab_sys::timer::{PosixTimer, TimerFd};
use latlab_sys::{Errno, memory, trace};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Stack of a measuring thread; of it only what is touched becomes resident.
const STACK_BYTES: usize = 128 << 10;
/// What the loop and what it calls may use of it.
const TOUCHED_STACK_BYTES: usize = 24 << 10;

/// What a measuring thread is told before it is started.
pub struct Job {
    /// Its number.
    pub thread: u32,
    /// The CPU to pin it to; none to let it float.
    pub cpu: Option<u32>,
    /// Where it may float.
    pub usable: Vec<u32>,
    /// The order.
    pub plan: Arc<Plan>,
    /// The kernel's thread that measures in its place, where there is one.
    pub kernel: Option<KernelTimer>,
    /// What it counts into.
    pub recorder: Recorder,
    /// Where every latency goes, if that was asked for.
    pub samples: Option<SampleRing>,
    /// How it is asked to end.
    pub stop: Stop,
}

/// What a measuring thread says once it is set up.
pub struct Ready {
    /// Its number in the kernel.
    pub thread_id: i32,
    /// What was asked and what was read back.
    pub settings: Vec<Setting>,
    /// Its scheduling as read back.
    pub policy: String,
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
    pub ready: Receiver<Result<Ready, Refusal>>,
    /// Starts the thread; dropping it sends the thread home.
    pub start: SyncSender<Start>,
}

/// Starts the thread; it sets itself up and waits.
pub fn spawn(job: Job) -> std::io::Result<Worker> {
    let (ready_in, ready) = sync_channel(1);
    let (start, start_out) = sync_channel::<Start>(1);
    let handle = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        memory::touch_stack::<TOUCHED_STACK_BYTES>();
        let set_up = set_up(&job);
        let usable = set_up.is_ok();
        // The session waits for this; if it has given up, the start below never comes.
        let _ = ready_in.send(set_up);
        let start = start_out.recv().ok().filter(|_| usable)?;
        Some(run_with_timer(job, start))
    })?;
    Ok(Worker { handle, ready, start })
}

fn set_up(job: &Job) -> Result<Ready, Refusal> {
    sched::set_name(&format!("latlab/{}", job.thread));
    if let Some(kernel) = &job.kernel {
        return set_up_kernel(job, kernel);
    }
    let mut settings = Vec::new();
    let mut note = |what: &str, asked: String, applied: String, matters: bool| {
        let thread = Some(job.thread);
        settings.push(Setting { thread, matters, ..Setting::new(what, asked, applied) });
    };
    match job.cpu {
        Some(cpu) => {
            let placed = sched::set_affinity([cpu]).and_then(|()| sched::affinity());
            let applied = match placed {
                Ok(cpus) if cpus == [cpu] => format!("CPU {cpu}"),
                Ok(cpus) => format!("CPUs {cpus:?}"),
                Err(error) => format!("refused: {error}"),
            };
            note("affinity", format!("CPU {cpu}"), applied, true);
        }
        // A thread starts with the helpers' CPUs; one that floats gets all of them back.
        None => {
            let _ = sched::set_affinity(job.usable.iter().copied());
        }
    }
    if !job.plan.policy.is_realtime() {
        // Real-time threads have no slack anyway.
        let slack = sched::set_timer_slack(NonZeroU64::MIN).and_then(|()| sched::timer_slack());
        let applied = match slack {
            Ok(slack) => format!("{slack} ns"),
            Err(error) => format!("refused: {error}"),
        };
        note("timer slack", "1 ns".into(), applied, false);
    }
    let policy = job.plan.policy_of(job.thread);
    sched::set_scheduling(wanted(policy)).map_err(|error| scheduling_refused(policy, error))?;
    let applied = match sched::scheduling() {
        Ok(scheduling) => describe(scheduling),
        Err(error) => format!("cannot be read back: {error}"),
    };
    note("scheduling", policy.to_string(), applied.clone(), true);
    Ok(Ready { thread_id: sched::thread_id(), settings, policy: applied })
}

/// Schedules the kernel's thread, which measures where it is; ours only reads.
fn set_up_kernel(job: &Job, kernel: &KernelTimer) -> Result<Ready, Refusal> {
    let Some(id) = kernel.thread_id else {
        let text = format!("thread {}: the kernel has started no timerlat/N for it", job.thread);
        return Err(machine_refuses(text));
    };
    let policy = job.plan.policy_of(job.thread);
    let set = sched::set_scheduling_of(id, wanted(policy)).and_then(|()| sched::scheduling_of(id));
    let applied = set.map(describe).map_err(|error| scheduling_refused(policy, error))?;
    let (thread, matters) = (Some(job.thread), true);
    let setting = Setting::new("scheduling", policy.to_string(), applied.clone());
    let settings = vec![Setting { thread, matters, ..setting }];
    Ok(Ready { thread_id: id as i32, settings, policy: applied })
}

fn wanted(policy: Policy) -> Scheduling {
    match policy {
        Policy::Fifo { priority } => Scheduling::Fifo(priority.into()),
        Policy::Rr { priority } => Scheduling::Rr(priority.into()),
        Policy::Other => Scheduling::Other,
        Policy::Batch => Scheduling::Batch,
        Policy::Idle => Scheduling::Idle,
        Policy::Deadline { runtime_ns, deadline_ns, period_ns } => Scheduling::Deadline {
            runtime: runtime_ns.0 as u64,
            deadline: deadline_ns.0 as u64,
            period: period_ns.0 as u64,
        },
    }
}

fn describe(scheduling: Scheduling) -> String {
    let nanos = |value: u64| Nanos(value as i64);
    match scheduling {
        Scheduling::Fifo(priority) => Policy::Fifo { priority: priority as u8 }.to_string(),
        Scheduling::Rr(priority) => Policy::Rr { priority: priority as u8 }.to_string(),
        Scheduling::Other => Policy::Other.to_string(),
        Scheduling::Batch => Policy::Batch.to_string(),
        Scheduling::Idle => Policy::Idle.to_string(),
        Scheduling::Deadline { runtime, deadline, period } => Policy::Deadline {
            runtime_ns: nanos(runtime),
            deadline_ns: nanos(deadline),
            period_ns: nanos(period),
        }
        .to_string(),
        Scheduling::Unknown(number) => format!("policy {number}"),
    }
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
    if let Some(kernel) = job.kernel.take() {
        return run(job, start, kernel.counting_from(start.from));
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
    let warmed = measure(&mut timer, from, &warm_up, &mut recorder, &mut samples, &stop);
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
