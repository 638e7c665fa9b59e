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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_deadline_itself_is_met() {
        assert!(!is_miss(125, 125));
        assert!(is_miss(126, 125));
        assert!(!is_miss(i64::MAX, i64::MAX), "no deadline");
    }

    #[test]
    fn a_stall_is_a_miss_for_each_release_that_is_still_late() {
        // Period 200, deadline 125: 780 late, then 580, 380 and 180 late.
        assert_eq!(misses(780, 125, 200, 3), 4);
        assert_eq!(misses(780, 125, 200, 2), 3, "the run ended before the last one");
        // 725, 525, 325; the fourth is 125 late, which is in time.
        assert_eq!(misses(725, 125, 200, 3), 3);
        assert_eq!(misses(125, 125, 200, 0), 0);
        assert_eq!(skipped_misses(725, 125, 200, 3), 2);
        assert_eq!(misses(i64::MAX, 0, 1, 5), 6);
    }

    proptest! {
        #[test]
        fn skipping_releases_counts_as_many_misses_as_serving_each_of_them(
            latency in 0i64..100_000, deadline in 0i64..20_000, period in 1i64..5_000
        ) {
            let skipped = latency / period;
            let served = (0..=skipped).filter(|late| is_miss(latency - late * period, deadline));
            prop_assert_eq!(misses(latency, deadline, period, skipped), served.count() as i64);
        }
    }
}
