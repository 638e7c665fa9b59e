//! The fingerprint of a machine.

mod facts;

pub use facts::{FACTS, FactValue, MachineFact};

use crate::CpuSet;
use crate::guest::{IN_VIRTUAL_TIME, MARK};
use crate::snapshot::{Snapshot, made};
use serde::{Deserialize, Serialize};

/// The machine that was measured; fields are `None` if they could not be read.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machine {
    /// Host name.
    pub hostname: Option<String>,
    /// Board or system model, from the device tree or DMI.
    pub board: Option<String>,
    /// Processor model.
    pub cpu_model: Option<String>,
    /// Machine name from uname: `x86_64`, `aarch64`, `armv7l`.
    pub architecture: String,
    /// Kernel release.
    pub kernel: String,
    /// Kernel version line from uname.
    pub kernel_version: String,
    /// Preemption model, as far as the kernel reports it: `PREEMPT_RT`, `PREEMPT_DYNAMIC`, …
    pub preemption: Option<String>,
    /// Kernel command line.
    pub command_line: Option<String>,
    /// Hypervisor or container, if one is detected.
    pub virtualisation: Option<String>,
    /// Name of the distribution.
    pub distribution: Option<String>,
    /// Online CPUs.
    pub cpus_online: CpuSet,
    /// CPUs this program may use.
    pub cpus_allowed: CpuSet,
    /// CPUs taken out of load balancing (`isolcpus`).
    pub cpus_isolated: CpuSet,
    /// CPUs without a periodic tick (`nohz_full`).
    pub cpus_nohz_full: CpuSet,
    /// Kernel tick rate in Hz, if the configuration can be read.
    pub tick_hz: Option<u32>,
    /// Current clock source.
    pub clocksource: Option<String>,
    /// Frequency governor of the first CPU.
    pub governor: Option<String>,
    /// `sched_rt_runtime_us`: time real-time threads may take of each period; -1 for no limit.
    pub rt_runtime_us: Option<i64>,
    /// Boot id.
    pub boot_id: Option<String>,
    /// Memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// Microcode or firmware version.
    pub microcode: Option<String>,
}

impl Machine {
    /// Builds the fingerprint from the files of a snapshot; the caller supplies the CPU sets.
    pub fn from_snapshot(snapshot: &Snapshot, online: &CpuSet, allowed: &CpuSet) -> Machine {
        let text = |file: &str| snapshot.text(file).map(str::to_string);
        let set = |file: &str| snapshot.value::<CpuSet>(file).unwrap_or_default();
        let kernel = |file: &str| text(&format!("proc/sys/kernel/{file}"));
        let version = kernel("version").unwrap_or_default();
        Machine {
            hostname: kernel("hostname"),
            board: text("proc/device-tree/model").or_else(|| text("sys/class/dmi/id/product_name")),
            cpu_model: cpu_model(snapshot),
            architecture: text(made::MACHINE).unwrap_or_default(),
            kernel: kernel("osrelease").unwrap_or_default(),
            preemption: preemption(snapshot, &version),
            kernel_version: version,
            command_line: text("proc/cmdline"),
            virtualisation: virtualisation(snapshot),
            distribution: snapshot.text("etc/os-release").and_then(|text| {
                let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
                Some(name.trim_matches('"').to_string())
            }),
            cpus_online: online.clone(),
            cpus_allowed: allowed.clone(),
            cpus_isolated: set("sys/devices/system/cpu/isolated"),
            cpus_nohz_full: set("sys/devices/system/cpu/nohz_full"),
            tick_hz: config(snapshot, "HZ").and_then(|hz| hz.parse().ok()),
            clocksource: text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            governor: text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            rt_runtime_us: snapshot.value("proc/sys/kernel/sched_rt_runtime_us"),
            boot_id: text("proc/sys/kernel/random/boot_id"),
            memory_bytes: memory_bytes(snapshot),
            microcode: cpu_info(snapshot, "microcode").map(str::to_string),
        }
    }
}

/// Value of a kernel option that is set, without quotes: `config(snapshot, "HZ")`.
pub fn config<'a>(snapshot: &'a Snapshot, option: &str) -> Option<&'a str> {
    let lines = snapshot.text(made::KERNEL_CONFIG)?.lines();
    let value =
        |line: &'a str| line.strip_prefix("CONFIG_")?.strip_prefix(option)?.strip_prefix('=');
    lines.filter_map(value).next().map(|value| value.trim_matches('"'))
}

/// First occurrence of a field in `/proc/cpuinfo`.
pub fn cpu_info<'a>(snapshot: &'a Snapshot, field: &str) -> Option<&'a str> {
    snapshot.text("proc/cpuinfo")?.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == field).then(|| value.trim())
    })
}

