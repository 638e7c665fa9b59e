//! The spin instrument: read a counter again and again; if a reading comes late, something else had
//! the CPU.

use crate::counter::Host;
use crate::cyclic::{EndCode, Stop};
use crate::recorder::Recorder;
use latlab_model::Nanos;
use latlab_model::deadline::is_miss;
use latlab_model::run::SpinCounts;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// What one thread is to do, in nanoseconds; times are on CLOCK_MONOTONIC.
#[derive(Clone, Debug)]
pub struct SpinConfig {
    /// The first counted instant.
    pub from: i64,
    /// When it ends; `i64::MAX` for no end.
    pub until: i64,
    /// A pass that exceeds the usual one by more than this is a gap.
    pub gap_above: i64,
    /// A gap above this misses the deadline; `i64::MAX` for no deadline.
    pub deadline: i64,
    /// A gap above this ends the run; `i64::MAX` for no limit.
    pub stop_above: i64,
    /// When it sleeps voluntarily, so that it cannot hang the machine.
    pub rest: Option<RestPlan>,
    /// Lengths of gaps that look like the kernel's reserve for SCHED_OTHER threads.
    pub reserve: Range<i64>,
}

/// A sleep after each stretch of spinning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RestPlan {
    /// Length of the stretch, in nanoseconds.
    pub after: i64,
    /// Length of the sleep, in nanoseconds.
    pub length: i64,
}

/// The result of a loop.
#[derive(Clone, PartialEq, Debug)]
pub struct SpinResult {
    pub code: EndCode,
    pub at: i64,
    /// What it saw.
    pub spun: SpinCounts,
}

/// Handling what is rare takes less than this, in nanoseconds; what takes longer has lost the CPU meanwhile.
const HANDLING: i64 = 50_000;
/// Number of passes whose median is the usual pass.
const LEARNT_FROM: usize = 1023;

/// Spins until this time; returns the median of the last passes, in ticks.
///
/// The last ones, because by then the CPU has reached its frequency and the workload is in the
/// cache.
pub fn learn(host: &mut impl Host, work: &mut impl FnMut(), until: i64, stop: &Stop) -> i64 {
    let mut passes = [0_i64; LEARNT_FROM];
    let end = host.reading_at(until);
    let mut last = host.read();
    let mut count = 0;
    while count == 0 || (last < end && stop_code(stop) == 0) {
        work();
        let now = host.read();
        passes[count % LEARNT_FROM] = now - last;
        last = now;
        count += 1;
    }
    let passes = &mut passes[..count.min(LEARNT_FROM)];
    passes.sort_unstable();
    passes[passes.len() / 2]
}

/// Spins, with this usual pass.
///
/// Per pass: the work, one reading, four comparisons. Rare events cost the next pass nothing, since
/// that begins with a new reading, and lose nothing, since that is compared with the one before them.
pub fn spin(
    host: &mut impl Host,
    work: &mut impl FnMut(),
    usual: i64,
    spins: &SpinConfig,
    recorder: &mut Recorder,
    stop: &Stop,
) -> SpinResult {
    let usual_pass_ns = host.nanos_of(usual);
    let mut spinner = Spinner::new(host, usual, spins, recorder);
    let mut spun = SpinCounts { usual_pass_ns, ..SpinCounts::default() };
    let limit = spinner.limit;
    // Time lost since the first counted instant shows in the first pass.
    let mut last = spinner.host.reading_at(spins.from);
    let mut pause = last;
    let code = loop {
        work();
        let mut now = spinner.host.read();
        spun.passes += 1;
        if now - last > limit {
            now = match spinner.gap(last, now, &mut spun) {
                Ok(after) => after,
                Err(ending) => break ending,
            };
        }
        if now >= pause {
            (now, pause) = match spinner.check_limits(now, &mut spun) {
                Ok(readings) => readings,
                Err(ending) => break ending,
            };
        }
        let asked = stop_code(stop);
        if asked != 0 {
            break EndCode::Stopped(asked);
        }
        last = now;
    };
    let now = spinner.host.read();
    SpinResult { code, at: spinner.host.time_of(now), spun }
}

#[inline]
fn stop_code(stop: &Stop) -> u8 {
    stop.all.load(Ordering::Relaxed) | stop.own.load(Ordering::Relaxed)
}

/// What the loop needs when something rare happens.
struct Spinner<'a, H> {
    host: &'a mut H,
    spins: &'a SpinConfig,
    recorder: &'a mut Recorder,
    /// Context switches up to the last gap.
    switches: u64,
    /// When to sleep next.
    rest_at: i64,
    usual: i64,
    /// The longest pass that is not a gap, in ticks.
    limit: i64,
    /// The longest handling that lost nothing, in ticks.
    longest_handling: i64,
}

