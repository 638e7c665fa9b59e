//! Stored runs as pages and pictures: reads from the folder what `report` draws.

#![forbid(unsafe_code)]

use latlab_model::harmless::harmless;
use latlab_model::{Run, ThreadBins};
use latlab_report::time::{self, TimeData, TimeOptions};
use latlab_report::{Kind, Measured, Options};
use latlab_store::{intervals, load, spikes, tables, telemetry};
use std::path::{Path, PathBuf};

/// Why a run cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its folder cannot be read.
    #[error(transparent)]
    Store(#[from] latlab_store::Error),
    /// Its texts cannot be made harmless.
    #[error("the run cannot be shown: {0}")]
    Text(#[from] serde_json::Error),
}

/// The result of showing something.
pub type Result<T> = std::result::Result<T, Error>;

/// The run of a folder with the counts of its threads; its texts are harmless.
pub fn measured(folder: &Path) -> Result<(Run, Vec<ThreadBins>)> {
    let run = load(folder)?;
    let bins = latlab_store::histograms(folder, &run)?;
    Ok((harmless(&run)?, bins))
}

/// A run as one page.
pub fn page(folder: &Path) -> Result<String> {
    let (run, bins) = measured(folder)?;
    Ok(latlab_report::page(&run, &bins))
}

/// The latencies of one run or several as an SVG element.
pub fn latencies(folders: &[PathBuf], kind: Kind, options: &Options) -> Result<String> {
    let loaded = folders.iter().map(|folder| measured(folder)).collect::<Result<Vec<_>>>()?;
    let runs: Vec<Measured> = loaded.iter().map(|(run, bins)| Measured { run, bins }).collect();
    Ok(latlab_report::plot(&runs, kind, options))
}

/// A run over time as an SVG element.
pub fn over_time(folder: &Path, kind: time::Kind, options: &TimeOptions) -> Result<String> {
    let run = load(folder)?;
    let mut data = TimeData::new(&run, tables::coarse_edges(), None);
    for rows in intervals(folder, &run)? {
        rows?.iter().for_each(|row| data.interval(row.thread, &row.span(), &row.coarse));
    }
    spikes(folder, &run)?.iter().for_each(|row| data.spike(row.spike));
    for rows in telemetry(folder, &run)?.into_iter().flatten() {
        rows?.iter().for_each(|row| data.telemetry(&row.series, row.time_ns, row.value));
    }
    Ok(kind.draw(&harmless(&run)?, &data, options))
}
