//! Stored runs as pages and pictures: reads from the folder what `report` draws.

#![forbid(unsafe_code)]

mod campaign;
mod over_time;
mod page;
mod respond;

pub use campaign::{ShownCampaign, campaign_table};
use over_time::OverTime;
pub use page::{Shown, page};
pub use respond::{against_phase, responses};

use latlab_digest::window::WindowSpec;
use latlab_model::harmless::harmless;
use latlab_model::{Run, ThreadBins};
use latlab_report::time::{self, TimeOptions};
use latlab_report::{Kind, Measured, Options};
use latlab_store::load;
use std::path::{Path, PathBuf};

/// Why a run cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its folder cannot be read.
    #[error(transparent)]
    Store(#[from] latlab_store::Error),
    /// Its document cannot be read.
    #[error("cannot read {path}: {error}")]
    Document {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
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

/// The latencies of one run or several as an SVG element.
pub fn latencies(folders: &[PathBuf], kind: Kind, options: &Options) -> Result<String> {
    let loaded = folders.iter().map(|folder| measured(folder)).collect::<Result<Vec<_>>>()?;
    let runs: Vec<Measured> = loaded.iter().map(|(run, bins)| Measured { run, bins }).collect();
    Ok(latlab_report::plot(&runs, kind, options))
}

/// A picture over time.
pub struct Drawn {
    /// One SVG element.
    pub svg: String,
    /// About how many samples the window has, where they were too many to be drawn one by one.
    pub too_many: Option<u64>,
}

/// A run, or a window of it, over time.
pub fn over_time(
    folder: &Path,
    kind: time::Kind,
    window: Option<&WindowSpec>,
    options: &TimeOptions,
) -> Result<Drawn> {
    let run = load(folder)?;
    let OverTime { data, too_many } = OverTime::read(folder, &run, window)?;
    Ok(Drawn { svg: kind.draw(&harmless(&run)?, &data, options), too_many })
}