impl SpinConfig {
    fn next_rest(&self, time: i64) -> i64 {
        self.rest.map_or(i64::MAX, |rest| time + rest.after)
    }
}

impl<'a, H: Host> Spinner<'a, H> {
    fn new(
        host: &'a mut H,
        usual: i64,
        spins: &'a SpinConfig,
        recorder: &'a mut Recorder,
    ) -> Spinner<'a, H> {
        let from = host.reading_at(spins.from);
        let ticks = |nanos| host.reading_at(spins.from + nanos) - from;
        let limit = usual + ticks(spins.gap_above);
        // A rehearsal takes each pass for a gap, and has a negative limit.
        let longest_handling = limit.max(usual) + ticks(HANDLING);
        let (switches, rest_at) = (host.switches(), spins.next_rest(spins.from));
        Spinner { host, spins, recorder, switches, rest_at, usual, limit, longest_handling }
    }

    /// Records the time that was lost between two readings; returns the reading to go on from.
    #[cold]
    #[inline(never)]
    fn gap(&mut self, last: i64, now: i64, spun: &mut SpinCounts) -> Result<i64, EndCode> {
        self.record(last, now, spun)?;
        self.handled(now, spun)
    }

    /// A new reading, after something rare was handled since the last one. If the CPU was lost meanwhile, that is a
    /// gap as well.
    fn handled(&mut self, last: i64, spun: &mut SpinCounts) -> Result<i64, EndCode> {
        let now = self.host.read();
        if now - last <= self.longest_handling {
            return Ok(now);
        }
        self.record(last, now, spun)?;
        Ok(self.host.read())
    }

    fn record(&mut self, last: i64, now: i64, spun: &mut SpinCounts) -> Result<(), EndCode> {
        let length = self.host.nanos_of(now - last - self.usual).round() as i64;
        self.recorder.record(self.host.time_of(last), length);
        if is_miss(length, self.spins.deadline) {
            self.recorder.count_late(0, 1);
        }
        let switches = self.host.switches();
        let left_the_cpu = switches > self.switches;
        self.switches = switches;
        match left_the_cpu {
            true => spun.preempted.add(Nanos(length)),
            false => spun.interrupted.add(Nanos(length)),
        }
        if left_the_cpu && self.spins.reserve.contains(&length) {
            spun.reserve_taken.add(Nanos(length));
        }
        match length > self.spins.stop_above {
            true => Err(EndCode::StopAbove),
            false => Ok(()),
        }
    }

    /// At an interval's end, at a rest or at the end: does what is due, and returns the reading to go on from and
    /// that at which to check again, or why the loop is to end.
    #[cold]
    #[inline(never)]
    fn check_limits(&mut self, now: i64, spun: &mut SpinCounts) -> Result<(i64, i64), EndCode> {
        let time = self.host.time_of(now);
        if time >= self.spins.until {
            return Err(EndCode::Finished);
        }
        if time >= self.recorder.interval_end {
            if !self.recorder.next_interval(time) {
                return Err(EndCode::RecorderFull);
            }
            self.host.align();
        }
        let mut now = self.handled(now, spun)?;
        if time >= self.rest_at
            && let Some(rest) = self.spins.rest
        {
            let rested = self.rest(rest, now, spun);
            now = self.handled(rested, spun)?;
        }
        let next = self.recorder.interval_end.min(self.spins.until).min(self.rest_at);
        Ok((now, self.host.reading_at(next)))
    }

    /// Rests, and returns the reading after it.
    fn rest(&mut self, rest: RestPlan, before: i64, spun: &mut SpinCounts) -> i64 {
        self.host.sleep(rest.length);
        let after = self.host.read();
        spun.rested_ns += Nanos(self.host.nanos_of(after - before).round() as i64);
        // Threads that ran during the rest took nothing.
        self.switches = self.host.switches();
        self.rest_at = self.spins.next_rest(self.host.time_of(after));
        after
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::{Sealed, recorder};
    use latlab_model::nanos::{MILLISECOND, SECOND};
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU8;

    const MS: i64 = MILLISECOND.0;
    const S: i64 = SECOND.0;
    /// A tick of the script is half a nanosecond, a pass is twenty ticks.
    const PASS: i64 = 20;

    /// A counter that advances by a pass with each reading, and by more where the script says so.
    #[derive(Default)]
    struct Script {
        now: i64,
        /// By time in nanoseconds: what is taken then, and whether another thread takes it.
        taken: BTreeMap<i64, (i64, bool)>,
        switches: u64,
        slept: i64,
        aligned: u32,
    }

    impl Host for Script {
        fn read(&mut self) -> i64 {
            self.now += PASS;
            if let Some((&at, &(length, by_thread))) = self.taken.first_key_value()
                && self.now >= at * 2
            {
                self.taken.pop_first();
                self.now += length * 2;
                self.switches += u64::from(by_thread);
            }
            self.now
        }

        fn time_of(&self, reading: i64) -> i64 {
            reading / 2
        }

        fn nanos_of(&self, ticks: i64) -> f64 {
            ticks as f64 / 2.0
        }

        fn reading_at(&self, time: i64) -> i64 {
            time.saturating_mul(2)
        }

        fn align(&mut self) {
            self.aligned += 1;
        }

        fn switches(&mut self) -> u64 {
            self.switches
        }

        fn sleep(&mut self, nanos: i64) {
            self.now += nanos * 2;
            self.slept += nanos;
        }
    }

    const FOR_A_WHILE: SpinConfig = SpinConfig {
        from: 0,
        until: 35 * MS,
        gap_above: 1_000,
        deadline: i64::MAX,
        stop_above: i64::MAX,
        rest: None,
        reserve: 0..0,
    };

    fn stop() -> Stop {
        static ALL: AtomicU8 = AtomicU8::new(0);
        Stop { all: &ALL, own: Arc::default() }
    }

    /// Spins through a script, with intervals of 10 ms and a drainer that takes each.
    fn run(taken: &[(i64, i64, bool)], spins: &SpinConfig) -> (SpinResult, Vec<Sealed>, Script) {
        let taken = taken.iter().map(|&(at, length, by)| (at, (length, by))).collect();
        let mut host = Script { taken, ..Script::default() };
        let (mut recorder, mut drain) = recorder(10 * MS);
        let mut sealed = Vec::new();
        recorder.start(spins.from);
        let mut work = || sealed.extend(drain.next_interval());
        let ended = spin(&mut host, &mut work, PASS, spins, &mut recorder, &stop());
        recorder.finish(ended.at);
        sealed.extend(std::iter::from_fn(|| drain.next_interval()));
        (ended, sealed, host)
    }

    /// Invariant (instruments): spin: each gap is found; intervals follow the clock and never exceed it.
    #[test]
    fn gaps_are_found_with_their_length_and_what_took_them() {
        let script = [(MS, 2_000, false), (2 * MS, 900, false), (3 * MS, 3 * MS, true)];
        let (ended, sealed, _) = run(&script, &SpinConfig { deadline: MS, ..FOR_A_WHILE });
        let counts = &sealed[0].counts;
        assert_eq!((counts.count, counts.misses), (2, 1), "900 ns are no gap");
        assert_eq!((counts.min_ns.0, counts.max_ns.0, counts.sum_ns), (2_000, 3 * MS, 3_002_000));
        let SpinCounts { preempted, interrupted, usual_pass_ns, passes, .. } = ended.spun;
        assert_eq!((preempted.count, preempted.sum_ns.0), (1, 3 * MS));
        assert_eq!((interrupted.count, interrupted.max_ns.0), (1, 2_000));
        assert_eq!((ended.code, usual_pass_ns), (EndCode::Finished, 10.0));
        assert!(passes > 3_000_000);
    }

    /// Invariant (instruments): spin: each gap is found; intervals follow the clock and never exceed it.
    #[test]
    fn intervals_come_by_the_clock_and_hold_the_whole_of_their_gaps() {
        // One gap across an end, one over a whole interval, and quiet after that.
        let script = [(9 * MS, 2 * MS, false), (12 * MS, 15 * MS, true)];
        let (_, sealed, host) = run(&script, &FOR_A_WHILE);
        let counts: Vec<u64> = sealed.iter().map(|one| one.counts.count).collect();
        assert_eq!(counts, [1, 1, 0, 0]);
        for pair in sealed.windows(2) {
            assert_eq!(pair[0].end, pair[1].start);
        }
        let ends: Vec<i64> = sealed.iter().map(|one| one.end / MS).collect();
        assert_eq!(ends, [11, 27, 30, 35]);
        let within = |one: &Sealed| one.counts.sum_ns <= i128::from(one.end - one.start);
        assert!(sealed.iter().all(within), "no interval is taken for more than all of it");
        assert_eq!(host.aligned, 3);
    }

    /// Invariant (instruments): spin: each gap is found; intervals follow the clock and never exceed it.
    #[test]
    fn what_is_taken_while_a_gap_is_handled_is_a_gap() {
        // The second is taken between the reading that ends the first and the next one.
        let (ended, sealed, _) = run(&[(MS, 2_000, false), (MS + 2_000, MS, true)], &FOR_A_WHILE);
        assert_eq!((sealed[0].counts.count, sealed[0].counts.max_ns.0), (2, MS));
        assert_eq!(ended.spun.preempted.count, 1);
        // A rehearsal, in which each pass is a gap, ends as well.
        let (ended, ..) = run(&[], &SpinConfig { gap_above: -MS, ..FOR_A_WHILE });
        assert_eq!(ended.spun.interrupted.count, ended.spun.passes);
        // One while an interval ends.
        let (ended, ..) = run(&[(10 * MS, 2 * MS, true)], &FOR_A_WHILE);
        assert_eq!(ended.spun.preempted.max_ns.0, 2 * MS);
    }

    #[test]
    fn what_is_taken_at_the_start_is_seen() {
        let spins = SpinConfig { from: 0, ..FOR_A_WHILE };
        let (_, sealed, _) = run(&[(0, 4_000, false)], &spins);
        assert_eq!(sealed[0].counts.max_ns.0, 4_000);
    }

    /// Invariant (instruments): spin: a real-time thread leaves a CPU free, or rests.
    #[test]
    fn rests_are_counted_and_are_no_gaps() {
        let rest = Some(RestPlan { after: 2 * MS, length: 500_000 });
        let (ended, sealed, host) = run(&[], &SpinConfig { rest, ..FOR_A_WHILE });
        assert_eq!(sealed.iter().map(|one| one.counts.count).sum::<u64>(), 0);
        assert_eq!(host.slept, 14 * 500_000);
        assert!((ended.spun.rested_ns.0 - host.slept).abs() < 1_000, "{:?}", ended.spun);
    }

    #[test]
    fn what_the_kernel_takes_back_is_told_apart_by_its_length_and_its_switch() {
        let script = [(MS, 5 * MS, true), (8 * MS, 5 * MS, false), (15 * MS, 2 * MS, true)];
        let (ended, ..) = run(&script, &SpinConfig { reserve: 4 * MS..6 * MS, ..FOR_A_WHILE });
        let reserve_taken = ended.spun.reserve_taken;
        assert_eq!((reserve_taken.count, reserve_taken.sum_ns.0), (1, 5 * MS));
        assert_eq!(ended.spun.preempted.count, 2);
    }

    #[test]
    fn ends_when_asked_and_at_its_limit() {
        let limit = SpinConfig { stop_above: MS, ..FOR_A_WHILE };
        let (ended, sealed, _) = run(&[(MS, MS, false), (3 * MS, MS + 1, false)], &limit);
        assert_eq!((ended.code, sealed[0].counts.count), (EndCode::StopAbove, 2));
        assert_eq!(ended.at / MS, 4);

        let stop = stop();
        let (mut recorder, _drain) = recorder(S);
        recorder.start(0);
        let mut passes = 0;
        let mut work = || {
            passes += 1;
            stop.own.store(u8::from(passes == 100) * 9, Ordering::Relaxed);
        };
        let spins = SpinConfig { until: i64::MAX, ..FOR_A_WHILE };
        let ended = spin(&mut Script::default(), &mut work, PASS, &spins, &mut recorder, &stop);
        assert_eq!((ended.code, ended.spun.passes), (EndCode::Stopped(9), 100));
    }

    #[test]
    fn the_usual_pass_is_the_median_of_the_last_ones() {
        let mut host = Script::default();
        host.taken.insert(MS - 100, (50_000, true));
        assert_eq!(learn(&mut host, &mut || (), MS, &stop()), PASS);
        assert_eq!(learn(&mut host, &mut || (), 0, &stop()), PASS, "one pass at least");
    }

    /// Invariant (loop): The loop allocates nothing.
    #[test]
    fn the_loop_allocates_nothing() {
        let mut host = Script::default();
        host.taken.insert(MS, (MS, true));
        let (mut recorder, _drain) = recorder(10 * MS);
        recorder.start(0);
        let stop = stop();
        let counted = allocation_counter::measure(|| {
            spin(&mut host, &mut || (), PASS, &FOR_A_WHILE, &mut recorder, &stop);
        });
        assert_eq!(counted.count_total, 0);
    }
}
