//! The program `latlab-agent`: the measuring half alone, small enough for any board.

use latlab_agent::Output;
use latlab_model::fault::FAULT;
use latlab_sys::files::Root;
use latlab_sys::undo::restore_from_here;
use std::fs::File;
use std::io::{stderr, stdin, stdout};
use std::os::fd::AsFd;
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

fn main() -> ExitCode {
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    // The kernel gives its first process the words of its command line that it does not know.
    let words = if std::process::id() == 1 { vec![latlab_agent::BOOT.to_string()] } else { words };
    let done = match words.join(" ").as_str() {
        latlab_agent::BOOT => latlab_agent::boot(),
        "--version" | "-V" => {
            print_text(stdout(), concat!("latlab-agent ", env!("CARGO_PKG_VERSION")))
        }
        "--restore" => {
            let restored = restore_from_here(&Root::default());
            restored.iter().try_for_each(|line| print_text(stdout(), line))
        }
        "--help" | "-h" => print_text(stdout(), HELP),
        latlab_agent::WORKER => latlab_agent::work(),
        words if words.starts_with(latlab_agent::LOAD_SUPERVISOR) => latlab_agent::supervise(),
        _ if words.len() == 2 && words[0] == FAULT => latlab_agent::inject(&words[1]),
        run if words.len() < 2 && !run.starts_with('-') => serve(),
        words => Err(format!("unknown arguments '{words}'; see latlab-agent --help")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            // Nobody may be there to read it; the exit code says it as well.
            let _ = print_text(stderr(), &format!("latlab-agent: {text}"));
            ExitCode::from(EXIT_USAGE)
        }
    }
}

/// Serves a plan. The input is not buffered, so that it can be asked whether anything waits there.
fn serve() -> Result<(), String> {
    let input = stdin().as_fd().try_clone_to_owned();
    let input = input.map_err(|error| format!("cannot read the plan: {error}"))?;
    let output = stdout().as_fd().try_clone_to_owned();
    let output = output.map_err(|error| format!("cannot write the stream: {error}"))?;
    latlab_agent::serve(File::from(input), Output::new(output))
}

fn print_text(mut to: impl std::io::Write, text: &str) -> Result<(), String> {
    writeln!(to, "{text}").map_err(|error| format!("cannot write: {error}"))
}
