//! The flags of a run, and those that several commands share.

pub mod attach;
mod format;
pub mod guest;
pub mod plan;
pub mod run;
pub mod sheet;
pub mod test_results;

pub use format::format_of;
pub use latlab_model::options::{board_folder, rate_per_hour, whole};

use crate::targets;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Command, ValueEnum};
use latlab_model::sanitize::{plain_line, plain_name};
use latlab_model::target::BoardTarget;
use latlab_model::{Nanos, Target};
use std::ffi::OsString;
use std::path::PathBuf;

/// How results are printed.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Format {
    #[default]
    Text,
    Json,
}

/// Where runs live and how they are printed.
#[derive(Args, Clone)]
pub struct Common {
    /// Folder of the runs [default: $LATLAB_RUNS, else ./runs]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// How to print the result: text, json
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

/// What the runs that are made of files are called and judged by, and where they live.
#[derive(Args, Clone)]
pub struct FileRuns {
    /// Judge each run: a latency above this is a deadline miss
    #[arg(long, value_name = "TIME", help_heading = RUN)]
    pub deadline: Option<Nanos>,
    /// Name of the run [default: that of the file or simulation]
    #[arg(long, value_name = "NAME", value_parser = plain_name, help_heading = RUN)]
    pub name: Option<String>,
    /// Note to store with the run
    #[arg(long, value_name = "TEXT", value_parser = plain_line, help_heading = RUN)]
    pub note: Option<String>,
    /// Where runs live, and how they are printed
    #[command(flatten)]
    pub common: Common,
}

/// A disk size, in bytes.
pub fn size(text: &str) -> Result<u64, String> {
    let expected = || format!("'{text}' is not a size of 1M or more, such as 200M or 2G");
    let units = [("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000), ("T", 1_000_000_000_000)];
    let (number, unit) = units
        .into_iter()
        .find_map(|(end, unit)| Some((text.strip_suffix(end)?, unit)))
        .unwrap_or((text, 1));
    let bytes = number.trim().parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    bytes.filter(|bytes| *bytes >= 1_000_000).ok_or_else(expected)
}

/// How stored runs are compared and judged where they are shown.
#[derive(Args, Clone)]
pub struct RunComparisonArgs {
    /// Compare with this run instead of the first one
    #[arg(long, value_name = "RUN")]
    pub baseline: Option<String>,
    /// Allow up to RATE bursts of deadline misses (0.1/h, 1/d) before failing
    #[arg(long, value_name = "RATE", value_parser = rate_per_hour)]
    pub limit: Option<f64>,
}

const RUN: &str = "Run";

/// Refuses durations of 0 or less; an error is one line for the user.
pub fn check_positive<const N: usize>(times: [(&str, Option<Nanos>); N]) -> Result<(), String> {
    let wrong = times.into_iter().find(|(_, time)| time.is_some_and(|time| time <= Nanos::ZERO));
    wrong.map_or(Ok(()), |(flag, _)| Err(format!("{flag} must be more than 0")))
}

/// Parses a board, for commands that contact it without measuring.
pub fn board(text: &str) -> Result<BoardTarget, String> {
    if let Some(named) = targets::find(text)? {
        return named.board().cloned();
    }
    let target: Target = text.parse()?;
    target.board().cloned().ok_or_else(|| "expected ssh://[USER@]HOST[:PORT]".to_string())
}

/// A board, and the folder of its detached runs.
pub struct AskedBoard {
    pub board: BoardTarget,
    /// From a flag, else as stored with the board's name. `None` for the default.
    pub folder: Option<String>,
}

/// Parses a board and the folder of its detached runs; an error is one line.
pub fn asked_board(text: &str, folder: Option<&str>) -> Result<AskedBoard, String> {
    let named = targets::find(text)?.and_then(|named| named.folder);
    Ok(AskedBoard { board: board(text)?, folder: folder.map(str::to_string).or(named) })
}

/// A percentage, up to 1000 %.
pub fn share(text: &str) -> Result<f64, String> {
    let expected = || format!("'{text}' is not a share between 0.1% and 1000%, such as 5%");
    let number: f64 = text.trim_end_matches('%').trim().parse().map_err(|_| expected())?;
    match text.contains('%') && (0.1..=1000.0).contains(&number) {
        true => Ok(number / 100.0),
        false => Err(expected()),
    }
}

/// A date, or a date and time, in the form that runs use.
pub fn time_of_run(text: &str) -> Result<String, String> {
    let day = text.get(..10).and_then(|day| day.parse::<jiff::civil::Date>().ok());
    match day {
        Some(_) => Ok(text.to_string()),
        None => Err(format!("'{text}' is not a time such as 2026-11-01 or 2026-11-01T18:00")),
    }
}

/// Parses a word of the model; shells complete it.
pub fn value_parser_of<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|&value| name(value)))
        .try_map(move |text| all.iter().copied().find(|&value| name(value) == text).ok_or(text))
}

/// Parses the flags of a command, without its name.
pub fn parse<A: Args>(
    words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<A, clap::Error> {
    let command = A::augment_args(Command::new("latlab")).no_binary_name(true);
    A::from_arg_matches(&command.try_get_matches_from(words)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_care_limit_is_a_share_in_percent() {
        assert_eq!(share("5%"), Ok(0.05));
        assert_eq!(share("0.5 %"), Ok(0.005));
        for wrong in ["5", "x", "0%", "-5%", "inf%", "NaN%", "2000%", ""] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }
}
