//! The cyclic instrument: sleep until a release, read the clock, count how late it was.

use crate::recorder::Recorder;
use crate::samples::SampleSink;
use crate::timer::{Timer, Wake};
use latlab_model::deadline::misses;
use latlab_sys::Errno;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// What one thread is to do, in nanoseconds of the clock it sleeps on.
#[derive(Clone, Copy, Debug)]
pub struct LoopConfig {
    /// Time between releases.
    pub period: i64,
    /// Whether overruns are served late instead of left out.
    pub catch_up: bool,
    /// A release served later than this misses its deadline; `i64::MAX` for no deadline.
    pub deadline: i64,
    /// A latency above this ends the run; `i64::MAX` for no limit.
    pub stop_above: i64,
    /// The first release that is no longer served; `i64::MAX` for no end.
    pub until: i64,
    /// Number of cycles, [`NO_END`] for no end.
    pub count: u64,
}

/// Means no end; a year at 20 kHz is far below it.
pub const NO_END: u64 = i64::MAX as u64;

/// Why a loop ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndCode {
    /// The time or number of cycles was reached.
    Finished,
    /// It was asked to end; the number holds the reasons.
    Stopped(u8),
    /// A latency was above the limit.
    StopAbove,
    /// Nothing was drained for hours.
    RecorderFull,
    /// The timer failed.
    Failed(Errno),
}

/// How a loop is asked to end.
#[derive(Clone)]
pub struct Stop {
    /// Ends every thread when it is not 0; checked in every cycle.
    pub all: &'static AtomicU8,
    /// Ends this thread when it is not 0; checked when a signal ends its sleep and after each
    /// interval, so it costs nothing per cycle.
    pub own: Arc<AtomicU8>,
}

/// The result of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoopResult {
    pub code: EndCode,
    /// The release that would have been next.
    pub next: i64,
    /// Number of cycles it ran.
    pub cycles: u64,
    /// The clock at the last wake-up that was late by a period or more.
    pub late_wake: i64,
}

/// Runs the cycles from the release `first` on.
///
/// Per cycle: one sleep, one reading of the clock, one count. Rare events are handled in
/// `check_limits` and `count_late`.
pub fn measure<T: Timer, S: SampleSink>(
    timer: &mut T,
    first: i64,
    cycles: &LoopConfig,
    recorder: &mut Recorder,
    samples: &mut S,
    stop: &Stop,
) -> LoopResult {
    let attention = attention_threshold(cycles);
    let before = recorder.cycles();
    let mut release = first;
    let mut pause = first;
    let mut late_wake = first;
    let code = loop {
        if release >= pause {
            pause = match check_limits(release, cycles, before, recorder, stop) {
                Ok(pause) => pause,
                Err(ending) => break ending,
            };
        }
        let asked = stop.all.load(Ordering::Relaxed);
        if asked != 0 {
            break EndCode::Stopped(asked);
        }
        let wake = match timer.wait(release) {
            Ok(wake) => wake,
            Err(Errno::INTR) => {
                pause = release;
                continue;
            }
            Err(error) => break EndCode::Failed(error),
        };
        let left_out = timer.left_out(release, wake.due, cycles.period);
        if left_out > 0 {
            // Each would have been served no earlier than this one.
            recorder.count_late(left_out, (left_out - cycles.deadline / cycles.period).max(0));
        }
        let latency = wake.at - wake.due;
        recorder.record_wake(wake.due, latency);
        samples.push(wake.due, latency);
        release = wake.due + cycles.period;
        if latency >= attention {
            release += count_late(timer, wake, cycles, recorder);
            late_wake = wake.at;
            if latency > cycles.stop_above {
                break EndCode::StopAbove;
            }
        }
    };
    LoopResult { code, next: release, cycles: recorder.cycles() - before, late_wake }
}

