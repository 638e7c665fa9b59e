//! The program `latlab`: turns flags into plans and calls; it has no other logic.

mod browser;
mod command_line;
mod commands;
mod documents;
mod exit;
mod flags;
mod leftovers;
mod load_library;
mod output;
mod progress;
// The reference describes the program with all its parts.
#[cfg(all(test, feature = "guests", feature = "pins"))]
mod reference;
mod render;
mod sheet;
mod store;
mod targets;
mod tips;

use clap::error::ErrorKind;
use clap::{ArgMatches, FromArgMatches};
use command_line::{Cli, Command, program};
use commands::{
    agent, attach, campaign, collect, compare, completions, cyclictest, doctor, explain, export,
    fleet, import, lab, loads, plan, plot, report, respond, run, runs, scenarios, serve, target,
    trend, tune, verify, watch,
};
use exit::{EXIT_CANNOT_MEASURE, EXIT_USAGE, ExitError, error_code};
use latlab_sys::memory::require_stack;
use latlab_sys::signal::{self, Signal};
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Report an exceeded quota (SIGXFSZ) like a full disk instead of dying.
    let _ = signal::ignore(Signal::FileSize);
    if let Err(limit) = require_stack() {
        let kilobytes = limit >> 10;
        output::warn(format_args!(
            "a stack of {kilobytes} kB is too small: raise the limit (ulimit -s 1024)"
        ));
        return ExitCode::from(EXIT_CANNOT_MEASURE);
    }
    let words: Vec<OsString> = std::env::args_os().collect();
    if words.first().is_some_and(|name| latlab_agent::is_agent(name)) {
        return latlab_agent::agent(words.into_iter().skip(1));
    }
    if agent::asks_for_agents(&words) {
        return exit_code_of(agent::list_agents());
    }
    let words = tips::without_help_command(words);
    if let Some(words) = cyclictest::options_of(&words) {
        return exit_code_of(cyclictest::cyclictest(&words));
    }
    if words.get(1).is_some_and(|word| word == latlab_agent::LOAD_SUPERVISOR) {
        return exit_code_of(agent::supervise_load());
    }
    let (cli, given) = parse(&words).unwrap_or_else(|error| exit_with_usage(&error, &words));
    let keeps = cli.command.keeps_its_result();
    exit_code_of(call(cli.command, &given).and_then(|code| match output::is_lost() && !keeps {
        true => Err(ExitError::cannot_measure("cannot print: standard output is closed").into()),
        false => Ok(code),
    }))
}

/// Parses the command line; `ArgMatches` tells which flags were given.
fn parse(words: &[OsString]) -> Result<(Cli, ArgMatches), clap::Error> {
    let mut program = program();
    let given = program.try_get_matches_from_mut(words)?;
    let cli = Cli::from_arg_matches(&given).map_err(|error| error.format(&mut program))?;
    Ok((cli, given))
}

fn call(command: Command, given: &ArgMatches) -> anyhow::Result<ExitCode> {
    match command {
        Command::Run(args) => match given.subcommand_matches("run") {
            Some(given) if args.sheet.is_given() => campaign::run_sheet(&args, given),
            _ => run::run(&args),
        },
        Command::Attach(args) => attach::attach(&args),
        Command::Watch(args) => watch::watch(&args),
        Command::List(args) => runs::list(&args),
        Command::Show(args) => runs::show(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Report(args) => report::report(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Trend(args) => trend::follow(&args),
        Command::Tune(args) => tune::tune(&args),
        Command::Fleet(args) => fleet::fleet(*args),
        Command::FleetRows => fleet::rows(),
        Command::FleetDraw(args) => fleet::draw(&args),
        Command::Plan(args) => plan::plan(&args),
        Command::Plot(args) => plot::plot(&args),
        Command::Respond(args) => respond::respond(&args),
        Command::Import(args) => import::import(&args),
        Command::Export(args) => export::export(&args),
        Command::Agent(args) => agent::agent(&args),
        Command::Scenarios(args) => scenarios::scenarios(&args),
        Command::Lab(args) => lab::lab(&args),
        Command::Loads(args) => loads::loads(&args),
        Command::Target(args) => target::target(&args),
        Command::Collect(args) => collect::collect(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Completions(args) => completions::completions(&args),
        Command::Serve(args) => serve::serve(&args),
        Command::Verify(args) => verify::verify(&args),
        // Handled above, before clap can interpret cyclictest's options.
        Command::Cyclictest(args) => cyclictest::cyclictest(&args.words),
    }
}

/// Prints an error and returns its exit code.
fn exit_code_of(done: anyhow::Result<ExitCode>) -> ExitCode {
    done.unwrap_or_else(|error| {
        output::warn(format_args!("{error:#}"));
        ExitCode::from(error_code(&error))
    })
}

/// Prints help to standard output; for a mistake, prints one line and what to write instead.
fn exit_with_usage(error: &clap::Error, words: &[OsString]) -> ! {
    let tip = tips::tip(error, words);
    let is_help =
        !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if tip.is_none() && is_help {
        error.exit();
    }
    output::warn(tip.unwrap_or_else(|| in_one_line(error)));
    std::process::exit(EXIT_USAGE.into());
}

/// Shortens clap's paragraph to one line.
fn in_one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines = text.lines().map(|line| line.trim().trim_start_matches("error: "));
    let said = |line: &&str| !line.is_empty() && !line.starts_with("Usage:");
    let said: Vec<&str> = lines.filter(said).collect();
    said.join("; ").replace(":; ", ": ").replace("; For more", ". For more")
}
