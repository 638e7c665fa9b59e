//! The kernel's trace: marked and stopped at the moment that somebody wants to see.

use crate::files::Root;
use std::fs;

/// Where the kernel's trace may be mounted.
pub(crate) const FOLDERS: [&str; 2] = ["sys/kernel/tracing", "sys/kernel/debug/tracing"];

/// Writes a mark into the trace and stops it; without a trace nothing happens.
pub fn mark_and_stop(root: &Root, text: &str) {
    for folder in FOLDERS.map(|folder| root.path(folder)) {
        // The first that takes the mark is the one; both are the same where both are mounted.
        if fs::write(folder.join("trace_marker"), text).is_ok() {
            let _ = fs::write(folder.join("tracing_on"), "0");
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_written_and_the_trace_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join(FOLDERS[1]);
        fs::create_dir_all(&trace).unwrap();
        fs::write(trace.join("tracing_on"), "1").unwrap();
        mark_and_stop(&Root::new(folder.path()), "here");
        assert_eq!(fs::read_to_string(trace.join("trace_marker")).unwrap(), "here");
        assert_eq!(fs::read_to_string(trace.join("tracing_on")).unwrap(), "0");
    }
}
