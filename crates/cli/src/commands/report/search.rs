//! `latlab report SEARCH`: the answer of a search for settings as a page.

use super::args::{ReportArgs, ReportFormat};
use super::publish::{self, ReportPage};
use crate::commands::tuned::result;
use crate::documents::Reported;
use crate::output::sanitize_document;
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
    let html = match args.format {
        ReportFormat::Markdown => {
            return publish::table(args, &latlab_report::tune::markdown(&result))
                .map(|()| ExitCode::SUCCESS);
        }
        ReportFormat::Csv | ReportFormat::Junit => {
            bail!("a search is reported as a page or as markdown")
        }
        ReportFormat::Text | ReportFormat::Json => latlab_report::tune::page(&result),
    };
    let output = args.output.as_deref();
    let page = ReportPage { html: &html, output, folder: folder.path(), name: PAGE };
    let runs = vec![folder.campaign.id.clone()];
    publish::page(args, &page, |page, bytes| Reported { runs, page, bytes })?;
    Ok(ExitCode::SUCCESS)
}
