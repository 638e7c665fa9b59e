//! The rounds of a watch together: how often bursts of misses come, valid at any time.
//!
//! Each single round has a chance of 5 % to report that a good machine exceeds its limit, so among
//! many rounds some do. The bounds of all rounds together are any-time valid: that is their chance
//! of being wrong over the whole watch.

use crate::bursts::ENOUGH_FOR_CLUMPS;
use crate::dependence::size_bias;
use crate::limit::{BurstCount, word};
use crate::scales::{Durations, FEWEST_SLICES, slice_dependence};
use latlab_model::Nanos;
use latlab_model::run::{BurstLimit, Run, VerdictWord};

/// Slices of the watch in which bursts are counted; beyond this, neighbours are merged.
const MOST_SLICES: usize = 200;
/// Assumed clump size if unknown: a watch meets bad hours, which a run need not.
const UNKNOWN_CLUMP: f64 = 5.0;
/// With few bursts, clumps are seen by dividing the watch into this many parts: independent bursts
/// seldom share one with more than [`UNKNOWN_CLUMP`].
const PARTS: usize = 10;
/// Nominal releases per slice: large, since bursts are rare among them.
const RELEASES: f64 = 1e9;

/// The bursts of all rounds so far.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Rounds {
    total: Option<BurstCount>,
    slices: Vec<BurstCount>,
    /// Rounds per slice.
    rounds_of_slice: u64,
    /// Rounds in the last slice.
    of_last: u64,
    /// Rounds that may lack latencies.
    left_out: u64,
}

impl Rounds {
    pub fn new() -> Rounds {
        Rounds { rounds_of_slice: 1, ..Rounds::default() }
    }

    /// Adds a measured round. If its latencies are invalid or incomplete, its time is not counted,
    /// but its misses may be bursts.
    pub fn add_run(&mut self, run: &Run) {
        let is_invalid = run.verdict.as_ref().is_some_and(|one| one.word == VerdictWord::Invalid);
        match BurstCount::of_run(run) {
            Some(count) if is_invalid || run.incomplete().is_some() => {
                self.left_out += 1;
                self.add(BurstCount { least: 0, measured: Nanos::ZERO, ..count });
            }
            Some(count) => self.add(count),
            None => {}
        }
    }

    pub fn add(&mut self, count: BurstCount) {
        self.total = Some(self.total.map_or(count, |total| total.plus(count)));
        match self.slices.last_mut().filter(|_| self.of_last < self.rounds_of_slice) {
            Some(last) => *last = last.plus(count),
            None => {
                self.slices.push(count);
                self.of_last = 0;
            }
        }
        self.of_last += 1;
        if self.slices.len() > MOST_SLICES {
            // The last one is kept as it is: it has the length of a former slice.
            let last = self.slices.pop();
            let pair =
                |pair: &[BurstCount]| pair[1..].iter().fold(pair[0], |sum, one| sum.plus(*one));
            self.slices = self.slices.chunks(2).map(pair).chain(last).collect();
            self.rounds_of_slice *= 2;
        }
    }

    /// All bursts in all measured time, and how they clump from round to round; `None` before the
    /// first round with a deadline and releases.
    pub fn count(&self) -> Option<BurstCount> {
        let total = self.total?;
        let clump = self.clump(total).max(total.clump.unwrap_or(1.0));
        Some(BurstCount { clump: Some(clump), ..total })
    }

    /// Bursts per clump over slices, at all time scales; with few bursts, by those in the same
    /// tenth of the watch.
    fn clump(&self, total: BurstCount) -> f64 {
        if total.most < ENOUGH_FOR_CLUMPS as u64 || self.slices.len() < FEWEST_SLICES {
            let part = self.slices.len().div_ceil(PARTS).max(1);
            let size = |part: &[BurstCount]| part.iter().map(|one| one.most).sum();
            let sizes: Vec<u64> = self.slices.chunks(part).map(size).collect();
            return size_bias(&sizes).unwrap_or(1.0).max(UNKNOWN_CLUMP);
        }
        let usual = total.measured.0.max(1) as f64 / self.slices.len() as f64;
        let slice = |one: &BurstCount| (one.measured.0 as f64 / usual * RELEASES, one.most as f64);
        let slices: Vec<(f64, f64)> = self.slices.iter().map(slice).collect();
        let found = slice_dependence(&slices, &[], &Durations::default());
        found.map_or(UNKNOWN_CLUMP, |found| found.per_event)
    }

    /// The rates that the rounds together do not exclude, and the verdict if they decide.
    pub fn against(&self, per_hour: f64) -> Option<(BurstLimit, Option<VerdictWord>)> {
        let limit = self.count()?.against(per_hour, true);
        Some((limit, word(&limit)))
    }

    /// Rounds whose time is not counted because they may lack latencies.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND: Nanos = Nanos(5_000_000_000);

    fn round(bursts: u64) -> BurstCount {
        BurstCount { least: bursts, most: bursts, measured: ROUND, clump: None }
    }

    #[test]
    fn slices_hold_all_rounds_however_many_come() {
        let mut rounds = Rounds::new();
        for at in 0..5_001_u64 {
            rounds.add(round(u64::from(at % 100 == 0)));
            let known = |of: fn(&BurstCount) -> u64| rounds.slices.iter().map(of).sum::<u64>();
            assert_eq!(known(|one| one.least), at / 100 + 1);
            assert_eq!(known(|one| one.measured.0.unsigned_abs()), (at + 1) * 5_000_000_000);
            assert!(rounds.slices.len() <= MOST_SLICES);
        }
        assert!(rounds.slices.len() >= MOST_SLICES / 2);
    }

    #[test]
    fn a_bad_hour_says_less_than_as_many_bursts_by_themselves() {
        let watched = |is_bad: fn(u64) -> bool| {
            let mut rounds = Rounds::new();
            (0..3_000).for_each(|at| rounds.add(round(u64::from(is_bad(at)))));
            rounds.against(1.0).unwrap().0
        };
        let (single, together) = (watched(|at| at % 60 == 7), watched(|at| at % 1_000 < 16));
        assert!(together.at_most_per_hour > 1.5 * single.at_most_per_hour, "{together:?}");
        assert!(together.at_least_per_hour < single.at_least_per_hour);
    }

    #[test]
    fn a_round_that_may_lack_latencies_shows_no_time_without_bursts() {
        let mut rounds = Rounds::new();
        rounds.add(round(0));
        let before = rounds.against(1.0).unwrap().0;
        rounds.add(BurstCount { least: 0, measured: Nanos::ZERO, ..round(2) });
        let after = rounds.against(1.0).unwrap().0;
        assert!(after.at_most_per_hour > before.at_most_per_hour);
        assert_eq!(after.at_least_per_hour, 0.0);
    }
}
