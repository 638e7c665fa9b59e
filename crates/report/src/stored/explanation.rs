//! Analyses the spikes of a run again from their recorded trace pages.

use super::{Error, Result};
use latlab_digest::explain_spikes;
use latlab_model::Run;
use latlab_model::attach::AttachedRun;
use latlab_model::explanation::SpikeBlame;
use latlab_model::flight::RecordedSpike;
use latlab_model::telemetry::metric;
use latlab_store::{pages, read_recording, telemetry};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

/// Selects spikes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spikes {
    /// The N largest.
    Largest(usize),
    /// The one with this number.
    Number(u32),
}

/// The spikes of a run with their parts, the largest first, or else the longest cycles of the
/// program that it attached to; `None` if nothing was recorded.
pub fn spike_blames(folder: &Path, run: &Run, wanted: Spikes) -> Result<Option<Vec<SpikeBlame>>> {
    let Some(recording) = read_recording(folder, run)? else {
        return Ok(run.attached.as_ref().map(|attached| longest_cycles(attached, wanted)));
    };
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
        explain_spikes(&recording, &numbers, &threads, run.machine.has_hypervisor(), rows)?
            .map_err(Error::EventCapture)?;
    blames.sort_by_key(|one| (Reverse(one.latency_ns), one.spike));
    add_frequencies(folder, run, &mut blames)?;
    Ok(Some(blames))
}

/// The longest cycles of judged threads, which are numbered if nothing was recorded.
fn longest_cycles(attached: &AttachedRun, wanted: Spikes) -> Vec<SpikeBlame> {
    let all = attached.threads.iter().flat_map(|thread| &thread.longest);
    let mut all: Vec<SpikeBlame> = all.filter(|long| long.spike > 0).cloned().collect();
    all.sort_by_key(|long| long.spike);
    match wanted {
        Spikes::Largest(count) => all.truncate(count),
        Spikes::Number(number) => all.retain(|long| long.spike == number),
    }
    all
}

/// If no event has the frequency of a CPU, uses the last reading before the release.
fn add_frequencies(folder: &Path, run: &Run, blames: &mut [SpikeBlame]) -> Result<()> {
    let mut untold: BTreeMap<String, Vec<&mut SpikeBlame>> = BTreeMap::new();
    for blame in blames.iter_mut().filter(|one| one.before.khz.is_none()) {
        let Some(cpu) = blame.cpu else { continue };
        untold.entry(format!("cpu{cpu}")).or_default().push(blame);
    }
    for rows in telemetry(folder, run)?.into_iter().flatten() {
        for row in rows? {
            let Some(khz) = row.value.and_then(|value| u64::try_from(value).ok()) else { continue };
            let is_frequency = row.series.metric == metric::FREQUENCY;
            let Some(of_cpu) = untold.get_mut(&row.series.subject).filter(|_| is_frequency) else {
                continue;
            };
            let after = of_cpu.iter_mut().filter(|one| row.time_ns <= one.release_ns);
            after.for_each(|one| one.before.khz = Some(khz));
        }
    }
    Ok(())
}
