//! The catalogue, a file for each topic or for a part of one.

mod cpu;
mod frequency;
mod heat;
mod idle;
mod interrupts;
mod kernel;
mod memory;
mod paging;
mod platform;
mod raspberry;

use crate::Check;

/// All checks, in the order in which they are listed.
pub const ALL: &[&[Check]] = &[
    kernel::CHECKS,
    frequency::CHECKS,
    idle::CHECKS,
    cpu::CHECKS,
    interrupts::CHECKS,
    memory::CHECKS,
    paging::CHECKS,
    heat::CHECKS,
    raspberry::CHECKS,
    platform::CHECKS,
];
