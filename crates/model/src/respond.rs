//! How fast a pin responds to another: what is requested, and the results.

use crate::Nanos;
use crate::gpio::GpioWire;
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Source of the responses, and how they are detected.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Respond {
    /// Names of the captures; several files are channels of one capture.
    pub files: Vec<String>,
    /// What was simulated, if there was no real hardware: `uno:irq`.
    pub simulated: Option<String>,
    /// The oscilloscope that measured each response; `None` for a capture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The wire on the measured board; `None` for other methods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpio: Option<GpioWire>,
    /// The capture command, if latlab started one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captured_by: Option<String>,
    /// The wires and the edges on them; `None` for a list of readings.
    pub wires: Option<Wires>,
    /// Time without a stimulus before a new one counts, so that a burst is one stimulus.
    pub quiet_ns: Option<Nanos>,
    /// Longest time of a response; `None` for up to the next stimulus.
    pub window_ns: Option<Nanos>,
    /// The responder in a guest of the laboratory; `None` for captures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linux: Option<LinuxResponder>,
    /// Whether an agent runs on the responding machine while an instrument measures.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_machine: bool,
}

impl Respond {
    /// Whether an agent measured on a known machine, rather than other equipment.
    pub fn is_measured(&self) -> bool {
        self.linux.is_some() || self.gpio.is_some()
    }

    /// Whether an agent ran on the responding machine, so that its conditions are known.
    pub fn has_agent(&self) -> bool {
        self.is_measured() || self.with_machine
    }
}

text_enum! {
    /// Name of a responder on Linux.
    LinuxResponderName {
        /// A kernel module that responds in the interrupt.
        Kmod = "kmod",
        /// A kernel module written like an ordinary driver, which PREEMPT_RT moves to a thread.
        KmodPlain = "kmod-plain",
        /// A kernel module that responds in its interrupt thread.
        KmodThreaded = "kmod-threaded",
        /// A C program using GPIO sysfs files.
        Sysfs = "c-sysfs",
        /// A C program that sleeps on the character device.
        Gpiochip = "c-gpiochip",
        /// A C program that polls the character device.
        Polling = "c-poll",
        /// A Python program with gpiod 2.x.
        Python = "python",
        /// A Python program with gpiod 1.6.
        PythonGpiod1 = "python-gpiod1",
        /// A Rust program with locked memory.
        Rust = "rust",
    }
}

impl LinuxResponderName {
    /// Whether it is a program; otherwise the kernel responds.
    pub fn is_program(self) -> bool {
        use LinuxResponderName::{Kmod, KmodPlain, KmodThreaded};
        !matches!(self, Kmod | KmodPlain | KmodThreaded)
    }
}

/// A responder in a guest, and the edges it must answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinuxResponder {
    /// Name of the responder.
    pub name: LinuxResponderName,
    /// Its command in the guest; empty if the kernel responds.
    pub argv: Vec<String>,
    /// Number of stimuli.
    pub edges: u32,
    /// Shortest time between two stimuli.
    pub from_ns: Nanos,
    /// Longest time between two stimuli.
    pub to_ns: Nanos,
    /// Whether it uses lines of the board's own GPIO controller instead of the pin pair.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub board_pins: bool,
}

impl LinuxResponder {
    /// Largest number of edges a guest can keep.
    pub const MOST_EDGES: u32 = 100_000;

    /// Checks the parameters by themselves; an error is one line for the user.
    pub fn check(&self) -> Result<(), String> {
        match self.edges {
            1..=Self::MOST_EDGES => Ok(()),
            edges => Err(format!("--edges {edges}: expected 1 to {}", Self::MOST_EDGES)),
        }
    }

    /// Longest total time of its edges.
    pub fn longest(&self) -> Nanos {
        self.to_ns * i64::from(self.edges) + self.to_ns + self.to_ns
    }
}

/// How an oscilloscope is asked for the delay of each response.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scope {
    /// VISA resource name.
    pub resource: String,
    /// VISA resource of the generator that makes each stimulus; `None` if another source makes
    /// them.
    pub generator: Option<String>,
    /// Number of readings wanted.
    pub count: u64,
    /// Timeout of a reading.
    pub timeout_ns: Nanos,
    /// Commands sent to it.
    pub commands: ScopeCommands,
}

/// SCPI commands for an oscilloscope.
///
/// `{stimulus}` and `{response}` stand for the channel numbers, `{edge}` and `{response-edge}` for
/// its words for the edges.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ScopeCommands {
    /// Prefixes of the answer to `*IDN?`, ignoring case; an empty list matches every instrument.
    #[serde(default)]
    pub identities: Vec<String>,
    /// Its word for a rising edge.
    #[serde(default)]
    pub rising: String,
    /// Its word for a falling edge.
    #[serde(default)]
    pub falling: String,
    /// Commands sent once at the start.
    #[serde(default)]
    pub setup: Vec<String>,
    /// Arms a single trigger.
    pub arm: String,
    /// Time after arming during which it may still report the old state, in milliseconds.
    #[serde(default)]
    pub settle_ms: u64,
    /// Asks whether it has triggered and completed.
    pub state: String,
    /// Mask for that answer; `None` if the answer is a word.
    #[serde(default)]
    pub state_mask: Option<u64>,
    /// Answers that mean complete; a word may have a suffix.
    pub done: Vec<String>,
    /// Asks for the delay.
    pub read: String,
    /// Stops waiting for the trigger.
    pub halt: String,
}

