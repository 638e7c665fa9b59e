//! The samples of a stretch of a run: counted, or one by one.

use crate::error::{Error, Result};
use crate::samples::SampleReader;
use crate::table::{Row, TableReader};
use latlab_digest::window::{SampleBlock, WindowBuilder, WindowSpec};
use latlab_digest::{SampleRow, WallClock};
use latlab_model::nanos::SECOND;
use latlab_model::run::ClockReading;
use latlab_model::samples::Sample;
use latlab_model::window::Window;
use latlab_model::{Nanos, Run};
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

/// A stretch of a run whose samples can be read.
pub struct WindowReader<'a> {
    run: &'a Run,
    samples: SampleReader,
    wall: WallClock,
    within: Range<Nanos>,
}

impl<'a> WindowReader<'a> {
    /// The part of a run that lies in this window.
    pub fn open(folder: &Path, run: &'a Run, window: &WindowSpec) -> Result<WindowReader<'a>> {
        let Some(stored) = run.files.get(SampleRow::FILE) else {
            return Err(Error::NoSamples(folder.into()));
        };
        let samples = SampleReader::open(folder, stored)?;
        let wall = wall_clock(folder, run)?;
        let within = window.within(run, samples.span(), &wall)?;
        Ok(WindowReader { run, samples, wall, within })
    }

    /// From when to when it goes, on CLOCK_MONOTONIC.
    pub fn range(&self) -> Range<Nanos> {
        self.within.clone()
    }

    /// Its samples, some thousand of one thread after the other.
    pub fn samples(&self) -> impl Iterator<Item = Result<SampleBlock>> + '_ {
        self.samples.stretch(self.within.clone())
    }

    /// The figures of the stretch.
    pub fn figures(&self) -> Result<Window> {
        let mut window = WindowBuilder::new(self.run, self.range());
        for piece in self.samples() {
            window.push(&piece?);
        }
        Ok(window.finish(&self.wall))
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

    fn cpu(&self, thread: u32) -> Option<u32> {
        self.run.threads.iter().find(|one| one.setup.thread == thread)?.setup.cpu
    }

    fn csv_rows(&self, piece: &SampleBlock, out: &mut impl Write) -> io::Result<()> {
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
    Ok(window.within(run, None, &wall_clock(folder, run)?)?)
}

/// The wall time of a run, from `clocks.parquet`.
fn wall_clock(folder: &Path, run: &Run) -> Result<WallClock> {
    let table = TableReader::open_checked::<ClockReading>(folder, run)?;
    let mut readings = Vec::new();
    for group in 0..table.groups() {
        let monotonic = table.longs(group, "monotonic_ns")?.into_iter().map(Nanos);
        readings.extend(monotonic.zip(table.longs(group, "realtime_ns")?.into_iter().map(Nanos)));
    }
    WallClock::new(readings, run).ok_or_else(|| table.damaged("it has no reading"))
}
