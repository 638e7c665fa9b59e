//! Measures system calls that read kernel files, during which a stock kernel cannot preempt. Prints
//! a table in Markdown; `read_calls [FILE...]`.

use latlab_sys::clock::Clock;
use std::fs::File;
use std::os::unix::fs::FileExt;

const READS: usize = 1000;
/// What telemetry reads.
const FILES: [&str; 18] = [
    "/proc/stat",
    "/proc/meminfo",
    "/proc/loadavg",
    "/proc/uptime",
    "/proc/schedstat",
    "/proc/pressure/cpu",
    "/proc/pressure/io",
    "/proc/softirqs",
    "/proc/interrupts",
    "/proc/vmstat",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
    "/sys/class/thermal/thermal_zone0/temp",
    "/proc/1/schedstat",
    "/proc/1/stat",
    "/proc/1/task/1/stat",
    "/proc/1/status",
];

/// The longest call of each whole read, and how many calls it took.
fn longest_calls(file: &File, piece: usize) -> (Vec<i64>, usize) {
    let (mut longest, mut calls) = (Vec::with_capacity(READS), 0);
    let mut buffer = vec![0; piece];
    for _ in 0..READS {
        let (mut offset, mut most) = (0, 0);
        calls = 0;
        loop {
            let before = Clock::Monotonic.now();
            let read = file.read_at(&mut buffer, offset).unwrap_or(0);
            most = most.max(Clock::Monotonic.now() - before);
            calls += 1;
            offset += read as u64;
            if read == 0 {
                break;
            }
        }
        longest.push(most);
    }
    longest.sort_unstable();
    (longest, calls)
}

/// The longest open and close of the file.
fn openings(path: &str) -> Vec<i64> {
    let mut longest: Vec<i64> = (0..READS)
        .filter_map(|_| {
            let before = Clock::Monotonic.now();
            let file = File::open(path).ok()?;
            let opened = Clock::Monotonic.now();
            drop(file);
            Some((opened - before).max(Clock::Monotonic.now() - opened))
        })
        .collect();
    longest.sort_unstable();
    longest
}

fn figures(sorted: &[i64]) -> String {
    let us = |at: usize| sorted.get(at).map_or(0.0, |ns| *ns as f64 / 1000.0);
    format!("{:.1} / {:.1} / {:.1}", us(0), us(sorted.len() / 2), us(sorted.len().max(1) - 1))
}

fn main() {
    let named: Vec<String> = std::env::args().skip(1).collect();
    let files = if named.is_empty() { FILES.map(String::from).to_vec() } else { named };
    println!(
        "| file | bytes | longest call, 8 KiB pieces | calls | 256-byte pieces | calls | open or close |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for path in files {
        let Ok(file) = File::open(&path) else { continue };
        let bytes = std::fs::read(&path).map_or(0, |text| text.len());
        let (whole, whole_calls) = longest_calls(&file, 8192);
        let (pieces, calls) = longest_calls(&file, 256);
        println!(
            "| `{path}` | {bytes} | {} | {whole_calls} | {} | {calls} | {} |",
            figures(&whole),
            figures(&pieces),
            figures(&openings(&path))
        );
    }
}
