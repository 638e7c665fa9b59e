//! The agents for other machines that this program carries; an ordinary build carries none.

use lzma_rust2::XzReader;
use std::io::{self, Read};

/// Machine, as `uname -m` says it there, and its compressed program.
static CARRIED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/agents.rs"));

/// The machines that there is a program for, in the order of the alphabet.
pub fn architectures() -> impl Iterator<Item = &'static str> {
    CARRIED.iter().map(|(machine, _)| *machine)
}

/// The program for a machine; none where this build carries none for it.
pub fn agent_program(machine: &str) -> Option<io::Result<Vec<u8>>> {
    let (_, packed) = CARRIED.iter().find(|(name, _)| *name == machine)?;
    let mut program = Vec::new();
    Some(XzReader::new(*packed, false).read_to_end(&mut program).map(|_| program))
}

/// Why no guest of this machine can be measured; none where its program is carried.
pub fn missing_agent(machine: &str) -> Option<String> {
    let is_carried = architectures().any(|known| known == machine);
    (!is_carried).then(|| {
        format!(
            "this build has no embedded agent for {machine}, which the guest needs: build with \
             `make dist`"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Invariant (packages): The agent program speaks what latlab agent speaks.
    #[test]
    fn every_agent_that_is_carried_is_a_whole_program() {
        for machine in architectures() {
            let program = agent_program(machine).expect("it is in the list").expect("it is whole");
            assert!(program.starts_with(b"\x7fELF"), "{machine}");
        }
        assert!(architectures().is_sorted());
        assert!(agent_program("pdp11").is_none() && missing_agent("pdp11").is_some());
    }
}
