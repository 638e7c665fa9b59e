//! Numbers in any notation: each is read correctly, or its row is reported as lost.

use crate::cases::*;

/// Cells that exceed the deadline of 100 us, or have no clear meaning.
const NONE_PASSES: &[&str] = &[
    "941",
    " 941 ",
    "\"941\"",
    "+941",
    "941.0",
    "0941",
    "9.41e2",
    "9.41E+2",
    "9.41E+02",
    "941e0",
    "1e3",
    "1500",
    "12 500",
    "12\u{a0}500",
    "12\u{202f}500",
    "12\u{2009}500",
    "12'500",
    "12\u{2019}500",
    "\"1,500\"",
    "\"12,500.5\"",
    "1.234.567",
    "1_000",
    "941 us",
    "941us",
    "941 µs",
    "1.5 ms",
    "1.5ms",
    "0.001 s",
    "2 s",
    "12 min",
    "inf",
    "Inf",
    "INF",
    "Infinity",
    "-inf",
    "+inf",
    "1.#INF",
    "nan",
    "NaN",
    "-nan",
    "1.#QNAN",
    "#DIV/0!",
    "1e400",
    ">1000",
    "> 1000",
    ">=1000",
    "<1000",
    "~941",
    "≥1000",
    "1000+",
    "941*",
    "941 (max)",
    "(941)",
    "[941]",
    "941!",
    "0x3AD",
    "0x1F",
    "3ADh",
    "0b1110101101",
    "1/2",
    "9x9",
    "9-9",
    "9:9",
    "-0005",
    "-5",
    "--5",
    "5-",
    "−5",
    "99999999999999999999",
    "9223372036854775808",
    "1e18",
    "９４１",
    "٩٤١",
    "941\0",
    "9\t41",
    "-",
    "—",
    "N/A",
    "n/a",
    "NA",
    "null",
    "None",
    "none",
    "timeout",
    "TIMEOUT",
    "missed",
    "overflow",
    "late",
    "x",
    "?",
    "12 # late",
    "12 // 941",
    "12 13",
    "12/13",
    "12..13",
    "1.2.3",
    "e3",
    "1e",
    "1e+",
    ".",
    "12 V",
    "12 %",
];

/// Cells that are clearly less.
const ALL_PASS: &[(&str, f64)] = &[
    ("12", 12.0),
    (" 12", 12.0),
    ("12 ", 12.0),
    ("\"12\"", 12.0),
    ("12.5", 12.5),
    ("012", 12.0),
    ("+12", 12.0),
    ("1.2e1", 12.0),
    ("1.2E+01", 12.0),
    ("12 us", 14.0),
    ("12us", 14.0),
    ("12 µs", 14.0),
    ("0", 14.0),
    ("1e-3", 14.0),
    ("12\t", 14.0),
    ("12\r", 14.0),
];

#[test]
fn cells_of_a_list() {
    // A list ignores empty lines, and a comma separates cells.
    let list = |cell: &str| format!("lat_us\n14\n{cell}\n7\n");
    let of = |cell: &&str| case(format!("{cell:?}"), "", "not pass", list(cell));
    check(NONE_PASSES.iter().map(of).collect());
    let of = |one: &(&str, f64)| case(format!("{:?}", one.0), "", "pass: 14; n=3", list(one.0));
    check(ALL_PASS.iter().map(of).collect());
}

#[test]
fn cells_of_a_table() {
    for (name, head, delimiter) in [
        ("semicolons", "at;lat_us;note", ';'),
        ("tabs", "at\tlat_us\tnote", '\t'),
        ("bars", "at|lat_us|note", '|'),
    ] {
        let row = |at: usize, cell: &str| format!("{at}{delimiter}{cell}{delimiter}ok\n");
        let table = |cell: &str| format!("{head}\n{}{}{}", row(1, "14"), row(2, cell), row(3, "7"));
        let fits = |cell: &&&str| !cell.contains(delimiter);
        let of = |cell: &&str| case(format!("{name}: {cell:?}"), "", "not pass", table(cell));
        check(NONE_PASSES.iter().chain(&[""]).filter(fits).map(of).collect());
    }
}

/// The first cell decides nothing: one that is not a number is not a heading, and counts as lost.
#[test]
fn the_first_cell_of_a_list() {
    let first = |cell: &str| format!("lat_us\n{cell}\n14\n7\n");
    let without = |cell: &str| format!("{cell}\n14\n7\n");
    let of = |cell: &&str| case(format!("{cell:?}"), "", "not pass", first(cell));
    check(NONE_PASSES.iter().map(of).collect());
    let is_number = |cell: &&&str| {
        cell.trim_start_matches(['>', '<', '~', '(', '[', '+', '-'])
            .starts_with(|c: char| c.is_ascii_digit())
    };
    let of = |cell: &&str| {
        case(
            format!("without a heading: {cell:?}"),
            "--column 1 --unit us",
            "not pass",
            without(cell),
        )
    };
    check(NONE_PASSES.iter().filter(is_number).map(of).collect());
}

