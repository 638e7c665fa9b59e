//! A snapshot of a machine: the text of its kernel files at one moment.
//!
//! The doctor judges it, every run stores it, and tests make up their own.

use crate::guest::MARK;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::str::FromStr;

/// Version of the document.
pub const SNAPSHOT_VERSION: u32 = 1;

/// Kernel files of one machine, by path without the leading slash.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Snapshot {
    /// Version of this document.
    pub snapshot: u32,
    /// Source of the snapshot if latlab did not take it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Content of each file; a path that ends with a slash is a folder, whose content is its names.
    pub files: BTreeMap<String, Content>,
}

/// Content of a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Content {
    /// Its text, trimmed.
    Text(String),
    /// The file exists but could not be read.
    Unreadable {
        /// Reason.
        unreadable: String,
    },
}

impl Default for Snapshot {
    fn default() -> Snapshot {
        Snapshot { snapshot: SNAPSHOT_VERSION, origin: None, files: BTreeMap::new() }
    }
}

/// Text that is not a snapshot this version can read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ParseSnapshotError {
    /// It does not have the form of a snapshot.
    #[error(
        "line {line} is not part of a snapshot: {reason}; expected {{\"snapshot\": 1, \"files\": \
         {{\"proc/cmdline\": \"quiet\"}}}} as `latlab doctor --save` writes it"
    )]
    Form {
        /// Line number, from 1.
        line: usize,
        /// What is wrong in this line.
        reason: String,
    },
    /// A version of the document that this program does not support.
    #[error(
        "it has version {0}, and this latlab reads version {SNAPSHOT_VERSION}: use the latlab that \
         wrote it"
    )]
    OtherVersion(u64),
}

impl ParseSnapshotError {
    fn form(error: serde_json::Error) -> ParseSnapshotError {
        let text = error.to_string();
        let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
        let reason = match reason.contains("untagged enum") {
            true => "a file is neither text nor {\"unreadable\": \"why\"}".to_string(),
            false => reason.to_string(),
        };
        ParseSnapshotError::Form { line: error.line().max(1), reason }
    }
}

#[derive(Deserialize)]
struct Version {
    snapshot: u64,
}

impl Snapshot {
    /// Parses the document.
    pub fn from_json(text: &[u8]) -> Result<Snapshot, ParseSnapshotError> {
        // The version is checked first, because everything after it may have another meaning.
        let Version { snapshot } =
            serde_json::from_slice(text).map_err(ParseSnapshotError::form)?;
        if snapshot != u64::from(SNAPSHOT_VERSION) {
            return Err(ParseSnapshotError::OtherVersion(snapshot));
        }
        serde_json::from_slice(text).map_err(ParseSnapshotError::form)
    }

    /// Files that could not be read, with the reason.
    pub fn unreadable(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, content)| match content {
            Content::Text(_) => None,
            Content::Unreadable { unreadable } => Some((path.as_str(), unreadable.as_str())),
        })
    }

    /// The text of a file; `None` if it is missing or unreadable.
    pub fn text(&self, file: &str) -> Option<&str> {
        match self.files.get(file)? {
            Content::Text(text) => Some(text),
            Content::Unreadable { .. } => None,
        }
    }

    /// Parses the text of a file.
    pub fn value<T: FromStr>(&self, file: &str) -> Option<T> {
        self.text(file)?.parse().ok()
    }

    /// Whether the file exists, readable or not.
    pub fn has(&self, file: &str) -> bool {
        self.files.contains_key(file)
    }

    /// Whether it holds lines of a log that its kernel shows only to root.
    pub fn is_restricted(&self) -> bool {
        let lines = self.text(made::KERNEL_LOG).unwrap_or_default();
        !lines.is_empty() && self.text("proc/sys/kernel/dmesg_restrict") == Some("1")
    }

    /// Whether any file below this folder was readable and is not empty.
    pub fn has_folder(&self, folder: &str) -> bool {
        let below =
            self.files.range(folder.to_string()..).take_while(|(p, _)| p.starts_with(folder));
        below.into_iter().any(|(_, content)| matches!(content, Content::Text(t) if !t.is_empty()))
    }

    /// The names in a folder, whose path must end with a slash.
    pub fn names(&self, folder: &str) -> impl Iterator<Item = &str> {
        self.text(folder).unwrap_or_default().lines()
    }

    /// All readable files that match a pattern, sorted naturally.
    pub fn matching(&self, pattern: &str) -> Vec<(&str, &str)> {
        let fitting = self.files.iter().filter(|(path, _)| matches_pattern(pattern, path));
        let mut found: Vec<(&str, &str)> = fitting
            .filter_map(|(path, content)| match content {
                Content::Text(text) => Some((path.as_str(), text.as_str())),
                Content::Unreadable { .. } => None,
            })
            .collect();
        found.sort_by_key(|(path, _)| in_order_of_numbers(path));
        found
    }
}