fn cpu_model(snapshot: &Snapshot) -> Option<String> {
    let names = ["model name", "Model", "Hardware"];
    names.into_iter().find_map(|name| cpu_info(snapshot, name)).map(str::to_string)
}

fn preemption(snapshot: &Snapshot, version: &str) -> Option<String> {
    if is_realtime(snapshot) {
        return Some("PREEMPT_RT".to_string());
    }
    let word = version.split_whitespace().find(|word| word.starts_with("PREEMPT"))?;
    let mode = dynamic_mode(snapshot).filter(|_| word == "PREEMPT_DYNAMIC");
    Some(mode.map_or_else(|| word.to_string(), |mode| format!("{word} ({mode})")))
}

/// Whether any sign shows that the kernel is PREEMPT_RT. A missing sign proves nothing: mainline
/// has no /sys/kernel/realtime, and a build may use a custom version line.
pub fn is_realtime(snapshot: &Snapshot) -> bool {
    let version = version(snapshot);
    // Only PREEMPT_RT has these threads.
    let threads = snapshot.text(made::THREADS).unwrap_or_default();
    snapshot.text("sys/kernel/realtime") == Some("1")
        || is_realtime_version(version)
        || threads.lines().any(|line| line.contains("\tfifo\t") && line.contains("\tirq_work/"))
        // The configuration may be that of another kernel, so the running one takes precedence.
        || is_configured_realtime(snapshot) && !version.contains("PREEMPT_DYNAMIC")
}

/// Whether a version line says PREEMPT_RT; before 5.x the patch wrote it as two words.
pub fn is_realtime_version(version: &str) -> bool {
    let words: Vec<&str> = version.split_whitespace().collect();
    words.contains(&"PREEMPT_RT") || words.windows(2).any(|pair| pair == ["PREEMPT", "RT"])
}

/// Whether the kernel configuration has PREEMPT_RT, or the option of the patch before 5.x.
pub fn is_configured_realtime(snapshot: &Snapshot) -> bool {
    ["PREEMPT_RT", "PREEMPT_RT_FULL"].iter().any(|option| config(snapshot, option) == Some("y"))
}

/// Kernel version line; empty if unknown.
pub fn version(snapshot: &Snapshot) -> &str {
    let line = snapshot.text("proc/sys/kernel/version").or_else(|| snapshot.text("proc/version"));
    line.unwrap_or_default()
}

/// Follows `Dynamic Preempt: ` in the kernel log if the kernel refuses a mode.
pub const UNSUPPORTED_MODE: &str = "unsupported mode: ";

/// Current mode of PREEMPT_DYNAMIC, if the kernel reports it.
pub fn dynamic_mode(snapshot: &Snapshot) -> Option<&str> {
    let modes = snapshot.text("sys/kernel/debug/sched/preempt").unwrap_or_default();
    // The current mode is in parentheses among the others.
    let now = modes.split_whitespace().find_map(|mode| mode.strip_prefix(['(', '[']));
    let logged = || {
        // The second form occurs with stack traces, from 6.15 on.
        let mut lines = snapshot.text(made::KERNEL_LOG)?.lines().rev();
        lines.find_map(|line| {
            let long = line.split_once("Dynamic Preempt: ").map(|(_, mode)| mode);
            let long = long.filter(|mode| !mode.starts_with(UNSUPPORTED_MODE));
            long.or_else(|| line.split_once(" PREEMPT(")?.1.split_once(')').map(|(mode, _)| mode))
        })
    };
    now.map(|mode| mode.trim_end_matches([')', ']'])).or_else(logged).map(str::trim)
}

impl Machine {
    /// Whether a hypervisor may take time from it, as far as it can tell; in virtual time none
    /// does.
    pub fn has_hypervisor(&self) -> bool {
        self.virtualisation.as_ref().is_some_and(|words| {
            !words.starts_with("container") && !words.ends_with(IN_VIRTUAL_TIME)
        })
    }
}

fn virtualisation(snapshot: &Snapshot) -> Option<String> {
    if let Some(guest) = snapshot.text(MARK) {
        return Some(guest.to_string());
    }
    let container = [".dockerenv", "run/.containerenv", "run/systemd/container"];
    let container = container.iter().any(|file| snapshot.has(file));
    let flags = cpu_info(snapshot, "flags").unwrap_or_default();
    let guest = flags.split_whitespace().any(|flag| flag == "hypervisor");
    let guest = guest.then(|| match snapshot.text("sys/class/dmi/id/sys_vendor") {
        Some(vendor) => format!("virtual machine ({vendor})"),
        None => "virtual machine".to_string(),
    });
    match (guest, container) {
        (Some(guest), true) => Some(format!("{guest}, container")),
        (guest, false) => guest,
        (None, true) => Some("container".to_string()),
    }
}

fn memory_bytes(snapshot: &Snapshot) -> Option<u64> {
    let info = snapshot.text("proc/meminfo")?;
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(total.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024)
}
