//! Documents of JSON: rt-tests, jitterdebugger and the datasets of OSADL.

mod jitterdebugger;
mod osadl;
mod repair;
mod rt_tests;

use super::{Format, Part, contains, is_text, number_parts};
use crate::bins::{Bins, LARGEST_COUNT, MOST_BINS};
use crate::formats::left_out::LeftOut;
use crate::input::{Input, InputError, Query};
use crate::recording::Recording;
use latlab_model::finding::ImportFinding;
use repair::repaired;
use serde_json::{Deserializer, Map, Value};

pub const FORMAT: Format =
    Format { id: "json", title: "JSON of rt-tests, jitterdebugger or OSADL", fits, read };

fn fits(head: &[u8]) -> bool {
    let start = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let keys = ["\"thread\"", "\"RT Dataset\"", "\"cpu\"", "\"rt_test_version", "\"latency\""];
    start.first() == Some(&b'{') && is_text(head) && keys.iter().any(|key| contains(head, key))
}

fn read(input: &mut Input, query: &Query) -> Result<Vec<Recording>, InputError> {
    let bytes = input.document()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}');
    let (documents, was_cut) = parse(text)?;
    let of = |document: &Value| recording(document, query);
    let mut recordings = documents.iter().map(of).collect::<Result<Vec<_>, _>>()?;
    if let Some(last) = recordings.last_mut().filter(|_| was_cut) {
        let missing = "the document breaks off before its end".to_string();
        last.add(ImportFinding::ImportIncomplete { missing });
    }
    let parts = recordings.into_iter().map(|one| Part::one(1, one));
    Ok(number_parts(parts.collect()))
}

fn recording(document: &Value, query: &Query) -> Result<Recording, InputError> {
    let Value::Object(document) = document else { return Err(InputError::Unknown) };
    match () {
        () if document.contains_key("latency") => osadl::recording(document),
        () if document.get("cpu").is_some_and(Value::is_object) => {
            Ok(jitterdebugger::recording(document, query))
        }
        () if document.get("thread").is_some_and(Value::is_object) => {
            Ok(rt_tests::recording(document, query))
        }
        () => Err(InputError::NoLatencies { format: FORMAT.title }),
    }
}

/// The documents of a text, most have one, and whether the end of the only one was missing. rt-tests does not
/// escape its command line.
fn parse(text: &str) -> Result<(Vec<Value>, bool), InputError> {
    let all = |text: &str| -> serde_json::Result<Vec<Value>> {
        Deserializer::from_str(text).into_iter().collect()
    };
    let error = match all(text) {
        Ok(documents) => return Ok((documents, false)),
        Err(error) => error,
    };
    let escaped = repair::with_escaped_command(text);
    if let Ok(documents) = all(&escaped) {
        return Ok((documents, false));
    }
    let closed = serde_json::from_str(&repaired(&escaped));
    closed
        .map(|document| (vec![document], true))
        .map_err(|_| InputError::Malformed(format!("line {}: no JSON: {error}", error.line())))
}

/// A text of the document.
fn text(object: &Map<String, Value>, key: &str) -> Option<String> {
    let text = object.get(key)?.as_str()?;
    (!text.is_empty()).then(|| text.to_string())
}

/// A count of the document.
fn count(object: &Map<String, Value>, key: &str) -> Option<u64> {
    let value = object.get(key)?;
    let count = value.as_u64().or_else(|| value.as_str()?.parse().ok());
    count.filter(|count| *count < LARGEST_COUNT)
}

/// A number of the document.
fn number(object: &Map<String, Value>, key: &str) -> Option<f64> {
    object.get(key)?.as_f64()
}

/// The bins of an object of indices and counts, and the number behind the last of them.
fn bins(object: &Map<String, Value>, left: &mut LeftOut) -> (Bins, u32) {
    let (mut bins, mut end) = (Bins::default(), 0);
    for (key, value) in object {
        let bin = key.parse::<u64>().ok().filter(|bin| *bin < MOST_BINS);
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

/// What `uname` says, as all these documents hold it.
fn machine(document: &Map<String, Value>, recording: &mut Recording) {
    let Some(system) = document.get("sysinfo").and_then(Value::as_object) else { return };
    let machine = &mut recording.machine;
    machine.hostname = text(system, "nodename");
    machine.kernel = text(system, "release").unwrap_or_default();
    machine.kernel_version = text(system, "version").unwrap_or_default();
    machine.architecture = text(system, "machine").unwrap_or_default();
    let realtime = count(system, "realtime") == Some(1);
    let version = &machine.kernel_version;
    machine.preemption = match realtime || version.contains("PREEMPT_RT") {
        true => Some("PREEMPT_RT".to_string()),
        false => version.split(' ').find(|word| word.starts_with("PREEMPT")).map(str::to_string),
    };
}
