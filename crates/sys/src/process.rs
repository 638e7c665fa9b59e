//! What this process is: user, rights, place.

pub use rustix::process::{Pid, Signal as KillSignal, kill_process_group};

/// Number of the effective user; 0 is root.
pub fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether the calling process holds this capability, by its number (`CAP_SYS_NICE` is 23).
pub fn has_capability(number: u32) -> bool {
    let Some(status) = crate::files::Root::default().read("proc/self/status") else { return false };
    let effective = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    effective.is_some_and(|mask| mask & (1 << number) != 0)
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
