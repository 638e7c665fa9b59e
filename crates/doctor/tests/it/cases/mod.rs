//! The cases, a file for each topic or for a part of one.

mod command_line;
mod cpu;
mod frequency;
mod heat;
mod idle;
mod interrupts;
mod kernel;
mod kernel_debug;
mod memory;
mod paging;
mod platform;
mod programs;
mod raspberry;
mod rights;
mod scheduler;
mod timers;
mod tracing;
mod watchdogs;

/// Files of a planted machine.
pub type Files = &'static [(&'static str, &'static str)];

/// What a guest without a host's time says of itself.
pub const IN_VIRTUAL_TIME: (&str, &str) = ("lab/guest", "lab:x86-64 in virtual time");

/// Where one entry appears, and where it does not.
pub struct Case {
    /// Its stable name.
    pub code: &'static str,
    /// Machines that have it.
    pub appears: &'static [Files],
    /// Machines that do not have it, or do not tell.
    pub absent: &'static [Files],
}

/// All of them.
pub const ALL: &[&[Case]] = &[
    kernel::CASES,
    scheduler::CASES,
    kernel_debug::CASES,
    watchdogs::CASES,
    command_line::CASES,
    timers::CASES,
    frequency::CASES,
    idle::CASES,
    cpu::CASES,
    interrupts::CASES,
    memory::CASES,
    paging::CASES,
    heat::CASES,
    raspberry::CASES,
    platform::CASES,
    rights::CASES,
    tracing::CASES,
    programs::CASES,
];
