//! Lines without data: other messages of the rt-tests tools.

/// Messages of the rt-tests tools other than data.
const REMARKS: &[&str] = &[
    "Max CPUs =",
    "Online CPUs =",
    "WARN",
    "INFO",
    "Using ",
    "using ",
    "Thread ",
    "spikes = ",
    "policy:",
    "interval:",
    "Tested at",
    "deadline thread",
    "main thread",
    "thread[",
    "SMI",
    "reported clock resolution",
    "measured clock resolution",
    "set to ",
    "running",
    "RT test",
    "rt-tests",
    "Creating ",
    "Running ",
];

/// Whether a line is a message of the tool.
pub fn is_remark(line: &[u8]) -> bool {
    REMARKS.iter().any(|remark| line.starts_with(remark.as_bytes()))
}

/// Whether a line is the first that cyclictest prints.
pub fn is_banner(line: &[u8]) -> bool {
    line.starts_with(b"# /dev/cpu_dma_latency set to")
}
