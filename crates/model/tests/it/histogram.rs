use latlab_model::Nanos;
use latlab_model::histogram::*;
use proptest::prelude::*;

/// Invariant (releases): Bins have no gaps, and every latency lies in its own.
#[test]
fn bins_follow_each_other_without_gap() {
    for bin in 0..BINS {
        assert_eq!(bin_of(bin_low(bin)), bin);
        assert!(bin_low(bin) < bin_high(bin));
        assert_eq!(bin_of(bin_high(bin) - 1), bin);
    }
}

#[test]
fn hours_have_a_bin_of_three_percent() {
    let three_hours = 3 * 3600 * 1_000_000_000_u64;
    let bin = bin_of(three_hours);
    assert!(bin < BINS - 1);
    assert!((bin_high(bin) - bin_low(bin)) as f64 <= three_hours as f64 / 32.0);
}

fn microseconds(bins: u32) -> BinLayout {
    BinLayout::equal(Nanos::ZERO, Nanos(1_000), bins).unwrap()
}

#[test]
fn a_million_bins_cost_what_they_hold() {
    let counts = Histogram::with_layout(microseconds(1_000_000), [5_300, 999_999_999].map(Nanos));
    assert_eq!(counts.bins, [(5, 1), (999_999, 1)]);
    assert_eq!(counts.overflow, Overflow::default());
    let last = Bin { low_ns: Nanos(999_999_000), high_ns: Nanos(1_000_000_000), count: 1 };
    assert_eq!(counts.rows()[1], last);
}

/// Invariant (releases): Bins of other edges are stored as they are, and never added to others.
#[test]
fn bins_of_different_edges_are_not_added() {
    let mut standard: Histogram = [Nanos(1_500)].into_iter().collect();
    let before = standard.clone();
    let other = Histogram::with_layout(microseconds(400), [Nanos(1_500)]);
    assert_eq!(standard.add(&other), Err(DifferentLayouts));
    assert_eq!(standard, before);
    let mut empty = Histogram::default();
    empty.add(&other).unwrap();
    assert_eq!(empty, other, "an empty one takes the bins that come");
    empty.add(&Histogram { overruns: 2, ..Histogram::default() }).unwrap();
    assert_eq!((empty.overruns, &empty.layout), (2, &other.layout));
}

#[test]
fn what_is_known_only_as_a_maximum_has_its_place() {
    // A file of 400 bins of 1 us, whose single overflow is its stated maximum.
    let counts = Histogram::with_layout(microseconds(400), [3_000, 1_282_000].map(Nanos));
    assert_eq!(
        counts.overflow,
        Overflow { count: 1, max_is_unknown: false, ..Overflow::default() }
    );
    assert_eq!((counts.count, counts.binned(), counts.max()), (2, 2, Some(Nanos(1_282_000))));
    let over = Bin { low_ns: Nanos(1_282_000), high_ns: Nanos(1_282_001), count: 1 };
    assert_eq!(counts.rows()[1], over);

    // With several overflows, only the largest is known.
    let several = [3_000, 500_000, 1_282_000].map(Nanos);
    let several = Histogram::with_layout(microseconds(400), several);
    let open = Bin { low_ns: Nanos(400_000), high_ns: Nanos::MAX, count: 2 };
    assert_eq!(several.rows()[1], open);
    assert_eq!(censored_above(&several.rows()), Some(Nanos(400_000)));
    assert_eq!(censored_above(&counts.rows()), None);

    // An overflow of unknown size.
    let unknown = Histogram {
        max_ns: Nanos(3_999),
        overflow: Overflow { count: 1, max_is_unknown: true, ..Overflow::default() },
        ..counts.clone()
    };
    assert_eq!(unknown.max(), None);
    assert_eq!(unknown.rows()[1], Bin { count: 1, ..open });
    let mut sum = counts;
    sum.add(&unknown).unwrap();
    assert_eq!(sum.overflow, Overflow { count: 2, max_is_unknown: true, ..Overflow::default() });
    assert_eq!(sum.max(), None, "the one that is known may not be the largest");
}

#[test]
fn bins_that_end_earlier_are_added_to_more_of_the_same_length() {
    let short = Histogram::with_layout(microseconds(6), [5_300].map(Nanos));
    let long = Histogram::with_layout(microseconds(13), [5_300, 12_000].map(Nanos));
    for (mut sum, other) in [(short.clone(), &long), (long.clone(), &short)] {
        sum.add(other).unwrap();
        assert_eq!((sum.bins, sum.layout), (vec![(5, 2), (12, 1)], microseconds(13)));
    }
    // What lies beyond the end of the shorter histogram may fall into any further bin of the longer
    // one.
    let mut over = Histogram::with_layout(microseconds(6), [5_300, 9_000].map(Nanos));
    assert_eq!(over.add(&long), Err(DifferentLayouts));
}

#[test]
fn only_latlabs_own_bins_travel_without_their_edges() {
    let own: Histogram = [50, 1_250, 7_000_000_000].map(Nanos).into_iter().collect();
    let bytes = postcard::to_allocvec(&own).unwrap();
    assert_eq!(postcard::from_bytes::<Histogram>(&bytes).unwrap(), own);
    let other = Histogram::with_layout(microseconds(400), [Nanos(1_500)]);
    assert!(postcard::to_allocvec(&other).is_err());
}

#[test]
fn a_histogram_is_packed_as_by_every_latlab_before() {
    let counts: Histogram = [-5, 250, 250, 1_000_000].map(Nanos).into_iter().collect();
    let counts = Histogram { overruns: 3, misses: 1, ..counts };
    // Count, sum, minimum, maximum, underflow, overruns, misses, and three pairs: 2 of bin 2, 1 of
    // bin 10000.
    let bytes = [4, 222, 144, 122, 9, 128, 137, 122, 1, 3, 1, 2, 2, 2, 144, 78, 1];
    assert_eq!(postcard::to_allocvec(&counts).unwrap(), bytes);
}

proptest! {
    /// Invariant (releases): Bins have no gaps, and every latency lies in its own.
    #[test]
    fn every_latency_lies_in_its_bin(latency in 0u64..(1 << 53)) {
        let bin = bin_of(latency);
        prop_assert!(bin_low(bin) <= latency && latency < bin_high(bin));
    }

    #[test]
    fn the_parts_add_up_to_the_whole(
        latencies in proptest::collection::vec(-2_000i64..5_000_000, 1..200),
        cut in 0usize..200,
        layout in crate::histogram_layout::layouts(),
    ) {
        let cut = cut.min(latencies.len());
        let of = |part: &[i64]| Histogram::with_layout(layout.clone(), part.iter().copied().map(Nanos));
        let mut sum = of(&latencies[..cut]);
        sum.add(&of(&latencies[cut..])).unwrap();
        prop_assert_eq!(&sum, &of(&latencies));
        prop_assert_eq!(sum.binned(), latencies.len() as u64);
        prop_assert_eq!(sum.rows().iter().map(|bin| bin.count).sum::<u64>(), sum.count);
        prop_assert_eq!(sum.min_ns.0, *latencies.iter().min().unwrap());
        prop_assert_eq!(sum.max().unwrap().0, *latencies.iter().max().unwrap());
        prop_assert_eq!(sum.sum_ns, latencies.iter().map(|&l| i128::from(l)).sum::<i128>());
    }
}
