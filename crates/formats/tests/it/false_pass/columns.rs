//! Text that looks like a log prefix but is a column of the file.

use super::texts::*;
use crate::cases::*;

/// What a table states about its largest latency, in addition to the latencies.
#[test]
fn a_largest_latency_beside_the_column_counts() {
    check(vec![
        case("a comment", "", "fail: 150", "# max latency: 150 us\nlat_us\n12\n13\n"),
        case("a footer", "", "fail: 1500", "lat_us\n12\n13\n# Max = 1.5 ms\n"),
        case("a setting above", "", "fail: 150", "Maximum,150\nat,lat_us\n1,12\n2,13\n"),
        case("a comment that agrees", "", "pass: 13", "# max latency: 13 us\nlat_us\n12\n13\n"),
        case("a column", "", "fail: 150", "at,lat_us,max_us\n1,12,14\n2,13,150\n"),
        case("a column in ms", "", "fail: 1500", "at,lat_us,lat_max_ms\n1,12,0\n2,13,1.5\n"),
        case("a column of something else", "", "pass: 13", "lat_us,max_mhz\n12,4000\n13,4000\n"),
        case("the largest of intervals", "", "fail: 150", "at,latency_us_max\n1,12\n2,150\n"),
    ]);
}

/// What lines above and below a table state.
#[test]
fn statements_around_a_table_count() {
    for statement in [
        "# max_us: 941",
        "# max_latency_us: 941",
        "# peak: 941",
        "# min: 500 us",
        "# mean: 500 us",
        "# p99: 941 us",
        "# p99.9 = 941",
        "worst case,941",
        "# overflows: 7",
        "# 7 samples lost",
        "(7 samples dropped)",
        "# ERROR: buffer overrun",
        "# all values in ms",
        "# unit: ms",
    ] {
        let rows = "latency_us,cpu\n12,0\n13,1\n";
        check(vec![
            case(statement, "", "not pass", format!("{statement}\n{rows}")),
            case(statement, "", "not pass", format!("{rows}{statement}\n")),
        ]);
    }
    for statement in ["# 0 samples lost", "# period: 1000 us", "# std: 5 us", "# cpu: max 3 GHz"] {
        let rows = "latency_us,cpu\n12,0\n13,1\n";
        check(vec![case(statement, "", "pass: 12, 13", format!("{statement}\n{rows}"))]);
    }
}

/// What other columns say about their rows.
#[test]
fn other_columns_of_a_row_count() {
    check(vec![
        case("losses", "", "not pass", "latency_us,lost\n12,0\n13,7\n"),
        case("no losses", "", "pass: 13", "latency_us,lost\n12,0\n13,0\n"),
        case("a missed deadline", "", "not pass", "latency_us,deadline_missed\n12,0\n13,1\n"),
        case("a status", "", "not pass", "latency_us,status\n12,ok\n13,timeout\n"),
        case("a number that is absent", "", "not pass", "seq,latency_us\n1,12\n2,13\n5,14\n"),
        case(
            "a number that comes twice",
            "",
            "not pass",
            "seq,latency_us\n1,12\n2,13\n3,14\n3,15\n",
        ),
        case("each tenth number", "", "pass: 14", "seq,latency_us\n10,12\n20,13\n30,14\n"),
        case("a unit of each row", "", "fail: 941", "latency_us,unit\n12,us\n0.941,ms\n"),
        case("a cell without its unit", "", "not pass", "latency\n12 us\n0.941\n13 us\n"),
        case(
            "thousands in a comma country",
            "",
            "refused",
            "load;latency_us\n0,75;1.200\n0,80;1.350\n",
        ),
        case("medians", "", "refused", "latency_p50_us\n12\n13\n"),
        case("a unit of the user", "--unit us", "pass: 13", "latency,cpu\n12,0\n13,0\n"),
        case(
            "psql",
            "",
            "pass: 13; n=2",
            " n | lat_us \n---+--------\n 1 |     12\n 2 |     13\n(2 rows)\n",
        ),
    ]);
}

/// Headings and rows as programs print them.
#[test]
fn headings_of_programs() {
    check(vec![
        case("usec", "", "fail: 150; n=2", "latency_usec\n12\n150\n"),
        case("camel case", "", "fail: 150; n=2", "at,latencyMicros\n1,12\n2,150\n"),
        case(
            "Markdown",
            "",
            "pass: 13; n=2",
            "| n | lat_us |\n|---|---:|\n| 1 | 12 |\n| 2 | 13 |\n",
        ),
        case("pandas", "", "fail: 150; n=2", "     n  lat_us\n0    1      12\n1    2     150\n"),
        case(
            "pandas that leaves rows out",
            "",
            "not pass",
            "     n  lat_us\n0    1      12\n..  ..     ...\n8    9      15\n",
        ),
        case(
            "zeros of a crash",
            "",
            "not pass",
            "lat_us\n".to_string() + &"12\n".repeat(99) + "\0\0",
        ),
        case(
            "releases that were skipped",
            "--period 1ms --column t_us",
            "not pass",
            "t_us\n1000\n2001\n3000\n7002\n8000\n",
        ),
    ]);
}

