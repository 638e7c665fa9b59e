//! What looks like the prefix of a log, and is a column of the file.

use super::texts::*;
use crate::cases::*;

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
