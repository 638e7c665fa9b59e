//! Losses that a file does not mention are reported: damaged rows, truncated ends, stated lengths,
//! odd numbers.
//!
//! Invariant (captures): What could not be read of a capture, and may have held an edge, is reported.

use crate::common::*;
use latlab_capture::{CaptureResult, LossKind, survey};
use std::path::Path;

/// A square wave of the stimulus each 100 samples of 10 us, answered 3 samples later, as rows.
fn rows(count: usize, row: &dyn Fn(usize, u8, u8) -> String) -> Vec<String> {
    let level = |at: usize, from: usize| u8::from(at % 100 >= from);
    (0..count).map(|at| row(at, level(at, 50), level(at, 53))).collect()
}

/// Ten stimuli, sampled: 10 us per row.
fn table() -> Vec<String> {
    let row = |at: usize, a: u8, b: u8| {
        format!("{:.5},{:.2},{:.2}\n", at as f64 * 1e-5, f64::from(a) * 3.3, f64::from(b) * 3.3)
    };
    rows(1_000, &row)
}

const HEADING: &str = "Time [s],A,B\n";
const ANSWERS: [i64; 10] = [30_000_000; 10];

fn result_of(folder: &Path, text: impl AsRef<[u8]>) -> (CaptureResult, Vec<i64>) {
    let path = written(folder, "a.csv", text);
    measured(&path, &query("A", "B")).unwrap_or_else(|error| panic!("{error}"))
}

/// The losses, with their first places.
fn told(result: &CaptureResult) -> Vec<(LossKind, u64, String)> {
    result.losses.iter().map(|loss| (loss.kind, loss.count, loss.first.in_words())).collect()
}

#[test]
fn a_whole_table_has_lost_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (found, delays) = result_of(folder.path(), HEADING.to_string() + &table().concat());
    assert_eq!((delays, told(&found)), (ANSWERS.to_vec(), vec![]));
}

#[test]
fn a_damaged_row_is_told_with_its_line_and_the_others_count() {
    let folder = tempfile::tempdir().unwrap();
    for (damage, kind, said) in [
        ("0.0070x,0.00,0.00\n", LossKind::Rows, "expected a number in column 1, found '0.0070x'"),
        ("0.00700,0.0.0,0.00\n", LossKind::Values, "expected a number in column 2, found '0.0.0'"),
        ("0.00700,0.00\n", LossKind::Rows, "the row has 2 cells, and the others have 3"),
        ("0.00700\n", LossKind::Rows, "the row has 1 cells, and the others have 3"),
        ("0.00700,0.00,0.00,0.02\n", LossKind::Rows, "the row has 4 cells, and the others have 3"),
        (",0.00,0.00\n", LossKind::Rows, "the row has no time"),
        ("0.00700,,0.00\n", LossKind::Values, "the cell of column 2 is empty"),
        ("0.000,0.00,0.00\n", LossKind::Rows, "the time is earlier than that of the row before"),
        ("#0.00700,0.00,0.00\n", LossKind::Rows, "the row begins with the sign of a remark"),
        ("\0\0\0\0\0\0\0\0\n", LossKind::Rows, "the row has 1 cells, and the others have 3"),
    ] {
        let mut table = table();
        table[700] = damage.to_string();
        let (found, delays) = result_of(folder.path(), HEADING.to_string() + &table.concat());
        assert_eq!(delays, ANSWERS, "{damage}");
        let told = told(&found);
        let (first_kind, count, first) = told.first().unwrap_or_else(|| panic!("{damage}"));
        let is_said =
            *first == format!("line 702: {said}") || first.starts_with("line 702: expected");
        assert!((*first_kind, *count) == (kind, 1) && is_said, "{damage}: {told:?}");
    }
}

