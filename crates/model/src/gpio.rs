//! A wire between two lines of one board, over which a stimulus comes back.

use crate::Nanos;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A line of a GPIO chip.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GpioLine {
    /// Name of the chip in `/dev`.
    pub chip: String,
    /// Number of the line on it.
    pub offset: u32,
}

impl GpioLine {
    /// The file of its chip.
    pub fn path(&self) -> String {
        format!("/dev/{}", self.chip)
    }
}

impl FromStr for GpioLine {
    type Err = String;

    fn from_str(text: &str) -> Result<GpioLine, String> {
        let parsed = text.rsplit_once(':').and_then(|(chip, offset)| {
            let chip = chip.strip_prefix("/dev/").unwrap_or(chip);
            let is_name = !chip.is_empty() && chip.chars().all(|c| c.is_ascii_alphanumeric());
            is_name.then_some(GpioLine { chip: chip.to_string(), offset: offset.parse().ok()? })
        });
        parsed.ok_or(format!("'{text}': expected a chip and the number of a line: gpiochip0:17"))
    }
}

impl fmt::Display for GpioLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.chip, self.offset)
    }
}

/// Two lines with a wire between them, or with a responder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GpioWire {
    /// The line that makes each stimulus.
    pub stimulus: GpioLine,
    /// The line that shows it; of another responder the one that shows its answer.
    pub loopback: GpioLine,
    /// The line that is raised as the answer; none where the stimulus is taken back.
    pub answer: Option<GpioLine>,
    /// Whether something else answers.
    pub external: bool,
    /// The least distance of two stimuli.
    pub from_ns: Nanos,
    /// The largest.
    pub to_ns: Nanos,
}

impl GpioWire {
    /// More stimuli than this are a mistake; their legs are kept in memory.
    pub const MOST_STIMULI: u64 = 1_000_000;
    /// More often than this nobody could answer.
    const SHORTEST: Nanos = Nanos(50_000);
    /// Nobody waits longer for an edge.
    const LONGEST: Nanos = Nanos(10_000_000_000);

    /// Whether it makes sense; an error is one line for the user.
    pub fn check(&self) -> Result<(), String> {
        let lines = [Some(&self.stimulus), Some(&self.loopback), self.answer.as_ref()];
        let mut lines: Vec<String> = lines.into_iter().flatten().map(GpioLine::to_string).collect();
        lines.sort();
        if let Some(twice) = lines.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("{} cannot be two lines at once", twice[0]));
        }
        if self.external && self.answer.is_some() {
            return Err("--answer needs latlab to answer: leave out --external".to_string());
        }
        let (from, to) = (self.from_ns, self.to_ns);
        match from >= Self::SHORTEST && from <= to && to <= Self::LONGEST {
            true => Ok(()),
            false => Err(format!("stimuli after {from} to {to}: expected 50us to 10s")),
        }
    }
}
