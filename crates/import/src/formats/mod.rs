//! The formats, one file each, and how a file is recognised.

mod cyclictest;
mod hdr;
mod jitterdebugger;
mod json;
mod left_out;
mod oslat;
mod pairs;
mod parquet;
mod rteval;
mod rtla;
mod stress_ng;
mod table;
mod xenomai;

use crate::input::{Input, InputError, Query};
use crate::recording::Recording;

/// A format that can be read.
pub struct Format {
    /// Its name for `--as`.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Whether the first bytes of a file look like it.
    fits: fn(&[u8]) -> bool,
    /// Reads a file.
    pub(crate) read: fn(&mut Input, &Query) -> Result<Vec<Recording>, InputError>,
}

/// All formats. The first that fits is taken, so that those with a mark of their own come first, and
/// a table of anything last.
pub const FORMATS: &[Format] = &[
    parquet::FORMAT,
    json::FORMAT,
    rteval::FORMAT,
    hdr::FORMAT,
    rtla::HISTOGRAM,
    rtla::TOP,
    oslat::FORMAT,
    xenomai::FORMAT,
    stress_ng::FORMAT,
    pairs::FORMAT,
    pairs::HWLATDETECT,
    cyclictest::FORMAT,
    jitterdebugger::CSV,
    jitterdebugger::RAW,
    table::FORMAT,
];

/// The format of this name.
pub fn format_of_id(id: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.id == id)
}

/// The format that the content of a file has; what has columns with names is a table.
pub fn detect(input: &Input, query: &Query) -> Result<&'static Format, InputError> {
    let head = input.head();
    match query.column {
        Some(_) if (parquet::FORMAT.fits)(head) => Ok(&parquet::FORMAT),
        Some(_) if is_text(head) => Ok(&table::FORMAT),
        _ => FORMATS.iter().find(|format| (format.fits)(head)).ok_or(InputError::Unknown),
    }
}

/// Numbers the recordings of a file that holds several of one kind.
fn number_parts(recordings: &mut [Recording]) {
    if recordings.len() > 1 {
        (1..).zip(recordings).for_each(|(number, one): (u32, &mut Recording)| {
            one.part = Some(number.to_string());
        });
    }
}

/// Lines of the head of a file, without blanks around them; the last may be cut off.
fn head_lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii)
}

/// Whether the bytes are text: what is none has zeros or many other control characters.
fn is_text(head: &[u8]) -> bool {
    let strange = |byte: &&u8| **byte < 9 || (14..27).contains(*byte) || (28..32).contains(*byte);
    !head.contains(&0) && head.iter().filter(strange).count() * 50 <= head.len()
}

/// Whether this text is in these bytes.
fn contains(bytes: &[u8], text: &str) -> bool {
    memchr::memmem::find(bytes, text.as_bytes()).is_some()
}
