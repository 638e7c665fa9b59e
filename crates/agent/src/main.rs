//! The agent alone, for boards and guests.

use std::process::ExitCode;

fn main() -> ExitCode {
    latlab_agent::agent(std::env::args_os().skip(1))
}
