//! What differs between two machines, or between one machine before and after.

use crate::doctor::Diagnosis;
use crate::finding::Severity;
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What changed from one machine to another: `latlab doctor --against … --format json`.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// What it is compared with: a run, a file, a folder.
    pub before: String,
    /// What is compared: `this machine`, a run, a file, a folder.
    pub after: String,
    /// Facts about the machine, by their names in `run.json`. Those that a setting or an option
    /// below tells as well are told there: governor, limit of real-time threads, tick rate.
    pub machine: Vec<FactChange>,
    /// What the doctor says now and did not say before, heaviest first.
    pub appeared: Vec<Diagnosis>,
    /// What the doctor said before and does not say now, heaviest first.
    pub gone: Vec<Diagnosis>,
    /// What the doctor says with another weight.
    pub weighed: Vec<FindingChange>,
    /// Kernel files that say how the machine is set up.
    pub settings: Vec<SettingChange>,
    /// Options of the kernel, by topic; none where one of the two does not have them.
    pub config: Option<Vec<ConfigChanges>>,
    /// Conditions that were notably other in the one run than in the other; empty where one of
    /// the two is no run.
    pub conditions: Vec<FactChange>,
    /// Settings that could not be read on one side at least, and so are not compared.
    pub not_compared: Vec<String>,
}

/// A value that differs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FactChange {
    /// What it is the value of.
    pub what: String,
    /// What it was; none where it was not there. Of a command line only the words that differ.
    pub before: Option<String>,
    /// What it is; none where it is not there.
    pub after: Option<String>,
}

/// A kernel file that differs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SettingChange {
    /// The file, from the root; `cpu*` or `irq/*` for several that differ alike.
    pub file: String,
    /// The numbers of the CPUs or interrupts that `*` stands for: `0-2,5`.
    pub of: Option<String>,
    /// What stood there; none where it was not there.
    pub before: Option<String>,
    /// What stands there; none where it is not there.
    pub after: Option<String>,
    /// Whether both have the file, and `before` and `after` are only what one has of its own.
    pub partly: bool,
}

/// A finding whose weight differs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingChange {
    /// What it weighed before.
    pub before: Severity,
    /// The finding as it is now.
    pub now: Diagnosis,
}

text_enum! {
    /// What an option of the kernel is about.
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
        /// Everything else, and what the compiler and the architecture decide.
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

/// Options of the kernel of one topic that differ.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfigChanges {
    /// What they are about.
    pub topic: ConfigTopic,
    /// The options without `CONFIG_`, those that matter most first; none is one that is not set.
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

    /// Whether something of this weight is worse than before; for `info` any difference counts.
    pub fn has_at_least(&self, weight: Severity) -> bool {
        let heavier = self.weighed.iter().filter(|weighed| weighed.now.severity > weighed.before);
        let worse = self.appeared.iter().chain(heavier.map(|weighed| &weighed.now));
        let mut worse = worse.map(|finding| finding.severity);
        worse.any(|severity| severity >= weight) || weight == Severity::Info && !self.is_empty()
    }
}
