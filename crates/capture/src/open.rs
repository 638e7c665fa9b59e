//! Opens a capture, whatever its format is.

use crate::fault::{Error, Fault};
use crate::list::{List, Unit};
use crate::merge::Merged;
use crate::point::{Head, Source};
use crate::{csv, isf, sigrok, vcd};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// What tells a format.
const SNIFFED: u64 = 4096;

/// A capture with channels.
pub struct Opened {
    /// What is known before its values.
    pub head: Head,
    /// Its values.
    pub source: Box<dyn Source>,
}

/// What a file holds.
pub enum Capture {
    /// Levels over time.
    Points(Opened),
    /// Readings without times.
    List(List),
}

/// Opens a file; it can be opened again and again, so that it must be no pipe.
pub fn open(path: &Path, unit: Option<Unit>) -> Result<Capture, Error> {
    of_file(path, unit).map_err(|fault| fault.of(path))
}

fn of_file(path: &Path, unit: Option<Unit>) -> Result<Capture, Fault> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(Fault::whole("expected a file, which can be read more than once"));
    }
    let mut start = Vec::new();
    file.take(SNIFFED).read_to_end(&mut start)?;
    let again = || File::open(path).map(|file| BufReader::with_capacity(1 << 16, file));
    let first = start.iter().copied().find(|byte| !byte.is_ascii_whitespace());
    match first {
        None => Err(Fault::whole("the file is empty")),
        _ if start.starts_with(b"PK") => sigrok::open(path).map(Capture::Points),
        _ if isf::is_one(&start) => {
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            isf::open(again()?, &name.unwrap_or_default()).map(Capture::Points)
        }
        Some(b'$') => vcd::open(again()?).map(Capture::Points),
        _ if start.contains(&0) => Err(Fault::whole(
            "expected a sigrok session, a VCD, a CSV, an ISF waveform or a list of readings; this \
             is none of them",
        )),
        _ => csv::open(path, unit),
    }
}

/// Several files as one capture: oscilloscopes write a file for each channel.
pub fn open_joined(paths: &[PathBuf], unit: Option<Unit>) -> Result<Capture, Error> {
    if let [one] = paths {
        return open(one, unit);
    }
    let mut head = Head::default();
    let mut sources = Vec::new();
    for path in paths {
        let Capture::Points(opened) = open(path, unit)? else {
            return Err(Fault::whole("a list of readings cannot be joined with others").of(path));
        };
        let first = head.channels.len();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        for mut channel in opened.head.channels {
            if let Some(stem) = stem.as_ref().filter(|_| is_taken(&head, &channel.name)) {
                channel.name = format!("{stem}.{}", channel.name);
            }
            head.channels.push(channel);
        }
        head.format = opened.head.format;
        head.resolution_ps = head.resolution_ps.max(opened.head.resolution_ps);
        head.notes.extend(opened.head.notes);
        sources.push((opened.source, first));
    }
    Ok(Capture::Points(Opened { head, source: Box::new(Merged::new(sources)) }))
}

fn is_taken(head: &Head, name: &str) -> bool {
    head.channels.iter().any(|channel| channel.name == name)
}
