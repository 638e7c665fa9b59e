//! Flags of `latlab watch`.

use crate::exit::ExitError;
use crate::flags::plan::MeasureArgs;
use crate::flags::{check_positive, size, whole};
use clap::{Arg, Args, Command};
use latlab_model::plan::Until;
use latlab_model::{Nanos, Plan};
use std::path::PathBuf;

/// Flags of `latlab watch`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct WatchArgs {
    /// Time between the starts of two rounds
    #[arg(long, value_name = "TIME", default_value = "1min", help_heading = WATCH)]
    pub every: Nanos,
    /// Share of a CPU that all rounds may take together; where they would take more, the next one comes
    /// later
    #[arg(long, value_name = "SHARE", default_value = "0.1%", value_parser = share_of_cpu,
          help_heading = WATCH)]
    pub cpu_budget: f64,
    /// Room on the disk that the runs of this name may take; the oldest go first
    #[arg(long, value_name = "SIZE", default_value = "200M", value_parser = size, help_heading = WATCH)]
    pub keep: u64,
    /// Run a command when a round fails or nothing can be measured, with the round as JSON on its input
    #[arg(long, value_name = "CMD", help_heading = WATCH)]
    pub on_fail: Option<String>,
    /// End after N rounds [default: never]
    #[arg(long, value_name = "N", value_parser = rounds, help_heading = WATCH)]
    pub rounds: Option<u64>,
    /// Print only what fails and what is removed
    #[arg(short, long, help_heading = WATCH)]
    pub quiet: bool,
    /// Folder of the runs [default: $LATLAB_RUNS, else ./runs]
    #[arg(long, value_name = "DIR", help_heading = WATCH)]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

const WATCH: &str = "Rounds";

/// Defaults that differ from `latlab run`: a light measurement that changes nothing on the machine.
const DEFAULTS: [(&str, &str); 5] = [
    ("name", "watch"),
    ("for", "5s"),
    ("period", "1ms"),
    ("telemetry", "5s"),
    ("idle-states", "system"),
];

/// Adjusts the command to the defaults of `watch`.
pub fn with_defaults(watch: Command) -> Command {
    let watch = ["detach", "board-folder"]
        .into_iter()
        .fold(watch, |watch, id| watch.mut_arg(id, |arg: Arg| arg.hide(true)));
    DEFAULTS.into_iter().fold(watch, |watch, (id, value)| {
        watch.mut_arg(id, |arg: Arg| {
            // The help text without the default of `latlab run`.
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let help = help.split(" [default").next().unwrap_or_default().to_string();
            arg.help(help).default_value(value)
        })
    })
}

impl WatchArgs {
    pub fn check(&self) -> Result<(), ExitError> {
        check_positive([("--every", Some(self.every))]).map_err(ExitError::usage)?;
        match self.on_fail.as_ref().is_some_and(|command| command.trim().is_empty()) {
            true => Err(ExitError::usage("--on-fail: no command is named")),
            false => Ok(()),
        }
    }

    /// Refuses plans that `watch` cannot measure.
    pub fn check_plan(&self, plan: &Plan) -> Result<(), ExitError> {
        let Until { deadline_ns, stop_above_ns, .. } = &plan.until;
        if self.on_fail.is_some() && deadline_ns.is_none() && stop_above_ns.is_none() {
            return Err(ExitError::usage(
                "--on-fail needs --deadline or --stop-above: without them nothing fails",
            ));
        }
        match plan.on.detached {
            Some(_) => Err(ExitError::usage("--detach: a watch waits for each round")),
            None => Ok(()),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  latlab watch --deadline 1ms                       5 s of each minute, at most 0.1 % of a CPU
  latlab watch --deadline 1ms --on-fail 'mail -s late admin'
  latlab watch -a 2-3 --every 10min --for 20s --keep 1G --out /var/lib/latlab/runs
  latlab watch --target ssh://pi@board --deadline 200us

A file 'keep' in the folder of a run keeps the run. Ctrl-C and SIGTERM end it, and the round is stored.";

/// A share of one CPU, in percent.
fn share_of_cpu(text: &str) -> Result<f64, String> {
    let expected = || format!("'{text}' is not a share between 0.001% and 100%, such as 0.1%");
    let number: f64 = text.trim_end_matches('%').trim().parse().map_err(|_| expected())?;
    match text.contains('%') && (0.001..=100.0).contains(&number) {
        true => Ok(number / 100.0),
        false => Err(expected()),
    }
}

/// Number of rounds, at least one.
fn rounds(text: &str) -> Result<u64, String> {
    whole(text).and_then(|count| match count {
        0 => Err("expected 1 or more".to_string()),
        _ => Ok(count),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_rounds_is_one_at_least() {
        assert_eq!(rounds("3"), Ok(3));
        for wrong in ["0", "-1", "1.5", ""] {
            assert!(rounds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn shares_and_sizes() {
        assert_eq!(share_of_cpu("0.1%"), Ok(0.001));
        assert_eq!((size("200M"), size("2 G")), (Ok(200_000_000), Ok(2_000_000_000)));
        for wrong in ["0.1", "0%", "200%", "-1%", "nan%", "x%"] {
            assert!(share_of_cpu(wrong).is_err(), "{wrong}");
        }
        for wrong in ["200", "0M", "-1M", "1.5G", "G", "99999999999T"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
