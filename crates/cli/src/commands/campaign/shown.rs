//! A stored campaign in the terminal, as a page, and as a table for programs.

use crate::browser;
use crate::commands::report::args::{ReportArgs, ReportFormat};
use crate::commands::runs::args::{ShowArgs, ShowFormat};
use crate::documents::CampaignReported;
use crate::output::{print, print_json, style, warn, width, write_whole};
use crate::store::finish_leftovers;
use anyhow::bail;
use latlab_report::campaign::{csv, junit, markdown};
use latlab_store::CampaignFolder;
use latlab_view::{Shown, ShownCampaign};
use std::path::{Path, PathBuf, absolute};
use std::process::ExitCode;

/// The page of a run in its folder.
const RUN_PAGE: &str = "report.html";

/// `latlab show CAMPAIGN`.
pub fn show(folder: &CampaignFolder, args: &ShowArgs) -> anyhow::Result<()> {
    if args.window.is_some() {
        bail!("--window is of one run: name one, such as {}/runs/…", folder.path().display());
    }
    let shown = read(folder)?;
    match args.format {
        ShowFormat::Json => print_json(&shown.table),
        ShowFormat::Markdown => print(&markdown(&shown.table)),
        ShowFormat::Csv => print(&csv(&shown.table)),
        ShowFormat::Text => print(&latlab_report::campaign::show(&shown.table, width(), style())),
    }
}

fn read(folder: &CampaignFolder) -> anyhow::Result<ShownCampaign> {
    finish_leftovers(folder.runs());
    Ok(ShownCampaign::read(folder)?)
}

/// `latlab report CAMPAIGN`.
pub fn report(folder: &CampaignFolder, args: &ReportArgs) -> anyhow::Result<ExitCode> {
    let shown = read(folder)?;
    let text = match args.format {
        ReportFormat::Markdown => Some(markdown(&shown.table)),
        ReportFormat::Csv => Some(csv(&shown.table)),
        ReportFormat::Junit => Some(junit(&shown.table)),
        ReportFormat::Text | ReportFormat::Json => None,
    };
    match text {
        Some(_) if args.open => {
            bail!("--open goes with the page, not with --format {}", args.format.word())
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
fn page(folder: &CampaignFolder, shown: &ShownCampaign, args: &ReportArgs) -> anyhow::Result<()> {
    let own = folder.path().join(RUN_PAGE);
    let path = args.output.clone().unwrap_or_else(|| own.clone());
    let page = shown.page(|run| link(run, path == own));
    for run in shown.folders() {
        if let Err(error) = write_page_of(&run) {
            // The others are shown all the same.
            warn(format_args!("the page of {} is not written: {error:#}", run.display()));
        }
    }
    if path.as_os_str() == "-" {
        return print(&page);
    }
    write_whole(&path, page.as_bytes())?;
    match args.format {
        ReportFormat::Json => print_json(&CampaignReported {
            page: path.display().to_string(),
            bytes: page.len(),
            table: &shown.table,
        })?,
        _ => print(&format!("{}\n", path.display()))?,
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
    let page = latlab_view::page(&[Shown::read(run)?]);
    write_whole(&run.join(RUN_PAGE), page.as_bytes())
}
