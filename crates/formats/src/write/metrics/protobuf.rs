//! Families as delimited messages `io.prometheus.client.MetricFamily`, which have native
//! histograms.

use super::native::{Native, SCHEMA, ZERO_THRESHOLD};
use super::{Family, Kind, Label, Sample, Value};
use crate::write::protobuf::ProtoMessage;

const GAUGE: u64 = 1;
const HISTOGRAM: u64 = 4;

/// The length-delimited messages of these families.
pub fn messages(families: &[Family<'_>]) -> Vec<u8> {
    families.iter().flat_map(|one| family(one).delimited()).collect()
}

fn family(of: &Family<'_>) -> ProtoMessage {
    let (name, kind) = match of.kind {
        Kind::Info => (format!("{}_info", of.name), GAUGE),
        Kind::StateSet | Kind::Gauge => (of.name.to_string(), GAUGE),
        Kind::Histogram => (of.name.to_string(), HISTOGRAM),
    };
    let head = ProtoMessage::default().text(1, &name).text(2, &of.help).number(3, kind);
    of.samples.iter().fold(head, |message, sample| message.message(4, &metric(sample)))
}

fn metric(of: &Sample<'_>) -> ProtoMessage {
    let pair = |(name, value): &Label| ProtoMessage::default().text(1, name).text(2, value);
    let labels = of
        .labels
        .iter()
        .fold(ProtoMessage::default(), |message, label| message.message(1, &pair(label)));
    match &of.value {
        Value::Number(value) => labels.message(2, &ProtoMessage::default().double(1, *value)),
        Value::Counts { rows, sum, .. } => labels.message(7, &histogram(&Native::new(rows), *sum)),
    }
}

fn histogram(native: &Native, sum: Option<f64>) -> ProtoMessage {
    let (spans, deltas) = native.spans();
    let span = |(offset, length): &(i32, u32)| {
        ProtoMessage::default().signed(1, i64::from(*offset)).number(2, u64::from(*length))
    };
    let head = ProtoMessage::default()
        .number(1, native.count())
        .double(2, sum.unwrap_or(f64::NAN))
        .signed(5, i64::from(SCHEMA))
        .double(6, ZERO_THRESHOLD)
        .number(7, native.zero);
    let spanned = spans.iter().fold(head, |message, one| message.message(12, &span(one)));
    deltas.iter().fold(spanned, |message, delta| message.signed(13, *delta))
}
