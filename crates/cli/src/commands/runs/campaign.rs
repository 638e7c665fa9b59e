//! `latlab show CAMPAIGN`: the table of a campaign.

use super::args::{ShowArgs, ShowFormat};
use crate::output::{print, print_json, print_text, style, width};
use crate::store::finish_leftovers;
use anyhow::bail;
use latlab_report::campaign::{csv, markdown};
use latlab_report::stored::LoadedCampaign;
use latlab_store::CampaignFolder;

pub fn show(folder: &CampaignFolder, args: &ShowArgs) -> anyhow::Result<()> {
    if args.window.is_some() {
        bail!("--window needs a single run, such as {}/runs/…", folder.path().display());
    }
    finish_leftovers(folder.runs());
    let shown = LoadedCampaign::read(folder)?;
    match args.format {
        ShowFormat::Json => print_json(&shown.table),
        ShowFormat::Markdown => print_text(&markdown(&shown.shown)),
        ShowFormat::Csv => print(&csv(&shown.shown)),
        ShowFormat::Html => bail!("the page of a campaign is made by `latlab report`"),
        ShowFormat::Text => {
            print_text(&latlab_report::campaign::show(&shown.shown, width(), style()))
        }
    }
}
