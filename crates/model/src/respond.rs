//! How fast a pin answers a pin: what is asked, and what comes of it.

use crate::Nanos;
use crate::gpio::GpioWire;
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where responses come from, and how they are found.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Respond {
    /// The captures, by their names; several are the channels of one.
    pub files: Vec<String>,
    /// What was simulated, where nobody held a probe: `uno:irq`.
    pub simulated: Option<String>,
    /// The oscilloscope that measured each response; none where a capture is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The wire on the measured board; none where other means measure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpio: Option<GpioWire>,
    /// The command that captured the wires, where latlab started one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captured_by: Option<String>,
    /// The wires and what an edge on them is; none of a list of readings.
    pub wires: Option<Wires>,
    /// A stimulus comes after so long without one, so that a burst is one.
    pub quiet_ns: Option<Nanos>,
    /// How long a response may take; none up to the next stimulus.
    pub window_ns: Option<Nanos>,
    /// What answers in a guest of the laboratory; none where captures are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linux: Option<LinuxResponder>,
    /// Whether an agent is on the machine that answers while an instrument measures.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_machine: bool,
}

impl Respond {
    /// Whether an agent measured, on a machine that is known; otherwise something else did.
    pub fn is_measured(&self) -> bool {
        self.linux.is_some() || self.gpio.is_some()
    }

    /// Whether an agent was on the machine that answered, so that its conditions are known.
    pub fn has_agent(&self) -> bool {
        self.is_measured() || self.with_machine
    }
}

text_enum! {
    /// A responder on Linux, by its name.
    LinuxResponderName {
        /// A kernel module: in the interrupt.
        Kmod = "kmod",
        /// A kernel module as drivers are written, which PREEMPT_RT moves to a thread.
        KmodPlain = "kmod-plain",
        /// A kernel module: in the thread of its interrupt.
        KmodThreaded = "kmod-threaded",
        /// A program in C with the files of the GPIO sysfs.
        Sysfs = "c-sysfs",
        /// A program in C that sleeps at the character device.
        Gpiochip = "c-gpiochip",
        /// A program in C that asks the character device again and again.
        Polling = "c-poll",
        /// A program in Python with gpiod 2.x.
        Python = "python",
        /// A program in Python with gpiod 1.6.
        PythonGpiod1 = "python-gpiod1",
        /// A program in Rust with locked memory.
        Rust = "rust",
    }
}

impl LinuxResponderName {
    /// Whether it is a program; otherwise the kernel answers.
    pub fn is_program(self) -> bool {
        use LinuxResponderName::{Kmod, KmodPlain, KmodThreaded};
        !matches!(self, Kmod | KmodPlain | KmodThreaded)
    }
}

/// A responder in a guest, and the edges that it is to answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinuxResponder {
    /// Which one.
    pub name: LinuxResponderName,
    /// Its command in the guest; empty where the kernel answers.
    pub argv: Vec<String>,
    /// Number of stimuli.
    pub edges: u32,
    /// The least distance of two stimuli.
    pub from_ns: Nanos,
    /// The largest.
    pub to_ns: Nanos,
    /// Whether it answers on lines of the board's own GPIO controller, and not on the pin pair.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub board_pins: bool,
}

impl LinuxResponder {
    /// More edges than a guest keeps.
    pub const MOST_EDGES: u32 = 100_000;

    /// Whether it makes sense; an error is one line for the user.
    pub fn check(&self) -> Result<(), String> {
        match self.edges {
            1..=Self::MOST_EDGES => Ok(()),
            edges => Err(format!("--edges {edges}: expected 1 to {}", Self::MOST_EDGES)),
        }
    }

    /// How long its edges take at most.
    pub fn longest(&self) -> Nanos {
        self.to_ns * i64::from(self.edges) + self.to_ns + self.to_ns
    }
}

/// How an oscilloscope is asked for the delay of each response.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scope {
    /// Where it is, in the words of VISA.
    pub resource: String,
    /// Where the generator is that makes each stimulus; none where something else makes them.
    pub generator: Option<String>,
    /// Readings that are wanted.
    pub count: u64,
    /// How long a reading may take.
    pub timeout_ns: Nanos,
    /// What it is told.
    pub commands: ScopeCommands,
}

/// What an oscilloscope is told, in SCPI.
///
/// `{stimulus}` and `{response}` stand for the numbers of the channels, `{edge}` and
/// `{response-edge}` for its words for the edges.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ScopeCommands {
    /// How the answer to `*IDN?` begins, without regard to case; none fits every instrument.
    #[serde(default)]
    pub identities: Vec<String>,
    /// Its word for a rising edge.
    #[serde(default)]
    pub rising: String,
    /// Its word for a falling edge.
    #[serde(default)]
    pub falling: String,
    /// What it is told once at the start.
    #[serde(default)]
    pub setup: Vec<String>,
    /// Makes it wait for one trigger.
    pub arm: String,
    /// So long after that it may still tell the state before.
    #[serde(default)]
    pub settle_ms: u64,
    /// Asks whether it has triggered and has what it needs.
    pub state: String,
    /// Only these bits of that answer count; none where it is a word.
    #[serde(default)]
    pub state_mask: Option<u64>,
    /// The answers that say so; a word may go on behind them.
    pub done: Vec<String>,
    /// Asks for the delay.
    pub read: String,
    /// Makes it wait no longer.
    pub halt: String,
}

