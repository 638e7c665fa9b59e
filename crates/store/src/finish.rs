//! Turns the journal of a run into its folder.

use crate::call_sites::call_chains;
use crate::disk::{Disk, DiskFile};
use crate::document::{
    CONSOLE, ORIGINAL, RECORDING_JSON, RUN_JSON, SNAPSHOT_JSON, write_document, write_recording,
    write_snapshot,
};
use crate::error::{Error, Result};
use crate::files::{checksum, read_back};
use crate::id;
use crate::journal::Journal;
use crate::table::{Row, Table};
use crate::tables::{self, ThreadTable};
use jiff::Timestamp;
use latlab_digest::{
    CycleRow, IntervalRow, PageRow, RunBuilder, RunDigest, SampleRow, StreamEnd, StreamError,
    StreamRow, TelemetryRow, TraceRow,
};
use latlab_model::Run;
use latlab_model::frame::{Damage, FrameReader, ReadResult, skip_damage};
use latlab_model::run::{ClockReading, StoredFile};
use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// errno of an I/O error.
const EIO: i32 = 5;
/// Least unit in which disks read and lose data.
const SECTOR: u64 = 4096;

/// A published run.
#[derive(Clone, PartialEq, Debug)]
pub struct Finished {
    pub run: Run,
    pub path: PathBuf,
}

/// The files of a run with their expected size and checksum.
type Files = BTreeMap<String, StoredFile>;

/// Writes all files of a run next to its journal, and reads them back from the disk. After that the
/// journal may be removed, unless parts of it could not be read.
pub fn write_files(
    disk: &Disk,
    folder: &Path,
    id: &str,
    journal: &Journal,
    recovered: bool,
) -> Result<Run> {
    let JournalRead { mut assembly, ending, mut files } =
        read_journal(disk, folder, journal, recovered)?;
    let intervals = assembly.intervals();
    // Unreadable parts may contain anything and must not be removed.
    let illegible = matches!(&ending.damage, Some(damage) if *damage != Damage::CutOff);
    let keep = illegible || ending.skipped_bytes > 0 || intervals > 0;
    // A run that the user ended before the first interval is kept; one that was killed then is not.
    let assembled = match recovered && intervals == 0 {
        true => Err(StreamError::Missing("first Interval")),
        false => {
            let begun = id::time_of(id).unwrap_or(Timestamp::UNIX_EPOCH);
            let (stacks, has_files) = assembly.call_stacks();
            let chains = call_chains(stacks, has_files.then(|| begun.into()));
            assembly.set_call_chains(chains);
            assembly.finish(id, begun, ending)
        }
    };
    let assembled = assembled.map_err(|reason| no_run(journal, reason, keep))?;
    let RunDigest { mut run, bins, spikes, breakdown, snapshot, recording } = assembled;
    write_table(disk, folder, bins, &mut files)?;
    write_table(disk, folder, spikes, &mut files)?;
    if run.breakdown.is_some() {
        write_table(disk, folder, breakdown, &mut files)?;
    }
    if let Some(snapshot) = &snapshot {
        let written = write_snapshot(disk, &folder.join(SNAPSHOT_JSON), snapshot)?;
        files.insert(SNAPSHOT_JSON.to_string(), written);
    }
    if let Some(recording) = &recording {
        let written = write_recording(disk, &folder.join(RECORDING_JSON), recording)?;
        files.insert(RECORDING_JSON.to_string(), written);
    }
    let console = folder.join(CONSOLE);
    if disk.has(&console)? {
        files.insert(CONSOLE.to_string(), sync(disk, &console)?);
    }
    for name in originals(folder) {
        let stored = sync(disk, &folder.join(&name))?;
        files.insert(name, stored);
    }
    for (name, written) in &files {
        read_back(disk, &folder.join(name), written)?;
    }
    run.files = files;
    write_document(disk, &folder.join(RUN_JSON), &mut run)?;
    disk.sync_folder(folder)?;
    Ok(run)
}

/// The result of reading a journal.
struct JournalRead {
    assembly: RunBuilder,
    ending: StreamEnd,
    files: Files,
}

/// Reads the journal from its start, skipping damage to the next whole frame; rows that can be
/// stored at once go into their table.
fn read_journal(
    disk: &Disk,
    folder: &Path,
    journal: &Journal,
    recovered: bool,
) -> Result<JournalRead> {
    let path = journal.path();
    let opened = disk.open(path)?;
    let length = opened.length()?;
    let mut file = JournalReader { file: &opened, length };
    let failed = || Error::io("read", path);
    let mut tables = Tables::create(disk, folder)?;
    let mut assembly = RunBuilder::default();
    let (mut start, mut skipped_bytes) = (0, 0);
    let damage = loop {
        file.seek(SeekFrom::Start(start)).map_err(failed())?;
        let mut frames = FrameReader::new(BufReader::with_capacity(1 << 16, &mut file));
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
        let Some(skipped) = skip_damage(&mut file).map_err(failed())? else { break Some(damage) };
        skipped_bytes += skipped + 1;
        start += skipped + 1;
    };
    assembly.last_rows().into_iter().try_for_each(|row| tables.push(row))?;
    let files = tables.close()?;
    let journal_bytes = length.saturating_sub(start);
    let findings = journal.lost_finding().into_iter().collect();
    let ending = StreamEnd { damage, journal_bytes, skipped_bytes, recovered, findings };
    Ok(JournalRead { assembly, ending, files })
}

/// Reads a journal, with zeros for unreadable parts: a bad sector costs only the frames in it.
struct JournalReader<'a> {
    file: &'a DiskFile,
    length: u64,
}