#[test]
fn a_row_of_a_wrong_time_takes_no_others_with_it() {
    let folder = tempfile::tempdir().unwrap();
    for wrong in ["0.90700", "0.00790", "0.00610"] {
        let mut table = table();
        table[700] = format!("{wrong},0.00,0.00\n");
        let (found, delays) = result_of(folder.path(), HEADING.to_string() + &table.concat());
        assert_eq!(delays, ANSWERS, "{wrong}");
        let told = told(&found);
        assert!(!told.is_empty() && told.iter().all(|one| one.1 <= 2), "{wrong}: {told:?}");
    }
}

#[test]
fn missing_and_doubled_samples_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let said = |change: &dyn Fn(&mut Vec<String>)| {
        let mut table = table();
        change(&mut table);
        told(&result_of(folder.path(), HEADING.to_string() + &table.concat()).0)
    };
    let one = said(&|table| drop(table.remove(700)));
    assert_eq!(one[0].2, "line 702: a sample before this row is missing");
    // Also among the rows from which the layout is detected.
    let early = said(&|table| drop(table.drain(20..23)));
    assert_eq!(early[0].2, "line 22: 3 samples before this row are missing");
    let doubled = said(&|table| table.insert(700, table[700].clone()));
    assert_eq!(doubled[0].2, "line 703: the time is about that of the row before");
    let moved = said(&|table| {
        let row = table.remove(700);
        table.insert(300, row);
    });
    assert!(!moved.is_empty());
    let heading = said(&|table| table.insert(700, HEADING.to_string()));
    assert_eq!(heading[0].2, "line 702: expected a number in column 1, found 'Time [s]'");
}

#[test]
fn a_second_table_is_refused_or_told() {
    let folder = tempfile::tempdir().unwrap();
    let second = format!("Time [us],A,B\n{}", table()[..60].concat());
    let (found, delays) =
        result_of(folder.path(), format!("{HEADING}{}{second}", table().concat()));
    assert_eq!(delays, ANSWERS);
    let told = told(&found);
    assert_eq!((told[0].0, told[0].1 >= 60), (LossKind::Rows, true), "{told:?}");
    assert!(told[0].2.starts_with("line 1002: expected a number in column 1"), "{told:?}");
    let twice = format!("{HEADING}{0}{HEADING}{0}", table().concat());
    let path = written(folder.path(), "twice.csv", twice);
    let error = measured(&path, &query("A", "B")).unwrap_err().to_string();
    assert!(error.contains(":1002: expected a number in column 1, found 'Time [s]'"), "{error}");
}

#[test]
fn a_file_without_a_line_end_may_be_cut() {
    let folder = tempfile::tempdir().unwrap();
    let whole = HEADING.to_string() + &table().concat();
    for cut in [1, 2, 4, 6, 12, 16] {
        let (found, _) = result_of(folder.path(), &whole[..whole.len() - cut]);
        let told = told(&found);
        let [(LossKind::Missing, 1, first)] = &told[..] else { panic!("{cut}: {told:?}") };
        assert!(first.starts_with("line 1001: the file ends without a line end"), "{first}");
    }
    let (found, _) = result_of(folder.path(), whole.clone() + "\n  ");
    assert_eq!(told(&found), []);
    let list = "latency_us\n900\n1200\n37";
    let path = written(folder.path(), "list.csv", list);
    let (found, delays) = measured(&path, &asked_of_list()).unwrap();
    assert_eq!(delays, [900_000_000, 1_200_000_000]);
    assert!(told(&found)[0].2.starts_with("line 4: the file ends without a line end"));
    let dump = vcd(&[12_000, 18_000]);
    let path = written(folder.path(), "a.vcd", &dump[..dump.len() - 2]);
    let (found, _) = measured(&path, &query("in", "out")).unwrap();
    assert!(told(&found)[0].2.contains("the file ends without a line end"), "{:?}", told(&found));
}

