//! Whether a thread keeps up with its period at all.

use latlab_model::finding::{Finding, MachineFinding};
use latlab_model::run::Summary;
use latlab_model::{Nanos, Plan};

/// Share of overruns from which a thread does not keep its period.
const OFTEN: f64 = 0.1;
/// With fewer releases the share is meaningless.
const ENOUGH: u64 = 100;

/// A finding for a thread with many overruns, more than those of one stall.
///
/// A settable clock causes overruns that no thread could avoid.
pub fn frequent_overruns(plan: &Plan, summary: &Summary, period: Option<Nanos>) -> Option<Finding> {
    let (overruns, due, period) = (summary.overruns?, summary.releases, period?);
    let share = overruns as f64 / due.max(1) as f64;
    let longest = summary.max_ns.unwrap_or_default().0 / period.0.max(1);
    let in_one_stall = longest.unsigned_abs().saturating_mul(2) > overruns;
    let applies = !plan.method.clock_can_be_set() && due >= ENOUGH && share > OFTEN;
    (applies && !in_one_stall).then(|| {
        Finding::new(MachineFinding::FrequentOverruns { overruns, due, period_ns: period })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::plan::{ClockName, Cyclic, Method, Releases};

    const PERIOD: Nanos = Nanos(10_000);

    fn is_reported(overruns: u64, max_ns: i64, clock: ClockName) -> bool {
        let releases = Releases { clock, ..Releases::default() };
        let method = Method::Cyclic(Cyclic { releases, ..Cyclic::default() });
        let plan = Plan { method, ..Plan::default() };
        let (overruns, max_ns) = (Some(overruns), Some(Nanos(max_ns)));
        let summary = Summary { releases: 1_000, overruns, max_ns, ..Summary::default() };
        frequent_overruns(&plan, &summary, Some(PERIOD)).is_some()
    }

    #[test]
    fn a_period_that_is_too_short_is_told_and_a_stall_is_not() {
        assert!(is_reported(500, 40_000, ClockName::Monotonic));
        assert!(!is_reported(50, 40_000, ClockName::Monotonic), "a twentieth");
        assert!(!is_reported(500, 5_000_000, ClockName::Monotonic), "all in one stall");
        assert!(!is_reported(500, 40_000, ClockName::Realtime), "the clock may have been set");
    }
}
