//! The samples of a stretch of a run: counted, or one by one.

use crate::error::{Error, Result};
use crate::files::{compare_size, open_file};
use crate::samples::{Piece, SampleReader};
use crate::table::{Row, TableReader};
use latlab_digest::window::{RunTimes, Tally, WindowSpec};
use latlab_digest::{SampleRow, WallClock};
use latlab_model::nanos::SECOND;
use latlab_model::run::{Clocks, Severity, Summary};
use latlab_model::samples::Sample;
use latlab_model::window::{LargeLatency, Window, WindowThread};
use latlab_model::{Histogram, Nanos, Run};
use latlab_stats::summary;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

/// Latencies that a window names one by one.
const LARGEST: usize = 10;

/// A stretch of a run whose samples can be read.
pub struct Stretch<'a> {
    run: &'a Run,
    samples: SampleReader,
    wall: WallClock,
    within: Range<Nanos>,
}

impl<'a> Stretch<'a> {
    /// The part of a run that lies in this window.
    pub fn open(folder: &Path, run: &'a Run, window: &WindowSpec) -> Result<Stretch<'a>> {
        let Some(stored) = run.files.get(SampleRow::FILE) else {
            return Err(Error::NoSamples(folder.into()));
        };
        let path = folder.join(SampleRow::FILE);
        if let Some(reason) = compare_size(&open_file(&path)?, &path, stored)? {
            return Err(Error::Changed { path, reason });
        }
        let samples = SampleReader::open(folder)?;
        let wall = wall_clock(folder, run)?;
        let within = resolved(run, samples.span(), &wall, window)?;
        Ok(Stretch { run, samples, wall, within })
    }

    /// From when to when it goes, on CLOCK_MONOTONIC.
    pub fn within(&self) -> Range<Nanos> {
        self.within.clone()
    }

    /// Its samples, some thousand of one thread after the other.
    pub fn samples(&self) -> impl Iterator<Item = Result<Piece>> + '_ {
        self.samples.stretch(self.within.clone())
    }

    /// The figures of the stretch.
    pub fn figures(&self) -> Result<Window> {
        let mut tallies = self.tallies();
        let mut largest = Largest::default();
        for piece in self.samples() {
            let piece = piece?;
            let Some(tally) = tallies.get_mut(&piece.thread) else { continue };
            count(&piece, tally);
            piece.samples.iter().for_each(|sample| largest.take(piece.thread, *sample));
        }
        let (threads, total) = self.summaries(tallies);
        Ok(Window {
            run: self.run.id.clone(),
            from_ns: self.within.start,
            to_ns: self.within.end,
            from: self.wall.utc(self.within.start, 6),
            to: self.wall.utc(self.within.end, 6),
            threads,
            total,
            largest: largest.sorted().into_iter().map(|large| self.large(large)).collect(),
        })
    }

    fn tallies(&self) -> BTreeMap<u32, Tally> {
        let setups = self.run.threads.iter().map(|thread| &thread.setup);
        let tally = |setup| Tally::new(&self.run.asked, setup, self.within.clone());
        setups.map(|setup| (setup.thread, tally(setup))).collect()
    }

    fn summaries(&self, mut tallies: BTreeMap<u32, Tally>) -> (Vec<WindowThread>, Summary) {
        let (mut all, mut of_max) = (Histogram::default(), Vec::new());
        let mut threads = Vec::new();
        for setup in self.run.threads.iter().map(|thread| &thread.setup) {
            let Some(tally) = tallies.remove(&setup.thread) else { continue };
            let (counts, max_at) = tally.finish();
            all.add(&counts);
            of_max.extend(max_at.map(|at| (counts.max_ns, at)));
            let summary = summary(&self.run.asked, &counts, max_at);
            let summary = known(summary, !lost_samples(self.run, Some(setup.thread)));
            threads.push(WindowThread { thread: setup.thread, cpu: setup.cpu, summary });
        }
        let max_at = of_max.iter().filter(|(max, _)| *max == all.max_ns).map(|(_, at)| *at).min();
        (threads, known(summary(&self.run.asked, &all, max_at), !lost_samples(self.run, None)))
    }

    fn large(&self, (thread, sample): (u32, Sample)) -> LargeLatency {
        LargeLatency {
            time: self.wall.utc(sample.release_ns, 6),
            thread,
            cpu: self.cpu(thread),
            release_ns: sample.release_ns,
            latency_ns: sample.latency_ns,
        }
    }

    fn cpu(&self, thread: u32) -> Option<u32> {
        self.run.threads.iter().find(|one| one.setup.thread == thread)?.setup.cpu
    }

