//! JSON documents: rt-tests, jitterdebugger and the datasets of OSADL.

mod jitterdebugger;
mod keys;
mod osadl;
mod repair;
mod rt_tests;

use super::{Format, Part, check_number, contains, is_text, number_parts};
use crate::read::bins::{Bins, LARGEST_COUNT, MOST_BINS};
use crate::read::formats::left_out::LeftOut;
use crate::read::input::{ImportQuery, Input, InputError};
use crate::read::numbers::{nanos, whole};
use crate::read::recording::Recording;
use crate::read::stated_figures::contradiction;
use repair::repaired;
use serde_json::{Deserializer, Map, Value};

pub const FORMAT: Format = Format {
    id: "json",
    title: "JSON of rt-tests, jitterdebugger or OSADL",
    fits,
    has_value,
    read,
};

fn fits(head: &[u8]) -> bool {
    let start = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let keys = ["\"thread\"", "\"RT Dataset\"", "\"cpu\"", "\"rt_test_version", "\"latency\""];
    start.first() == Some(&b'{') && is_text(head) && keys.iter().any(|key| contains(head, key))
}

fn has_value(line: &[u8]) -> bool {
    let is_member = line.starts_with(b"{") || line.starts_with(b"\"");
    is_member && contains(line, "\":") && line.iter().any(u8::is_ascii_digit)
}

/// A document of a text.
struct Document {
    first_line: u64,
    value: Value,
    /// What of it was lost in parsing.
    left: LeftOut,
}

fn read(input: &mut Input, query: &ImportQuery) -> Result<Vec<Recording>, InputError> {
    let bytes = input.document()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}');
    let (documents, was_cut) = parse(text)?;
    let last = documents.len() - 1;
    let (mut parts, mut refused) = (Vec::new(), None);
    for (at, document) in documents.into_iter().enumerate() {
        let Document { first_line, value, left } = document;
        check_number(&parts, first_line)?;
        match recording(&value, query, left) {
            Ok(mut recording) => {
                if was_cut && at == last {
                    recording.lacks("the document breaks off before its end");
                }
                parts.push(Part::one(first_line, recording));
            }
            Err(error) => {
                let mut left = LeftOut::default();
                left.lose_text(first_line, b"a document without latencies");
                parts.push(Part::none(first_line, left));
                refused = Some(error);
            }
        }
    }
    let recordings = number_parts(parts);
    match refused.filter(|_| recordings.is_empty()) {
        Some(error) => Err(error),
        None => Ok(recordings),
    }
}

fn recording(value: &Value, query: &ImportQuery, left: LeftOut) -> Result<Recording, InputError> {
    let Value::Object(document) = value else { return Err(InputError::Unknown) };
    match () {
        () if document.contains_key("latency") => osadl::recording(document, left),
        () if document.get("cpu").is_some_and(Value::is_object) => {
            Ok(jitterdebugger::recording(document, query, left))
        }
        () if document.get("thread").is_some_and(Value::is_object) => {
            Ok(rt_tests::recording(document, query, left))
        }
        () => Err(InputError::NoLatencies { format: FORMAT.title, reason: None }),
    }
}

/// The documents of a text, usually one, and whether the end of the last was missing. rt-tests does
/// not escape its command line.
fn parse(text: &str) -> Result<(Vec<Document>, bool), InputError> {
    let error = match documents(text) {
        Ok(documents) => return Ok((documents, false)),
        Err(error) => error,
    };
    let escaped = repair::with_escaped_command(text);
    if let Ok(documents) = documents(&escaped) {
        return Ok((documents, false));
    }
    documents(&repaired(&escaped))
        .map(|documents| (documents, true))
        .map_err(|_| InputError::Malformed(format!("line {}: no JSON: {error}", error.line())))
}

fn documents(text: &str) -> serde_json::Result<Vec<Document>> {
    let mut found: Vec<Document> = Vec::new();
    let mut stream = Deserializer::from_str(text).into_iter();
    let (mut begin, mut line) = (0, 1);
    while let Some(value) = stream.next() {
        let end = stream.byte_offset();
        let blanks = text[begin..].len() - text[begin..].trim_start().len();
        let lines = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count() as u64;
        let first_line = line + lines(&text[begin..begin + blanks]);
        let mut left = LeftOut::default();
        for key in keys::repeated(&text[begin..end]) {
            left.lose_text(first_line, format!("\"{key}\" comes again in its object").as_bytes());
        }
        found.push(Document { first_line, value: value?, left });
        line += lines(&text[begin..end]);
        begin = end;
    }
    match found.is_empty() {
        // An empty text is not a document.
        true => serde_json::from_str(text)
            .map(|value| vec![Document { first_line: 1, value, left: LeftOut::default() }]),
        false => Ok(found),
    }
}

