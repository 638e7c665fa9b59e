//! Quantiles of a histogram, exact to its bins.

use latlab_model::histogram::censored_above;
use latlab_model::run::Quantiles;
use latlab_model::{Bin, Histogram, Nanos};
use std::collections::BTreeMap;

/// Denominator of the shares of a histogram.
pub const MILLION: u32 = 1_000_000;
/// The quantiles of the tail, each with the number of latencies it needs.
const USUAL_TAIL: [(u64, u32); 3] = [(1_000, 999_000), (10_000, 999_900), (100_000, 999_990)];
/// Upper tail of a two-sided 95 % interval.
const ABOVE: f64 = 0.025;

/// The nearest-rank quantile for a share in parts per million; `None` if nothing was recorded,
/// without bins, or if it lies beyond the last edge.
///
/// It is the highest latency that the bin of that rank can hold, so it never flatters the machine,
/// but it never lies outside of what was observed either. Beyond the last edge only the largest
/// latency is known, if the file states it.
pub fn quantile(histogram: &Histogram, parts_per_million: u32) -> Option<Nanos> {
    if histogram.count == 0 || histogram.layout.is_unknown() {
        return None;
    }
    let rank = rank(histogram.count, parts_per_million);
    let value = highest_at(histogram, rank)?;
    Some(histogram.max().map_or(value, |max| value.min(max)).max(histogram.min_ns))
}

/// The same from stored rows in ascending order, between the observed minimum and maximum.
pub fn quantile_of_rows(
    rows: &[Bin],
    parts_per_million: u32,
    observed: (Nanos, Nanos),
) -> Option<Nanos> {
    let count = rows.iter().fold(0, |sum: u64, row| sum.saturating_add(row.count));
    let mut left = rank(count, parts_per_million);
    if left == count && count > 0 {
        return Some(observed.1);
    }
    // A row above may be smaller or larger than one without an upper edge.
    let known = censored_above(rows).unwrap_or(Nanos::MAX);
    for row in rows.iter().filter(|row| row.high_ns <= known) {
        if left <= row.count {
            return Some((row.high_ns - Nanos(1)).min(observed.1).max(observed.0));
        }
        left -= row.count;
    }
    None
}

/// The same over several distributions with equal weights, regardless of their counts: the smallest
/// latency at which the mean of their shares reaches the quantile.
pub fn quantile_of_equal_weight(
    parts: &[&[Bin]],
    parts_per_million: u32,
    observed: (Nanos, Nanos),
) -> Option<Nanos> {
    let count = |part: &&[Bin]| part.iter().fold(0, |sum: u64, row| sum.saturating_add(row.count));
    let parts: Vec<(&[Bin], u64)> = parts.iter().map(|part| (*part, count(part))).collect();
    let parts: Vec<(&[Bin], u64)> = parts.into_iter().filter(|(_, count)| *count > 0).collect();
    let known = parts.iter().filter_map(|(rows, _)| censored_above(rows)).min();
    let mut shares: BTreeMap<Nanos, f64> = BTreeMap::new();
    for (rows, count) in &parts {
        for row in rows.iter() {
            *shares.entry(row.high_ns).or_default() += row.count as f64 / *count as f64;
        }
    }
    // Sums of shares have rounding errors in the last places.
    let wanted =
        f64::from(parts_per_million.min(MILLION)) / f64::from(MILLION) * parts.len() as f64;
    let mut reached = 0.0;
    let high = shares.iter().find_map(|(high, share)| {
        reached += share;
        (reached >= wanted - 1e-9).then_some(*high)
    })?;
    if known.is_some_and(|known| high > known) {
        return None;
    }
    Some((high - Nanos(1)).min(observed.1).max(observed.0))
}

/// How many latencies a quantile needs for an upper limit at 95 %: with fewer, even the largest one
/// may lie below the true quantile.
///
/// It is the two-sided order-statistic interval, whose upper end is the largest latency as soon as
/// `(1 - p)^n <= 0.025`, that is `n p >= 3.69` for the part `p` above the quantile.
pub fn latencies_needed(parts_per_million: u32) -> u64 {
    let above = f64::from(MILLION.saturating_sub(parts_per_million)) / f64::from(MILLION);
    // No number of latencies supports the 100 % quantile.
    if above <= 0.0 { u64::MAX } else { (ABOVE.ln() / (-above).ln_1p()).ceil() as u64 }
}

