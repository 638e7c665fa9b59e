//! The files to import: those of folders, and what can be read only once.

use crate::exit::ExitError;
use crate::output::warn;
use latlab_model::shell::Line;
use latlab_model::units::bytes;
use latlab_sys::disk;
use latlab_sys::files::{open_at_once, wait_for_data};
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Deeper folders are not looked into.
const DEEPEST: usize = 16;
/// What is copied at once of what can be read only once.
const PIECE: usize = 1 << 16;
/// Who gives nothing for so long is named.
const SOON: Duration = Duration::from_secs(1);
/// Bytes of a disk that no import takes.
const KEPT_FREE: u64 = 64 << 20;

/// A file to import.
pub struct SourceFile {
    pub path: PathBuf,
    /// Whether the user has not named it, but a folder that it is in.
    pub is_of_folder: bool,
}

/// The files that the user names; a folder stands for those in it, in the order of their names.
pub fn expand(paths: &[PathBuf]) -> io::Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    for path in paths {
        let is_of_folder = path.is_dir();
        let mut found = Vec::new();
        match is_of_folder {
            true => walk(path, 0, &mut found)?,
            false => found.push(path.clone()),
        }
        files.extend(found.into_iter().map(|path| SourceFile { path, is_of_folder }));
    }
    Ok(files)
}

/// The command that reads a file of this name, where it is not this one.
pub fn other_reader(path: &Path) -> Option<Line> {
    let end = path.extension()?.to_str()?.to_ascii_lowercase();
    let line = Line::new("latlab respond --from").word(path);
    match end.as_str() {
        "sr" | "vcd" | "isf" => Some(line.text("--look")),
        "out" => Some(line),
        _ => None,
    }
}

fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type()?;
        if kind.is_file() {
            files.push(entry.path());
        } else if kind.is_dir() && depth < DEEPEST {
            walk(&entry.path(), depth + 1, files)?;
        }
    }
    Ok(())
}

/// A file that can be read again from its start: what comes through a pipe is copied first. What is
/// larger than `most` bytes is refused.
pub fn open(path: &Path, most: u64) -> anyhow::Result<File> {
    if path == Path::new("-") {
        return spool(io::stdin().lock(), "standard input", most);
    }
    let file = open_at_once(path)?;
    match file.metadata()? {
        kind if kind.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory).into()),
        kind if kind.is_file() && kind.len() > most => Err(too_large(most)),
        kind if kind.is_file() => Ok(file),
        _ => spool(file, &path.display().to_string(), most),
    }
}

fn too_large(most: u64) -> anyhow::Error {
    ExitError::usage(format!("it is larger than {}: see --max-size", bytes(most))).into()
}

fn spool(mut source: impl Read + AsFd, name: &str, most: u64) -> anyhow::Result<File> {
    if !wait_for_data(&source, SOON)? {
        warn(format!("waiting for data from {name}"));
    }
    let mut file = tempfile::tempfile()?;
    let mut piece = vec![0; PIECE];
    let mut read = 0;
    loop {
        let count = fill(&mut source, &mut piece)?;
        if count == 0 {
            break;
        }
        if read == 0 && !may_hold_figures(&piece[..count]) {
            let text = format!("its first {} hold no figures", bytes(count as u64));
            return Err(ExitError::usage(text).into());
        }
        read += count as u64;
        if read > most {
            return Err(too_large(most));
        }
        expect_room(&std::env::temp_dir(), count as u64)?;
        file.write_all(&piece[..count])?;
    }
    file.rewind()?;
    Ok(file)
}

/// Fills the piece as far as there is something to fill it with.
fn fill(source: &mut impl Read, piece: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < piece.len() {
        match source.read(&mut piece[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Whether a source that starts like this may be a recording. Text without a digit is not, nor is one
/// byte repeated, as devices and some programs produce it without end.
fn may_hold_figures(begin: &[u8]) -> bool {
    let is_text = begin.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~'));
    let is_one_byte = begin.iter().all(|byte| *byte == begin[0]);
    match is_text {
        true => begin.iter().any(u8::is_ascii_digit),
        false => !is_one_byte,
    }
}

/// Refuses to write this many bytes into a folder unless enough space stays free for others.
pub fn expect_room(folder: &Path, needed: u64) -> anyhow::Result<()> {
    match disk::free_bytes(folder) {
        Some(free) if free < needed.saturating_add(KEPT_FREE) => {
            let (free, folder) = (bytes(free), folder.display());
            let text = format!(
                "only {free} are free in {folder}, of which {} are left free",
                bytes(KEPT_FREE)
            );
            Err(ExitError::cannot_measure(text).into())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_no_figures_is_known_by_its_begin() {
        let recordings: [&[u8]; 4] =
            [b"# Histogram\n000001 5\n", b"\x1f\x8b\x08\0", b"0", b"PAR1\x15"];
        assert!(recordings.into_iter().all(may_hold_figures));
        let others: [&[u8]; 3] = [&[0; 100], b"y\ny\ny\n", &[0xff; 9]];
        assert!(!others.into_iter().any(may_hold_figures));
    }

    #[test]
    fn what_has_no_end_is_read_up_to_the_limit() {
        let endless = File::open("/dev/urandom").unwrap();
        let error = spool(endless, "x", 1 << 20).unwrap_err().to_string();
        assert!(error.contains("larger than 1.0 MiB"), "{error}");
        let zeros = File::open("/dev/zero").unwrap();
        let error = spool(zeros, "x", u64::MAX).unwrap_err().to_string();
        assert!(error.contains("hold no figures"), "{error}");
    }
}
