//! Flags of `latlab run` for sheets.

use clap::Args;
use latlab_model::Nanos;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use std::str::FromStr;

const SHEETS: &str = "Sheets and campaigns";

/// Flags of `latlab run` that go with a sheet.
#[derive(Args, Default)]
pub struct SheetArgs {
    /// Sheet to run: a TOML file, or the name of a ready-made one (`latlab scenarios`)
    #[arg(value_name = "SHEET", conflicts_with = "resume", group = "campaign")]
    pub sheet: Option<String>,
    /// Print what a sheet, or --resume, would run, in which order and for how long
    #[arg(long, requires = "campaign", help_heading = SHEETS)]
    pub dry_run: bool,
    /// Override the duration or the cycles of every scenario, for a try
    #[arg(long, value_name = "TIME|CYCLES", requires = "sheet", conflicts_with = "resume",
          help_heading = SHEETS)]
    pub scale: Option<Scale>,
    /// Number of runs of each row
    #[arg(long, value_name = "N", requires = "sheet", conflicts_with = "resume", help_heading = SHEETS,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeats: Option<u32>,
    /// Measure each row once with each of these seeds, such as 1..5
    #[arg(long, value_name = "N..M", requires = "sheet", conflicts_with = "repeats",
          help_heading = SHEETS)]
    pub seeds: Option<Seeds>,
    /// Run the sheet on each board of a file, with a table `[NAME]` and target = "ssh://HOST" for each;
    /// cpus, deadline and load there are the board's own defaults
    #[arg(long, value_name = "FILE", requires = "sheet", conflicts_with = "resume",
          help_heading = SHEETS)]
    pub targets: Option<PathBuf>,
    /// Number of boards that are measured at once; of guests, no more than this machine has CPUs
    #[arg(long, value_name = "N", requires = "campaign", default_value_t = 16, help_heading = SHEETS,
          value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub jobs: u32,
    /// Leave out scenarios whose programs are missing
    #[arg(long, requires = "sheet", conflicts_with = "resume", help_heading = SHEETS)]
    pub skip_missing: bool,
    /// Continue a campaign [default: the last one that is not complete]
    #[arg(long, value_name = "CAMPAIGN", num_args = 0..=1, default_missing_value = "last",
          group = "campaign", help_heading = SHEETS)]
    pub resume: Option<String>,
    /// Print a systemd unit that continues the campaign after each boot
    #[arg(long, conflicts_with_all = ["sheet", "resume"], help_heading = SHEETS)]
    pub print_unit: bool,
}

impl SheetArgs {
    /// Whether the flags ask for a campaign.
    pub fn is_given(&self) -> bool {
        self.sheet.is_some() || self.resume.is_some() || self.print_unit
    }
}

/// Why `--detach` is refused with a sheet.
pub const NOT_DETACHED: &str =
    "--detach: the runs of a sheet follow each other from here; detach single runs";

/// Replaces the duration or cycles of all scenarios.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// Measure for this long.
    Time(Nanos),
    /// Measure this many cycles.
    Cycles(u64),
}

impl Display for Scale {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Scale::Time(time) => write!(f, "{time}"),
            Scale::Cycles(cycles) => write!(f, "{cycles}"),
        }
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Scale, String> {
        match text.parse::<u64>() {
            Ok(0) => Err("expected more than 0".to_string()),
            Ok(cycles) => Ok(Scale::Cycles(cycles)),
            Err(_) => text.parse().map(Scale::Time).map_err(|_| {
                "expected a time such as 20s, or a number of cycles such as 20000".to_string()
            }),
        }
    }
}

/// Seeds of the repeats: `1..5` makes five repeats of every row, one for each seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seeds {
    first: u64,
    last: u64,
}

impl Seeds {
    pub fn count(self) -> u32 {
        u32::try_from(self.last - self.first).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// The seed of a repeat, counted from 1.
    pub fn seed_of_repeat(self, repeat: u32) -> u64 {
        self.first + u64::from(repeat) - 1
    }
}

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Seeds, String> {
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) if first <= last => Ok(Seeds { first, last }),
            (Ok(_), Ok(_)) => Err("the second seed is smaller than the first".to_string()),
            _ => Err("expected a number, or two such as 1..5".to_string()),
        }
    }
}
