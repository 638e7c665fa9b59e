//! `latlab report CAMPAIGN`: a campaign as an HTML page, or as a table for programs.

use super::args::{ReportArgs, ReportFormat};
use super::publish::{self, ReportPage};
use crate::documents::CampaignReported;
use crate::output::{warn, write_into, write_whole};
use crate::store::finish_leftovers;
use anyhow::Context;
use latlab_report::campaign::{csv, markdown, test_suite};
use latlab_report::stored::{LoadedCampaign, LoadedRun};
use latlab_store::CampaignFolder;
use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// Name of a run's page in its folder.
const RUN_PAGE: &str = "report.html";
/// Name of the campaign's page in a folder given by the user.
const FOLDER_PAGE: &str = "index.html";

pub fn report(folder: &CampaignFolder, args: &ReportArgs) -> anyhow::Result<ExitCode> {
    finish_leftovers(folder.runs());
    let shown = LoadedCampaign::read(folder)?;
    let text = match args.format {
        ReportFormat::Markdown => Some(markdown(&shown.shown)),
        ReportFormat::Csv => Some(csv(&shown.shown)),
        ReportFormat::Junit => Some(test_suite(&shown.shown).junit()),
        ReportFormat::Text | ReportFormat::Json => None,
    };
    match text {
        Some(text) => publish::table(args, &text)?,
        None => page(folder, &shown, args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the campaign's page. Given a folder, or next to the runs, it links a page of each run;
/// written to a single file, it links nothing and can be copied anywhere.
fn page(folder: &CampaignFolder, shown: &LoadedCampaign, args: &ReportArgs) -> anyhow::Result<()> {
    let (output, html) = match &args.output {
        None => {
            write_run_pages(shown, write_page_of);
            (None, shown.page(|run| Some(format!("runs/{}/{RUN_PAGE}", name(run)))))
        }
        Some(target) if is_folder(target) => {
            let runs = target.join("runs");
            fs::create_dir_all(&runs).with_context(|| format!("cannot make {}", runs.display()))?;
            write_run_pages(shown, |run| {
                write_whole(&runs.join(format!("{}.html", name(run))), page_of(run)?.as_bytes())
            });
            let page = shown.page(|run| Some(format!("runs/{}.html", name(run))));
            (Some(target.join(FOLDER_PAGE)), page)
        }
        Some(target) => (Some(target.clone()), shown.page(|_| None)),
    };
    let (output, folder) = (output.as_deref(), folder.path());
    let page = ReportPage { html: &html, output, folder, name: RUN_PAGE };
    let table = &shown.table;
    publish::page(args, &page, |page, bytes| CampaignReported { page, bytes, table })
}

/// Whether a path names a folder: an existing one, or one written with a slash at the end.
fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

fn name(run: &Path) -> Cow<'_, str> {
    run.file_name().unwrap_or_default().to_string_lossy()
}

/// Writes the page of each run; one failure does not stop the others.
fn write_run_pages(shown: &LoadedCampaign, write: impl Fn(&Path) -> anyhow::Result<()>) {
    for run in shown.folders() {
        if let Err(error) = write(&run) {
            warn(format_args!("cannot write the page of {}: {error:#}", run.display()));
        }
    }
}

fn page_of(run: &Path) -> anyhow::Result<String> {
    Ok(latlab_report::stored::page(&[LoadedRun::read(run)?]))
}

/// Writes a run's page unless the existing one is newer than the run.
fn write_page_of(run: &Path) -> anyhow::Result<()> {
    let changed = |name: &str| run.join(name).metadata().and_then(|there| there.modified()).ok();
    if changed(RUN_PAGE) > changed("run.json") {
        return Ok(());
    }
    write_into(run, RUN_PAGE, page_of(run)?.as_bytes()).map(drop)
}
