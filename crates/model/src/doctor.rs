//! What the doctor says of a machine.

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
    /// The part of a machine that a diagnosis is about.
    Topic {
        /// Preemption model and scheduler.
        Kernel = "kernel",
        /// Tick, clock source and timers.
        Timers = "timers",
        /// Frequency, idle states, siblings, isolation.
        Cpu = "cpu",
        /// Interrupts, their threads and their affinity.
        Interrupts = "interrupts",
        /// Pages, swap, huge pages, NUMA.
        Memory = "memory",
        /// Heat, throttling and supply.
        Heat = "heat",
        /// Hypervisor, container, firmware, board.
        Platform = "platform",
        /// What this user may do.
        Rights = "rights",
        /// What can be traced, and what is traced now.
        Tracing = "tracing",
        /// Programs that get in the way.
        Programs = "programs",
    }
}

text_enum! {
    /// What must be seen in a run before a condition of its machine is suspected.
    Sign {
        /// Real-time threads were throttled.
        Throttling = "throttling",
        /// The measured threads never sleep.
        NeverSleeps = "never-sleeps",
        /// The measured threads sleep and are woken.
        Sleeps = "sleeps",
        /// The host took CPU time away.
        StolenTime = "stolen-time",
    }
}

/// What a condition of a machine can do to a latency, and what it is good for.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Effect {
    /// The least and the most that it adds to a latency; `None` if it adds nothing by itself.
    pub acts: Option<(Nanos, Nanos)>,
    /// What must be seen in the run as well.
    pub sign: Option<Sign>,
    /// What happens without it, where it protects the machine.
    pub protects: Option<Cow<'static, str>>,
}

impl Effect {
    /// It makes no latency.
    pub const NONE: Effect = Effect { acts: None, sign: None, protects: None };

    /// It makes one only where this is seen.
    pub const fn if_seen(mut self, sign: Sign) -> Effect {
        self.sign = Some(sign);
        self
    }

    /// Without it this happens.
    pub const fn protecting(mut self, what: &'static str) -> Effect {
        // The sentence before is none, which needs no drop.
        std::mem::forget(self.protects.replace(Cow::Borrowed(what)));
        self
    }
}

/// One thing about a machine that costs latency, hides it, or is good to know. What to do about it is
/// this program's word, and is never read from a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diagnosis {
    /// Stable name for scripts: `rt-throttling`, `governor`.
    pub code: String,
    /// How much it weighs.
    pub severity: Severity,
    /// What it is about.
    pub topic: Topic,
    /// What it can do to latencies.
    pub effect: Effect,
    /// What was seen, in one sentence.
    pub text: String,
    /// The file it was seen in, from the root.
    pub file: String,
    /// What stood there.
    pub value: String,
    /// Why it matters, in one sentence.
    pub why: String,
    /// What it typically costs.
    pub cost: String,
    /// The command that mends it, or what to do where no command does.
    #[serde(skip_deserializing)]
    pub remedy: Option<Line>,
    /// How to undo the remedy.
    #[serde(skip_deserializing)]
    pub undo: Option<Line>,
}

/// What the doctor says of a machine: `latlab doctor --format json`.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Examination {
    /// The machine.
    pub machine: Machine,
    /// What was found, heaviest first.
    pub findings: Vec<Diagnosis>,
    /// Files that are there and could not be read, with the reason: a check that could not look
    /// has not passed.
    pub unreadable: BTreeMap<String, String>,
}

/// One entry of the doctor's catalogue: `latlab doctor --list --format json`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckEntry {
    /// Stable name for scripts.
    pub code: String,
    /// How much it weighs, unless what is seen says otherwise.
    pub severity: Severity,
    /// What it is about.
    pub topic: Topic,
    /// What it can do to latencies.
    pub effect: Effect,
    /// What it is, in a few words.
    pub title: String,
    /// Why it matters, in one sentence.
    pub why: String,
    /// What it typically costs.
    pub cost: String,
    /// The command that mends it, or what to do where no command does; `{file}` and `{value}`
    /// stand for what was seen.
    #[serde(skip_deserializing)]
    pub remedy: Option<Line>,
    /// How to undo the remedy.
    #[serde(skip_deserializing)]
    pub undo: Option<Line>,
}
