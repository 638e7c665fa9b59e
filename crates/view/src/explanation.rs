//! The spikes of a run anew from their recorded pages.

use crate::{Error, Result};
use latlab_digest::explain_spikes;
use latlab_model::Run;
use latlab_model::explanation::SpikeBlame;
use latlab_model::flight::RecordedSpike;
use latlab_store::{pages, read_recording};
use std::cmp::Reverse;
use std::path::Path;

/// Which spikes are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spikes {
    /// So many of the largest.
    Largest(usize),
    /// The one of this number.
    Number(u32),
}

/// The spikes of a run with their legs, the largest first; none where nothing was recorded.
pub fn spike_blames(folder: &Path, run: &Run, wanted: Spikes) -> Result<Option<Vec<SpikeBlame>>> {
    let Some(recording) = read_recording(folder, run)? else { return Ok(None) };
    let mut all: Vec<&RecordedSpike> = recording.spikes.iter().collect();
    all.sort_by_key(|spike| (Reverse(spike.latency_ns), spike.spike));
    let numbers: Vec<u32> = match wanted {
        Spikes::Largest(count) => all.iter().take(count).map(|spike| spike.spike).collect(),
        Spikes::Number(number) => vec![number],
    };
    let threads: Vec<_> = run.threads.iter().map(|thread| thread.setup.clone()).collect();
    let rows = pages(folder, run)?.into_iter().flatten().flat_map(|group| match group {
        Ok(rows) => rows.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    });
    let mut blames =
        explain_spikes(&recording, &numbers, &threads, rows)?.map_err(Error::Recording)?;
    blames.sort_by_key(|one| (Reverse(one.latency_ns), one.spike));
    Ok(Some(blames))
}
