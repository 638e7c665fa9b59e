//! Each format, by the outputs of the tools themselves.

use crate::common::*;
use latlab_formats::read::{ImportQuery, InputUnit, format_of_id, read_file};
use std::fs::File;

/// Count, minimum, mean and maximum in microseconds of each thread; a mean of NaN is not compared.
fn figures(name: &str) -> Vec<(u64, f64, f64, f64)> {
    let recordings = try_read(fixture(name), &ImportQuery::default())
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let series = recordings.iter().flat_map(|one| &one.series);
    series
        .map(|one| {
            let counts = &one.counts;
            let us = |nanos: f64| (nanos / 10.0).round() / 100.0;
            let mean = counts.mean_ns().unwrap_or(f64::NAN);
            (counts.count, us(counts.min_ns.0 as f64), us(mean), us(counts.max_ns.0 as f64))
        })
        .collect()
}

#[test]
fn outputs_of_cyclictest() {
    assert_eq!(figures("ct24_h40.txt"), [(2000, 17.0, 23.77, 63.0), (2000, 6.0, 14.05, 286.0)]);
    assert_eq!(figures("ct24_H20.txt")[1], (2000, 11.0, 13.85, 116.0));
    assert_eq!(figures("ct24_H20.txt").len(), 2, "the sum is no thread");
    assert_eq!(figures("ct210_H40.txt").len(), 2);
    let summary = [(1000, 11.0, 30.0, 8592.0), (674, 9.0, 29.0, 8138.0)];
    assert_eq!(figures("ct24_q_summary.txt"), summary);
    assert_eq!(figures("ct24_q_N.txt"), [(1000, 11.83, 24.07, 63.98)], "in nanoseconds");
    assert_eq!(figures("ct24_snapshot_p.txt")[1], (1137, 12.0, 16.0, 204.0));
    assert_eq!(figures("ct24_fifo.txt").len(), 2);
    assert_eq!(figures("ct24_default_live.txt").len(), 2);
    assert_eq!(figures("ct24_b30.txt")[0], (2, 25.0, 36.0, 47.0));
    assert_eq!(figures("ct24_spike40.txt")[1].0, 1995);
    assert!(figures("ct24_v.txt").len() == 2 && figures("ct10_v.txt").len() == 2);
    for name in
        ["ct24_h40.txt", "ct210_h40.txt", "ct10_h40.txt", "ct10_H40.txt", "ct24_histfile.txt"]
    {
        assert_eq!(one(fixture(name)).format, "cyclictest histogram", "{name}");
    }
}

#[test]
fn a_summary_has_no_histogram() {
    let recording = one(fixture("ct24_q_summary.txt"));
    assert!(recording.is_summary());
    assert!(recording.series.iter().all(|series| series.counts.rows().is_empty()));
    assert_eq!(codes(&recording), ["import-summary-only"]);
    assert_eq!(recording.series[0].policy, "priority 95");
    assert_eq!(recording.series[1].period_ns.unwrap().0, 1_500_000);
}

#[test]
fn a_thread_that_ran_for_a_part_of_the_time_is_told() {
    let line = |thread: u32, period: u32, cycles: u64| {
        format!("T: {thread} ( 1) P:80 I:{period} C:{cycles} Min:1 Act:4 Avg:5 Max:50\n")
    };
    let short = one(line(0, 1_000, 10_000) + &line(1, 1_000, 1));
    assert!(texts(&short).contains("thread 1 has 1 of 10 000 cycles"), "{}", texts(&short));
    let slower = one(line(0, 1_000, 10_000) + &line(1, 1_500, 6_650));
    assert!(!slower.is_incomplete(), "{}", texts(&slower));
    let begun = one(line(0, 1_000, 14) + &line(1, 1_500, 5));
    assert!(!begun.is_incomplete(), "one thread starts after the other");
    let histogram = |rows: &str| {
        one(format!(
            "{rows}# Min Latencies: 00003 00003\n# Avg Latencies: 00003 00003\n\
             # Max Latencies: 00003 00003\n# Histogram Overflows: 00000 00000\n"
        ))
    };
    let rows = histogram("000003 001000\t000800\n");
    assert!(texts(&rows).contains("thread 1 has 800 of 1 000 cycles"), "{}", texts(&rows));
    assert!(!histogram("000003 001000\t000950\n").is_incomplete());
}

