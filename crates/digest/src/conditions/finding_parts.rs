//! The time of a finding and the latencies in that time.

use super::ConditionsView;
use super::latencies::latencies_then_and_otherwise;
use super::points::{Points, Stretch, stretches};
use latlab_model::CpuSet;
use latlab_model::finding::{ConditionFinding, Finding, LatencyComparison, When};

/// The latencies of some stretches; with CPUs only those of threads pinned there, and of unpinned
/// ones.
pub fn latencies(
    at: &ConditionsView<'_>,
    when: &[Stretch],
    cpus: Option<&CpuSet>,
) -> LatencyComparison {
    latencies_then_and_otherwise(at.input.recorded, &at.data.intervals, when, cpus)
}

/// Places the finding at the start of its first stretch.
pub fn at_first_stretch(
    at: &ConditionsView<'_>,
    finding: ConditionFinding,
    when: &[Stretch],
) -> Finding {
    let finding = Finding::new(finding);
    match when.first() {
        // What the reading before the first release saw is placed at the start of the run.
        Some(first) => finding.at(first.from.max(at.input.from)),
        None => finding,
    }
}

/// From the start of the first stretch to the end of the last; `None` without a stretch.
pub fn span(at: &ConditionsView<'_>, when: &[Stretch]) -> Option<When> {
    let (first, last) = (when.first()?, when.last()?);
    let (from_ns, to) = (at.since_start(first.from), last.to.min(at.input.to));
    Some(When { from_ns, to_ns: at.since_start(to) })
}

/// A counter of something undesirable has grown: for each subject how much, and when.
pub fn counter_findings(
    at: &ConditionsView<'_>,
    metric: &str,
    finding: &dyn Fn(&str, u64, When, LatencyComparison) -> ConditionFinding,
) -> Vec<Finding> {
    let grown = |(subject, points): (&str, &Points)| {
        let growths = at.growths(points);
        let times: f64 = growths.iter().flatten().sum();
        let stretches =
            stretches(at.times, |step| growths[step].is_some_and(|growth| growth > 0.0));
        let when = span(at, &stretches)?;
        let latencies = latencies(at, &stretches, None);
        let finding = finding(subject, times.round() as u64, when, latencies);
        Some(at_first_stretch(at, finding, &stretches))
    };
    at.data.all(metric).filter_map(grown).collect()
}
