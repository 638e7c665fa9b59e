//! Swap, free memory, nodes, memory statistics and writeback.

use crate::check::{Check, Observation};
use crate::effect::{Effect, SECOND, acts, ms, us};
use crate::facts::Facts;
use latlab_model::CpuSet;
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;
use latlab_model::shell::Line;

pub const CHECKS: &[Check] = &[
    Check {
        code: "swap",
        severity: Severity::Info,
        topic: Topic::Memory,
        effect: Effect::NONE,
        title: "memory may be swapped out",
        why: "If a program touches a page that was swapped out, the kernel reads it back or \
              unpacks it from zram, unless the program has locked its memory.",
        cost: "tens of microseconds from zram, up to tens of milliseconds from a disk or SD card",
        remedy: Some("swapoff -a"),
        undo: Some("swapon -a"),
        observe: swap,
    },
    Check {
        code: "low-memory",
        severity: Severity::Warning,
        topic: Topic::Memory,
        effect: acts(us(100), SECOND),
        title: "memory is nearly full",
        why: "A program that allocates memory must first free some, and program code is dropped \
              and read from disk again.",
        cost: "milliseconds for the program that allocates; at the limit the kernel kills a \
               program",
        remedy: Some(
            "ps -eo rss,comm --sort=-rss | head, and stop the programs that are not \
                      needed",
        ),
        undo: None,
        observe: low_memory,
    },
    Check {
        code: "zswap",
        severity: Severity::Info,
        topic: Topic::Memory,
        effect: Effect::NONE,
        title: "pages are compressed before they are swapped out",
        why: "A CPU compresses and decompresses pages within the page fault of the program that \
              needs them.",
        cost: "a few to tens of microseconds for each page, if there is swap",
        remedy: Some("echo N | tee {file}"),
        undo: Some("echo {value} | tee {file}"),
        observe: zswap,
    },
    Check {
        code: "numa-balancing",
        severity: Severity::Warning,
        topic: Topic::Memory,
        effect: acts(us(5), ms(5)),
        title: "the kernel moves memory between nodes",
        why: "To learn who uses a page, the kernel unmaps it from time to time, so the next \
              access is a page fault and may move the page.",
        cost: "about a microsecond for each such fault, tens of microseconds if the page is moved",
        remedy: Some("sysctl -w kernel.numa_balancing=0"),
        undo: Some("sysctl -w kernel.numa_balancing={value}"),
        observe: numa_balancing,
    },
    Check {
        code: "numa-nodes",
        severity: Severity::Info,
        topic: Topic::Memory,
        effect: Effect::NONE,
        title: "memory is spread over several nodes",
        why: "Accesses to the memory of another node take longer, so results depend on where a \
              program runs and where its memory is.",
        cost: "often 1.5 to 2 times the access time of local memory",
        remedy: Some("numactl --cpunodebind=0 --membind=0 PROGRAM"),
        undo: None,
        observe: numa_nodes,
    },
    Check {
        code: "statistics-interval",
        severity: Severity::Info,
        topic: Topic::Memory,
        effect: Effect::NONE,
        title: "isolated CPUs update memory statistics every second",
        why: "A kernel worker runs on each CPU whose counters changed; before Linux 6.5 also on \
              isolated CPUs.",
        cost: "a few microseconds once a second, for threads without a real-time priority",
        remedy: Some("sysctl -w vm.stat_interval=120"),
        undo: Some("sysctl -w vm.stat_interval={value}"),
        observe: statistics_interval,
    },
    Check {
        code: "dirty-memory",
        severity: Severity::Info,
        topic: Topic::Memory,
        effect: Effect::NONE,
        title: "much data may wait to be written to disk",
        why: "When this limit is reached, every program that writes must wait until the disk has \
              written some data.",
        cost: "up to seconds for a thread that writes to a file; none for others",
        remedy: Some("sysctl -w vm.dirty_ratio=20"),
        undo: Some("sysctl -w vm.dirty_ratio={value}"),
        observe: dirty_memory,
    },
];

/// Memory is low when this percentage is left.
const LOW_PERCENT: u64 = 10;
/// Share of memory from which the limit for dirty pages is high; the kernel's default is 20.
const MUCH_DIRTY_PERCENT: i64 = 40;

/// A line of /proc/swaps.
struct Swap<'a> {
    file: &'a str,
    used_kb: u64,
    priority: i64,
}

