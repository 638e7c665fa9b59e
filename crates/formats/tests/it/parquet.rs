//! Parquet tables, written for each case.

use crate::cases::*;
use parquet::data_type::Int64Type;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

/// A table of columns of whole numbers.
fn table(columns: &[(&str, &[i64])]) -> Vec<u8> {
    let fields: String =
        columns.iter().map(|(name, _)| format!("required int64 {name};")).collect();
    written(&fields, columns)
}

fn written(fields: &str, columns: &[(&str, &[i64])]) -> Vec<u8> {
    let schema = parse_message_type(&format!("message table {{ {fields} }}")).unwrap();
    let mut file = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut file, Arc::new(schema), Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for (_, values) in columns {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    file
}

/// The table with a different number of rows than three in its footer.
fn with_rows(mut table: Vec<u8>, rows: u8) -> Vec<u8> {
    // The third field of the footer, before the list of row groups.
    let at = table.windows(3).rposition(|bytes| bytes == [0x16, 6, 0x19]).unwrap();
    table[at + 1] = 2 * rows;
    table
}

#[test]
fn columns_of_parquet() {
    let values: &[i64] = &[12, 941, 14];
    let low: &[i64] = &[12, 13, 14];
    let of = |name: &str| table(&[("cpu", low), (name, values)]);
    check(vec![
        case("whole", "", "fail: 941; n=3; silent=incomplete", of("latency_us")),
        case("a lone column", "", "pass: 14; n=3", table(&[("wakeup_us", low)])),
        case(
            "two columns of latencies",
            "",
            "refused; says=name the column with --column",
            table(&[("latency_irq_us", low), ("latency_thread_us", values)]),
        ),
        case(
            "one of two columns of latencies",
            "--column latency_thread_us",
            "fail: 941; n=3",
            table(&[("latency_irq_us", low), ("latency_thread_us", values)]),
        ),
        case("a column of means", "", "refused", table(&[("latency_avg_us", low)])),
        case(
            "the only one that holds latencies",
            "",
            "fail: 941; n=3",
            table(&[("latency_avg_us", low), ("latency_us", values)]),
        ),
        case(
            "another unit than the name says",
            "--unit ns",
            "refused; says=is in us by its name",
            of("latency_us"),
        ),
        case("the unit of the name", "--unit us", "fail: 941; n=3", of("latency_us")),
        case("no unit", "", "refused; says=--unit", of("latency")),
        case("a unit that is named", "--unit ns", "pass: 0.941; n=3", of("latency")),
        case(
            "more rows are stated than there are",
            "",
            "inconclusive: 14; says=has 3 values in a table of 4 rows",
            with_rows(table(&[("latency_us", low)]), 4),
        ),
        case(
            "a negative latency",
            "",
            "inconclusive: 14; n=2",
            table(&[("latency_us", &[12, -13, 14])]),
        ),
        case(
            "decimal numbers",
            "",
            "refused; says=decimal",
            written("required int64 latency_us (DECIMAL(9, 1));", &[("latency_us", values)]),
        ),
    ]);
}
