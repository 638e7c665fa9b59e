//! `latlab show SEARCH`: the answer of a search for settings.

use super::args::{ShowArgs, ShowFormat};
use crate::commands::tuned::result;
use crate::output::{print_json, print_text, sanitize_document, style, width};
use crate::store::finish_leftovers;
use anyhow::bail;
use latlab_store::{CampaignFolder, Store};

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
