//! Heat: temperatures, countermeasures, and throttling so far.

use crate::check::{Check, Observation};
use crate::effect::{Effect, acts, ms, us};
use crate::facts::Facts;
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;
use latlab_model::snapshot::{Content, made};

pub const CHECKS: &[Check] = &[
    Check {
        code: "hot",
        severity: Severity::Warning,
        topic: Topic::Heat,
        effect: Effect::NONE,
        title: "a temperature is close to its limit",
        why: "At the limit the clock is lowered or the machine powers off, and load raises the \
              temperature.",
        cost: "latencies grow as the clock falls, often by a factor of two or three",
        remedy: Some("cool the machine: a fan, a heat sink, less load, a lower scaling_max_freq"),
        undo: None,
        observe: hot,
    },
    Check {
        code: "unreadable-temperature",
        severity: Severity::Info,
        topic: Topic::Heat,
        effect: Effect::NONE,
        title: "a temperature cannot be read",
        why: "latlab cannot tell whether the part with this sensor throttles during a run.",
        cost: "none, but it may hide throttling",
        remedy: Some("cat {file}"),
        undo: None,
        observe: unreadable_temperature,
    },
    Check {
        code: "cooling",
        severity: Severity::Warning,
        topic: Topic::Heat,
        effect: acts(us(5), ms(10)),
        title: "the kernel throttles the CPUs because of heat",
        why: "The kernel has lowered the highest frequency, or forces the CPUs to idle, until the \
              machine is cooler.",
        cost: "latencies grow by the ratio of the frequencies, and by the forced idle time",
        remedy: Some("cool the machine: a fan, a heat sink, less load, a lower scaling_max_freq"),
        undo: None,
        observe: cooling,
    },
    Check {
        code: "throttled-since-start",
        severity: Severity::Warning,
        topic: Topic::Heat,
        effect: acts(us(5), ms(10)),
        title: "the processor has throttled since boot",
        why: "It may throttle again during a run, and all code then runs slower for a while.",
        cost: "code runs at a fraction of the clock, for milliseconds to minutes",
        remedy: Some("cool the machine: a fan, a heat sink, less load, a lower scaling_max_freq"),
        undo: None,
        observe: throttled_since_start,
    },
    Check {
        code: "no-temperature",
        severity: Severity::Info,
        topic: Topic::Heat,
        effect: Effect::NONE,
        title: "no temperature can be read",
        why: "latlab cannot tell whether heat slows this machine down during a run.",
        cost: "none, but it may hide throttling",
        remedy: Some("load the driver of the sensors: coretemp for Intel, k10temp for AMD"),
        undo: None,
        observe: no_temperature,
    },
];

/// Distance to a limit that counts as hot, in millidegrees.
const MARGIN: i64 = 10_000;
/// Lower limits are ignored: sensors without one report 0 or nonsense.
const LEAST_LIMIT: i64 = 40_000;
/// Where a Raspberry Pi's firmware starts to throttle, unknown to the kernel.
const FIRMWARE_LIMIT: i64 = 80_000;

/// A temperature and the next limit.
struct Heat {
    file: String,
    name: String,
    now: i64,
    limit: i64,
    kind: String,
}

impl Heat {
    fn observation(self) -> Observation {
        let Heat { file, name, now, limit, kind } = self;
        let (degrees, most) = (now as f64 / 1000.0, limit as f64 / 1000.0);
        let text = format!("{name} is at {degrees:.1} C; {kind} is {most:.1} C.");
        let seen = Observation::new(file, now.to_string(), text);
        if now >= limit { seen.with_severity(Severity::Error) } else { seen }
    }
}

fn hot(facts: &Facts<'_>) -> Option<Observation> {
    let mut heats = zones(facts);
    heats.extend(sensors(facts));
    let near = heats
        .into_iter()
        .filter(|heat| heat.limit >= LEAST_LIMIT && heat.now > 0 && heat.now > heat.limit - MARGIN);
    near.min_by_key(|heat| heat.limit - heat.now).map(Heat::observation)
}

