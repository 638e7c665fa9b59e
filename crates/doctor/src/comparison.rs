//! Differences between two machines, or one machine before and after a change.

use latlab_model::doctor::Diagnosis;
use latlab_model::finding::Severity;
use latlab_model::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Differences between two machines: `latlab doctor --against … --format json`.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The reference: a run, a file or a folder.
    pub before: String,
    /// What is compared with it: `this machine`, a run, a file or a folder.
    pub after: String,
    /// Facts about the machine that differ, by their names in `run.json`. Facts also given by a
    /// setting or kernel option are listed there instead: governor, limit of real-time threads,
    /// tick rate.
    pub machine: Vec<FactChange>,
    /// Diagnoses that are new, most severe first.
    pub appeared: Vec<Diagnosis>,
    /// Diagnoses that are gone, most severe first.
    pub gone: Vec<Diagnosis>,
    /// Diagnoses whose severity changed.
    pub weighed: Vec<FindingChange>,
    /// Kernel files of the machine's configuration that differ.
    pub settings: Vec<SettingChange>,
    /// Kernel options that differ, by topic; `None` if one side has none recorded.
    pub config: Option<Vec<ConfigChanges>>,
    /// Run conditions that differ notably; empty unless both sides are runs.
    pub conditions: Vec<FactChange>,
    /// Settings that could not be read on at least one side and are not compared.
    pub not_compared: Vec<String>,
}

/// A value that differs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FactChange {
    /// Name of the value.
    pub what: String,
    /// Value before; `None` if absent. For a command line, only the words that differ.
    pub before: Option<String>,
    /// Value after; `None` if absent.
    pub after: Option<String>,
}

/// A kernel file that differs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SettingChange {
    /// Path from the root; `cpu*` or `irq/*` stands for several files that differ alike.
    pub file: String,
    /// Numbers of the CPUs or interrupts that `*` stands for: `0-2,5`.
    pub of: Option<String>,
    /// Content before; `None` if the file was absent.
    pub before: Option<String>,
    /// Content after; `None` if the file is absent.
    pub after: Option<String>,
    /// Whether `before` and `after` hold only the words that one side has and the other lacks.
    pub partly: bool,
}

/// A finding whose severity differs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingChange {
    /// Severity before.
    pub before: Severity,
    /// The finding as it is now.
    pub now: Diagnosis,
}

text_enum! {
    /// Topic of a kernel option.
    ConfigTopic {
        /// Preemption and scheduling.
        Scheduling = "scheduling",
        /// Timers and tick.
        Timers = "timers",
        /// RCU.
        Rcu = "rcu",
        /// Interrupts.
        Interrupts = "interrupts",
        /// Power, idle states and frequency.
        Power = "power",
        /// Tracing.
        Tracing = "tracing",
        /// Debugging.
        Debugging = "debugging",
        /// Memory.
        Memory = "memory",
        /// Security and mitigations.
        Security = "security",
        /// Virtualisation.
        Virtualisation = "virtualisation",
        /// Drivers.
        Drivers = "drivers",
        /// Network.
        Network = "network",
        /// File systems.
        FileSystems = "file-systems",
        /// Everything else, including options set by the compiler and the architecture.
        Other = "other",
    }
}

impl ConfigTopic {
    /// Whether options of this topic are known to change latencies.
    pub fn matters(self) -> bool {
        use ConfigTopic::{Drivers, FileSystems, Network, Other};
        !matches!(self, Drivers | Network | FileSystems | Other)
    }
}

/// Kernel options of one topic that differ.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfigChanges {
    /// Topic of the options.
    pub topic: ConfigTopic,
    /// Options without `CONFIG_`, those that affect latencies first; `None` means not set.
    pub options: Vec<FactChange>,
}

impl Comparison {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.machine.is_empty()
            && self.appeared.is_empty()
            && self.gone.is_empty()
            && self.weighed.is_empty()
            && self.settings.is_empty()
            && self.config.as_ref().is_none_or(Vec::is_empty)
            && self.conditions.is_empty()
    }

    /// Whether something of this severity is worse than before; for `info` any difference counts.
    pub fn has_at_least(&self, weight: Severity) -> bool {
        let heavier = self.weighed.iter().filter(|weighed| weighed.now.severity > weighed.before);
        let worse = self.appeared.iter().chain(heavier.map(|weighed| &weighed.now));
        let mut worse = worse.map(|finding| finding.severity);
        worse.any(|severity| severity >= weight) || weight == Severity::Info && !self.is_empty()
    }
}
