//! `latlab agent`: serves a plan, or writes the program that does so on another machine.

use crate::exit::ExitError;
use crate::output::{print, write_whole};
use anyhow::{Context, bail};
use clap::Args;
use latlab_conduct::agents;
use latlab_sys::terminal;
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

/// What `latlab agent` does.
pub fn agent(args: &AgentArgs) -> anyhow::Result<ExitCode> {
    match &args.write {
        Some(machine) => write(machine, args.output.clone())?,
        None => latlab_agent::serve(io::stdin(), io::stdout())
            .map_err(|text| ExitError::usage(format!("agent: {text}")))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Supervises a load of a run, in a process of its own.
pub fn supervise_load() -> anyhow::Result<ExitCode> {
    latlab_agent::supervise().map_err(ExitError::usage)?;
    Ok(ExitCode::SUCCESS)
}

fn write(machine: &str, output: Option<PathBuf>) -> anyhow::Result<()> {
    let Some(program) = agents::agent_program(machine) else {
        let known: Vec<&str> = agents::architectures().collect();
        if known.is_empty() {
            bail!("this build has no embedded agents: build with `make dist`");
        }
        bail!("no agent for '{machine}'; available: {}", known.join(", "));
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