    /// Writes every sample as a line of CSV, in the order of the file: some thousand of one
    /// thread after the other.
    pub fn csv(&self, out: &mut impl Write) -> Result<()> {
        let written = |result: io::Result<()>| {
            result.map_err(Error::io("write to", Path::new("standard output")))
        };
        written(writeln!(out, "time,thread,cpu,release_ns,latency_ns"))?;
        for piece in self.samples() {
            written(self.csv_rows(&piece?, out))?;
        }
        written(out.flush())
    }

    fn csv_rows(&self, piece: &Piece, out: &mut impl Write) -> io::Result<()> {
        let cpu = self.cpu(piece.thread).map(|cpu| cpu.to_string()).unwrap_or_default();
        let thread = piece.thread;
        let (mut second, mut text) = (i64::MIN, String::new());
        for Sample { release_ns, latency_ns } in &piece.samples {
            let time = self.wall.realtime(*release_ns).0;
            if time.div_euclid(SECOND.0) != second {
                second = time.div_euclid(SECOND.0);
                text = self.wall.utc(*release_ns, 0);
                text.pop();
            }
            let nanos = time.rem_euclid(SECOND.0);
            writeln!(out, "{text}.{nanos:09}Z,{thread},{cpu},{},{}", release_ns.0, latency_ns.0)?;
        }
        Ok(())
    }
}

/// When a window of a run is, on CLOCK_MONOTONIC; samples are not needed for that.
pub fn window(folder: &Path, run: &Run, window: &WindowSpec) -> Result<Range<Nanos>> {
    resolved(run, None, &wall_clock(folder, run)?, window)
}

/// A window that lies between the first and the last release, or sample where there are any.
fn resolved(
    run: &Run,
    samples: Option<(Nanos, Nanos)>,
    wall: &WallClock,
    window: &WindowSpec,
) -> Result<Range<Nanos>> {
    let first_release = run.threads.iter().map(|thread| thread.setup.first_release_ns).min();
    let first_release = first_release.unwrap_or_default();
    let (first, last) = samples.unwrap_or((first_release, first_release));
    let end = (first_release + run.measured_ns).max(last + Nanos(1));
    let whole = first.min(first_release)..end;
    Ok(window.resolve(&RunTimes { first_release, whole, wall })?)
}

/// The wall time of a run, from `clocks.parquet`.
fn wall_clock(folder: &Path, run: &Run) -> Result<WallClock> {
    let table = TableReader::open_checked::<Clocks>(folder, run)?;
    let mut readings = Vec::new();
    for group in 0..table.groups() {
        let monotonic = table.longs(group, "monotonic_ns")?.into_iter().map(Nanos);
        readings.extend(monotonic.zip(table.longs(group, "realtime_ns")?.into_iter().map(Nanos)));
    }
    WallClock::new(readings, run).ok_or_else(|| table.wrong("it holds no reading"))
}

fn count(piece: &Piece, tally: &mut Tally) {
    let Piece { before, samples, next, .. } = piece;
    let follows = |index: usize| samples.get(index).map(|sample| sample.release_ns).or(*next);
    if let Some(before) = before {
        tally.count_behind(*before, follows(0));
    }
    for (index, sample) in samples.iter().enumerate() {
        tally.count(*sample, follows(index + 1));
    }
}

/// A gap between samples says what was missed only where no sample was lost.
fn known(summary: Summary, known: bool) -> Summary {
    match known {
        true => summary,
        false => Summary { missed: None, misses: None, activations: summary.cycles, ..summary },
    }
}

/// Whether samples were lost of this thread, or of any.
fn lost_samples(run: &Run, thread: Option<u32>) -> bool {
    run.findings.iter().any(|finding| {
        let of_thread = finding.thread.is_none() || thread.is_none() || finding.thread == thread;
        let lost = match finding.code.as_str() {
            "samples-lost" | "journal-damaged" => finding.invalidates,
            // The last moment of a stream that broke off is no gap.
            "samples-missing" => finding.severity == Severity::Error,
            _ => false,
        };
        lost && of_thread
    })
}

/// A latency, its release and its thread: the largest latency comes first, and of equal ones the
/// earliest.
type Ranked = Reverse<(Nanos, Reverse<Nanos>, Reverse<u32>)>;

/// The largest latencies so far.
#[derive(Default)]
struct Largest(BinaryHeap<Ranked>);

impl Largest {
    fn take(&mut self, thread: u32, sample: Sample) {
        let Sample { release_ns, latency_ns } = sample;
        let this = Reverse((latency_ns, Reverse(release_ns), Reverse(thread)));
        if self.0.len() < LARGEST {
            self.0.push(this);
        } else if let Some(mut least) = self.0.peek_mut()
            && this < *least
        {
            *least = this;
        }
    }

    fn sorted(self) -> Vec<(u32, Sample)> {
        let sorted = self.0.into_sorted_vec().into_iter();
        sorted
            .map(|Reverse((latency_ns, Reverse(release_ns), Reverse(thread)))| {
                (thread, Sample { release_ns, latency_ns })
            })
            .collect()
    }
}