#[test]
fn stated_lengths_are_compared_with_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    for (head, stated) in [
        ("Record Length,100000\n", Some("100000")),
        ("Record Length,Analog:7000\nSample Interval,Analog:1e-5\n", Some("7000")),
        ("Points;2000\n", Some("2000")),
        ("#SIZE=4000\n", Some("4000")),
        ("\"Memory Length\",10k\n", Some("10000")),
        ("Record Length,1000\n", None),
        ("Sample Interval,1e-5\nVertical Scale,2.0\n", None),
        ("Record Length,600\n", None),
    ] {
        let text = format!("{head}{HEADING}{}", table().concat());
        let (found, delays) = result_of(folder.path(), text);
        assert_eq!(delays, ANSWERS, "{head}");
        let wanted = stated.map(|stated| {
            let what = format!("the file states {stated} samples and has 1000");
            (LossKind::Missing, 1, what)
        });
        assert_eq!(told(&found), Vec::from_iter(wanted), "{head}");
    }
    // An old Tektronix writes it in its first rows.
    let facts = ["Record Length,2.5e+03,", "Source,A,"];
    let row = |(at, row): (usize, &String)| format!("{},{row}", facts.get(at).unwrap_or(&",,"));
    let single: Vec<String> = rows(1_000, &|at, a, _| format!("{:.5},{a}.0\n", at as f64 * 1e-5));
    let text: String = single.iter().enumerate().map(row).collect();
    let path = written(folder.path(), "old.csv", text);
    let looked = survey(&[path]).unwrap().unwrap();
    let what = looked.losses[0].first.in_words();
    assert_eq!(what, "the file states 2500 samples and has 1000");
}

#[test]
fn a_cut_waveform_is_read_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let delays = [12_000, 18_500, 240_000, 1_000, 99_000];
    let files = [isf(&delays, 0), isf(&delays, 1)];
    let half = files[0].len() - files[0].len() / 3;
    let paths = [
        written(folder.path(), "a.isf", &files[0][..half]),
        written(folder.path(), "b.isf", &files[1][..half]),
    ];
    let (found, seen) = measured_of(&paths, &query("Ch1", "Ch2")).unwrap();
    assert!((1..5).contains(&seen.len()), "{seen:?}");
    let told = told(&found);
    assert!(told.len() == 2 && told[0].2.contains("the file states "), "{told:?}");
    // A whole file together with a truncated one.
    let paths = [written(folder.path(), "c.isf", &files[0]), paths[1].clone()];
    let (found, _) = measured_of(&paths, &query("Ch1", "Ch2")).unwrap();
    let ends = found.losses.iter().filter(|loss| loss.first.what.contains("before the others"));
    assert_eq!(ends.count(), 1, "{:?}", found.losses);
    let mut more = files[0].clone();
    more.extend(b"\n\x01\x02\x03\x04");
    let path = written(folder.path(), "more.isf", more);
    let looked = survey(&[path]).unwrap().unwrap();
    assert!(looked.losses[0].first.what.contains("more bytes"), "{:?}", looked.losses);
}

#[test]
fn samples_of_a_session_that_end_at_different_times_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let metadata = "[device 1]\ncapturefile=logic-1\nsamplerate=1 MHz\nprobe1=in\nprobe2=out\n\
        unitsize=1\nanalog9=A0\n";
    let logic: Vec<u8> = (0..4_000).map(|at| if at % 1_000 < 500 { 0 } else { 3 }).collect();
    let session = |analog: usize| {
        let members = [
            ("version".to_string(), b"2".to_vec()),
            ("metadata".to_string(), metadata.as_bytes().to_vec()),
            ("logic-1-1".to_string(), logic.clone()),
            ("analog-1-9-1".to_string(), vec![0; analog]),
        ];
        let path = written(folder.path(), "a.sr", zipped(&members));
        survey(&[path]).unwrap().unwrap().losses
    };
    assert_eq!(session(16_000), []);
    let told = session(8_000);
    assert!(told[0].first.what.contains("A0 ends 0.002 s before the others"), "{told:?}");
    let told = session(15_999);
    assert!(told[0].first.what.contains("the samples end within one of them"), "{told:?}");
    let cut = zipped(&[("version".to_string(), b"2".to_vec())]);
    let path = written(folder.path(), "cut.sr", &cut[..cut.len() - 5]);
    assert!(measured(&path, &query("in", "out")).unwrap_err().to_string().contains("truncated"));
    let other = zipped(&[("a.csv".to_string(), b"1,2\n".to_vec())]);
    let path = written(folder.path(), "a.zip", other);
    let error = measured(&path, &query("in", "out")).unwrap_err().to_string();
    assert!(error.contains("no sigrok session: unpack it"), "{error}");
}

