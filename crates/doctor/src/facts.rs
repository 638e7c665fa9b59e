//! Facts about a snapshot that several checks need.

use latlab_model::guest::{IN_VIRTUAL_TIME, MARK};
use latlab_model::machine;
use latlab_model::snapshot::made;
use latlab_model::{CpuSet, Snapshot};

/// CAP_SYS_NICE, which real-time priorities need.
pub const SYS_NICE: u32 = 23;

/// A snapshot, and what can be derived from it.
pub struct Facts<'a> {
    pub snapshot: &'a Snapshot,
}

impl<'a> Facts<'a> {
    pub fn new(snapshot: &'a Snapshot) -> Facts<'a> {
        Facts { snapshot }
    }

    /// The text of a file.
    pub fn text(&self, file: &str) -> Option<&'a str> {
        self.snapshot.text(file)
    }

    /// A file as a number.
    pub fn number(&self, file: &str) -> Option<i64> {
        self.snapshot.value(file)
    }

    /// Whether the kernel's configuration is known at all.
    pub fn knows_config(&self) -> bool {
        self.snapshot.text(made::KERNEL_CONFIG).is_some()
    }

    /// The value of a kernel option that is set: `config("PREEMPT_RT") == Some("y")`.
    pub fn config(&self, option: &str) -> Option<&'a str> {
        machine::config(self.snapshot, option)
    }

    /// Whether a kernel option is built in.
    pub fn has_option(&self, option: &str) -> bool {
        self.config(option) == Some("y")
    }

    /// The words of the kernel command line; those after `--` are for init.
    pub fn parameters(&self) -> impl Iterator<Item = &'a str> {
        let line = self.snapshot.text("proc/cmdline").unwrap_or_default();
        line.split_whitespace().take_while(|word| *word != "--")
    }

    /// The last value of a kernel parameter, empty if it has none. The kernel treats `-` and `_` in
    /// names alike.
    pub fn parameter(&self, name: &str) -> Option<&'a str> {
        let plain = |name: &str| name.replace('-', "_");
        let value = |word: &'a str| {
            let (found, value) = word.split_once('=').unwrap_or((word, ""));
            (plain(found) == plain(name)).then_some(value)
        };
        self.parameters().filter_map(value).last()
    }

    /// Whether the kernel has PREEMPT_RT.
    pub fn is_realtime(&self) -> bool {
        machine::is_realtime(self.snapshot)
    }

    /// The words of the kernel's version line.
    pub fn version_words(&self) -> impl Iterator<Item = &'a str> {
        machine::version(self.snapshot).split_whitespace()
    }

    /// Version of the kernel: `(6, 12)`.
    pub fn kernel(&self) -> Option<(u32, u32)> {
        let release = self.text("proc/sys/kernel/osrelease")?;
        let mut numbers = release.split(|c: char| !c.is_ascii_digit());
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    }

    /// Whether a hypervisor runs below this kernel.
    pub fn is_guest(&self) -> bool {
        machine::cpu_info(self.snapshot, "flags")
            .is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
            || self.text("sys/hypervisor/type").is_some()
            || self.is_board("linux,dummy-virt")
    }

    /// Whether this is a guest whose virtual time hides its host.
    pub fn is_in_virtual_time(&self) -> bool {
        self.text(MARK).is_some_and(|text| text.ends_with(IN_VIRTUAL_TIME))
    }

    /// A field of `/proc/self/status`.
    pub fn status(&self, field: &str) -> Option<&'a str> {
        self.text("proc/self/status")?.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name == field).then(|| value.trim())
        })
    }

    /// Whether this process has a capability; `None` if unknown.
    pub fn is_capable(&self, capability: u32) -> Option<bool> {
        let effective = u64::from_str_radix(self.status("CapEff")?, 16).ok()?;
        Some(effective >> capability & 1 == 1)
    }

    pub fn is_container(&self) -> bool {
        let files = ["run/systemd/container", "run/.containerenv", ".dockerenv"];
        files.iter().any(|file| self.snapshot.text(file).is_some())
    }

    /// Whether one of the board's compatible names contains this: `raspberrypi`, `fsl,imx8`.
    pub fn is_board(&self, name: &str) -> bool {
        self.text("proc/device-tree/compatible").is_some_and(|names| names.contains(name))
    }

    pub fn online(&self) -> CpuSet {
        self.snapshot.value("sys/devices/system/cpu/online").unwrap_or_default()
    }

    /// CPUs excluded from load balancing, by the command line or by a cgroup.
    pub fn isolated(&self) -> CpuSet {
        let files = ["sys/devices/system/cpu/isolated", "sys/fs/cgroup/cpuset.cpus.isolated"];
        let sets = files.into_iter().filter_map(|file| self.snapshot.value::<CpuSet>(file));
        sets.flat_map(|set| set.iter().collect::<Vec<_>>()).collect()
    }

    /// CPUs for all other work.
    pub fn housekeeping(&self) -> CpuSet {
        self.online().without(&self.isolated())
    }

    /// Seconds since the kernel started.
    pub fn uptime(&self) -> Option<f64> {
        self.text("proc/uptime")?.split_whitespace().next()?.parse().ok()
    }

    /// The field of a table such as /proc/meminfo, in that file's unit.
    pub fn field(&self, file: &str, name: &str) -> Option<u64> {
        let lines = self.text(file)?.lines();
        let value = |line: &'a str| line.strip_prefix(name)?.strip_prefix(':');
        lines.filter_map(value).next()?.split_whitespace().next()?.parse().ok()
    }

    /// The interrupts that the kernel lists.
    pub fn interrupts(&self) -> impl Iterator<Item = Interrupt<'a>> {
        let mut lines = self.text("proc/interrupts").unwrap_or_default().lines();
        let head = lines.next().unwrap_or_default();
        let cpus: Vec<u32> = head
            .split_whitespace()
            .filter_map(|name| name.strip_prefix("CPU")?.parse().ok())
            .collect();
        lines.filter_map(move |line| Interrupt::parse(line, &cpus))
    }

    /// The values of a per-CPU file, and which CPUs have each; `*` stands for the number:
    /// `sys/devices/system/cpu/cpu*/cpufreq/scaling_governor`.
    pub fn values_by_cpu(&self, pattern: &str) -> Vec<(&'a str, CpuSet)> {
        let mut values: Vec<(&'a str, Vec<u32>)> = Vec::new();
        for (path, value) in self.snapshot.matching(pattern) {
            let Some(cpu) = cpu_in(path) else { continue };
            match values.iter_mut().find(|(known, _)| *known == value) {
                Some((_, cpus)) => cpus.push(cpu),
                None => values.push((value, vec![cpu])),
            }
        }
        values.into_iter().map(|(value, cpus)| (value, cpus.into_iter().collect())).collect()
    }

    /// The threads that the snapshot keeps.
    pub fn threads(&self) -> impl Iterator<Item = Thread<'a>> {
        self.text(made::THREADS).unwrap_or_default().lines().filter_map(Thread::parse)
    }

    /// Lines of the kernel log that contain this text.
    pub fn log_lines(&self, text: &str) -> impl Iterator<Item = &'a str> {
        let lines = self.text(made::KERNEL_LOG).unwrap_or_default().lines();
        lines.filter(move |line| line.contains(text))
    }
}

