//! The tables of a run that a comparison needs in addition to its document.

use super::Result;
use super::over_time::joined_intervals;
use latlab_model::{Run, ThreadBins};
use latlab_stats::{MeasuredRun, Span};
use latlab_store::histograms;
use std::path::Path;

/// The counts of a run's threads, and the intervals of all threads joined.
pub struct RunTables {
    pub bins: Vec<ThreadBins>,
    spans: Vec<Span>,
}

impl RunTables {
    pub fn read(folder: &Path, run: &Run) -> Result<RunTables> {
        Ok(RunTables { bins: histograms(folder, run)?, spans: joined_intervals(folder, run)? })
    }

    pub fn measured<'a>(&'a self, run: &'a Run) -> MeasuredRun<'a> {
        MeasuredRun { run, bins: &self.bins, spans: &self.spans, scenario: None }
    }
}
