//! Corrects for coordinated omission: while a cycle is late, the releases after it are not
//! recorded.
//!
//! With the policy `skip`, a latency of several periods counts once, although each release it
//! swallowed would have been late too, by one period less each (Gil Tene).

use latlab_model::{Bin, BinLayout, Histogram, Nanos};
use std::collections::BTreeMap;

/// Longer stalls are counted bin by bin.
const FEW: i64 = 1_000;

/// A latency and the period of its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stall {
    pub latency_ns: Nanos,
    pub period_ns: Nanos,
}

impl Stall {
    /// Releases that passed unrecorded during the stall.
    pub fn swallowed(self) -> i64 {
        (self.latency_ns.0 / self.period_ns.0.max(1)).max(0)
    }
}

/// The latencies together with those of swallowed releases, in latlab's own bins.
pub fn with_swallowed(rows: &[Bin], stalls: &[Stall]) -> Vec<Bin> {
    let mut counts: BTreeMap<(Nanos, Nanos), u64> = BTreeMap::new();
    for row in rows {
        *counts.entry((row.low_ns, row.high_ns)).or_default() += row.count;
    }
    for row in stalls.iter().flat_map(|stall| hidden(*stall)) {
        let count = counts.entry((row.low_ns, row.high_ns)).or_default();
        *count = count.saturating_add(row.count);
    }
    counts.into_iter().map(|((low_ns, high_ns), count)| Bin { low_ns, high_ns, count }).collect()
}

/// The latencies that a stall hides, in bins.
fn hidden(stall: Stall) -> Vec<Bin> {
    let (latency, period) = (stall.latency_ns.0, stall.period_ns.0.max(1));
    let swallowed = stall.swallowed();
    if swallowed <= FEW {
        let each = (1..=swallowed).map(|number| Nanos(latency - number * period));
        return Histogram::with_layout(BinLayout::default(), each).rows();
    }
    let layout = BinLayout::default();
    let last = layout.bin_of(Nanos(latency)).unwrap_or(0);
    let row = |bin: u32| {
        let (low_ns, high_ns) = (layout.low(bin), layout.high(bin));
        // Hidden latencies of at least `edge`, without the stall itself.
        let from = |edge: Nanos| match edge.0 <= latency {
            true => ((latency - edge.0) / period).min(swallowed),
            false => 0,
        };
        let count = (from(low_ns) - from(high_ns)).unsigned_abs();
        (count > 0).then_some(Bin { low_ns, high_ns, count })
    };
    (0..=last).filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stall(latency: i64, period: i64) -> Stall {
        Stall { latency_ns: Nanos(latency), period_ns: Nanos(period) }
    }

    #[test]
    fn a_long_stall_is_counted_as_a_short_one_is() {
        for (latency, period) in [(6_000_000, 4_999), (12_345_678, 10_007), (70_000_000, 999)] {
            let stall = stall(latency, period);
            assert!(stall.swallowed() > FEW);
            let each = (1..=stall.swallowed()).map(|number| Nanos(latency - number * period));
            let one_by_one = Histogram::with_layout(BinLayout::default(), each).rows();
            assert_eq!(hidden(stall), one_by_one);
        }
    }

    #[test]
    fn nothing_is_added_where_nothing_was_swallowed() {
        let rows =
            Histogram::with_layout(BinLayout::default(), [Nanos(3_000), Nanos(3_050)]).rows();
        assert_eq!(with_swallowed(&rows, &[stall(199_999, 200_000)]), rows);
        let more = with_swallowed(&rows, &[stall(450_000, 200_000)]);
        let values: Vec<(i64, u64)> = more.iter().map(|row| (row.low_ns.0, row.count)).collect();
        assert_eq!(values, [(3_000, 2), (50_000, 1), (250_000, 1)]);
    }
}
