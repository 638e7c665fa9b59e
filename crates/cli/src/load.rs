//! Stored runs, read for pictures and pages.

use crate::output::harmless;
use latlab_model::{Run, ThreadBins};
use latlab_report::time::TimeData;
use std::path::Path;

/// A run and the counts of its threads, with texts that can be shown.
pub fn load(folder: &Path) -> anyhow::Result<(Run, Vec<ThreadBins>)> {
    let run = latlab_store::load(folder)?;
    let bins = latlab_store::histograms(folder, &run)?;
    Ok((harmless(&run)?, bins))
}

/// Reads the tables over time once, some thousand rows at a time, into all of these.
pub fn fill(folder: &Path, run: &Run, all: &mut [&mut TimeData]) -> anyhow::Result<()> {
    for rows in latlab_store::intervals(folder, run)? {
        for row in rows? {
            all.iter_mut().for_each(|data| data.interval(row.thread, &row.span(), &row.coarse));
        }
    }
    for row in latlab_store::spikes(folder, run)? {
        all.iter_mut().for_each(|data| data.spike(row.spike));
    }
    for rows in latlab_store::telemetry(folder, run)?.into_iter().flatten() {
        for row in rows? {
            all.iter_mut().for_each(|data| data.telemetry(&row.series, row.time_ns, row.value));
        }
    }
    Ok(())
}
