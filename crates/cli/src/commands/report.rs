//! `latlab report`: stored runs as an HTML page.

pub mod args;
mod campaign;
mod publish;
mod search;

use crate::commands::tuned::search_of;
use crate::documents::Reported;
use crate::output::{is_stdout, warn};
use crate::render::against_limit;
use crate::store::{find_runs, open_store, recover};
use anyhow::bail;
use args::ReportArgs;
use latlab_report::stored::LoadedRun;
use publish::ReportPage;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub fn report(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    if args.open && args.output.as_deref().is_some_and(is_stdout) {
        bail!("--open needs a file, not standard output");
    }
    let store = open_store(args.out.as_deref());
    recover(&store);
    if let ([one], None) = (&args.runs[..], &args.comparison.baseline)
        && let Some(folder) = store.find_campaign(one)?
    {
        return match search_of(&store, &folder)? {
            Some(search) => search::report(&store, &search, args),
            None => campaign::report(&folder, args),
        };
    }
    if args.format.is_of_a_campaign() {
        bail!("--format {} is only for campaigns", args.format.name());
    }
    let folders = find_runs(&store, &args.runs, args.comparison.baseline.as_deref())?;
    let read = |folder: &PathBuf| -> anyhow::Result<LoadedRun> {
        let mut loaded = LoadedRun::read(folder)?;
        loaded.run = against_limit(loaded.run, args.comparison.limit)?;
        Ok(loaded)
    };
    let shown: Vec<LoadedRun> = folders.iter().map(read).collect::<anyhow::Result<_>>()?;
    reject_duplicates(&shown)?;
    let html = latlab_report::stored::page(&shown);
    if !latlab_report::is_interactive() {
        warn("this build was made without npm: the page has static charts only");
    }
    let page = ReportPage {
        html: &html,
        output: args.output.as_deref(),
        folder: folders.first().map_or(Path::new("."), PathBuf::as_path),
        name: if folders.len() > 1 { "comparison.html" } else { "report.html" },
    };
    let runs = shown.into_iter().map(|one| one.run.id).collect();
    publish::page(args, &page, |page, bytes| Reported { runs, page, bytes })?;
    Ok(ExitCode::SUCCESS)
}

fn reject_duplicates(runs: &[LoadedRun]) -> anyhow::Result<()> {
    for (index, one) in runs.iter().enumerate() {
        if runs[..index].iter().any(|other| other.run.id == one.run.id) {
            bail!("run {} is given twice", one.run.id);
        }
    }
    Ok(())
}
