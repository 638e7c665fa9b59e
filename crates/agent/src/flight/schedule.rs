//! When the recorder is off, so that the run can tell its cost: a fixed schedule. Pure.

use latlab_model::Plan;
use latlab_model::nanos::SECOND;

/// It is off once in this time …
const LONGEST_ROUND: i64 = 20 * SECOND.0;
/// … and never in a run shorter than this.
const SHORTEST_ROUND: i64 = 8 * SECOND.0;
/// The fraction of a round in which it is off, as one in this many.
const PART: i64 = 10;
/// It must be off for several intervals, or there is nothing to compare with.
const SHORTEST_PAUSE: i64 = 1_200_000_000;

/// On, except for a pause in the middle of each round.
pub struct RecorderSchedule {
    first: i64,
    /// `None` if it is never off.
    round: Option<i64>,
}

impl RecorderSchedule {
    /// A schedule that begins at the first release.
    pub fn new(first: i64, plan: &Plan) -> RecorderSchedule {
        let cycles = plan.until.cycles.zip(plan.method.period());
        let by_cycles = cycles.map(|(cycles, period)| period.0.saturating_mul(cycles as i64));
        let lengths = plan.until.duration_ns.map(|length| length.0).into_iter().chain(by_cycles);
        let round = lengths.min().unwrap_or(i64::MAX).min(LONGEST_ROUND);
        RecorderSchedule { first, round: (round >= SHORTEST_ROUND).then_some(round) }
    }

    /// Whether to record now.
    pub fn is_on(&self, now: i64) -> bool {
        let Some(round) = self.round.filter(|_| now >= self.first) else { return true };
        let pause = (round / PART).max(SHORTEST_PAUSE);
        !(round / 2..round / 2 + pause).contains(&((now - self.first) % round))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::Nanos;
    use latlab_model::plan::Until;

    #[test]
    fn it_is_off_for_a_tenth_of_a_run_that_is_long_enough() {
        let of = |seconds: i64| {
            let plan = Plan {
                until: Until { duration_ns: Some(SECOND * seconds), ..Until::default() },
                ..Plan::default()
            };
            let schedule = RecorderSchedule::new(77, &plan);
            let off = |tenth: &i64| !schedule.is_on(77 + tenth * SECOND.0 / 10);
            (0..10 * seconds).filter(off).count()
        };
        assert_eq!((of(7), of(8), of(20), of(60)), (0, 12, 20, 60));
        let plan =
            Plan { until: Until { cycles: Some(10), ..Until::default() }, ..Plan::default() };
        assert!(RecorderSchedule::new(0, &plan).is_on(Nanos(5).0));
    }
}
