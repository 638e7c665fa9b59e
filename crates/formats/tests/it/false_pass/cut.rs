//! Files that were cut: the last value may be a part of the true one, what follows is missing, and
//! a length stated by the file is not reached.

use super::texts::*;
use crate::cases::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::Write;

#[test]
fn the_last_value_without_an_end_does_not_count() {
    let cut = |text: &str| text.strip_suffix('\n').unwrap_or(text).to_string();
    check(vec![
        case("a list", "", "inconclusive: 12; n=2", "latency_us\n12\n7\n94"),
        case("a list of one value", "", "inconclusive or refused", "latency_us\n94"),
        case(
            "a list without a heading",
            "--column 1 --unit us",
            "inconclusive: 12; n=2",
            "12\n7\n94",
        ),
        case("an exponent", "--column 1 --unit s", "inconclusive: 12; n=1", "1.2E-5\n1.4"),
        case(
            "an exponent without its digits",
            "--column 1 --unit s",
            "inconclusive: 12; n=1",
            "1.2E-5\n1.4E-",
        ),
        case(
            "the last column of a table",
            "",
            "inconclusive: 12; n=2",
            "at,latency_us\n1,12\n2,7\n3,94",
        ),
        case(
            "the first column of a table",
            "",
            "inconclusive: 12; n=2",
            "latency_us,at\n12,1\n7,2\n94,",
        ),
        case(
            "a quoted cell",
            "",
            "inconclusive: 12; n=2",
            "\"at\",\"latency_us\"\n\"1\",\"12\"\n\"2\",\"7\"\n\"3\",\"94",
        ),
        case(
            "a row without its latency",
            "",
            "inconclusive: 12; n=2",
            "at,latency_us\n1,12\n2,7\n3,",
        ),
        case("an empty last line is none", "", "pass: 12; n=2", "at,latency_us\n1,12\n2,7\n\n"),
        case(
            "samples of cyclictest",
            "",
            "inconclusive: 12; n=2",
            samples(0, 0, &[12, 7]) + "       0:       2:      94",
        ),
        case(
            "samples, cut in the cycle",
            "",
            "inconclusive: 12; n=2",
            samples(0, 0, &[12, 7]) + "       0:     ",
        ),
        case(
            "samples of jitterdebugger",
            "",
            "inconclusive: 12; n=2",
            "0;1.000000001;12\n0;1.000000002;7\n0;1.000000003;9",
        ),
        case(
            "samples of jitterdebugger, cut in the time",
            "",
            "inconclusive: 12; n=2",
            "0;1.000000001;12\n0;1.000000002;7\n0;1.0000",
        ),
        case(
            "rows of rttest",
            "",
            "inconclusive: 9.12; n=1",
            "iteration timestamp latency minor_faults major_faults\n0 1414000 9120 0 0\n1 2414000 941",
        ),
        case(
            "a row of a histogram",
            "",
            "inconclusive: 2",
            "# Histogram\n000001 000010\n000002 000005\n000941 00000",
        ),
        case(
            "before the footer of a histogram",
            "",
            "inconclusive: 2",
            "# Histogram\n000001 000010\n000002 000005\n",
        ),
        case(
            "in the maximum of a histogram",
            "",
            "not pass",
            cut(&histogram(&[(1, 10), (2, 5)], 1, 950))
                .replace("00950\n# Histogram Overflows: 00001", "009"),
        ),
        case(
            "before the maximum of a thread",
            "",
            "not pass",
            (BANNER.to_string() + &thread(0, 100, 60_000, 66) + &thread(1, 101, 60_000, 941))
                .replace("     941\n", ""),
        ),
        case(
            "in Xenomai's maximum",
            "",
            "not pass",
            format!(
                "{XENOMAI}{}RTD|      0.585|      1.012|      94",
                xenomai("12.500", 0, "12.500")
            ),
        ),
        case(
            "in pmqtest's maximum",
            "",
            "not pass",
            "#0: ID1, P90, CPU0, I500; #1: ID2, P90, CPU0, Cycles 500\n#1 -> #0, Min    3, Cur    3, Avg    3, Max   9",
        ),
        case(
            "a gap of hwlatdetect",
            "",
            "not pass",
            "hwlatdetect:  test duration 60 seconds\nMax Latency: 94",
        ),
        case(
            "latmus, before its rows",
            "",
            "not pass",
            "# sampling period: 1000 microseconds\n# min latency: 0.205\n# avg latency: 1.4\n# max latency: 25.5",
        ),
        case("UTF-16, cut in a letter", "", "not pass", {
            let text = "latency_us\n12\n7\n94";
            let mut bytes: Vec<u8> = [0xff, 0xfe]
                .into_iter()
                .chain(text.encode_utf16().flat_map(u16::to_le_bytes))
                .collect();
            bytes.pop();
            bytes
        }),
    ]);
}

