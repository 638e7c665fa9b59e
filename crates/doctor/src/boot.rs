//! The kernel command line, and the CPUs that it isolates.

use crate::facts::Facts;
use latlab_model::CpuSet;

/// Flags that may precede the CPUs of `isolcpus=`.
const KINDS: &[&str] = &["domain", "nohz", "managed_irq", "io_queue"];

impl<'a> Facts<'a> {
    /// The words of the command line that set this parameter: `isolcpus=2-3`.
    pub fn words(&self, name: &str) -> impl Iterator<Item = &'a str> {
        let plain = |word: &str| word.split('=').next().unwrap_or_default().replace('-', "_");
        let name = plain(name);
        self.parameters().filter(move |word| plain(word) == name)
    }

    /// The last of them.
    pub fn word(&self, name: &str) -> Option<&'a str> {
        self.words(name).last()
    }

    /// The CPUs of a parameter; `None` if it is not set or is not a CPU list.
    pub fn parameter_cpus(&self, name: &str) -> Option<CpuSet> {
        let mut list = self.parameter(name)?;
        while let Some((_, rest)) = list.split_once(',').filter(|(kind, _)| is_kind(kind)) {
            list = rest;
        }
        self.cpu_list(list)
    }

    /// A CPU list in command line syntax: `2-N`, `all`.
    fn cpu_list(&self, list: &str) -> Option<CpuSet> {
        let possible = self.possible();
        if list == "all" {
            return (!possible.is_empty()).then_some(possible);
        }
        let cpus = match possible.iter().last() {
            Some(last) => list.replace('N', &last.to_string()),
            None => list.to_string(),
        };
        cpus.parse().ok().filter(|cpus: &CpuSet| !cpus.is_empty())
    }

    /// CPUs that this machine can have.
    pub fn possible(&self) -> CpuSet {
        self.snapshot.value("sys/devices/system/cpu/possible").unwrap_or_default()
    }

    /// CPUs without a tick while a single thread runs there.
    pub fn nohz_full(&self) -> CpuSet {
        self.snapshot.value("sys/devices/system/cpu/nohz_full").unwrap_or_default()
    }

    /// CPUs isolated in any way: at boot, by a cpuset, or without a tick.
    pub fn isolated_by_parameters(&self) -> CpuSet {
        let cpuset: CpuSet =
            self.snapshot.value("sys/fs/cgroup/cpuset.cpus.isolated").unwrap_or_default();
        let (isolated, nohz_full) = (self.isolated(), self.nohz_full());
        isolated.iter().chain(cpuset.iter()).chain(nohz_full.iter()).collect()
    }

    /// Whether each cgroup has a separate real-time budget.
    pub fn has_realtime_groups(&self) -> bool {
        let default = !self.has_option("RT_GROUP_SCHED_DEFAULT_DISABLED");
        let wanted = match self.parameter("rt_group_sched") {
            Some("0" | "off" | "n") => false,
            Some("1" | "on" | "y") => true,
            _ => default,
        };
        self.has_option("RT_GROUP_SCHED") && wanted
    }
}

fn is_kind(word: &str) -> bool {
    KINDS.contains(&word)
}
