//! `latlab report SEARCH`: the answer of a search for settings as a page.

use super::args::{ReportArgs, ReportFormat};
use crate::browser;
use crate::commands::tuned::result;
use crate::output::{print, print_text, sanitize_document, write_into, write_whole};
use crate::store::finish_leftovers;
use anyhow::bail;
use latlab_store::{CampaignFolder, Store};
use std::process::ExitCode;

/// Name of the page in the folder of the search.
const PAGE: &str = "tune.html";

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
