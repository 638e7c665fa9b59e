//! `latlab scenarios`: the ready-made sheets.

use crate::documents::ShippedSheet;
use crate::exit::ExitError;
use crate::flags::Format;
use crate::output::{print_json, print_source, print_text, width};
use crate::sheet::{BUILTIN_SHEETS, Overrides, SheetFile, usable_cpus};
use clap::{Args, Subcommand};
use latlab_model::campaign::Campaign;
use latlab_report::campaign::{SheetEntry, sheets};
use std::process::ExitCode;

/// Flags of `latlab scenarios`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub struct ScenariosArgs {
    /// One of them.
    #[command(subcommand)]
    pub command: Option<ScenariosCommand>,
    /// How to print: text, json
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

/// What else `latlab scenarios` does.
#[derive(Subcommand)]
pub enum ScenariosCommand {
    /// Print a ready-made sheet.
    Show {
        /// Its name
        name: String,
    },
}

const EXAMPLES: &str = "\
Examples:
  latlab scenarios                                 list the ready-made sheets
  latlab scenarios show stress-five >mine.toml     copy one to change it
  latlab run stress-five --scale 20s --dry-run     show the plan
  latlab run mine.toml                             run it";

pub fn scenarios(args: &ScenariosArgs) -> anyhow::Result<ExitCode> {
    if let Some(ScenariosCommand::Show { name }) = &args.command {
        let source = SheetFile::open(name).map_err(ExitError::usage)?;
        print_source(&source.text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut campaigns: Vec<(&str, Campaign)> = Vec::new();
    for one in BUILTIN_SHEETS {
        let source = SheetFile::open(one.name).map_err(ExitError::usage)?;
        let campaign =
            source.campaign(&Overrides::default(), jiff::Timestamp::UNIX_EPOCH, usable_cpus());
        campaigns.push((one.name, campaign.map_err(ExitError::usage)?));
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
            print_text(&sheets(&campaigns.iter().map(entry).collect::<Vec<_>>(), width()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
