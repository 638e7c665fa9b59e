//! What is compared of a run beside its document.

use super::Result;
use super::over_time::joined_intervals;
use latlab_model::{Run, ThreadBins};
use latlab_stats::{MeasuredRun, Span};
use latlab_store::histograms;
use std::path::Path;

/// The counts of a run's threads, and its intervals of all threads together.
pub struct RunTables {
    /// The counts.
    pub bins: Vec<ThreadBins>,
    spans: Vec<Span>,
}

impl RunTables {
    /// Reads them from the folder of the run.
    pub fn read(folder: &Path, run: &Run) -> Result<RunTables> {
        Ok(RunTables { bins: histograms(folder, run)?, spans: joined_intervals(folder, run)? })
    }

    /// The run as a comparison takes it.
    pub fn measured<'a>(&'a self, run: &'a Run) -> MeasuredRun<'a> {
        MeasuredRun { run, bins: &self.bins, spans: &self.spans, scenario: None }
    }
}
