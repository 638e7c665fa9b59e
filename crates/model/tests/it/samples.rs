use latlab_model::Nanos;
use latlab_model::samples::*;
use proptest::prelude::*;

proptest! {
    /// Invariant (losses): Packed samples are unpacked unchanged, in less than two bytes each.
    #[test]
    fn what_was_packed_is_unpacked(latencies in proptest::collection::vec(
        prop_oneof![8 => 1_000i64..60_000, 1 => -5_000i64..5_000_000, 1 => any::<i64>()], 0..600
    )) {
        prop_assert_eq!(unpack(&pack(&latencies), latencies.len()), Some(latencies));
    }

    #[test]
    fn noise_is_unpacked_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300),
                                    count in 0usize..5_000) {
        if let Some(latencies) = unpack(&bytes, count) {
            prop_assert_eq!(latencies.len(), count);
        }
    }

    #[test]
    fn releases_come_back_with_their_jumps(
        jumps in proptest::collection::btree_map(0u32..500, 1i64..1_000_000, 0..20)
    ) {
        let mut release = 7_000_000;
        let expected: Vec<Nanos> = (0..500).map(|index| {
            release += jumps.get(&index).unwrap_or(&0);
            release += 50_000;
            Nanos(release - 50_000)
        }).collect();
        let latencies: Vec<i64> = (0..500).map(|index| 5_000 + index % 7).collect();
        let samples = Samples {
            thread: 0,
            lost_before: 0,
            first_release_ns: Nanos(7_000_000),
            period_ns: Nanos(50_000),
            count: 500,
            jumps: jumps.into_iter().map(|(at, by)| (at, Nanos(by))).collect(),
            packed: pack(&latencies),
        };
        let read = samples.unpack().unwrap();
        prop_assert_eq!(read.iter().map(|one| one.release_ns).collect::<Vec<_>>(), expected);
        prop_assert_eq!(read.iter().map(|one| one.latency_ns.0).collect::<Vec<_>>(), latencies);
    }
}

/// Invariant (losses): Packed samples are unpacked unchanged, in less than two bytes each.
#[test]
fn a_sample_takes_less_than_two_bytes_and_a_spike_only_its_own() {
    // Latencies about 9 us wide, as a virtual machine has them, from a fixed generator.
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as i64
    };
    let quiet: Vec<i64> =
        (0..100_000).map(|_| 9_000 + random() % 4_500 + random() % 4_500).collect();
    let size = pack(&quiet).len() as f64 / quiet.len() as f64;
    assert!(size < 1.8, "{size} bytes a sample");
    let mut spiky = quiet;
    spiky.iter_mut().step_by(100).for_each(|latency| *latency += 50_000_000);
    let with_spikes = pack(&spiky).len() as f64 / spiky.len() as f64;
    assert!(with_spikes < size + 0.12, "{with_spikes} bytes a sample");
}

#[test]
fn picoseconds_come_back_and_nonsense_is_refused() {
    let fine = |at, latency_ps| Sample::fine(Nanos(at), latency_ps);
    let samples = [fine(5, 48_100), fine(9, 47_500), fine(12, 47_499), fine(14, 0)];
    let whole: Vec<i64> = samples.iter().map(|one| one.latency_ns.0).collect();
    assert_eq!(whole, [48, 48, 47, 0]);
    assert_eq!(samples.map(Sample::latency_ps), [48_100, 47_500, 47_499, 0]);
    let packed = FineSamples::without_period(0, &samples);
    assert_eq!(packed.unpack(), Ok(samples.to_vec()));
    let nonsense = FineSamples { rests: pack(&[0, 0, 501, 0]), ..packed };
    assert_eq!(nonsense.unpack(), Err(Unreadable));
}

#[test]
fn a_count_beyond_the_bytes_is_refused() {
    assert_eq!(unpack(&[0xff; 4], 1 << 40), None);
    let jump = Samples {
        thread: 0,
        lost_before: 0,
        first_release_ns: Nanos(0),
        period_ns: Nanos(1),
        count: 1,
        jumps: vec![(5, Nanos(1))],
        packed: pack(&[1]),
    };
    assert_eq!(jump.unpack(), Err(Unreadable));
}
