//! The flags of `latlab run` for sheets, and those of `latlab scenarios`.

use crate::flags::Format;
use crate::flags::scale::Scale;
use crate::flags::seeds::Seeds;
use clap::{Args, Subcommand};

const SHEETS: &str = "Sheets and campaigns";

/// Flags of `latlab run` that go with a sheet.
#[derive(Args, Default)]
pub struct SheetArgs {
    /// A file of scenarios, or the name of a ready-made one (`latlab scenarios`): run all of it
    #[arg(value_name = "SHEET", conflicts_with = "resume", group = "campaign")]
    pub sheet: Option<String>,
    /// Only say what a sheet, or --resume, would run, in which order, and how long that takes
    #[arg(long, requires = "campaign", help_heading = SHEETS)]
    pub dry_run: bool,
    /// Every scenario this long, or with so many cycles, for a try
    #[arg(long, value_name = "TIME|CYCLES", requires = "sheet", conflicts_with = "resume",
          help_heading = SHEETS)]
    pub scale: Option<Scale>,
    /// Measure each row of the sheet this often
    #[arg(long, value_name = "N", requires = "sheet", conflicts_with = "resume", help_heading = SHEETS,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeats: Option<u32>,
    /// Measure each row once with each of these seeds, such as 1..5
    #[arg(long, value_name = "N..M", requires = "sheet", conflicts_with = "repeats",
          help_heading = SHEETS)]
    pub seeds: Option<Seeds>,
    /// Leave out scenarios whose programs are not here, instead of refusing
    #[arg(long, requires = "sheet", conflicts_with = "resume", help_heading = SHEETS)]
    pub skip_missing: bool,
    /// Go on with a campaign that was cut off [default: the last one that is not complete]
    #[arg(long, value_name = "CAMPAIGN", num_args = 0..=1, default_missing_value = "last",
          group = "campaign", help_heading = SHEETS)]
    pub resume: Option<String>,
    /// Print a systemd unit that goes on with the campaign after each boot
    #[arg(long, conflicts_with_all = ["sheet", "resume"], help_heading = SHEETS)]
    pub print_unit: bool,
}

impl SheetArgs {
    /// Whether no single run is asked for.
    pub fn is_asked(&self) -> bool {
        self.sheet.is_some() || self.resume.is_some() || self.print_unit
    }
}

/// What may stand beside them on a command line.
pub const BESIDE: [&str; 13] = [
    "sheet",
    "dry_run",
    "scale",
    "repeats",
    "seeds",
    "skip_missing",
    "resume",
    "print_unit",
    "out",
    "format",
    "quiet",
    "keep_going",
    "console",
];

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
    /// Print a ready-made sheet, to be used as it is or as a start for another.
    Show {
        /// Its name
        name: String,
    },
}

const EXAMPLES: &str = "\
Examples:
  latlab scenarios                                 the ready-made sheets, and what each answers
  latlab scenarios show stress-five >mine.toml     one of them, to be changed
  latlab run stress-five --scale 20s --dry-run     what it would do
  latlab run mine.toml                             all of it, and a table";
