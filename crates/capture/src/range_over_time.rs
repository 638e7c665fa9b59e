//! Follows the range of a channel over time, in parts of equal numbers of values.

/// Most parts kept; beyond that they are joined in pairs.
const MOST_PARTS: usize = 256;
/// A part shows edges if its range has this share of the widest, and of the usual one.
const ACTIVE: (f64, f64) = (0.5, 0.03);
/// The share of these parts that a threshold may miss: a slow edge may end in the next part.
const MISSED: f64 = 0.1;

/// The smallest and the largest value of each part.
#[derive(Clone, PartialEq, Debug)]
pub struct RangeOverTime {
    parts: Vec<(f64, f64)>,
    /// Values per part.
    length: u64,
    /// Values in the last part.
    filled: u64,
}

impl Default for RangeOverTime {
    fn default() -> RangeOverTime {
        RangeOverTime { parts: Vec::new(), length: 1, filled: 1 }
    }
}

impl RangeOverTime {
    pub fn add(&mut self, value: f64) {
        if self.filled == self.length {
            if self.parts.len() == MOST_PARTS {
                let wider =
                    |pair: &[(f64, f64)]| (pair[0].0.min(pair[1].0), pair[0].1.max(pair[1].1));
                self.parts = self.parts.chunks(2).map(wider).collect();
                self.length *= 2;
            }
            self.parts.push((value, value));
            self.filled = 1;
            return;
        }
        if let Some((least, largest)) = self.parts.last_mut() {
            (*least, *largest) = (least.min(value), largest.max(value));
        }
        self.filled += 1;
    }

    /// Whether parts with edges lie on one side of a threshold, ignoring values outside these
    /// bounds.
    pub fn leaves(&self, threshold: f64, (lowest, highest): (f64, f64)) -> bool {
        let usual = |part: &&(f64, f64)| lowest <= part.0 && part.1 <= highest;
        let width = |part: &(f64, f64)| part.1 - part.0;
        let parts = || self.parts.iter().filter(usual);
        let widest = parts().map(width).fold(0.0, f64::max);
        let least = (ACTIVE.0 * widest).max(ACTIVE.1 * (highest - lowest));
        let active = parts().filter(|part| width(part) >= least && widest > 0.0);
        let (mut all, mut missed) = (0, 0);
        for part in active {
            all += 1;
            missed += u32::from(!(part.0 < threshold && threshold < part.1));
        }
        missed >= 2 && f64::from(missed) > MISSED * f64::from(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range_over_time(values: impl Iterator<Item = f64>) -> RangeOverTime {
        let mut ranges = RangeOverTime::default();
        values.for_each(|value| ranges.add(value));
        ranges
    }

    #[test]
    fn a_square_that_wanders_leaves_its_threshold() {
        let square = |at: usize| if at % 100 < 50 { 3.3 } else { 0.0 };
        for (drift, leaves) in [(0.0, false), (2.0, false), (5.0, true), (20.0, true)] {
            let found =
                range_over_time((0..50_000).map(|at| square(at) + drift * at as f64 / 50_000.0));
            assert!(found.parts.len() <= MOST_PARTS);
            let middle = (3.3 + drift) / 2.0;
            assert_eq!(found.leaves(middle, (-1.0, 4.0 + drift)), leaves, "{drift}");
        }
    }
}
