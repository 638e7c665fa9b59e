//! How the releases of a thread follow each other.

use super::calls::Call;
use latlab_model::Nanos;
use latlab_model::attach::{Cycle, ReleasedBy, RhythmChange, RhythmKind};

/// A release this close to a multiple of the period is on it.
const EXACT_NS: i64 = 100;
/// The kernel replenishes a runtime up to this far off the period.
const REPLENISHED_NS: i64 = 50_000;
/// Share of the releases that must be on it.
const MOST: f64 = 0.9;
/// The period is at least this fraction of the shortest distance.
const FINEST: i64 = 8;
/// Distances are regular if their middle half spans no more than this share of their median.
const REGULAR: f64 = 0.25;
/// Releases in a row that do not keep the period have another one.
const CHANGED: u32 = 50;

/// The rhythm of a thread, from its first cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rhythm {
    pub kind: RhythmKind,
    /// The usual time between releases; `None` if they are irregular.
    pub period: Option<i64>,
    /// The first time that they took another period.
    pub change: Option<RhythmChange>,
    last: Option<Served>,
    /// Since when, and how often in a row, they have not kept the period.
    other: Option<(i64, u32)>,
}

/// Releases without a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Passed {
    /// While the thread was busy with the cycle before.
    pub busy: u32,
    /// After it.
    pub waiting: u32,
}

/// The last cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Served {
    release: i64,
    end: i64,
}

impl Rhythm {
    /// Learns from the first cycles of a thread that waits in this call; cycles with unknown
    /// releases are ignored.
    pub fn learn<'a>(call: Call, cycles: impl IntoIterator<Item = &'a Cycle>) -> Rhythm {
        let known: Vec<&Cycle> =
            cycles.into_iter().filter(|cycle| cycle.released_by != ReleasedBy::Waiting).collect();
        let timed = known.iter().filter(|cycle| cycle.released_by == ReleasedBy::Timer).count();
        let by_timer = timed as f64 >= MOST * known.len() as f64;
        let steps = known.windows(2).map(|pair| pair[1].release_ns.0 - pair[0].release_ns.0);
        let mut steps: Vec<i64> = steps.filter(|step| *step > 0).collect();
        steps.sort_unstable();
        let none = Rhythm {
            kind: RhythmKind::Irregular,
            period: None,
            change: None,
            last: None,
            other: None,
        };
        let Some(&shortest) = steps.first() else { return none };
        let at = |share: f64| steps[((steps.len() - 1) as f64 * share).round() as usize];
        let median = at(0.5);
        let within = if call == Call::SchedYield { REPLENISHED_NS } else { EXACT_NS };
        let on = |period: i64| {
            let on = steps.iter().filter(|step| distance_to_multiple(**step, period) <= within);
            on.count() as f64 / steps.len() as f64
        };
        // A loop that skips releases may never have kept two in a row.
        let differences = steps.windows(2).map(|pair| pair[1] - pair[0]);
        let finest = differences.filter(|one| *one > shortest / FINEST).min().unwrap_or(shortest);
        let candidates = [shortest, median, finest];
        let of_all = candidates.into_iter().find(|period| on(*period) >= 1.0);
        let of_most = || candidates.into_iter().find(|period| on(*period) >= MOST);
        if let Some(period) = of_all.or_else(of_most).filter(|_| by_timer) {
            let single: Vec<i64> =
                steps.iter().copied().filter(|step| (step - period).abs() <= within).collect();
            let period = single.get(single.len() / 2).copied().unwrap_or(period);
            return Rhythm { kind: RhythmKind::Exact, period: Some(period), ..none };
        }
        match ((at(0.75) - at(0.25)) as f64) < REGULAR * median as f64 {
            true if by_timer => Rhythm { kind: RhythmKind::Drifting, period: Some(median), ..none },
            true => Rhythm { kind: RhythmKind::Regular, period: Some(median), ..none },
            false => none,
        }
    }

    /// Releases that passed since the last cycle, if that can be determined; `after_loss` if it may
    /// have served them unseen.
    pub fn passed(&mut self, cycle: &Cycle, after_loss: bool) -> Passed {
        let before =
            self.last.replace(Served { release: cycle.release_ns.0, end: cycle.end_ns().0 });
        let (Some(before), Some(period)) = (before, self.period) else { return Passed::default() };
        let step = cycle.release_ns.0 - before.release;
        let all = match self.kind {
            RhythmKind::Exact => ((step + period / 2).div_euclid(period) - 1).max(0),
            _ => 0,
        };
        // What passes while it waits for a later one is not a release of it.
        let busy = (before.end - before.release).div_euclid(period).clamp(0, all);
        if !after_loss {
            self.look_for_change(cycle, before, step - period * busy, period);
        }
        let count = |releases| u32::try_from(releases).unwrap_or(0);
        Passed { busy: count(busy), waiting: count(all - busy) }
    }

    /// Takes a new period once the releases have kept it for long.
    fn look_for_change(&mut self, cycle: &Cycle, before: Served, step: i64, period: i64) {
        let within = match self.kind {
            RhythmKind::Exact => period / 100,
            _ => period / 4,
        };
        if cycle.released_by == ReleasedBy::Waiting {
            return;
        }
        if (step - period).abs() <= within {
            self.other = None;
            return;
        }
        let (since, count) = self.other.map_or((before.release, 1), |(at, count)| (at, count + 1));
        self.other = Some((since, count));
        if count == CHANGED {
            let period = (cycle.release_ns.0 - since) / i64::from(CHANGED);
            let change = RhythmChange { at_ns: Nanos(since), period_ns: Nanos(period) };
            self.change = self.change.or(Some(change));
            (self.period, self.other) = (Some(period), None);
        }
    }
}

