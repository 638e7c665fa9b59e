//! A set of CPU numbers in the kernel's list notation.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// A set of CPU numbers; written as the kernel writes it: `0-2,5`.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct CpuSet(BTreeSet<u32>);

/// Largest CPU number accepted; Linux allows 8192 CPUs.
const LARGEST_CPU: u32 = 8191;

impl CpuSet {
    /// The CPU numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    /// Whether the set holds this CPU.
    pub fn contains(&self, cpu: u32) -> bool {
        self.0.contains(&cpu)
    }

    /// Number of CPUs in the set.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// CPUs of this set that are not in the other.
    pub fn without(&self, other: &CpuSet) -> CpuSet {
        CpuSet(self.0.difference(&other.0).copied().collect())
    }

    /// Parses a kernel CPU mask such as `ff` or `1,00000000`.
    pub fn from_mask(mask: &str) -> Option<CpuSet> {
        let digits = mask.chars().filter(|digit| *digit != ',');
        let digits: Vec<u32> = digits.map(|digit| digit.to_digit(16)).collect::<Option<_>>()?;
        let cpus = digits.iter().rev().zip((0..).step_by(4));
        let set = cpus.flat_map(|(digit, first)| {
            (0..4).filter(move |bit| digit & (1 << bit) != 0).map(move |bit| first + bit)
        });
        Some(set.collect())
    }

    /// The kernel's mask of these CPUs.
    pub fn to_mask(&self) -> String {
        let words = self.iter().max().unwrap_or(0) / 32;
        let word = |word: u32| {
            let bits = self.iter().filter(|cpu| cpu / 32 == word).map(|cpu| 1u32 << (cpu % 32));
            bits.sum::<u32>()
        };
        let first = format!("{:x}", word(words));
        let rest = (0..words).rev().map(|index| format!(",{:08x}", word(index)));
        std::iter::once(first).chain(rest).collect()
    }

    /// CPUs in both sets.
    pub fn and(&self, other: &CpuSet) -> CpuSet {
        CpuSet(self.0.intersection(&other.0).copied().collect())
    }
}

impl FromIterator<u32> for CpuSet {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> CpuSet {
        CpuSet(cpus.into_iter().collect())
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for cpu in self.iter() {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == cpu => *last = cpu,
                _ => ranges.push((cpu, cpu)),
            }
        }
        let parts: Vec<String> = ranges
            .iter()
            .map(|(first, last)| match first == last {
                true => first.to_string(),
                false => format!("{first}-{last}"),
            })
            .collect();
        f.pad(&parts.join(","))
    }
}

/// The text is not a list of CPUs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a list of CPUs: expected numbers and ranges such as 0,2-3")]
pub struct ParseCpuSetError(String);

impl FromStr for CpuSet {
    type Err = ParseCpuSetError;

    /// Parses the kernel's list format; empty text is the empty set.
    fn from_str(text: &str) -> Result<CpuSet, ParseCpuSetError> {
        let wrong = || ParseCpuSetError(text.trim().to_string());
        let number = |part: &str| match part.trim().parse::<u32>() {
            Ok(cpu) if cpu <= LARGEST_CPU => Ok(cpu),
            _ => Err(wrong()),
        };
        let mut cpus = BTreeSet::new();
        for part in text.trim().split(',').filter(|part| !part.is_empty()) {
            let (first, last) = match part.split_once('-') {
                Some((first, last)) => (number(first)?, number(last)?),
                None => (number(part)?, number(part)?),
            };
            if first > last {
                return Err(wrong());
            }
            cpus.extend(first..=last);
        }
        Ok(CpuSet(cpus))
    }
}

impl Serialize for CpuSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CpuSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CpuSet, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for CpuSet {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CpuSet".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A set of CPU numbers, written as the kernel writes it: `0-2,5`.",
            "type": "string",
            "pattern": "^([0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*)?$",
        })
    }
}
