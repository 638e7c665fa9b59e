//! Frequency, idle states, siblings, isolation.

use crate::Case;

pub const CASES: &[Case] = &[Case {
    code: "governor",
    appears: &[&[
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance"),
        ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "schedutil"),
    ]],
    absent: &[&[("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance")]],
}];
