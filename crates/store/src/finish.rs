//! From the journal of a run to its folder.

use crate::assemble::{Assembled, Assembly, Ending, NoRun, StreamedRow};
use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::table::{Row, Table};
use crate::tables;
use latlab_model::frame::{Damage, FrameReader, Interval, Message, Next, STREAM_VERSION};
use latlab_model::run::StoredFile;
use latlab_model::{Histogram, Nanos, Run};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Name of the document in a run folder.
pub const RUN_JSON: &str = "run.json";
/// A longer damaged end of a journal is not searched but taken for something worth keeping.
const LONGEST_TAIL: u64 = 1 << 20;

/// A run that is published.
#[derive(Clone, PartialEq, Debug)]
pub struct Finished {
    /// What it came to.
    pub run: Run,
    /// Its folder.
    pub path: PathBuf,
}

/// Writes all files of a run beside its journal.
pub fn write_files(folder: &Path, id: &str, journal: &Journal, recovered: bool) -> Result<Run> {
    let (assembly, ending) = read_journal(folder, journal, recovered)?;
    let (intervals, tail) = (assembly.intervals(), ending.journal_bytes);
    // What cannot be read at all may be anything, and is not ours to remove.
    let illegible = matches!(&ending.damage, Some(damage) if *damage != Damage::CutOff);
    // A run that its user ended before the first interval is kept; one that was killed is not.
    let assembled = match recovered && intervals == 0 {
        true => Err(NoRun::Missing("first Interval")),
        false => assembly.finish(id, ending),
    };
    let keep = illegible || intervals > 0;
    let assembled = assembled.map_err(|reason| no_run(journal, reason, keep, tail))?;
    let Assembled { mut run, bins, spikes } = assembled;
    write_table(folder, bins)?;
    write_table(folder, spikes)?;
    for name in tables::FILES {
        run.files.insert(name.to_string(), seal(&folder.join(name))?);
    }
    write_document(&folder.join(RUN_JSON), &run)?;
    sync_folder(folder)?;
    Ok(run)
}

/// Reads the journal from its start; what can be stored at once goes into its table.
fn read_journal(folder: &Path, journal: &Journal, recovered: bool) -> Result<(Assembly, Ending)> {
    let path = journal.path();
    let file = File::open(path).map_err(Error::io("open", path))?;
    let length = file.metadata().map_err(Error::io("read", path))?.len();
    let mut frames = FrameReader::new(BufReader::with_capacity(1 << 16, file));
    let mut assembly = Assembly::default();
    let mut intervals = Table::create(folder)?;
    let mut clocks = Table::create(folder)?;
    let damage = loop {
        match frames.next_frame().map_err(Error::io("read", path))? {
            Next::End => break None,
            Next::Damaged(damage) => break Some(damage),
            Next::Frame(frame) => match assembly.take(frame.message) {
                Some(StreamedRow::Interval(row)) => intervals.push(row)?,
                Some(StreamedRow::Clocks(row)) => clocks.push(row)?,
                None => {}
            },
        }
    };
    intervals.close()?;
    clocks.close()?;
    let journal_bytes = length.saturating_sub(frames.whole_bytes());
    let findings = journal.lost_finding().into_iter().collect();
    Ok((assembly, Ending { damage, journal_bytes, recovered, findings }))
}

fn no_run(journal: &Journal, reason: NoRun, keep: bool, tail: u64) -> Error {
    let path = journal.path().to_path_buf();
    match reason {
        NoRun::Newer(found) => Error::NewerStream { path, found, known: STREAM_VERSION },
        other => {
            let holds_counts = keep || tail_holds_counts(&path, tail).unwrap_or(true);
            Error::NothingMeasured { path, reason: other.to_string(), holds_counts }
        }
    }
}

/// Whether a whole interval lies behind the damage, where no reader of the stream comes to.
fn tail_holds_counts(path: &Path, tail: u64) -> std::io::Result<bool> {
    if tail > LONGEST_TAIL {
        return Ok(true);
    }
    let mut file = File::open(path)?;
    file.seek(SeekFrom::End(-(tail as i64)))?;
    let mut bytes = Vec::with_capacity(tail as usize);
    file.read_to_end(&mut bytes)?;
    let kind = interval_kind();
    let looks_like_one = |at: usize| bytes.get(at + 4..at + 8) == Some(&kind[..]);
    Ok((0..bytes.len()).filter(|&at| looks_like_one(at)).any(|at| {
        let next = FrameReader::new(&bytes[at..]).next_frame();
        matches!(next, Ok(Next::Frame(_)))
    }))
}

/// The bytes by which a frame with an interval can be known.
fn interval_kind() -> [u8; 4] {
    let none = Interval {
        thread: 0,
        start_ns: Nanos::ZERO,
        end_ns: Nanos::ZERO,
        counts: Histogram::default(),
    };
    let frame = Message::Interval(none).encode();
    [frame[4], frame[5], frame[6], frame[7]]
}

fn write_table<R: Row>(folder: &Path, rows: Vec<R>) -> Result<()> {
    let mut table = Table::create(folder)?;
    rows.into_iter().try_for_each(|row| table.push(row))?;
    table.close()
}

/// Brings a file to the disk and says what must be found there.
fn seal(path: &Path) -> Result<StoredFile> {
    let mut file = File::open(path).map_err(Error::io("open", path))?;
    file.sync_all().map_err(Error::io("sync", path))?;
    let (mut hash, mut bytes) = (Sha256::new(), 0);
    let mut part = vec![0; 1 << 16];
    loop {
        match file.read(&mut part).map_err(Error::io("read", path))? {
            0 => break,
            length => {
                hash.update(&part[..length]);
                bytes += length as u64;
            }
        }
    }
    let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(StoredFile { bytes, sha256 })
}

fn write_document(path: &Path, run: &Run) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(run)
        .map_err(|error| Error::Damaged { path: path.into(), reason: error.to_string() })?;
    text.push(b'\n');
    let mut file = File::create(path).map_err(Error::io("create", path))?;
    file.write_all(&text).map_err(Error::io("write", path))?;
    file.sync_all().map_err(Error::io("sync", path))
}

/// Makes what happened to the names of a folder survive a power cut.
pub fn sync_folder(folder: &Path) -> Result<()> {
    let opened = File::open(folder).map_err(Error::io("open", folder))?;
    opened.sync_all().map_err(Error::io("sync", folder))
}

/// Gives a finished folder its final name.
pub fn publish(partial: &Path, path: &Path) -> Result<()> {
    match fs::rename(partial, path) {
        // Another program was recovering at the same moment, and has done it.
        Err(_) if !partial.exists() && path.join(RUN_JSON).exists() => {}
        renamed => renamed.map_err(Error::io("publish as", path))?,
    }
    path.parent().map_or(Ok(()), sync_folder)
}
