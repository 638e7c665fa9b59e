use latlab_model::deadline::*;
use proptest::prelude::*;

#[test]
fn the_deadline_itself_is_met() {
    assert!(!is_miss(125, 125));
    assert!(is_miss(126, 125));
    assert!(!is_miss(i64::MAX, i64::MAX), "no deadline");
}

#[test]
fn a_stall_is_a_miss_for_each_release_that_is_still_late() {
    // Period 200, deadline 125: latencies 780, 580, 380 and 180 all miss.
    assert_eq!(misses(780, 125, 200, 3), 4);
    assert_eq!(misses(780, 125, 200, 2), 3, "the run ended before the last one");
    // 725, 525 and 325 miss; the fourth is late by exactly 125, which is in time.
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
