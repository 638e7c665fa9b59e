//! The rule of a deadline miss, in one place: for the measuring loop, for a window of samples and
//! for the responses of a device. All times of a call are in one unit.

/// Whether an activation with this latency missed its deadline.
#[inline]
pub const fn is_miss(latency: i64, deadline: i64) -> bool {
    latency > deadline
}

/// How many of the `skipped` releases behind a late cycle missed their deadline: each of them would
/// have been served one period less late than the one before it.
#[inline]
pub const fn skipped_misses(latency: i64, deadline: i64, period: i64, skipped: i64) -> i64 {
    if !is_miss(latency, deadline) {
        return 0;
    }
    let late = latency.saturating_sub(deadline).saturating_sub(1) / period;
    if late < skipped { late } else { skipped }
}

/// Deadline misses of one cycle: of the release that it served with this latency, and of the
/// `skipped` releases behind it.
#[inline]
pub const fn misses(latency: i64, deadline: i64, period: i64, skipped: i64) -> i64 {
    is_miss(latency, deadline) as i64 + skipped_misses(latency, deadline, period, skipped)
}
