//! A point in time or a duration, in integer nanoseconds.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};
use std::str::FromStr;
use std::time::Duration;

/// Nanoseconds: a point on a clock, or the signed difference of two points.
///
/// Points on a clock exceed 2^53, so readers that use doubles lose the last digits.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Nanos(pub i64);

/// One second.
pub const SECOND: Nanos = Nanos(1_000_000_000);
/// One millisecond.
pub const MILLISECOND: Nanos = Nanos(1_000_000);
/// One microsecond.
pub const MICROSECOND: Nanos = Nanos(1_000);

impl Nanos {
    /// Zero.
    pub const ZERO: Nanos = Nanos(0);
    /// The latest time that can be written, used for "never".
    pub const MAX: Nanos = Nanos(i64::MAX);

    /// As seconds, for printing and for rates.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Converts to a wait time; zero if negative.
    pub fn duration(self) -> Duration {
        Duration::from_nanos(self.0.max(0) as u64)
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Nanos>>(all: I) -> Nanos {
        all.fold(Nanos::ZERO, |sum, one| sum + one)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        *self = *self + other;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
}

impl Neg for Nanos {
    type Output = Nanos;
    fn neg(self) -> Nanos {
        Nanos(-self.0)
    }
}

impl Mul<i64> for Nanos {
    type Output = Nanos;
    fn mul(self, factor: i64) -> Nanos {
        Nanos(self.0.saturating_mul(factor))
    }
}

const HOUR: u64 = 3_600_000_000_000;

const UNITS: [(&str, i64); 9] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// Prints at most three significant decimals and a fitting unit: `997 us`, `1.25 ms`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.unsigned_abs();
        let (unit, scale) = match magnitude {
            0..1_000 => ("ns", 1),
            1_000..1_000_000 => ("us", 1_000),
            1_000_000..1_000_000_000 => ("ms", 1_000_000),
            1_000_000_000..120_000_000_000 => ("s", 1_000_000_000),
            // An exact hour prints as such; other times in this range read better in minutes.
            120_000_000_000..7_200_000_000_000 if magnitude != HOUR => ("min", 60_000_000_000),
            _ => ("h", HOUR as i64),
        };
        let value = self.0 as f64 / scale as f64;
        let text = format!("{value:.3}");
        let text = match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.'),
            false => &text,
        };
        f.pad(&format!("{text} {unit}"))
    }
}

/// Why text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseNanosError {
    /// It does not begin with a number.
    #[error("'{0}' is not a duration: expected a number and a unit, such as 200us, 1.5ms, 30s, 5h")]
    NotADuration(String),
    /// A number without a unit.
    #[error("'{0}' has no unit: write {0}us, {0}ms, {0}s, {0}min or {0}h")]
    NoUnit(String),
    /// An unknown unit.
    #[error("'{0}' has an unknown unit '{1}': use ns, us, ms, s, min, h or d")]
    UnknownUnit(String, String),
    /// More than 292 years.
    #[error("'{0}' is too long")]
    TooLong(String),
}

/// Parses `200us`, `1.5ms`, `30s`, `1h30min`; a bare `0` needs no unit.
impl FromStr for Nanos {
    type Err = ParseNanosError;

    fn from_str(text: &str) -> Result<Nanos, ParseNanosError> {
        let whole = text.trim();
        if whole == "0" {
            return Ok(Nanos::ZERO);
        }
        let not_a_duration = || ParseNanosError::NotADuration(whole.to_string());
        let mut rest = whole;
        let mut total: f64 = 0.0;
        if rest.is_empty() {
            return Err(not_a_duration());
        }
        while !rest.is_empty() {
            let digits =
                rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
            let number: f64 = rest[..digits].parse().map_err(|_| not_a_duration())?;
            rest = rest[digits..].trim_start();
            let letters = rest.find(|c: char| c.is_ascii_digit() || c.is_whitespace());
            let (unit, after) = rest.split_at(letters.unwrap_or(rest.len()));
            if unit.is_empty() {
                return Err(ParseNanosError::NoUnit(whole.to_string()));
            }
            let Some((_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else {
                return Err(ParseNanosError::UnknownUnit(whole.to_string(), unit.to_string()));
            };
            total += number * *scale as f64;
            rest = after.trim_start();
        }
        if total > i64::MAX as f64 / 2.0 {
            return Err(ParseNanosError::TooLong(whole.to_string()));
        }
        Ok(Nanos(total.round() as i64))
    }
}

/// Formats a duration so that it parses back exactly: the largest unit that gives a whole number.
pub fn duration(time: Nanos) -> String {
    const UNITS: [(&str, i64); 5] = [
        ("h", 3_600_000_000_000),
        ("min", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
    ];
    let whole = |scale: i64| time.0 != 0 && time.0 % scale == 0;
    match UNITS.iter().find(|(_, scale)| whole(*scale)) {
        // 60 s and 90 s are more common than 1 min.
        Some((_, scale)) if *scale >= 60_000_000_000 && time.0 < 120_000_000_000 => {
            format!("{}s", time.0 / 1_000_000_000)
        }
        Some((unit, scale)) => format!("{}{unit}", time.0 / scale),
        None if time == Nanos::ZERO => "0".to_string(),
        None => format!("{}ns", time.0),
    }
}
