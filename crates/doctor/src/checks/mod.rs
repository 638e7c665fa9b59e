//! The catalogue, a file for each topic.

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

use crate::Check;

/// All checks, in the order in which they are listed.
pub const ALL: &[&[Check]] = &[
    kernel::CHECKS,
    scheduler::CHECKS,
    kernel_debug::CHECKS,
    watchdogs::CHECKS,
    command_line::CHECKS,
    timers::CHECKS,
    cpu::CHECKS,
    rights::CHECKS,
    tracing::CHECKS,
    programs::CHECKS,
];
