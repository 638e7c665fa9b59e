//! The job of a measuring thread, whatever it measures, and its final report.

use crate::outbox::Outbox;
use crate::reasons::{STOP_ABOVE, reason_of};
use crate::timerlat::KernelTimer;
use latlab_measure::cyclic::{EndCode, Stop};
use latlab_measure::gpio::BreakdownRing;
use latlab_measure::recorder::{Recorder, Totals};
use latlab_measure::samples::SampleRing;
use latlab_model::Nanos;
use latlab_model::plan::{ClockName, Measurement};
use latlab_model::run::ThreadEnd;
use latlab_sys::clock::{self, Clock};
use latlab_sys::files::Root;
use latlab_sys::memory::{self, ThreadUsage};
use latlab_sys::trace;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What a measuring thread gets before it is started.
pub struct ThreadJob {
    pub thread: u32,
    /// The CPU to pin it to; `None` to let it float.
    pub cpu: Option<u32>,
    /// The kernel's thread that measures in its place, if any.
    pub kernel: Option<KernelTimer>,
    /// The CPU of the thread that wakes it, if any; `None` to let that float.
    pub waker_cpu: Option<u32>,
    /// The CPUs it may float over.
    pub usable: Vec<u32>,
    /// What all threads are to measure.
    pub measurement: Arc<Measurement>,
    pub recorder: Recorder,
    /// Takes every latency, if requested.
    pub samples: Option<SampleRing>,
    /// Takes the breakdown of each answer, if it answers a wire itself.
    pub breakdown: Option<BreakdownRing>,
    /// The stream, for what is known only at the end.
    pub outbox: Outbox,
    /// Whether every usable CPU is measured, so that nothing else has one to itself.
    pub crowded: bool,
    /// How it is asked to end.
    pub stop: Stop,
}

/// When a measuring thread begins, on the clock of its releases.
#[derive(Clone, Copy)]
pub struct Start {
    /// First release of the warm-up.
    pub warm_up_from: i64,
    /// First release that counts.
    pub from: i64,
}

/// The kernel clock of a measurement.
pub fn clock_of(measurement: &Measurement) -> Clock {
    match measurement.clock() {
        ClockName::Monotonic => Clock::Monotonic,
        ClockName::Tai => Clock::Tai,
        ClockName::Realtime => Clock::Realtime,
    }
}

/// Marks a latency above the limit in the kernel's trace, and ends the other threads.
pub fn stop_others(measurement: &Measurement, stop: &Stop, ending: EndCode) {
    if ending == EndCode::StopAbove {
        if measurement.cyclictest().is_some_and(|asked| asked.mark_trace) {
            trace::mark_and_stop(&Root::default(), "latlab: a latency above the limit");
        }
        stop.all.fetch_or(STOP_ABOVE, Ordering::Relaxed);
    }
}

/// The final report of any thread; `before` is its resource usage when counting began.
pub fn thread_end(
    thread: u32,
    code: EndCode,
    cycles: u64,
    totals: Totals,
    before: ThreadUsage,
) -> ThreadEnd {
    let after = memory::thread_usage();
    ThreadEnd {
        thread,
        reason: reason_of(code),
        cycles,
        overruns: totals.overruns,
        page_faults: after.page_faults - before.page_faults,
        involuntary_switches: after.involuntary_switches - before.involuntary_switches,
        voluntary_switches: after.voluntary_switches - before.voluntary_switches,
        spikes_lost: totals.spikes_lost,
        intervals_grown: totals.intervals_grown,
        samples_lost: 0,
        cpu_ns: Nanos(clock::thread_cpu_time()),
        spun: None,
        responded: None,
    }
}