impl<'a> Swap<'a> {
    fn parse(line: &'a str) -> Option<Swap<'a>> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [file, _, _, used, priority] = words[..] else { return None };
        Some(Swap { file, used_kb: used.parse().ok()?, priority: priority.parse().ok()? })
    }

    /// The command that enables it again; the kernel itself assigns negative priorities.
    fn on(&self) -> Line {
        let priority = Some(self.priority.to_string()).filter(|_| self.priority >= 0);
        Line::new("swapon").option("-p", priority).operand(self.file)
    }
}

fn swap(facts: &Facts<'_>) -> Option<Observation> {
    let file = "proc/swaps";
    let swaps: Vec<Swap<'_>> = facts.text(file)?.lines().filter_map(Swap::parse).collect();
    let first = swaps.first()?;
    let used: u64 = swaps.iter().map(|swap| swap.used_kb).sum();
    let names = swaps.iter().map(|swap| swap.file).collect::<Vec<_>>().join(" ");
    let off = Line::new("swapoff").operands(swaps.iter().map(|swap| swap.file));
    let on = swaps.iter().map(Swap::on).reduce(|all, next| all.then("; ", &next))?;
    let kind = if first.file.contains("zram") { ", compressed in memory" } else { "" };
    let text = format!("Swap is on ({names}{kind}), with {used} KiB in use.");
    let seen = Observation::new(file, format!("{used} KiB used"), text);
    let seen = seen.with_remedy(off, Some(on.into()));
    Some(if used > 0 { seen.with_severity(Severity::Warning) } else { seen })
}

fn low_memory(facts: &Facts<'_>) -> Option<Observation> {
    let file = "proc/meminfo";
    let total = facts.field(file, "MemTotal")?;
    let available = facts.field(file, "MemAvailable")?;
    let text = format!("{available} kB of {total} kB of memory are available.");
    (available * 100 < total * LOW_PERCENT)
        .then(|| Observation::new(file, format!("MemAvailable: {available} kB"), text))
}

fn zswap(facts: &Facts<'_>) -> Option<Observation> {
    let file = "sys/module/zswap/parameters/enabled";
    let value = facts.text(file).filter(|value| ["Y", "1"].contains(value))?;
    Some(Observation::new(file, value, "zswap is on."))
}

/// The online nodes, if there are several.
fn nodes(facts: &Facts<'_>) -> Option<CpuSet> {
    let nodes = facts.snapshot.value::<CpuSet>("sys/devices/system/node/online")?;
    (nodes.len() > 1).then_some(nodes)
}

fn numa_balancing(facts: &Facts<'_>) -> Option<Observation> {
    let file = "proc/sys/kernel/numa_balancing";
    let mode = facts.number(file).filter(|mode| *mode > 0)?;
    let nodes = nodes(facts)?;
    let text = format!("NUMA balancing is on for the nodes {nodes} (mode {mode}).");
    Some(Observation::new(file, mode.to_string(), text))
}

fn numa_nodes(facts: &Facts<'_>) -> Option<Observation> {
    let nodes = nodes(facts)?;
    // Fake nodes are all equally distant.
    if facts.parameter("numa").is_some_and(|value| value.starts_with("fake")) {
        return None;
    }
    let text = format!("The machine has several NUMA nodes: {nodes}.");
    Some(Observation::new("sys/devices/system/node/online", nodes.to_string(), text))
}

fn statistics_interval(facts: &Facts<'_>) -> Option<Observation> {
    let file = "proc/sys/vm/stat_interval";
    let seconds = facts.number(file).filter(|seconds| *seconds <= 1)?;
    let isolated = facts.isolated();
    if isolated.is_empty() || facts.kernel()? >= (6, 5) {
        return None;
    }
    let text = format!("The isolated CPU {isolated} updates memory statistics every {seconds} s.");
    Some(Observation::new(file, seconds.to_string(), text))
}

fn dirty_memory(facts: &Facts<'_>) -> Option<Observation> {
    let file = "proc/sys/vm/dirty_ratio";
    let share = facts.number(file).filter(|share| *share >= MUCH_DIRTY_PERCENT)?;
    let text = format!("Up to {share} % of the available memory may wait to be written.");
    Some(Observation::new(file, share.to_string(), text))
}
