use latlab_model::Nanos;
use latlab_model::frame::*;
use latlab_model::histogram::Histogram;
use latlab_model::run::ClockReading;
use latlab_model::samples::Samples;
use proptest::prelude::*;

#[test]
fn an_interval_brings_the_edges_of_its_bins() {
    let layout = latlab_model::BinLayout::equal(Nanos::ZERO, Nanos(1_000), 1_000_000).unwrap();
    let counts = Histogram::with_layout(layout, [5_300, 999_999_999, 1_282_000_000].map(Nanos));
    assert_eq!((counts.bins.last(), counts.overflow.count), (Some(&(999_999, 1)), 1));
    let (start_ns, end_ns) = (Nanos(5), Nanos(9));
    let message = Message::Interval(Interval { thread: 2, start_ns, end_ns, counts });
    let bytes = message.encode();
    match FrameReader::new(&bytes[..]).next_frame().unwrap() {
        ReadResult::Frame(frame) => assert_eq!(frame.message, message),
        other => panic!("{other:?}"),
    }
}

fn sample_stream() -> (Vec<Message>, Vec<u8>) {
    let latencies = [-5, 1_250, 1_260, 88_000, 7_000_000_000].map(Nanos);
    let counts = Histogram { overruns: 3, misses: 1, ..latencies.into_iter().collect() };
    let messages = vec![
        Message::Hello(Hello { stream: 1, latlab: "0".into(), id: "x".into() }),
        Message::Interval(Interval { thread: 2, start_ns: Nanos(5), end_ns: Nanos(9), counts }),
        Message::Spikes(Spikes {
            thread: 1,
            spikes: vec![Spike { latency_ns: Nanos(7), release_ns: Nanos(8) }],
        }),
        Message::Clocks(ClockReading { monotonic_ns: Nanos(1), ..ClockReading::default() }),
        Message::Stop,
    ];
    let bytes = messages.iter().flat_map(Message::encode).collect();
    (messages, bytes)
}

fn read_all(bytes: &[u8]) -> (Vec<Message>, u64, Option<Damage>) {
    let mut reader = FrameReader::new(bytes);
    let mut messages = Vec::new();
    loop {
        match reader.next_frame().unwrap() {
            ReadResult::Frame(frame) => messages.push(frame.message),
            ReadResult::End => return (messages, reader.whole_bytes(), None),
            ReadResult::Damaged(damage) => {
                return (messages, reader.whole_bytes(), Some(damage));
            }
        }
    }
}

#[test]
fn what_was_written_is_read() {
    let (messages, bytes) = sample_stream();
    assert_eq!(read_all(&bytes), (messages, bytes.len() as u64, None));
}

/// Invariant (losses): A cut stream gives every whole frame.
#[test]
fn a_cut_anywhere_keeps_every_whole_frame() {
    let (messages, bytes) = sample_stream();
    let ends: Vec<usize> = messages
        .iter()
        .scan(0, |end, message| {
            *end += message.encode().len();
            Some(*end)
        })
        .collect();
    for cut in 0..bytes.len() {
        let whole = ends.iter().filter(|&&end| end <= cut).count();
        let (read, whole_bytes, damage) = read_all(&bytes[..cut]);
        assert_eq!(read, messages[..whole]);
        assert_eq!(whole_bytes as usize, if whole == 0 { 0 } else { ends[whole - 1] });
        assert_eq!(damage.is_none(), cut == whole_bytes as usize, "cut at {cut}");
    }
}

#[test]
fn samples_are_passed_over_and_a_cut_one_stays() {
    let samples = Message::Samples(Samples {
        thread: 0,
        lost_before: 0,
        first_release_ns: Nanos(1),
        period_ns: Nanos(1),
        count: 0,
        jumps: Vec::new(),
        packed: vec![7; 99],
    });
    let samples = samples.encode();
    let bytes = [&samples[..], &samples, &Message::Stop.encode(), &samples[..20]].concat();
    let mut reader = FrameReader::new(std::io::Cursor::new(&bytes));
    let end = bytes.len() as u64;
    reader.skip_bulk(end).unwrap();
    assert_eq!(reader.whole_bytes(), 2 * samples.len() as u64);
    assert!(
        matches!(reader.next_frame().unwrap(), ReadResult::Frame(f) if f.message == Message::Stop)
    );
    reader.skip_bulk(end).unwrap();
    assert_eq!(reader.whole_bytes(), end - 20);
    assert!(matches!(reader.next_frame().unwrap(), ReadResult::Damaged(Damage::CutOff)));
}

#[test]
fn damage_longer_than_any_frame_is_skipped() {
    let (_, bytes) = sample_stream();
    for length in [2 * FOUND_PAYLOAD - 5, 2 * FOUND_PAYLOAD, 5 * FOUND_PAYLOAD + 77] {
        let damaged = [&vec![0xaa; length][..], &bytes[..]].concat();
        assert_eq!(skip_damage(&mut &damaged[..]).unwrap(), Some(length as u64));
    }
}

proptest! {
    /// Invariant (losses): A flipped bit in a frame is detected and never read as a number.
    #[test]
    fn a_flipped_bit_is_noticed_and_never_read_as_a_number(at in 0usize..10_000, bit in 0u8..8) {
        let (messages, mut bytes) = sample_stream();
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        let (read, whole_bytes, damage) = read_all(&bytes);
        prop_assert!(damage.is_some());
        prop_assert!(whole_bytes as usize <= at);
        prop_assert_eq!(&read[..], &messages[..read.len()]);
    }

    #[test]
    fn whole_frames_behind_damage_are_found(
        noise in proptest::collection::vec(any::<u8>(), 1..3000), at in 0usize..5,
    ) {
        let (messages, _) = sample_stream();
        let rest: Vec<u8> = messages[at..].iter().flat_map(Message::encode).collect();
        let damaged = [&noise[..], &rest[..]].concat();
        prop_assert_eq!(skip_damage(&mut &damaged[..]).unwrap(), Some(noise.len() as u64));
        prop_assert_eq!(skip_damage(&mut &noise[..]).unwrap(), None);
    }

    #[test]
    fn noise_is_no_stream(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        read_all(&bytes);
    }
}
