//! A measuring thread: set up, warm up, measure, report.

use crate::gpio::{self, WiredThread};
use crate::helper_thread::{STACK_BYTES, TOUCHED_STACK_BYTES};
use crate::placement::{PlacedThread, Placement};
use crate::refusals::machine_refuses;
use crate::responder::Responder;
use crate::spin;
use crate::thread_job::{Start, ThreadJob, clock_of, stop_others, thread_end};
use crate::timerlat::KernelTimer;
use crate::waker::{self, HandoffThread};
use latlab_measure::cyclic::{
    EndCode, LoopConfig, LoopResult, NO_END, count_passed, count_unserved, measure,
};
use latlab_measure::recorder::Totals;
use latlab_measure::samples::SampleSink;
use latlab_measure::timer::{Nanosleep, Periodic, Relative, Timer, Wake};
use latlab_model::Nanos;
use latlab_model::frame::Refusal;
use latlab_model::gpio::GpioWire;
use latlab_model::nanos::SECOND;
use latlab_model::plan::{Cyclic, Mechanism, OverrunPolicy, Spin, Task};
use latlab_model::run::ThreadEnd;
use latlab_sys::clock::{self, Clock};
use latlab_sys::timer::{PosixTimer, TimerFd};
use latlab_sys::{Errno, memory, sched};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// A measuring thread, seen from the session.
pub struct Worker {
    /// Returns the thread's report; `None` if it was never started.
    pub handle: JoinHandle<Option<ThreadEnd>>,
    /// Reports that the thread is set up.
    pub ready: Receiver<Result<PlacedThread, Refusal>>,
    /// Starts the thread; dropping it ends the thread instead.
    pub start: SyncSender<Start>,
}

impl Worker {
    /// Drops an unstarted thread, and waits until it has ended and closed everything.
    pub fn abandon(self) {
        drop((self.start, self.ready));
        let _ = self.handle.join();
    }
}

/// Starts the thread; it sets itself up and waits.
pub fn spawn(mut job: ThreadJob) -> std::io::Result<Worker> {
    let (ready_in, ready) = sync_channel(1);
    let (start, start_out) = sync_channel::<Start>(1);
    let handle = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        memory::touch_stack::<TOUCHED_STACK_BYTES>();
        let (set_up, kind) = match set_up(&mut job) {
            Ok((placed, kind)) => {
                let thread = Arc::clone(&placed.thread);
                (Ok(placed), Some((kind, thread)))
            }
            Err(refusal) => (Err(refusal), None),
        };
        // The session waits for this; if it has given up, the start below never comes.
        let _ = ready_in.send(set_up);
        let (start, (kind, thread)) = start_out.recv().ok().zip(kind)?;
        let end = match kind {
            Kind::Sleeps(cyclic) => run_sleeping(job, start, &cyclic),
            Kind::IsWoken(woken, period) => run_handoff(job, start, woken, period),
            Kind::Spins(spin) => spin::run(job, spin, start),
            Kind::ReadsTracer(kernel, period) => run_kernel_timer(job, start, *kernel, period),
            Kind::WaitsForEdges(responder) => responder.run(job, start),
            Kind::AnswersEdges(wire, wired) => gpio::run(job, start, &wire, wired),
            Kind::Waits => wait_for_the_end(&job),
        };
        thread.record_end();
        Some(end)
    })?;
    Ok(Worker { handle, ready, start })
}

/// A measuring thread that is set up, with what its kind needs in addition to the job.
enum Kind {
    Sleeps(Cyclic),
    /// With the period.
    IsWoken(HandoffThread, i64),
    Spins(Spin),
    /// With the period.
    ReadsTracer(Box<KernelTimer>, i64),
    WaitsForEdges(Responder),
    AnswersEdges(GpioWire, WiredThread),
    Waits,
}

