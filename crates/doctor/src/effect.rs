//! The effect of a check's condition on latencies, which decides what may be suspected in a run.

use latlab_model::Nanos;
pub use latlab_model::doctor::{Effect, Sign};
pub use latlab_model::nanos::SECOND;
use latlab_model::nanos::{MICROSECOND, MILLISECOND};

/// Adds this range to a latency.
pub const fn acts(from: Nanos, to: Nanos) -> Effect {
    Effect { acts: Some((from, to)), sign: None, protects: None }
}

pub const fn us(count: i64) -> Nanos {
    Nanos(count * MICROSECOND.0)
}

pub const fn ms(count: i64) -> Nanos {
    Nanos(count * MILLISECOND.0)
}
