//! Helpers shared by tests of this crate.

use latlab_model::plan::{Cyclic, Method, Until};
use latlab_model::{Histogram, Nanos, Plan};

pub fn histogram_of(latencies: &[i64]) -> Histogram {
    latencies.iter().copied().map(Nanos).collect()
}

/// A plan with a deadline of 125 us at 8 kHz.
pub fn plan() -> Plan {
    let method = Method::Cyclic(Cyclic::every(Nanos(125_000)));
    Plan {
        method,
        until: Until { deadline_ns: Some(Nanos(125_000)), ..Until::default() },
        ..Plan::default()
    }
}