/// Places the thread, and the one that wakes it if there is one.
fn set_up(job: &mut ThreadJob) -> Result<(PlacedThread, Kind), Refusal> {
    sched::set_name(&format!("latlab/{}", job.thread));
    let measurement = Arc::clone(&job.measurement);
    let (thread, cpu, policy) = (job.thread, job.cpu, measurement.policy_of(job.thread));
    let usable = job.usable.clone();
    let place = |timer_slack| {
        Placement { cpu, timer_slack, ..Placement::new(thread, policy, &usable) }.apply()
    };
    match &measurement.task {
        Task::Cyclic(cyclic) => {
            let timer_slack =
                cyclic.timer_slack_ns.and_then(|slack| (slack.0 as u64).try_into().ok());
            Ok((place(timer_slack)?, Kind::Sleeps(cyclic.clone())))
        }
        Task::Handoff(handoff) => {
            let mut placed = place(None)?;
            let (woken, settings) = waker::spawn(job, handoff.wake)?;
            placed.settings.append(settings);
            Ok((placed, Kind::IsWoken(woken, handoff.releases.period_of(thread).0)))
        }
        Task::Spin(spin) => {
            let mut placed = place(None)?;
            placed.settings.settings.extend(spin::settings(job));
            Ok((placed, Kind::Spins(*spin)))
        }
        Task::Timerlat(timerlat) => {
            let missing = || machine_refuses(format!("the tracer has no thread {thread}"));
            let mut kernel = job.kernel.take().ok_or_else(missing)?;
            let placed = kernel.set_up(thread, policy)?;
            Ok((placed, Kind::ReadsTracer(Box::new(kernel), timerlat.period_ns.0)))
        }
        Task::Respond(asked) => {
            let (placed, responder) = Responder::set_up(job, asked)?;
            Ok((placed, Kind::WaitsForEdges(responder)))
        }
        Task::Gpio(wire) => {
            let mut placed = place(None)?;
            let (wired, settings) = gpio::set_up(job, wire)?;
            placed.settings.append(settings);
            Ok((placed, Kind::AnswersEdges(wire.clone(), wired)))
        }
        Task::Attach(_) | Task::Instrument => Ok((place(None)?, Kind::Waits)),
    }
}

/// Waits until the run is asked to end.
fn wait_for_the_end(job: &ThreadJob) -> ThreadEnd {
    let before = memory::thread_usage();
    let code = loop {
        let asked = job.stop.all.load(Ordering::Relaxed) | job.stop.own.load(Ordering::Relaxed);
        if asked != 0 {
            break EndCode::Stopped(asked);
        }
        // The request to end interrupts it.
        let _ = clock::sleep_for(Clock::Monotonic, SECOND.0);
    };
    thread_end(job.thread, code, 0, Totals::default(), before)
}

/// Sleeps until the other thread wakes it; the other's CPU time is added to its own.
fn run_handoff(
    job: ThreadJob,
    start: Start,
    HandoffThread { timer, waker }: HandoffThread,
    period: i64,
) -> ThreadEnd {
    waker.begin(start.warm_up_from, period);
    let end = run(job, start, timer, period);
    ThreadEnd { cpu_ns: end.cpu_ns + Nanos(waker.end()), ..end }
}

/// Reads the tracer's reports on another thread, whose CPU time is added if it is ours.
fn run_kernel_timer(job: ThreadJob, start: Start, kernel: KernelTimer, period: i64) -> ThreadEnd {
    let mut timer = kernel.with_first_release(start.from);
    let end = run(job, start, &mut timer, period);
    ThreadEnd { cpu_ns: end.cpu_ns + Nanos(timer.end()), ..end }
}

fn run_sleeping(job: ThreadJob, start: Start, cyclic: &Cyclic) -> ThreadEnd {
    let clock = clock_of(&job.measurement);
    let period = cyclic.releases.period_of(job.thread).0;
    let catch_up = cyclic.overruns == OverrunPolicy::CatchUp;
    let first = start.warm_up_from;
    match cyclic.mechanism {
        Mechanism::Nanosleep => run(job, start, Nanosleep::new(clock), period),
        Mechanism::Relative => run(job, start, Relative { clock, period }, period),
        Mechanism::Timerfd => match TimerFd::start(clock, first, period) {
            Ok(timer) => run(job, start, Periodic::new(timer, clock, catch_up), period),
            Err(error) => run(job, start, FailedTimer(error), period),
        },
        Mechanism::PosixTimer => match PosixTimer::start(clock, first, period) {
            Ok(timer) => run(job, start, Periodic::new(timer, clock, catch_up), period),
            Err(error) => run(job, start, FailedTimer(error), period),
        },
    }
}

