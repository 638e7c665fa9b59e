//! Verifies a run folder: every file by its checksum, every sum by a second one.

use crate::document::{RUN_JSON, read_run};
use crate::error::{Error, Result};
use crate::files::compare_size;
use crate::journal::JOURNAL;
use crate::rolling::KEEP_MARK;
use crate::run_file::RunFile;
use crate::table::{Row, TableReader};
use crate::trust::open_file;
use latlab_digest::{
    BinRow, BreakdownRow, IntervalRow, PageRow, SampleRow, SpikeRow, TelemetryRow, TraceRow,
};
use latlab_model::Run;
use latlab_model::breakdown::Part;
use latlab_model::run::{ClockReading, Summary, ThreadRun};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Result of checking every file of a run folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verification {
    /// Run id.
    pub run: String,
    /// Path of its folder.
    pub path: String,
    /// Whether every file is present and unchanged, and all checksums match.
    pub whole: bool,
    /// Number of files verified.
    pub files: usize,
    /// Their total size, in bytes.
    pub bytes: u64,
    /// Problems found.
    pub wrong: Vec<Mismatch>,
    /// Files this user may not read, which are therefore unverified.
    pub unread: Vec<Mismatch>,
    /// Files that are not part of the run, which do no harm.
    pub extra: Vec<String>,
}

/// A difference between a run folder and what was stored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mismatch {
    /// File name.
    pub file: String,
    /// What differs from the stored file.
    pub what: String,
}

/// Pages and plots can be regenerated at any time and have no checksum.
fn is_derived(name: &str) -> bool {
    matches!(name, "report.html" | "comparison.html" | KEEP_MARK)
        || name.ends_with(".svg")
        || name.ends_with(".png")
}

/// Checks every file of a run folder.
pub fn verify(folder: &Path) -> Verification {
    let name = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let name = name.file_name().unwrap_or(name.as_os_str()).to_string_lossy().into_owned();
    let mut checked = Verification {
        run: name,
        path: folder.display().to_string(),
        whole: false,
        files: 0,
        bytes: 0,
        wrong: Vec::new(),
        unread: Vec::new(),
        extra: Vec::new(),
    };
    match read_run(folder) {
        Ok(run) => {
            checked.extra = extra(folder, &run);
            files(folder, &run, &mut checked);
            if run.id != checked.run {
                let what =
                    format!("it belongs to run {}: the folder was renamed or copied", run.id);
                checked.wrong.push(mismatch(RUN_JSON, what));
            }
        }
        Err(error) => add(&mut checked, RUN_JSON, error),
    }
    checked.whole = checked.wrong.is_empty() && checked.unread.is_empty();
    checked
}

/// Adds an error; a missing permission says nothing about the file.
fn add(checked: &mut Verification, name: &str, error: Error) {
    match error {
        Error::Io { error, .. } if error.kind() == std::io::ErrorKind::PermissionDenied => {
            checked.unread.push(mismatch(name, "permission denied"));
        }
        error => checked.wrong.push(mismatch(name, reason(error))),
    }
}

/// Fails if a file of a run is missing or has a different size, without reading it.
pub fn expect_files(folder: &Path, run: &Run) -> Result<()> {
    for (name, stored) in run.files.iter().filter(|(name, _)| is_plain(name)) {
        let path = folder.join(name);
        if let Some(reason) = compare_size(&open_file(&path)?, &path, stored)? {
            return Err(Error::Damaged { path, reason });
        }
    }
    Ok(())
}

/// Fails if a file of a run is missing or has a different size, or a table has a different
/// checksum; samples, trace and pages, which may be long, are not read.
pub fn expect_tables(folder: &Path, run: &Run) -> Result<()> {
    expect_files(folder, run)?;
    let is_read = |name: &str| {
        SUMS.iter().any(|(table, _)| *table == name)
            && ![SampleRow::FILE, TraceRow::FILE, PageRow::FILE].contains(&name)
    };
    for (name, stored) in run.files.iter().filter(|(name, _)| is_read(name)) {
        RunFile::open_checked(&folder.join(name), stored)?;
    }
    Ok(())
}

fn files(folder: &Path, run: &Run, checked: &mut Verification) {
    for (name, stored) in &run.files {
        checked.files += 1;
        if !is_plain(name) {
            checked.wrong.push(mismatch(name, "not a file name of the folder"));
            continue;
        }
        let path = folder.join(name);
        match RunFile::open_checked(&path, stored) {
            Ok(file) => {
                checked.bytes += stored.bytes;
                let found = sums(name, file, path, run).unwrap_or_else(|error| vec![reason(error)]);
                checked.wrong.extend(found.into_iter().map(|what| mismatch(name, what)));
            }
            // The counts of a changed file mean nothing.
            Err(error) => add(checked, name, error),
        }
    }
}

