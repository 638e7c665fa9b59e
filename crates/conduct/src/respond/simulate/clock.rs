//! Frequencies, and the clock of a microcontroller.

use std::fmt;
use std::str::FromStr;

/// Picoseconds in a second.
const SECOND_PS: u64 = 1_000_000_000_000;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Hertz(pub f64);

impl FromStr for Hertz {
    type Err = ();

    fn from_str(text: &str) -> Result<Hertz, ()> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let factor = match text[end..].trim().to_ascii_lowercase().as_str() {
            "hz" => 1.0,
            "khz" => 1e3,
            "mhz" => 1e6,
            _ => return Err(()),
        };
        Ok(Hertz(text[..end].parse::<f64>().map_err(|_| ())? * factor))
    }
}

/// The clock of a microcontroller, in whole hertz.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct McuClock(u32);

impl McuClock {
    /// An Arduino Uno's.
    pub const UNO: McuClock = McuClock(16_000_000);
    const SLOWEST: f64 = 32_000.0;
    const FASTEST: f64 = 100_000_000.0;

    pub fn hertz(self) -> u32 {
        self.0
    }

    /// A cycle in picoseconds, the smallest step of time.
    pub fn cycle_ps(self) -> i64 {
        let hertz = u64::from(self.0);
        ((SECOND_PS + hertz / 2) / hertz) as i64
    }
}

impl FromStr for McuClock {
    type Err = String;

    fn from_str(text: &str) -> Result<McuClock, String> {
        match text.parse() {
            Ok(Hertz(hertz)) if (Self::SLOWEST..=Self::FASTEST).contains(&hertz) => {
                Ok(McuClock(hertz.round() as u32))
            }
            _ => Err("expected a frequency from 32kHz to 100MHz, such as 16MHz".to_string()),
        }
    }
}

impl fmt::Display for McuClock {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.0 {
            hertz if hertz >= 1_000_000 => write!(f, "{} MHz", f64::from(hertz) / 1e6),
            hertz => write!(f, "{} kHz", f64::from(hertz) / 1e3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_have_cycles() {
        let cycle = |text: &str| text.parse::<McuClock>().map(McuClock::cycle_ps);
        assert_eq!(cycle("16MHz"), Ok(62_500));
        assert_eq!(cycle("12mhz"), Ok(83_333));
        assert_eq!(cycle("32768Hz"), Ok(30_517_578));
        for wrong in ["16", "MHz", "0MHz", "1GHz", "200MHz", "1kHz", "nanMHz"] {
            assert!(cycle(wrong).is_err(), "{wrong}");
        }
        assert_eq!(McuClock::UNO.to_string(), "16 MHz");
    }
}
