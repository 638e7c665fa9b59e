//! Files of other latency tools: bytes to a [`Recording`], and a recording to the stream that an
//! agent would send.
//!
//! A format is recognised by the content of a file, never by its name or a version in it. Each has
//! a file in `formats/`. Text is read line by line in memory of fixed size. Whatever can be read is
//! read; what was left out, is missing or contradicts itself becomes a finding.

mod bins;
mod columns;
mod deadline;
mod formats;
mod input;
mod lines;
mod numbers;
mod prefix;
mod recording;
mod samples;
mod stated_figures;
mod stream;
mod unpack;

pub use formats::{FORMATS, Format, format_of_id};
pub use input::{ImportQuery, InputError, InputUnit};
pub use recording::{LatencySeries, Recording};

use input::Input;
use latlab_report::InWords;
use std::fs::File;
use std::io::Read;

/// Reads one file: all recordings that it holds, at least one.
pub fn read(
    source: impl Read + 'static,
    query: &ImportQuery,
) -> Result<Vec<Recording>, InputError> {
    read_source(Box::new(source), None, query)
}

/// The same for a file with random access.
pub fn read_file(file: &File, query: &ImportQuery) -> Result<Vec<Recording>, InputError> {
    read_source(Box::new(file.try_clone()?), Some(file.try_clone()?), query)
}

fn read_source(
    source: Box<dyn Read>,
    file: Option<File>,
    query: &ImportQuery,
) -> Result<Vec<Recording>, InputError> {
    let (plain, was_packed) = unpack::unpacked(source)?;
    let mut input = Input::open(plain, file.filter(|_| !was_packed))?;
    let (format, prefix) = formats::detect(input.head(), query)?;
    input.set_prefix(prefix);
    let mut recordings = (format.read)(&mut input, query)?;
    let mut findings = recordings.iter().flat_map(|one| &one.findings);
    let reason = findings.find(|one| one.forbids_pass()).map(InWords::text);
    keep_those_with_results(&mut recordings);
    if recordings.is_empty() {
        return Err(InputError::NoLatencies { format: format.title, reason });
    }
    if let Some(failure) = input.failure() {
        recordings.iter_mut().for_each(|one| one.findings.push(failure.clone()));
    }
    Ok(recordings)
}

/// Removes recordings without a result; the one before it, or the first, reports what they lack.
fn keep_those_with_results(recordings: &mut Vec<Recording>) {
    for at in 0..recordings.len() {
        if recordings[at].has_result() || !recordings[at].is_incomplete() {
            continue;
        }
        let findings = std::mem::take(&mut recordings[at].findings);
        let before = recordings[..at].iter().rposition(Recording::has_result);
        if let Some(heir) = before.or_else(|| recordings.iter().position(Recording::has_result)) {
            recordings[heir].findings.extend(findings);
        }
    }
    recordings.retain(Recording::has_result);
}
