//! The boundaries of classic buckets.

use crate::write::source::rows_of;
use latlab_model::{Bin, Nanos, Run, ThreadBins};

/// The smallest and the largest bucket boundary; there are 1, 2 and 5 in each decade.
const FIRST: i64 = 1_000;
const LAST: i64 = 10_000_000_000;

/// The bucket boundaries of a run, including the deadline.
pub fn boundaries(run: &Run) -> Vec<Nanos> {
    let decades = std::iter::successors(Some(FIRST), |decade| decade.checked_mul(10));
    let decades = decades.take_while(|decade| *decade <= LAST);
    let steps = decades.flat_map(|decade| [decade, decade * 2, decade * 5]);
    let mut all: Vec<Nanos> = steps.filter(|step| *step <= LAST).map(Nanos).collect();
    all.extend(run.asked.until.deadline_ns);
    all.sort_unstable();
    all.dedup();
    all
}

/// Latencies in bins that cross a boundary, which count in the bucket above it.
pub fn crossing(run: &Run, bins: &[ThreadBins]) -> u64 {
    let boundaries = boundaries(run);
    let crosses = |bin: &&Bin| {
        let first = boundaries.partition_point(|one| *one <= bin.low_ns);
        boundaries.get(first).is_some_and(|next| bin.high_ns > *next)
    };
    let rows = run.threads.iter().flat_map(|thread| rows_of(bins, thread));
    rows.filter(crosses).map(|bin| bin.count).sum()
}
