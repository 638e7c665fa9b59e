//! The frequency of the CPUs: what chooses it, and its limits.

use crate::check::{Check, Observation};
use crate::commands::{FileEdit, commands, values};
use crate::effect::{Effect, acts, us};
use crate::facts::{Facts, cpu_in};
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;

pub const CHECKS: &[Check] = &[
    Check {
        code: "governor",
        severity: Severity::Warning,
        topic: Topic::Cpu,
        effect: acts(us(2), us(500)),
        title: "the CPU frequency follows the load",
        why: "A CPU that slowed down while idle starts its next work at the low frequency.",
        cost: "tens of microseconds after a wake-up, then up to milliseconds of slower work",
        remedy: Some("echo performance | tee {file}"),
        undo: Some("echo {value} | tee {file}"),
        observe: governor,
    },
    Check {
        code: "energy-preference",
        severity: Severity::Info,
        topic: Topic::Cpu,
        effect: Effect::NONE,
        title: "the processor is set to save energy",
        why: "A processor that selects its own frequency raises it later if it is set to save \
              energy.",
        cost: "slower work for milliseconds after a wake-up; no general figure is known",
        remedy: Some("echo performance | tee {file}"),
        undo: Some("echo {value} | tee {file}"),
        observe: energy_preference,
    },
    Check {
        code: "frequency-limit",
        severity: Severity::Warning,
        topic: Topic::Cpu,
        effect: acts(us(2), us(500)),
        title: "the CPU frequency is limited",
        why: "All code between an interrupt and the response to it runs slower in proportion.",
        cost: "latencies grow by the ratio of the two frequencies",
        remedy: Some("echo 100 | tee {file}"),
        undo: Some("echo {value} | tee {file}"),
        observe: frequency_limit,
    },
    Check {
        code: "frequency-floor",
        severity: Severity::Info,
        topic: Topic::Cpu,
        effect: Effect::NONE,
        title: "only the governor keeps the frequency high",
        why: "If a daemon or a power profile changes the governor, the frequency may fall to the \
              lower limit.",
        cost: "none while the governor stays",
        remedy: Some("echo HIGHEST | tee {file}"),
        undo: Some("echo {value} | tee {file}"),
        observe: frequency_floor,
    },
    Check {
        code: "boost",
        severity: Severity::Info,
        topic: Topic::Cpu,
        effect: Effect::NONE,
        title: "the frequency may boost above the nominal one",
        why: "The boost frequency depends on temperature and on the number of busy CPUs, so the \
              run time of the same code varies from run to run.",
        cost: "run times vary by as much as the boost, often 10 to 50 %; the maximum may be lower \
               with it",
        remedy: Some("echo 0 | tee {file}"),
        undo: Some("echo {value} | tee {file}"),
        observe: boost,
    },
    Check {
        code: "processor-frequency",
        severity: Severity::Info,
        topic: Topic::Cpu,
        effect: Effect::NONE,
        title: "the processor selects its frequency, not the kernel",
        why: "The processor moves between the limits by itself, and the kernel can neither report \
              nor trace each change.",
        cost: "none by itself; a change shows only as slower code",
        remedy: None,
        undo: None,
        observe: processor_frequency,
    },
    Check {
        code: "frequency-claimed",
        severity: Severity::Info,
        topic: Topic::Cpu,
        effect: Effect::NONE,
        title: "the kernel shows the requested frequency, not the actual one",
        why: "The firmware of a Raspberry Pi lowers the clock for heat or low voltage without \
              telling the kernel.",
        cost: "none, but throttling stays hidden",
        remedy: Some("vcgencmd measure_clock arm"),
        undo: None,
        observe: frequency_claimed,
    },
];

const GOVERNOR: &str = "sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
const PREFERENCE: &str = "sys/devices/system/cpu/cpu*/cpufreq/energy_performance_preference";
const LOWEST: &str = "sys/devices/system/cpu/cpu*/cpufreq/scaling_min_freq";
const HIGHEST: &str = "sys/devices/system/cpu/cpu*/cpufreq/scaling_max_freq";
const CURRENT: &str = "sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq";

/// Another file in the same folder: the limits of the CPU with this governor.
fn sibling_file<'a>(facts: &Facts<'a>, file: &str, name: &str) -> Option<&'a str> {
    let (folder, _) = file.rsplit_once('/')?;
    facts.text(&format!("{folder}/{name}"))
}

