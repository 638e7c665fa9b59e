//! A finding with its time and the latencies of that time.

use super::Sight;
use super::latencies::beside;
use super::points::{Points, Stretch, stretches};
use latlab_model::CpuSet;
use latlab_model::run::{Finding, Severity};

/// `at` of the first stretch, and the latencies of all of them beside the text.
pub fn told(
    at: &Sight<'_>,
    code: &str,
    severity: Severity,
    text: String,
    when: &[Stretch],
    cpus: Option<&CpuSet>,
) -> Finding {
    let latencies = beside(at.context.recorded, &at.watch.intervals, when, cpus);
    let finding = Finding::new(code, severity, format!("{text} ({latencies})."));
    match when.first() {
        // What the reading before the first release saw began with the run, as far as it matters.
        Some(first) => finding.at(first.from.max(at.context.from)),
        None => finding,
    }
}

/// From when to when, in words.
pub fn span(at: &Sight<'_>, when: &[Stretch]) -> String {
    let (Some(first), Some(last)) = (when.first(), when.last()) else { return String::new() };
    let to = last.to.min(at.context.to);
    format!("from {} to {}", at.since_start(first.from), at.since_start(to))
}

/// A counter of something that should not happen has grown.
pub fn counted_up(
    at: &Sight<'_>,
    metric: &str,
    (code, severity): (&str, Severity),
    text: &dyn Fn(&str) -> String,
) -> Vec<Finding> {
    let grown = |(subject, points): (&str, &Points)| {
        let growths = at.growths(points);
        let times: f64 = growths.iter().flatten().sum();
        let when = stretches(at.times, |step| growths[step].is_some_and(|growth| growth > 0.0));
        (!when.is_empty()).then(|| {
            let text = format!("{}, {times:.0} times {}", text(subject), span(at, &when));
            told(at, code, severity, text, &when, None)
        })
    };
    at.watch.all(metric).filter_map(grown).collect()
}
