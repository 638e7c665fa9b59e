//! `latlab agent`: serves a plan, or writes the program that does so on another machine.

use crate::command_line::AgentArgs;
use crate::output::{print, write_whole};
use crate::{EXIT_USAGE, Exit};
use anyhow::{Context, bail};
use latlab_conduct::agents;
use latlab_sys::terminal;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::ExitCode;

/// What `latlab agent` does.
pub fn agent(args: &AgentArgs) -> anyhow::Result<ExitCode> {
    match &args.write {
        Some(machine) => write(machine, args.output.clone())?,
        None => latlab_agent::serve(io::stdin(), io::stdout())
            .map_err(|text| Exit(EXIT_USAGE, format!("agent: {text}")))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What keeps a load of a run, in a process of its own.
pub fn keep_load() -> anyhow::Result<ExitCode> {
    latlab_agent::keep().map_err(|text| Exit(EXIT_USAGE, text))?;
    Ok(ExitCode::SUCCESS)
}

fn write(machine: &str, output: Option<PathBuf>) -> anyhow::Result<()> {
    let Some(program) = agents::program(machine) else {
        let known: Vec<&str> = agents::machines().collect();
        if known.is_empty() {
            bail!(
                "this build carries no agents for other machines: `make dist` makes one that does"
            );
        }
        bail!("there is no agent for '{machine}', only for {}", known.join(", "));
    };
    let program = program.with_context(|| format!("the agent for {machine} is damaged"))?;
    let path = output.unwrap_or_else(|| format!("latlab-agent-{machine}").into());
    if path.as_os_str() == "-" {
        if terminal::stdout_is_terminal() {
            bail!("a program is nothing for a terminal: name a file with -o");
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
