//! When the trace is on: a fixed schedule. Pure.

use latlab_model::Plan;

/// Length of a step of the pattern …
const STEP: i64 = 2_000_000_000;
/// … and in a run too short for four rounds of it.
const SHORTEST_STEP: i64 = 100_000_000;
/// Steps of a round; the trace is off in the last, so that even a very short run has a breakdown.
const ROUND: i64 = 4;

/// On, on, on, off, from the first release to the end; on before it.
pub struct TraceSchedule {
    first: i64,
    step: i64,
}

impl TraceSchedule {
    pub fn new(first: i64, plan: &Plan) -> TraceSchedule {
        let cycles = plan.until.cycles.zip(plan.method.period());
        let by_cycles = cycles.map(|(cycles, period)| period.0.saturating_mul(cycles as i64));
        let lengths = plan.until.duration_ns.map(|length| length.0).into_iter().chain(by_cycles);
        let length = lengths.min().unwrap_or(i64::MAX);
        TraceSchedule { first, step: (length / (4 * ROUND)).clamp(SHORTEST_STEP, STEP) }
    }

    pub fn is_on(&self, now: i64) -> bool {
        now < self.first || (now - self.first) / self.step % ROUND != ROUND - 1
    }

    /// The next time at which the answer may change.
    pub fn next_change(&self, now: i64) -> i64 {
        match now < self.first {
            true => self.first,
            false => self.first + ((now - self.first) / self.step + 1) * self.step,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::Nanos;
    use latlab_model::plan::Until;

    #[test]
    fn a_quarter_of_the_run_is_off() {
        for (plan, step) in [
            (
                Plan {
                    until: Until { duration_ns: Some(Nanos(60_000_000_000)), ..Until::default() },
                    ..Plan::default()
                },
                STEP,
            ),
            (
                Plan {
                    until: Until { duration_ns: Some(Nanos(8_000_000_000)), ..Until::default() },
                    ..Plan::default()
                },
                500_000_000,
            ),
            (
                Plan { until: Until { cycles: Some(10), ..Until::default() }, ..Plan::default() },
                SHORTEST_STEP,
            ),
            (Plan::default(), STEP),
        ] {
            let schedule = TraceSchedule::new(77, &plan);
            let on: Vec<bool> = (0..8).map(|k| schedule.is_on(77 + k * step)).collect();
            assert_eq!(on, [true, true, true, false, true, true, true, false]);
            assert!(schedule.is_on(0) && schedule.next_change(0) == 77);
            assert_eq!(schedule.next_change(77 + step - 1), 77 + step);
            assert_eq!(schedule.next_change(77 + step), 77 + 2 * step);
        }
    }
}
