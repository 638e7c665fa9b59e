//! Loads as planned.

use crate::nanos::SECOND;
use crate::text_enum::text_enum;
use crate::{CpuSet, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A planned load, with everything its definition leaves open decided.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Load {
    /// The load as requested: `hackbench,groups=4`.
    pub words: String,
    /// Name of its definition.
    pub name: String,
    /// What it loads, in one line.
    pub about: String,
    /// Folder of the user's own definition; `None` if the definition was found in a default place.
    pub definitions: Option<String>,
    /// Processes in start order; the last one is the load, the ones before serve it.
    pub processes: Vec<LoadProcess>,
    /// Environment variables of its processes in addition to the agent's.
    pub environment: BTreeMap<String, String>,
    /// How to get its version; `None` if it reports none.
    pub version: Option<VersionRule>,
    /// How to read its own figures from its output.
    pub rates: Vec<RateRule>,
    /// The kernel counter that also shows its activity.
    pub evidence: Option<Evidence>,
    /// Minimum activity; below this the load counts as not running.
    pub least: MinimumRate,
    /// Whether it is restarted when it ends, as programs of fixed length need.
    pub restart: bool,
    /// How to end it.
    pub end: EndRule,
    /// Machine resources it needs, as far as its definition states them.
    pub needs: Requirements,
    /// Package that provides it, by distribution.
    pub packages: BTreeMap<String, String>,
}

impl Load {
    /// A load without processes, rates, limits or requirements, ended by SIGTERM within a second.
    pub fn new(words: &str, name: &str, about: &str) -> Load {
        Load {
            words: words.to_string(),
            name: name.to_string(),
            about: about.to_string(),
            definitions: None,
            processes: Vec::new(),
            environment: BTreeMap::new(),
            version: None,
            rates: Vec::new(),
            evidence: None,
            least: MinimumRate::default(),
            restart: false,
            end: EndRule { signal: EndSignal::Term, grace_ns: SECOND },
            needs: Requirements::default(),
            packages: BTreeMap::new(),
        }
    }
}

/// A process of a load.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadProcess {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Output after which the next process may start; `None` if it need not wait.
    pub ready: Option<String>,
}

/// How to get a program's version.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VersionRule {
    /// Arguments that make the program print its version.
    pub args: Vec<String>,
    /// Regular expression whose group `version` is the version.
    pub pattern: String,
}

/// How to read a figure from the output of a load.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateRule {
    /// Name of the figure: `time of a pass`.
    pub name: String,
    /// Text contained in every line with the figure; only such lines are kept.
    pub line: String,
    /// Regular expression with a group `value`. A group `of` distinguishes figures of one name; a
    /// group `scale` is k, M, G or T, if the program prints multiples.
    pub pattern: String,
    /// Unit of the figure.
    pub unit: String,
    /// Whether a figure printed because the load was asked to end is complete, and not that of an
    /// interrupted pass.
    pub at_end: bool,
}

text_enum! {
    /// Machine-wide counters that a load moves.
    Evidence {
        /// Context switches.
        ContextSwitches = "context-switches",
        /// Bytes read from and written to disks.
        DiskBytes = "disk-bytes",
        /// Bytes over the loopback network.
        LoopbackBytes = "loopback-bytes",
        /// Softirqs.
        Softirqs = "softirqs",
        /// Device interrupts.
        Interrupts = "interrupts",
    }
}

impl Evidence {
    /// Unit of the counter.
    pub fn unit(self) -> &'static str {
        match self {
            Evidence::DiskBytes | Evidence::LoopbackBytes => "B",
            _ => "1",
        }
    }
}

/// Minimum activity; below this a load counts as not running.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MinimumRate {
    /// Share of one CPU its processes take.
    pub cpu_share: f64,
    /// Growth of its kernel counter per second.
    pub evidence_per_second: f64,
}

text_enum! {
    /// The signal that asks a load to end.
    EndSignal {
        /// SIGTERM.
        Term = "term",
        /// SIGINT.
        Int = "int",
    }
}

/// How to end a load.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndRule {
    /// Signal sent to its processes.
    pub signal: EndSignal,
    /// Processes that remain after this time are killed.
    pub grace_ns: Nanos,
}

/// Machine resources a load needs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Requirements {
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// Disk space, in bytes.
    pub disk_bytes: u64,
    /// Number of processes and threads.
    pub processes: u64,
}

/// Which CPUs a load may run on.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LoadCpus {
    /// All usable CPUs.
    #[default]
    Everywhere,
    /// The measured CPUs.
    Measured,
    /// The CPUs that are not measured.
    Others,
    /// These CPUs.
    Cpus(CpuSet),
}

impl std::str::FromStr for LoadCpus {
    type Err = String;

    fn from_str(text: &str) -> Result<LoadCpus, String> {
        match text {
            "everywhere" => Ok(LoadCpus::Everywhere),
            "measured" => Ok(LoadCpus::Measured),
            "others" => Ok(LoadCpus::Others),
            list => list.parse().map(LoadCpus::Cpus).map_err(|_| {
                "expected everywhere, measured, others or a list of CPUs (0,2-3)".to_string()
            }),
        }
    }
}

impl fmt::Display for LoadCpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadCpus::Everywhere => f.pad("everywhere"),
            LoadCpus::Measured => f.pad("measured"),
            LoadCpus::Others => f.pad("others"),
            LoadCpus::Cpus(cpus) => f.pad(&cpus.to_string()),
        }
    }
}
