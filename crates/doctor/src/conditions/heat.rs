//! Heat, and what it does to the frequency.

use super::Sight;
use super::points::{Stretch, stretches};
use super::tell::{span, told};
use latlab_model::run::{Finding, Severity};
use latlab_model::telemetry::{Figure, metric};
use latlab_model::{CpuSet, Nanos};

/// A drift of the temperature by so many degrees is told, and warned of.
const DRIFT: (f64, f64) = (5.0, 10.0);
/// A frequency that falls by more than this part is another frequency.
const OTHER_FREQUENCY: f64 = 0.05;
/// The bits of a Raspberry Pi's firmware that say what is so now.
const THROTTLE_BITS: [(i64, &str); 4] = [
    (1 << 0, "the supply voltage was too low"),
    (1 << 1, "the frequency was capped"),
    (1 << 2, "the CPU was throttled"),
    (1 << 3, "the soft temperature limit was reached"),
];

/// What the firmware of a Raspberry Pi says of its supply and its heat.
pub fn throttled(at: &Sight<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (_, points) in at.watch.all(metric::THROTTLE_FLAGS) {
        let flags = |time: Nanos| points.at(time).map_or(0, |flags| flags as i64);
        for (bit, text) in THROTTLE_BITS {
            // The sticky bit, 16 higher, tells of what came and went between two readings.
            let sticky = bit << 16;
            let when = stretches(at.times, |step| {
                let (before, after) = (flags(at.times[step]), flags(at.times[step + 1]));
                after & bit != 0 || (after & sticky != 0 && before & sticky == 0)
            });
            if !when.is_empty() {
                let text = format!("The firmware says that {text}, {}", span(at, &when));
                found.push(told(at, "throttled", Severity::Warning, text, &when, None));
            }
        }
    }
    found
}

/// The limit of the frequency went down, for whatever reason.
pub fn capped(at: &Sight<'_>) -> Option<Finding> {
    let mut lowest: Option<(f64, f64, CpuSet, Vec<Stretch>)> = None;
    for (subject, points) in at.watch.all(metric::FREQUENCY_LIMIT) {
        let cpu: Option<u32> = subject.strip_prefix("cpu").and_then(|number| number.parse().ok());
        let high = points.values().map(|(_, limit)| limit as f64).fold(0.0, f64::max);
        let is_low = |step: usize| points.at(at.times[step + 1]).is_some_and(|now| now < high);
        let when = stretches(at.times, is_low);
        let low = points.values().map(|(_, limit)| limit as f64).fold(f64::INFINITY, f64::min);
        if let (Some(cpu), false) = (cpu, when.is_empty()) {
            let cpus = lowest.iter().flat_map(|(_, _, cpus, _)| cpus.iter()).chain([cpu]).collect();
            lowest = Some((low, high, cpus, when));
        }
    }
    let (low, high, cpus, when) = lowest?;
    let text = format!(
        "The frequency of CPU {cpus} was limited to {:.0} of {:.0} MHz {}",
        low / 1000.0,
        high / 1000.0,
        span(at, &when)
    );
    Some(told(at, "throttled", Severity::Warning, text, &when, Some(&cpus)))
}

/// The frequency was not the same all the time.
pub fn frequency_changed(at: &Sight<'_>, figures: &[Figure]) -> Option<Finding> {
    let changed = |figure: &&Figure| {
        figure.metric == "cpu_frequency" && figure.min < figure.max * (1.0 - OTHER_FREQUENCY)
    };
    let changed: Vec<&Figure> = figures.iter().filter(changed).collect();
    let low = changed.iter().map(|figure| figure.min).reduce(f64::min)?;
    let high = changed.iter().map(|figure| figure.max).reduce(f64::max)?;
    let cpus: CpuSet =
        changed.iter().filter_map(|one| one.subject.strip_prefix("cpu")?.parse().ok()).collect();
    let is_low = |step: usize| {
        changed.iter().any(|figure| {
            let points = at.watch.one(metric::FREQUENCY, &figure.subject);
            let now = points.and_then(|points| points.at(at.times[step + 1]));
            now.is_some_and(|now| now / 1000.0 < high * (1.0 - OTHER_FREQUENCY))
        })
    };
    let when = stretches(at.times, is_low);
    let text = format!(
        "CPU {cpus} ran at {low:.0} to {high:.0} MHz; below the highest {}",
        span(at, &when)
    );
    let finding = told(at, "frequency-changed", Severity::Warning, text, &when, Some(&cpus));
    Some(finding.remedy("Hold the frequency: `latlab doctor` says how."))
}

/// A temperature was another at the end.
pub fn drifted(at: &Sight<'_>, figure: &Figure) -> Option<Finding> {
    let (first, last) = (figure.first_tenth?, figure.last_tenth?);
    let drift = last - first;
    if figure.metric != "temperature" || drift.abs() < DRIFT.0 {
        return None;
    }
    let severity = if drift.abs() < DRIFT.1 { Severity::Info } else { Severity::Warning };
    let tenth = Nanos((at.context.to - at.context.from).0 / 10);
    let when = [Stretch { from: at.context.to - tenth, to: at.context.to }];
    let text = format!(
        "The temperature of {} went from {:.1} C in the first tenth of the run to {:.1} C in the last",
        figure.subject, first, last
    );
    let finding = told(at, "temperature-drift", severity, text, &when, None);
    Some(finding.remedy("Let the machine warm up under its load before the run: --warm-up."))
}
