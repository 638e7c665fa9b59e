//! Properties of processes: user, capabilities, state.

use crate::files::Root;
pub use rustix::process::{Pid, Signal as KillSignal, kill_process_group};

/// Number of the effective user; 0 is root.
pub fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Number of the effective group.
pub fn effective_group() -> u32 {
    rustix::process::getegid().as_raw()
}

/// Whether the calling process holds this capability, by its number (`CAP_SYS_NICE` is 23).
pub fn has_capability(number: u32) -> bool {
    let Some(status) = Root::default().read("proc/self/status") else { return false };
    let effective = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    effective.is_some_and(|mask| mask & (1 << number) != 0)
}

/// `PF_EXITING`: the flag of a thread that is exiting.
const EXITING: u64 = 4;
/// SIGKILL in a signal mask.
const KILL: u64 = 1 << 8;

/// Identifies a process uniquely, as its number may be reused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProcessId {
    /// Its number.
    pub id: u32,
    /// Start time, in ticks since boot.
    pub started: u64,
}

impl ProcessId {
    /// Whether it has ended, or was killed and will end soon; until then it keeps its locks.
    pub fn is_ending(self, root: &Root) -> bool {
        let ProcessId { id, started } = self;
        let Some(stat) = Stat::read(root, id).filter(|stat| stat.started == started) else {
            return true;
        };
        let threads = root.names(format!("proc/{id}/task")).unwrap_or_default();
        let is_killed = |thread: String| {
            let file = |name: &str| root.read(format!("proc/{id}/task/{thread}/{name}"));
            file("stat").and_then(|text| Stat::parse(&text)).is_some_and(|stat| stat.is_exiting)
                || file("status").is_some_and(|status| awaits_kill(&status))
        };
        matches!(stat.state, 'Z' | 'X') || threads.into_iter().any(is_killed)
    }

    /// Whether it is stopped.
    pub fn is_stopped(self, root: &Root) -> bool {
        Stat::read(root, self.id).is_some_and(|stat| matches!(stat.state, 'T' | 't'))
    }
}

/// Whether SIGKILL is pending for a thread, by its status file.
fn awaits_kill(status: &str) -> bool {
    let masks = status.lines().filter_map(|line| {
        let mask = line.strip_prefix("SigPnd:").or_else(|| line.strip_prefix("ShdPnd:"))?;
        u64::from_str_radix(mask.trim(), 16).ok()
    });
    masks.into_iter().any(|mask| mask & KILL != 0)
}

/// The needed parts of `/proc/PID/stat`, for a process or a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stat {
    /// Name of the program or thread.
    pub name: String,
    /// State as one letter; `Z` is a zombie.
    pub state: char,
    /// Parent process.
    pub parent: u32,
    /// User and system time, in ticks of 10 ms.
    pub cpu_ticks: u64,
    /// User and system time of children that it has waited for, in ticks of 10 ms.
    pub waited_ticks: u64,
    /// Number of threads; for a thread, those of its process.
    pub threads: u32,
    /// Start time, in ticks since boot; together with the number it is unique.
    pub started: u64,
    /// Whether it is exiting.
    pub is_exiting: bool,
    /// CPU it last ran on.
    pub cpu: u32,
    /// Real-time priority; 0 for none.
    pub priority: u32,
    /// Policy, by the kernel's number.
    pub policy: u32,
}

impl Stat {
    /// Reads the stat file of a process.
    pub fn read(root: &Root, pid: u32) -> Option<Stat> {
        Stat::parse(&root.read(format!("proc/{pid}/stat"))?)
    }

    /// Reads the stat file of a thread. That of a process sums over its threads, without
    /// interrupts.
    pub fn read_thread(root: &Root, thread: u32) -> Option<Stat> {
        Stat::parse(&root.read(format!("proc/{thread}/task/{thread}/stat"))?)
    }

    /// Parses a stat file, as in proc(5).
    pub fn parse(stat: &str) -> Option<Stat> {
        // The name, in parentheses, may contain anything.
        let (head, rest) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        // Numbers as in proc(5), where the name is the second.
        let field = |number: usize| -> Option<u64> { fields.get(number - 3)?.parse().ok() };
        Some(Stat {
            name: head.split_once('(')?.1.to_string(),
            state: fields.first()?.chars().next()?,
            parent: field(4)? as u32,
            cpu_ticks: field(14)? + field(15)?,
            waited_ticks: field(16)? + field(17)?,
            threads: field(20)? as u32,
            started: field(22)?,
            is_exiting: field(9)? & EXITING != 0,
            cpu: field(39)? as u32,
            priority: field(40)? as u32,
            policy: field(41)? as u32,
        })
    }

    /// Whether it has a real-time policy.
    pub fn is_realtime(&self) -> bool {
        matches!(self.policy, 1 | 2 | 6)
    }

    /// The word for its policy.
    pub fn policy_word(&self) -> &'static str {
        match self.policy {
            0 => "other",
            1 => "fifo",
            2 => "rr",
            3 => "batch",
            5 => "idle",
            6 => "deadline",
            _ => "unknown",
        }
    }
}

/// The result of `uname`.
pub struct Uname {
    /// Host name.
    pub hostname: String,
    /// Kernel release.
    pub release: String,
    /// Kernel version line.
    pub version: String,
    /// Machine word: `x86_64`, `aarch64`, `armv7l`.
    pub machine: String,
}

/// Calls `uname`.
pub fn uname() -> Uname {
    let uname = rustix::system::uname();
    let text = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
    Uname {
        hostname: text(uname.nodename()),
        release: text(uname.release()),
        version: text(uname.version()),
        machine: text(uname.machine()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_killed_process_is_ending_until_it_is_gone() {
        let root = Root::default();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let started = Stat::read(&root, child.id()).unwrap().started;
        let process = ProcessId { id: child.id(), started };
        assert!(!process.is_ending(&root));
        assert!(ProcessId { started: started + 1, ..process }.is_ending(&root), "another one");
        child.kill().unwrap();
        // From the signal on, even if the kernel has not ended it yet.
        assert!(process.is_ending(&root));
        child.wait().unwrap();
        assert!(process.is_ending(&root));
        assert!(awaits_kill("Name:\tx\nSigPnd:\t0000000000000100\nShdPnd:\t0\n"));
        assert!(!awaits_kill("SigPnd:\t0000000000000200\nSigBlk:\t0000000000000100\n"));
    }

    #[test]
    fn a_stat_file_is_read_whatever_the_name() {
        let rest = "S 2 0 0 0 -1 69238848 0 0 0 0 7 35 0 0 -51 0 1 0 100 0 0 1844 0 0 0 0 0 0 0 \
                    2147483647 0 0 0 0 17 3 50 1 0 0 0 0 0";
        let stat = Stat::parse(&format!("39 (irq/39-d) (x y)) {rest}")).unwrap();
        assert_eq!((stat.name.as_str(), stat.parent), ("irq/39-d) (x y)", 2));
        assert_eq!((stat.cpu_ticks, stat.threads, stat.started), (42, 1, 100));
        assert_eq!((stat.cpu, stat.priority, stat.policy_word()), (3, 50, "fifo"));
        assert!(stat.is_realtime());
        for cut in ["", "39", "39 (a)", "39 (a) S 2 0", ") 1 (", "x"] {
            assert_eq!(Stat::parse(cut), None, "{cut}");
        }
    }
}
