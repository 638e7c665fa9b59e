use latlab_model::Nanos;
use latlab_model::histogram::*;
use proptest::prelude::*;

/// Layouts of all forms, up to a million bins.
pub fn layouts() -> impl Strategy<Value = BinLayout> {
    prop_oneof![
        Just(BinLayout::default()),
        (-5_000i64..5_000, 1i64..5_000, 1u32..=1_000_000).prop_map(|(start, width, count)| {
            BinLayout::equal(Nanos(start), Nanos(width), count).unwrap()
        }),
        (1_000i64..5_000_000, 2u32..=1_000_000)
            .prop_map(|(step, count)| BinLayout::around(step, count).unwrap()),
        proptest::collection::btree_set(-5_000i64..5_000_000, 2..200).prop_map(|edges| {
            BinLayout::explicit(edges.into_iter().map(Nanos).collect()).unwrap()
        }),
    ]
}

proptest! {
    #[test]
    fn every_latency_lies_in_its_bin_or_outside_of_all(
        layout in layouts(), latency in -10_000i64..10_000_000
    ) {
        let latency = Nanos(latency);
        match layout.bin_of(latency) {
            Ok(bin) => {
                prop_assert!(bin < layout.bins());
                prop_assert!(layout.low(bin) <= latency && latency < layout.high(bin));
            }
            Err(OutsideBins::Below) => prop_assert!(latency < layout.start()),
            Err(OutsideBins::Above) => prop_assert!(latency >= layout.end()),
        }
    }

    #[test]
    fn bins_follow_each_other(layout in layouts(), bin in 0u32..1_000_000) {
        let bin = bin % layout.bins();
        prop_assert!(layout.low(bin) < layout.high(bin));
        prop_assert_eq!(layout.high(bin), layout.low(bin + 1));
        prop_assert_eq!(layout.bin_of(layout.low(bin)), Ok(bin));
    }
}

#[test]
fn the_standard_layout_is_that_of_the_loop() {
    let layout = BinLayout::default();
    assert_eq!((layout.start(), layout.end()), (Nanos::ZERO, Nanos::MAX));
    for bin in 0..BINS {
        assert_eq!(layout.low(bin as u32).0 as u64, bin_low(bin));
        assert_eq!(layout.high(bin as u32).0 as u64, bin_high(bin));
    }
}

#[test]
fn edges_that_are_none_are_refused() {
    let equal = |start, width, count| BinLayout::equal(Nanos(start), Nanos(width), count);
    assert_eq!(equal(0, 1_000, 0), Err(LayoutError::NoBins));
    assert_eq!(equal(0, 0, 5), Err(LayoutError::NotRising));
    assert_eq!(equal(0, i64::MAX, 2), Err(LayoutError::TooLong));
    let explicit = |edges: &[i64]| BinLayout::explicit(edges.iter().copied().map(Nanos).collect());
    assert_eq!(explicit(&[5]), Err(LayoutError::NoBins));
    assert_eq!(explicit(&[5, 5]), Err(LayoutError::NotRising));
    // Decoded layouts are checked too.
    let sent = |edges: [i64; 2]| {
        let explicit = BinLayout::explicit(vec![Nanos(1), Nanos(2)]).unwrap();
        let bytes = postcard::to_allocvec(&explicit).unwrap();
        let (kind, _) = postcard::take_from_bytes::<u32>(&bytes).unwrap();
        let bytes = postcard::to_allocvec(&(kind, edges.map(Nanos).to_vec())).unwrap();
        postcard::from_bytes::<BinLayout>(&bytes)
    };
    assert_eq!(sent([1, 2]).ok(), BinLayout::explicit(vec![Nanos(1), Nanos(2)]).ok());
    assert!(sent([5, 4]).is_err());
}
