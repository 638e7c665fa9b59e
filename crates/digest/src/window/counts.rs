//! From samples to the figures of a window: the same counts that the loop made of them.

use crate::bins::BinCounts;
use latlab_model::deadline::{is_miss, skipped_misses};
use latlab_model::histogram::bin_of;
use latlab_model::plan::OverrunPolicy;
use latlab_model::run::ThreadSetup;
use latlab_model::samples::Sample;
use latlab_model::{Histogram, Nanos, Plan};
use std::ops::Range;

/// The counts of one thread.
pub struct SampleCounts {
    rules: Rules,
    stretch: Range<Nanos>,
    /// Everything but the bins.
    counts: Histogram,
    bins: BinCounts,
    max_at: Option<Nanos>,
}

/// What makes an overrun, and a deadline miss.
struct Rules {
    period: i64,
    deadline: i64,
    catch_up: bool,
    has_releases: bool,
    /// The first release that is not served any more.
    until: i64,
}

impl SampleCounts {
    /// Counts what lies in the window.
    pub fn new(plan: &Plan, setup: &ThreadSetup, stretch: Range<Nanos>) -> SampleCounts {
        let until =
            plan.until.duration_ns.map_or(Nanos::MAX, |length| setup.first_release_ns + length);
        let rules = Rules {
            period: setup.period_ns.map_or(1, |period| period.0.max(1)),
            deadline: plan.until.deadline_ns.unwrap_or(Nanos::MAX).0,
            catch_up: plan.method.overrun_policy() == Some(OverrunPolicy::CatchUp),
            has_releases: plan.method.has_releases() && setup.period_ns.is_some(),
            until: until.0,
        };
        SampleCounts {
            rules,
            stretch,
            counts: Histogram::default(),
            bins: BinCounts::default(),
            max_at: None,
        }
    }

    /// Counts a sample of the window, and the overruns after it.
    pub fn count(&mut self, sample: Sample, next: Option<Nanos>) {
        let latency = sample.latency_ns;
        let counts = &mut self.counts;
        if counts.count == 0 || latency > counts.max_ns {
            (counts.max_ns, self.max_at) = (latency, Some(sample.release_ns));
        }
        if counts.count == 0 || latency < counts.min_ns {
            counts.min_ns = latency;
        }
        counts.count += 1;
        counts.sum_ns += i128::from(latency.0);
        match u64::try_from(latency.0) {
            Ok(latency) => self.bins.add(bin_of(latency) as u32, 1),
            Err(_) => counts.underflow += 1,
        }
        // A response may exceed the deadline by less than a nanosecond.
        let deadline_ps = self.rules.deadline.saturating_mul(1_000);
        counts.misses += u64::from(is_miss(sample.latency_ps(), deadline_ps));
        self.count_behind(sample, next);
    }

    /// Counts the overruns after a sample that lie in the window.
    pub fn count_behind(&mut self, sample: Sample, next: Option<Nanos>) {
        let (overruns, late) = self.rules.behind(sample, next);
        if overruns > 0 {
            self.counts.overruns += self.rules.within(overruns, sample, &self.stretch);
            self.counts.misses += self.rules.within(late, sample, &self.stretch);
        }
    }

    /// The counts, and the release of the observed maximum.
    pub fn finish(mut self) -> (Histogram, Option<Nanos>) {
        self.counts.bins = self.bins.take();
        (self.counts, self.max_at)
    }
}

impl Rules {
    /// Number of overruns after a sample, and of those the skipped ones later than the deadline.
    fn behind(&self, sample: Sample, next: Option<Nanos>) -> (i64, i64) {
        let Sample { release_ns: Nanos(release), latency_ns: Nanos(latency), .. } = sample;
        if !self.has_releases {
            return (0, 0);
        }
        if !self.catch_up && next == Some(Nanos(release.saturating_add(self.period))) {
            return (0, 0);
        }
        // Releases after the end of the run do not count, however late the last cycle is.
        let left = (self.until.saturating_sub(1).saturating_sub(release) / self.period).max(0);
        if self.catch_up {
            return (i64::from(latency >= self.period).min(left), 0);
        }
        // Releases of another clock shift slightly while that clock is slewed.
        let skipped = match next {
            Some(next) => (next.0.saturating_sub(release) + self.period / 2) / self.period - 1,
            None => latency / self.period,
        };
        let skipped = skipped.clamp(0, left);
        (skipped, skipped_misses(latency, self.deadline, self.period, skipped))
    }

