//! Flags of `latlab doctor`.

use crate::flags::{Common, board, value_parser_of};
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, ValueHint};
use latlab_model::run::Severity;
use latlab_model::target::BoardTarget;
use std::ffi::OsStr;
use std::path::PathBuf;

/// Flags of `latlab doctor`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct DoctorArgs {
    /// Run whose machine to examine: an id, a part of one, `last`, or the path of a run folder
    /// [default: this machine now]
    pub run: Option<String>,
    /// Examine a folder that looks like /, or a snapshot file
    #[arg(long, value_name = "PATH", conflicts_with = "run", help_heading = WHAT)]
    pub root: Option<PathBuf>,
    /// Examine a board, such as ssh://pi@board; with --restore restore that
    #[arg(long, value_name = "TARGET", value_parser = board, conflicts_with_all = ["run", "root"],
          help_heading = WHAT)]
    pub target: Option<BoardTarget>,
    /// Print what changed since a run, a snapshot file, or a folder that looks like /
    #[arg(long, value_name = "RUN", value_hint = ValueHint::AnyPath, help_heading = WHAT)]
    pub against: Option<String>,
    /// Write the kernel files to a snapshot file, - for standard output
    #[arg(long, value_name = "FILE", help_heading = WHAT)]
    pub save: Option<PathBuf>,

    /// Exit with 1 if a finding has at least this severity: info, warning, error
    #[arg(long, value_name = "SEVERITY", value_parser = value_parser_of(Severity::ALL, Severity::as_str),
          hide_possible_values = true, help_heading = WEIGHT)]
    pub fail_on: Option<Severity>,
    /// Only findings with these codes
    #[arg(long, value_name = "CODES", value_delimiter = ',', value_parser = Code,
          hide_possible_values = true, help_heading = WEIGHT)]
    pub only: Vec<String>,
    /// Ignore findings with these codes
    #[arg(long, value_name = "CODES", value_delimiter = ',', value_parser = Code,
          hide_possible_values = true, help_heading = WEIGHT)]
    pub ignore: Vec<String>,

    /// Print all details of all findings
    #[arg(short, long)]
    pub verbose: bool,
    /// List all checks of the doctor
    #[arg(long, conflicts_with_all = EXAMINING)]
    pub list: bool,
    /// Restore kernel files that a killed latlab left changed, and do nothing else
    #[arg(long, conflicts_with_all = EXAMINING, conflicts_with = "list")]
    pub restore: bool,
    /// Move interrupted runs that can never be finished to the folder quarantine of the runs, and do
    /// nothing else
    #[arg(long, conflicts_with_all = EXAMINING, conflicts_with_all = ["list", "restore"])]
    pub quarantine: bool,
    #[command(flatten)]
    pub common: Common,
}

/// Flags that conflict with `--list`, `--restore` and `--quarantine`.
const EXAMINING: [&str; 7] = ["run", "root", "against", "save", "fail_on", "only", "ignore"];

const WHAT: &str = "What to examine";
const WEIGHT: &str = "Which findings";

const EXAMPLES: &str = "\
Examples:
  latlab doctor                                     examine this machine
  latlab doctor --target ssh://pi@board             examine a board
  latlab doctor last                                examine the machine of the last run
  latlab doctor --against last                      what changed since that run
  latlab doctor --save before.json                  store a snapshot of this machine
  latlab doctor --against before.json               what an upgrade changed
  latlab doctor --fail-on warning --ignore governor   for CI: exit code 1 at a warning
  latlab doctor --list                              list all checks
  latlab doctor --quarantine                        move journals aside that cannot be read

With --against, --fail-on considers findings that appeared or became more severe. With --fail-on
info any difference counts.

It needs no rights; as root it sees more. Files that could not be read are listed.

Exit codes:
  0  done                                   2  wrong usage or input
  1  a finding of --fail-on                 3  could not examine, not restore, or not finish";

/// Parses a finding's code; shells complete it.
#[derive(Clone)]
struct Code;

impl TypedValueParser for Code {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        _argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        let code = value.to_string_lossy().into_owned();
        if codes().any(|known| known == code) {
            return Ok(code);
        }
        let all = "see `latlab doctor --list`";
        let text = match &near(&code, codes())[..] {
            [] => format!("unknown code '{code}'; {all}"),
            near => {
                format!("unknown code '{code}'; did you mean {}? {all}", near.join(" or "))
            }
        };
        Err(clap::Error::raw(ErrorKind::ValueValidation, text).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(codes().map(PossibleValue::new)))
    }
}

fn codes() -> impl Iterator<Item = &'static str> {
    latlab_doctor::catalogue().map(|check| check.code)
}

/// How many codes are suggested for an unknown one.
const OFFERED: usize = 3;

/// Suggestions for an unknown code: first those with a similar spelling, then those that share a
/// word.
fn near<'a>(code: &str, all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let shares = |known: &str| {
        code.split('-').any(|word| word.len() > 2 && known.split('-').any(|other| other == word))
    };
    let mut near: Vec<(usize, &str)> = all
        .map(|known| (distance(code, known), known))
        .filter(|(distance, known)| *distance <= 2 || shares(known))
        .collect();
    near.sort_unstable();
    near.into_iter().map(|(_, known)| known).take(OFFERED).collect()
}

/// Edit distance: insertions, deletions and substitutions.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.bytes().enumerate() {
            let cost = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_that_was_mistyped_is_recognised() {
        let all = ["governor", "rt-throttling", "throttled", "swap"];
        let near = |code| near(code, all.into_iter());
        assert_eq!(near("governer"), ["governor"]);
        assert_eq!(near("throttling"), ["rt-throttling"]);
        assert_eq!(near("swqp"), ["swap"]);
        assert_eq!(near("something-else"), Vec::<&str>::new());
    }

    #[test]
    fn distances_are_those_of_letters() {
        for (one, other, expected) in [("", "abc", 3), ("abc", "abc", 0), ("kitten", "sitting", 3)]
        {
            assert_eq!((distance(one, other), distance(other, one)), (expected, expected));
        }
    }
}
