//! `latlab agent`: serves a plan, or writes the agent program for another machine.

use crate::exit::ExitError;
use crate::output::{print, write_whole};
use anyhow::{Context, bail};
use clap::Args;
use latlab_conduct::agents;
use latlab_sys::terminal;
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::ExitCode;

/// Flags of `latlab agent`.
#[derive(Args)]
#[command(after_help = AGENT_EXAMPLES)]
pub struct AgentArgs {
    /// Id of the run, shown in the list of processes
    pub run: Option<String>,
    /// Write the agent for this machine type (`uname -m`): aarch64, armv7l, x86_64
    #[arg(long, value_name = "MACHINE")]
    pub write: Option<String>,
    /// The program to write, - for standard output [default: latlab-agent-MACHINE]
    #[arg(short, long, value_name = "FILE", requires = "write")]
    pub output: Option<PathBuf>,
}

const AGENT_EXAMPLES: &str = "\
Examples:
  latlab agent --write aarch64 -o latlab-agent      the agent program, for a 64-bit board

Without --write it reads a plan from standard input and writes the stream of a run to standard
output. `latlab run` starts it this way; there is no other use for it.";

pub fn agent(args: &AgentArgs) -> anyhow::Result<ExitCode> {
    match &args.write {
        Some(machine) => write(machine, args.output.clone())?,
        None => latlab_agent::serve(io::stdin(), io::stdout())
            .map_err(|text| ExitError::usage(format!("agent: {text}")))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether the command line asks for the version and the agents that this program carries.
pub fn asks_for_agents(words: &[OsString]) -> bool {
    let is = |at: usize, names: [&str; 2]| {
        words.get(at).is_some_and(|it| names.iter().any(|name| it == name))
    };
    words.len() == 3 && is(1, ["--version", "-V"]) && is(2, ["--verbose", "-v"])
}

/// Prints the version and the architectures that this program carries an agent for.
pub fn list_agents() -> anyhow::Result<ExitCode> {
    let machines = agents::architectures();
    let agents = match machines.is_empty() {
        true => format!("none; {}", agents::HOW_TO_BUILD),
        false => machines.join(", "),
    };
    print(&format!("latlab {}\nagents: {agents}\n", latlab_model::VERSION))?;
    Ok(ExitCode::SUCCESS)
}

/// Supervises one load of a run, in a separate process.
pub fn supervise_load() -> anyhow::Result<ExitCode> {
    latlab_agent::supervise().map_err(ExitError::usage)?;
    Ok(ExitCode::SUCCESS)
}

fn write(machine: &str, output: Option<PathBuf>) -> anyhow::Result<()> {
    let Some(program) = agents::agent_program(machine) else {
        bail!("this build has no agent for '{machine}' {}", agents::known_agents());
    };
    let program = program.with_context(|| format!("the agent for {machine} is damaged"))?;
    let path = output.unwrap_or_else(|| format!("latlab-agent-{machine}").into());
    if path.as_os_str() == "-" {
        if terminal::stdout_is_terminal() {
            bail!("refusing to write a program to a terminal: name a file with -o");
        }
        let mut out = io::stdout().lock();
        return out
            .write_all(&program)
            .and_then(|()| out.flush())
            .context("cannot write to standard output");
    }
    write_whole(&path, &program)?;
    if path.is_file() {
        fs::set_permissions(&path, Permissions::from_mode(0o755))
            .with_context(|| format!("cannot make {} executable", path.display()))?;
    }
    print(&format!("{}\n", path.display()))
}
