//! Loads everything that a page shows of a run.

use super::Result;
use super::over_time::{fill_conditions, fill_latencies};
use super::responses;
use super::with_remedies;
use crate::PageRun;
use crate::sanitize::sanitize_run;
use crate::time::TimeData;
use latlab_digest::{OutlierDigest, StatisticsDigest, coarse_edges};
use latlab_model::samples::Sample;
use latlab_model::{Run, ThreadBins};
use latlab_stats::Span;
use latlab_stats::span::JoinedIntervals;
use latlab_store::{histograms, read_run_with_text, spikes};
use std::path::Path;

pub struct LoadedRun {
    /// Sanitized.
    pub run: Run,
    document: String,
    bins: Vec<ThreadBins>,
    spans: Vec<Span>,
    still: TimeData,
    fine: TimeData,
    samples: Vec<Sample>,
}

impl LoadedRun {
    pub fn read(folder: &Path) -> Result<LoadedRun> {
        let (run, document) = read_run_with_text(folder)?;
        let bins = histograms(folder, &run)?;
        let run = sanitize_run(&with_remedies(folder, run)?)?;
        let mut still = TimeData::new(&run, coarse_edges(), None);
        let mut fine = TimeData::fine(&run);
        let largest = spikes(folder, &run)?;
        // In one pass, as the intervals of a large run take seconds to read.
        let mut statistics = StatisticsDigest::new(&run, &bins, &largest);
        let mut joined = JoinedIntervals::new(run.asked.keep.interval_ns);
        fill_latencies(folder, &run, &largest, &mut [&mut still, &mut fine], |row| {
            statistics.push(row);
            joined.push(&row.span());
        })?;
        let spans = joined.finish();
        let statistics = Some(statistics.finish());
        let mut outliers = OutlierDigest::new(&run, largest);
        fill_conditions(folder, &run, &mut [&mut still, &mut fine], Some(&mut outliers))?;
        let largest = outliers.finish();
        let samples = responses(folder, &run)?;
        let run = sanitize_run(&Run { largest, statistics, ..run })?;
        Ok(LoadedRun { run, document, bins, spans, still, fine, samples })
    }

    fn as_page(&self) -> PageRun<'_> {
        let LoadedRun { run, document, bins, spans, still, fine, samples } = self;
        PageRun { run, document, bins, spans, still, fine, samples }
    }
}

/// The answer of a run alone, as a page without scripts.
pub fn page_top(run: &LoadedRun) -> String {
    crate::page_top(&run.as_page())
}

/// One or several runs as one page.
pub fn page(runs: &[LoadedRun]) -> String {
    let runs: Vec<PageRun> = runs.iter().map(LoadedRun::as_page).collect();
    crate::page(&runs)
}
