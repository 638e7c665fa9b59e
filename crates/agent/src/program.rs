//! The program `latlab-agent`: the measuring half alone, small enough for any board. `latlab`
//! contains the same code.

use crate::fault;
use crate::guest::{self, BOOT, WORKER};
use crate::load::{LOAD_SUPERVISOR, supervise};
use crate::output::Output;
use latlab_model::VERSION;
use latlab_model::fault::FAULT;
use latlab_sys::files::Root;
use latlab_sys::undo::restore_from_here;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{stderr, stdin, stdout};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;

const HELP: &str = "\
latlab-agent: the measuring agent of latlab, which starts it and sends it a plan

Usage: latlab-agent [RUN]       serve one plan: frames from standard input to standard output;
                                the id of the run is shown in the list of processes
       latlab-agent --restore   restore what a killed agent left changed
       latlab-agent --version   print the version
       latlab-agent --help      print this help

`latlab agent --write MACHINE` writes the program for another machine.";

/// Wrong usage or input, as in `latlab`.
const EXIT_USAGE: u8 = 2;
/// The first process of a machine.
const FIRST: u32 = 1;

/// Whether a program of this name is the agent: the file name on a board, or the first program of a
/// guest. In a container any program may be the first process.
pub fn is_agent(name: &OsStr) -> bool {
    let name = Path::new(name).file_name().unwrap_or_default().to_string_lossy();
    let starts = ["agent-", "latlab-agent"];
    name == "init" || starts.iter().any(|it| name.starts_with(it))
}

/// Runs the agent with these arguments.
pub fn agent(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words: Vec<String> =
        words.into_iter().map(|word| word.to_string_lossy().into_owned()).collect();
    // The kernel passes unknown words of its command line to its first process.
    let words = if std::process::id() == FIRST { vec![BOOT.to_string()] } else { words };
    let done = match words.join(" ").as_str() {
        BOOT => guest::boot(),
        "--version" | "-V" => print_text(stdout(), &format!("latlab-agent {VERSION}")),
        "--restore" => {
            let restored = restore_from_here(&Root::default());
            restored.iter().try_for_each(|line| print_text(stdout(), line))
        }
        "--help" | "-h" => print_text(stdout(), HELP),
        WORKER => guest::work(),
        words if words.starts_with(LOAD_SUPERVISOR) => supervise(),
        _ if words.len() == 2 && words[0] == FAULT => fault::inject(&words[1]),
        run if words.len() < 2 && !run.starts_with('-') => serve(),
        words => Err(format!("unknown arguments '{words}'; see latlab-agent --help")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            // Standard error may be closed; the exit code reports the failure as well.
            let _ = print_text(stderr(), &format!("latlab-agent: {text}"));
            ExitCode::from(EXIT_USAGE)
        }
    }
}

/// Serves a plan. The input is unbuffered so that it can be polled for waiting data.
fn serve() -> Result<(), String> {
    let input = stdin().as_fd().try_clone_to_owned();
    let input = input.map_err(|error| format!("cannot read the plan: {error}"))?;
    let output = stdout().as_fd().try_clone_to_owned();
    let output = output.map_err(|error| format!("cannot write the stream: {error}"))?;
    crate::serve(File::from(input), Output::new(output))
}

fn print_text(mut to: impl std::io::Write, text: &str) -> Result<(), String> {
    writeln!(to, "{text}").map_err(|error| format!("cannot write: {error}"))
}
