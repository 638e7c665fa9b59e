//! Kernel options that differ, by topic.

use crate::comparison::ConfigTopic::{self, *};
use crate::comparison::{ConfigChanges, FactChange};
use latlab_model::Snapshot;
use latlab_model::snapshot::{made, name_matches};
use std::collections::{BTreeMap, BTreeSet};

/// Topics by patterns of option names. The first match decides, and within a topic earlier patterns
/// are more important.
const TOPICS: &[(ConfigTopic, &str)] = &[
    // Abilities of the architecture or the compiler, which are not chosen.
    (
        Other,
        "HAVE_* ARCH_HAS_* ARCH_HAVE_* ARCH_SUPPORTS_* ARCH_WANT* ARCH_USE* ARCH_SELECT* \
         ARCH_ENABLE* ARCH_DEFAULT* CC_HAS_* NEED_* AS_* LD_* RUSTC_* INLINE_* UNINLINE_*",
    ),
    (
        Drivers,
        "DRM* SND* USB* DVB* VIDEO* MEDIA* SENSORS_* HID* FB_* COMEDI* SCSI* MTD* I2C* SPI_* \
         PINCTRL* SERIAL* TOUCHSCREEN* INPUT* LEDS* IIO* GPIO* RTC* PATA* SATA* ATA* NVME* MMC* \
         REGULATOR* COMMON_CLK* CLK_* *CROS_* DELL* MFD* JOYSTICK* *BACKLIGHT* DEV_DAX* EFI_*",
    ),
    (
        Network,
        "NET_* NETFILTER* NFT_* NF_* IP_* IP6_* IPV6* INET* BT_* CAN* BRIDGE* MAC80211* CFG80211* \
         WLAN* RTW8* ATH* RTL* IWL* MT7* MLX* BRCM* B43*",
    ),
    (FileSystems, "*_FS *_FS_* NFS* EXT4* XFS* BTRFS* F2FS* CIFS* NLS*"),
    (
        Tracing,
        "FUNCTION_TRACER DYNAMIC_FTRACE *_TRACER *FTRACE* KPROBE* UPROBE* *PROBE_EVENTS* FPROBE* \
         TRACE* TRACING* EVENT_TRACING *TRACEPOINT* HIST_TRIGGERS RING_BUFFER* PERF_EVENTS* BPF* \
         DEBUG_INFO_BTF* LATENCYTOP",
    ),
    (Rcu, "PREEMPT_RCU RCU_* *_RCU* *SRCU*"),
    (
        Timers,
        "HZ HZ_* NO_HZ* HIGH_RES_TIMERS CONTEXT_TRACKING* *TICK* *HPET* CLOCKSOURCE* \
         *CLOCKEVENTS* *TIMER* *CPU_ACCOUNTING* *_TSC*",
    ),
    (
        Scheduling,
        "PREEMPT_RT PREEMPT* SCHED_* *GROUP_SCHED* CPUSETS* CPU_ISOLATION UCLAMP* \
         SMP NR_CPUS* NUMA_BALANCING* RT_MUTEX* *SPIN_ON_OWNER QUEUED_*LOCK* PSI* CFS_BANDWIDTH \
         FUTEX* RSEQ* HOTPLUG_*",
    ),
    (Interrupts, "IRQ_FORCED_THREADING *IRQ* *_MSI* *APIC* *_GIC* *_NMI*"),
    (
        Power,
        "CPU_FREQ* CPU_IDLE* *PSTATE* *CPUFREQ* *CPUIDLE* INTEL_IDLE PM* ACPI_PROCESSOR* *THERMAL* \
         SUSPEND* HIBERNATION* IDLE_INJECT DEVFREQ* POWERCAP* *RAPL* *SPEED_SELECT* ENERGY* \
         WQ_POWER* *UNCORE_FREQ*",
    ),
    (
        Security,
        "MITIGATION* CPU_MITIGATIONS *RETPOLINE RETHUNK PAGE_TABLE_ISOLATION SPECULATION* CPU_SRSO \
         CPU_*_ENTRY SLS CALL_* UNMAP_KERNEL_AT_EL0 INIT_ON_* INIT_STACK* *HARDENED* FORTIFY* \
         *STACKPROTECTOR* RANDOMIZE* STRICT_* SECURITY* SECCOMP* LSM* AUDIT* BUG_ON_DATA* \
         GCC_PLUGIN* *SHADOW_STACK *_IBT X86_CET* X86_SGX* IMA_* IPE_* EVM*",
    ),
    (
        Debugging,
        "PROVE_LOCKING LOCKDEP* KASAN* KCSAN* KMEMLEAK* DEBUG_* *_DEBUG *DEBUG_* KFENCE* UBSAN* \
         *LOCKUP* DETECT_HUNG* WQ_WATCHDOG *_TEST LOCK_* TEST_* *SELFTEST* PAGE_POISON* \
         SCHEDSTATS STACKDEPOT* GDB* KGDB* PRINTK* KALLSYMS* SYMBOLIC_ERRNAME *CRASH* KEXEC* \
         FAULT_INJ*",
    ),
    (
        Memory,
        "TRANSPARENT_HUGEPAGE* *COMPACT* KSM NUMA* *SWAP* LRU_GEN* MIGRATION *HUGE* SLUB* SLAB* \
         *MEMCG* CMA* PAGE_* DAMON* *ZSMALLOC* Z3FOLD* ZBUD PER_VMA_LOCK SPLIT_P* MEMORY_* \
         SPARSEMEM* FLATMEM* MMU_* PGTABLE* PTE_* HIGHMEM* BALLOON* ZONE_* THP_*",
    ),
    (
        Virtualisation,
        "HYPERVISOR_GUEST PARAVIRT* *KVM* XEN* *HYPERV* VIRTIO* VHOST* VIRT_* *_GUEST VFIO* \
         VIRTUALIZATION VMWARE*",
    ),
    (
        Network,
        "NET* TCP_* XFRM* IEEE80* VSOCK* NFC* ATM* WIRELESS* PPP* SFC* LIBERTAS* RDS* SCTP* TIPC*",
    ),
    (FileSystems, "FS_* FSCACHE* DAX QUOTA* SUNRPC* SQUASHFS* CEPH*"),
    (
        Drivers,
        "SPI *_DRV_* BATTERY* CHARGER* PHY_* PCI* W1* MISDN* FW_* PWM* IR_* RC_* KEYBOARD* MOUSE* \
         PCMCIA* EDAC* ACPI* TI_* INFINIBAND* BLK_DEV* DM_* DMA* *IOMMU* INTEL_* AMD_*",
    ),
];

