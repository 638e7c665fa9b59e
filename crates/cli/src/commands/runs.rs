//! `latlab list` and `latlab show`: stored runs.

pub mod args;
mod campaign;
mod comparison;
mod search;
mod window;

use crate::commands::tuned::{add_results, search_of};
use crate::documents::List;
use crate::output::{escape_controls, print, print_json, print_text, sanitize_run, style, width};
use crate::render::{against_limit, run_text, summary_text};
use crate::store::{find_runs, open_store, recover};
use anyhow::bail;
use args::{ListArgs, ListFormat, ShowArgs, ShowFormat};
use latlab_model::Run;
use latlab_model::shell;
use latlab_report::campaign::CampaignEntry;
use latlab_report::rendered;
use latlab_report::stored::{LoadedRun, page_top};
use latlab_store::{CampaignFolder, RunEntry, RunState, Store};
use std::path::Path;
use std::process::ExitCode;

pub fn list(args: &ListArgs) -> anyhow::Result<ExitCode> {
    let store = open_store(args.out.as_deref());
    recover(&store);
    let entries = store.list()?;
    let campaigns = campaigns(&store)?;
    match args.format {
        ListFormat::Json => print_json(&List::new(&entries))?,
        ListFormat::Text => print_text(&listing(&store, &entries, &campaigns))?,
        ListFormat::Markdown => print_text(&latlab_report::markdown_list(&finished(&entries)))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The campaigns, newest first; an unreadable one says why.
fn campaigns(store: &Store) -> anyhow::Result<Vec<CampaignEntry>> {
    let entry = |(id, opened): (String, latlab_store::Result<CampaignFolder>)| {
        let summary = opened.and_then(|folder| Ok(folder.progress()?.summary(&folder.campaign)));
        CampaignEntry {
            id: escape_controls(&id),
            summary: summary.map_err(|error| escape_controls(&error.to_string())),
        }
    };
    Ok(store.campaigns()?.into_iter().map(entry).collect())
}

/// Runs with figures to show.
fn finished(entries: &[RunEntry]) -> Vec<&Run> {
    let finished = entries.iter().filter_map(|entry| match &entry.state {
        RunState::Finished(run) => Some(run.as_ref()),
        _ => None,
    });
    finished.collect()
}

fn listing(store: &Store, entries: &[RunEntry], campaigns: &[CampaignEntry]) -> String {
    if entries.is_empty() && campaigns.is_empty() {
        return format!(
            "No runs in {}. To make one: `latlab run --for 10s`\n",
            escape_controls(&store.root().to_string_lossy())
        );
    }
    let finished = finished(entries);
    let mut text = String::new();
    if !finished.is_empty() {
        text += &latlab_report::list(&finished, width(), style());
    }
    for entry in entries {
        let state = match &entry.state {
            RunState::Finished(_) => continue,
            RunState::Running => "is being measured now".to_string(),
            RunState::Abandoned => "was interrupted and is not finished yet".to_string(),
            RunState::Damaged(reason) => format!("cannot be read: {}", escape_controls(reason)),
        };
        text += &format!("{}: {state}\n", escape_controls(&entry.id));
    }
    text + &latlab_report::campaign::campaigns(campaigns, width())
}

pub fn show(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    if args.format == ShowFormat::Csv && args.window.is_none() {
        bail!("--format csv needs --window, such as --window ..+1min");
    }
    let store = open_store(args.out.as_deref());
    recover(&store);
    if let ([one], None) = (&args.runs[..], &args.comparison.baseline)
        && let Some(folder) = store.find_campaign(one)?
    {
        match search_of(&store, &folder)? {
            Some(search) => search::show(&store, &search, args)?,
            None => campaign::show(&folder, args)?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    match &find_runs(&store, &args.runs, args.comparison.baseline.as_deref())?[..] {
        [folder] => show_one(&store, folder, args)?,
        several => comparison::show(several, args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The figures are covered by run.json's checksum, so they are shown even if another file was
/// changed or cannot be read; that is then an error.
fn show_one(store: &Store, folder: &Path, args: &ShowArgs) -> anyhow::Result<()> {
    let run = against_limit(latlab_store::read_run(folder)?, args.comparison.limit)?;
    let (run, remedies) = match latlab_report::stored::with_remedies(folder, run.clone()) {
        Ok(run) => (run, Ok(())),
        Err(error) => (run, Err(error)),
    };
    let run = with_results(store, run);
    if let Some(spec) = &args.window {
        return window::show(folder, &run, spec, args.format);
    }
    let (run, tables) = match with_tables(folder, &run, args) {
        Ok(full) => (full, Ok(())),
        Err(error) => (run, Err(error)),
    };
    match args.format {
        ShowFormat::Json => print_json(&rendered(&run))?,
        ShowFormat::Html => print(&page_top(&LoadedRun::read(folder)?))?,
        ShowFormat::Markdown => print_text(&latlab_report::markdown(&sanitize_run(&run)?))?,
        _ if args.all => print_text(&run_text(folder, &run)?)?,
        _ => print_text(&format!(
            "{}All of it: {}\nAs a page: {}\n",
            summary_text(folder, &run)?,
            shell::latlab("show --all", &run.id),
            shell::latlab("report", &run.id),
        ))?,
    }
    tables.and(remedies.map_err(Into::into))
}

/// The run with what a search for settings has found of its machine.
fn with_results(store: &Store, run: Run) -> Run {
    let mut run = run;
    let Run { doctor, machine, .. } = &mut run;
    if let Some(doctor) = doctor {
        add_results(store, doctor, machine.hostname.as_deref(), &machine.kernel);
    }
    run
}

/// The run with its tables, whose checksums are verified.
fn with_tables(folder: &Path, run: &Run, args: &ShowArgs) -> anyhow::Result<Run> {
    latlab_store::expect_tables(folder, run)?;
    let statistics = match args.format {
        ShowFormat::Html | ShowFormat::Markdown => return Ok(run.clone()),
        ShowFormat::Json => latlab_report::stored::statistics(folder, run)?,
        _ if args.all => latlab_report::stored::statistics(folder, run)?,
        _ => latlab_report::stored::quantile_statistics(folder, run)?,
    };
    let largest = latlab_report::stored::largest(folder, run)?;
    Ok(Run { largest, statistics: Some(statistics), ..run.clone() })
}