/// An observation about several CPUs, with commands for exactly those.
fn observation_with_commands(
    facts: &Facts<'_>,
    pattern: &str,
    changes: &[FileEdit<'_>],
    text: String,
) -> Observation {
    let (make, undo) = commands(facts, pattern, changes);
    Observation::new(pattern, value_text(changes), text).with_remedy(make, Some(undo.into()))
}

/// One value, or all of them with their CPUs.
fn value_text(changes: &[FileEdit<'_>]) -> String {
    match changes {
        [first, rest @ ..] if rest.iter().all(|change| change.from == first.from) => {
            first.from.to_string()
        }
        _ => values(changes),
    }
}

fn governor(facts: &Facts<'_>) -> Option<Observation> {
    let changes = FileEdit::list(facts, GOVERNOR, |file, governor| {
        let limits =
            ["scaling_min_freq", "scaling_max_freq"].map(|name| sibling_file(facts, file, name));
        let is_fixed = limits[0].is_some() && limits[0] == limits[1];
        // With 'userspace' the frequency stays where a program has set it.
        let follows = !["performance", "userspace"].contains(&governor);
        (follows && !is_fixed).then_some("performance")
    });
    let first = changes.first()?;
    let by_itself = matches!(
        sibling_file(facts, first.file, "scaling_driver"),
        Some("intel_pstate" | "amd-pstate-epp")
    );
    let note = match first.from {
        "powersave" if by_itself => {
            ", which means for this driver that the frequency follows the load"
        }
        "powersave" => ", which keeps the lowest frequency",
        _ => "",
    };
    let text = format!("The governor is {}{note}.", values(&changes));
    Some(observation_with_commands(facts, GOVERNOR, &changes, text))
}

fn energy_preference(facts: &Facts<'_>) -> Option<Observation> {
    let changes = FileEdit::list(facts, PREFERENCE, |_, preference| {
        (!["performance", "0"].contains(&preference)).then_some("performance")
    });
    changes.first()?;
    let text = format!("The energy performance preference is {}.", values(&changes));
    Some(observation_with_commands(facts, PREFERENCE, &changes, text))
}

fn frequency_limit(facts: &Facts<'_>) -> Option<Observation> {
    let changes = FileEdit::list(facts, HIGHEST, |file, limit| {
        let possible = sibling_file(facts, file, "cpuinfo_max_freq")?;
        (limit.parse::<u64>().ok()? < possible.parse().ok()?).then_some(possible)
    });
    let Some(first) = changes.first() else { return share_of_frequency(facts) };
    let text = format!(
        "The upper frequency limit in kHz is {}, the hardware maximum {}.",
        values(&changes),
        first.to
    );
    Some(observation_with_commands(facts, HIGHEST, &changes, text))
}

/// The limit that Intel's driver has for all CPUs together.
fn share_of_frequency(facts: &Facts<'_>) -> Option<Observation> {
    let file = "sys/devices/system/cpu/intel_pstate/max_perf_pct";
    let share = facts.number(file).filter(|share| *share < 100)?;
    let text = format!("The CPUs may use {share} % of their highest frequency.");
    Some(Observation::new(file, share.to_string(), text))
}

fn frequency_floor(facts: &Facts<'_>) -> Option<Observation> {
    let changes = FileEdit::list(facts, LOWEST, |file, lowest| {
        let highest = sibling_file(facts, file, "scaling_max_freq")?;
        let holds = sibling_file(facts, file, "scaling_governor") == Some("performance");
        (holds && lowest.parse::<u64>().ok()? < highest.parse().ok()?).then_some(highest)
    });
    let first = changes.first()?;
    let text = format!(
        "The lower frequency limit in kHz is {}, the upper limit {}; only the governor \
         'performance' keeps the frequency up.",
        values(&changes),
        first.to
    );
    Some(observation_with_commands(facts, LOWEST, &changes, text))
}

fn boost(facts: &Facts<'_>) -> Option<Observation> {
    let common = "sys/devices/system/cpu/cpufreq/boost";
    let intel = "sys/devices/system/cpu/intel_pstate/no_turbo";
    if facts.number(common) == Some(1) {
        return Some(Observation::new(common, "1", "Boost frequencies are enabled."));
    }
    (facts.number(intel) == Some(0)).then(|| {
        let seen = Observation::new(intel, "0", "Turbo frequencies are enabled.");
        seen.with_remedy("echo 1 | tee {file}", Some("echo {value} | tee {file}".into()))
    })
}

fn processor_frequency(facts: &Facts<'_>) -> Option<Observation> {
    let file = "sys/devices/system/cpu/cpu*/cpufreq/scaling_driver";
    let own = ["intel_pstate", "amd-pstate-epp", "cppc_cpufreq"];
    let (driver, cpus) =
        facts.values_by_cpu(file).into_iter().find(|(name, _)| own.contains(name))?;
    let text =
        format!("CPU {cpus} has the driver '{driver}': the processor selects the frequency.");
    Some(Observation::new(file, driver, text))
}

fn frequency_claimed(facts: &Facts<'_>) -> Option<Observation> {
    let (file, frequency) = facts.snapshot.matching(CURRENT).into_iter().next()?;
    let cpu = cpu_in(file).filter(|_| facts.is_board("raspberrypi"))?;
    let text = format!(
        "The kernel shows {frequency} kHz for CPU {cpu}, which may differ from the actual \
                 clock."
    );
    Some(Observation::new(file, frequency, text))
}