#[test]
fn json_of_rt_tests_and_its_missing_overflows() {
    let recording = one(fixture("ct24_json_h100.json"));
    assert_eq!(recording.tool.as_deref(), Some("rt-tests 2.40"));
    assert_eq!(recording.machine.kernel, "6.18.44-fc-v657");
    assert_eq!(recording.series[0].cpu, Some(0));
    assert!(recording.series.iter().any(|one| one.counts.overflow.count > 0));
    assert!(codes(&recording).contains(&"import-overflow"));
    assert!(one(fixture("ct24_json_nohist.json")).is_summary());
    assert!(one(fixture("ct210_json_nohist.json")).is_summary());
}

#[test]
fn the_siblings_of_cyclictest() {
    assert_eq!(figures("signaltest.txt")[1], (500, 22.0, 670.0, 10115.0));
    assert_eq!(figures("pmqtest.txt"), [(500, 3.0, 3.0, 39.0), (146, 3.0, 4.0, 18.0)]);
    assert_eq!(figures("sigwaittest.txt")[1], (324, 6.0, 23.0, 98.0));
    assert_eq!(figures("ptsematest.txt")[0], (500, 2.0, 3.0, 47.0));
    assert_eq!(figures("svsematest.txt").len(), 2);
    assert_eq!(figures("cyclicdeadline.txt"), [(399, 4.0, 775.0, 6139.0)]);
    let recording = one(fixture("cyclicdeadline210_hist.txt"));
    assert_eq!(recording.format, "cyclicdeadline histogram");
    assert_eq!(recording.series[0].counts.overflow.count, 2);
    let oslat = one(fixture("oslat.txt"));
    assert_eq!(oslat.series[0].counts.overflow.count, 227);
    assert_eq!((oslat.series[0].cpu, oslat.length_ns.0), (Some(1), 1_998_000_000));
    assert_eq!(oslat.series[0].counts.max_ns.0, 8_066_000);
    assert_eq!(one(fixture("oslat.json")).series[0].counts.overflow.count, 316);
}

