//! `latlab lab paths`: the longest code paths with interrupts or preemption disabled.

use super::args::PathsArgs;
use crate::exit::ExitError;
use crate::flags::plan::MeasureArgs;
use crate::flags::{Format, parse};
use crate::output::{print_json, print_text, style, warn, width};
use crate::store::lab_folder;
use latlab_conduct::StopFlag;
use latlab_conduct::guests::{ReplayRequest, record};
use latlab_lab::Cache;
use latlab_lab::replay::{GuestKernel, LongPath, LongPaths, OffKind, find_long_paths};
use latlab_model::nanos::duration;
use latlab_model::sanitize::sanitize_document;
use latlab_model::{Nanos, Plan};
use latlab_report::units::grouped;
use latlab_report::{Column, Section, Style, Table, to_terminal};
use serde::Serialize;

/// `latlab lab paths --format json`: where a kernel cannot be interrupted or preempted for longest.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KernelPaths<'a> {
    /// The guests.
    pub target: &'a str,
    /// Number of guests that were run, each with its own seed.
    pub seeds: u32,
    /// Time that each measured, in nanoseconds.
    pub duration_ns: Nanos,
    /// Instructions that they executed.
    pub instructions: u64,
    /// The paths of each kind, the longest first.
    pub paths: &'a [LongPath],
}

/// Runs the guests with the recorder, and prints the paths found.
pub fn find_paths(asked: &PathsArgs) -> anyhow::Result<()> {
    let (cache, stop) = (Cache::new(lab_folder()), StopFlag::on_signals(false)?);
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

/// Printed paths of each kind.
const TOP: usize = 20;

/// The longest sections with interrupts or preemption off.
fn long_paths(paths: &[LongPath], kind: OffKind, width: usize, style: Style) -> String {
    let of_kind: Vec<&LongPath> = paths.iter().filter(|one| one.kind == kind).take(TOP).collect();
    if of_kind.is_empty() {
        return String::new();
    }
    let each =
        |of: &dyn Fn(&LongPath) -> String| of_kind.iter().map(|one| of(one)).collect::<Vec<_>>();
    let columns = vec![
        Column::new("longest", 0, each(&|one| one.largest_ns.0.to_string())).unit("ns"),
        Column::new("times", 1, each(&|one| grouped(one.count))),
        Column::new("thread", 2, each(&|one| one.thread.clone())).left(),
        Column::new("what", 0, each(&|one| one.activity.to_string())).left(),
        Column::new("from", 0, each(&|one| one.by.clone())).left(),
        Column::new("mostly in", 0, each(&|one| one.mostly.join(" > "))).left(),
    ];
    let title = match kind {
        OffKind::Interrupts => "Interrupts off",
        OffKind::Preemption => "Preemption off, by the kernel's count",
        OffKind::Kernel => "In the kernel without a point of preemption",
    };
    let table = Table::new("The longest of each kind.", columns);
    to_terminal(&[Section::new("paths", title).table(table)], width, style)
}
