//! The cases, a file for each topic.

mod cpu;
mod kernel;

use crate::Case;

/// All of them.
pub const ALL: &[&[Case]] = &[kernel::CASES, cpu::CASES];
