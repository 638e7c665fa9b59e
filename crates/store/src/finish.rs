//! From the journal of a run to its folder.

use crate::document::{CONSOLE, RUN_JSON, SNAPSHOT_JSON, write_document, write_snapshot};
use crate::error::{Error, Result};
use crate::files::{checksum, open_file, sync_folder};
use crate::id;
use crate::journal::Journal;
use crate::table::{Row, Table};
use crate::tables::{self, ThreadTable};
use jiff::Timestamp;
use latlab_digest::{
    IntervalRow, LegRow, RunBuilder, RunDigest, SampleRow, StreamEnd, StreamError, StreamRow,
    TelemetryRow, TraceRow,
};
use latlab_model::Run;
use latlab_model::frame::{Damage, FrameReader, ReadResult, STREAM_VERSION, skip_damage};
use latlab_model::run::{ClockReading, StoredFile};
use std::fs::{self};
use std::io::{BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

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
    let JournalRead { assembly, ending, more } = read_journal(folder, journal, recovered)?;
    let intervals = assembly.intervals();
    // What cannot be read at all may be anything, and is not ours to remove.
    let illegible = matches!(&ending.damage, Some(damage) if *damage != Damage::CutOff);
    let keep = illegible || ending.skipped_bytes > 0 || intervals > 0;
    // A run that its user ended before the first interval is kept; one that was killed is not.
    let assembled = match recovered && intervals == 0 {
        true => Err(StreamError::Missing("first Interval")),
        false => {
            let begun = id::time_of(id).unwrap_or(Timestamp::UNIX_EPOCH);
            assembly.finish(id, begun, ending)
        }
    };
    let assembled = assembled.map_err(|reason| no_run(journal, reason, keep))?;
    let RunDigest { mut run, bins, spikes, legs, snapshot } = assembled;
    write_table(folder, bins)?;
    write_table(folder, spikes)?;
    let legs = match run.legs.is_some() {
        true => write_table(folder, legs).map(|()| Some(LegRow::FILE))?,
        false => None,
    };
    if let Some(snapshot) = &snapshot {
        write_snapshot(&folder.join(SNAPSHOT_JSON), snapshot)?;
    }
    let snapshot = snapshot.map(|_| SNAPSHOT_JSON);
    let console = folder.join(CONSOLE).exists().then_some(CONSOLE);
    let more = more.into_iter().chain(legs).chain(snapshot).chain(console);
    for name in tables::FILES.into_iter().chain(more) {
        run.files.insert(name.to_string(), seal(&folder.join(name))?);
    }
    write_document(&folder.join(RUN_JSON), &mut run)?;
    sync_folder(folder)?;
    Ok(run)
}

/// What a journal came to.
struct JournalRead {
    assembly: RunBuilder,
    ending: StreamEnd,
    /// Names of the tables that not every run has.
    more: Vec<&'static str>,
}

/// Reads the journal from its start, over what is damaged to the next whole frame; what can be
/// stored at once goes into its table.
fn read_journal(folder: &Path, journal: &Journal, recovered: bool) -> Result<JournalRead> {
    let path = journal.path();
    let mut file = open_file(path)?;
    let failed = || Error::io("read", path);
    let length = file.metadata().map_err(failed())?.len();
    let mut tables = Tables::create(folder)?;
    let mut assembly = RunBuilder::default();
    let (mut start, mut skipped_bytes) = (0, 0);
    let damage = loop {
        file.seek(SeekFrom::Start(start)).map_err(failed())?;
        let mut frames = FrameReader::new(BufReader::with_capacity(1 << 16, &file));
        let damage = loop {
            match frames.next_frame().map_err(failed())? {
                ReadResult::End => break None,
                ReadResult::Damaged(damage) => break Some(damage),
                ReadResult::Frame(frame) => {
                    assembly.push(frame.message).map_or(Ok(()), |row| tables.push(row))?
                }
            }
        };
        start += frames.whole_bytes();
        let Some(damage) = damage else { break None };
        file.seek(SeekFrom::Start(start + 1)).map_err(failed())?;
        let Some(skipped) = skip_damage(&mut &file).map_err(failed())? else { break Some(damage) };
        skipped_bytes += skipped + 1;
        start += skipped + 1;
    };
    assembly.last_rows().into_iter().try_for_each(|row| tables.push(row))?;
    let more = tables.close()?;
    let journal_bytes = length.saturating_sub(start);
    let findings = journal.lost_finding().into_iter().collect();
    let ending = StreamEnd { damage, journal_bytes, skipped_bytes, recovered, findings };
    Ok(JournalRead { assembly, ending, more })
}

