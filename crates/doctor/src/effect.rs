//! What a check's condition can do to latencies: it decides what may be suspected in a run.

use latlab_model::Nanos;
pub use latlab_model::doctor::{Effect, Sign};

/// Latencies are not known to be longer by any of the conditions.
pub const SECOND: Nanos = Nanos(1_000_000_000);

/// Adds from this much to that much to a latency.
pub const fn acts(from: Nanos, to: Nanos) -> Effect {
    Effect { acts: Some((from, to)), sign: None, protects: None }
}

/// So many microseconds.
pub const fn us(count: i64) -> Nanos {
    Nanos(count * 1_000)
}

/// So many milliseconds.
pub const fn ms(count: i64) -> Nanos {
    us(count * 1_000)
}
