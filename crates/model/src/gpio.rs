//! A wire between two GPIO lines of one board, over which a stimulus returns.

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
    /// Number of the line on the chip.
    pub offset: u32,
}

impl GpioLine {
    /// Path of its chip.
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

/// Two GPIO lines connected by a wire or a responder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GpioWire {
    /// Output line for the stimuli.
    pub stimulus: GpioLine,
    /// Input line on which each stimulus arrives; with an external responder, its answer.
    pub loopback: GpioLine,
    /// Output line for the answer; `None` if lowering the stimulus is the answer.
    pub answer: Option<GpioLine>,
    /// Whether an external responder answers.
    pub external: bool,
    /// Shortest time between two stimuli.
    pub from_ns: Nanos,
    /// Longest time between two stimuli.
    pub to_ns: Nanos,
}

impl GpioWire {
    /// More stimuli than this are refused: their breakdown is kept in memory.
    pub const MOST_STIMULI: u64 = 1_000_000;
    /// Shortest allowed time between stimuli; nothing could answer faster ones.
    const SHORTEST: Nanos = Nanos(50_000);
    /// Longest allowed time between stimuli.
    const LONGEST: Nanos = Nanos(10_000_000_000);

    /// Checks the wire by itself; an error is one line for the user.
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
