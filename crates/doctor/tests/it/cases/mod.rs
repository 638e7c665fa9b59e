//! The cases, one file per topic or part of one.

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

/// Files of a test machine.
pub type Files = &'static [(&'static str, &'static str)];

/// How a guest in virtual time identifies itself.
pub const IN_VIRTUAL_TIME: (&str, &str) = ("lab/guest", "lab:x86-64 in virtual time");

/// Where a check must report, and where it must not.
pub struct Case {
    pub code: &'static str,
    /// Machines with the condition.
    pub appears: &'static [Files],
    /// Machines without it, or without the information.
    pub absent: &'static [Files],
}

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
