//! Formats the cells of an answer by the names of their columns.

use crate::fleet::FleetAnswer;
use crate::pictures::marks::MarkedRows;
use crate::units::{grouped, short, span};
use latlab_model::Nanos;
use serde_json::Value;

/// Suffix of columns that hold times.
const TIMES: &str = "_ns";
/// A time that is not a latency.
const MEASURED: &str = "measured_ns";
const DEADLINE: &str = "deadline_ns";

/// The head of a column: `p99_9_ns` becomes p99.9.
pub fn head(column: &str) -> String {
    let name = column.strip_suffix(TIMES).unwrap_or(column);
    match quantile(name) {
        Some(quantile) => quantile,
        None => name.replace('_', " "),
    }
}

/// A quantile with its suffix: `p99_9_before` becomes `p99.9 before`.
fn quantile(name: &str) -> Option<String> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = name.strip_prefix('p')?.split('_').peekable();
    let mut said = format!("p{}", parts.next().filter(|part| digits(part))?);
    if let Some(part) = parts.next_if(|part| digits(part)) {
        said += &format!(".{part}");
    }
    parts.for_each(|part| said += &format!(" {part}"));
    Some(said)
}

pub fn cell(column: &str, value: &Value) -> String {
    let number = value.as_f64();
    match (value, number) {
        (Value::Null, _) => "-".to_string(),
        (_, Some(number)) if column == MEASURED => span(Nanos(number as i64)),
        (_, Some(number)) if column.ends_with(TIMES) => short(number),
        (_, Some(number)) if column.ends_with("ratio") => format!("x{number:.2}"),
        (Value::Number(whole), _) if whole.is_u64() => grouped(whole.as_u64().unwrap_or_default()),
        (Value::Number(number), _) => number.to_string(),
        (Value::String(text), _)
            if column == "started" || column == "newest" || column == "since" =>
        {
            text.chars().take(16).collect::<String>().replace('T', " ")
        }
        (Value::String(text), _) => text.clone(),
        (other, _) => other.to_string(),
    }
}

/// Whether a column holds words.
pub fn is_text(of: &FleetAnswer, at: usize) -> bool {
    of.rows.iter().any(|row| row.get(at).is_some_and(Value::is_string))
}

/// The rows for a chart: the leading words name a row, and each time is a mark.
pub fn marked_rows(of: &FleetAnswer) -> MarkedRows {
    let is_latency = |name: &str| name.ends_with(TIMES) && name != MEASURED && name != DEADLINE;
    let mut times: Vec<usize> =
        (0..of.columns.len()).filter(|at| is_latency(&of.columns[*at])).collect();
    if times.is_empty() {
        times = (0..of.columns.len()).filter(|at| of.columns[*at].ends_with(TIMES)).collect();
    }
    let names: Vec<usize> =
        (0..of.columns.len()).take_while(|at| is_text(of, *at)).take(3).collect();
    let row = |row: &Vec<Value>| {
        let words: Vec<String> =
            names.iter().filter_map(|at| Some(cell(&of.columns[*at], row.get(*at)?))).collect();
        let values = times.iter().map(|at| row.get(*at).and_then(Value::as_f64)).collect();
        (words.join(" · "), values)
    };
    MarkedRows {
        title: of.query.clone(),
        marks: times.iter().map(|at| head(&of.columns[*at])).collect(),
        rows: of.rows.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_called_by_what_it_holds() {
        let heads =
            ["p99_9_ns", "p50_ns", "p99_9_before_ns", "max_ns", "runs_before", "policy", "p"];
        let heads = heads.map(head);
        assert_eq!(heads, ["p99.9", "p50", "p99.9 before", "max", "runs before", "policy", "p"]);
    }

    #[test]
    fn a_cell_is_said_in_its_unit() {
        let of = |column: &str, value: Value| cell(column, &value);
        assert_eq!(of("p99_ns", 27_100.into()), "27.1 us");
        assert_eq!(of("measured_ns", 60_000_000_000_i64.into()), "60 s");
        assert_eq!(of("ratio", 1.234.into()), "x1.23");
        assert_eq!(of("cycles", 120_362.into()), "120 362");
        assert_eq!(of("cycles", Value::Null), "-");
        assert_eq!(of("started", "2026-11-24T20:17:16.5Z".into()), "2026-11-24 20:17");
    }
}
