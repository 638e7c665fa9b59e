//! Tick, clock source and timers.

use super::{Case, IN_VIRTUAL_TIME};

const CLOCKSOURCE: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";
const AVAILABLE: &str = "sys/devices/system/clocksource/clocksource0/available_clocksource";
const DEVICE: &str = "sys/devices/system/clockevents/clockevent0/current_device";
const USUAL: (&str, &str) = (
    "kernel.config",
    "CONFIG_NO_HZ_IDLE=y\nCONFIG_HIGH_RES_TIMERS=y\nCONFIG_HZ_250=y\nCONFIG_HZ=250",
);
const MIGRATION: &str = "proc/sys/kernel/timer_migration";
const TICKLESS: (&str, &str) = ("sys/devices/system/cpu/nohz_full", "2-3");

pub const CASES: &[Case] = &[
    Case {
        code: "no-high-resolution-timers",
        appears: &[
            &[("kernel.config", "CONFIG_HZ_PERIODIC=y\nCONFIG_HZ=100")],
            &[("proc/cmdline", "quiet highres=off"), USUAL],
        ],
        absent: &[&[USUAL], &[("proc/cmdline", "highres=on")]],
    },
    Case {
        code: "tick-rate",
        appears: &[&[("kernel.config", "CONFIG_HIGH_RES_TIMERS=y\nCONFIG_HZ=1000")]],
        absent: &[&[USUAL], &[("kernel.config", "CONFIG_HIGH_RES_TIMERS=y")]],
    },
    Case {
        code: "tick-always",
        appears: &[
            &[("proc/cmdline", "nohz=off")],
            &[("kernel.config", "CONFIG_HZ_PERIODIC=y\nCONFIG_HIGH_RES_TIMERS=y")],
        ],
        absent: &[&[("proc/cmdline", "nohz=on"), USUAL]],
    },
    Case {
        code: "nohz-full-unsupported",
        appears: &[
            &[("proc/cmdline", "nohz_full=2-3"), USUAL],
            &[(
                "kernel.log",
                "[    0.000000] Housekeeping: nohz unsupported. Build with CONFIG_NO_HZ_FULL",
            )],
        ],
        absent: &[
            &[("proc/cmdline", "nohz_full=2-3"), ("kernel.config", "CONFIG_NO_HZ_FULL=y")],
            &[("proc/cmdline", "nohz_full=2-3")],
            &[("proc/cmdline", "quiet"), USUAL],
        ],
    },
    Case {
        code: "slow-clocksource",
        appears: &[
            &[(CLOCKSOURCE, "hpet"), (AVAILABLE, "hpet acpi_pm")],
            &[(CLOCKSOURCE, "acpi_pm"), (AVAILABLE, "tsc hpet acpi_pm")],
            &[(CLOCKSOURCE, "jiffies")],
        ],
        absent: &[
            &[(CLOCKSOURCE, "tsc"), (AVAILABLE, "tsc hpet acpi_pm")],
            &[(CLOCKSOURCE, "arch_sys_counter"), (AVAILABLE, "arch_sys_counter")],
        ],
    },
    Case {
        code: "clocksource-forced",
        appears: &[
            &[("proc/cmdline", "clocksource=hpet")],
            &[("proc/cmdline", "tsc=unstable")],
            &[("proc/cmdline", "quiet notsc")],
        ],
        absent: &[&[("proc/cmdline", "clocksource=tsc tsc=reliable")]],
    },
    Case {
        code: "tsc-unstable",
        appears: &[
            &[(
                "kernel.log",
                "[    0.421553] tsc: Marking TSC unstable due to check_tsc_sync_source failed",
            )],
            &[(
                "kernel.log",
                "[  112.003913] clocksource: timekeeping watchdog on CPU1: Marking clocksource \
                 'tsc' as unstable because the skew is too large:",
            )],
        ],
        absent: &[
            &[("kernel.log", "[    1.602118] clocksource: Switched to clocksource tsc")],
            &[("kernel.log", "[    0.000000] tsc: Marking TSC unstable due to boot parameter")],
        ],
    },
    Case {
        code: "guest-clock",
        appears: &[&[(CLOCKSOURCE, "kvm-clock"), (AVAILABLE, "kvm-clock tsc acpi_pm")]],
        absent: &[
            &[(CLOCKSOURCE, "tsc"), (AVAILABLE, "kvm-clock tsc acpi_pm")],
            &[(CLOCKSOURCE, "kvm-clock"), (AVAILABLE, "kvm-clock tsc acpi_pm"), IN_VIRTUAL_TIME],
        ],
    },
    Case {
        code: "timer-migration",
        appears: &[&[(MIGRATION, "1"), TICKLESS]],
        absent: &[
            &[(MIGRATION, "0"), TICKLESS],
            &[(MIGRATION, "1"), ("sys/devices/system/cpu/isolated", "2-3")],
        ],
    },
    Case {
        code: "shared-timer-device",
        appears: &[&[(DEVICE, "hpet")]],
        absent: &[&[(DEVICE, "lapic-deadline")], &[(DEVICE, "arch_sys_timer")]],
    },
];