/// Differences between an intact file and the counts of the run.
fn sums(name: &str, file: RunFile, path: PathBuf, run: &Run) -> Result<Vec<String>> {
    match SUMS.iter().find(|(table, _)| *table == name) {
        Some((_, check)) => check(&TableReader::new(file, path)?, run),
        None => Ok(Vec::new()),
    }
}

/// Compares a table with the counts of the run; returns the differences.
type Check = fn(&TableReader, &Run) -> Result<Vec<String>>;

const SUMS: &[(&str, Check)] = &[
    (BinRow::FILE, |table, run| table.read_all::<BinRow>().and_then(|()| binned(table, run))),
    (IntervalRow::FILE, |table, run| {
        table.read_all::<IntervalRow>().and_then(|()| cycles(table, run))
    }),
    (SpikeRow::FILE, maxima),
    (ClockReading::FILE, clocks),
    (SampleRow::FILE, samples),
    (TelemetryRow::FILE, |table, _| table.read_all::<TelemetryRow>().map(|()| Vec::new())),
    (BreakdownRow::FILE, breakdown),
    (TraceRow::FILE, trace),
    (PageRow::FILE, |table, _| table.read_all::<PageRow>().map(|()| Vec::new())),
];

/// The largest latency of each thread is among the spikes, where the run says when it was.
fn maxima(table: &TableReader, run: &Run) -> Result<Vec<String>> {
    table.read_all::<SpikeRow>()?;
    let mut spikes = BTreeSet::new();
    for group in 0..table.groups() {
        let releases = table.longs(group, "release_ns")?;
        let each = releases.into_iter().zip(table.longs(group, "latency_ns")?);
        spikes.extend(table.longs(group, "thread")?.into_iter().zip(each));
    }
    let lost = |thread: &&ThreadRun| {
        let Summary { max_ns, max_at_ns, .. } = &thread.summary;
        let (Some(at), Some(max)) = (max_at_ns, max_ns) else { return false };
        !spikes.contains(&(thread.setup.thread.into(), (at.0, max.0)))
    };
    let text = |thread: &ThreadRun| {
        format!("it lacks the largest latency of thread {}", thread.setup.thread)
    };
    Ok(run.threads.iter().filter(lost).map(text).collect())
}

/// The first and the last reading of the clocks are those of the run.
fn clocks(table: &TableReader, run: &Run) -> Result<Vec<String>> {
    table.read_all::<ClockReading>()?;
    let mut times = Vec::new();
    for group in 0..table.groups() {
        times.extend(table.longs(group, "monotonic_ns")?);
    }
    let ends = run.clocks.map(|(first, last)| (first.monotonic_ns.0, last.monotonic_ns.0));
    let agree = ends == times.first().copied().zip(times.last().copied());
    let text = "its first and last reading are not those of the run";
    Ok((!agree).then(|| text.to_string()).into_iter().collect())
}

/// The histogram has all cycles, except for imported threads with figures only.
fn binned(table: &TableReader, run: &Run) -> Result<Vec<String>> {
    match run.asked.method.import() {
        Some(import) if import.is_summary && table.rows() == 0 => Ok(Vec::new()),
        _ => cycles(table, run),
    }
}

/// The counts of the table add up to the cycles of the threads.
fn cycles(table: &TableReader, run: &Run) -> Result<Vec<String>> {
    let mut sums: BTreeMap<i64, i128> = BTreeMap::new();
    for group in 0..table.groups() {
        let counts = table.longs(group, "count")?;
        for (thread, count) in table.longs(group, "thread")?.into_iter().zip(counts) {
            *sums.entry(thread).or_default() += i128::from(count);
        }
    }
    let mut found = Vec::new();
    for thread in &run.threads {
        let (number, cycles) = (thread.setup.thread, thread.summary.cycles);
        let sum = sums.remove(&number.into()).unwrap_or(0);
        if sum != i128::from(cycles) {
            found.push(format!("it has {sum} cycles of thread {number}, which ran {cycles}"));
        }
    }
    found.extend(sums.keys().map(|thread| format!("the run has no thread {thread}")));
    Ok(found)
}

