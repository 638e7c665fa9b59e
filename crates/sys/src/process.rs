//! What a process is: user, rights, place.

use crate::files::Root;
pub use rustix::process::{Pid, Signal as KillSignal, kill_process_group};

/// Number of the effective user; 0 is root.
pub fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
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

/// A field of `/proc/PID/stat`, by its number in proc(5), from 3 on.
pub fn stat_field(root: &Root, pid: u32, number: usize) -> Option<String> {
    let stat = root.read(format!("proc/{pid}/stat"))?;
    // The name, in parentheses, may hold anything.
    Some(stat.rsplit_once(')')?.1.split_whitespace().nth(number.checked_sub(3)?)?.to_string())
}

/// What `uname` says.
pub struct Uname {
    /// Name of the host.
    pub hostname: String,
    /// Kernel release.
    pub release: String,
    /// Kernel version line.
    pub version: String,
    /// Machine word: `x86_64`, `aarch64`, `armv7l`.
    pub machine: String,
}

/// Asks the kernel who it is.
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
