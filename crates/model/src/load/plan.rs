//! Loads as they are to run.

use crate::nanos::SECOND;
use crate::text_enum::text_enum;
use crate::{CpuSet, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A load as it is to run: everything that its definition leaves open is decided.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Load {
    /// What asked for it: `hackbench,groups=4`.
    pub words: String,
    /// Name of its definition.
    pub name: String,
    /// What it loads, in one line.
    pub about: String,
    /// The folder of the user's own definition; none for those found without being told where.
    pub definitions: Option<String>,
    /// Its processes in the order of their start; the last one is the load, those before serve it.
    pub processes: Vec<LoadProcess>,
    /// Variables that its processes see besides those of the agent.
    pub environment: BTreeMap<String, String>,
    /// How its version is asked for.
    pub version: Option<VersionRule>,
    /// How its own figures are read from its output.
    pub rates: Vec<RateRule>,
    /// The counter of the kernel that shows it as well.
    pub evidence: Option<Evidence>,
    /// With less than this it did not run.
    pub least: MinimumRate,
    /// Whether it is started again when it ends, as programs of a fixed length need.
    pub restart: bool,
    /// How it is asked to end.
    pub end: EndRule,
    /// What of the machine it takes, as far as its definition knows.
    pub needs: Requirements,
    /// The package that holds it, by the name of the system.
    pub packages: BTreeMap<String, String>,
}

impl Load {
    /// A load without processes, rates, limits or requirements, which SIGTERM ends within a second.
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
    /// What its output says when the next process may start; none where it need not wait.
    pub ready: Option<String>,
}

/// How the version of a program is asked for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VersionRule {
    /// Arguments of the program.
    pub args: Vec<String>,
    /// A regular expression whose group `version` is the version.
    pub pattern: String,
}

/// How a figure is read from the output of a load.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateRule {
    /// What the figure is: `time of a pass`.
    pub name: String,
    /// A text that every line with the figure holds, so that only such lines are kept.
    pub line: String,
    /// A regular expression with a group `value`; a group `of` tells figures of one name apart,
    /// and a group `scale` is k, M, G or T, where the program takes thousands together.
    pub pattern: String,
    /// Its unit.
    pub unit: String,
    /// Whether it is also a figure of the whole where it is printed because the load was asked to
    /// end, and not that of a pass that was cut off.
    pub at_end: bool,
}

text_enum! {
    /// Counters of the machine that a load moves.
    Evidence {
        /// Switches from one thread to another.
        ContextSwitches = "context-switches",
        /// Bytes read from and written to disks.
        DiskBytes = "disk-bytes",
        /// Bytes over the loop-back network.
        LoopbackBytes = "loopback-bytes",
        /// Softirqs.
        Softirqs = "softirqs",
        /// Device interrupts.
        Interrupts = "interrupts",
    }
}

impl Evidence {
    /// The unit of the counter.
    pub fn unit(self) -> &'static str {
        match self {
            Evidence::DiskBytes | Evidence::LoopbackBytes => "B",
            _ => "1",
        }
    }
}

/// With less than this a load did not run.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MinimumRate {
    /// Share of one CPU that its processes take.
    pub cpu_share: f64,
    /// What its counter of the kernel grows by each second.
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

/// How a load is asked to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndRule {
    /// By this signal.
    pub signal: EndSignal,
    /// What is left after this time is killed.
    pub grace_ns: Nanos,
}

/// What of the machine a load takes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Requirements {
    /// Memory.
    pub memory_bytes: u64,
    /// Room on the disk.
    pub disk_bytes: u64,
    /// Processes and threads.
    pub processes: u64,
}

/// Which CPUs a load may run on.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LoadCpus {
    /// All that may be used.
    #[default]
    Everywhere,
    /// Those that are measured.
    Measured,
    /// Those that are not.
    Others,
    /// These.
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