/// All patterns, in order.
fn patterns() -> impl Iterator<Item = (ConfigTopic, &'static str)> {
    let of_one = |(topic, all): &'static (ConfigTopic, &'static str)| {
        all.split_whitespace().map(move |pattern| (*topic, pattern))
    };
    TOPICS.iter().flat_map(of_one)
}

/// The options that differ, by topic; `None` if either snapshot has no configuration.
pub fn changes(before: &Snapshot, after: &Snapshot) -> Option<Vec<ConfigChanges>> {
    let (before, after) = (options(before)?, options(after)?);
    let names: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
    let mut topics: BTreeMap<ConfigTopic, Vec<(usize, FactChange)>> = BTreeMap::new();
    for name in names.into_iter().filter(|name| before.get(name) != after.get(name)) {
        let value = |options: &BTreeMap<&str, &str>| options.get(name).map(|s| s.to_string());
        let what = name.to_string();
        let change = FactChange { what, before: value(&before), after: value(&after) };
        let (topic, rank) = topic(name);
        topics.entry(topic).or_default().push((rank, change));
    }
    let folded = topics.into_iter().map(|(topic, mut options)| {
        options.sort_by(|(a, x), (b, y)| (a, &x.what).cmp(&(b, &y.what)));
        let options = options.into_iter().map(|(_, change)| change).collect();
        ConfigChanges { topic, options }
    });
    Some(folded.collect())
}

