//! A wire from one line of this board to another: one thread makes an edge, another sleeps until
//! the kernel reports it, and answers.

use crate::cyclic::{EndCode, Stop};
use crate::recorder::Recorder;
use crate::samples::SampleSink;
use latlab_model::deadline::is_miss;
use latlab_sys::clock::{self, Clock};
use latlab_sys::gpio::{EdgeLine, OutputLine};
use latlab_sys::{Errno, sched};
use rtrb::{Consumer, Producer, RingBuffer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, Ordering};

/// Time between two attempts to interrupt the answering thread's sleep.
const WAKE_EVERY: i64 = 1_000_000;

/// Shared by both threads.
struct Shared {
    stimulus: OutputLine,
    answer: Option<OutputLine>,
    /// The clock just before the call that raised the stimulus; 0 before the first.
    at: AtomicI64,
    /// Whether that edge is settled: answered, or waited for long enough.
    is_judged: AtomicBool,
    /// All edges have been made.
    is_done: AtomicBool,
    /// The answering thread has ended.
    ends: AtomicBool,
    /// The error of the thread that makes the edges; 0 if there is none.
    failed: AtomicI32,
}

/// The side that makes the edges.
pub struct EdgeMaker(Arc<Shared>);

/// The side that answers them.
pub struct Answerer {
    shared: Arc<Shared>,
    loopback: EdgeLine,
    /// Whether another device answers, and the line shows its answer.
    is_external: bool,
}

/// Creates both sides of a wire.
pub fn wire(
    stimulus: OutputLine,
    loopback: EdgeLine,
    answer: Option<OutputLine>,
    is_external: bool,
) -> (EdgeMaker, Answerer) {
    let shared = Arc::new(Shared {
        stimulus,
        answer,
        at: AtomicI64::new(0),
        is_judged: AtomicBool::new(true),
        is_done: AtomicBool::new(false),
        ends: AtomicBool::new(false),
        failed: AtomicI32::new(0),
    });
    (EdgeMaker(Arc::clone(&shared)), Answerer { shared, loopback, is_external })
}

/// When edges come, in nanoseconds of CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug)]
pub struct EdgeSchedule {
    pub first: i64,
    /// The first edge that counts.
    pub counted_from: i64,
    /// All edges come before this.
    pub until: i64,
    /// Number of edges that count.
    pub count: u64,
    /// Shortest time between two edges; the lines are low again after half of it.
    pub least: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct EdgeCounts {
    /// Edges that count.
    pub stimuli: u64,
    /// Those without an answer.
    pub missing: u64,
    /// A last edge that was not waited for, which does not count.
    pub cut_off: u64,
}

impl EdgeMaker {
    /// Makes the edges at these distances, until the other thread, `answering`, has ended.
    pub fn run(
        &self,
        edges: &EdgeSchedule,
        distances: impl Iterator<Item = i64>,
        answering: i32,
    ) -> EdgeCounts {
        let shared = &*self.0;
        let mut counts = EdgeCounts::default();
        if let Err(error) = self.make_edges(edges, distances, &mut counts) {
            shared.failed.store(error.raw_os_error(), Ordering::Release);
        }
        shared.is_done.store(true, Ordering::Release);
        while !shared.ends.load(Ordering::Acquire) {
            // Repeated, as it may be just about to sleep.
            sched::wake(answering);
            let _ = clock::sleep_for(Clock::Monotonic, WAKE_EVERY);
        }
        counts
    }

    fn make_edges(
        &self,
        edges: &EdgeSchedule,
        distances: impl Iterator<Item = i64>,
        counts: &mut EdgeCounts,
    ) -> Result<(), Errno> {
        let shared = &*self.0;
        let mut next = edges.first;
        for distance in distances {
            if counts.stimuli == edges.count || next >= edges.until || !self.sleep_until(next)? {
                break;
            }
            shared.at.store(Clock::Monotonic.now(), Ordering::Release);
            shared.is_judged.store(false, Ordering::Release);
            shared.stimulus.set(true)?;
            let lowered = self.sleep_until(next + edges.least / 2)?;
            shared.lower()?;
            let counted = next >= edges.counted_from;
            next += distance;
            let waited = lowered && self.sleep_until(next)?;
            let is_answered = shared.is_judged.swap(true, Ordering::AcqRel);
            match (counted, is_answered || waited) {
                (true, true) => {
                    counts.stimuli += 1;
                    counts.missing += u64::from(!is_answered);
                }
                (true, false) => counts.cut_off += 1,
                (false, _) => {}
            }
        }
        Ok(())
    }

