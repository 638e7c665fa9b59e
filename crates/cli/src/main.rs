//! The program `latlab`: flags to plan to calls; no logic of its own.

mod browser;
mod command_line;
mod commands;
mod documents;
mod flags;
mod leftovers;
mod output;
mod progress;
#[cfg(test)]
mod reference;
mod sheet;
mod store;

use clap::Parser;
use clap::error::ErrorKind;
use command_line::{Cli, Command};
use commands::{
    agent, campaign, cyclictest, doctor, lab, loads, plot, report, respond, run, runs, serve,
    verify,
};
use latlab_sys::signal::{self, Signal};
use std::process::ExitCode;

/// The verdict is `fail`, or `--stop-above` was reached.
const EXIT_FAIL: u8 = 1;
/// Wrong usage or input.
const EXIT_USAGE: u8 = 2;
/// Nothing could be measured.
const EXIT_CANNOT_MEASURE: u8 = 3;
/// The verdict is `inconclusive` or `invalid` where one was asked for.
const EXIT_NO_ANSWER: u8 = 4;

fn main() -> ExitCode {
    // A quota is told as a full disk is, where the signal would end us without a word.
    let _ = signal::ignore(Signal::FileSize);
    let words: Vec<_> = std::env::args_os().collect();
    if let Some(words) = cyclictest::asked(&words) {
        return exit(cyclictest::cyclictest(&words));
    }
    if words.get(1).is_some_and(|word| word == latlab_agent::KEEPER) {
        return exit(agent::keep_load());
    }
    let cli = Cli::try_parse().unwrap_or_else(|error| refuse(&error));
    let done = match cli.command {
        Command::Run(args) if args.sheet.is_asked() => campaign::campaign(&args),
        Command::Run(args) => run::run(&args),
        Command::List(args) => runs::list(&args),
        Command::Show(args) => runs::show(&args),
        Command::Report(args) => report::report(&args),
        Command::Plot(args) => plot::plot(&args),
        Command::Respond(args) => respond::respond(&args),
        Command::Agent(args) => agent::agent(&args),
        Command::Scenarios(args) => campaign::scenarios(&args),
        Command::Lab(args) => lab::lab(&args),
        Command::Loads(args) => loads::loads(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Completions(args) => {
            output::print(args.shell.script()).map(|()| ExitCode::SUCCESS)
        }
        Command::Serve(args) => serve::serve(&args),
        Command::Verify(args) => verify::verify(&args),
        // Taken above, before clap could read its options.
        Command::Cyclictest(args) => cyclictest::cyclictest(&args.words),
    };
    exit(done)
}

/// What the program ends with; an error is told.
fn exit(done: anyhow::Result<ExitCode>) -> ExitCode {
    done.unwrap_or_else(|error| {
        output::warn(format_args!("{error:#}"));
        let code = error.downcast_ref::<Exit>().map_or(EXIT_USAGE, |exit| exit.0);
        ExitCode::from(code)
    })
}

/// Help goes where it was asked for; a mistake is one line, with what clap would suggest.
fn refuse(error: &clap::Error) -> ! {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        error.exit();
    }
    let text = error.render().to_string();
    let lines = text.lines().map(|line| line.trim().trim_start_matches("error: "));
    let said = |line: &&str| !line.is_empty() && !line.starts_with("Usage:");
    let said: Vec<&str> = lines.filter(said).collect();
    output::warn(said.join("; ").replace("; For more", ". For more"));
    std::process::exit(EXIT_USAGE.into());
}

/// The exit code that an error asks for, as context of it.
#[derive(Debug, thiserror::Error)]
#[error("{1}")]
struct Exit(u8, String);