/// The wires of a capture, and what counts as an edge.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wires {
    /// Channel with the stimuli.
    pub stimulus: String,
    /// Channel with the responses.
    pub response: String,
    /// Channel that is high during a possible disturbance.
    pub marker: Option<String>,
    /// Edge threshold: a share of the way from low to high, or a level.
    pub threshold: String,
    /// Threshold of the response; `None` if it is the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_threshold: Option<String>,
    /// Hysteresis around the threshold, as a share or a voltage.
    pub hysteresis: String,
    /// Which edges are stimuli.
    pub edge: String,
    /// Which edges are responses.
    pub response_edge: String,
}

/// What happened to stimuli and responses.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Responses {
    /// Format of the capture, in words.
    pub format: String,
    /// Stimuli whose outcome is known; those answered in time are the cycles of the run.
    pub stimuli: u64,
    /// Stimuli without a response before the next one.
    pub missing: u64,
    /// Stimuli answered after the window.
    pub late: u64,
    /// Stimuli whose response the instrument could not measure.
    pub censored: u64,
    /// Readings for which the instrument did not trigger or respond in time.
    pub timed_out: u64,
    /// Stimuli whose stored response is impossible.
    pub impossible: u64,
    /// Further responses within the window of a stimulus already answered.
    pub double: u64,
    /// Responses that belong to no stimulus.
    pub spurious: u64,
    /// First responses before any stimulus, which may answer one before the capture.
    pub before_first: u64,
    /// Stimuli at the end whose response the capture no longer shows.
    pub cut_off: u64,
    /// Resolution of all times in the capture; `None` if unknown.
    pub resolution_ns: Option<f64>,
    /// Whether the times of the stimuli are known; in a list of readings they are not, and each
    /// reading stands for one second.
    pub is_timed: bool,
    /// Exact figures, not limited by the bins of the histogram.
    pub figures: ResponseFigures,
    /// Responses during a marker, against all others.
    pub marked: Option<MarkerFigures>,
    /// How low and high were separated on channels with measured levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<ChannelLevels>,
    /// CPU time of a response, if the responding kernel reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<ResponseCpu>,
}

/// CPU time per stimulus, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResponseCpu {
    /// CPU time of the interrupt, including the wake-ups it makes.
    pub interrupt_ns: Option<f64>,
    /// CPU time of the threads: that of the handler and that of the responder.
    pub threads_ns: Option<f64>,
}

impl ResponseCpu {
    /// Sum of interrupt and threads.
    pub fn total_ns(&self) -> f64 {
        self.interrupt_ns.unwrap_or(0.0) + self.threads_ns.unwrap_or(0.0)
    }
}

/// How low and high were separated on a channel.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChannelLevels {
    /// Channel name.
    pub channel: String,
    /// Usual low level.
    pub low: f64,
    /// Usual high level.
    pub high: f64,
    /// Level of an edge; `None` if the channel shows only noise.
    pub threshold: Option<f64>,
    /// Width of the hysteresis band around the threshold.
    pub hysteresis: Option<f64>,
    /// Standard deviation of the noise, at the noisier of both levels.
    pub noise: f64,
}

impl Responses {
    /// Stimuli that may have been answered at any time, as far as known.
    pub fn unmeasured(&self) -> u64 {
        self.censored + self.timed_out + self.impossible
    }
}

/// Figures of all measured responses, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResponseFigures {
    /// Smallest response.
    pub min_ns: Option<f64>,
    /// Median; for an even count, the mean of the two middle values.
    pub median_ns: Option<f64>,
    /// Mean.
    pub mean_ns: Option<f64>,
    /// Standard deviation.
    pub deviation_ns: Option<f64>,
    /// p95, nearest rank; `None` below 20 responses.
    pub p95_ns: Option<f64>,
    /// p99, nearest rank; `None` below 100 responses.
    pub p99_ns: Option<f64>,
    /// p99.9, nearest rank; `None` below 1000 responses.
    pub p99_9_ns: Option<f64>,
    /// Observed maximum.
    pub max_ns: Option<f64>,
}

impl ResponseFigures {
    /// Adds median and quantiles of these ascending values, with `per_ns` units to a nanosecond.
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

/// Responses while a marker was high, against all others.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MarkerFigures {
    /// Channel of the marker.
    pub by: String,
    /// Responses during which the marker was high.
    pub count: u64,
    /// Number of these that took longer than every other response.
    pub slower: u64,
    /// Longest response with the marker high.
    pub max_ns: Option<f64>,
    /// Longest other response.
    pub others_max_ns: Option<f64>,
    /// Period of its rising edges.
    pub period_ns: Option<f64>,
    /// First rising edge, from the start of the capture.
    pub first_ns: Option<f64>,
}
