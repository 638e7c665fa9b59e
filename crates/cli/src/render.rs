//! Stored runs as text for the terminal.

use crate::output::{escape_controls, glyphs, sanitize_run, style, warn, width};
use anyhow::bail;
use latlab_model::Run;
use latlab_model::statistics::RunStatistics;
use latlab_report::PictureSize;
use std::path::Path;

/// The summary of a stored run, with a histogram of its latencies.
pub fn summary_text(folder: &Path, run: &Run) -> anyhow::Result<String> {
    let picture = picture(folder, run, PictureSize::brief(run, width()));
    Ok(latlab_report::summarise(&sanitize_run(run)?, &picture, width(), style()))
}

/// A short summary, for the end of a measurement.
pub fn summary_lines(run: &Run) -> anyhow::Result<String> {
    Ok(latlab_report::summarise_in_lines(&sanitize_run(run)?, width(), style()))
}

/// The threads of the program that a run was attached to.
pub fn attached_threads(run: &Run) -> anyhow::Result<String> {
    Ok(latlab_report::attached_threads(&sanitize_run(run)?, width(), style()))
}

/// Everything about a stored run, with a histogram of its latencies.
pub fn run_text(folder: &Path, run: &Run) -> anyhow::Result<String> {
    let picture = picture(folder, run, PictureSize::full(width()));
    Ok(latlab_report::show(&sanitize_run(run)?, &picture, width(), style()))
}

/// Adds the largest latencies from the run's folder. Warns and returns the run unchanged if they
/// cannot be read.
pub fn with_largest(folder: &Path, run: Run) -> Run {
    match latlab_report::stored::largest(folder, &run) {
        Ok(largest) => Run { largest, ..run },
        Err(error) => {
            warn(format!("the largest latencies cannot be listed: {error}"));
            run
        }
    }
}

/// Adds the statistics that need the run's tables. Warns and returns the run unchanged if they
/// cannot be read.
pub fn with_statistics(
    folder: &Path,
    run: Run,
    read: fn(&Path, &Run) -> latlab_report::stored::Result<RunStatistics>,
) -> Run {
    match read(folder, &run) {
        Ok(statistics) => Run { statistics: Some(statistics), ..run },
        Err(error) => {
            warn(format!("no interval and no trend can be given: {error}"));
            run
        }
    }
}

/// Judges the run by a tolerated rate of bursts of deadline misses, if one is given.
pub fn against_limit(run: Run, limit: Option<f64>) -> anyhow::Result<Run> {
    let Some(per_hour) = limit else { return Ok(run) };
    match latlab_stats::rejudge(&run, per_hour) {
        Some(verdict) => Ok(Run { verdict: Some(verdict), ..run }),
        None if run.verdict.is_none() => bail!("--limit: run {} has no deadline", run.id),
        None => bail!("--limit: run {} has no releases, or its length is unknown", run.id),
    }
}

/// The histogram drawn with characters, or why there is none.
fn picture(folder: &Path, run: &Run, size: PictureSize) -> String {
    match latlab_store::histograms(folder, run) {
        Ok(bins) => latlab_report::histogram(run, &bins, size, glyphs()),
        Err(error) => {
            format!("No chart of the latencies: {}\n", escape_controls(&error.to_string()))
        }
    }
}
