//! The fingerprint: what identifies and explains the target.

use crate::CpuSet;
use serde::{Deserialize, Serialize};

/// What identifies and explains the machine that was measured; what could not be read is `None`.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machine {
    /// Name of the host.
    pub hostname: Option<String>,
    /// Board or system model, from the device tree or DMI.
    pub board: Option<String>,
    /// Model of the processor.
    pub cpu_model: Option<String>,
    /// Machine word of uname: `x86_64`, `aarch64`, `armv7l`.
    pub architecture: String,
    /// Kernel release.
    pub kernel: String,
    /// Kernel version line of uname.
    pub kernel_version: String,
    /// How the kernel can be preempted, as far as it says: `PREEMPT_RT`, `PREEMPT_DYNAMIC`, …
    pub preemption: Option<String>,
    /// Kernel command line.
    pub command_line: Option<String>,
    /// Hypervisor or container, where one shows.
    pub virtualisation: Option<String>,
    /// Name of the distribution.
    pub distribution: Option<String>,
    /// CPUs that are online.
    pub cpus_online: CpuSet,
    /// CPUs this program may use.
    pub cpus_allowed: CpuSet,
    /// CPUs taken out of load balancing (`isolcpus`).
    pub cpus_isolated: CpuSet,
    /// CPUs without a periodic tick (`nohz_full`).
    pub cpus_nohz_full: CpuSet,
    /// Kernel tick rate, where the configuration can be read.
    pub tick_hz: Option<u32>,
    /// Clock source in use.
    pub clocksource: Option<String>,
    /// Frequency governor of the first CPU.
    pub governor: Option<String>,
    /// `sched_rt_runtime_us`: what real-time threads may take of each second, -1 for all.
    pub rt_runtime_us: Option<i64>,
    /// Boot id.
    pub boot_id: Option<String>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Microcode or firmware version.
    pub microcode: Option<String>,
}