#[test]
fn damage_in_a_dump_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let whole = vcd(&[12_000; 40]);
    let said = |from: &str, to: &str| {
        let path = written(folder.path(), "a.vcd", whole.replacen(from, to, 1));
        let (found, _) = measured(&path, &query("in", "out")).unwrap();
        let told = told(&found);
        assert!(!told.is_empty(), "{from:?} to {to:?}");
        told[0].clone()
    };
    assert_eq!(said("#9000000\n1!", "#9x00000\n1!").0, LossKind::Changes);
    assert!(said("#9000000\n1!", "#9000000\n1?!").2.contains("which was not declared"));
    assert!(said("#9000000\n1!", "#9000000\nq!").2.contains("expected a value change"));
    assert!(said("#9000000\n1!", "#5000\n1!").2.contains("a time is earlier"));
    assert!(said("#9000000\n1!", "#9000000").2.contains("a change before it may be missing"));
    assert!(said("#9012000\n", "").2.contains("a line between both may be missing"));
    assert!(said("0!\n", "").2.contains("in is unknown before 0.001 s after the start"));
    assert!(said("0!\n", "x!\n").2.contains("in is unknown before 0.001 s after the start"));
    assert!(said("#9000000\n1!", "#9000000\nx!").2.contains("the level of top.in is unknown"));
    assert!(said("#9000000\n1!", "$bogus #9000000\n1!").2.contains("an unknown section"));
}

#[test]
fn a_list_tells_what_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<String> = (0..40).map(|at| format!("{at},{}\n", 90 + at)).collect();
    let said = |change: &dyn Fn(&mut Vec<String>)| {
        let mut rows = rows.clone();
        change(&mut rows);
        let path = written(folder.path(), "a.csv", "n,latency_us\n".to_string() + &rows.concat());
        let (found, delays) = measured(&path, &asked_of_list()).unwrap();
        (delays.len(), told(&found))
    };
    assert_eq!(said(&|_| {}), (40, vec![]));
    for (row, what) in [
        ("20,1x0\n", "line 22: expected a number in column 2, found '1x0'"),
        ("20,>1000\n", "line 22: expected a number in column 2, found '>1000'"),
        ("20,\n", "line 22: the row has no reading"),
        ("20,1,500\n", "line 22: the row has 3 cells, and the others have 2"),
        ("20,0x1F\n", "line 22: expected a number in column 2, found '0x1F'"),
        ("20,1e999\n", "line 22: expected a number in column 2, found '1e999'"),
        ("2 0,110\n", "line 22: expected a number in column 1, found '2 0'"),
        ("n,latency_ms\n", "line 22: expected a number in column 2, found 'latency_ms'"),
        ("#20,110\n", "line 22: the row begins with the sign of a remark"),
    ] {
        let (count, told) = said(&|rows| rows[20] = row.to_string());
        let first = told.first().unwrap_or_else(|| panic!("{row}"));
        assert_eq!((count, first.0, &first.2[..]), (39, LossKind::Rows, what), "{row}");
    }
    let (count, told) = said(&|rows| drop(rows.remove(20)));
    assert_eq!((count, &told[0].2[..]), (39, "line 22: expected number 20, found 21"));
    let (_, told) = said(&|rows| rows.insert(20, rows[5].clone()));
    assert_eq!(told[0].2, "line 22: expected number 20, found 5");
    let long = format!("20,{}\n", "1".repeat(1 << 20));
    let (count, told) = said(&|rows| rows[20] = long.clone());
    assert_eq!((count, &told[0].2[..]), (39, "line 22: the row is longer than 1 MiB"));
}