fn distance_to_multiple(step: i64, period: i64) -> i64 {
    let over = step.rem_euclid(period);
    over.min(period - over)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles(by: ReleasedBy, releases: impl IntoIterator<Item = i64>) -> Vec<Cycle> {
        let cycle = |release| Cycle {
            release_ns: Nanos(release),
            released_by: by,
            wake_up_ns: Nanos(5_000),
            execution_ns: Nanos(10_000),
            preempted_ns: Nanos::ZERO,
            blocked_ns: Nanos::ZERO,
            overruns: 0,
        };
        releases.into_iter().map(cycle).collect()
    }

    #[test]
    fn a_timer_that_keeps_its_period_is_exact_and_its_gaps_are_overruns() {
        let releases = [0, 1, 2, 4, 5, 6, 7, 8, 9, 12].map(|n| 77 + n * 1_000_000);
        let mut cycles = cycles(ReleasedBy::Timer, releases);
        // It is busy while the others pass.
        (cycles[2].execution_ns, cycles[8].execution_ns) = (Nanos(1_500_000), Nanos(2_900_000));
        let mut rhythm = Rhythm::learn(Call::ClockNanosleep, &cycles);
        assert_eq!((rhythm.kind, rhythm.period), (RhythmKind::Exact, Some(1_000_000)));
        let passed: u32 = cycles.iter().map(|cycle| rhythm.passed(cycle, false).busy).sum();
        assert_eq!(passed, 3, "cycles + overruns = releases");
    }

    #[test]
    fn a_loop_that_never_keeps_two_releases_in_a_row_has_its_period_all_the_same() {
        let releases = [0, 2, 5, 7, 10, 12, 14, 17].map(|n| n * 1_000_000);
        let rhythm = Rhythm::learn(Call::ClockNanosleep, &cycles(ReleasedBy::Timer, releases));
        assert_eq!((rhythm.kind, rhythm.period), (RhythmKind::Exact, Some(1_000_000)));
    }

    #[test]
    fn a_loop_that_adds_its_work_to_each_period_drifts() {
        let releases = (0..50).map(|n| n * 1_000_000 + n * 54_000 + n * n % 7 * 1_900);
        let rhythm = Rhythm::learn(Call::ClockNanosleep, &cycles(ReleasedBy::Timer, releases));
        assert_eq!(rhythm.kind, RhythmKind::Drifting);
        assert!(rhythm.period.is_some_and(|period| (1_040_000..1_070_000).contains(&period)));
    }

    #[test]
    fn what_another_thread_wakes_is_regular_or_not_but_never_exact() {
        let steady = (0..20).map(|n| n * 1_000_000);
        assert_eq!(
            Rhythm::learn(Call::ClockNanosleep, &cycles(ReleasedBy::Event, steady)).kind,
            RhythmKind::Regular
        );
        let wild = (0..20).map(|n| n * n * 1_000_000);
        let rhythm = Rhythm::learn(Call::ClockNanosleep, &cycles(ReleasedBy::Event, wild));
        assert_eq!((rhythm.kind, rhythm.period), (RhythmKind::Irregular, None));
    }

    #[test]
    fn another_rhythm_is_a_change_and_no_overruns() {
        let releases = (0..100).chain((100..300).step_by(2)).map(|n| n * 1_000_000);
        let cycles = cycles(ReleasedBy::Timer, releases);
        let mut rhythm = Rhythm::learn(Call::ClockNanosleep, &cycles[..50]);
        let passed: u32 = cycles.iter().map(|cycle| rhythm.passed(cycle, false).busy).sum();
        let expected = RhythmChange { at_ns: Nanos(100_000_000), period_ns: Nanos(2_000_000) };
        assert_eq!((passed, rhythm.change), (0, Some(expected)));
        assert_eq!(rhythm.period, Some(2_000_000), "its overruns are counted in the new one");
    }

    #[test]
    fn a_loop_that_pauses_has_not_changed() {
        let releases = (0..200).map(|n| (n + n / 20 * 7) * 1_000_000);
        let cycles = cycles(ReleasedBy::Timer, releases);
        let mut rhythm = Rhythm::learn(Call::ClockNanosleep, &cycles[..20]);
        let passed: u32 = cycles.iter().map(|cycle| rhythm.passed(cycle, false).busy).sum();
        assert_eq!((passed, rhythm.change), (0, None));
    }

    #[test]
    fn nothing_is_said_of_nothing() {
        assert_eq!(Rhythm::learn(Call::ClockNanosleep, &[]).period, None);
        assert_eq!(
            Rhythm::learn(Call::ClockNanosleep, &cycles(ReleasedBy::Timer, [5])).period,
            None
        );
    }
}
