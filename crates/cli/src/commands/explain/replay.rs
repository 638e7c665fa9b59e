//! `latlab explain --replay`: runs the guest of a run again and records everything it executes.

mod text;

use super::args::{ExplainArgs, ExplainFormat};
use crate::exit::ExitError;
use crate::output::{print, print_text, style, warn, width, write_new};
use crate::store::lab_folder;
use anyhow::{bail, ensure};
use latlab_conduct::StopFlag;
use latlab_conduct::guests::{ReplayRequest, replay, why_no_replay};
use latlab_lab::Cache;
use latlab_lab::replay::{GuestKernel, ReplayTable, ReplayTally, ReplayedLatency, tell_replay};
use latlab_model::sanitize::sanitize_document;
use latlab_model::{Nanos, Run};
use latlab_report::Style;
use latlab_store::spikes;
use serde::Serialize;
use std::cmp::Reverse;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use text::{replay_table, replayed};

/// `latlab explain --replay --format json`: a run of a guest that was run again.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Replayed<'a> {
    /// Id of the run.
    pub run: &'a str,
    /// Time that the replay took, in seconds.
    pub took_s: f64,
    /// Instructions that the guest executed.
    pub instructions: u64,
    /// The latencies that were asked for: those that were held by a thread of latlab first, then the
    /// largest.
    pub latencies: &'a [ReplayedLatency],
    /// All wake-ups, with `--all`.
    pub table: Option<&'a ReplayTable>,
}

/// Runs the guest again and prints the selected wake-ups.
pub fn explain_by_replay(args: &ExplainArgs, folder: &Path, run: &Run) -> anyhow::Result<ExitCode> {
    match args.output.as_deref().filter(|path| *path != Path::new("-")) {
        // Open the file first, so that an error comes before the guest runs.
        Some(path) => write_new(path, |out| {
            Ok(out.write_all(render_replay(args, folder, run, Style::default())?.as_bytes())?)
        })?,
        None => {
            let told = render_replay(args, folder, run, style())?;
            match args.format {
                ExplainFormat::Json => print(&told)?,
                ExplainFormat::Text | ExplainFormat::Perfetto => print_text(&told)?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn render_replay(
    args: &ExplainArgs,
    folder: &Path,
    run: &Run,
    style: Style,
) -> anyhow::Result<String> {
    if let Some(text) = why_no_replay(run) {
        return Err(ExitError::usage(text).into());
    }
    if args.format == ExplainFormat::Perfetto {
        bail!("--replay prints text or JSON: omit --format perfetto");
    }
    let mut largest: Vec<(Nanos, Nanos)> = spikes(folder, run)?
        .into_iter()
        .map(|row| (row.spike.latency_ns, row.spike.release_ns))
        .collect();
    largest.sort_by_key(|(latency, release)| (Reverse(*latency), *release));
    let wanted = select(args, run, &largest)?;
    let ReplayedRun { took, instructions, found, table } = replay_run(args, run, wanted)?;
    let table = args.all.then_some(table);
    match args.format {
        ExplainFormat::Json => {
            let document = Replayed {
                run: &run.id,
                took_s: took.as_secs_f64(),
                instructions,
                latencies: &found,
                table: table.as_ref(),
            };
            Ok(serde_json::to_string_pretty(&document)? + "\n")
        }
        ExplainFormat::Text | ExplainFormat::Perfetto => {
            text(&largest, &found, table.as_ref(), style)
        }
    }
}

/// Selects the latencies to explain, the largest first, each with its release.
fn select<'a>(
    args: &ExplainArgs,
    run: &Run,
    largest: &'a [(Nanos, Nanos)],
) -> anyhow::Result<&'a [(Nanos, Nanos)]> {
    let skipped = match args.spike {
        Some(number) if number == 0 || number as usize > largest.len() => bail!(
            "run {} has {} stored latencies, counted from 1 for the largest: there is no {number}",
            run.id,
            largest.len()
        ),
        Some(number) => number as usize - 1,
        None => 0,
    };
    let count = if args.spike.is_some() { 1 } else { args.top };
    let behind = &largest[skipped..];
    let wanted = &behind[..count.min(behind.len())];
    ensure!(args.all || !wanted.is_empty(), "run {} has no stored latencies", run.id);
    Ok(wanted)
}

/// A replayed run.
struct ReplayedRun {
    took: Duration,
    instructions: u64,
    /// The selected latencies that occurred again.
    found: Vec<ReplayedLatency>,
    table: ReplayTable,
}

/// Runs the guest again, and finds these latencies in it.
fn replay_run(
    args: &ExplainArgs,
    run: &Run,
    wanted: &[(Nanos, Nanos)],
) -> anyhow::Result<ReplayedRun> {
    let releases: Vec<Nanos> = wanted.iter().map(|(_, release)| *release).collect();
    let cache = Cache::new(lab_folder());
    let request = ReplayRequest {
        plan: &run.asked,
        id: &run.id,
        wanted: (!args.all).then_some(&releases),
        cache: &cache,
        stop: StopFlag::on_signals(false)?,
    };
    warn(format_args!("running the guest of {} again", run.id));
    let done = replay(run, request, |map, records| {
        let architecture = &run.machine.architecture;
        let kernel = GuestKernel {
            architecture,
            symbols: &map.symbols,
            preempt_count: map.preempt_count(architecture),
            preempts: preempts(run),
        };
        let (mut tally, mut found) = (ReplayTally::default(), Vec::new());
        let read = tell_replay(kernel, records, &mut |told| {
            tally.push(&told);
            if wanted.contains(&(told.latency_ns, told.release_ns)) {
                found.push(told);
            }
        });
        read.map(|instructions| (tally.finish(), found, instructions))
    });
    let done = done.map_err(ExitError::from)?;
    let took = done.took;
    let (table, mut found, instructions) = done.read.map_err(ExitError::cannot_measure)?;
    if found.len() < wanted.len() {
        warn(format_args!(
            "{} of {} latencies were not found again",
            wanted.len() - found.len(),
            wanted.len()
        ));
    }
    // Latencies that latlab itself caused come first, then the largest.
    found.sort_by_key(|told| {
        (Reverse(told.own_thread.is_some()), Reverse(told.latency_ns), told.release_ns)
    });
    Ok(ReplayedRun { took, instructions, found, table })
}

/// Whether the kernel is preemptible in kernel mode.
fn preempts(run: &Run) -> bool {
    let mode = run.machine.preemption.as_deref().unwrap_or_default();
    mode == "PREEMPT" || ["PREEMPT_RT", "(full)", "(lazy)"].iter().any(|word| mode.contains(word))
}

fn text(
    largest: &[(Nanos, Nanos)],
    found: &[ReplayedLatency],
    table: Option<&ReplayTable>,
    style: Style,
) -> anyhow::Result<String> {
    let mut parts = Vec::new();
    if let Some(table) = table {
        parts.push(replay_table(&sanitize_document(table)?, width(), style));
    }
    for told in found {
        let rank = largest.iter().position(|one| *one == (told.latency_ns, told.release_ns));
        let rank = rank.map_or(0, |rank| rank + 1);
        parts.push(replayed(&sanitize_document(told)?, rank, width(), style));
    }
    Ok(parts.join("\n"))
}