/// The usual quantiles, as far into the tail as the number of latencies supports.
pub fn quantiles(histogram: &Histogram) -> Option<Quantiles> {
    let of = |parts_per_million| quantile(histogram, parts_per_million);
    let is_known = !histogram.layout.is_unknown();
    usual(histogram.count, is_known.then(|| histogram.layout.end()), of)
}

/// The same from rows in ascending order, between the observed minimum and maximum.
pub fn quantiles_of_rows(rows: &[Bin], observed: (Nanos, Nanos)) -> Option<Quantiles> {
    let count = rows.iter().fold(0, |sum: u64, row| sum.saturating_add(row.count));
    let of = |parts_per_million| quantile_of_rows(rows, parts_per_million, observed);
    usual(count, censored_above(rows), of)
}

/// The quantiles that `count` latencies support. An unknown one lies above `end`.
fn usual(count: u64, end: Option<Nanos>, of: impl Fn(u32) -> Option<Nanos>) -> Option<Quantiles> {
    let from = |least, parts_per_million| (count >= least).then(|| of(parts_per_million)).flatten();
    let [p50_ns, p90_ns, p99_ns] = [500_000, 900_000, 990_000].map(|share| from(1, share));
    let [p99_9_ns, p99_99_ns, p99_999_ns] =
        USUAL_TAIL.map(|(least, parts_per_million)| from(least, parts_per_million));
    let carried = [p50_ns, p90_ns, p99_ns].into_iter();
    let tail = [p99_9_ns, p99_99_ns, p99_999_ns].into_iter().zip(USUAL_TAIL);
    let tail = tail.filter(|(_, (least, _))| count >= *least).map(|(quantile, _)| quantile);
    let is_open = carried.chain(tail).any(|quantile| quantile.is_none());
    let above_ns = end.filter(|_| is_open);
    let is_some = count > 0 && (p50_ns.is_some() || above_ns.is_some());
    is_some.then_some(Quantiles {
        p50_ns,
        p90_ns,
        p99_ns,
        p99_9_ns,
        p99_99_ns,
        p99_999_ns,
        above_ns,
    })
}

/// Position of the quantile in the sorted latencies, from 1; in integers, because a rank of 10^12
/// latencies must not be off by one.
fn rank(count: u64, parts_per_million: u32) -> u64 {
    let share = parts_per_million.min(MILLION);
    let rank = (u128::from(count) * u128::from(share)).div_ceil(u128::from(MILLION));
    (rank as u64).max(1)
}

