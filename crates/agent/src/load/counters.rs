//! Kernel counters that loads drive up.

use latlab_model::load::Evidence;
use latlab_sys::files::Root;

/// Current system-wide value of a counter; `None` if the kernel does not keep it.
pub fn read(root: &Root, counter: Evidence) -> Option<u64> {
    match counter {
        Evidence::ContextSwitches => first_of(root, "proc/stat", "ctxt"),
        Evidence::Interrupts => first_of(root, "proc/stat", "intr"),
        Evidence::Softirqs => first_of(root, "proc/stat", "softirq"),
        Evidence::LoopbackBytes => first_of(root, "proc/net/dev", "lo:"),
        Evidence::DiskBytes => {
            let kilobytes = |key| first_of(root, "proc/vmstat", key);
            Some((kilobytes("pgpgin")? + kilobytes("pgpgout")?) << 10)
        }
    }
}

/// The first number on the line that begins with this key.
fn first_of(root: &Root, file: &str, key: &str) -> Option<u64> {
    let text = root.read(file)?;
    let mut lines = text.lines().map(str::split_whitespace);
    lines.find_map(|mut words| (words.next() == Some(key)).then(|| words.next()?.parse().ok())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_them_all() {
        for counter in Evidence::ALL {
            assert!(read(&Root::default(), *counter).is_some(), "{counter}");
        }
    }
}
