//! The agent programs: those embedded in this program (none in an ordinary build), and the program
//! itself for machines like this one.

use latlab_sys::process;
use lzma_rust2::XzReader;
use std::fs;
use std::io::{self, Read};

/// Machine, as in `uname -m` there, and the compressed program.
static CARRIED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/agents.rs"));

/// This program, which acts as an agent if started under an agent's name.
const ITSELF: &str = "/proc/self/exe";
/// Whether this program runs on other machines of its architecture, being statically linked.
const SERVES_ITSELF: bool = cfg!(target_feature = "crt-static");

/// Machines with an agent program, sorted.
pub fn architectures() -> Vec<String> {
    let mut all: Vec<String> = CARRIED.iter().map(|(machine, _)| machine.to_string()).collect();
    let own = process::uname().machine;
    if SERVES_ITSELF && !all.contains(&own) {
        all.push(own);
    }
    all.sort();
    all
}

/// The program for a machine; `None` if this build has none for it.
pub fn agent_program(machine: &str) -> Option<io::Result<Vec<u8>>> {
    let Some((_, packed)) = CARRIED.iter().find(|(name, _)| *name == machine) else {
        let is_own = SERVES_ITSELF && process::uname().machine == machine;
        return is_own.then(|| fs::read(ITSELF));
    };
    let mut program = Vec::new();
    Some(XzReader::new(*packed, false).read_to_end(&mut program).map(|_| program))
}

/// How to get a build with more agents.
pub const HOW_TO_BUILD: &str =
    "build with `make` for machines like this one, with `make dist` for others";

/// The agents of this build and how to get more: what follows "this build has no agent".
pub fn known_agents() -> String {
    let known = architectures().join(", ");
    let known = if known.is_empty() { "it has none" } else { &known };
    format!("({known}): {HOW_TO_BUILD}")
}

/// Why no guest of this machine can be measured; `None` if this build has its agent.
pub fn missing_agent(machine: &str) -> Option<String> {
    let is_known = architectures().iter().any(|known| known == machine);
    (!is_known).then(|| {
        format!("the guest needs an agent for {machine}, which this build has not: {HOW_TO_BUILD}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Invariant (packages): The agent program speaks what latlab agent speaks.
    #[test]
    fn every_agent_that_is_carried_is_a_whole_program() {
        for machine in architectures() {
            let program = agent_program(&machine).expect("it is in the list").expect("it is whole");
            assert!(program.starts_with(b"\x7fELF"), "{machine}");
        }
        assert!(architectures().is_sorted());
        let own = process::uname().machine;
        let is_carried = CARRIED.iter().any(|(machine, _)| *machine == own);
        assert_eq!(agent_program(&own).is_some(), is_carried || SERVES_ITSELF);
        assert!(agent_program("pdp11").is_none() && missing_agent("pdp11").is_some());
    }
}
