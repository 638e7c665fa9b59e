//! `latlab show` and `latlab report` of a search, and what later commands learn from it.

use super::{confirmation_of, result};
use crate::browser;
use crate::commands::report::args::{ReportArgs, ReportFormat};
use crate::commands::runs::args::{ShowArgs, ShowFormat};
use crate::output::{
    print, print_json, print_text, sanitize_document, style, width, write_into, write_whole,
};
use crate::store::finish_leftovers;
use anyhow::bail;
use latlab_conduct::tune::Search;
use latlab_model::doctor::Diagnosis;
use latlab_model::tune::TuneResult;
use latlab_store::{CampaignFolder, Store};
use latlab_sys::files::read_text;
use std::process::ExitCode;

/// The answer of a search in its folder, for later commands.
const RESULT: &str = "tune.json";
const PAGE: &str = "tune.html";
/// A larger file is not an answer.
const LARGEST: u64 = 16 << 20;

/// The search that a campaign is, or confirms.
pub fn search_of(store: &Store, folder: &CampaignFolder) -> anyhow::Result<Option<CampaignFolder>> {
    let is_search = |found: &CampaignFolder| Search::new(&found.campaign).is_some();
    match confirmation_of(folder) {
        Some(id) => Ok(store.find_campaign(id)?.filter(is_search)),
        None if is_search(folder) => Ok(Some(store.open_campaign(folder.path())?)),
        None => Ok(None),
    }
}

pub fn show(store: &Store, folder: &CampaignFolder, args: &ShowArgs) -> anyhow::Result<()> {
    finish_leftovers(folder.runs());
    let result = result(store, folder)?;
    let shown = || sanitize_document(&result);
    match args.format {
        ShowFormat::Json => print_json(&result),
        ShowFormat::Markdown => print_text(&latlab_report::tune::markdown(&shown()?)),
        ShowFormat::Text => print_text(&latlab_report::tune::show(&shown()?, width(), style())),
        ShowFormat::Html | ShowFormat::Csv => {
            bail!("a search is shown as text, json or markdown; `latlab report` makes its page")
        }
    }
}

pub fn report(
    store: &Store,
    folder: &CampaignFolder,
    args: &ReportArgs,
) -> anyhow::Result<ExitCode> {
    finish_leftovers(folder.runs());
    let result = sanitize_document(&result(store, folder)?)?;
    let text = match args.format {
        ReportFormat::Markdown => latlab_report::tune::markdown(&result),
        ReportFormat::Csv | ReportFormat::Junit => {
            bail!("a search is reported as a page or as markdown")
        }
        ReportFormat::Text | ReportFormat::Json => latlab_report::tune::page(&result),
    };
    let path = match &args.output {
        Some(path) if path.as_os_str() == "-" => return print(&text).map(|()| ExitCode::SUCCESS),
        Some(path) => {
            write_whole(path, text.as_bytes())?;
            path.clone()
        }
        None if args.format == ReportFormat::Markdown => {
            return print(&text).map(|()| ExitCode::SUCCESS);
        }
        None => write_into(folder.path(), PAGE, text.as_bytes())?,
    };
    print_text(&format!("{}\n", path.display()))?;
    if args.open {
        browser::open(&path);
    }
    Ok(ExitCode::SUCCESS)
}

/// Leaves the answer for later commands.
pub fn keep(folder: &CampaignFolder, result: &TuneResult) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(result)? + "\n";
    write_into(folder.path(), RESULT, text.as_bytes()).map(drop)
}

/// Adds what the newest search on the same machine and kernel has found to diagnoses; without one,
/// nothing.
pub fn add_results(store: &Store, diagnoses: &mut [Diagnosis], host: Option<&str>, kernel: &str) {
    let is_of = |result: &TuneResult| {
        result.host.is_some() && result.host.as_deref() == host && result.kernel == kernel
    };
    let searches = store.campaigns().unwrap_or_default().into_iter();
    let kept = searches.filter_map(|(_, folder)| {
        let folder = folder.ok().filter(|folder| Search::new(&folder.campaign).is_some())?;
        let text = read_text(&folder.path().join(RESULT), LARGEST).ok()??;
        serde_json::from_str(&text).ok()
    });
    if let Some(newest) = kept.into_iter().find(is_of) {
        latlab_report::tune::add_results(diagnoses, &newest);
    }
}