/// Sort key that places `cpu10` after `cpu9`.
fn in_order_of_numbers(path: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (text, after) = rest.split_at(digits);
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let (number, after) = after.split_at(end);
        parts.push((text.to_string(), number.parse().unwrap_or(u64::MAX)));
        rest = after;
    }
    parts
}

/// Whether a path matches a pattern, in which each `*` stands for a part of one name.
pub fn matches_pattern(pattern: &str, path: &str) -> bool {
    let (mut names, mut wanted) = (path.split('/'), pattern.split('/'));
    loop {
        match (wanted.next(), names.next()) {
            (None, None) => return true,
            (Some(wanted), Some(name)) if name_matches(wanted, name) => {}
            _ => return false,
        }
    }
}

/// Whether a single name matches a pattern with any number of `*`.
pub fn name_matches(pattern: &str, name: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(head) else { return false };
    let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
    ends.into_iter().any(|at| name_matches(tail, &rest[at..]))
}

/// Entries of a snapshot that are not kernel files; whatever takes the snapshot creates them.
pub mod made {
    /// Kernel options that are set, one per line: `CONFIG_HZ=250`.
    pub const KERNEL_CONFIG: &str = "kernel.config";
    /// Lines of the kernel log that matter for timing: see [`super::LOG_WORDS`].
    pub const KERNEL_LOG: &str = "kernel.log";
    /// Real-time threads and known daemons, one per line, tab-separated: id, policy, priority, last
    /// CPU, allowed CPUs, name.
    pub const THREADS: &str = "threads";
    /// Machine name from uname.
    pub const MACHINE: &str = "uname.machine";
    /// Interrupt coalescing of network interfaces that are up, one per line, tab-separated: name,
    /// driver, `rx-usecs`, `adaptive-rx` as `on` or `off`.
    pub const COALESCING: &str = "ethtool.coalescing";
    /// Output of `vcgencmd get_throttled` on a Raspberry Pi.
    pub const THROTTLED: &str = "vcgencmd.get_throttled";
    /// Output of `vcgencmd measure_temp` on a Raspberry Pi.
    pub const GPU_TEMPERATURE: &str = "vcgencmd.measure_temp";
}

/// A kernel log line that contains one of these, in any case, is kept.
pub const LOG_WORDS: &[&str] = &[
    "preempt",
    "throttl",
    "clocksource",
    "tsc:",
    "tsc found",
    "no_hz",
    "hpet",
    "voltage",
    "rcu: ",
    "nohz",
    "isolcpus",
    "hardlockup",
    "lockup",
    "microcode",
    "idle:",
    "mwait",
    "edac",
    "mce:",
    "hypervisor",
    "kvm-clock",
    "dwc_otg",
    "temperature",
    "sched:",
    "sched_clock",
    "nmi watchdog",
    "hung_task",
    "blocked for more than",
    "housekeeping:",
    "unknown kernel command line",
    "interrupt took too long",
];

