//! The cases, a file for each topic.

mod command_line;
mod cpu;
mod kernel;
mod kernel_debug;
mod programs;
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
    cpu::CASES,
    rights::CASES,
    tracing::CASES,
    programs::CASES,
];