/// The number after `cpu` in a path.
pub fn cpu_in(path: &str) -> Option<u32> {
    path.split('/').find_map(|name| name.strip_prefix("cpu")?.parse().ok())
}

/// The selected word, in brackets: `always [madvise] never`.
pub fn selected(words: &str) -> Option<&str> {
    let chosen = words.split_whitespace().find_map(|word| word.strip_prefix('['));
    chosen.map(|word| word.trim_end_matches(']'))
}

/// A line of /proc/interrupts.
pub struct Interrupt<'a> {
    /// Its number, or the name of an interrupt without a device: `LOC`, `IPI0`.
    pub name: &'a str,
    /// Number of interrupts, by CPU.
    pub counts: Vec<(u32, u64)>,
    /// The text after the counts.
    pub what: &'a str,
}

impl<'a> Interrupt<'a> {
    fn parse(line: &'a str, cpus: &[u32]) -> Option<Interrupt<'a>> {
        let (name, mut rest) = line.split_once(':')?;
        let mut counts = Vec::new();
        // Lines of errors have one count for all CPUs.
        for cpu in cpus {
            let (word, after) = split_word(rest);
            let Ok(count) = word.parse() else { break };
            counts.push((*cpu, count));
            rest = after;
        }
        Some(Interrupt { name: name.trim(), counts, what: rest.trim() })
    }

    /// Whether a device raises it; some kernels number per-CPU interrupts too.
    pub fn is_device(&self) -> bool {
        let of_cpu = ["timer", "pmu", "mct_tick"].iter().any(|name| self.device().contains(name));
        self.name.chars().all(|c| c.is_ascii_digit()) && !of_cpu
    }

    /// Total over all CPUs.
    pub fn count(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    /// Its handlers: the text after the trigger type.
    pub fn device(&self) -> &'a str {
        let (mut rest, mut device) = (self.what, self.what);
        while !rest.is_empty() {
            let (word, after) = split_word(rest);
            let word = word.to_lowercase();
            // A controller's name may look like a trigger type and come before it.
            if ["edge", "level", "fasteoi"].iter().any(|kind| word.ends_with(kind)) {
                device = after.trim();
            }
            rest = after;
        }
        device
    }
}

/// The first word, and the rest.
fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(char::is_whitespace).unwrap_or((text, ""))
}

