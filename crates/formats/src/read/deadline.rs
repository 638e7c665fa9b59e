//! Which latencies of an imported histogram exceeded a deadline, and which are undecided.

use crate::read::recording::LatencySeries;
use latlab_model::Nanos;
use latlab_model::deadline::is_miss;

/// A thread's latencies with respect to a deadline.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Misses {
    /// Latencies that certainly exceeded it.
    pub certain: u64,
    /// Latencies that may have exceeded it.
    pub undecided: u64,
    /// Whether the file leaves out latencies, which may have exceeded it too.
    pub may_lack_some: bool,
}

impl Misses {
    /// Counts those of one thread, whose figures are truncated to this unit.
    pub fn of(series: &LatencySeries, deadline: Nanos, unit: Nanos) -> Misses {
        let counts = &series.counts;
        let mut misses = Misses::default();
        let late = |latency: Nanos| is_miss(latency.0, deadline.0);
        for &(bin, count) in &counts.bins {
            if late(counts.layout.low(bin)) {
                misses.certain += count;
            } else if late(counts.layout.high(bin) - Nanos(1)) {
                misses.undecided += count;
            }
        }
        misses.add_overflow(series, &late);
        // A stated maximum was a latency, wherever it is counted.
        if series.stated_max_ns.is_some_and(late) {
            misses.certain = misses.certain.max(1);
        }
        // The largest latency is exact, even within a bin across the deadline.
        let is_max_late =
            counts.count > 0 && !counts.overflow.max_is_unknown && late(counts.max_ns);
        if is_max_late && misses.certain == 0 {
            (misses.certain, misses.undecided) = (1, misses.undecided.saturating_sub(1));
        }
        // A largest latency of 49 us may have been 49.9 us.
        let may_be_late = series.counts.count > 0 && late(series.largest() + unit - Nanos(1));
        if may_be_late && misses.certain == 0 {
            misses.undecided = misses.undecided.max(1);
        }
        misses.may_lack_some = series.may_lack_latencies && series.stated_max_ns.is_none();
        misses
    }

    fn add_overflow(&mut self, series: &LatencySeries, late: &impl Fn(Nanos) -> bool) {
        let counts = &series.counts;
        let over = counts.overflow;
        let from = if counts.layout.is_unknown() { counts.min_ns } else { counts.layout.end() };
        match (over.count, over.max_is_unknown) {
            (0, _) => {}
            // A maximum within the bins contradicts the count beyond them.
            (count, false) if late(from) && !late(counts.max_ns) => self.undecided += count,
            (count, _) if late(from) => self.certain += count,
            (count, true) => self.undecided += count,
            (count, false) if late(counts.max_ns) => {
                self.certain += 1;
                self.undecided += count - 1;
            }
            (_, false) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::histogram::Overflow;
    use latlab_model::{BinLayout, Histogram};

    fn series(latencies: &[i64], bins: u32) -> LatencySeries {
        let layout = BinLayout::equal(Nanos::ZERO, Nanos(1_000), bins).unwrap();
        let latencies = latencies.iter().map(|latency| Nanos(*latency));
        LatencySeries {
            counts: Histogram::with_layout(layout, latencies),
            ..LatencySeries::default()
        }
    }

    fn misses(series: &LatencySeries, deadline: i64) -> (u64, u64, bool) {
        let misses = Misses::of(series, Nanos(deadline), Nanos(1));
        (misses.certain, misses.undecided, misses.may_lack_some)
    }

    #[test]
    fn a_largest_latency_that_is_cut_off_at_the_deadline_decides_nothing() {
        let counts = Histogram {
            count: 9,
            max_ns: Nanos(49_000),
            layout: BinLayout::unknown(),
            overflow: Overflow { count: 9, ..Overflow::default() },
            ..Histogram::default()
        };
        let one = LatencySeries { counts, ..LatencySeries::default() };
        let undecided = |deadline| Misses::of(&one, Nanos(deadline), Nanos(1_000)).undecided;
        assert_eq!(undecided(49_000), 1);
        assert_eq!(undecided(49_999), 0);
    }

    #[test]
    fn a_bin_across_the_deadline_decides_nothing() {
        let one = series(&[5_000, 9_300, 12_000], 20);
        assert_eq!(misses(&one, 9_500), (1, 1, false));
        assert_eq!(misses(&one, 9_999), (1, 0, false));
        assert_eq!(misses(&one, 13_000), (0, 0, false));
    }

    #[test]
    fn beyond_the_last_bin_only_the_maximum_is_known() {
        let one = series(&[5_000, 25_000, 30_000, 90_000], 20);
        assert_eq!(misses(&one, 15_000), (3, 0, false));
        assert_eq!(misses(&one, 50_000), (1, 2, false));
        assert_eq!(misses(&one, 90_000), (0, 0, false));
    }

    #[test]
    fn what_a_file_leaves_out_may_be_late() {
        let one = LatencySeries { may_lack_latencies: true, ..series(&[5_000], 20) };
        assert_eq!(misses(&one, 15_000), (0, 0, true));
        let stated = LatencySeries { stated_max_ns: Some(Nanos(410_000)), ..one };
        assert_eq!(misses(&stated, 15_000), (1, 0, false));
        assert_eq!(misses(&stated, 500_000), (0, 0, false));
    }
}
