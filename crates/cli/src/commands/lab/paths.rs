//! `latlab lab paths`: the longest code paths with interrupts or preemption disabled.

use super::args::PathsArgs;
use crate::documents::KernelPaths;
use crate::exit::ExitError;
use crate::flags::plan::MeasureArgs;
use crate::flags::{Format, parse};
use crate::output::{print_json, print_text, style, warn, width};
use crate::store::cache;
use latlab_conduct::{ReplayRequest, StopFlag, record};
use latlab_model::Plan;
use latlab_model::nanos::duration;
use latlab_model::replay::OffKind;
use latlab_model::sanitize::sanitize_document;
use latlab_report::long_paths;
use latlab_trace::{GuestKernel, LongPaths, find_long_paths};

/// Runs the guests with the recorder, and prints the paths found.
pub fn find_paths(asked: &PathsArgs) -> anyhow::Result<()> {
    let (cache, stop) = (cache(), StopFlag::on_signals(false)?);
    let target = asked.guest.target().to_string();
    let (mut paths, mut instructions) = (LongPaths::default(), 0);
    for number in 1..=asked.seeds.count() {
        let seed = asked.seeds.seed_of_repeat(number);
        let plan = plan(asked, &target, seed)?;
        warn(format_args!(
            "running {target} with seed {seed}, {number} of {}",
            asked.seeds.count()
        ));
        let request = ReplayRequest { plan: &plan, id: "paths", wanted: None, cache: &cache, stop };
        let paths = &mut paths;
        let done = record(request, None, move |map, records| {
            let kernel = GuestKernel {
                architecture: asked.guest.machine.architecture,
                symbols: &map.symbols,
                preempt_count: map.preempt_count(asked.guest.machine.architecture),
                preempts: map.is_realtime(),
            };
            find_long_paths(kernel, records, seed, paths)
        });
        instructions += done.map_err(ExitError::from)?.read.map_err(ExitError::cannot_measure)?;
    }
    let paths = sanitize_document(&paths.finish())?;
    let (seeds, duration_ns) = (asked.seeds.count(), asked.duration);
    match asked.format {
        Format::Json => {
            let paths = &paths;
            print_json(&KernelPaths { target: &target, seeds, duration_ns, instructions, paths })?
        }
        Format::Text => {
            let kinds = [OffKind::Interrupts, OffKind::Preemption, OffKind::Kernel];
            let tables = kinds.map(|kind| long_paths(&paths, kind, width(), style()));
            let tables = tables.into_iter().filter(|table| !table.is_empty());
            print_text(&format!(
                "{target}: {seeds} guests of {duration_ns}; observed maxima, an instruction is a nanosecond\n\n{}",
                tables.collect::<Vec<_>>().join("\n")
            ))?
        }
    }
    Ok(())
}

/// The plan of a guest: an ordinary measurement together with the load.
fn plan(asked: &PathsArgs, target: &str, seed: u64) -> Result<Plan, ExitError> {
    let numbers = [seed.to_string(), duration(asked.duration)];
    // No warm-up: everything that the guest executes counts.
    let mut words = vec!["--target", target, "--seed", &numbers[0], "--for", &numbers[1]];
    words.extend(["--warm-up", "0s"]);
    words.extend(asked.load.iter().flat_map(|load| ["--load", load]));
    let args: MeasureArgs = parse(words).map_err(|error| ExitError::usage(error.to_string()))?;
    args.plan(seed).map_err(ExitError::usage)
}
