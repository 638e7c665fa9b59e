//! `latlab report CAMPAIGN`: a campaign as a page, and as a table for programs.

use super::args::{ReportArgs, ReportFormat};
use crate::browser;
use crate::documents::CampaignReported;
use crate::output::{print, print_json, print_text, warn, write_into, write_whole};
use crate::store::finish_leftovers;
use anyhow::bail;
use latlab_report::campaign::{csv, markdown, test_suite};
use latlab_store::CampaignFolder;
use latlab_view::{LoadedCampaign, LoadedRun};
use std::path::{Path, PathBuf, absolute};
use std::process::ExitCode;

/// The page of a run in its folder.
const RUN_PAGE: &str = "report.html";

/// Writes the page, or prints the table in the format that the flags name.
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
        Some(_) if args.open => {
            bail!("--open cannot be used with --format {}", args.format.name())
        }
        Some(text) => match &args.output {
            Some(path) if path.as_os_str() != "-" => write_whole(path, text.as_bytes())?,
            _ => print(&text)?,
        },
        None => page(folder, &shown, args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The page of the campaign, and beside each run its own.
fn page(folder: &CampaignFolder, shown: &LoadedCampaign, args: &ReportArgs) -> anyhow::Result<()> {
    let own = folder.path().join(RUN_PAGE);
    let path = args.output.clone().unwrap_or_else(|| own.clone());
    let page = shown.page(|run| link(run, path == own));
    for run in shown.folders() {
        if let Err(error) = write_page_of(&run) {
            // The others are shown all the same.
            warn(format_args!("cannot write the page of {}: {error:#}", run.display()));
        }
    }
    if path.as_os_str() == "-" {
        return print(&page);
    }
    match &args.output {
        Some(path) => write_whole(path, page.as_bytes())?,
        None => drop(write_into(folder.path(), RUN_PAGE, page.as_bytes())?),
    }
    match args.format {
        ReportFormat::Json => print_json(&CampaignReported {
            page: path.display().to_string(),
            bytes: page.len(),
            table: &shown.table,
        })?,
        _ => print_text(&format!("{}\n", path.display()))?,
    }
    if args.open {
        browser::open(&path);
    }
    Ok(())
}

/// Where the page of a run is: beside the campaign's own page, or wherever it lies.
fn link(run: &Path, from_its_folder: bool) -> String {
    let name = run.file_name().map(PathBuf::from).unwrap_or_default();
    let target = match from_its_folder {
        true => Path::new("runs").join(name),
        false => absolute(run).unwrap_or_else(|_| run.to_path_buf()),
    };
    target.join(RUN_PAGE).display().to_string()
}

/// A page that is newer than its run is what it would be again.
fn write_page_of(run: &Path) -> anyhow::Result<()> {
    let changed = |name: &str| run.join(name).metadata().and_then(|there| there.modified()).ok();
    if changed(RUN_PAGE) > changed("run.json") {
        return Ok(());
    }
    let page = latlab_view::page(&[LoadedRun::read(run)?]);
    write_into(run, RUN_PAGE, page.as_bytes()).map(drop)
}
