//! Heat, and its effect on the frequency.

use super::ConditionsView;
use super::finding_parts::{at_first_stretch, latencies, span};
use super::points::{Stretch, stretches};
use latlab_model::finding::{ConditionFinding, Finding, Throttling};
use latlab_model::telemetry::{Figure, metric};
use latlab_model::{CpuSet, Nanos};

/// A temperature drift of this many degrees is a finding.
const DRIFT: f64 = 5.0;
/// A smaller relative drop does not count as a change of frequency.
const OTHER_FREQUENCY: f64 = 0.05;
/// Bits of a Raspberry Pi's firmware for the current state.
const THROTTLE_BITS: [(i64, Throttling); 4] = [
    (1 << 0, Throttling::UnderVoltage),
    (1 << 1, Throttling::FrequencyCapped),
    (1 << 2, Throttling::CpuThrottled),
    (1 << 3, Throttling::SoftTemperatureLimit),
];

/// What the firmware of a Raspberry Pi reports about its supply and heat.
pub fn throttled(at: &ConditionsView<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (_, points) in at.data.all(metric::THROTTLE_FLAGS) {
        let flags = |time: Nanos| points.at(time).map_or(0, |flags| flags as i64);
        for (bit, by) in THROTTLE_BITS {
            // The sticky bit, 16 higher, shows what came and went between two readings.
            let sticky = bit << 16;
            let when = stretches(at.times, |step| {
                let (before, after) = (flags(at.times[step]), flags(at.times[step + 1]));
                after & bit != 0 || (after & sticky != 0 && before & sticky == 0)
            });
            found.extend(slowed_down(at, by, &when, None));
        }
    }
    found
}

/// The frequency limit went down, for whatever reason.
pub fn capped(at: &ConditionsView<'_>) -> Option<Finding> {
    let mut lowest: Option<(f64, f64, CpuSet, Vec<Stretch>)> = None;
    for (subject, points) in at.data.all(metric::FREQUENCY_LIMIT) {
        let cpu: Option<u32> = subject.strip_prefix("cpu").and_then(|number| number.parse().ok());
        let high = points.values().map(|limit| limit.value as f64).fold(0.0, f64::max);
        let is_low = |step: usize| points.at(at.times[step + 1]).is_some_and(|now| now < high);
        let when = stretches(at.times, is_low);
        let low = points.values().map(|limit| limit.value as f64).fold(f64::INFINITY, f64::min);
        if let (Some(cpu), false) = (cpu, when.is_empty()) {
            let cpus = lowest.iter().flat_map(|(_, _, cpus, _)| cpus.iter()).chain([cpu]).collect();
            lowest = Some((low, high, cpus, when));
        }
    }
    let (low, high, cpus, when) = lowest?;
    let (low_mhz, high_mhz) = (low / 1000.0, high / 1000.0);
    let by = Throttling::LowerLimit { cpus: cpus.clone(), low_mhz, high_mhz };
    slowed_down(at, by, &when, Some(&cpus))
}

fn slowed_down(
    at: &ConditionsView<'_>,
    by: Throttling,
    stretches: &[Stretch],
    cpus: Option<&CpuSet>,
) -> Option<Finding> {
    let (when, latencies) = (span(at, stretches)?, latencies(at, stretches, cpus));
    Some(at_first_stretch(at, ConditionFinding::Throttled { by, when, latencies }, stretches))
}

/// The frequency was not constant.
pub fn frequency_changed(at: &ConditionsView<'_>, figures: &[Figure]) -> Option<Finding> {
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
            let points = at.data.one(metric::FREQUENCY, &figure.subject);
            let now = points.and_then(|points| points.at(at.times[step + 1]));
            now.is_some_and(|now| now / 1000.0 < high * (1.0 - OTHER_FREQUENCY))
        })
    };
    let when = stretches(at.times, is_low);
    let finding = ConditionFinding::FrequencyChanged {
        low_mhz: low,
        high_mhz: high,
        when: span(at, &when)?,
        latencies: latencies(at, &when, Some(&cpus)),
        cpus,
    };
    Some(at_first_stretch(at, finding, &when))
}

/// A temperature was different at the end.
pub fn drifted(at: &ConditionsView<'_>, figure: &Figure) -> Option<Finding> {
    let (first, last) = (figure.first_tenth?, figure.last_tenth?);
    if figure.metric != "temperature" || (last - first).abs() < DRIFT {
        return None;
    }
    let tenth = Nanos((at.input.to - at.input.from).0 / 10);
    let when = [Stretch { from: at.input.to - tenth, to: at.input.to }];
    let finding = ConditionFinding::TemperatureDrift {
        sensor: figure.subject.clone(),
        first_c: first,
        last_c: last,
        latencies: latencies(at, &when, None),
    };
    Some(at_first_stretch(at, finding, &when))
}
