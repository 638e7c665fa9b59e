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

use crate::Case;

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
