//! The program `latlab`: flags to plan to calls; no logic of its own.

mod args;
mod doctor;
mod live;
mod run;
mod runs;
mod screen;

use args::{Cli, Command};
use clap::Parser;
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
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Run(args) => run::run(&args),
        Command::List(args) => runs::list(&args),
        Command::Show(args) => runs::show(&args),
        Command::Report(args) => runs::report(&args),
        Command::Agent(_) => agent(),
        Command::Doctor(args) => doctor::doctor(&args),
    };
    done.unwrap_or_else(|error| {
        runs::warn(format_args!("{error:#}"));
        let code = error.downcast_ref::<Exit>().map_or(EXIT_USAGE, |exit| exit.0);
        ExitCode::from(code)
    })
}

/// The exit code that an error asks for, as context of it.
#[derive(Debug, thiserror::Error)]
#[error("{1}")]
struct Exit(u8, String);

fn agent() -> anyhow::Result<ExitCode> {
    latlab_agent::serve(std::io::stdin(), std::io::stdout())
        .map_err(|text| Exit(EXIT_USAGE, format!("agent: {text}")))?;
    Ok(ExitCode::SUCCESS)
}
