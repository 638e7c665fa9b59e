use latlab_model::Nanos;
use latlab_model::trace::*;
use proptest::prelude::*;

fn event(at: i64, cpu: u32, kind: ThreadEventKind) -> ThreadEvent {
    ThreadEvent { at_ns: Nanos(at), cpu, kind }
}

fn stretch(events: Vec<ThreadEvent>) -> TraceStretch {
    TraceStretch {
        until_ns: Nanos(9),
        windows: vec![TraceWindow { from_ns: Nanos(1), to_ns: Nanos(9), on: true }],
        losses: vec![TraceLoss { at_ns: Nanos(3), cpu: 1, count: 77 }],
        threads: vec![(5, events), (7, Vec::new())],
    }
}

fn any_event() -> impl Strategy<Value = ThreadEvent> {
    let kind = prop_oneof![
        any::<i64>().prop_map(|at| ThreadEventKind::Armed { release_ns: Nanos(at) }),
        Just(ThreadEventKind::Expired),
        Just(ThreadEventKind::SwitchedIn),
    ];
    (any::<i64>(), any::<u32>(), kind).prop_map(|(at, cpu, kind)| event(at, cpu, kind))
}

proptest! {
    /// Invariant (losses): Packed trace events are unpacked unchanged, in less than seven bytes a cycle.
    #[test]
    fn what_was_packed_is_unpacked(events in proptest::collection::vec(any_event(), 0..400)) {
        let stretch = stretch(events);
        prop_assert_eq!(stretch.pack().unpack(), Ok(stretch));
    }

    #[test]
    fn damage_is_unpacked_or_refused(
        events in proptest::collection::vec(any_event(), 1..40), at: usize, to: u8, more: u32,
    ) {
        let mut packed = stretch(events).pack();
        let one = &mut packed.threads[0];
        one.counts.expired = one.counts.expired.saturating_add(more);
        let columns = [&mut one.kinds, &mut one.cpus, &mut one.releases, &mut one.armed,
            &mut one.expired, &mut one.switched];
        for column in columns {
            let length = column.len().max(1);
            column.iter_mut().skip(at % length).take(1).for_each(|byte| *byte = to);
        }
        if let Ok(read) = packed.unpack() {
            let Counts { armed, expired, switched } = packed.threads[0].counts;
            prop_assert_eq!(read.threads[0].1.len() as u32, armed + expired + switched);
        }
    }
}

/// Invariant (losses): Packed trace events are unpacked unchanged, in less than seven bytes a cycle.
#[test]
fn a_cycle_takes_less_than_seven_bytes() {
    // Three events a cycle, a few microseconds wide, from a fixed generator.
    let mut state = 1_u64;
    let mut random = |width: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as i64 % width
    };
    let events = |cycle: i64| {
        let release = 5_000_000_000_000 + cycle * 1_000_000;
        let irq = release + 1_000 + random(2_000);
        let switched = irq + 1_500 + random(2_000);
        let armed = switched + 4_000 + random(4_000);
        let next = ThreadEventKind::Armed { release_ns: Nanos(release + 1_000_000) };
        [
            event(irq, 3, ThreadEventKind::Expired),
            event(switched, 3, ThreadEventKind::SwitchedIn),
            event(armed, 3, next),
        ]
    };
    let packed = stretch((0..5_000).flat_map(events).collect()).pack();
    let size = postcard::to_allocvec(&packed).unwrap().len() as f64 / 5_000.0;
    assert!(size < 7.0, "{size} bytes a cycle");
}
