//! The bins of a whole run while it is counted.

use latlab_model::histogram::BINS;
use std::collections::BTreeMap;

/// Counts by bin number. The first bins, as many as latlab's own layout has, are an array, because
/// merging sparse ones for each second of a day takes minutes; further bins, of larger layouts,
/// take memory only if not empty.
#[derive(Default)]
pub struct BinCounts {
    first: Vec<u64>,
    others: BTreeMap<u32, u64>,
}

impl BinCounts {
    pub fn add(&mut self, bin: u32, count: u64) {
        // A thread without counts takes no memory.
        if self.first.is_empty() {
            self.first = vec![0; BINS];
        }
        match self.first.get_mut(bin as usize) {
            Some(sum) => *sum += count,
            None => *self.others.entry(bin).or_default() += count,
        }
    }

    /// The bins that are not empty, ascending, as a histogram holds them.
    pub fn take(&mut self) -> Vec<(u32, u64)> {
        let BinCounts { first, others } = std::mem::take(self);
        let first = (0..).zip(first).filter(|(_, count)| *count > 0);
        first.chain(others).collect()
    }
}