    /// How many of the first `count` releases after a sample lie in the window.
    fn within(&self, count: i64, sample: Sample, stretch: &Range<Nanos>) -> u64 {
        let before = |limit: Nanos| {
            let distance = limit.0.saturating_sub(sample.release_ns.0).saturating_sub(1);
            (distance.max(0) / self.period).min(count)
        };
        (before(stretch.end) - before(stretch.start)).max(0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::plan::Until;
    use latlab_model::plan::{Cyclic, Method};

    const PERIOD: i64 = 1_000;

    fn tally(plan: Plan, from: i64, to: i64) -> SampleCounts {
        let setup = ThreadSetup {
            thread: 0,
            thread_id: None,
            cpu: None,
            core_type: None,
            capacity: None,
            policy: String::new(),
            period_ns: Some(Nanos(PERIOD)),
            first_release_ns: Nanos::ZERO,
        };
        SampleCounts::new(&plan, &setup, Nanos(from)..Nanos(to))
    }

    fn plan() -> Plan {
        Plan {
            until: Until { deadline_ns: Some(Nanos(2_500)), duration_ns: None, ..Until::default() },
            ..Plan::default()
        }
    }

    fn sample(release: i64, latency: i64) -> Sample {
        Sample::new(Nanos(release), Nanos(latency))
    }

    fn overruns_and_misses(tally: SampleCounts) -> (u64, u64) {
        let (counts, _) = tally.finish();
        (counts.overruns, counts.misses)
    }

    #[test]
    fn a_stall_is_all_the_releases_it_covers_that_lie_in_the_stretch() {
        // Late by 6.2 periods: six overruns, of which those up to 3.7 periods are misses.
        let stall = |from, to| {
            let mut tally = tally(plan(), from, to);
            match from <= 0 {
                true => tally.count(sample(0, 6_200), Some(Nanos(7_000))),
                false => tally.count_behind(sample(0, 6_200), Some(Nanos(7_000))),
            }
            overruns_and_misses(tally)
        };
        assert_eq!(stall(0, 100_000), (6, 4));
        assert_eq!(stall(0, 3_000), (2, 3));
        assert_eq!(stall(2_000, 5_001), (4, 2));
        assert_eq!(stall(6_500, 9_000), (0, 0));
        assert_eq!((0..9).map(|k| stall(k * 1_000, k * 1_000 + 1_000).0).sum::<u64>(), 6);
    }

    #[test]
    fn the_last_stall_ends_with_the_run() {
        for (duration, expected) in [(None, 6), (Some(Nanos(4_001)), 4), (Some(Nanos(4_000)), 3)] {
            let mut tally = tally(
                Plan { until: Until { duration_ns: duration, ..plan().until }, ..plan() },
                0,
                i64::MAX,
            );
            tally.count(sample(0, 6_200), None);
            assert_eq!(overruns_and_misses(tally).0, expected, "{duration:?}");
        }
    }

    #[test]
    fn with_catch_up_a_late_cycle_finds_its_next_release_past() {
        let cyclic = Cyclic { overruns: OverrunPolicy::CatchUp, ..Cyclic::default() };
        let catch_up = Plan { method: Method::Cyclic(cyclic), ..plan() };
        let mut tally = tally(catch_up, 0, 100_000);
        for (release, latency) in [(0, 2_600), (1_000, 1_700), (2_000, 800), (3_000, 10)] {
            tally.count(sample(release, latency), Some(Nanos(release + 1_000)));
        }
        assert_eq!(overruns_and_misses(tally), (2, 1));
    }
}
