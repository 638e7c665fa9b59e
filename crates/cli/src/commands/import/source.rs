//! The files to import: expands folders, and copies pipes.

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

/// Folders nested deeper than this are skipped.
const DEEPEST: usize = 16;
/// Copy buffer for input that can be read only once.
const PIECE: usize = 1 << 16;
/// A pipe that delivers nothing for this long is named to the user.
const SOON: Duration = Duration::from_secs(1);
/// Disk space that an import leaves free, in bytes.
const KEPT_FREE: u64 = 64 << 20;

pub struct SourceFile {
    pub path: PathBuf,
    /// Whether it was found in a folder and not named by the user.
    pub is_of_folder: bool,
}

/// Expands folders to the files in them, sorted by name.
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

/// The command that reads files of this name, if it is not `import`.
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

/// Opens a file so that it can be read from the start more than once; a pipe is copied first.
/// Refuses more than `most` bytes.
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

/// Reads until the buffer is full or the input ends.
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

/// Whether input that starts like this can be a recording. Text without a digit cannot, nor can one
/// repeated byte, which devices and some programs deliver without end.
fn may_hold_figures(begin: &[u8]) -> bool {
    let is_text = begin.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~'));
    let is_one_byte = begin.iter().all(|byte| *byte == begin[0]);
    match is_text {
        true => begin.iter().any(u8::is_ascii_digit),
        false => !is_one_byte,
    }
}

/// Refuses to write `needed` bytes if that would leave too little free disk space.
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
