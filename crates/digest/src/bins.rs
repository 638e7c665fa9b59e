//! The bins of a whole run while it is counted.

use latlab_model::histogram::BINS;
use std::collections::BTreeMap;

/// Counts by the number of their bin. The first bins, as many as latlab's own layout has, are an
/// array, because merging sparse ones for each second of a day takes minutes; the others, of a
/// layout with more bins, take memory only where they hold something.
#[derive(Default)]
pub struct BinCounts {
    first: Vec<u64>,
    others: BTreeMap<u32, u64>,
}

impl BinCounts {
    /// Adds to a bin.
    pub fn add(&mut self, bin: u32, count: u64) {
        // Of a thread that counts nothing they take no memory.
        if self.first.is_empty() {
            self.first = vec![0; BINS];
        }
        match self.first.get_mut(bin as usize) {
            Some(sum) => *sum += count,
            None => *self.others.entry(bin).or_default() += count,
        }
    }

    /// The bins that hold something, in rising order, as a histogram has them.
    pub fn take(&mut self) -> Vec<(u32, u64)> {
        let BinCounts { first, others } = std::mem::take(self);
        let first = (0..).zip(first).filter(|(_, count)| *count > 0);
        first.chain(others).collect()
    }
}
