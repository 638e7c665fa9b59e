//! What several tests of this crate need.

use latlab_model::{Histogram, Nanos, Plan, histogram};
use std::collections::BTreeMap;

/// A histogram of these latencies, made in one go because there can be many.
pub fn histogram_of(latencies: &[i64]) -> Histogram {
    let mut bins = BTreeMap::new();
    for &latency in latencies.iter().filter(|&&latency| latency >= 0) {
        *bins.entry(histogram::bin_of(latency as u64) as u16).or_insert(0) += 1;
    }
    Histogram {
        count: latencies.len() as u64,
        sum_ns: latencies.iter().map(|&latency| i128::from(latency)).sum(),
        min_ns: Nanos(latencies.iter().copied().min().unwrap_or(0)),
        max_ns: Nanos(latencies.iter().copied().max().unwrap_or(0)),
        underflow: latencies.iter().filter(|&&latency| latency < 0).count() as u64,
        bins: bins.into_iter().collect(),
        ..Histogram::default()
    }
}

/// A plan with a deadline of 125 us at 8 kHz.
pub fn plan() -> Plan {
    Plan { period_ns: Nanos(125_000), deadline_ns: Some(Nanos(125_000)), ..Plan::default() }
}
