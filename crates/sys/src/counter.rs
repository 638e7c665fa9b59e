//! The processor's time counter, if it has one.

use crate::files::Root;

/// Whether the counter has a constant rate, runs through idle states, and is the kernel's own clock
/// source; the error says what is missing.
#[cfg(target_arch = "x86_64")]
pub fn is_trusted(root: &Root) -> Result<(), String> {
    let cpus = root.read("proc/cpuinfo").unwrap_or_default();
    let flags = cpus.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    for flag in ["constant_tsc", "nonstop_tsc"] {
        if !flags.split_whitespace().any(|word| word == flag) {
            return Err(format!("the processor has no {flag}"));
        }
    }
    let source = root.read("sys/devices/system/clocksource/clocksource0/current_clocksource");
    match source.as_deref().map(str::trim) {
        Some("tsc") => Ok(()),
        Some(other) => Err(format!("the kernel's clock source is {other}")),
        None => Err("the kernel's clock source is unknown".to_string()),
    }
}

/// Whether the counter can be read; the error says why not.
#[cfg(not(target_arch = "x86_64"))]
pub fn is_trusted(_root: &Root) -> Result<(), String> {
    Err("latlab does not read the counter of this type of processor".to_string())
}

/// The time-stamp counter.
#[inline]
#[cfg(target_arch = "x86_64")]
pub fn read() -> i64 {
    // SAFETY: the instruction reads a register and touches no memory.
    unsafe { std::arch::x86_64::_rdtsc() as i64 }
}

/// CLOCK_MONOTONIC, as there is no counter.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
pub fn read() -> i64 {
    crate::clock::Clock::Monotonic.now()
}
