//! Opens a capture of any format.

use crate::capture::{Capture, Head, Kind, LevelCapture};
use crate::error::{Error, ParseError};
use crate::lines::BYTE_ORDER_MARK;
use crate::list::ListUnit;
use crate::merge::{Merged, Part};
use crate::{csv, isf, sigrok, vcd};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// Number of first bytes that reveal the format.
const SNIFFED: u64 = 4096;

/// Opens a file, which must not be a pipe since it is read several times.
pub fn open(path: &Path, unit: Option<ListUnit>) -> Result<Capture, Error> {
    let mut capture = open_file(path, unit).map_err(|error| error.in_file(path))?;
    if let Capture::Points(opened) = &mut capture {
        number_duplicates(&mut opened.head);
    }
    Ok(capture)
}

/// Numbers channels with equal names, from the second on.
fn number_duplicates(head: &mut Head) {
    let mut seen: HashMap<String, u32> = HashMap::new();
    for channel in &mut head.channels {
        let number = seen.entry(channel.name.clone()).or_default();
        *number += 1;
        if *number > 1 {
            let name = format!("{} ({number})", channel.name);
            let note =
                format!("Another channel has the name {}: it is called '{name}'.", channel.name);
            head.notes.push(note);
            channel.name = name;
        }
    }
}

fn open_file(path: &Path, unit: Option<ListUnit>) -> Result<Capture, ParseError> {
    // Opening a pipe would wait for its writer.
    if !std::fs::metadata(path)?.is_file() {
        return Err(ParseError::whole("expected a regular file, which can be read more than once"));
    }
    let mut start = Vec::new();
    File::open(path)?.take(SNIFFED).read_to_end(&mut start)?;
    let again = || File::open(path).map(|file| BufReader::with_capacity(1 << 16, file));
    let text = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&start);
    let first = text.iter().copied().find(|byte| !byte.is_ascii_whitespace());
    match first {
        None => Err(ParseError::whole("the file is empty")),
        _ if start.starts_with(b"PK") => sigrok::open(path).map(Capture::Points),
        _ if isf::is_one(&start) => {
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            isf::open(again()?, &name.unwrap_or_default()).map(Capture::Points)
        }
        Some(b'$') => vcd::open(again()?).map(Capture::Points),
        _ if start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff") => {
            Err(ParseError::whole("the file is UTF-16: save it as UTF-8"))
        }
        _ if start.contains(&0) => Err(ParseError::whole(
            "expected a sigrok session, a VCD, a CSV, an ISF waveform or a list of readings; \
             found none of these",
        )),
        _ => csv::open(path, unit),
    }
}

/// Opens several files as one capture: some oscilloscopes write one file per channel.
pub fn open_joined(paths: &[PathBuf], unit: Option<ListUnit>) -> Result<Capture, Error> {
    if let [one] = paths {
        return open(one, unit);
    }
    let mut head = Head::default();
    let mut sources = Vec::new();
    for path in paths {
        let Capture::Points(opened) = open(path, unit)? else {
            return Err(ParseError::whole(
                "a list of readings cannot be combined with other files",
            )
            .in_file(path));
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
        head.is_sample_time = opened.head.is_sample_time && (first == 0 || head.is_sample_time);
        head.resolution_ps = head.resolution_ps.max(opened.head.resolution_ps);
        head.missing_chunks.extend(opened.head.missing_chunks);
        head.notes.extend(opened.head.notes);
        head.losses.extend(opened.head.losses);
        let is_sampled = head.channels[first..].iter().any(|channel| channel.kind == Kind::Sampled);
        let step_ps =
            opened.head.resolution_ps.filter(|_| is_sampled && opened.head.is_sample_time);
        sources.push(Part { source: opened.source, first_channel: first, name: stem, step_ps });
    }
    Ok(Capture::Points(LevelCapture { head, source: Box::new(Merged::new(sources)) }))
}

fn is_taken(head: &Head, name: &str) -> bool {
    head.channels.iter().any(|channel| channel.name == name)
}
