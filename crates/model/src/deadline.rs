//! The rule for a deadline miss, shared by the measuring loop, windows of samples and responses of
//! devices. All times in a call have the same unit.

/// Whether a release with this latency missed its deadline.
#[inline]
pub const fn is_miss(latency: i64, deadline: i64) -> bool {
    latency > deadline
}

/// Number of the `skipped` releases behind a late cycle that missed their deadline: each would have
/// been served one period less late than the one before it.
#[inline]
pub const fn skipped_misses(latency: i64, deadline: i64, period: i64, skipped: i64) -> i64 {
    if !is_miss(latency, deadline) {
        return 0;
    }
    let late = latency.saturating_sub(deadline).saturating_sub(1) / period;
    if late < skipped { late } else { skipped }
}

/// Deadline misses of one cycle: the release it served with this latency, and the `skipped`
/// releases behind it.
#[inline]
pub const fn misses(latency: i64, deadline: i64, period: i64, skipped: i64) -> i64 {
    is_miss(latency, deadline) as i64 + skipped_misses(latency, deadline, period, skipped)
}
