//! What several tests of this crate need.

use latlab_model::plan::{ClockName, IdleStates, Instrument, Mechanism, MissedPolicy, Phase};
use latlab_model::plan::{Plan, Policy};
use latlab_model::{Histogram, Nanos, histogram};
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
    Plan {
        name: "test".into(),
        note: None,
        instrument: Instrument::Cyclic,
        mechanism: Mechanism::Nanosleep,
        clock: ClockName::Monotonic,
        policy: Policy::Fifo { priority: 90 },
        cpus: None,
        threads: None,
        helpers_on: None,
        period_ns: Nanos(125_000),
        period_step_ns: Nanos::ZERO,
        phase: Phase::Spread,
        missed: MissedPolicy::Skip,
        duration_ns: None,
        cycles: None,
        warm_up_ns: Nanos::ZERO,
        deadline_ns: Some(Nanos(125_000)),
        stop_above_ns: None,
        spike_above_ns: None,
        on_spike: None,
        idle_states: IdleStates::System,
        interval_ns: Nanos(1_000_000_000),
        seed: 1,
    }
}