/// At an interval's end or a limit: hands over the interval, and returns the release at which to
/// check again, or why the loop is to end.
#[cold]
#[inline(never)]
fn check_limits(
    release: i64,
    cycles: &LoopConfig,
    before: u64,
    recorder: &mut Recorder,
    stop: &Stop,
) -> Result<i64, EndCode> {
    let asked = stop.own.load(Ordering::Relaxed);
    if asked != 0 {
        return Err(EndCode::Stopped(asked));
    }
    let left = cycles.count - (recorder.cycles() - before);
    if release >= cycles.until || left == 0 {
        return Err(EndCode::Finished);
    }
    if release >= recorder.interval_end && !recorder.next_interval(release) {
        return Err(EndCode::RecorderFull);
    }
    // Each cycle takes at least a period, so at most `left` come before this.
    let enough = release.saturating_add(cycles.period.saturating_mul(left as i64));
    Ok(recorder.interval_end.min(cycles.until).min(enough))
}

/// The smallest latency that needs more than counting.
fn attention_threshold(cycles: &LoopConfig) -> i64 {
    cycles.period.min(cycles.deadline.saturating_add(1)).min(cycles.stop_above.saturating_add(1))
}

/// Accounts for a cycle so late that it missed its deadline or the next release; returns how far
/// the next release is put off.
#[cold]
fn count_late<T: Timer>(
    timer: &mut T,
    wake: Wake,
    cycles: &LoopConfig,
    recorder: &mut Recorder,
) -> i64 {
    let latency = wake.at - wake.due;
    let passed = if latency >= cycles.period { timer.passed(latency, cycles.period) } else { 0 };
    let skipped = if cycles.catch_up { 0 } else { passed };
    // Releases after the end of the run do not count, however late the last one is.
    let left = ((cycles.until - 1 - wake.due) / cycles.period).max(0);
    // With catch-up every late cycle finds one further release past: its own next one.
    let overruns = if cycles.catch_up { passed.min(1) } else { passed };
    let misses = misses(latency, cycles.deadline, cycles.period, skipped.min(left));
    recorder.count_late(overruns.min(left), misses);
    skipped * cycles.period
}

/// Counts the releases from `first` on that the last stall of a warm-up has passed: the wake-up
/// that ended it served the first of them, as it would have without a warm-up. Returns the number
/// of cycles.
pub fn count_passed(
    warm_up: &LoopResult,
    first: i64,
    cycles: &LoopConfig,
    recorder: &mut Recorder,
    samples: &mut impl SampleSink,
) -> u64 {
    let passed = (warm_up.next.min(cycles.until) - first + cycles.period - 1) / cycles.period;
    if passed <= 0 {
        return 0;
    }
    let latency = warm_up.late_wake - first;
    recorder.record(first, latency);
    samples.push(first, latency);
    recorder.count_late(passed - 1, misses(latency, cycles.deadline, cycles.period, passed - 1));
    1
}