impl Read for JournalReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let failed = match self.file.read(buffer) {
            Err(error) if error.raw_os_error() == Some(EIO) => error,
            read => return read,
        };
        let at = self.file.stream_position()?;
        let lost = SECTOR - at % SECTOR;
        let lost = lost.min(self.length.saturating_sub(at)).min(buffer.len() as u64);
        if lost == 0 {
            return Err(failed);
        }
        self.file.seek(SeekFrom::Start(at + lost))?;
        buffer[..lost as usize].fill(0);
        Ok(lost as usize)
    }
}

impl Seek for JournalReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// The tables written while the journal is read.
struct Tables {
    disk: Disk,
    folder: PathBuf,
    intervals: Table<IntervalRow>,
    clocks: Table<ClockReading>,
    samples: Option<ThreadTable<SampleRow>>,
    telemetry: Option<Table<TelemetryRow>>,
    trace: Option<ThreadTable<TraceRow>>,
    pages: Option<Table<PageRow>>,
    cycles: Option<ThreadTable<CycleRow>>,
}

impl Tables {
    fn create(disk: &Disk, folder: &Path) -> Result<Tables> {
        let intervals = Table::create(disk, folder)?;
        let clocks = Table::create(disk, folder)?;
        // An interrupted attempt may have left one.
        for name in tables::MORE {
            let _ = disk.remove(&folder.join(name));
        }
        let (disk, folder) = (disk.clone(), folder.into());
        let (samples, telemetry, trace, pages, cycles) = (None, None, None, None, None);
        Ok(Tables { disk, folder, intervals, clocks, samples, telemetry, trace, pages, cycles })
    }

    fn push(&mut self, row: StreamRow) -> Result<()> {
        match row {
            StreamRow::Interval(row) => self.intervals.push(row),
            StreamRow::Clocks(row) => self.clocks.push(row),
            StreamRow::Samples(rows) => {
                let create = || ThreadTable::create(&self.disk, &self.folder);
                get_or_create(&mut self.samples, create)?.push(&rows)
            }
            StreamRow::Telemetry(rows) => {
                let create = || Table::create(&self.disk, &self.folder);
                let table = get_or_create(&mut self.telemetry, create)?;
                rows.into_iter().try_for_each(|row| table.push(row))
            }
            StreamRow::Trace(rows) => {
                let create = || ThreadTable::create(&self.disk, &self.folder);
                get_or_create(&mut self.trace, create)?.push(&rows)
            }
            StreamRow::Pages(rows) => {
                let create = || Table::create(&self.disk, &self.folder);
                // One group each, since they are long.
                get_or_create(&mut self.pages, create)?.push_group(&rows)
            }
            StreamRow::Cycles(rows) => {
                let create = || ThreadTable::create(&self.disk, &self.folder);
                get_or_create(&mut self.cycles, create)?.push(&rows)
            }
        }
    }

    fn close(self) -> Result<Files> {
        let mut files = Files::new();
        let mut add = |name: &str, stored| drop(files.insert(name.to_string(), stored));
        add(IntervalRow::FILE, self.intervals.close()?);
        add(ClockReading::FILE, self.clocks.close()?);
        if let Some(samples) = self.samples {
            add(SampleRow::FILE, samples.close()?);
        }
        if let Some(telemetry) = self.telemetry {
            add(TelemetryRow::FILE, telemetry.close()?);
        }
        if let Some(trace) = self.trace {
            add(TraceRow::FILE, trace.close()?);
        }
        if let Some(pages) = self.pages {
            add(PageRow::FILE, pages.close()?);
        }
        if let Some(cycles) = self.cycles {
            add(CycleRow::FILE, cycles.close()?);
        }
        Ok(files)
    }
}

/// Creates an optional table at its first row.
fn get_or_create<T>(table: &mut Option<T>, create: impl FnOnce() -> Result<T>) -> Result<&mut T> {
    match table {
        Some(table) => Ok(table),
        None => Ok(table.insert(create()?)),
    }
}

fn no_run(journal: &Journal, reason: StreamError, holds_counts: bool) -> Error {
    let path = journal.path().to_path_buf();
    match reason {
        StreamError::OtherVersion(found) => Error::other_stream(path, found),
        other => Error::NothingMeasured { path, reason: other.to_string(), holds_counts },
    }
}

/// Removes what [`write_files`] may have written.
pub fn remove_files(disk: &Disk, folder: &Path) {
    let tables = tables::FILES.into_iter().chain(tables::MORE);
    let documents = [SNAPSHOT_JSON, RECORDING_JSON, RUN_JSON];
    tables.chain(documents).for_each(|name| drop(disk.remove(&folder.join(name))));
}

fn write_table<R: Row>(disk: &Disk, folder: &Path, rows: Vec<R>, files: &mut Files) -> Result<()> {
    let mut table = Table::create(disk, folder)?;
    rows.into_iter().try_for_each(|row| table.push(row))?;
    files.insert(R::FILE.to_string(), table.close()?);
    Ok(())
}

/// The original files of an imported run.
pub fn originals(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with(ORIGINAL)).collect()
}

/// Syncs a file that another program has written.
fn sync(disk: &Disk, path: &Path) -> Result<StoredFile> {
    let file = disk.open(path)?;
    file.sync().map_err(Error::io("sync", path))?;
    checksum(&file, path)
}

/// Gives a finished folder its final name.
pub fn publish(disk: &Disk, partial: &Path, path: &Path) -> Result<()> {
    match disk.rename(partial, path) {
        // Another program was recovering at the same moment and has done it.
        Err(_) if !disk.has(partial)? && disk.has(&path.join(RUN_JSON))? => {}
        renamed => renamed.map_err(Error::io("publish as", path))?,
    }
    path.parent().map_or(Ok(()), |root| disk.sync_folder(root))
}
