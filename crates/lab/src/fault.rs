//! The kernel module that keeps a guest's interrupts off.

use crate::module::Module;

/// The module.
pub const IRQS_OFF: Module<'_> =
    Module { name: "irqs_off", source: include_str!("../module/irqs_off.c") };
