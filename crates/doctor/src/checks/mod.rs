//! The catalogue, one file per topic or part of one.

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

use crate::Check;

/// All checks, in listing order.
pub const ALL: &[&[Check]] = &[
    kernel::CHECKS,
    scheduler::CHECKS,
    kernel_debug::CHECKS,
    watchdogs::CHECKS,
    command_line::CHECKS,
    timers::CHECKS,
    frequency::CHECKS,
    idle::CHECKS,
    cpu::CHECKS,
    interrupts::CHECKS,
    memory::CHECKS,
    paging::CHECKS,
    heat::CHECKS,
    raspberry::CHECKS,
    platform::CHECKS,
    rights::CHECKS,
    tracing::CHECKS,
    programs::CHECKS,
];