/// The thermal zones, each with its lowest limit that slows the clock.
fn zones(facts: &Facts<'_>) -> Vec<Heat> {
    let zone = |(file, now): (&str, &str)| {
        let now = now.parse().ok()?;
        let folder = file.strip_suffix("/temp")?;
        let trips = facts.snapshot.matching(&format!("{folder}/trip_point_*_type"));
        let trips = trips.into_iter().filter_map(|(file, kind)| {
            let limit = facts.number(&format!("{}temp", file.strip_suffix("type")?))?;
            let slows = ["critical", "hot", "passive"].contains(&kind);
            (slows && limit >= LEAST_LIMIT).then(|| (limit, format!("its {kind} limit")))
        });
        let firmware = facts.is_board("raspberrypi");
        let firmware = firmware.then(|| (FIRMWARE_LIMIT, "the firmware's limit".to_string()));
        let (limit, kind) = trips.chain(firmware).min()?;
        let name = facts.text(&format!("{folder}/type")).unwrap_or(folder).to_string();
        Some(Heat { file: file.to_string(), name, now, limit, kind })
    };
    let found = facts.snapshot.matching("sys/class/thermal/thermal_zone*/temp");
    found.into_iter().filter_map(zone).collect()
}

/// The sensors with a critical temperature.
fn sensors(facts: &Facts<'_>) -> Vec<Heat> {
    let sensor = |(file, now): (&str, &str)| {
        let stem = file.strip_suffix("_input")?;
        let folder = file.rsplit_once('/')?.0;
        let limit = facts.number(&format!("{stem}_crit"))?;
        let words = [format!("{folder}/name"), format!("{stem}_label")];
        let words: Vec<&str> = words.iter().filter_map(|file| facts.text(file)).collect();
        let name = if words.is_empty() { stem.to_string() } else { words.join(" ") };
        let (file, now) = (file.to_string(), now.parse().ok()?);
        Some(Heat { file, name, now, limit, kind: "its critical limit".to_string() })
    };
    let found = facts.snapshot.matching("sys/class/hwmon/hwmon*/temp*_input");
    found.into_iter().filter_map(sensor).collect()
}

fn unreadable_temperature(facts: &Facts<'_>) -> Option<Observation> {
    let zones = facts.snapshot.matching("sys/class/thermal/thermal_zone*/type");
    let (file, name) = zones.into_iter().find_map(|(file, name)| {
        let temperature = format!("{}temp", file.strip_suffix("type")?);
        facts.text(&temperature).is_none().then_some((temperature, name))
    })?;
    let reason = match facts.snapshot.files.get(&file) {
        Some(Content::Unreadable { unreadable }) => unreadable.clone(),
        _ => String::new(),
    };
    let text = format!("The temperature of {name} could not be read.");
    Some(Observation::new(file, reason, text))
}

fn cooling(facts: &Facts<'_>) -> Option<Observation> {
    let states = facts.snapshot.matching("sys/class/thermal/cooling_device*/cur_state");
    let (file, state, kind) = states.into_iter().find_map(|(file, state)| {
        let kind = facts.text(&format!("{}type", file.strip_suffix("cur_state")?))?;
        (slows_cpus(kind) && state.parse::<i64>().ok()? > 0).then_some((file, state, kind))
    })?;
    let text = format!("The cooling device {kind} is at level {state}.");
    Some(Observation::new(file, state, text))
}

/// Fans and dimmed screens cool too, and cost no latency.
fn slows_cpus(kind: &str) -> bool {
    let words = ["cpufreq", "cpuidle", "Processor", "powerclamp"];
    words.iter().any(|word| kind.contains(word))
}

fn throttled_since_start(facts: &Facts<'_>) -> Option<Observation> {
    let counts = ["core_throttle_count", "package_throttle_count"].into_iter().find_map(|name| {
        let file = format!("sys/devices/system/cpu/cpu*/thermal_throttle/{name}");
        let groups = facts.values_by_cpu(&file).into_iter();
        let counts = groups.filter_map(|(count, cpus)| Some((count.parse::<u64>().ok()?, cpus)));
        let (count, cpus) = counts.max_by_key(|(count, _)| *count)?;
        (count > 0).then_some((file, count, cpus))
    });
    let (file, count, cpus) = counts?;
    let text = format!("CPU {cpus} was throttled {count} times since boot.");
    Some(Observation::new(file, count.to_string(), text))
}

fn no_temperature(facts: &Facts<'_>) -> Option<Observation> {
    let cpus = facts.text("sys/devices/system/cpu/online")?;
    let files = ["sys/class/thermal/thermal_zone*/temp", "sys/class/hwmon/hwmon*/temp*_input"];
    let any = files.iter().any(|file| !facts.snapshot.matching(file).is_empty());
    if any || facts.text(made::GPU_TEMPERATURE).is_some() {
        return None;
    }
    let cpus = if cpus.is_empty() { String::new() } else { format!(" {cpus}") };
    let text = format!("No temperature can be read for the CPUs{cpus}.");
    let seen = Observation::new("sys/class/thermal", "", text);
    Some(if facts.is_guest() {
        seen.with_remedy("watch the temperature on the host", None)
    } else {
        seen
    })
}
