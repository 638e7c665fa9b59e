//! The figures of one thread, or of all together.

use crate::quantile::quantiles;
use latlab_model::plan::Plan;
use latlab_model::run::{Run, Summary};
use latlab_model::{Histogram, Nanos};

/// `max_at` is the release of the observed maximum.
pub fn summary(plan: &Plan, counts: &Histogram, max_at: Option<Nanos>) -> Summary {
    // A relative sleep has no releases, so it must not report zero overruns.
    let overruns = plan.method.has_releases().then_some(counts.overruns);
    Summary {
        cycles: counts.count,
        releases: Run::releases(plan, counts.count, overruns.unwrap_or(0)),
        overruns,
        misses: plan.until.deadline_ns.map(|_| counts.misses),
        underflow: counts.underflow,
        min_ns: counts.min(),
        mean_ns: counts.mean_ns(),
        quantiles: quantiles(counts),
        max_ns: counts.max(),
        max_is_at_least: false,
        max_at_ns: max_at.filter(|_| counts.max().is_some()),
        noise: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{histogram_of, plan};
    use latlab_model::plan::Until;
    use latlab_model::plan::{Cyclic, Mechanism, Method, OverrunPolicy};

    #[test]
    fn says_what_was_counted() {
        let counts = Histogram { overruns: 2, misses: 1, ..histogram_of(&[-5, 100, 300, 4_000]) };
        let all = summary(&plan(), &counts, Some(Nanos(77)));
        assert_eq!((all.cycles, all.releases, all.underflow), (4, 6, 1));
        assert_eq!((all.overruns, all.misses), (Some(2), Some(1)));
        assert_eq!((all.min_ns, all.max_ns), (Some(Nanos(-5)), Some(Nanos(4_000))));
        assert_eq!((all.mean_ns, all.max_at_ns), (Some(4_395.0 / 4.0), Some(Nanos(77))));
    }

    #[test]
    fn catching_up_serves_missed_releases_as_cycles() {
        let counts = Histogram { overruns: 2, ..histogram_of(&[1, 2, 3]) };
        let cyclic = Cyclic { overruns: OverrunPolicy::CatchUp, ..Cyclic::default() };
        let catch_up = Plan { method: Method::Cyclic(cyclic), ..plan() };
        assert_eq!(summary(&catch_up, &counts, None).releases, 3);
    }

    #[test]
    fn what_is_not_defined_is_none() {
        let cyclic = Cyclic { mechanism: Mechanism::Relative, ..Cyclic::default() };
        let method = Method::Cyclic(cyclic);
        let relative =
            Plan { method, until: Until { deadline_ns: None, ..plan().until }, ..plan() };
        let none = summary(&relative, &Histogram::default(), Some(Nanos(1)));
        assert_eq!(none, Summary { cycles: 0, ..Summary::default() });
    }
}
