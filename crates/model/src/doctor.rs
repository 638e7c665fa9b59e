//! The doctor's diagnoses.

use crate::Nanos;
use crate::finding::Severity;
use crate::machine::Machine;
use crate::shell::Line;
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

text_enum! {
    /// The part of a machine a diagnosis is about.
    Topic {
        /// Preemption model and scheduler.
        Kernel = "kernel",
        /// Tick, clock source and timers.
        Timers = "timers",
        /// Frequency, idle states, siblings, isolation.
        Cpu = "cpu",
        /// Interrupts, their threads and affinity.
        Interrupts = "interrupts",
        /// Pages, swap, huge pages, NUMA.
        Memory = "memory",
        /// Heat, throttling and supply.
        Heat = "heat",
        /// Hypervisor, container, firmware, board.
        Platform = "platform",
        /// Permissions of this user.
        Rights = "rights",
        /// What can be traced, and what is being traced.
        Tracing = "tracing",
        /// Programs that interfere.
        Programs = "programs",
    }
}

text_enum! {
    /// What a run must show before a condition of its machine is suspected.
    Sign {
        /// Real-time threads were throttled.
        Throttling = "throttling",
        /// The measured threads never sleep.
        NeverSleeps = "never-sleeps",
        /// The measured threads sleep and are woken.
        Sleeps = "sleeps",
        /// The host took CPU time.
        StolenTime = "stolen-time",
    }
}

/// How a condition of a machine affects latencies, and what it protects against.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Effect {
    /// Smallest and largest addition to a latency; `None` if it adds nothing by itself.
    pub acts: Option<(Nanos, Nanos)>,
    /// What the run must show as well.
    pub sign: Option<Sign>,
    /// What happens without it, if it protects the machine.
    pub protects: Option<Cow<'static, str>>,
}

impl Effect {
    /// No effect on latencies.
    pub const NONE: Effect = Effect { acts: None, sign: None, protects: None };

    /// Restricts the effect to runs that show this sign.
    pub const fn if_seen(mut self, sign: Sign) -> Effect {
        self.sign = Some(sign);
        self
    }

    /// Adds what happens without it.
    pub const fn protecting(mut self, what: &'static str) -> Effect {
        // The replaced value is always `None`; forgetting it avoids a drop in a const fn.
        std::mem::forget(self.protects.replace(Cow::Borrowed(what)));
        self
    }
}

/// A property of a machine that costs latency, hides it, or is good to know. The remedy is always
/// this program's text and is never read from a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diagnosis {
    /// Stable name for scripts: `rt-throttling`, `governor`.
    pub code: String,
    /// Severity.
    pub severity: Severity,
    /// Topic.
    pub topic: Topic,
    /// Effect on latencies.
    pub effect: Effect,
    /// The observation, in one sentence.
    pub text: String,
    /// The file it was seen in, from the root.
    pub file: String,
    /// Content of that file.
    pub value: String,
    /// Why it matters, in one sentence.
    pub why: String,
    /// What it typically costs.
    pub cost: String,
    /// Command that fixes it, or what to do if no command does.
    #[serde(skip_deserializing)]
    pub remedy: Option<Line>,
    /// How to undo the remedy.
    #[serde(skip_deserializing)]
    pub undo: Option<Line>,
}

/// Result of `latlab doctor --format json`.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Examination {
    /// The examined machine.
    pub machine: Machine,
    /// Diagnoses, most severe first.
    pub findings: Vec<Diagnosis>,
    /// Files that exist but could not be read, with the reason; a check that needs one has not
    /// passed.
    pub unreadable: BTreeMap<String, String>,
}

/// One entry of the doctor's catalogue: `latlab doctor --list --format json`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckEntry {
    /// Stable name for scripts.
    pub code: String,
    /// Usual severity; an observation may change it.
    pub severity: Severity,
    /// Topic.
    pub topic: Topic,
    /// Effect on latencies.
    pub effect: Effect,
    /// Short title.
    pub title: String,
    /// Why it matters, in one sentence.
    pub why: String,
    /// What it typically costs.
    pub cost: String,
    /// Command that fixes it, or what to do if no command does; `{file}` and `{value}` stand for
    /// the observation.
    #[serde(skip_deserializing)]
    pub remedy: Option<Line>,
    /// How to undo the remedy.
    #[serde(skip_deserializing)]
    pub undo: Option<Line>,
}
