//! The catalogue, a file for each topic.

mod cpu;
mod kernel;

use crate::Check;

/// All checks, in the order in which they are listed.
pub const ALL: &[&[Check]] = &[kernel::CHECKS, cpu::CHECKS];
