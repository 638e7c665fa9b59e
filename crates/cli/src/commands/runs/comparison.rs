//! `latlab show RUN RUN…`: several runs side by side.

use super::args::{ShowArgs, ShowFormat};
use crate::output::{print_json, print_text, sanitize_run, style, width};
use crate::render::against_limit;
use anyhow::bail;
use latlab_model::Run;
use latlab_model::shell::Line;
use latlab_report::stored::RunTables;
use latlab_report::{RunTable, rendered};
use latlab_stats::MeasuredRun;
use std::path::PathBuf;

/// Prints the runs side by side, the baseline first.
pub fn show(folders: &[PathBuf], args: &ShowArgs) -> anyhow::Result<()> {
    if args.window.is_some() {
        bail!("--window needs a single run");
    }
    if args.all {
        bail!("--all needs a single run");
    }
    if args.format == ShowFormat::Html {
        bail!("the page of several runs is made by `latlab report`");
    }
    let read =
        |folder: &PathBuf| against_limit(latlab_store::read_run(folder)?, args.comparison.limit);
    let runs: Vec<Run> = folders.iter().map(read).collect::<anyhow::Result<_>>()?;
    if args.format == ShowFormat::Json {
        return print_json(&runs.iter().map(rendered).collect::<Vec<_>>());
    }
    let runs: Vec<Run> = runs.iter().map(sanitize_run).collect::<Result<_, _>>()?;
    let tables = folders.iter().zip(&runs).map(|(folder, run)| RunTables::read(folder, run));
    let tables: Vec<RunTables> = tables.collect::<Result<_, _>>()?;
    let measured: Vec<MeasuredRun> =
        runs.iter().zip(&tables).map(|(run, tables)| tables.measured(run)).collect();
    let table = RunTable::new(runs.iter().collect()).with_judgements(&measured);
    if args.format == ShowFormat::Markdown {
        return print_text(&table.markdown());
    }
    let command = Line::new("latlab report").operands(runs.iter().map(|run| &run.id));
    print_text(&format!("{}\nWith charts: {command}\n", table.text(width(), style())))
}