    /// Sleeps; returns false if the other thread has ended meanwhile.
    fn sleep_until(&self, at: i64) -> Result<bool, Errno> {
        loop {
            if self.0.ends.load(Ordering::Acquire) {
                return Ok(false);
            }
            match clock::sleep_until(Clock::Monotonic, at) {
                Ok(()) => return Ok(true),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Shared {
    fn lower(&self) -> Result<(), Errno> {
        self.stimulus.set(false)?;
        self.answer.as_ref().map_or(Ok(()), |answer| answer.set(false))
    }

    /// Raises the answer line; without one, the answer is to lower the stimulus.
    #[inline]
    fn answer(&self) -> Result<(), Errno> {
        match &self.answer {
            Some(answer) => answer.set(true),
            None => self.stimulus.set(false),
        }
    }
}

/// What the answering thread is to do, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct AnswerConfig {
    /// Edges before this do not count.
    pub counted_from: i64,
    /// A response later than this counts as late, and in no statistic; `i64::MAX` for no limit.
    pub window: i64,
    /// A response later than this misses its deadline; `i64::MAX` for no deadline.
    pub deadline: i64,
    /// A response later than this ends the run; `i64::MAX` for no limit.
    pub stop_above: i64,
}

/// The parts of an answer's latency, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnswerBreakdown {
    /// The clock just before the call that raised the stimulus.
    pub at: i64,
    /// From `at` until the kernel's time stamp of the edge.
    pub event: i64,
    /// From there until the program runs.
    pub wake_up: i64,
    /// From there until it has answered.
    pub answer: i64,
}

/// Capacity of the ring: one second of the shortest distances; the drainer empties it every 50 ms.
const RING: usize = 1 << 15;

/// The answering thread's end of the ring of breakdowns.
pub struct BreakdownRing {
    breakdown: Producer<AnswerBreakdown>,
    lost: u64,
}

/// The drainer's end.
pub struct BreakdownDrain(Consumer<AnswerBreakdown>);

/// Creates both ends; all memory is touched.
pub fn breakdown() -> (BreakdownRing, BreakdownDrain) {
    let (mut breakdown, mut out) = RingBuffer::new(RING);
    while breakdown.push(AnswerBreakdown { at: 1, event: 1, wake_up: 1, answer: 1 }).is_ok() {}
    while out.pop().is_ok() {}
    (BreakdownRing { breakdown, lost: 0 }, BreakdownDrain(out))
}

impl BreakdownRing {
    #[inline]
    fn push(&mut self, breakdown: AnswerBreakdown) {
        self.lost += u64::from(self.breakdown.push(breakdown).is_err());
    }

    /// Answers whose breakdown found the ring full.
    pub fn lost(&self) -> u64 {
        self.lost
    }
}

impl BreakdownDrain {
    /// The next breakdown, if there is one.
    pub fn next_breakdown(&mut self) -> Option<AnswerBreakdown> {
        self.0.pop().ok()
    }
}

/// What became of the edges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnswerResult {
    pub code: EndCode,
    /// The stimulus that was answered last.
    pub last: i64,
    /// Edges answered after the window.
    pub late: u64,
    /// Further edges after an answered one.
    pub double: u64,
    /// Loopback edges that belong to no stimulus.
    pub spurious: u64,
}

impl Answerer {
    /// Answers until all edges have come or the loop is asked to end.
    pub fn run<S: SampleSink>(
        &self,
        config: &AnswerConfig,
        recorder: &mut Recorder,
        samples: &mut S,
        breakdown: &mut Option<BreakdownRing>,
        stop: &Stop,
    ) -> AnswerResult {
        let (mut last, mut late, mut double, mut spurious) = (0, 0, 0, 0);
        let code = loop {
            let asked = stop.all.load(Ordering::Relaxed) | stop.own.load(Ordering::Relaxed);
            if asked != 0 {
                break EndCode::Stopped(asked);
            }
            let seen = match self.loopback.wait() {
                Ok(seen) => seen,
                Err(Errno::INTR) if self.shared.is_done.load(Ordering::Acquire) => {
                    break self.end();
                }
                Err(Errno::INTR) => continue,
                Err(error) => break EndCode::Failed(error),
            };
            let woken = Clock::Monotonic.now();
            let answered = match self.is_external {
                true => seen,
                false => match self.shared.answer() {
                    Ok(()) => Clock::Monotonic.now(),
                    Err(error) => break EndCode::Failed(error),
                },
            };
            let at = self.shared.at.load(Ordering::Acquire);
            let counted = at >= config.counted_from;
            let is_judged = self.shared.is_judged.swap(true, Ordering::AcqRel);
            if seen >= at && at != 0 && at == last {
                double += u64::from(counted);
                continue;
            }
            if is_judged || seen < at || self.shared.at.load(Ordering::Acquire) != at {
                // An edge that is no longer waited for; the next one is open again.
                self.shared.is_judged.store(is_judged, Ordering::Release);
                spurious += u64::from(counted);
                continue;
            }
            last = at;
            if !counted {
                continue;
            }
            let latency = answered - at;
            if at >= recorder.interval_end && !recorder.next_interval(at) {
                break EndCode::RecorderFull;
            }
            recorder.count_late(0, is_miss(latency, config.deadline).into());
            if latency > config.window {
                late += 1;
                continue;
            }
            recorder.record(at, latency);
            samples.push(at, latency);
            if let Some(breakdown) = breakdown {
                let (event, wake_up, answer) = (seen - at, woken - seen, answered - woken);
                breakdown.push(AnswerBreakdown { at, event, wake_up, answer });
            }
            if latency > config.stop_above {
                break EndCode::StopAbove;
            }
        };
        self.shared.ends.store(true, Ordering::Release);
        AnswerResult { code, last, late, double, spurious }
    }

    fn end(&self) -> EndCode {
        match self.shared.failed.load(Ordering::Acquire) {
            0 => EndCode::Finished,
            error => EndCode::Failed(Errno::from_raw_os_error(error)),
        }
    }
}
