//! Settings of the machine that have a name, made for the time of a run.

use crate::text_enum::text_enum;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A setting by its name; written as `--tune` takes it: `irqs=away`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tuning {
    /// The frequency governor of the measured CPUs.
    Governor(String),
    /// No interrupt of a device comes to a measured CPU.
    IrqsAway,
    /// Real-time threads may take all of the time.
    RtThrottlingOff,
    /// No part of the time of a measured CPU is kept for ordinary threads.
    FairServerOff,
    /// When memory is given in huge pages.
    Thp(Thp),
    /// Timers stay on the CPU that sets them.
    TimerMigrationOff,
    /// The kernel's unbound work is not done on measured CPUs.
    WorkqueuesAway,
    /// Threads of interrupts with this in their names have this real-time priority.
    IrqThread {
        /// Part of the name.
        pattern: String,
        /// Priority of SCHED_FIFO.
        priority: u8,
    },
}

text_enum! {
    /// When memory is given in huge pages without being asked for by its name; the words are the
    /// kernel's.
    Thp {
        /// Never.
        Never = "never",
        /// Where a program asks for it.
        Madvise = "madvise",
        /// Wherever it is possible.
        Always = "always",
    }
}

/// What there is, for those who ask for something else.
const KNOWN: &str = "governor=NAME, irqs=away, rt-throttling=off, fair-server=off, \
                     thp=never|madvise|always, timer-migration=off, workqueues=away, \
                     irq-thread:PATTERN=PRIORITY";

const IRQ_THREAD: &str = "irq-thread:";

/// Those with one value, which need not be said.
const SWITCHES: [(&str, &str, Tuning); 5] = [
    ("irqs", "away", Tuning::IrqsAway),
    ("rt-throttling", "off", Tuning::RtThrottlingOff),
    ("fair-server", "off", Tuning::FairServerOff),
    ("timer-migration", "off", Tuning::TimerMigrationOff),
    ("workqueues", "away", Tuning::WorkqueuesAway),
];

impl Tuning {
    /// What it is called, without its value; two of one name contradict each other.
    pub fn name(&self) -> String {
        let text = self.to_string();
        text.rsplit_once('=').map_or(text.clone(), |(name, _)| name.to_string())
    }
}

impl fmt::Display for Tuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tuning::Governor(name) => write!(f, "governor={name}"),
            Tuning::Thp(when) => write!(f, "thp={when}"),
            Tuning::IrqThread { pattern, priority } => {
                write!(f, "{IRQ_THREAD}{pattern}={priority}")
            }
            switch => {
                let (name, value, _) =
                    SWITCHES.iter().find(|(.., one)| one == switch).ok_or(fmt::Error)?;
                write!(f, "{name}={value}")
            }
        }
    }
}

impl FromStr for Tuning {
    type Err = String;

    fn from_str(text: &str) -> Result<Tuning, String> {
        let text = text.trim();
        // A name of a thread may hold anything, also an equals sign.
        let (name, value) = match text.rsplit_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        match (name, value) {
            ("governor", value) => governor(value),
            ("thp", value) => Thp::ALL
                .iter()
                .copied()
                .find(|thp| value == Some(thp.as_str()))
                .map(Tuning::Thp)
                .ok_or_else(|| format!("'{text}': expected thp=never, thp=madvise or thp=always")),
            (name, value) if name.starts_with(IRQ_THREAD) => irq_thread(name, value),
            (name, value) => {
                let switch = SWITCHES.into_iter().find(|(known, ..)| *known == name);
                let (_, only, tuning) =
                    switch.ok_or_else(|| format!("unknown tuning '{name}': expected {KNOWN}"))?;
                match value.is_none_or(|value| value == only) {
                    true => Ok(tuning),
                    false => Err(format!("'{text}': expected {name}={only}")),
                }
            }
        }
    }
}

fn governor(value: Option<&str>) -> Result<Tuning, String> {
    let is_word = |value: &&str| {
        !value.is_empty() && value.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
    };
    value.filter(is_word).map(|name| Tuning::Governor(name.to_string())).ok_or_else(|| {
        "expected governor=NAME, such as governor=performance; scaling_available_governors below \
         /sys/devices/system/cpu/cpufreq has the names"
            .to_string()
    })
}

fn irq_thread(name: &str, value: Option<&str>) -> Result<Tuning, String> {
    let pattern = name.strip_prefix(IRQ_THREAD).unwrap_or_default();
    let priority = value.and_then(|value| value.parse().ok()).filter(|n| (1..=99).contains(n));
    match priority {
        Some(priority) if !pattern.is_empty() && !pattern.contains(char::is_control) => {
            Ok(Tuning::IrqThread { pattern: pattern.to_string(), priority })
        }
        _ => {
            Err("expected irq-thread:PATTERN=PRIORITY, a part of the thread's name and 1 (low) to \
                  99 (high), such as irq-thread:eth0=80"
                .to_string())
        }
    }
}

impl Serialize for Tuning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Tuning {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Tuning, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Tuning {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Tuning".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A setting by its name, written as `--tune` takes it: `irqs=away`.",
            "type": "string",
            "pattern": "^[a-z-]+(:.+)?=.+$",
        })
    }
}
