//! The latencies in some time, compared with the rest of the run.

use super::points::{Stretch, median};
use latlab_model::finding::{Latencies, LatencyComparison};
use latlab_model::{CpuSet, Nanos};

/// What is kept of one interval of one thread.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// CPU that the thread was pinned to.
    pub cpu: Option<u32>,
    /// First release, inclusive.
    pub from: Nanos,
    /// End, exclusive.
    pub to: Nanos,
    pub p99: Nanos,
    pub max: Nanos,
}

/// The latencies within some stretches, and those outside of them.
///
/// `recorded` is the name of what is measured. With CPUs only threads pinned there count, and
/// unpinned ones.
pub fn latencies_then_and_otherwise(
    recorded: &str,
    intervals: &[Interval],
    stretches: &[Stretch],
    cpus: Option<&CpuSet>,
) -> LatencyComparison {
    let concerned = |one: &&Interval| match (cpus, one.cpu) {
        (Some(cpus), Some(cpu)) => cpus.contains(cpu),
        _ => true,
    };
    let overlaps =
        |one: &Interval| stretches.iter().any(|part| one.from < part.to && part.from < one.to);
    let (within, outside): (Vec<&Interval>, Vec<&Interval>) =
        intervals.iter().filter(concerned).partition(|one| overlaps(one));
    let figures = |of: &[&Interval]| {
        let p99 = median(of.iter().map(|one| one.p99.0 as f64))?;
        let max_ns = of.iter().map(|one| one.max).max()?;
        Some(Latencies { p99_ns: Nanos(p99.round() as i64), max_ns })
    };
    let recorded = recorded.to_string();
    LatencyComparison { recorded, then: figures(&within), otherwise: figures(&outside) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_then_stands_beside_what_is_usual() {
        let interval = |cpu, second: i64, p99: i64| Interval {
            cpu: Some(cpu),
            from: Nanos(second * 1_000),
            to: Nanos(second * 1_000 + 1_000),
            p99: Nanos(p99),
            max: Nanos(10 * p99),
        };
        let intervals: Vec<Interval> = (0..10)
            .flat_map(|s| [interval(0, s, 7), interval(1, s, if s == 4 { 90 } else { 20 })])
            .collect();
        let then = [Stretch { from: Nanos(4_100), to: Nanos(4_900) }];
        let figures =
            |p99_ns, max_ns| Some(Latencies { p99_ns: Nanos(p99_ns), max_ns: Nanos(max_ns) });
        let found = latencies_then_and_otherwise(
            "latency",
            &intervals,
            &then,
            Some(&[1].into_iter().collect()),
        );
        assert_eq!((found.then, found.otherwise), (figures(90, 900), figures(20, 200)));
        let all = [Stretch { from: Nanos(0), to: Nanos(99_999) }];
        assert_eq!(latencies_then_and_otherwise("latency", &intervals, &all, None).otherwise, None);
        assert_eq!(latencies_then_and_otherwise("gap", &[], &all, None).then, None);
    }
}
