//! Histogram counts while a file is read.

use std::collections::BTreeMap;

/// Bins of a file beyond this are left out: the limit of cyclictest itself.
pub const MOST_BINS: u64 = 1_000_000;
/// A larger number in a bin is an error of the file.
pub const LARGEST_COUNT: u64 = 1 << 36;
/// Bins below this are stored in an array, those above in a map.
const DENSE: usize = 1 << 14;
/// Smallest size of the array.
const LEAST_DENSE: usize = 64;
/// Array entries added per value in the map.
const PLACES_FOR_EACH: usize = 8;

/// Rows of a table: bin number and count, mostly ascending.
#[derive(Clone, Default, Debug)]
pub struct Bins {
    rows: Vec<(u32, u64)>,
    disordered: bool,
}

impl Bins {
    /// Adds a row; a repeated bin is summed.
    pub fn push(&mut self, bin: u32, count: u64) {
        if count > 0 {
            self.disordered |= self.rows.last().is_some_and(|last| last.0 >= bin);
            self.rows.push((bin, count));
        }
    }

    /// Latencies in all rows.
    pub fn total(&self) -> u64 {
        self.rows.iter().fold(0, |sum: u64, row| sum.saturating_add(row.1))
    }

    /// The rows, ascending.
    pub fn take(&mut self) -> Vec<(u32, u64)> {
        let mut rows = std::mem::take(&mut self.rows);
        if self.disordered {
            rows.sort_unstable_by_key(|row| row.0);
            rows.dedup_by(|next, row| {
                let same = next.0 == row.0;
                if same {
                    row.1 = row.1.saturating_add(next.1);
                }
                same
            });
        }
        rows
    }
}

/// Counts single values, most of them small.
#[derive(Clone, Default, Debug)]
pub struct Tally {
    dense: Vec<u64>,
    sparse: BTreeMap<u32, u64>,
    looked_up: usize,
}

impl Tally {
    #[inline]
    pub fn count(&mut self, bin: u32) {
        if !self.count_dense(bin as usize) {
            self.add_sparse(bin, 1);
        }
    }

    pub fn add(&mut self, bin: u32, times: u64) {
        match self.dense.get_mut(bin as usize) {
            Some(count) => *count += times,
            None => self.add_sparse(bin, times),
        }
    }

    /// Counts one value, if its bin is in the array.
    #[inline]
    pub fn count_dense(&mut self, bin: usize) -> bool {
        let count = self.dense.get_mut(bin);
        let has_place = count.is_some();
        count.into_iter().for_each(|count| *count += 1);
        has_place
    }

    /// Counts a value outside the array; if there are many, the array grows to include it. So a
    /// thread with few values takes little memory; a file may have thousands of threads.
    fn add_sparse(&mut self, bin: u32, times: u64) {
        *self.sparse.entry(bin).or_default() += times;
        self.looked_up += 1;
        let places = (bin as usize + 1).next_power_of_two().max(LEAST_DENSE);
        if places <= DENSE && self.looked_up * PLACES_FOR_EACH >= places {
            self.dense.resize(places.max(self.dense.len()), 0);
            let larger = self.sparse.split_off(&(places as u32));
            for (bin, count) in std::mem::replace(&mut self.sparse, larger) {
                self.dense[bin as usize] += count;
            }
        }
    }

    /// Takes out the bins with a count, ascending; the array stays allocated.
    pub fn drain(&mut self) -> Vec<(u32, u64)> {
        let dense = (0u32..).zip(self.dense.iter_mut().map(std::mem::take));
        dense.filter(|row| row.1 > 0).chain(std::mem::take(&mut self.sparse)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_in_any_order_become_rising_ones() {
        let mut bins = Bins::default();
        [(5, 1), (3, 2), (5, 4), (9, 0)].into_iter().for_each(|(bin, count)| bins.push(bin, count));
        assert_eq!(bins.total(), 7);
        assert_eq!(bins.take(), [(3, 2), (5, 5)]);
    }

    #[test]
    fn values_of_any_size_are_counted() {
        let mut tally = Tally::default();
        [7, 7, 900_000, 0].into_iter().for_each(|bin| tally.count(bin));
        assert_eq!(tally.drain(), [(0, 1), (7, 2), (900_000, 1)]);
        (0..10_000).for_each(|value| tally.count(value % 100 * 1_000));
        let expected: Vec<_> = (0..100).map(|bin| (bin * 1_000, 100)).collect();
        assert_eq!(tally.drain(), expected);
    }
}