/// The tables that are written while the journal is read.
struct Tables {
    folder: PathBuf,
    intervals: Table<IntervalRow>,
    clocks: Table<ClockReading>,
    samples: Option<ThreadTable<SampleRow>>,
    telemetry: Option<Table<TelemetryRow>>,
    trace: Option<ThreadTable<TraceRow>>,
}

impl Tables {
    fn create(folder: &Path) -> Result<Tables> {
        let (intervals, clocks) = (Table::create(folder)?, Table::create(folder)?);
        // A try that was cut off may have left one.
        for name in tables::MORE {
            let _ = fs::remove_file(folder.join(name));
        }
        let (samples, telemetry, trace) = (None, None, None);
        Ok(Tables { folder: folder.into(), intervals, clocks, samples, telemetry, trace })
    }

    fn push(&mut self, row: StreamRow) -> Result<()> {
        match row {
            StreamRow::Interval(row) => self.intervals.push(row),
            StreamRow::Clocks(row) => self.clocks.push(row),
            StreamRow::Samples(rows) => {
                let create = || ThreadTable::create(&self.folder);
                get_or_create(&mut self.samples, create)?.push(&rows)
            }
            StreamRow::Telemetry(rows) => {
                let table = get_or_create(&mut self.telemetry, || Table::create(&self.folder))?;
                rows.into_iter().try_for_each(|row| table.push(row))
            }
            StreamRow::Trace(rows) => {
                let create = || ThreadTable::create(&self.folder);
                get_or_create(&mut self.trace, create)?.push(&rows)
            }
        }
    }

    /// Gives back the names of those that not every run has.
    fn close(self) -> Result<Vec<&'static str>> {
        self.intervals.close()?;
        self.clocks.close()?;
        let mut more = Vec::new();
        if let Some(samples) = self.samples {
            samples.close()?;
            more.push(SampleRow::FILE);
        }
        if let Some(telemetry) = self.telemetry {
            telemetry.close()?;
            more.push(TelemetryRow::FILE);
        }
        if let Some(trace) = self.trace {
            trace.close()?;
            more.push(TraceRow::FILE);
        }
        Ok(more)
    }
}

/// A table that not every run has is there from its first row on.
fn get_or_create<T>(table: &mut Option<T>, create: impl FnOnce() -> Result<T>) -> Result<&mut T> {
    match table {
        Some(table) => Ok(table),
        None => Ok(table.insert(create()?)),
    }
}

fn no_run(journal: &Journal, reason: StreamError, holds_counts: bool) -> Error {
    let path = journal.path().to_path_buf();
    match reason {
        StreamError::Newer(found) => Error::NewerStream { path, found, known: STREAM_VERSION },
        other => Error::NothingMeasured { path, reason: other.to_string(), holds_counts },
    }
}

/// Removes what [`write_files`] may have written.
pub fn remove_files(folder: &Path) {
    let tables = tables::FILES.into_iter().chain(tables::MORE);
    tables
        .chain([SNAPSHOT_JSON, RUN_JSON])
        .for_each(|name| drop(fs::remove_file(folder.join(name))));
}

fn write_table<R: Row>(folder: &Path, rows: Vec<R>) -> Result<()> {
    let mut table = Table::create(folder)?;
    rows.into_iter().try_for_each(|row| table.push(row))?;
    table.close()
}

/// Brings a file to the disk and says what must be found there.
fn seal(path: &Path) -> Result<StoredFile> {
    let file = open_file(path)?;
    file.sync_all().map_err(Error::io("sync", path))?;
    checksum(&file, path)
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