fn text(object: &Map<String, Value>, key: &str) -> Option<String> {
    let text = object.get(key)?.as_str()?;
    (!text.is_empty()).then(|| text.to_string())
}

/// A count of the document; an invalid one counts as lost.
fn count(object: &Map<String, Value>, key: &str, left: &mut LeftOut) -> Option<u64> {
    let value = object.get(key)?;
    let count = value.as_u64().or_else(|| whole(value.as_str()?));
    lost_unless(key, value, count.filter(|count| *count < LARGEST_COUNT), left)
}

/// A non-negative number of the document; an invalid one counts as lost.
fn number(object: &Map<String, Value>, key: &str, left: &mut LeftOut) -> Option<f64> {
    let value = object.get(key)?;
    lost_unless(key, value, value.as_f64().filter(|number| *number >= 0.0), left)
}

/// A time of the document in these units; an invalid one counts as lost.
fn time(object: &Map<String, Value>, key: &str, unit: i64, left: &mut LeftOut) -> Option<i64> {
    let value = object.get(key)?;
    let time = value.as_f64().filter(|number| *number >= 0.0);
    lost_unless(key, value, time.and_then(|time| nanos(time, unit)), left)
}

fn lost_unless<T>(key: &str, value: &Value, found: Option<T>, left: &mut LeftOut) -> Option<T> {
    if found.is_none() {
        left.lose_item(&format!("{key}: {value}"));
    }
    found
}

/// The bins of an object of indices and counts, and the number after the last of them.
fn bins(object: &Map<String, Value>, left: &mut LeftOut) -> (Bins, u32) {
    let (mut bins, mut end) = (Bins::default(), 0);
    for (key, value) in object {
        let bin = whole(key).filter(|bin| *bin < MOST_BINS);
        match (bin, value.as_u64().filter(|count| *count < LARGEST_COUNT)) {
            (Some(bin), Some(count)) => {
                bins.push(bin as u32, count);
                end = end.max(bin as u32 + 1);
            }
            _ => left.lose_item(&format!("{key}: {value}")),
        }
    }
    (bins, end)
}

/// The threads of an object by their numbers, from zero; missing ones are reported.
fn threads<'a>(
    object: Option<&'a Value>,
    announced: Option<u64>,
    left: &mut LeftOut,
    recording: &mut Recording,
) -> Vec<&'a Map<String, Value>> {
    let mut threads: Vec<(u64, &Map<String, Value>)> = Vec::new();
    for (key, value) in object.and_then(Value::as_object).into_iter().flatten() {
        match (whole(key), value.as_object()) {
            (Some(thread), Some(object)) => threads.push((thread, object)),
            _ => left.lose_item(&format!("thread {key}")),
        }
    }
    threads.sort_by_key(|thread| thread.0);
    let last = threads.last().map_or(0, |last| last.0 + 1);
    let due = announced.unwrap_or(0).max(last);
    if (threads.len() as u64) < due {
        recording.lacks(format!("it has {} of {due} threads", threads.len()));
    } else if let Some(announced) = announced.filter(|announced| *announced < due) {
        let stated = format!("{announced} threads");
        contradiction(recording, 0, "num_threads", stated, format!("{} threads", threads.len()));
    }
    threads.into_iter().map(|thread| thread.1).collect()
}

/// The `uname` information, the same in all these documents.
fn machine(document: &Map<String, Value>, recording: &mut Recording) {
    let Some(system) = document.get("sysinfo").and_then(Value::as_object) else { return };
    let machine = &mut recording.machine;
    machine.hostname = text(system, "nodename");
    machine.kernel = text(system, "release").unwrap_or_default();
    machine.kernel_version = text(system, "version").unwrap_or_default();
    machine.architecture = text(system, "machine").unwrap_or_default();
    let realtime = system.get("realtime").and_then(Value::as_u64) == Some(1);
    let version = &machine.kernel_version;
    machine.preemption = match realtime || version.contains("PREEMPT_RT") {
        true => Some("PREEMPT_RT".to_string()),
        false => version.split(' ').find(|word| word.starts_with("PREEMPT")).map(str::to_string),
    };
}
