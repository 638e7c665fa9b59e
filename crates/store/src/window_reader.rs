//! Samples in a window of a run: counted, or one by one.

use crate::error::{Error, Result};
use crate::samples::SampleReader;
use crate::table::{Row, TableReader};
use latlab_digest::window::Window;
use latlab_digest::window::{CSV_HEAD, SampleBlock, WindowBuilder, WindowSpec};
use latlab_digest::{SampleRow, WallClock};
use latlab_model::run::ClockReading;
use latlab_model::{Nanos, Run};
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

/// A window of a run whose samples can be read.
pub struct WindowReader<'a> {
    run: &'a Run,
    samples: SampleReader,
    wall: WallClock,
    within: Range<Nanos>,
}

impl<'a> WindowReader<'a> {
    /// The part of a run in this window.
    pub fn open(folder: &Path, run: &'a Run, window: &WindowSpec) -> Result<WindowReader<'a>> {
        let Some(stored) = run.files.get(SampleRow::FILE) else {
            return Err(Error::NoSamples(folder.into()));
        };
        let samples = SampleReader::open(folder, stored)?;
        let wall = wall_clock(folder, run)?;
        let within = window.within(run, samples.span(), &wall)?;
        Ok(WindowReader { run, samples, wall, within })
    }

    /// Start and end on CLOCK_MONOTONIC.
    pub fn range(&self) -> Range<Nanos> {
        self.within.clone()
    }

    /// Its samples, in blocks of some thousand of one thread.
    pub fn samples(&self) -> impl Iterator<Item = Result<SampleBlock>> + '_ {
        self.samples.stretch(self.within.clone())
    }

    /// The figures of the window.
    pub fn figures(&self) -> Result<Window> {
        let mut window = WindowBuilder::new(self.run, self.range());
        for piece in self.samples() {
            window.push(&piece?);
        }
        Ok(window.finish(&self.wall))
    }

    /// Writes every sample as a line of CSV, in file order: blocks of some thousand of one thread.
    pub fn csv(&self, out: &mut impl Write) -> Result<()> {
        let written = |result: io::Result<()>| {
            result.map_err(Error::io("write to", Path::new("standard output")))
        };
        written(writeln!(out, "{CSV_HEAD}"))?;
        for piece in self.samples() {
            let piece = piece?;
            written(piece.write_csv(self.cpu(piece.thread), &self.wall, out))?;
        }
        written(out.flush())
    }

    fn cpu(&self, thread: u32) -> Option<u32> {
        self.run.threads.iter().find(|one| one.setup.thread == thread)?.setup.cpu
    }
}

/// The position of a window on CLOCK_MONOTONIC; needs no samples.
pub fn window(folder: &Path, run: &Run, window: &WindowSpec) -> Result<Range<Nanos>> {
    Ok(window.within(run, None, &wall_clock(folder, run)?)?)
}

/// The wall time of a run, from `clocks.parquet`.
pub fn wall_clock(folder: &Path, run: &Run) -> Result<WallClock> {
    let table = TableReader::open_checked::<ClockReading>(folder, run)?;
    let mut readings = Vec::new();
    for group in 0..table.groups() {
        let monotonic = table.longs(group, "monotonic_ns")?.into_iter().map(Nanos);
        readings.extend(monotonic.zip(table.longs(group, "realtime_ns")?.into_iter().map(Nanos)));
    }
    WallClock::new(readings, run).ok_or_else(|| table.damaged("it has no reading"))
}
