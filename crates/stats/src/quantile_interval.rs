//! Intervals of quantiles by order statistics: which of the largest latencies bound one with 95 %
//! confidence (David and Nagaraja 2003; dependent latencies: Woodruff 1952). The shape of the
//! distribution does not matter; dependence between latencies does.

use crate::quantile::{MILLION, latencies_needed};
use crate::special::binomial_up_to;
use latlab_model::histogram::censored_above;
use latlab_model::statistics::QuantileInterval;
use latlab_model::{Bin, Nanos};

/// Each tail of a two-sided 95 % interval.
const TAIL: f64 = 0.025;
/// In parts per million.
pub const QUANTILES: [u32; 6] = [500_000, 900_000, 990_000, 999_000, 999_900, 999_990];

/// Ranks of the latencies that bound a quantile, counted from the largest, which is 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuantileRanks {
    /// Rank of the lower bound.
    pub lower: u64,
    /// Rank of the upper bound; 0 if not even the largest latency bounds it.
    pub upper: u64,
}

/// The ranks for `latencies` and the quantile with the share `above` above it; `per_event`
/// dependent latencies count as one.
pub fn quantile_ranks(latencies: f64, above: f64, per_event: f64) -> QuantileRanks {
    let per_event = per_event.max(1.0);
    let events = latencies / per_event;
    let up_to = |count: f64| binomial_up_to(count, events, above);
    // The largest that is certainly below, and the smallest that is certainly above.
    let upper = last_number(events, |number| up_to(number - 1.0) <= TAIL);
    let lower = last_number(events, |number| up_to(number - 1.0) < 1.0 - TAIL) + 1.0;
    QuantileRanks {
        lower: (lower * per_event).ceil() as u64,
        upper: (upper * per_event).floor() as u64,
    }
}

/// The largest whole number up to `most` for which a monotone condition holds, by halving; 0 if
/// none.
fn last_number(most: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, most.floor() + 1.0);
    loop {
        let middle = ((low + high) / 2.0_f64).floor();
        if middle <= low || middle >= high {
            return low;
        }
        if holds(middle) { low = middle } else { high = middle }
    }
}

/// The interval of a quantile of ascending rows, between the observed minimum and maximum; `None`
/// without latencies, or if neither side is known.
pub fn quantile_interval(
    rows: &[Bin],
    parts_per_million: u32,
    observed: (Nanos, Option<Nanos>),
    per_event: Option<f64>,
) -> Option<QuantileInterval> {
    let count = rows.iter().fold(0, |sum: u64, row| sum.saturating_add(row.count));
    let above = f64::from(MILLION.saturating_sub(parts_per_million)) / f64::from(MILLION);
    if count == 0 || above <= 0.0 {
        return None;
    }
    let each = per_event.unwrap_or(1.0).max(1.0);
    let ranks = quantile_ranks(count as f64, above, each);
    let (least, most) = observed;
    let within = |value: Nanos| most.map_or(value, |most| value.min(most)).max(least);
    // Latencies in or above the first row without an upper edge may be as large as the largest.
    let known = censored_above(rows).unwrap_or(Nanos::MAX);
    let upper = row_from_top(rows, ranks.upper).map(|row| match row.high_ns <= known {
        true => row.high_ns - Nanos(1),
        false => Nanos::MAX,
    });
    let upper = upper.filter(|high| *high < Nanos::MAX || most.is_some());
    let needs = latencies_needed(parts_per_million) as f64 * each;
    Some(QuantileInterval {
        parts_per_million,
        low_ns: Some(row_from_top(rows, ranks.lower).map_or(least, |row| within(row.low_ns))),
        high_ns: upper.map(within),
        latencies: count,
        per_event,
        latencies_needed: needs.ceil() as u64,
        refusal: None,
    })
}

/// The row of the latency with this rank from the largest; `None` for rank 0 and beyond the
/// smallest.
fn row_from_top(rows: &[Bin], number: u64) -> Option<&Bin> {
    let mut above = 0_u64;
    rows.iter().rev().filter(|_| number > 0).find(|row| {
        above = above.saturating_add(row.count);
        above >= number
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(low: i64, count: u64) -> Bin {
        Bin { low_ns: Nanos(low), high_ns: Nanos(low + 100), count }
    }

    #[test]
    fn an_interval_reaches_from_edge_to_edge() {
        let rows: Vec<Bin> = (0..1_000).map(|at| row(100 * at, 1_000)).collect();
        let observed = (Nanos(7), Some(Nanos(99_950)));
        let of = |share, each| quantile_interval(&rows, share, observed, Some(each)).unwrap();
        // A million latencies: the ranks of p99.99 are 81 and 121 from the top.
        let far = of(999_900, 1.0);
        assert_eq!((far.low_ns, far.high_ns), (Some(Nanos(99_900)), Some(Nanos(99_950))));
        let median = of(500_000, 1.0);
        assert_eq!((median.low_ns, median.high_ns), (Some(Nanos(49_900)), Some(Nanos(50_099))));
        // Latencies that come a hundred at a time count as a hundredth of them.
        let dependent = of(500_000, 100.0);
        assert!(dependent.low_ns < median.low_ns && dependent.high_ns > median.high_ns);
        assert_eq!(of(999_990, 100.0).high_ns, None, "ten thousand events have no p99.999");
        assert_eq!(of(999_990, 100.0).latencies_needed, 36_888_700);
    }

    #[test]
    fn an_interval_reaches_to_the_maximum_where_sizes_are_unknown() {
        let open = Bin { low_ns: Nanos(400), high_ns: Nanos::MAX, count: 50 };
        let rows = [row(100, 50), open, row(700, 900)];
        let of = |most| quantile_interval(&rows, 500_000, (Nanos(100), most), None).unwrap();
        assert_eq!(
            (of(Some(Nanos(900))).low_ns, of(Some(Nanos(900))).high_ns),
            (Some(Nanos(700)), Some(Nanos(900)))
        );
        assert_eq!(of(None).high_ns, None);
    }

    #[test]
    fn a_large_count_is_as_exact_as_a_small_one() {
        // Both sides of the size from which the normal approximation is used.
        for (latencies, above) in [(40_000.0, 0.01), (41_000.0, 0.01)] {
            let QuantileRanks { lower, upper } = quantile_ranks(latencies, above, 1.0);
            let mean: f64 = latencies * above;
            let deviation = (mean * (1.0 - above)).sqrt();
            assert!((upper as f64 - (mean - 1.96 * deviation)).abs() < 2.0, "{upper}");
            assert!((lower as f64 - (mean + 1.96 * deviation)).abs() < 2.5, "{lower}");
        }
        let QuantileRanks { lower, upper } = quantile_ranks(1e12, 0.5, 1.0);
        assert!(lower.abs_diff(500_000_979_983) < 5 && upper.abs_diff(499_999_020_018) < 5);
    }
}