/// A thread of the snapshot.
pub struct Thread<'a> {
    pub id: u32,
    /// `fifo`, `other`, …
    pub policy: &'a str,
    /// Its real-time priority.
    pub priority: u32,
    /// Where it last ran.
    pub cpu: u32,
    /// Where it may run.
    pub allowed: CpuSet,
    pub name: &'a str,
}

impl<'a> Thread<'a> {
    fn parse(line: &'a str) -> Option<Thread<'a>> {
        let mut fields = line.splitn(6, '\t');
        let mut next = || fields.next();
        Some(Thread {
            id: next()?.parse().ok()?,
            policy: next()?,
            priority: next()?.parse().ok()?,
            cpu: next()?.parse().ok()?,
            allowed: next()?.parse().unwrap_or_default(),
            name: next()?,
        })
    }

    /// Whether it preempts SCHED_OTHER.
    pub fn is_realtime(&self) -> bool {
        matches!(self.policy, "fifo" | "rr" | "deadline")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_interrupts_is_read_on_every_architecture() {
        let line = " 33:  12  3     GICv2 158 Level     mmc0, mmc1";
        let interrupt = Interrupt::parse(line, &[0, 2]).unwrap();
        assert_eq!((interrupt.name, interrupt.device()), ("33", "mmc0, mmc1"));
        assert_eq!(interrupt.counts, [(0, 12), (2, 3)]);
        let line = " 31:  4039  958 PCI-MSIX-0000:00:01.0   3-edge      virtio0-stats";
        assert_eq!(Interrupt::parse(line, &[0, 1]).unwrap().device(), "virtio0-stats");
        let line = "41: 9 0 ARMCTRL-level  41 Edge      3f980000.usb, dwc_otg";
        assert_eq!(Interrupt::parse(line, &[0, 1]).unwrap().device(), "3f980000.usb, dwc_otg");
        let error = Interrupt::parse("ERR:          7", &[0, 1]).unwrap();
        assert_eq!((error.count(), error.is_device()), (7, false));
    }
}
