//! Loads: real programs that run beside a measurement, and the evidence that they did.

use crate::words::words;
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
    pub least: Least,
    /// Whether it is started again when it ends, as programs of a fixed length need.
    pub restart: bool,
    /// How it is asked to end.
    pub end: EndRule,
    /// What of the machine it takes, as far as its definition knows.
    pub needs: Needs,
    /// The package that holds it, by the name of the system.
    pub packages: BTreeMap<String, String>,
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
    #[serde(default)]
    pub at_end: bool,
}

words! {
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
pub struct Least {
    /// Share of one CPU that its processes take.
    pub cpu_share: f64,
    /// What its counter of the kernel grows by each second.
    pub evidence_per_second: f64,
}

words! {
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
pub struct Needs {
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
pub enum LoadOn {
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

impl std::str::FromStr for LoadOn {
    type Err = String;

    fn from_str(text: &str) -> Result<LoadOn, String> {
        match text {
            "everywhere" => Ok(LoadOn::Everywhere),
            "measured" => Ok(LoadOn::Measured),
            "others" => Ok(LoadOn::Others),
            list => list.parse().map(LoadOn::Cpus).map_err(|_| {
                "expected everywhere, measured, others or a list of CPUs (0,2-3)".to_string()
            }),
        }
    }
}

impl fmt::Display for LoadOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadOn::Everywhere => f.pad("everywhere"),
            LoadOn::Measured => f.pad("measured"),
            LoadOn::Others => f.pad("others"),
            LoadOn::Cpus(cpus) => f.pad(&cpus.to_string()),
        }
    }
}

/// In the stream: a load runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LoadBegin {
    /// Its place in the plan.
    pub load: u32,
    /// Where its program lies.
    pub program: String,
    /// What the program says when it is asked for its version.
    pub version: String,
    /// CPUs it may run on, as read back.
    pub placement: String,
    /// When its first process was started, on CLOCK_MONOTONIC.
    pub started_ns: Nanos,
    /// When it took the CPU that it should; none where it did not in time.
    pub shown_ns: Option<Nanos>,
}

/// In the stream: what a load has taken so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LoadSample {
    /// Its place in the plan.
    pub load: u32,
    /// When this was read, on CLOCK_MONOTONIC.
    pub at_ns: Nanos,
    /// Its processes.
    pub processes: u32,
    /// CPU time of all processes it has had.
    pub cpu_ns: Nanos,
    /// Its counter of the kernel, of the whole machine.
    pub evidence: Option<u64>,
}

/// In the stream: a line of its output that holds a figure.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LoadLine {
    /// Its place in the plan.
    pub load: u32,
    /// When it was read, on CLOCK_MONOTONIC.
    pub at_ns: Nanos,
    /// Whether the load had been asked to end before.
    #[serde(default)]
    pub after_end: bool,
    /// The line.
    pub text: String,
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExitStatus {
    /// Its exit code.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (_, Some(signal)) => write!(f, "signal {signal}"),
            (Some(code), None) => write!(f, "exit code {code}"),
            (None, None) => f.pad("no exit code"),
        }
    }
}

/// In the stream: a load has ended, and nothing of it is left.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LoadEnd {
    /// Its place in the plan.
    pub load: u32,
    /// When it stopped to load: when it was asked to end, or had ended by itself before.
    pub ended_ns: Nanos,
    /// Whether it had ended before it was asked to.
    pub by_itself: bool,
    /// How its last process ended.
    pub status: ExitStatus,
    /// Times it was started again.
    pub restarts: u64,
    /// Time in which it was not there between two of them.
    pub gap_ns: Nanos,
    /// Processes that had to be killed.
    pub killed: u32,
    /// Processes that are still there, which nothing of ours could end.
    pub left: u32,
    /// CPUs that its processes were allowed while it ran; empty where nobody looked.
    #[serde(default)]
    pub placement: String,
    /// Bytes that it printed.
    pub output_bytes: u64,
    /// Lines with figures that were not kept, because there were too many.
    pub lines_dropped: u64,
    /// The last lines that it printed.
    pub last_lines: Vec<String>,
}

/// A load of a finished run, with the evidence that it ran.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadRun {
    /// Name of its definition.
    pub name: String,
    /// What asked for it.
    pub words: String,
    /// Where its program lies; none where it was never started.
    pub program: Option<String>,
    /// Version of the program, where it tells.
    pub version: Option<String>,
    /// Program and arguments of its processes.
    pub argv: Vec<Vec<String>>,
    /// CPUs it may run on, as read back.
    pub placement: String,
    /// When its first process was started, on CLOCK_MONOTONIC.
    pub started_ns: Option<Nanos>,
    /// When it took the CPU that it should.
    pub shown_ns: Option<Nanos>,
    /// When it stopped to load.
    pub ended_ns: Option<Nanos>,
    /// Times it was started again.
    pub restarts: u64,
    /// Time in which it was not there between two of them.
    pub gap_ns: Nanos,
    /// Share of one CPU that its processes took while it was measured; none of a short run.
    pub cpu_share: Option<Spread>,
    /// Its counter of the kernel, each second, of the whole machine.
    pub evidence: Option<EvidenceRun>,
    /// Its own figures, as it printed them.
    pub rates: Vec<LoadRate>,
    /// How its last process ended; none where nobody saw it.
    pub status: Option<ExitStatus>,
    /// Processes that had to be killed at the end.
    pub killed: u32,
    /// Bytes that it printed.
    pub output_bytes: u64,
    /// Lines with figures that were not kept.
    pub lines_dropped: u64,
    /// The last lines that it printed.
    pub last_lines: Vec<String>,
}

/// Smallest, mean and largest of a figure.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// Smallest, between two readings.
    pub min: f64,
    /// Mean over the time that was measured.
    pub mean: f64,
    /// Largest, between two readings.
    pub max: f64,
}

/// What a counter of the kernel says.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EvidenceRun {
    /// Which counter.
    pub counter: Evidence,
    /// Its unit: `1/s`, `B/s`.
    pub unit: String,
    /// Its growth each second.
    pub per_second: Spread,
}

/// A figure that a load printed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadRate {
    /// What it is.
    pub name: String,
    /// Of what, where there are several of one name.
    pub of: Option<String>,
    /// Its unit.
    pub unit: String,
    /// How often it was printed.
    pub count: u64,
    /// Smallest.
    pub min: f64,
    /// Mean of those that were printed.
    pub mean: f64,
    /// Largest.
    pub max: f64,
    /// The one that was printed last.
    pub last: f64,
}

/// Names of the metrics of a load in `telemetry.parquet`.
pub mod metric {
    /// CPU time of the processes of a load, ns.
    pub const LOAD_CPU: &str = "load_cpu_time";
    /// Processes of a load.
    pub const LOAD_PROCESSES: &str = "load_processes";
    /// The counter of the kernel that shows a load.
    pub const LOAD_EVIDENCE: &str = "load_evidence";
    /// A figure that a load printed, in thousandths.
    pub const LOAD_RATE: &str = "load_rate";
}
