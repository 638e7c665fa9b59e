//! Pages and charts of stored runs: reads from folders what the rest of this crate renders.

mod campaign;
mod explanation;
mod over_time;
mod page;
mod remedies;
mod respond;
mod tables;

pub use campaign::{LoadedCampaign, campaign_table};
pub use explanation::{Spikes, spike_blames};
use over_time::OverTime;
pub use over_time::{largest, quantile_statistics, statistics};
pub use page::{LoadedRun, page, page_top};
pub use remedies::with_remedies;
pub use respond::{against_phase, responses};
pub use tables::RunTables;

use crate::sanitize::sanitize_run;
use crate::time::{self, TimeOptions};
use crate::{Kind, Options, RunWithBins};
use latlab_digest::window::WindowSpec;
use latlab_model::{Run, ThreadBins};
use latlab_store::read_run;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder cannot be read.
    #[error(transparent)]
    Store(#[from] latlab_store::Error),
    /// The texts of the run cannot be sanitized.
    #[error("cannot show the run: {0}")]
    Text(#[from] serde_json::Error),
    /// The recorded trace pages cannot be read.
    #[error("cannot read the recorded events: {0}")]
    EventCapture(String),
}

pub type Result<T> = std::result::Result<T, Error>;

/// The run of a folder with the counts of its threads; its texts are sanitized.
pub fn run_with_bins(folder: &Path) -> Result<(Run, Vec<ThreadBins>)> {
    let run = read_run(folder)?;
    let bins = latlab_store::histograms(folder, &run)?;
    Ok((sanitize_run(&run)?, bins))
}

/// The latencies of one or several runs as an SVG element.
pub fn latencies(folders: &[PathBuf], kind: Kind, options: &Options) -> Result<String> {
    let loaded = folders.iter().map(|folder| run_with_bins(folder)).collect::<Result<Vec<_>>>()?;
    let runs: Vec<RunWithBins> =
        loaded.iter().map(|(run, bins)| RunWithBins { run, bins }).collect();
    Ok(crate::plot(&runs, kind, options))
}

pub struct OverTimePicture {
    /// One SVG element.
    pub svg: String,
    /// Approximate number of samples in the window, if there were too many to draw each.
    pub too_many: Option<u64>,
}

/// A run, or a window of it, over time.
pub fn over_time(
    folder: &Path,
    kind: time::Kind,
    window: Option<&WindowSpec>,
    options: &TimeOptions,
) -> Result<OverTimePicture> {
    let run = sanitize_run(&read_run(folder)?)?;
    let OverTime { data, too_many } = OverTime::read(folder, &run, window)?;
    Ok(OverTimePicture { svg: kind.draw(&run, &data, options), too_many })
}
