//! The agents for machines: those that this program carries, which an ordinary build does not, and
//! for machines like this one the program itself.

use latlab_sys::process;
use lzma_rust2::XzReader;
use std::fs;
use std::io::{self, Read};

/// Machine, as `uname -m` says it there, and its compressed program.
static CARRIED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/agents.rs"));

/// This program, which is an agent under the name of one.
const ITSELF: &str = "/proc/self/exe";
/// The segment of an ELF file that names the loader which it needs.
const NEEDS_LOADER: u32 = 3;

/// The machines that there is a program for, in the order of the alphabet.
pub fn architectures() -> Vec<String> {
    let mut all: Vec<String> = CARRIED.iter().map(|(machine, _)| machine.to_string()).collect();
    let own = process::uname().machine;
    if !all.contains(&own) && serves_itself() {
        all.push(own);
    }
    all.sort();
    all
}

/// Whether this program runs on other machines as well: it needs no library of this one.
fn serves_itself() -> bool {
    let mut head = [0; HEAD];
    let read = fs::File::open(ITSELF).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && is_static(&head).unwrap_or(false)
}

/// Bytes of a program that hold its head and the list of its segments.
const HEAD: usize = 4096;

/// Whether an ELF file names no loader, by its segments; none where the bytes do not say it.
fn is_static(elf: &[u8]) -> Option<bool> {
    let number = |at: usize, bytes: usize| {
        let bytes = elf.get(at..at + bytes)?.iter().rev();
        Some(bytes.fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte)) as usize)
    };
    let is_wide = *elf.get(4)? == 2;
    let (table, size, count) = match is_wide {
        true => (number(32, 8)?, number(54, 2)?, number(56, 2)?),
        false => (number(28, 4)?, number(42, 2)?, number(44, 2)?),
    };
    let mut kinds = (0..count).map(|at| number(table + at * size, 4));
    let needs_loader = kinds.any(|kind| kind.is_none_or(|kind| kind as u32 == NEEDS_LOADER));
    elf.starts_with(b"\x7fELF").then_some(!needs_loader)
}

/// The program for a machine; none where there is none for it.
pub fn agent_program(machine: &str) -> Option<io::Result<Vec<u8>>> {
    let Some((_, packed)) = CARRIED.iter().find(|(name, _)| *name == machine) else {
        let is_own = process::uname().machine == machine && serves_itself();
        return is_own.then(|| fs::read(ITSELF));
    };
    let mut program = Vec::new();
    Some(XzReader::new(*packed, false).read_to_end(&mut program).map(|_| program))
}

/// How a program with more agents is had.
pub const HOW_TO_BUILD: &str =
    "build with `make` for machines like this one, with `make dist` for others";

/// Why no guest of this machine can be measured; none where its program is carried.
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
        // What cargo builds for tests needs the loader of this machine.
        assert_eq!(is_static(&fs::read("/bin/sh").unwrap()), Some(false));
        assert_eq!(is_static(b"#!/bin/sh"), None);
        assert!(agent_program("pdp11").is_none() && missing_agent("pdp11").is_some());
    }
}
