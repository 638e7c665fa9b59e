//! Broken files: whatever can be read is read, and losses are reported.

use crate::common::*;
use latlab_formats::read::{ImportQuery, InputError};
use std::io::Write;

fn error_of(bytes: &[u8]) -> InputError {
    try_read(bytes, &ImportQuery::default()).unwrap_err()
}

#[test]
fn what_is_no_recording_is_refused_in_one_line() {
    assert_eq!(error_of(b""), InputError::Empty);
    for bytes in
        [&b"\0\x01\x02\xff\xfe"[..], b"hello\nworld\n", b"{\"a\": 1}", b"1,2,3\n4,5,6\n", b"\n\n"]
    {
        assert_eq!(error_of(bytes), InputError::Unknown);
    }
    let empty = error_of(b"# Histogram\n# Total: 000000000\n");
    assert_eq!(empty, InputError::NoLatencies { format: "cyclictest", reason: None });
    for error in [InputError::Empty, InputError::Unknown, empty] {
        assert!(!error.to_string().contains('\n'));
    }
}

#[test]
fn a_histogram_is_read_through_all_that_happens_to_text() {
    let whole = "# /dev/cpu_dma_latency set to 0us\r\n# Histogram\r\n000003 000010\t000004\r\n\
        kernel: [12.5] usb 1-1: new device\r\n000004 000002\t000001\t000009\r\n000005 00x\t000001\r\n\
        000006 99999999999999999999\t000001\r\n000007 000001\t000000\r\n\
        # Total: 000000014 000000005\r\n# Min Latencies: 00003 00003\r\n\
        # Avg Latencies: 00003 00003\r\n# Max Latencies: 00007 00004\r\n\
        # Histogram Overflows: 00000 00000\r\n";
    let recording = one(whole);
    let counts: Vec<u64> = recording.series.iter().map(|one| one.counts.count).collect();
    assert_eq!(counts, [11, 4]);
    let texts = texts(&recording);
    assert!(
        texts.contains(
            "3 lines that may hold latencies could not be read; the first is line 5: '000004"
        ),
        "{texts}"
    );
    assert!(
        texts.contains("1 other line holds no value; the first is line 4: 'kernel:"),
        "{texts}"
    );
    assert!(
        texts.contains("it states 14 as number of latencies, and its data come to 11 in the bins"),
        "{texts}"
    );
}

#[test]
fn contradictions_have_both_numbers() {
    let text = "000003 000010\n000004 000002\n# Total: 000000012\n# Min Latencies: 00001\n\
        # Avg Latencies: 00009\n# Max Latencies: 00007\n# Histogram Overflows: 00000\n";
    let texts = texts(&one(text));
    for line in [
        "Minimum: the file states 1 us, but its data come to 3 us",
        "it states 7 us as maximum, and its data come to 4 us",
        "it states 9 us as mean, and its data come to 3.1",
    ] {
        assert!(texts.contains(line), "{line}: {texts}");
    }
}

#[test]
fn a_cut_anywhere_costs_what_is_behind_it() {
    let whole = fixture("ct24_h40.txt");
    let mut last = 0;
    for cut in (0..whole.len()).step_by(7) {
        if let Ok(recordings) = try_read(&whole[..cut], &ImportQuery::default()) {
            let count = recordings[0].count();
            assert!(count >= last.min(3_975), "cut at {cut}: {count} after {last}");
            last = last.max(count);
        }
    }
    assert!(last >= 3_975);
}

#[test]
fn compressed_files_are_read_and_cut_ones_up_to_the_cut() {
    let plain = fixture("ct24_h40.txt");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&plain).unwrap();
    let packed = packed.finish().unwrap();
    assert_eq!(one(packed.clone()), one(plain.clone()));
    let long = [&plain[..], &b"# a remark\n".repeat(60_000)].concat();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    packed.write_all(&long).unwrap();
    let packed = packed.finish().unwrap();
    let cut = one(&packed[..packed.len() / 2]);
    assert_eq!(cut.count(), 4_000);
    assert!(codes(&cut).contains(&"import-incomplete"));
}

#[test]
fn json_that_breaks_off_keeps_its_whole_members() {
    let whole = fixture("ct24_json_h100.json");
    let cut = one(&whole[..whole.len() - 400]);
    assert!(cut.count() > 0 && codes(&cut).contains(&"import-incomplete"));
    let error = error_of(b"{\"thread\" nonsense").to_string();
    assert!(!error.contains('\n'), "{error}");
}

#[test]
fn several_outputs_in_one_file_are_several_recordings() {
    let one = String::from_utf8(fixture("ct24_h40.txt")).unwrap();
    let recordings = try_read(one.repeat(2), &ImportQuery::default()).unwrap();
    assert_eq!(recordings.len(), 2);
    assert_eq!(recordings[0].series, recordings[1].series);
}