/// The options that are set, with their values.
fn options(snapshot: &Snapshot) -> Option<BTreeMap<&str, &str>> {
    let lines = snapshot.text(made::KERNEL_CONFIG)?.lines();
    Some(lines.filter_map(|line| line.strip_prefix("CONFIG_")?.split_once('=')).collect())
}

/// The topic of an option, and its rank among the patterns.
fn topic(option: &str) -> (ConfigTopic, usize) {
    let found = patterns().enumerate().find(|(_, (_, pattern))| name_matches(pattern, option));
    found.map_or((Other, usize::MAX), |(rank, (topic, _))| (topic, rank))
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::snapshot::Content;

    fn kernel(options: &str) -> Snapshot {
        let mut snapshot = Snapshot::default();
        let text = options.split(' ').map(|option| format!("CONFIG_{option}")).collect::<Vec<_>>();
        let text = Content::Text(text.join("\n"));
        snapshot.files.insert(made::KERNEL_CONFIG.to_string(), text);
        snapshot
    }

    #[test]
    fn an_option_is_about_what_its_name_says() {
        for (option, about) in [
            ("PREEMPT_RT", Scheduling),
            ("PREEMPT_RCU", Rcu),
            ("NR_CPUS", Scheduling),
            ("HZ", Timers),
            ("NO_HZ_FULL", Timers),
            ("TIMERLAT_TRACER", Tracing),
            ("IRQ_FORCED_THREADING", Interrupts),
            ("CPU_FREQ_DEFAULT_GOV_PERFORMANCE", Power),
            ("TRANSPARENT_HUGEPAGE_ALWAYS", Memory),
            ("NUMA_BALANCING", Scheduling),
            ("PAGE_TABLE_ISOLATION", Security),
            ("MITIGATION_RETPOLINE", Security),
            ("PROVE_LOCKING", Debugging),
            ("DEBUG_PREEMPT", Debugging),
            ("KVM_GUEST", Virtualisation),
            ("SND_HDA_INTEL", Drivers),
            ("DRM_I915_PREEMPT_TIMEOUT_COMPUTE", Drivers),
            ("NET_SCH_FQ", Network),
            ("EXT4_FS", FileSystems),
            ("HAVE_PREEMPT_LAZY", Other),
            ("LOCALVERSION", Other),
        ] {
            assert_eq!(topic(option).0, about, "{option}");
        }
    }

    #[test]
    fn options_are_folded_by_topic_and_the_weightiest_come_first() {
        let before = kernel("HZ=250 PREEMPT_VOLUNTARY=y SND=m SCHED_CORE=y X=1");
        let after = kernel("HZ=1000 PREEMPT_RT=y SND=y X=1");
        let found = changes(&before, &after).unwrap();
        let topics: Vec<ConfigTopic> = found.iter().map(|one| one.topic).collect();
        assert_eq!(topics, [Scheduling, Timers, Drivers]);
        let names: Vec<&str> = found[0].options.iter().map(|one| one.what.as_str()).collect();
        assert_eq!(names, ["PREEMPT_RT", "PREEMPT_VOLUNTARY", "SCHED_CORE"]);
        let hz = &found[1].options[0];
        assert_eq!((hz.before.as_deref(), hz.after.as_deref()), (Some("250"), Some("1000")));
        assert_eq!(found[0].options[0].before, None, "an option that is not set");
    }

    #[test]
    fn without_the_options_of_both_nothing_is_known() {
        assert_eq!(changes(&kernel("HZ=250"), &Snapshot::default()), None);
        assert_eq!(changes(&kernel("HZ=250"), &kernel("HZ=250")), Some(Vec::new()));
    }

    #[test]
    fn no_pattern_stands_behind_one_that_takes_all_of_its_names() {
        let mut seen: Vec<&str> = Vec::new();
        for (_, pattern) in patterns() {
            let sample = pattern.replace('*', "x");
            let shadow = seen.iter().find(|earlier| name_matches(earlier, &sample));
            assert_eq!(shadow, None, "in the way of {pattern}");
            seen.push(pattern);
        }
    }
}
