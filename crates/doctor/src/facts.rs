//! What several checks want to know of a snapshot.

use latlab_model::machine;
use latlab_model::snapshot::made;
use latlab_model::{CpuSet, Snapshot};

/// A snapshot, and what is easily known of it.
pub struct Facts<'a> {
    /// The files.
    pub snapshot: &'a Snapshot,
}

impl<'a> Facts<'a> {
    /// Of this machine.
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

    /// The words of the kernel's command line; what stands behind `--` is for others.
    pub fn parameters(&self) -> impl Iterator<Item = &'a str> {
        let line = self.snapshot.text("proc/cmdline").unwrap_or_default();
        line.split_whitespace().take_while(|word| *word != "--")
    }

    /// A parameter of the kernel's command line, its last value; an empty one where it has none.
    /// The kernel takes `-` and `_` in names for the same.
    pub fn parameter(&self, name: &str) -> Option<&'a str> {
        let plain = |name: &str| name.replace('-', "_");
        let value = |word: &'a str| {
            let (found, value) = word.split_once('=').unwrap_or((word, ""));
            (plain(found) == plain(name)).then_some(value)
        };
        self.parameters().filter_map(value).last()
    }

    /// Whether the kernel is fully preemptible.
    pub fn is_realtime(&self) -> bool {
        self.text("sys/kernel/realtime") == Some("1")
            || self.has_option("PREEMPT_RT")
            || self.version_is_realtime()
    }

    /// Whether the version line says so; before 5.x the patch wrote two words.
    pub fn version_is_realtime(&self) -> bool {
        let words: Vec<&str> = self.version_words().collect();
        words.contains(&"PREEMPT_RT") || words.windows(2).any(|pair| pair == ["PREEMPT", "RT"])
    }

    /// The words of the kernel's version line.
    pub fn version_words(&self) -> impl Iterator<Item = &'a str> {
        let line = self.text("proc/sys/kernel/version").or_else(|| self.text("proc/version"));
        line.unwrap_or_default().split_whitespace()
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
            || self.snapshot.has("sys/hypervisor/type")
    }

    /// Whether the board says one of its names is this: `raspberrypi`, `fsl,imx8`.
    pub fn board_is(&self, name: &str) -> bool {
        self.text("proc/device-tree/compatible").is_some_and(|names| names.contains(name))
    }

    /// CPUs that are online.
    pub fn online(&self) -> CpuSet {
        self.snapshot.value("sys/devices/system/cpu/online").unwrap_or_default()
    }

    /// CPUs that are taken out of load balancing.
    pub fn isolated(&self) -> CpuSet {
        self.snapshot.value("sys/devices/system/cpu/isolated").unwrap_or_default()
    }

    /// The values of a file that each CPU has, and which CPUs have it; `*` stands for the number:
    /// `sys/devices/system/cpu/cpu*/cpufreq/scaling_governor`.
    pub fn by_cpu(&self, pattern: &str) -> Vec<(&'a str, CpuSet)> {
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

    /// Lines of the kernel's log that hold this text.
    pub fn logged(&self, text: &str) -> impl Iterator<Item = &'a str> {
        let lines = self.text(made::KERNEL_LOG).unwrap_or_default().lines();
        lines.filter(move |line| line.contains(text))
    }
}

/// The number behind `cpu` in a path.
pub fn cpu_in(path: &str) -> Option<u32> {
    path.split('/').find_map(|name| name.strip_prefix("cpu")?.parse().ok())
}

/// The word in brackets among those that could be chosen: `always [madvise] never`.
pub fn chosen(words: &str) -> Option<&str> {
    let chosen = words.split_whitespace().find_map(|word| word.strip_prefix('['));
    chosen.map(|word| word.trim_end_matches(']'))
}

/// A thread of the snapshot.
pub struct Thread<'a> {
    /// Its id.
    pub id: u32,
    /// Its policy: `fifo`, `other`, …
    pub policy: &'a str,
    /// Its real-time priority.
    pub priority: u32,
    /// Where it last ran.
    pub cpu: u32,
    /// Where it may run.
    pub allowed: CpuSet,
    /// Its name.
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

    /// Whether it runs before everything ordinary.
    pub fn is_realtime(&self) -> bool {
        matches!(self.policy, "fifo" | "rr" | "deadline")
    }
}