#[test]
fn numbers_are_what_they_are_or_are_told() {
    let folder = tempfile::tempdir().unwrap();
    // Read as meant: a unit in the cell, groups of digits, exponents.
    for text in [
        "latency [us]\n12 500\n900\n",
        "latency [us]\n12\u{a0}500\n900\n",
        "latency\n12.500 ms\n900 us\n",
        "latency [us]\n1.25e4\n9E2\n",
        "latency [us]\n12'500\n900\n",
        "latency [us]\n+12500\n900.0\n",
    ] {
        let path = written(folder.path(), "a.csv", text);
        let (found, delays) =
            measured(&path, &asked_of_list()).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!((delays, told(&found)), (vec![12_500_000_000, 900_000_000], vec![]), "{text:?}");
    }
    // Or refused if ambiguous.
    for (text, said) in [
        ("latency [us]\n10\n1,500\n", "the commas may be decimal commas or part thousands"),
        (
            "a;latency [us]\n0;1,500\n1;2,250\n",
            "the commas may be decimal commas or part thousands",
        ),
        ("latency [ms]\n2\n9x9\n", ":3: expected a number in column 1, found '9x9'"),
        ("latency [ms]\n0.5\n>1000\n", ":3: expected a number in column 1, found '>1000'"),
    ] {
        let path = written(folder.path(), "a.csv", text);
        let error = measured(&path, &asked_of_list()).unwrap_err().to_string();
        assert!(error.contains(said), "{text:?}: {error}");
    }
    let path = written(folder.path(), "a.csv", "latency [us]\n900\ninf\nnan\n");
    let (found, _) = measured(&path, &asked_of_list()).unwrap();
    assert_eq!((found.counts.answered, found.counts.censored), (1, 2));
    let ns = latlab_capture::CaptureQuery {
        unit: Some(latlab_capture::ListUnit::Nano),
        ..asked_of_list()
    };
    let error = measured(&path, &ns).unwrap_err().to_string();
    assert!(error.contains("--unit ns contradicts the heading of the readings, which says us"));
}

#[test]
fn unknown_values_of_a_channel_that_is_asked_for_are_told() {
    let folder = tempfile::tempdir().unwrap();
    for (unknown, is_told) in [("NaN", true), ("9.91E37", true), ("X", true), ("Inf", false)] {
        let mut table = table();
        for row in &mut table[740..745] {
            let time = row.split(',').next().unwrap();
            *row = format!("{time},{unknown},0.00\n");
        }
        let (found, _) = result_of(folder.path(), HEADING.to_string() + &table.concat());
        let told = told(&found);
        assert_eq!(told.len() == 1, is_told, "{unknown}: {told:?}");
        assert!(told.iter().all(|one| one.2.starts_with("the level of A is unknown 0.0074 s")));
    }
    // A level that was never known cannot be a lost edge.
    let mut table = table();
    table[0] = "0.00000,X,0.00\n".to_string();
    assert_eq!(told(&result_of(folder.path(), HEADING.to_string() + &table.concat()).0), []);
}

#[test]
fn names_that_are_there_twice_and_headings_in_remarks_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("# Time [s],A,B\n{}", table().concat());
    let (found, delays) = result_of(folder.path(), text);
    assert_eq!((delays, told(&found)), (ANSWERS.to_vec(), vec![]));
    let path = written(folder.path(), "twice.csv", format!("Time [s],A,A\n{}", table().concat()));
    let (found, delays) = measured(&path, &query("A", "A (2)")).unwrap();
    assert_eq!(delays, ANSWERS);
    assert!(found.notes.iter().any(|note| note.contains("'A (2)'")), "{:?}", found.notes);
}