/// Daemons that move, wake or slow other threads, by prefix of their names.
pub const DAEMONS: &[&str] = &[
    "irqbalance",
    "thermald",
    "tuned",
    "tlp",
    "auto-cpufreq",
    "power-profiles-",
    "rtkit-daemon",
    "ksmd",
    "kswapd",
    "khugepaged",
    "packagekitd",
    "unattended-upgr",
    "updatedb",
    "fwupd",
    "snapd",
    "systemd-oomd",
    "earlyoom",
    "chronyd",
    "ntpd",
    "systemd-timesyn",
    "ptp4l",
    "phc2sys",
];

/// Configuration files, by which two snapshots are compared.
pub const SETTINGS: &[&str] = &[
    made::COALESCING,
    made::KERNEL_CONFIG,
    made::MACHINE,
    "boot/config.txt",
    "boot/firmware/config.txt",
    "etc/os-release",
    "etc/rpi-issue",
    "etc/security/limits.conf",
    "etc/security/limits.d/*.conf",
    MARK,
    ".dockerenv",
    "run/.containerenv",
    "run/systemd/container",
    "proc/cmdline",
    "proc/device-tree/compatible",
    "proc/device-tree/model",
    "proc/irq/*/smp_affinity_list",
    "proc/irq/default_smp_affinity",
    "proc/self/cgroup",
    "proc/self/limits",
    "proc/sys/kernel/*",
    "proc/sys/net/core/netdev_budget",
    "proc/sys/vm/*",
    "proc/version",
    "sys/bus/gpio/devices/",
    "sys/bus/platform/drivers/*busfreq*/*busfreq*/enable",
    "sys/class/devfreq/*/governor",
    "sys/class/dmi/id/bios_date",
    "sys/class/dmi/id/bios_version",
    "sys/class/dmi/id/product_name",
    "sys/class/dmi/id/sys_vendor",
    "sys/class/hwmon/hwmon*/name",
    "sys/class/hwmon/hwmon*/temp*_crit",
    "sys/class/hwmon/hwmon*/temp*_label",
    "sys/class/net/*/queues/rx-*/rps_cpus",
    "sys/class/thermal/thermal_zone*/policy",
    "sys/class/thermal/thermal_zone*/trip_point_*_temp",
    "sys/class/thermal/thermal_zone*/trip_point_*_type",
    "sys/class/thermal/thermal_zone*/type",
    "sys/devices/cpu_atom/cpus",
    "sys/devices/cpu_core/cpus",
    "sys/devices/system/clockevents/clockevent*/current_device",
    "sys/devices/system/clocksource/clocksource0/available_clocksource",
    "sys/devices/system/clocksource/clocksource0/current_clocksource",
    "sys/devices/system/cpu/amd_pstate/status",
    "sys/devices/system/cpu/cpu*/cpu_capacity",
    "sys/devices/system/cpu/cpu*/cpufreq/cpuinfo_max_freq",
    "sys/devices/system/cpu/cpu*/cpufreq/cpuinfo_min_freq",
    "sys/devices/system/cpu/cpu*/cpufreq/energy_performance_preference",
    "sys/devices/system/cpu/cpu*/cpufreq/scaling_available_governors",
    "sys/devices/system/cpu/cpu*/cpufreq/scaling_driver",
    "sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
    "sys/devices/system/cpu/cpu*/cpufreq/scaling_max_freq",
    "sys/devices/system/cpu/cpu*/cpufreq/scaling_min_freq",
    "sys/devices/system/cpu/cpu*/cpuidle/state*/disable",
    "sys/devices/system/cpu/cpu*/cpuidle/state*/latency",
    "sys/devices/system/cpu/cpu*/cpuidle/state*/name",
    "sys/devices/system/cpu/cpu*/power/pm_qos_resume_latency_us",
    "sys/devices/system/cpu/cpu*/topology/thread_siblings_list",
    "sys/devices/system/cpu/cpufreq/boost",
    "sys/devices/system/cpu/cpuidle/current_driver",
    "sys/devices/system/cpu/cpuidle/current_governor",
    "sys/devices/system/cpu/cpuidle/current_governor_ro",
    "sys/devices/system/cpu/intel_pstate/max_perf_pct",
    "sys/devices/system/cpu/intel_pstate/min_perf_pct",
    "sys/devices/system/cpu/intel_pstate/no_turbo",
    "sys/devices/system/cpu/intel_pstate/status",
    "sys/devices/system/cpu/isolated",
    "sys/devices/system/cpu/nohz_full",
    "sys/devices/system/cpu/offline",
    "sys/devices/system/cpu/online",
    "sys/devices/system/cpu/possible",
    "sys/devices/system/cpu/present",
    "sys/devices/system/cpu/smt/active",
    "sys/devices/system/cpu/smt/control",
    "sys/devices/system/cpu/vulnerabilities/*",
    "sys/devices/system/machinecheck/machinecheck0/check_interval",
    "sys/devices/system/machinecheck/machinecheck0/ignore_ce",
    "sys/devices/system/node/online",
    "sys/devices/virtual/workqueue/cpumask",
    "sys/devices/virtual/workqueue/writeback/cpumask",
    "sys/fs/cgroup/cgroup.controllers",
    "sys/fs/cgroup/cgroup.subtree_control",
    "sys/fs/cgroup/cpu/cpu.rt_runtime_us",
    "sys/fs/cgroup/cpuset.cpus.isolated",
    "sys/hypervisor/type",
    "sys/kernel/debug/sched/base_slice_ns",
    "sys/kernel/debug/sched/fair_server/cpu*/period",
    "sys/kernel/debug/sched/fair_server/cpu*/runtime",
    "sys/kernel/debug/sched/migration_cost_ns",
    "sys/kernel/debug/sched/nr_migrate",
    "sys/kernel/debug/sched/preempt",
    "sys/kernel/debug/tracing/available_tracers",
    "sys/kernel/mm/ksm/run",
    "sys/kernel/mm/lru_gen/enabled",
    "sys/kernel/mm/transparent_hugepage/defrag",
    "sys/kernel/mm/transparent_hugepage/enabled",
    "sys/kernel/mm/transparent_hugepage/khugepaged/defrag",
    "sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs",
    "sys/kernel/profiling",
    "sys/kernel/rcu_expedited",
    "sys/kernel/rcu_normal",
    "sys/kernel/realtime",
    "sys/kernel/tracing/available_tracers",
    "sys/kernel/tracing/current_tracer",
    "sys/module/dwc_otg/parameters/*",
    "sys/module/i915/parameters/enable_dc",
    "sys/module/i915/parameters/enable_psr",
    "sys/module/i915/parameters/enable_rc6",
    "sys/module/intel_idle/parameters/max_cstate",
    "sys/module/processor/parameters/max_cstate",
    "sys/module/rcutree/parameters/*",
    "sys/module/workqueue/parameters/power_efficient",
    "sys/module/zswap/parameters/enabled",
];