/// Counts the releases that were due a period or more before a loop was asked to end and were not
/// served.
pub fn count_unserved(
    ended: LoopResult,
    now: i64,
    cycles: &LoopConfig,
    recorder: &mut Recorder,
) -> LoopResult {
    let left_out = ((now.min(cycles.until) - ended.next) / cycles.period).max(0);
    recorder.count_late(left_out, (left_out - cycles.deadline / cycles.period).max(0));
    LoopResult { next: ended.next + left_out * cycles.period, ..ended }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::{Drain, Sealed, recorder};
    use crate::samples::samples;
    use latlab_model::Nanos;
    use latlab_model::frame::Spike;
    use latlab_model::histogram::Histogram;
    use latlab_model::nanos::{MILLISECOND, SECOND};
    use proptest::prelude::*;

    const US: i64 = 1_000;
    const MS: i64 = MILLISECOND.0;
    const S: i64 = SECOND.0;

    /// A scripted clock that does not advance by itself: each wake-up comes when it was due, or at
    /// once if that is past, plus the next delay of the script.
    struct Scripted {
        now: i64,
        delays: Vec<Result<i64, Errno>>,
    }

    impl Scripted {
        fn new(delays: impl IntoIterator<Item = i64>) -> Scripted {
            let mut delays: Vec<_> = delays.into_iter().map(Ok).collect();
            delays.reverse();
            Scripted { now: 0, delays }
        }
    }

    impl Timer for Scripted {
        fn wait(&mut self, release: i64) -> Result<Wake, Errno> {
            self.now = self.now.max(release) + self.delays.pop().unwrap_or(Ok(10 * US))?;
            Ok(Wake { due: release, at: self.now })
        }

        fn passed(&mut self, latency: i64, period: i64) -> i64 {
            latency / period
        }
    }

    const EVERY_MS: LoopConfig = LoopConfig {
        period: MS,
        catch_up: false,
        deadline: i64::MAX,
        stop_above: i64::MAX,
        until: i64::MAX,
        count: NO_END,
    };

    fn stop() -> Stop {
        static ALL: AtomicU8 = AtomicU8::new(0);
        Stop { all: &ALL, own: Arc::default() }
    }

    fn drained(drain: &mut Drain) -> Vec<Sealed> {
        std::iter::from_fn(|| drain.next_interval()).collect()
    }

    /// Runs a script to its end with a drainer that takes each interval as it comes.
    fn run(cycles: &LoopConfig, timer: &mut impl Timer) -> (EndCode, i64, Histogram) {
        let (mut recorder, mut drain) = recorder(i64::MAX);
        recorder.start(0);
        let LoopResult { code: ending, next, cycles, .. } =
            measure(timer, 0, cycles, &mut recorder, &mut (), &stop());
        let totals = recorder.finish(next);
        let mut sum = Histogram::default();
        for interval in drained(&mut drain) {
            sum.add(&interval.counts).unwrap();
        }
        assert_eq!((cycles, totals.overruns), (sum.count, sum.overruns));
        assert_eq!(sum.binned(), sum.count);
        (ending, next, sum)
    }

    /// Invariant (releases): A stall is counted as all the releases that it covers, with both policies.
    #[test]
    fn a_stall_of_200_ms_is_200_activations_with_both_policies() {
        let stall = || Scripted::new([0, 0, 200 * MS + 1]);
        let cycles = LoopConfig { until: S, ..EVERY_MS };
        let (_, _, skipped) = run(&cycles, &mut stall());
        assert_eq!((skipped.count, skipped.overruns), (800, 200));
        assert_eq!(skipped.max_ns.0, 200 * MS + 1);

        let (_, _, served) = run(&LoopConfig { catch_up: true, ..cycles }, &mut stall());
        assert_eq!(served.count, 1000);
        assert!(served.overruns >= 200, "{}", served.overruns);
        assert_eq!(served.max_ns, skipped.max_ns);
    }

    #[test]
    fn the_vectors_of_the_statistics_hold() {
        // Formula S1: period 200 us, deadline 125 us; activations and misses.
        for (latencies, releases, missed_deadline) in
            [(vec![150], 1, 1), (vec![450], 3, 2), (vec![9031], 46, 45), (vec![130, 640, 20], 6, 4)]
        {
            let cycles = LoopConfig {
                period: 200 * US,
                deadline: 125 * US,
                count: latencies.len() as u64,
                ..EVERY_MS
            };
            let script = latencies.iter().map(|latency| latency * US);
            let (_, _, sum) = run(&cycles, &mut Scripted::new(script));
            assert_eq!(sum.count + sum.overruns, releases, "{latencies:?}");
            assert_eq!(sum.misses, missed_deadline, "{latencies:?}");
        }
    }

    proptest! {
        /// Invariant (releases): A stall is counted as all the releases that it covers, with both policies.
        #[test]
        fn every_release_of_the_window_is_accounted_for(
            delays in proptest::collection::vec(0i64..5 * MS, 0..300),
            catch_up: bool,
            deadline in 1i64..4 * MS,
        ) {
            let cycles = LoopConfig { catch_up, deadline, until: S, ..EVERY_MS };
            let (ending, next, sum) = run(&cycles, &mut Scripted::new(delays));
            prop_assert_eq!(ending, EndCode::Finished);
            prop_assert!(next >= S);
            let releases = if catch_up { sum.count } else { sum.count + sum.overruns };
            prop_assert_eq!(releases, 1000, "none too few, and none after the end");
            prop_assert!(sum.misses <= releases);
        }

        #[test]
        fn skipped_misses_are_those_of_the_served_ones(delay in 0i64..9 * MS) {
            // Serving all releases after one stall finds the same misses as skipping them.
            let delays = [delay, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            let cycles = LoopConfig { deadline: 300 * US, until: 20 * MS, ..EVERY_MS };
            let (_, _, skipped) = run(&cycles, &mut Scripted::new(delays));
            let served = LoopConfig { catch_up: true, ..cycles };
            let (_, _, served) = run(&served, &mut Scripted::new(delays));
            prop_assert_eq!(skipped.misses, served.misses);
            prop_assert_eq!(skipped.overruns, served.overruns);
        }
    }

    /// Invariant (releases): A stall across the end of the warm-up is counted from there on.
    #[test]
    fn a_stall_across_the_end_of_the_warm_up_is_counted_from_there_on() {
        let (mut recorder, mut drain) = recorder(i64::MAX);
        // Five releases of warm-up; the fourth is served 20.5 ms late.
        let mut timer = Scripted::new([0, 0, 0, 20 * MS + 500 * US]);
        let warm_up = LoopConfig { until: 5 * MS, ..EVERY_MS };
        let warmed = measure(&mut timer, 0, &warm_up, &mut recorder, &mut (), &stop());
        recorder.start(5 * MS);
        let counted = LoopConfig { until: 105 * MS, deadline: 10 * MS, ..EVERY_MS };
        assert_eq!(count_passed(&warmed, 5 * MS, &counted, &mut recorder, &mut ()), 1);
        let ended = measure(&mut timer, warmed.next, &counted, &mut recorder, &mut (), &stop());
        recorder.finish(ended.next);
        let counts = drained(&mut drain).pop().unwrap().counts;
        // It ended at 23.5 ms: release 5 was served then, 6 to 23 were overruns, and those up to 13
        // were more than 10 ms late.
        assert_eq!((counts.overruns, counts.misses, counts.count), (18, 9, 82));
        assert_eq!(counts.max_ns.0, 18 * MS + 500 * US);
        assert_eq!(ended.cycles, 81);
    }

    /// Invariant (releases): Releases not served before the end are counted as missed.
    #[test]
    fn releases_that_nobody_served_until_the_end_are_missed() {
        let overruns = |now: i64| {
            let (mut recorder, mut drain) = recorder(i64::MAX);
            recorder.start(0);
            let cycles = LoopConfig { until: 30 * MS, deadline: 5 * MS, ..EVERY_MS };
            let code = EndCode::Stopped(1);
            let ended = LoopResult { code, next: 10 * MS, cycles: 10, late_wake: 0 };
            let ended = count_unserved(ended, now, &cycles, &mut recorder);
            recorder.finish(ended.next);
            let counts = drained(&mut drain).pop().unwrap().counts;
            (counts.overruns, counts.misses, ended.next)
        };
        assert_eq!(overruns(25 * MS), (15, 10, 25 * MS));
        assert_eq!(overruns(99 * MS), (20, 15, 30 * MS), "none after the end of the run");
        // The next release may just be coming.
        assert_eq!(overruns(10 * MS + 900 * US), (0, 0, 10 * MS));
        assert_eq!(overruns(9 * MS), (0, 0, 10 * MS));
    }

    #[test]
    fn ends_after_its_cycles_at_its_limit_and_when_asked() {
        let (ending, next, sum) = run(&LoopConfig { count: 7, ..EVERY_MS }, &mut Scripted::new([]));
        assert_eq!((ending, next, sum.count), (EndCode::Finished, 7 * MS, 7));

        let limit = LoopConfig { stop_above: 50 * US, ..EVERY_MS };
        let (ending, _, sum) = run(&limit, &mut Scripted::new([10 * US, 50 * US, 51 * US]));
        assert_eq!((ending, sum.count), (EndCode::StopAbove, 3), "the limit itself is allowed");

        let stop = stop();
        stop.own.store(9, Ordering::Relaxed);
        let (mut recorder, _drain) = recorder(S);
        recorder.start(0);
        let ended = measure(&mut Scripted::new([]), 0, &EVERY_MS, &mut recorder, &mut (), &stop);
        assert_eq!((ended.code, ended.next, ended.cycles), (EndCode::Stopped(9), 0, 0));
    }

    #[test]
    fn a_signal_only_wakes_and_an_error_ends() {
        let mut timer = Scripted::new([]);
        timer.delays = vec![Err(Errno::INVAL), Ok(5), Err(Errno::INTR), Ok(5)];
        let (ending, _, sum) = run(&EVERY_MS, &mut timer);
        assert_eq!((ending, sum.count), (EndCode::Failed(Errno::INVAL), 2));
    }

    /// Invariant (releases): Negative latencies and latencies of hours are counted.
    #[test]
    fn a_clock_set_back_is_counted_below_zero_and_a_suspended_one_has_a_bin() {
        let hours = 7 * 3600 * S;
        let mut timer = Scripted::new([0, -3 * US, hours]);
        let (_, _, sum) = run(&LoopConfig { count: 3, ..EVERY_MS }, &mut timer);
        assert_eq!((sum.underflow, sum.min_ns.0, sum.max_ns.0), (1, -3 * US, hours));
        assert_eq!(sum.overruns as i64, hours / MS);
        let last = sum.rows().last().copied().unwrap();
        assert!(last.low_ns <= Nanos(hours) && Nanos(hours) < last.high_ns);
    }

    /// Invariant (releases): Intervals sum exactly to the total.
    #[test]
    fn intervals_tile_the_window_and_sum_to_the_total() {
        let (mut recorder, mut drain) = recorder(10 * MS);
        recorder.start(0);
        let mut timer = Scripted::new([0, 0, 35 * MS]);
        // Five cycles at a time, so that the drainer runs in between.
        let five = LoopConfig { until: 100 * MS, count: 5, ..EVERY_MS };
        let (mut next, mut served, mut sum, mut edge) = (0, 0, Histogram::default(), 0);
        while next < 100 * MS {
            let ended = measure(&mut timer, next, &five, &mut recorder, &mut (), &stop());
            (next, served) = (ended.next, served + ended.cycles);
            for interval in drained(&mut drain) {
                assert_eq!(interval.start, edge);
                edge = interval.end;
                sum.add(&interval.counts).unwrap();
            }
        }
        let totals = recorder.finish(next);
        let last = drained(&mut drain).pop().unwrap();
        assert_eq!((last.start, last.end), (edge, next));
        sum.add(&last.counts).unwrap();
        assert_eq!((sum.count, sum.overruns), (served, totals.overruns));
        assert_eq!(sum.count + sum.overruns, 100);
        assert_eq!(totals.intervals_grown, 0);
    }

    /// Invariant (losses): A drainer that is starved loses no count.
    #[test]
    fn a_starved_drainer_loses_nothing() {
        let (mut recorder, mut drain) = recorder(10 * MS);
        recorder.start(0);
        let cycles = LoopConfig { until: S, ..EVERY_MS };
        let ended = measure(&mut Scripted::new([]), 0, &cycles, &mut recorder, &mut (), &stop());
        let totals = recorder.finish(ended.next);
        let intervals = drained(&mut drain);
        assert_eq!(intervals.iter().map(|interval| interval.counts.count).sum::<u64>(), 1000);
        assert_eq!(ended.cycles, 1000);
        assert!(totals.intervals_grown > 90);
    }

    /// Invariant (losses): The release of the observed maximum is known even if its ring was full.
    #[test]
    fn a_full_spike_ring_loses_all_but_the_largest_and_counts_them() {
        let (mut recorder, mut drain) = recorder(i64::MAX);
        recorder.start(0);
        for release in 0..5000 {
            recorder.record(release, if release == 4500 { 900 } else { 50 });
        }
        let kept = std::iter::from_fn(|| drain.next_spike()).count() as u64;
        let totals = recorder.finish(5000);
        let spike = drain.next_interval().and_then(|interval| interval.spike);
        assert_eq!(spike, Some(Spike { latency_ns: Nanos(900), release_ns: Nanos(4500) }));
        assert_eq!(kept + 1 + totals.spikes_lost, 5000);
    }

    #[test]
    fn the_loop_allocates_nothing() {
        let (mut recorder, drain) = recorder(10 * MS);
        let (mut samples, _sample_drain) = samples(MS);
        recorder.start(0);
        samples.start();
        let mut timer = Scripted::new([0, 2 * MS, 0, 40 * MS]);
        let cycles = LoopConfig { until: S, deadline: MS, ..EVERY_MS };
        let stop = stop();
        let used = allocation_counter::measure(|| {
            measure(&mut timer, 0, &cycles, &mut recorder, &mut samples, &stop);
        });
        assert_eq!(used.count_total, 0);
        drop(drain);
    }
}