#[test]
fn a_length_that_is_stated_and_not_reached() {
    let rows = |n: usize| "7\n".repeat(n);
    check(vec![
        case(
            "iterations above a list",
            "",
            "inconclusive; n=3",
            format!("# iterations: 1000\nlatency_us\n{}", rows(3)),
        ),
        case(
            "iterations without a colon",
            "",
            "inconclusive; n=3",
            format!("# iterations 1000\nlatency_us\n{}", rows(3)),
        ),
        case(
            "samples in a comment",
            "",
            "inconclusive; n=3",
            format!("# samples = 1000\nlatency_us\n{}", rows(3)),
        ),
        case(
            "a record length in the heading of a device",
            "",
            "inconclusive; n=3",
            format!("Model,X\nRecord Length,100000\n\nat,latency_us\n{}", "1,7\n".repeat(3)),
        ),
        case(
            "behind the rows",
            "",
            "inconclusive; n=3",
            format!("latency_us\n{}# rows: 1000\n", rows(3)),
        ),
        case(
            "a length that is reached",
            "",
            "pass; n=3",
            format!("# iterations: 3\nlatency_us\n{}", rows(3)),
        ),
        case(
            "fewer than were found",
            "",
            "not pass",
            format!("# iterations: 2\nlatency_us\n{}", rows(3)),
        ),
        case(
            "an unfinished run of rttest",
            "",
            "not pass",
            "iteration timestamp latency minor_faults major_faults\n0 1414000 9120 0 0\n2 3414000 9410 0 0\n",
        ),
    ]);
}

/// The list of [`packed_files_that_were_cut_or_changed`] compressed by `xz`.
const XZ: &str = "fd377a585a000004e6d6b4460200210116000000742fe5a3e186ad00675d0036184aeeee9197d15d \
    c373bab15532feda152b9d96cdc49a932d04387033b20c48178785d4bb5986cebc812db5739f2eb8 \
    06e2230dc5cc356655414d79a0996a8d77870796561587f08f147bdbd45f7a8fa548be4e0f9040b8 \
    06d8f30ddd2c2b394a50b3a1e0000000d7a7f014466fe24a00018301ae8d060078da1274b1c467fb \
    020000000004595a";

fn xz() -> Vec<u8> {
    let digits: Vec<u8> = XZ.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.as_chunks::<2>().0.iter().map(byte).collect()
}

#[test]
fn packed_files_that_were_cut_or_changed() {
    let plain =
        ["latency_us\n", &"0000000000000000007\n".repeat(5_000), "12\n"].concat().into_bytes();
    let mut gz = GzEncoder::new(Vec::new(), Compression::none());
    gz.write_all(&plain).unwrap();
    let gz = gz.finish().unwrap();
    let zst = compress_to_vec(&plain[..], CompressionLevel::Fastest);
    let mut cases = Vec::new();
    for (name, packed) in [("gz", &gz), ("xz", &xz()), ("zst", &zst)] {
        let length = packed.len();
        cases.push(case(format!("{name}, whole"), "", "pass: 12; n=5001", packed.clone()));
        for kept in [length - 1, length - 4, length - 8, length - 12, length / 2, length / 10, 24] {
            let one = packed[..kept.min(length - 1)].to_vec();
            cases.push(case(format!("{name}, {kept} of {length} bytes"), "", "not pass", one));
        }
        cases.push(case(
            format!("{name}, and other bytes behind it"),
            "",
            "not pass",
            [packed, &b"latency_us\n941\n"[..]].concat(),
        ));
        cases.push(case(
            format!("{name}, and the start of another"),
            "",
            "not pass",
            [packed, &packed[..length / 2]].concat(),
        ));
        cases.push(case(
            format!("{name}, and one byte of another"),
            "",
            "not pass",
            [packed, &packed[..1]].concat(),
        ));
        cases.push(case(
            format!("two of {name}, the second below the first"),
            "",
            "fail or pass",
            [&packed[..], packed].concat(),
        ));
        let mut changed = packed.clone();
        changed[length / 2] ^= 1;
        cases.push(case(format!("{name}, with a changed bit"), "", "not pass", changed));
    }
    check(cases);
}

/// If a compressed file is cut at a line boundary, only the compression shows it.
#[test]
fn a_packed_file_that_is_cut_between_lines() {
    let lines = "0000007\n".repeat(40_000);
    let mut gz = GzEncoder::new(Vec::new(), Compression::none());
    gz.write_all(b"latency_us_____\nlatency_us\n").unwrap();
    gz.write_all(lines.as_bytes()).unwrap();
    let gz = gz.finish().unwrap();
    let cases = (0..8).map(|more| {
        case(
            format!("{more} bytes more"),
            "--column latency_us",
            "not pass",
            gz[..gz.len() / 2 + more].to_vec(),
        )
    });
    check(cases.collect());
}
