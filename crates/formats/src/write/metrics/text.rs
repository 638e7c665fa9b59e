//! Families as text: for Prometheus, for OpenMetrics, and with the native histograms proposed for
//! OpenMetrics 2.0.

use super::native::{Native, SCHEMA};
use super::{Family, Kind, Label, Sample, Value};
use latlab_model::{Bin, Nanos};
use std::fmt::Write;

/// The text format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// Prometheus text 0.0.4.
    Prometheus,
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// OpenMetrics with native histograms.
    Native,
}

pub fn text(families: &[Family<'_>], style: Style) -> String {
    let mut text = String::new();
    for family in families {
        head(&mut text, family, style);
        family.samples.iter().for_each(|sample| self::sample(&mut text, family, sample, style));
    }
    if style != Style::Prometheus {
        text += "# EOF\n";
    }
    text
}

fn head(text: &mut String, family: &Family<'_>, style: Style) {
    let kind = match (family.kind, style) {
        (Kind::Histogram, _) => "histogram",
        (Kind::Gauge, _) | (_, Style::Prometheus) => "gauge",
        (Kind::Info, _) => "info",
        (Kind::StateSet, _) => "stateset",
    };
    let name = match (family.kind, style) {
        (Kind::Info, Style::Prometheus) => format!("{}_info", family.name),
        _ => family.name.to_string(),
    };
    let _ = writeln!(text, "# HELP {name} {}\n# TYPE {name} {kind}", family.help);
    if style != Style::Prometheus && name.ends_with("_seconds") {
        let _ = writeln!(text, "# UNIT {name} seconds");
    }
}

fn sample(text: &mut String, family: &Family<'_>, sample: &Sample<'_>, style: Style) {
    let (name, labels) = (family.name, labels(&sample.labels));
    let _ = match &sample.value {
        Value::Number(value) if matches!(family.kind, Kind::Info | Kind::StateSet) => {
            let end = if family.kind == Kind::Info { "_info" } else { "" };
            writeln!(text, "{name}{end}{labels} {value}")
        }
        Value::Number(value) => writeln!(text, "{name}{labels} {}", go_float(*value)),
        Value::Counts { rows, sum, .. } if style == Style::Native => {
            writeln!(text, "{name}{labels} {}", native(rows, *sum))
        }
        Value::Counts { rows, sum, boundaries } => {
            classic(text, name, &sample.labels, rows, boundaries);
            let count: u64 = rows.iter().map(|bin| bin.count).sum();
            let sum = sum.map(|sum| format!("{name}_sum{labels} {}\n", go_float(sum)));
            write!(text, "{name}_count{labels} {count}\n{}", sum.unwrap_or_default())
        }
    };
}

/// Classic buckets, each with the count below its boundary.
fn classic(text: &mut String, name: &str, own: &[Label], rows: &[Bin], boundaries: &[Nanos]) {
    let ends = boundaries.iter().map(|end| (*end, go_float(end.as_secs_f64())));
    for (end, le) in ends.chain([(Nanos::MAX, "+Inf".to_string())]) {
        let count: u64 = rows.iter().filter(|bin| bin.high_ns <= end).map(|bin| bin.count).sum();
        let all: Vec<Label> = own.iter().cloned().chain([("le", le)]).collect();
        let _ = writeln!(text, "{name}_bucket{} {count}", labels(&all));
    }
}

/// The composite value of a native histogram.
fn native(rows: &[Bin], sum: Option<f64>) -> String {
    let native = Native::new(rows);
    let (spans, deltas) = native.spans();
    let spans: Vec<String> =
        spans.iter().map(|(from, length)| format!("{from}:{length}")).collect();
    let deltas: Vec<String> = deltas.iter().map(i64::to_string).collect();
    let sum = sum.map_or("NaN".to_string(), |sum| sum.to_string());
    format!(
        "{{count:{},sum:{sum},schema:{SCHEMA},zero_threshold:1e-09,zero_count:{},\
         positive_spans:[{}],positive_deltas:[{}]}}",
        native.count(),
        native.zero,
        spans.join(","),
        deltas.join(",")
    )
}

fn labels(all: &[Label]) -> String {
    let label = |(name, value): &Label| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        format!("{name}=\"{value}\"")
    };
    format!("{{{}}}", all.iter().map(label).collect::<Vec<_>>().join(","))
}

/// A number as Go prints it, which OpenMetrics requires for boundaries.
fn go_float(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e21).contains(&size) {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let text = value.to_string();
    if text.contains('.') { text } else { text + ".0" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_go() {
        let texts = [1e-6, 2e-5, 1.5e-5, 1e-4, 0.25, 10.0, 0.0].map(go_float);
        assert_eq!(texts, ["1e-06", "2e-05", "1.5e-05", "0.0001", "0.25", "10.0", "0.0"]);
    }

    #[test]
    fn labels_are_quoted() {
        let label = ("run", "a\"b\\c\nd".to_string());
        assert_eq!(labels(&[label]), "{run=\"a\\\"b\\\\c\\nd\"}");
    }
}