#[test]
fn rows_of_another_shape() {
    let mib = "x".repeat(2 << 20);
    check(vec![
        case("more cells than the heading", "", "not pass", "at,lat_us\n1,12\n2,12,941\n3,7\n"),
        case("fewer cells than the heading", "", "not pass", "at,lat_us\n1,12\n941\n3,7\n"),
        case("a decimal comma between commas", "", "not pass", "at,lat_us\n1,12\n2,941,5\n3,7\n"),
        case("a decimal comma in each row", "", "not pass", "lat_us,at\n94,1,1\n95,2,2\n"),
        case(
            "a latency moved to the next cell",
            "",
            "not pass",
            "at;lat_us;note\n1;12;ok\n2;;941\n3;7;ok\n",
        ),
        case("two columns of one name", "", "refused", "lat_us,lat_us\n12,941\n13,942\n"),
        case(
            "two columns of one name, by it",
            "--column lat_us",
            "refused",
            "lat_us,lat_us\n12,941\n13,942\n",
        ),
        case(
            "the second of two, by its number",
            "--column 2",
            "fail: 942",
            "lat_us,lat_us\n12,941\n13,942\n",
        ),
        case(
            "names that differ in their case",
            "--column lat_us",
            "pass or refused: 13",
            "lat_us,Lat_us\n12,941\n13,942\n",
        ),
        case("a heading that comes again", "", "fail; n=4", "lat_us\n12\n941\nlat_us\n13\n7\n"),
        case("a heading of another unit", "", "fail", "lat_us\n12\n13\nlat_ms\n12\n7\n"),
        case(
            "a heading with another order",
            "",
            "not pass",
            "at,lat_us\n1,12\n2,13\nlat_us,at\n941,3\n942,4\n",
        ),
        case(
            "a unit below the heading",
            "",
            "fail or refused or inconclusive",
            "lat\nms\n12\n941\n",
        ),
        case("a unit below the heading against it", "", "not pass", "lat_us\nms\n12\n13\n"),
        case(
            "a row of 2 MiB with the maximum behind",
            "",
            "not pass",
            format!("note,lat_us\na,12\n{mib},941\nb,7\n"),
        ),
        case(
            "a row of 2 MiB with the maximum before",
            "",
            "not pass",
            format!("lat_us,note\n12,a\n941,{mib}\n7,b\n"),
        ),
        case(
            "a row of 2 MiB in quotes",
            "",
            "not pass",
            format!("note,lat_us\na,12\n\"{mib}\",941\nb,7\n"),
        ),
        case(
            "a cell with a line end in quotes",
            "",
            "pass or inconclusive or refused",
            "note,lat_us\n\"a\n941\",12\nb,7\n",
        ),
        case("a quote that is not closed", "", "not pass", "note,lat_us\n\"a,941\nb,7\n"),
        case("rows in quotes as a whole", "", "not pass", "\"at,lat_us\"\n\"1,941\"\n\"2,12\"\n"),
        case(
            "rows in a comment are none",
            "",
            "pass or inconclusive: 12",
            "lat_us\n12\n# 941 was removed\n7\n",
        ),
        case("bytes that are no text", "", "not pass", b"lat_us\n12\n\xff\xfe941\n7\n".to_vec()),
        case("Latin-1's no-break space", "", "not pass", b"lat_us\n12\n12\xa0500\n7\n".to_vec()),
        case("Latin-1's micro sign", "", "fail: 941", b"at;lat (\xb5s)\n1;12\n2;941\n".to_vec()),
    ]);
}

#[test]
fn counts_and_threads_of_a_table() {
    let weights = |cell: &str| format!("lat_us|count\n5|100\n941|{cell}\n7|20\n");
    let cells = [
        "1",
        "x",
        "",
        "-3",
        "1.5",
        "1e3",
        "1 000",
        "nan",
        "99999999999999999999",
        "3 ",
        "0x3",
        ">3",
        "3|4",
        "'3",
    ];
    let mut cases: Vec<Case> = cells
        .iter()
        .map(|cell| case(format!("count {cell:?}"), "", "not pass", weights(cell)))
        .collect();
    cases.push(case("a count of zero is none", "", "pass: 7", weights("0")));
    cases.extend(["x", "", "-1", "1.5", "9999999"].map(|cell| {
        case(
            format!("thread {cell:?}"),
            "",
            "not pass",
            format!("thread,lat_us\n0,12\n{cell},941\n1,7\n"),
        )
    }));
    check(cases);
}
