//! Outputs of the tools in a few lines.

use crate::outputs::OUTPUTS;

/// What cyclictest prints before anything else.
pub const BANNER: &str = "# /dev/cpu_dma_latency set to 0us\n";
/// The line above the thread lines on its live screen.
pub const POLICY: &str = "policy: fifo: loadavg: 0.10 0.10 0.10 1/99 100          \n\n";

/// The line of a thread.
pub fn thread(thread: u32, process: u32, cycles: u32, max: u32) -> String {
    format!(
        "T: {thread} ({process:5}) P:90 I:1000 C:{cycles:7} Min:{:7} Act:{:5} Avg:{:5} Max:{max:8}\n",
        2, 4, 3
    )
}

/// Output of `cyclictest -q`: the maximum of each thread, with process ids from `process` on.
pub fn summary(process: u32, cycles: u32, maxima: &[u32]) -> String {
    let threads = (0..).zip(maxima).map(|(at, max)| thread(at, process + at, cycles, *max));
    BANNER.to_string() + &threads.collect::<String>()
}

/// Output of `cyclictest -h` for one thread: rows, and consistent figures.
pub fn histogram(rows: &[(u32, u32)], over: u32, max: u32) -> String {
    let lines: String = rows.iter().map(|row| format!("{:06} {:06}\n", row.0, row.1)).collect();
    let total: u32 = rows.iter().map(|row| row.1).sum();
    let sum: u32 = rows.iter().map(|row| row.0 * row.1).sum();
    let (min, mean) = (rows[0].0, sum / total);
    format!(
        "{BANNER}# Histogram\n{lines}# Total: {total:09}\n# Min Latencies: {min:05}\n\
         # Avg Latencies: {mean:05}\n# Max Latencies: {max:05}\n# Histogram Overflows: {over:05}\n"
    )
}

/// Lines of option `-v`, for this thread and from this cycle on.
pub fn samples(thread: u32, from: u32, latencies: &[u32]) -> String {
    let cycles = (from..).zip(latencies);
    cycles.map(|(cycle, latency)| format!("{thread:8}:{cycle:8}:{latency:8}\n")).collect()
}

/// What Xenomai prints above its figures.
pub const XENOMAI: &str = "== Sampling period: 100 us\n== Test mode: periodic user-mode task\n\
    == All results in microseconds\nwarming up...\n\
    RTT|  00:00:01  (periodic user-mode task, 100 us period, priority 99)\n\
    RTH|----lat min|----lat avg|----lat max|-overrun|---msw|---lat best|--lat worst\n";

/// A line of Xenomai's `latency`.
pub fn xenomai(max: &str, overruns: u32, worst: &str) -> String {
    format!(
        "RTD|{:11}|{:11}|{max:>11}|{overruns:8}|{:6}|{:11}|{worst:>11}\n",
        "0.585", "1.012", 0, "0.585"
    )
}

/// The output with this name.
pub fn output(name: &str) -> &'static str {
    OUTPUTS.iter().find(|one| one.name == name).unwrap().text
}

/// The text with the first occurrence of `from` replaced.
pub fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from:?} is not in {text:?}");
    text.replacen(from, to, 1)
}