fn run<T: Timer>(mut job: ThreadJob, start: Start, timer: T, period: i64) -> ThreadEnd {
    match job.samples.take() {
        Some(samples) => run_recording(job, start, timer, period, samples),
        None => run_recording(job, start, timer, period, ()),
    }
}

fn run_recording<T: Timer, S: SampleSink>(
    job: ThreadJob,
    start: Start,
    mut timer: T,
    period: i64,
    mut samples: S,
) -> ThreadEnd {
    let ThreadJob { thread, measurement, mut recorder, stop, .. } = job;
    let plan = &measurement.plan;
    let warm_up = LoopConfig {
        period,
        catch_up: plan.method.overrun_policy() == Some(OverrunPolicy::CatchUp),
        deadline: i64::MAX,
        stop_above: i64::MAX,
        until: start.from,
        count: NO_END,
    };
    let from = start.warm_up_from;
    let mut warmed = measure(&mut timer, from, &warm_up, &mut recorder, &mut samples, &stop);
    recorder.start(start.from);
    samples.start();
    let counted = LoopConfig {
        deadline: plan.until.deadline_ns.map_or(i64::MAX, |limit| limit.0),
        stop_above: plan.until.stop_above_ns.map_or(i64::MAX, |limit| limit.0),
        until: plan
            .until
            .duration_ns
            .map_or(i64::MAX, |length| start.from.saturating_add(length.0)),
        count: plan.until.cycles.unwrap_or(NO_END).min(NO_END),
        ..warm_up
    };
    let before = memory::thread_usage();
    let ended = match warmed.code {
        EndCode::Finished => {
            let served = match &measurement.task {
                // Without absolute releases none can be passed.
                Task::Cyclic(cyclic) if cyclic.mechanism == Mechanism::Relative => 0,
                // Omitted releases come with the next one served.
                Task::Handoff(_) => {
                    warmed.next = start.from;
                    0
                }
                // The tracer's releases lie anywhere in a period: its next may well be its first.
                Task::Timerlat(_) if warmed.next < start.from + period => 0,
                // A stall that began in the warm-up may have passed counted releases.
                _ => count_passed(&warmed, start.from, &counted, &mut recorder, &mut samples),
            };
            let rest = LoopConfig { count: counted.count - served, ..counted };
            let ended = measure(&mut timer, warmed.next, &rest, &mut recorder, &mut samples, &stop);
            LoopResult { cycles: ended.cycles + served, ..ended }
        }
        ending => LoopResult { code: ending, next: start.from, cycles: 0, ..warmed },
    };
    stop_others(&measurement, &stop, ended.code);
    // No release came that would have reported the omitted ones of another thread.
    let is_woken = matches!(measurement.task, Task::Handoff(_) | Task::Timerlat(_));
    let ended = match is_woken && matches!(ended.code, EndCode::Stopped(_)) {
        true => count_unserved(ended, clock_of(&measurement).now(), &counted, &mut recorder),
        false => ended,
    };
    let totals = recorder.finish(ended.next);
    let end = thread_end(thread, ended.code, ended.cycles, totals, before);
    ThreadEnd { samples_lost: samples.lost(), ..end }
}

/// A timer that could not be started: its thread fails without a cycle.
struct FailedTimer(Errno);

impl Timer for FailedTimer {
    fn wait(&mut self, _: i64) -> Result<Wake, Errno> {
        Err(self.0)
    }

    fn passed(&mut self, _: i64, _: i64) -> i64 {
        0
    }
}