/// Refusals give the reason.
#[test]
fn tables_that_are_refused_say_why() {
    for (bytes, why) in [
        (&b"n,latency\n1,12\n"[..], "--unit"),
        (b"n;lat_us\n1;42,250\n2;12,300\n", "behind its comma"),
        (b"n,lat_a_us,lat_b_us\n1,12,13\n", "'lat_a_us', 'lat_b_us'"),
        (b"timestamp_us\n1000\n2000\n", "--period"),
        (b"BZh91AY&SY", "bunzip2"),
        (b"PK\x03\x04\x14", "unzip"),
        (b"T: 0 ( 99) P:90 I:1000 C: 1x0 Min: 3 Act: 11 Avg: 12 Max: 49\n", "1x0"),
    ] {
        let query = latlab_formats::read::ImportQuery::default();
        let error = crate::common::try_read(bytes, &query).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn columns_are_no_prefix() {
    check(vec![
        case("times of day", "", "fail: 941; n=2", "time latency_us\n12:00:00 12\n12:00:01 941\n"),
        case(
            "times of day, without a heading",
            "--column 2 --unit us",
            "fail: 941; n=2",
            "12:00:00 12\n12:00:01 941\n",
        ),
        case(
            "dates and times",
            "",
            "fail: 941; n=2",
            "date,latency_us\n2024-05-01T12:00:00Z,12\n2024-05-01T12:00:01Z,941\n",
        ),
        case(
            "dates and times in columns",
            "--column lat_us",
            "fail: 941; n=2",
            "date time lat_us\n2024-05-01 12:00:00 12\n2024-05-01 12:00:01 941\n",
        ),
        case(
            "epoch",
            "",
            "fail: 941; n=2",
            "t lat_us\n1714564800.123456 12\n1714564801.123456 941\n",
        ),
        case(
            "epoch, without a heading",
            "--column 2 --unit us",
            "fail: 941; n=2",
            "1714564800.123456 12\n1714564801.123456 941\n",
        ),
        case(
            "epoch, whole seconds",
            "--column 2 --unit us",
            "fail: 941; n=2",
            "1714564800 12\n1714564801 941\n",
        ),
        case(
            "the epoch is asked for",
            "--column 1 --unit s",
            "refused",
            "1714564800.123456 12\n1714564801.123456 41\n",
        ),
        case(
            "seconds that are latencies",
            "--column 1 --unit s",
            "fail: 12345.678; n=2",
            "0.012345678 1\n0.000012345 2\n",
        ),
        case("numbers and tabs", "", "fail: 941; n=2", "n\tlatency_us\n1\t12\n2\t941\n"),
        case(
            "numbers and tabs, without a heading",
            "--column 2 --unit us",
            "fail: 941; n=2",
            "1\t12\n2\t941\n",
        ),
        case(
            "the first of two columns with a tab",
            "--column 1 --unit us",
            "fail: 941; n=2",
            "12\t1\n941\t2\n",
        ),
        case("names and bars", "", "fail", "cpu | latency_us\ncpu0 | 12\ncpu1 | 941\n"),
        case(
            "a table of Markdown",
            "",
            "not pass",
            "| cpu | latency_us |\n|-----|------------|\n| 0 | 12 |\n| 1 | 941 |\n",
        ),
        case("numbers in brackets", "--column 1 --unit us", "not pass", "[12] 1\n[941] 2\n"),
        case("levels", "", "fail; n=2", "level,latency_us\nINFO,12\nWARN,941\n"),
        case("levels and blanks", "--column 2 --unit us", "fail: 941; n=2", "WARN 941\nINFO 12\n"),
        case("names and blanks", "--column 2 --unit us", "fail: 941; n=2", "box: 941\nbox: 12\n"),
        case(
            "a list of large numbers",
            "--column 1 --unit ns",
            "fail: 1714564.8; n=2",
            "1714564800\n12000\n",
        ),
        case(
            "a list with decimals",
            "--column 1 --unit ms",
            "fail: 12345.678; n=2",
            "12.345678\n0.012345\n",
        ),
        case("samples of a thread beyond nine", "", "fail", samples(12, 0, &[5, 941, 7])),
        case(
            "rows of six figures and more",
            "",
            "fail: 941; n=1000001",
            "# Histogram\n000005 1000000\n000941 000001\n# Total: 001000001\n# Min Latencies: 00005\n# Avg Latencies: 00005\n\
             # Max Latencies: 00941\n# Histogram Overflows: 00000\n",
        ),
    ]);
}
