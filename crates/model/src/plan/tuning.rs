//! Named machine settings for the duration of a run.

use crate::text_enum::text_enum;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A named setting, written as for `--tune`: `irqs=away`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tuning {
    /// Frequency governor of the measured CPUs.
    Governor(String),
    /// Moves device interrupts away from the measured CPUs.
    IrqsAway,
    /// Lets real-time threads take all CPU time.
    RtThrottlingOff,
    /// Reserves no time of the measured CPUs for SCHED_OTHER threads.
    FairServerOff,
    /// Transparent huge pages.
    Thp(Thp),
    /// Keeps timers on the CPU that sets them.
    TimerMigrationOff,
    /// Moves unbound kernel work away from the measured CPUs.
    WorkqueuesAway,
    /// Real-time priority of interrupt threads whose name contains a pattern.
    IrqThread {
        /// Part of the thread name.
        pattern: String,
        /// SCHED_FIFO priority.
        priority: u8,
    },
}

text_enum! {
    /// When memory is given in transparent huge pages, in the kernel's words.
    Thp {
        /// Never.
        Never = "never",
        /// If a program asks for it.
        Madvise = "madvise",
        /// Whenever possible.
        Always = "always",
    }
}

/// Known settings, for error messages.
const KNOWN: &str = "governor=NAME, irqs=away, rt-throttling=off, fair-server=off, \
                     thp=never|madvise|always, timer-migration=off, workqueues=away, \
                     irq-thread:PATTERN=PRIORITY";

const IRQ_THREAD: &str = "irq-thread:";

/// Settings with a single value, as name, value and tuning.
const SWITCHES: [(&str, &str, Tuning); 5] = [
    ("irqs", "away", Tuning::IrqsAway),
    ("rt-throttling", "off", Tuning::RtThrottlingOff),
    ("fair-server", "off", Tuning::FairServerOff),
    ("timer-migration", "off", Tuning::TimerMigrationOff),
    ("workqueues", "away", Tuning::WorkqueuesAway),
];

impl Tuning {
    /// Name without the value; two tunings of one name conflict.
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
        // A thread name may contain anything, including an equals sign.
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