fn highest_at(histogram: &Histogram, rank: u64) -> Option<Nanos> {
    let mut seen = histogram.underflow;
    if rank <= seen {
        return Some(histogram.layout.start() - Nanos(1));
    }
    for &(bin, count) in &histogram.bins {
        seen = seen.saturating_add(count);
        if rank <= seen {
            return Some(histogram.layout.high(bin) - Nanos(1));
        }
    }
    // Beyond the last edge only the largest is known.
    histogram.max().filter(|_| rank == histogram.count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::histogram_of;
    use latlab_model::BinLayout;
    use latlab_model::histogram::{OutsideBins, Overflow, bin_high, bin_of};
    use proptest::prelude::*;

    /// The same by sorting everything.
    fn by_sorting(latencies: &[i64], parts_per_million: u32) -> i64 {
        let mut sorted = latencies.to_vec();
        sorted.sort_unstable();
        let rank = (sorted.len() * parts_per_million as usize).div_ceil(1_000_000).max(1);
        let highest = match sorted[rank - 1] {
            negative if negative < 0 => -1,
            value => bin_high(bin_of(value as u64)) as i64 - 1,
        };
        highest.clamp(sorted[0], sorted[sorted.len() - 1])
    }

    proptest! {
        #[test]
        fn agrees_with_sorting(
            latencies in proptest::collection::vec(
                prop_oneof![-500i64..3_000, 0i64..200_000, 900_000i64..40_000_000], 1..300),
            share in 0u32..=1_000_000,
        ) {
            let histogram = histogram_of(&latencies);
            prop_assert_eq!(
                quantile(&histogram, share),
                Some(Nanos(by_sorting(&latencies, share)))
            );
        }

        #[test]
        fn stored_rows_have_the_quantiles_of_their_histogram(
            latencies in proptest::collection::vec(
                prop_oneof![-500i64..3_000, 0i64..200_000, 900_000i64..40_000_000], 1..300),
            share in 0u32..=1_000_000,
        ) {
            let histogram = histogram_of(&latencies);
            let observed = (histogram.min_ns, histogram.max_ns);
            prop_assert_eq!(
                quantile_of_rows(&histogram.rows(), share, observed),
                quantile(&histogram, share)
            );
        }

        #[test]
        fn a_larger_share_is_never_smaller(
            latencies in proptest::collection::vec(-500i64..2_000_000, 1..200),
            one in 0u32..=1_000_000, other in 0u32..=1_000_000,
        ) {
            let histogram = histogram_of(&latencies);
            let (low, high) = (one.min(other), one.max(other));
            prop_assert!(quantile(&histogram, low) <= quantile(&histogram, high));
            prop_assert_eq!(quantile(&histogram, MILLION), Some(histogram.max_ns));
        }
    }

    proptest! {
        #[test]
        fn a_quantile_lies_in_the_bin_of_its_rank_whatever_the_edges(
            latencies in proptest::collection::vec(-5_000i64..5_000_000, 1..200),
            (start, width, bins) in (-2_000i64..2_000, 1i64..5_000, 1u32..=1_000_000),
            share in 0u32..=1_000_000,
        ) {
            let layout = BinLayout::equal(Nanos(start), Nanos(width), bins).unwrap();
            let counts = Histogram::with_layout(layout, latencies.iter().copied().map(Nanos));
            let mut sorted = latencies;
            sorted.sort_unstable();
            let exact = Nanos(sorted[rank(counts.count, share) as usize - 1]);
            let found = quantile(&counts, share);
            let observed = (counts.min_ns, counts.max_ns);
            prop_assert_eq!(quantile_of_rows(&counts.rows(), share, observed), found);
            match (found, counts.layout.bin_of(exact)) {
                (Some(found), Ok(bin)) => {
                    prop_assert!(found >= exact && found <= counts.max_ns);
                    prop_assert!(counts.layout.bin_of(found) == Ok(bin));
                }
                (found, Err(OutsideBins::Above)) => {
                    prop_assert!(found.is_none_or(|found| found == counts.max_ns));
                }
                (found, _) => prop_assert!(found.unwrap() >= exact),
            }
        }
    }

    #[test]
    fn a_quantile_beyond_the_last_edge_lies_above_it() {
        let layout = BinLayout::equal(Nanos::ZERO, Nanos(1_000), 400).unwrap();
        // Half of them lie beyond; only the size of the largest is known.
        let beyond = |at: i64| Nanos(if at < 500 { 3_000 } else { 400_000 + at });
        let counts = Histogram::with_layout(layout, (0..1_000).map(beyond));
        assert_eq!(quantile(&counts, 500_000), Some(Nanos(3_999)));
        assert_eq!(quantile(&counts, 500_001), None);
        assert_eq!(quantile(&counts, MILLION), Some(Nanos(400_999)));
        let all = quantiles(&counts).unwrap();
        assert_eq!((all.p50_ns, all.p99_ns), (Some(Nanos(3_999)), None));
        assert_eq!((all.p99_9_ns, all.above_ns), (None, Some(Nanos(400_000))));
        let observed = (counts.min_ns, counts.max_ns);
        assert_eq!(quantiles_of_rows(&counts.rows(), observed), Some(all.clone()));

        // A single one whose size the file states is known.
        let one =
            Histogram::with_layout(counts.layout.clone(), [3_000, 3_500, 1_282_000].map(Nanos));
        assert_eq!(quantile(&one, 900_000), Some(Nanos(1_282_000)));
        assert_eq!(quantiles(&one).unwrap().above_ns, None);
        let overflow = Overflow { count: 1, max_is_unknown: true, ..Overflow::default() };
        let unknown = Histogram { max_ns: Nanos(3_999), overflow, ..one };
        assert_eq!(quantile(&unknown, 500_000), Some(Nanos(3_999)));
        assert_eq!(quantile(&unknown, 900_000), None);
        assert_eq!(quantiles(&unknown).unwrap().above_ns, Some(Nanos(400_000)));
    }

    #[test]
    fn pooled_rows_are_known_up_to_the_first_that_has_no_end() {
        let bin = |low: i64, count| Bin { low_ns: Nanos(low), high_ns: Nanos(low + 100), count };
        let open = Bin { low_ns: Nanos(400), high_ns: Nanos::MAX, count: 10 };
        // A latency of another file at 700 may be larger or smaller than those without a size.
        let rows = [bin(100, 80), open, bin(700, 10)];
        let of = |share| quantile_of_rows(&rows, share, (Nanos(100), Nanos(900)));
        assert_eq!((of(800_000), of(950_000)), (Some(Nanos(199)), None));
        assert_eq!(of(MILLION), Some(Nanos(900)));
    }

    #[test]
    fn the_rank_is_exact_for_a_million_million_latencies() {
        let with = |first: u64| Histogram {
            count: 1_000_000_000_000,
            min_ns: Nanos(0),
            max_ns: Nanos(450),
            bins: vec![(0, first), (4, 1_000_000_000_000 - first)],
            ..Histogram::default()
        };
        assert_eq!(quantile(&with(999_999_000_000), 999_999), Some(Nanos(99)));
        assert_eq!(quantile(&with(998_999_999_999), 999_000), Some(Nanos(450)));
        assert_eq!(quantile(&with(999_000_000_000), 999_000), Some(Nanos(99)));
        assert_eq!(rank(u64::MAX, MILLION), u64::MAX);
    }

    #[test]
    fn a_quantile_needs_as_many_latencies_as_its_interval() {
        // The vectors of the order-statistic interval: for 368 000 there is no upper end, for 370
        // 000 there is.
        assert_eq!(latencies_needed(999_990), 368_887);
        assert_eq!(latencies_needed(999_999), 3_688_878);
        assert_eq!(latencies_needed(900_000), 36);
        assert_eq!(latencies_needed(MILLION), u64::MAX);
        assert_eq!(quantile_of_rows(&[], 500_000, (Nanos(0), Nanos(0))), None);
    }

    #[test]
    fn the_tail_needs_latencies() {
        let of = |count: usize| quantiles(&histogram_of(&vec![50; count])).unwrap();
        assert_eq!(quantiles(&Histogram::default()), None);
        assert_eq!(of(999).p99_9_ns, None);
        assert_eq!(of(1_000).p99_9_ns, Some(Nanos(50)));
        assert_eq!((of(9_999).p99_99_ns, of(10_000).p99_99_ns), (None, Some(Nanos(50))));
        assert_eq!((of(99_999).p99_999_ns, of(100_000).p99_999_ns), (None, Some(Nanos(50))));
    }

    #[test]
    fn a_thread_with_many_latencies_counts_no_more_than_one_with_few() {
        let bin = |low: i64, count| Bin { low_ns: Nanos(low), high_ns: Nanos(low + 100), count };
        let (fast, slow) = ([bin(1_000, 10_000)], [bin(1_000, 90), bin(9_000, 10)]);
        let of = |parts_per_million| {
            quantile_of_equal_weight(
                &[&fast, &slow, &[]],
                parts_per_million,
                (Nanos(0), Nanos(9_050)),
            )
        };
        // A twentieth of the weight is late, though only a thousandth of the latencies.
        assert_eq!(of(950_000), Some(Nanos(1_099)));
        assert_eq!(of(950_001), Some(Nanos(9_050)));
        assert_eq!(quantile_of_equal_weight(&[], 500_000, (Nanos(0), Nanos(0))), None);
    }
}
