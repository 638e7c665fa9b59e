//! Native histograms, whose buckets grow by the 32nd root of two.

use latlab_model::{Bin, Nanos};
use std::collections::BTreeMap;

/// 2^5 buckets in each doubling, as many as latlab's own bins have above 1 ms.
pub const SCHEMA: i32 = 5;
/// Latencies up to this count as zero.
pub const ZERO_THRESHOLD: f64 = 1e-9;

/// A native histogram.
pub struct Native {
    /// Latencies of zero, or below.
    pub zero: u64,
    /// Latencies of unknown length, counted at the end of the bins.
    pub unbounded: u64,
    counts: BTreeMap<i32, u64>,
}

impl Native {
    /// From the bins of a thread, each counted at its middle.
    pub fn new(rows: &[Bin]) -> Native {
        let mut native = Native { zero: 0, unbounded: 0, counts: BTreeMap::new() };
        for bin in rows {
            let middle = match bin.high_ns {
                Nanos::MAX => bin.low_ns.0,
                high => bin.low_ns.0.midpoint(high.0),
            };
            native.unbounded += if bin.high_ns == Nanos::MAX { bin.count } else { 0 };
            match middle {
                ..=0 => native.zero += bin.count,
                middle => {
                    let doublings = (middle as f64 / 1e9).log2();
                    let index = (doublings * f64::from(1 << SCHEMA)).ceil() as i32;
                    *native.counts.entry(index).or_default() += bin.count;
                }
            }
        }
        native
    }

    /// All latencies.
    pub fn count(&self) -> u64 {
        self.zero + self.counts.values().sum::<u64>()
    }

    /// Non-empty buckets as spans, each with its distance from the previous one and its length, and
    /// the difference of each count from the previous one.
    pub fn spans(&self) -> (Vec<(i32, u32)>, Vec<i64>) {
        let (mut spans, mut deltas): (Vec<(i32, u32)>, Vec<i64>) = (Vec::new(), Vec::new());
        let (mut end, mut before) = (0, 0);
        for (&index, &count) in &self.counts {
            match spans.last_mut() {
                Some(last) if index == end => last.1 += 1,
                _ => spans.push((index - end, 1)),
            }
            deltas.push(count as i64 - before);
            (end, before) = (index + 1, count as i64);
        }
        (spans, deltas)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_differences_give_the_counts_again() {
        let bin = |low, high, count| Bin { low_ns: Nanos(low), high_ns: Nanos(high), count };
        let rows =
            [bin(-5, 0, 2), bin(500_000_000, 500_000_002, 3), bin(999_000_000, 1_001_000_000, 4)];
        let native = Native::new(&rows);
        assert_eq!((native.zero, native.count()), (2, 9));
        // 0.500000001 s is in the bucket above 2^-1, 1 s in the one that ends there.
        assert_eq!(native.counts, BTreeMap::from([(-31, 3), (0, 4)]));
        assert_eq!(native.spans(), (vec![(-31, 1), (30, 1)], vec![3, 1]));
    }
}
