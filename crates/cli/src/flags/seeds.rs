//! `--seeds`: a repeat with each of some seeds.

use std::str::FromStr;

/// Seeds of the repeats: `1..5` are five, each for one repeat of every row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seeds {
    first: u64,
    last: u64,
}

impl Seeds {
    /// How many they are.
    pub fn count(self) -> u32 {
        u32::try_from(self.last - self.first).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// That of a repeat, from 1 on.
    pub fn of(self, repeat: u32) -> u64 {
        self.first + u64::from(repeat) - 1
    }
}

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Seeds, String> {
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) if first <= last => Ok(Seeds { first, last }),
            _ => Err("expected a number, or two such as 1..5".to_string()),
        }
    }
}
