//! Debugging options, hardening, and mitigations of the kernel.

use super::Case;

const PLAIN: (&str, &str) =
    ("kernel.config", "CONFIG_HZ=250\nCONFIG_SLUB_DEBUG=y\nCONFIG_HAVE_ARCH_KASAN=y");
const TAINTED: &str = "proc/sys/kernel/tainted";
const MELTDOWN: &str = "sys/devices/system/cpu/vulnerabilities/meltdown";
const SPECTRE: &str = "sys/devices/system/cpu/vulnerabilities/spectre_v1";
const SPLIT: &str = "proc/sys/kernel/split_lock_mitigate";

pub const CASES: &[Case] = &[
    Case {
        code: "debug-locks",
        appears: &[&[("kernel.config", "CONFIG_PROVE_LOCKING=y\nCONFIG_LOCKDEP=y")]],
        absent: &[&[PLAIN], &[("kernel.config", "CONFIG_LOCKDEP_SUPPORT=y")]],
    },
    Case {
        code: "debug-memory",
        appears: &[
            &[("kernel.config", "CONFIG_KASAN=y\nCONFIG_KASAN_GENERIC=y")],
            &[("kernel.config", "CONFIG_DEBUG_KMEMLEAK=y")],
        ],
        absent: &[
            &[PLAIN],
            &[("kernel.config", "CONFIG_KASAN=y\nCONFIG_KASAN_HW_TAGS=y")],
            &[("kernel.config", "CONFIG_DEBUG_KMEMLEAK=y\nCONFIG_DEBUG_KMEMLEAK_DEFAULT_OFF=y")],
        ],
    },
    Case {
        code: "debug-preemption",
        appears: &[&[("kernel.config", "CONFIG_DEBUG_PREEMPT=y")]],
        absent: &[&[PLAIN]],
    },
    Case {
        code: "debug-checks",
        appears: &[&[("kernel.config", "CONFIG_UBSAN=y\nCONFIG_UBSAN_BOUNDS=y")]],
        absent: &[&[PLAIN]],
    },
    Case {
        code: "tainted",
        appears: &[&[(TAINTED, "4097")], &[(TAINTED, "512")], &[(TAINTED, "1099511627776")]],
        absent: &[&[(TAINTED, "0")]],
    },
    Case {
        code: "mitigations",
        appears: &[
            &[(MELTDOWN, "Mitigation: PTI")],
            &[(SPECTRE, "Mitigation: usercopy/swapgs barriers and __user pointer sanitization")],
        ],
        absent: &[&[(MELTDOWN, "Not affected")], &[(MELTDOWN, "Vulnerable")]],
    },
    Case {
        code: "mitigations-off",
        appears: &[
            &[("proc/cmdline", "quiet mitigations=off"), (MELTDOWN, "Vulnerable")],
            &[("proc/cmdline", "mitigations=off")],
        ],
        absent: &[
            &[("proc/cmdline", "mitigations=auto,nosmt"), (MELTDOWN, "Mitigation: PTI")],
            &[(MELTDOWN, "Vulnerable")],
        ],
    },
    Case {
        code: "split-locks",
        appears: &[&[(SPLIT, "1")]],
        absent: &[&[(SPLIT, "0")], &[(SPLIT, "1"), ("proc/cmdline", "split_lock_detect=off")]],
    },
];