/// Files that match a pattern but are never read, because reading them makes every CPU work or has
/// side effects.
pub const AVOIDED: &[&str] = &[
    "proc/sys/kernel/ns_last_pid",
    "proc/sys/vm/compact_memory",
    "proc/sys/vm/drop_caches",
    "proc/sys/vm/stat_refresh",
];

/// Files that show the current activity.
pub const STATE: &[&str] = &[
    made::GPU_TEMPERATURE,
    made::KERNEL_LOG,
    made::THREADS,
    made::THROTTLED,
    "proc/cpuinfo",
    "proc/interrupts",
    "proc/loadavg",
    "proc/meminfo",
    "proc/modules",
    "proc/self/status",
    "proc/stat",
    "proc/swaps",
    "proc/sys/kernel/random/boot_id",
    "proc/uptime",
    "sys/class/hwmon/hwmon*/in*_lcrit_alarm",
    "sys/class/hwmon/hwmon*/temp*_input",
    "sys/class/thermal/cooling_device*/cur_state",
    "sys/class/thermal/cooling_device*/type",
    "sys/class/thermal/thermal_zone*/temp",
    "sys/devices/platform/soc/soc:firmware/get_throttled",
    "sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq",
    "sys/devices/system/cpu/cpu*/thermal_throttle/core_throttle_count",
    "sys/devices/system/cpu/cpu*/thermal_throttle/package_throttle_count",
];