/// Buckets are named after the longest gap in them, and oslat rounds gaps up.
#[test]
fn buckets_of_oslat_have_any_width_and_bias() {
    let text = |rows: &str, min: &str, mean: &str, max: &str| {
        let range = max.parse::<f64>().unwrap() - min.parse::<f64>().unwrap();
        format!(
            "oslat V 2.60\nGlobal bias set to 0 (us)\n        Core:\t 1\n{rows}     Minimum:\t {min} (us)\n     \
             Average:\t {mean} (us)\n     Maximum:\t {max} (us)\n     Max-Min:\t {range} (us)\n    \
             Duration:\t 1.998 (sec)\n"
        )
    };
    let rows = "    005 (us):\t 7\n    010 (us):\t 0\n    015 (us):\t 2\n    020 (us):\t 1 (including \
                overflows)\n";
    let wide = one(text(rows, "3", "9.000", "44"));
    let counts = &wide.series[0].counts;
    assert_eq!((counts.layout.low(2).0, counts.layout.end().0), (11_000, 16_000));
    assert_eq!((counts.min_ns.0, counts.max_ns.0, counts.overflow.count), (3_000, 44_000, 1));
    let rows = "    000.500 (us):\t 7\n    ...\n    001.500 (us):\t 2\n    002.000 (us):\t 0 (including \
                overflows)\n";
    let narrow = one(text(rows, "0.301", "0.600", "1.400"));
    let counts = &narrow.series[0].counts;
    assert_eq!((counts.count, counts.min_ns.0, counts.max_ns.0), (9, 301, 1_400));
    assert_eq!(codes(&narrow), [""; 0]);
    let rows = "    003 (us):\t 7\n    004 (us):\t 2\n    005 (us):\t 0 (including overflows)\n";
    let biased = one(text(rows, "3", "3.222", "4").replace("to 0 (us)", "to 2 (us)"));
    assert_eq!(biased.series[0].counts.layout.low(0).0, 1_000);
    assert_eq!((biased.series[0].counts.max_ns.0, codes(&biased)), (4_000, vec![]));
    let json = |cells: &str, max: u32| {
        let command = "oslat -c 1 -W 500 --json=o.json";
        format!(
            r#"{{"cmdline:":"{command}","thread":{{"0":{{"cpu":1,"min":312,"avg":0.6,"max":{max},"histogram":
            {{{cells}}}}}}}}}"#
        )
    };
    let all = one(json(r#""0.500":10,"1.000":5"#, 990));
    let counts = &all.series[0].counts;
    assert_eq!((counts.count, counts.overflow.count, counts.max_ns.0), (15, 0, 990));
    let over = one(json(r#""0.500":10,"1.000":5"#, 7_000));
    assert_eq!(over.series[0].counts.overflow.count, 5, "the last has everything from there on");
}

#[test]
fn logs_and_shells_put_something_around_the_lines() {
    let (summary, histogram) = (fixture("ct24_q_summary.txt"), fixture("ct24_h40.txt"));
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let with = |prefix: &str, bytes: &[u8]| {
        text(bytes).lines().map(|line| format!("{prefix}{line}\n")).collect::<String>()
    };
    for prefix in ["Nov 23 10:00:00 board cyclictest[812]: ", "cyclictest-1  | "] {
        assert_eq!(one(with(prefix, &summary)).series, one(summary.clone()).series, "{prefix}");
    }
    let timed = one(with("2026-11-23T10:00:00.123456Z ", &histogram));
    assert_eq!(timed, one(histogram.clone()));
    let utf16: Vec<u8> = std::iter::once(0xfeff)
        .chain(text(&histogram).encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(one(utf16), one(histogram.clone()));
    assert_eq!(one(format!("\u{feff}{}", text(&histogram))), one(histogram));
    let smi = "       0:       0:       5       0\n       0:       1:      12       0\n";
    assert_eq!(one(smi).series[0].counts.max_ns.0, 12_000);
    let stress = text(&fixture("sng_cyclic_clock_ns.txt"));
    let brief: String = stress
        .lines()
        .map(|line| line.split_once("] ").map_or(line, |it| it.1))
        .collect::<Vec<_>>()
        .join("\n");
    assert_eq!(one(brief).series, one(stress).series);
}

#[test]
fn what_has_no_index_is_refused_and_says_why() {
    let text = "# RTLA timerlat histogram\n   IRQ-000   Thr-000\n      600         0 \n        0       500 \n";
    let error = try_read(text, &ImportQuery::default()).unwrap_err().to_string();
    assert!(error.contains("--no-index"), "{error}");
}

#[test]
fn documents_after_each_other_are_several_recordings() {
    let text = String::from_utf8(fixture("ct24_json_h100.json")).unwrap();
    let two = try_read(text.repeat(2), &ImportQuery::default()).unwrap();
    assert_eq!(two.len(), 2);
    assert_eq!((two[0].series == two[1].series, two[1].part.as_deref()), (true, Some("2")));
}

#[test]
fn rtla_keeps_interrupt_thread_and_user_apart() {
    let text = "# RTLA timerlat histogram\n# Time unit is microseconds (us)\n\
        # Duration:   0 00:00:02\nIndex   IRQ-001   Thr-001   Usr-001\n\
        0          1000       944       134\n10            0        55       863\n\
        20            0         1         3\n30            0         0         0\n\
        over:         0         0         0\ncount:     1000      1000      1000\n\
        min:          0         3         4\navg:          1         7        10\n\
        max:          7        21        24\nALL:        IRQ       Thr       Usr\n\
        count:     1000      1000      1000\n";
    let recordings = try_read(text, &ImportQuery::default()).unwrap();
    let parts: Vec<&str> = recordings.iter().filter_map(|one| one.part.as_deref()).collect();
    assert_eq!(parts, ["irq", "thread", "user"]);
    let thread = &recordings[1].series[0];
    assert_eq!((thread.cpu, thread.counts.count), (Some(1), 1000));
    assert_eq!((thread.counts.min_ns.0, thread.counts.max_ns.0), (3_000, 21_000));
    assert_eq!(thread.counts.mean_ns(), Some(7_000.0), "as stated: the bins are 10 us wide");
    assert_eq!(recordings[1].length_ns.0, 2_000_000_000);
    let top = try_read(fixture("rtla_timerlat_top.txt"), &ImportQuery::default()).unwrap();
    assert_eq!(top.len(), 2);
    assert_eq!((top[1].series.len(), top[1].series[2].counts.max_ns.0), (3, 30_000));
}

#[test]
fn jitterdebugger_in_all_its_forms() {
    let results = one(fixture("jd_results.json"));
    assert_eq!(results.series[0].counts.count, 1964);
    assert!(codes(&results).contains(&"import-overflow"), "it drops what is beyond 1 ms");
    let csv = one(fixture("jd_samples.csv"));
    assert_eq!(csv.format, "jitterdebugger samples");
    assert!(csv.count() > 100 && csv.length_ns.0 > 0);
    // The same samples in packed form.
    let mut raw = Vec::new();
    for (cpu, nanos, latency) in [(0u32, 5i64, 49u64), (1, 7, 39), (0, 9, 1_200_000)] {
        raw.extend(cpu.to_le_bytes());
        raw.extend(6263i64.to_le_bytes());
        raw.extend(nanos.to_le_bytes());
        raw.extend(latency.to_le_bytes());
    }
    let packed = one(raw.clone());
    assert_eq!((packed.series.len(), packed.count()), (2, 3));
    assert_eq!(packed.series[0].counts.max_ns.0, 1_200_000_000);
    raw.truncate(raw.len() - 9);
    assert_eq!(codes(&one(raw)), ["import-incomplete"]);
    assert_eq!(one(fixture("jd_stdout.txt")).format, "jitterdebugger summary");
}

#[test]
fn stress_ng_and_xenomai() {
    let stress = one(fixture("sng_cyclic_clock_ns.txt"));
    let counts = &stress.series[0].counts;
    assert_eq!((counts.count, counts.max_ns.0), (2000, 8_303_334));
    assert_eq!((counts.min_ns.0, stress.series[0].policy.as_str()), (11_055, "fifo"));
    assert!(one(fixture("sng_cyclic_metrics.txt")).is_summary());
    let xenomai = one(fixture("xenomai_latency_format.txt"));
    let counts = &xenomai.series[0].counts;
    assert_eq!((counts.min_ns.0, counts.max_ns.0), (363, 4_036));
    assert_eq!(counts.count, 200, "two seconds of a period of 10 ms");
    let text = "RTH|----lat min|----lat avg|----lat max|-overrun|---msw|\n\
        RTD|      0.585|      1.012|      3.200|       0|     0|\nHSD|    avg|   0 -  1 |     5000\n\
        HSD|    avg|   1 -  2 |     4900\nHSD|    avg|   3 -  4 |      100\n\
        RTS|      0.585|      1.012|      3.200|       0|     0|\n";
    let counts = &one(text).series[0].counts;
    assert_eq!((counts.count, counts.mean_ns()), (10_000, Some(1_012.0)), "the stated mean");
}

#[test]
fn rteval_without_the_sum_of_all_cores() {
    let xml = r#"<?xml version="1.0"?><rteval version="3.7"><uname><node>box</node>
        <kernel is_RT="1">6.6.0-rt</kernel><arch>x86_64</arch></uname><Measurements>
        <cyclictest command_line="cyclictest -i100 -qm"><system><statistics><samples>30</samples>
        </statistics><histogram nbuckets="2"><bucket index="3" value="30"/></histogram></system>
        <core id="5" priority="95"><statistics><samples>30</samples><minimum unit="us">2</minimum>
        <maximum unit="us">4</maximum><mean unit="us">2.9</mean></statistics>
        <histogram nbuckets="3"><bucket index="2" value="10"/><bucket index="3" value="13"/>
        <bucket index="4" value="7"/></histogram></core></cyclictest></Measurements></rteval>"#;
    let recording = one(xml);
    assert_eq!((recording.series.len(), recording.count()), (1, 30));
    assert_eq!(recording.series[0].cpu, Some(5));
    assert_eq!(recording.machine.preemption.as_deref(), Some("PREEMPT_RT"));
    assert_eq!(recording.command.as_deref(), Some("cyclictest -i100 -qm"));
    assert_eq!(codes(&recording), [""; 0]);
    let cut = one(&xml.as_bytes()[..xml.len() - 60]);
    assert!(codes(&cut).contains(&"import-incomplete"));
}

#[test]
fn tables_need_a_column_and_a_unit() {
    let query = |column: &str, unit| ImportQuery {
        column: Some(column.to_string()),
        unit: Some(unit),
        period: None,
        format: format_of_id("csv"),
    };
    let table = "time;thread;wake\n0,1;0;12,5\n0,2;1;9\n0,3;0;-1\n0,4;0;x\n";
    let recording = try_read(table, &query("wake", InputUnit::Microseconds)).unwrap().remove(0);
    assert_eq!((recording.series.len(), recording.count()), (2, 2));
    assert_eq!(recording.series[0].counts.max_ns.0, 12_500);
    assert_eq!(codes(&recording), ["import-left-out", "import-left-out"]);
    let by_number = try_read(table, &query("3", InputUnit::Nanoseconds)).unwrap();
    assert_eq!(by_number[0].series[0].counts.max_ns.0, 13);
    let error = try_read(table, &query("none", InputUnit::Seconds)).unwrap_err();
    assert!(error.to_string().contains("time, thread, wake"), "{error}");
    let by_column = ImportQuery { format: None, ..query("wake", InputUnit::Microseconds) };
    assert_eq!(try_read(table, &by_column).unwrap()[0].count(), 2, "a column makes it a table");
    let thousands =
        one("\"at\",\"latency_ns\"\n\"1\",\"5000\"\n\"2\",\"1,234,567\"\n\"3\",\"1,5\"\n");
    assert_eq!(thousands.series[0].counts.max_ns.0, 1_234_567);
    let weighted = one("latency_us|count\n5|100\n6|20\n7|0\n");
    let counts = &weighted.series[0].counts;
    assert_eq!((counts.count, counts.max_ns.0, counts.sum_ns), (120, 6_000, 620_000));
    assert_eq!(
        one("count,latency_us\n1,5\n2,6\n").count(),
        2,
        "a number in front is that of the line"
    );
    let csv = one("latency_us\n5\n7.25\n");
    assert_eq!((csv.count(), csv.series[0].counts.max_ns.0), (2, 7_250));
}

/// Lines parsed eight characters at a time give the same result as any other lines.
#[test]
fn regular_lines_of_a_log_are_read_like_all_others() {
    let mut log = "Max CPUs = 12\nThread 0 Interval: 1500\n".to_string();
    for cycle in 0..3_000u64 {
        for thread in 0..12 {
            let latency =
                (cycle * 7 + thread * 13) % 90 + if cycle % 500 == 0 { 20_000 } else { 0 };
            let cycle = cycle + 99_998_500;
            log += &format!("{thread:8}:{cycle:8}:{latency:8}\n");
        }
        match cycle % 1_000 {
            17 => log += &format!("       0:{:8}:      -4\n", cycle + 99_998_501),
            18 => log += "[  12.0] usb 1-1: a message\n       3:    1000:     x12\n",
            19 => log += "        :    1000:      12\n 1     1:    1000:      12\n",
            _ => {}
        }
    }
    let (fast, slow) = (one(log.clone()), one(log.replace('\n', "\r\n")));
    assert_eq!((fast.series.len(), fast.count()), (12, 36_000));
    assert_eq!(fast, slow);
    let cut = one(&log.as_bytes()[..log.len() - 3]);
    assert_eq!(cut.series[..11], fast.series[..11]);
}

/// The figures are those of pandas and Polars, which wrote the tables.
#[test]
fn parquet_tables_of_all_usual_compressions() {
    let figures = |name: &str| {
        let counts = &one(fixture(name)).series[0].counts;
        (counts.count, counts.min_ns.0, counts.max_ns.0, counts.mean_ns().unwrap().round())
    };
    assert_eq!(figures("samples-polars.parquet"), (3_000, 2_000, 51_911, 8_923.0), "zstd");
    for name in ["samples-zstd-v2.parquet", "samples-gzip-v2.parquet"] {
        assert_eq!(figures(name), (2_970, 2_000, 51_000, 8_597.0), "{name}");
        assert!(texts(&one(fixture(name))).contains("30 values could not be used"), "{name}");
    }
    let file = File::open(root().join("fixtures/recordings/samples-polars.parquet")).unwrap();
    let whole = one(fixture("samples-polars.parquet"));
    assert_eq!(read_file(&file, &ImportQuery::default()).unwrap(), [whole]);
    let error = try_read(fixture("samples-lz4.parquet"), &ImportQuery::default()).unwrap_err();
    assert!(
        error.to_string().contains("write it again with zstd, snappy, gzip or none"),
        "{error}"
    );
}

/// The figures are those of the library that wrote the log.
#[test]
fn logs_of_hdrhistogram() {
    let recording = one(fixture("hdr.hlog"));
    let counts = &recording.series[0].counts;
    assert_eq!((counts.count, counts.min_ns.0, counts.max_ns.0), (600, 480, 317_439));
    assert!((counts.mean_ns().unwrap() - 13_322.808).abs() < 0.6, "{:?}", counts.mean_ns());
    assert_eq!(recording.length_ns.0, 2_000_000_000);
}
