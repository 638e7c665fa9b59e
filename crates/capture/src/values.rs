//! Counts values in bounded memory, however far apart they are.
//!
//! Only non-empty bins are kept, so that a few distant values do not make the others coarse. Until
//! there are too many, a bin holds one value.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Most bins kept; beyond that they become twice as wide.
const MOST_BINS: usize = 1024;
/// The narrowest bin: finer than what any instrument writes.
const NARROWEST: f64 = 1.0 / (1_u64 << 60) as f64;
/// The largest bin number; a double still represents its neighbours' halves.
const FARTHEST: f64 = (1_u64 << 62) as f64;

/// A value and how often it was seen.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ValueCount {
    pub value: f64,
    pub count: u64,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ValueCounts {
    width: f64,
    bins: HashMap<i64, u64, BuildHasherDefault<BinHasher>>,
    /// The bin of the last values with their count, since values often repeat.
    last: Option<(i64, u64)>,
    count: u64,
}

/// Hashes bin numbers (Fibonacci hashing): the default hasher took a seventh of the time of a
/// capture, and a few bins need no protection against chosen keys.
#[derive(Default)]
struct BinHasher(u64);

impl Hasher for BinHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_i64(i64::from(*byte)));
    }

    fn write_i64(&mut self, bin: i64) {
        self.0 = (self.0 ^ bin as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 ^= self.0 >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Default for ValueCounts {
    fn default() -> ValueCounts {
        ValueCounts { width: NARROWEST, bins: HashMap::default(), last: None, count: 0 }
    }
}

impl ValueCounts {
    /// Counts a finite value.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        while (value / self.width).abs() > FARTHEST {
            self.widen();
        }
        let bin = (value / self.width).floor() as i64;
        match &mut self.last {
            Some((last, count)) if *last == bin => *count += 1,
            _ => {
                self.keep_last();
                self.last = Some((bin, 1));
                while self.bins.len() > MOST_BINS {
                    self.widen();
                }
            }
        }
    }

    fn keep_last(&mut self) {
        if let Some((bin, count)) = self.last.take() {
            *self.bins.entry(bin).or_default() += count;
        }
    }

    fn widen(&mut self) {
        self.keep_last();
        self.width *= 2.0;
        for (bin, count) in std::mem::take(&mut self.bins) {
            *self.bins.entry(bin.div_euclid(2)).or_default() += count;
        }
    }

    /// The total count.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The counted values, ascending.
    pub fn rising(&self) -> Vec<ValueCount> {
        let mut bins = self.bins.clone();
        if let Some((bin, count)) = self.last {
            *bins.entry(bin).or_default() += count;
        }
        let mut bins: Vec<(i64, u64)> = bins.into_iter().collect();
        bins.sort_unstable();
        let value = |bin: i64| match self.width > NARROWEST {
            true => (bin as f64 + 0.5) * self.width,
            false => bin as f64 * self.width,
        };
        bins.into_iter().map(|(bin, count)| ValueCount { value: value(bin), count }).collect()
    }

    /// The value that this share of all does not exceed.
    pub fn quantile(rising: &[ValueCount], share: f64) -> Option<f64> {
        let all: u64 = rising.iter().map(|one| one.count).sum();
        let mut seen = 0;
        let wanted = share * all as f64;
        let found = rising.iter().find(|one| {
            seen += one.count;
            seen as f64 >= wanted
        });
        found.or(rising.last()).map(|one| one.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_far_away_leaves_the_others_apart() {
        let mut counts = ValueCounts::default();
        (0..1000).for_each(|at| counts.add(if at % 2 == 0 { 0.0 } else { 3.3 }));
        counts.add(1e9);
        let rising = counts.rising();
        assert_eq!(rising.iter().map(|one| one.count).collect::<Vec<_>>(), [500, 500, 1]);
        assert!((rising[1].value - 3.3).abs() < 1e-6);
    }

    #[test]
    fn any_number_of_values_fits() {
        let mut counts = ValueCounts::default();
        (0..100_000).for_each(|at| counts.add((f64::from(at) * 0.618_034).fract() - 0.5));
        counts.add(1e308);
        counts.add(-1e308);
        let rising = counts.rising();
        assert!(rising.len() <= MOST_BINS + 1);
        assert_eq!(rising.iter().map(|one| one.count).sum::<u64>(), 100_002);
        assert_eq!(counts.count(), 100_002);
    }
}