/// The wires of a capture, and what an edge on them is.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wires {
    /// The channel with the stimuli.
    pub stimulus: String,
    /// The channel with the responses.
    pub response: String,
    /// Channel that is high while a possible disturbance lasts.
    pub marker: Option<String>,
    /// Where an edge is: a share of the way from low to high, or a level.
    pub threshold: String,
    /// The same of the response, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_threshold: Option<String>,
    /// Hysteresis around the threshold, as a share or a voltage.
    pub hysteresis: String,
    /// Which edges are stimuli.
    pub edge: String,
    /// Which edges are responses.
    pub response_edge: String,
}

/// What became of stimuli and responses.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Responses {
    /// The format of the capture, in words.
    pub format: String,
    /// Stimuli whose fate is known; those that were answered in time are the cycles of the run.
    pub stimuli: u64,
    /// Stimuli without a response before the next one.
    pub missing: u64,
    /// Stimuli whose response came after the window.
    pub late: u64,
    /// Stimuli whose response the instrument could not measure.
    pub censored: u64,
    /// Readings for which the instrument did not trigger, or did not answer, in time.
    pub timed_out: u64,
    /// Stimuli whose stored response cannot be.
    pub impossible: u64,
    /// Further responses within the window of a stimulus that had been answered.
    pub double: u64,
    /// Responses that belong to no stimulus.
    pub spurious: u64,
    /// A first response before any stimulus, which may answer one before the capture.
    pub before_first: u64,
    /// Stimuli at the end whose answer the capture does not show any more.
    pub cut_off: u64,
    /// No time of the capture is known better than this.
    pub resolution_ns: Option<f64>,
    /// Whether the times of the stimuli are known; of a list of readings they are not, and each
    /// stands for a second.
    pub is_timed: bool,
    /// The figures, more exact than the bins of the histogram.
    pub figures: ResponseFigures,
    /// What went on in step with the slow ones.
    pub marked: Option<MarkerFigures>,
    /// How low was parted from high on the channels whose values are measured levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<ChannelLevels>,
    /// What an answer took of a CPU, where the kernel that answers told it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<ResponseCpu>,
}

/// CPU time for each stimulus, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResponseCpu {
    /// Of the interrupt, with what it wakes.
    pub interrupt_ns: Option<f64>,
    /// Of the threads: that of the handler, and that which answers.
    pub threads_ns: Option<f64>,
}

impl ResponseCpu {
    /// Both together.
    pub fn total_ns(&self) -> f64 {
        self.interrupt_ns.unwrap_or(0.0) + self.threads_ns.unwrap_or(0.0)
    }
}

/// How low was parted from high on a channel.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChannelLevels {
    /// The channel.
    pub channel: String,
    /// The usual low level.
    pub low: f64,
    /// The usual high level.
    pub high: f64,
    /// The level at which an edge is; none where the channel shows noise only.
    pub threshold: Option<f64>,
    /// How far an edge goes beyond the threshold, both ways together.
    pub hysteresis: Option<f64>,
    /// Deviation of the noise around the noisier of both levels.
    pub noise: f64,
}

impl Responses {
    /// Stimuli that may have been answered at any time, for all that is known.
    pub fn unmeasured(&self) -> u64 {
        self.censored + self.timed_out + self.impossible
    }
}

/// The figures of all responses that were measured, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResponseFigures {
    /// The smallest.
    pub min_ns: Option<f64>,
    /// Median: of an even count the middle of the two in the middle.
    pub median_ns: Option<f64>,
    /// Mean.
    pub mean_ns: Option<f64>,
    /// Standard deviation.
    pub deviation_ns: Option<f64>,
    /// 95 %, nearest rank; none below 20 responses.
    pub p95_ns: Option<f64>,
    /// 99 %, nearest rank; none below 100 responses.
    pub p99_ns: Option<f64>,
    /// 99.9 %, nearest rank; none below 1000 responses.
    pub p99_9_ns: Option<f64>,
    /// Observed maximum.
    pub max_ns: Option<f64>,
}

impl ResponseFigures {
    /// With the median and the quantiles of these values in rising order, of which so many are a nanosecond.
    pub fn with_quantiles(self, rising: &[i64], per_ns: f64) -> ResponseFigures {
        let count = rising.len();
        let at = |index: usize| rising.get(index).map(|&value| value as f64);
        let quantile = |share: f64, needed: usize| {
            let rank = (share * count as f64).ceil() as usize;
            let value = (count >= needed).then(|| at(rank.clamp(1, count) - 1)).flatten();
            value.map(|value| value / per_ns)
        };
        let middle = at(count / 2).zip(at(count.wrapping_sub(1) / 2));
        ResponseFigures {
            median_ns: middle.map(|(one, other)| (one + other) / 2.0 / per_ns),
            p95_ns: quantile(0.95, 20),
            p99_ns: quantile(0.99, 100),
            p99_9_ns: quantile(0.999, 1_000),
            ..self
        }
    }
}

/// Responses during which a marker was high, against all others.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MarkerFigures {
    /// The channel of the marker.
    pub by: String,
    /// How many responses met it.
    pub count: u64,
    /// Of these, how many took longer than each of the others.
    pub slower: u64,
    /// The longest that met it.
    pub max_ns: Option<f64>,
    /// The longest of the others.
    pub others_max_ns: Option<f64>,
    /// Period of its rises.
    pub period_ns: Option<f64>,
    /// Its first rise, from the start of the capture.
    pub first_ns: Option<f64>,
}