/// Every cycle has a sample, except those that the run reports as lost; if none was lost, the
/// largest latency is among them.
fn samples(table: &TableReader, run: &Run) -> Result<Vec<String>> {
    table.read_all::<SampleRow>()?;
    let ends = run.threads.iter().map(|thread| thread.end.as_ref());
    let cycles = ends.map(|end| end.map(|end| i128::from(end.cycles))).sum();
    // Without a thread's last message the expected number is unknown.
    let Some(cycles): Option<i128> = cycles else { return Ok(Vec::new()) };
    let (rows, lost) = (table.rows(), run.losses.samples);
    if i128::from(rows) + i128::from(lost) != cycles {
        return Ok(vec![format!(
            "it has {rows} rows for {cycles} cycles, of which {lost} were lost"
        )]);
    }
    let mut largest: BTreeMap<i64, i64> = BTreeMap::new();
    for group in 0..table.groups() {
        let latencies = table.longs(group, "latency_ns")?;
        for (thread, latency) in table.longs(group, "thread")?.into_iter().zip(latencies) {
            let max = largest.entry(thread).or_insert(latency);
            *max = latency.max(*max);
        }
    }
    // There may be a larger one before the first counted release.
    let too_small = |thread: &&ThreadRun| {
        let max = largest.get(&thread.setup.thread.into()).copied();
        lost == 0 && max < thread.summary.max_ns.map(|max| max.0)
    };
    let text = |thread: &ThreadRun| {
        format!("it lacks the largest latency of thread {}", thread.setup.thread)
    };
    Ok(run.threads.iter().filter(too_small).map(text).collect())
}

/// Every cycle with a known part is in the histogram of that part, and every traced one in that of
/// the latencies.
fn breakdown(table: &TableReader, run: &Run) -> Result<Vec<String>> {
    table.read_all::<BreakdownRow>()?;
    let mut sums: BTreeMap<(i64, String), i128> = BTreeMap::new();
    for group in 0..table.groups() {
        let (threads, counts) = (table.longs(group, "thread")?, table.longs(group, "count")?);
        let breakdown = table.words(group, "part")?;
        for ((thread, part), count) in threads.into_iter().zip(breakdown).zip(counts) {
            let part = String::from_utf8_lossy(part.data()).into_owned();
            *sums.entry((thread, part)).or_default() += i128::from(count);
        }
    }
    let mut found = Vec::new();
    for thread in run.breakdown.iter().flat_map(|breakdown| &breakdown.threads) {
        let (irq, switch) = thread.known();
        for (part, cycles) in
            [(Part::Irq, irq), (Part::Thread, switch), (Part::Traced, thread.tally.traced)]
        {
            let key = (thread.thread.into(), part.to_string());
            let sum = sums.get(&key).copied().unwrap_or(0);
            if sum != i128::from(cycles) {
                let number = thread.thread;
                found.push(format!(
                    "it has {sum} cycles of the part {part} of thread {number}, which had {cycles}"
                ));
            }
        }
    }
    Ok(found)
}

/// The lost events are those that the run reports.
fn trace(table: &TableReader, run: &Run) -> Result<Vec<String>> {
    table.read_all::<TraceRow>()?;
    let mut lost = 0_i128;
    for group in 0..table.groups() {
        lost +=
            table.maybe_longs(group, "lost")?.into_iter().flatten().map(i128::from).sum::<i128>();
    }
    let known = run.breakdown.as_ref().map_or(0, |breakdown| breakdown.tally.events_lost);
    let text = || format!("it reports {lost} lost events, but the run {known}");
    Ok((lost != i128::from(known)).then(text).into_iter().collect())
}

fn extra(folder: &Path, run: &Run) -> Vec<String> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    // A damaged journal stays.
    let journal = |name: &str| name == JOURNAL && run.losses.journal_bytes > 0;
    let known = |name: &str| {
        run.files.contains_key(name) || name == RUN_JSON || is_derived(name) || journal(name)
    };
    let mut extra: Vec<String> = names.filter(|name| !known(name)).collect();
    extra.sort();
    extra
}

fn is_plain(name: &str) -> bool {
    Path::new(name).file_name().is_some_and(|file| file == name)
}

fn mismatch(file: &str, what: impl Into<String>) -> Mismatch {
    Mismatch { file: file.to_string(), what: what.into() }
}

/// The text of an error without the path, which is printed separately.
fn reason(error: Error) -> String {
    match error {
        Error::Io { error, .. } if error.kind() == std::io::ErrorKind::NotFound => {
            "it is missing".to_string()
        }
        Error::Io { doing, error, .. } => format!("cannot {doing} it: {error}"),
        Error::Table { reason, .. }
        | Error::Damaged { reason, .. }
        | Error::Changed { reason, .. } => reason,
        other => other.to_string(),
    }
}
