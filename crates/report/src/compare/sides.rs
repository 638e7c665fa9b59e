//! Pools the runs of a side, for charts that overlay both sides.

use crate::run_with_bins::RunWithBins;
use latlab_model::{Nanos, Run, ThreadBins};
use latlab_stats::comparison::ComparedRun;

pub fn runs_of<'a>(side: &[ComparedRun], all: &[RunWithBins<'a>]) -> Vec<RunWithBins<'a>> {
    let find = |one: &ComparedRun| all.iter().find(|known| known.run.id == one.id).copied();
    side.iter().filter_map(find).collect()
}

/// All runs of a side as one run with this name; `None` for no run.
pub fn pooled_side(name: &str, runs: &[RunWithBins]) -> Option<(Run, Vec<ThreadBins>)> {
    let mut run = runs.first()?.run.clone();
    let sum =
        |of: fn(&Run) -> u64| runs.iter().fold(0, |sum: u64, one| sum.saturating_add(of(one.run)));
    run.asked.name = name.to_string();
    run.id = name.to_string();
    run.measured_ns = runs.iter().map(|one| one.run.measured_ns).sum::<Nanos>();
    run.total.cycles = sum(|run| run.total.cycles);
    run.total.releases = sum(|run| run.total.releases);
    run.total.max_ns = runs.iter().filter_map(|one| one.run.total.max_ns).max();
    run.total.min_ns = runs.iter().filter_map(|one| one.run.total.min_ns).min();
    run.total.mean_ns = None;
    Some((run, runs.iter().flat_map(|one| one.bins.to_vec()).collect()))
}
