//! The cases, a file for each topic or for a part of one.

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

use crate::Case;

/// All of them.
pub const ALL: &[&[Case]] = &[
    kernel::CASES,
    frequency::CASES,
    idle::CASES,
    cpu::CASES,
    interrupts::CASES,
    memory::CASES,
    paging::CASES,
    heat::CASES,
    raspberry::CASES,
    platform::CASES,
];