#[test]
fn tables_of_further_programs_are_understood() {
    let folder = tempfile::tempdir().unwrap();
    let volts = |one: u8| f64::from(one) * 3.3;
    let siglent = "Record Length,Analog:1000\nSample Interval,Analog:1.0E-05\nVertical Units,CH1:V,\
        CH2:V\nHorizontal Units,s\nModel Number,SDS1104X-E\nSource,A,B\nSecond,Volt,Volt\n";
    let old_siglent = "Record Length,1000\nSample Interval,0.00001\nVertical Units,V\nSource,A,B\n\
        Second,Value,Value\n";
    let plain = |head: &str| {
        let row = |at: usize, a: u8, b: u8| {
            format!("{:.8},{:.5},{:.5}\n", at as f64 * 1e-5, volts(a), volts(b))
        };
        head.to_string() + &rows(1_000, &row).concat()
    };
    let with_units = |at: usize, a: u8, b: u8| {
        format!("{:.3}\u{a0}us;{:.2} V;{:.0} mV\n", at as f64 * 10.0, volts(a), volts(b) * 1e3)
    };
    let time_last = |at: usize, a: u8, b: u8| format!("{at},{a},{b},{:.6}\n", at as f64 * 1e-5);
    let settings = "Instrument;XYZ\nChannels;2\n\n";
    for (name, text) in [
        ("siglent", plain(siglent)),
        ("old siglent", plain(old_siglent)),
        ("units", format!("{settings}Time;A;B\n{}", rows(1_000, &with_units).concat())),
        ("last", format!("Row,A,B,Time (s)\n{}", rows(1_000, &time_last).concat())),
    ] {
        let (found, delays) = result_of(folder.path(), text);
        let is_near = |delay: &i64| (delay - 30_000_000).abs() < 10;
        assert!(delays.len() == 10 && delays.iter().all(is_near), "{name}: {delays:?}");
        assert_eq!(told(&found), [], "{name}");
        assert_eq!(found.resolution_ps, Some(10_000_000), "{name}");
    }
}

/// A response that may have come while a level was unknown is neither missing nor late.
#[test]
fn damage_between_a_stimulus_and_its_response_leaves_that_one_open() {
    let folder = tempfile::tempdir().unwrap();
    let delays = vec![20_000; 200];
    let saleae = saleae(&delays);
    let rows: Vec<&str> = saleae.lines().collect();
    let response = (0..rows.len()).filter(|at| rows[*at].ends_with(",1,1")).nth(100).unwrap();
    for damaged in ["0.10x,1,1", "0.100020,1,", "0.100020,1,?", "0.1"] {
        let mut rows = rows.clone();
        rows[response] = damaged;
        let path = written(folder.path(), "a.csv", rows.join("\n") + "\n");
        let (found, _) = measured(&path, &query("Channel 0", "Channel 1")).unwrap();
        let counts = found.counts;
        let open = (counts.censored, counts.missing, counts.late);
        assert_eq!((open, found.figures.max_ps()), ((1, 0, 0), Some(20_000_000)), "{damaged}");
    }
}

/// Statements in comments about the rows count.
#[test]
fn remarks_that_speak_of_losses_or_of_more_rows_are_told() {
    let folder = tempfile::tempdir().unwrap();
    for remark in ["# 300 samples lost", "# capture stopped: buffer overflow", "# rows: 5000"] {
        for text in [
            format!("{remark}\n{HEADING}{}", table().concat()),
            format!("{HEADING}{}{remark}\n", table().concat()),
        ] {
            let (found, delays) = result_of(folder.path(), &text);
            assert_eq!(delays, ANSWERS, "{remark}");
            let is_told = !told(&found).is_empty();
            // The number of rows is stated above them.
            assert_eq!(is_told, !remark.contains("rows") || text.starts_with('#'), "{remark}");
        }
    }
    let list = "# 3 timeouts\nindex,seconds\n0,2e-5\n1,3e-5\n2,3e-5\n";
    let path = written(folder.path(), "list.csv", list);
    let (found, _) = measured(&path, &asked_of_list()).unwrap();
    assert_eq!(told(&found)[0].2, "line 1: a remark says that something was lost");
}
