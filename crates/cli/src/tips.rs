//! Suggests what to write instead of another tool's option or command.

use clap::error::{ContextKind, ErrorKind};
use std::ffi::OsString;

/// Options of other tools that `latlab run` does not have, with the replacement.
#[rustfmt::skip]
const INSTEAD: &[(&str, &str)] = &[
    ("--affinity", "--cpus LIST gives the CPUs to measure"),
    ("--breaktrace", "--stop-above TIME ends the run at the first latency above it"),
    ("--distance", "--period-step TIME makes the periods of the threads differ"),
    ("--duration", "--for TIME gives the length of the run"),
    ("--histfile", "the histogram is always stored"),
    ("--histogram", "the histogram is always stored: no number of bins is needed"),
    ("--json", "`latlab show --format json` prints the stored run"),
    ("--latency", "--idle-states sets the allowed exit latency"),
    ("--loops", "--cycles N gives the number of cycles"),
    ("--mainaffinity", "--helpers-on LIST gives the CPUs of latlab's own threads"),
    ("--mlockall", "the memory is always locked"),
    ("--prio", "--priority N sets the priority"),
    ("--runtime", "--for TIME gives the length of the run"),
    ("--time", "--for TIME gives the length of the run"),
    ("--timeout", "--for TIME gives the length of the run"),
    ("--verbose", "--samples stores every latency"),
    ("-H", "the histogram is always stored"),
    ("-S", "every CPU has a thread already; `latlab cyclictest` takes cyclictest's options"),
    ("-m", "the memory is always locked; `latlab cyclictest` takes cyclictest's options"),
    ("-v", "--samples stores every latency"),
];

/// What to write instead of a command line that was refused. `None` if the error itself says
/// enough.
pub fn tip(error: &clap::Error, words: &[OsString]) -> Option<String> {
    if is_histogram_option(words) {
        return Some(
            "-h is for help: the histogram is always stored, without a number of bins".into(),
        );
    }
    if has_one_side(error, words) {
        return Some("`--` separates the base from the candidate: latlab compare A -- B".into());
    }
    let unknown = error.get(ContextKind::InvalidArg)?.to_string();
    if let Some(value) = negative_value(&unknown, words) {
        return Some(format!("{value}: no option takes a negative number"));
    }
    let is_of_run = words.get(1).is_some_and(|word| word == "run");
    let tip =
        instead_of(&unknown).filter(|_| is_of_run && error.kind() == ErrorKind::UnknownArgument)?;
    Some(format!("no option {unknown}: {tip}"))
}

/// The replacement of another tool's option.
fn instead_of(option: &str) -> Option<&'static str> {
    let named = option.split('=').next().unwrap_or(option);
    INSTEAD.iter().find(|(name, _)| *name == named).map(|(_, tip)| *tip)
}

/// Turns `latlab help run` into `latlab run --help`.
pub fn without_help_command(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| word == "help") {
        words.remove(1);
        words.push("--help".into());
    }
    words
}

/// Whether a comparison was asked for with only one side.
fn has_one_side(error: &clap::Error, words: &[OsString]) -> bool {
    error.kind() == ErrorKind::MissingRequiredArgument
        && words.get(1).is_some_and(|command| command == "compare")
        && words.len() > 2
        && !words.iter().any(|word| word == "--")
}

/// Whether the help of `run` was caused by cyclictest's `-h BINS`.
fn is_histogram_option(words: &[OsString]) -> bool {
    let is_number = |word: &str| word.parse::<u64>().is_ok();
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let mut pairs = words.iter().zip(words.iter().skip(1).map(Some).chain([None]));
    words.get(1).is_some_and(|command| command == "run")
        && pairs.any(|(word, next)| match word.strip_prefix("-h") {
            Some("") => next.is_some_and(|next| is_number(next)),
            Some(rest) => is_number(rest),
            None => false,
        })
}

/// A negative number that was taken for this option.
fn negative_value<'a>(option: &str, words: &'a [OsString]) -> Option<&'a str> {
    let is_number = |word: &str| word.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    let is_it = |word: &&str| word.starts_with(option) && is_number(word);
    words.iter().skip(2).filter_map(|word| word.to_str()).find(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::program;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(Into::into).collect()
    }

    fn run_has(option: &str) -> bool {
        let program = program();
        let run = program.find_subcommand("run").unwrap();
        let name = option.trim_start_matches('-');
        let is_it = |one: &clap::Arg| match option.starts_with("--") {
            true => one.get_long() == Some(name),
            false => one.get_short().is_some_and(|short| name == short.to_string()),
        };
        run.get_arguments().any(is_it)
    }

    #[test]
    fn tips_are_for_options_that_run_lacks_and_name_those_that_it_has() {
        for (option, tip) in INSTEAD {
            assert!(!run_has(option), "{option}");
            let named = tip.split(' ').next().filter(|word| word.starts_with("--"));
            assert!(named.is_none_or(run_has), "{tip}");
        }
    }

    #[test]
    fn help_may_be_a_command() {
        for (line, instead) in [
            ("latlab help run", "latlab run --help"),
            ("latlab help", "latlab --help"),
            ("latlab run help", "latlab run help"),
        ] {
            assert_eq!(without_help_command(words(line)), words(instead));
        }
    }

    #[test]
    fn a_negative_number_is_told_whole() {
        let words = words("latlab run --for -5s --cpus 0-3 -q");
        assert_eq!(negative_value("-5", &words), Some("-5s"));
        assert_eq!(negative_value("-q", &words), None);
        assert_eq!(negative_value("-7", &words), None);
    }

    #[test]
    fn the_bins_of_cyclictest_are_not_a_wish_for_help() {
        for line in ["latlab run -h 400", "latlab run -h400 -q", "latlab run -q -h 5"] {
            assert!(is_histogram_option(&words(line)), "{line}");
        }
        for line in ["latlab run -h", "latlab list -h 400", "latlab run -h x"] {
            assert!(!is_histogram_option(&words(line)), "{line}");
        }
    }

    #[test]
    fn two_runs_without_a_separator_are_told_how_to_be_compared() {
        let tip_of = |line: &str| {
            let words = words(line);
            let error = program().try_get_matches_from(&words).unwrap_err();
            tip(&error, &words)
        };
        assert!(tip_of("latlab compare a b").unwrap().ends_with("latlab compare A -- B"));
        assert_eq!(tip_of("latlab compare a --"), None);
        assert_eq!(tip_of("latlab compare"), None);
    }
}
