//! Lines that are no data: what the tools of rt-tests say besides.

/// What the tools of rt-tests say beside their data.
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

/// Whether a line is a remark of the tool.
pub fn is_remark(line: &[u8]) -> bool {
    REMARKS.iter().any(|remark| line.starts_with(remark.as_bytes()))
}

/// Whether a line is the first that a run of cyclictest prints.
pub fn is_banner(line: &[u8]) -> bool {
    line.starts_with(b"# /dev/cpu_dma_latency set to")
}
