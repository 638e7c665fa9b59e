//! The rows of the table of runs, from the facts of machines and the figures.

use crate::common;
use latlab_report::fleet::{run_columns, run_row};
use std::collections::BTreeSet;

#[test]
fn a_column_has_one_name_and_the_type_of_its_values() {
    let names: BTreeSet<&str> = run_columns().map(|column| column.name).collect();
    assert_eq!(names.len(), run_columns().count());
    assert!(!names.contains("board"), "it is a partition of the tables");
    for (fixture, made) in common::all() {
        let row = run_row(&made.run);
        for column in run_columns() {
            let value = &row[column.name];
            let is_right = match column.sql_type() {
                "VARCHAR" => value.is_string(),
                _ => value.is_number(),
            };
            assert!(is_right || value.is_null(), "{fixture}: {} is {value}", column.name);
        }
    }
}

#[test]
fn a_number_is_that_of_the_document() {
    let run = &common::normal().run;
    let row = run_row(run);
    let total = serde_json::to_value(&run.total).unwrap();
    for figure in ["cycles", "releases", "misses", "min_ns", "mean_ns", "max_ns"] {
        assert_eq!(row[figure], total[figure], "{figure}");
    }
    let jitter = run.total.max_ns.unwrap() - run.total.min_ns.unwrap();
    assert_eq!(row["jitter_ns"].as_i64(), Some(jitter.0));
    assert_eq!(row["p99_9_ns"], total["quantiles"]["p99_9_ns"]);
    assert_eq!(row["model"].as_str(), run.machine.board.as_deref());
    assert_eq!(row["memory_bytes"].as_u64(), run.machine.memory_bytes);
}
