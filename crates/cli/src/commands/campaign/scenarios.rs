//! `latlab scenarios`: the sheets that come with the program.

use super::args::{ScenariosArgs, ScenariosCommand};
use crate::documents::ShippedSheet;
use crate::flags::Format;
use crate::output::{print, print_json, width};
use crate::sheet::{Instead, SHIPPED, Source};
use crate::{EXIT_USAGE, Exit};
use latlab_model::campaign::Campaign;
use latlab_report::campaign::{SheetEntry, sheets};
use std::process::ExitCode;

/// Lists the ready-made sheets, or prints one.
pub fn scenarios(args: &ScenariosArgs) -> anyhow::Result<ExitCode> {
    if let Some(ScenariosCommand::Show { name }) = &args.command {
        let source = Source::open(name).map_err(|text| Exit(EXIT_USAGE, text))?;
        print(&source.text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut campaigns: Vec<(&str, Campaign)> = Vec::new();
    for one in SHIPPED {
        let source = Source::open(one.name).map_err(|text| Exit(EXIT_USAGE, text))?;
        let campaign =
            source.campaign(&Instead::default(), jiff::Timestamp::UNIX_EPOCH, super::cpus());
        campaigns.push((one.name, campaign.map_err(|text| Exit(EXIT_USAGE, text))?));
    }
    match args.format {
        Format::Json => {
            let listed: Vec<ShippedSheet> = campaigns
                .iter()
                .map(|(name, campaign)| ShippedSheet::new(name, campaign))
                .collect();
            print_json(&listed)?;
        }
        Format::Text => {
            let entry = |(name, campaign): &(&str, Campaign)| SheetEntry {
                name: name.to_string(),
                about: campaign.about.clone().unwrap_or_default(),
                runs: campaign.runs.len(),
                total_ns: campaign.total(),
            };
            print(&sheets(&campaigns.iter().map(entry).collect::<Vec<_>>(), width()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
