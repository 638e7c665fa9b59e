//! The formats, one file each, and how a file is recognised.

mod cyclictest;
mod evl;
mod hdr;
mod hwlatdetect;
mod jitterdebugger;
mod json;
mod left_out;
mod oslat;
mod pairs;
mod parquet;
mod rt_app;
mod rteval;
mod rtla;
mod stress_ng;
mod table;
mod xenomai;

use crate::read::input::{ImportQuery, Input, InputError};
use crate::read::prefix::Prefix;
use crate::read::recording::Recording;
use crate::read::unpack::archive_of;
use left_out::LeftOut;

/// A format that can be read.
pub struct Format {
    /// Name for `--as`.
    pub id: &'static str,
    /// Human-readable name.
    pub title: &'static str,
    /// Whether the first bytes of a file look like it.
    fits: fn(&[u8]) -> bool,
    /// Whether a single trimmed line is certain to hold a value of this format.
    has_value: fn(&[u8]) -> bool,
    pub(crate) read: fn(&mut Input, &ImportQuery) -> Result<Vec<Recording>, InputError>,
}

/// All formats. The first match is taken, so formats with unambiguous marks come first, and generic
/// tables last.
pub const FORMATS: &[Format] = &[
    parquet::FORMAT,
    json::FORMAT,
    rteval::FORMAT,
    hdr::FORMAT,
    rtla::HISTOGRAM,
    rtla::TOP,
    oslat::FORMAT,
    xenomai::FORMAT,
    evl::FORMAT,
    rt_app::FORMAT,
    stress_ng::FORMAT,
    pairs::FORMAT,
    hwlatdetect::FORMAT,
    cyclictest::FORMAT,
    jitterdebugger::CSV,
    jitterdebugger::RAW,
    table::FORMAT,
];

pub fn format_of_id(id: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.id == id)
}

/// The format of the content, and the prefix to strip from its lines; anything with named columns
/// is a table.
pub fn detect(head: &[u8], query: &ImportQuery) -> Result<(&'static Format, Prefix), InputError> {
    if let Some(program) = archive_of(head) {
        let text = format!("an archive: unpack it first, with {program}");
        return Err(InputError::Malformed(text));
    }
    let is_table = query.column.is_some() || query.period.is_some();
    let named = match is_table.then_some(()) {
        Some(()) if query.format.is_none() && (parquet::FORMAT.fits)(head) => {
            Some(&parquet::FORMAT)
        }
        Some(()) if query.format.is_none() && is_text(head) => Some(&table::FORMAT),
        _ => query.format,
    };
    let prefixes = match is_text(head) {
        true => Prefix::candidates(head),
        false => vec![Prefix::default()],
    };
    for prefix in prefixes {
        let head = prefix.strip_all(head);
        let found = match (named, is_table) {
            (Some(format), true) if format.id == table::FORMAT.id => {
                table::has_column(&head, query).then_some(format)
            }
            (Some(format), _) => (format.fits)(&head).then_some(format),
            (None, _) => FORMATS.iter().find(|format| (format.fits)(&head)).or_else(|| {
                let with_unit = query.unit.is_some() && is_text(&head);
                (with_unit && table::has_column(&head, query)).then_some(&table::FORMAT)
            }),
        };
        if let Some(format) = found {
            return Ok((format, prefix));
        }
    }
    // A format named by the user is tried, whatever the content looks like.
    named.map(|format| (format, Prefix::default())).ok_or_else(|| {
        is_text(head).then(|| table::refusal(head, query)).flatten().unwrap_or(InputError::Unknown)
    })
}

/// The text from a line up to the next part: usually one recording.
struct Part {
    first_line: u64,
    recordings: Vec<Recording>,
    /// What could not be read, if the part has no recording.
    left: LeftOut,
}

impl Part {
    /// A part with one recording.
    fn one(first_line: u64, recording: Recording) -> Part {
        Part { first_line, recordings: vec![recording], left: LeftOut::default() }
    }

    /// A part with several recordings, each of which reports what could not be read.
    fn of(first_line: u64, recordings: Vec<Recording>, left: LeftOut) -> Part {
        let left = if recordings.is_empty() { left } else { LeftOut::default() };
        Part { first_line, recordings, left }
    }

    /// A part without any readable latency.
    fn none(first_line: u64, left: LeftOut) -> Part {
        Part { first_line, recordings: Vec::new(), left }
    }
}

/// More recordings than any user's log has.
const MOST_RECORDINGS: usize = 1_000;

/// Refuses a file that has too many parts at this line.
fn check_number(parts: &[Part], line: u64) -> Result<(), InputError> {
    if parts.len() < MOST_RECORDINGS {
        return Ok(());
    }
    let text = format!("line {line}: more than {MOST_RECORDINGS} recordings in one file");
    Err(InputError::Malformed(text))
}

/// The recordings of all parts; if there are several, they are numbered and say where they begin.
fn number_parts(parts: Vec<Part>) -> Vec<Recording> {
    number_parts_of(parts, "First line")
}

/// The same for a file without lines; `begin` names what its parts begin with.
fn number_parts_of(mut parts: Vec<Part>, begin: &'static str) -> Vec<Recording> {
    tell_neighbours(&mut parts);
    let is_one = parts.len() < 2;
    let numbered = (1..).zip(parts).flat_map(|(number, part): (u32, Part)| {
        let first_line = part.first_line;
        part.recordings.into_iter().map(move |mut one| {
            if !is_one {
                one.part = Some(match one.part {
                    Some(part) => format!("{number}-{part}"),
                    None => number.to_string(),
                });
                one.fact(begin, first_line.to_string());
            }
            one
        })
    });
    numbered.collect()
}

/// Removes the parts without a recording; the part before, or else after, reports what they lost.
fn tell_neighbours(parts: &mut Vec<Part>) {
    let has_recording = |part: &Part| !part.recordings.is_empty();
    for at in 0..parts.len() {
        let left = std::mem::take(&mut parts[at].left);
        let before = parts[..at].iter().rposition(has_recording);
        let heir = before.or_else(|| parts.iter().position(has_recording));
        match heir.and_then(|heir| parts[heir].recordings.last_mut()) {
            Some(recording) => left.report("lines", recording),
            // Without any latency, what was lost explains it.
            None => {
                let mut without_latency = Recording::default();
                left.report("lines", &mut without_latency);
                parts[at].recordings.push(without_latency);
            }
        }
    }
    parts.retain(has_recording);
}

/// Whether a line has a value of any format, including as a comment: a line that this reader does
/// not know may still hold a value.
fn is_line_of_tool(line: &[u8]) -> bool {
    let is_mark = |byte: &u8| byte.is_ascii_whitespace() || b"#-/;".contains(byte);
    let behind = line.iter().position(|byte| !is_mark(byte)).unwrap_or(line.len());
    let texts = [line.trim_ascii(), line[behind..].trim_ascii()];
    texts.iter().any(|text| FORMATS.iter().any(|format| (format.has_value)(text)))
}

/// For formats of which no single line is characteristic.
fn has_none(_: &[u8]) -> bool {
    false
}

/// The trimmed lines of the head of a file; the last may be cut.
fn head_lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii)
}

/// Whether the bytes are text: binary data has many control characters. A serial line or a crash
/// may have added zeros.
fn is_text(head: &[u8]) -> bool {
    let strange = |byte: &&u8| matches!(**byte, 0..=8 | 14..=26 | 28..=31);
    head.iter().filter(strange).count() * 50 <= head.len()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    memchr::memmem::find(bytes, text.as_bytes()).is_some()
}
