//! Parses the text of each file into the register.

use super::register::{Metric, Register};
use latlab_model::telemetry::metric;

const CPU_TIME: Metric = Metric::counter(metric::CPU_TIME, "10ms");
const CONTEXT_SWITCHES: Metric = Metric::counter(metric::CONTEXT_SWITCHES, "1");
const FORKS: Metric = Metric::counter(metric::FORKS, "1");
const TASKS: Metric = Metric::gauge(metric::TASKS, "1");
const INTERRUPTS: Metric = Metric::counter(metric::INTERRUPTS, "1");
const SOFTIRQS: Metric = Metric::counter(metric::SOFTIRQS, "1");
const PAGES: Metric = Metric::counter(metric::PAGES, "1");
const MEMORY: Metric = Metric::gauge(metric::MEMORY, "kB");
const PRESSURE: Metric = Metric::counter(metric::PRESSURE, "us");
const CLOCKSOURCE: Metric = Metric::gauge(metric::CLOCKSOURCE, "1");
const TEMPERATURE: Metric = Metric::gauge(metric::TEMPERATURE, "mC");
pub const FREQUENCY: Metric = Metric::gauge(metric::FREQUENCY, "kHz");
pub const FREQUENCY_LIMIT: Metric = Metric::gauge(metric::FREQUENCY_LIMIT, "kHz");
const THERMAL_THROTTLES: Metric = Metric::counter(metric::THERMAL_THROTTLES, "1");
const IDLE_RESIDENCY: Metric = Metric::counter(metric::IDLE_RESIDENCY, "us");
const THROTTLE_FLAGS: Metric = Metric::gauge(metric::THROTTLE_FLAGS, "bits");

pub fn number(text: &str, subject: &str, register: &mut Register, metric: Metric) {
    if let Ok(value) = text.parse() {
        register.put(metric, subject, value);
    }
}

pub fn temperature(text: &str, subject: &str, register: &mut Register) {
    number(text, subject, register, TEMPERATURE);
}

pub fn throttles(text: &str, subject: &str, register: &mut Register) {
    number(text, subject, register, THERMAL_THROTTLES);
}

pub fn idle(text: &str, subject: &str, register: &mut Register) {
    number(text, subject, register, IDLE_RESIDENCY);
}

/// `0x50005`, with or without the prefix; `vcgencmd` puts `throttled=` before it.
pub fn throttle_flags(text: &str, subject: &str, register: &mut Register) {
    let flags = text.trim().trim_start_matches("throttled=").trim_start_matches("0x");
    if let Ok(flags) = i64::from_str_radix(flags, 16) {
        register.put_now(THROTTLE_FLAGS, subject, flags);
    }
}

/// `temp=48.3'C`, as `vcgencmd` prints it.
pub fn gpu_temperature(text: &str, register: &mut Register) {
    let degrees = text.trim().trim_start_matches("temp=").trim_end_matches("'C");
    if let Ok(degrees) = degrees.parse::<f64>() {
        register.put_now(TEMPERATURE, "gpu vcgencmd", (degrees * 1000.0).round() as i64);
    }
}

pub fn clocksource(text: &str, _: &str, register: &mut Register) {
    if !text.is_empty() {
        register.put(CLOCKSOURCE, text, 1);
    }
}

/// The columns of a CPU's line in `/proc/stat`.
const CPU_COLUMNS: [&str; 10] =
    ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"];

pub fn stat(text: &str, _: &str, register: &mut Register) {
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let Some(name) = words.next() else { continue };
        let mut first = || words.next()?.parse().ok();
        match name {
            "ctxt" => first().map(|value| register.put(CONTEXT_SWITCHES, "", value)),
            "processes" => first().map(|value| register.put(FORKS, "", value)),
            "procs_running" => first().map(|value| register.put(TASKS, "running", value)),
            "procs_blocked" => first().map(|value| register.put(TASKS, "blocked", value)),
            // Skip the sum, whose line has no number.
            cpu if cpu.starts_with("cpu") && cpu.len() > 3 => {
                for (column, value) in CPU_COLUMNS.iter().zip(words) {
                    if let Ok(value) = value.parse() {
                        register.put(CPU_TIME, &format!("{cpu} {column}"), value);
                    }
                }
                None
            }
            _ => None,
        };
    }
}

/// A table with one column per CPU; text after the numbers names the row.
fn per_cpu(text: &str, register: &mut Register, metric: Metric) {
    let mut lines = text.lines();
    let Some(head) = lines.next() else { return };
    let cpus: Vec<String> = head.split_ascii_whitespace().map(str::to_lowercase).collect();
    for line in lines {
        let Some((source, rest)) = line.split_once(':') else { continue };
        let source = source.trim();
        let mut words = rest.split_ascii_whitespace();
        let counts: Vec<Option<i64>> =
            cpus.iter().map(|_| words.next().and_then(|word| word.parse().ok())).collect();
        // Device names follow the last two blanks; other rows have a name already.
        let device = match source.bytes().all(|c| c.is_ascii_digit()) {
            true => rest.rsplit_once("  ").map_or("", |(_, devices)| devices.trim()),
            false => "",
        };
        for (cpu, count) in cpus.iter().zip(counts) {
            // A source that never fired gets no series per CPU.
            if let Some(count @ 1..) = count {
                let subject = format!("{cpu} {source} {device}");
                register.put(metric, subject.trim_end(), count);
            }
        }
    }
}

pub fn interrupts(text: &str, _: &str, register: &mut Register) {
    per_cpu(text, register, INTERRUPTS);
}

pub fn softirqs(text: &str, _: &str, register: &mut Register) {
    per_cpu(text, register, SOFTIRQS);
}

/// Lines of `/proc/vmstat` that are kept.
const PAGE_COUNTS: &[&str] = &[
    "pgfault",
    "pgmajfault",
    "pswpin",
    "pswpout",
    "compact_stall",
    "allocstall_normal",
    "allocstall_movable",
    "thp_fault_alloc",
    "numa_pages_migrated",
    "oom_kill",
];

pub fn pages(text: &str, _: &str, register: &mut Register) {
    for line in text.lines() {
        if let Some((name, value)) = line.split_once(' ')
            && PAGE_COUNTS.contains(&name)
            && let Ok(value) = value.trim().parse()
        {
            register.put(PAGES, name, value);
        }
    }
}

/// Lines of `/proc/meminfo` that are kept.
const MEMORY_SIZES: &[&str] =
    &["MemTotal", "MemFree", "MemAvailable", "Cached", "Dirty", "Slab", "SwapTotal", "SwapFree"];

pub fn memory(text: &str, _: &str, register: &mut Register) {
    for line in text.lines() {
        if let Some((name, value)) = line.split_once(':')
            && MEMORY_SIZES.contains(&name)
            && let Ok(value) = value.trim().trim_end_matches("kB").trim_end().parse()
        {
            register.put(MEMORY, name, value);
        }
    }
}

pub fn pressure(text: &str, what: &str, register: &mut Register) {
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let Some(who) = words.next() else { continue };
        let total = words.find_map(|word| word.strip_prefix("total="));
        if let Some(total) = total.and_then(|total| total.parse().ok()) {
            register.put(PRESSURE, &format!("{what} {who}"), total);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use latlab_model::Nanos;
    use std::collections::BTreeMap;

    /// The contents of a reading, by metric and subject.
    pub fn read_values(register: &mut Register) -> BTreeMap<(String, String), i64> {
        let (series, reading) = register.reading(Nanos(1));
        let named = |(number, value): (u32, Option<i64>)| {
            let series = &series[number as usize];
            ((series.metric.clone(), series.subject.clone()), value.unwrap())
        };
        reading.values.into_iter().map(named).collect()
    }

    pub fn series_key(metric: &str, subject: &str) -> (String, String) {
        (metric.to_string(), subject.to_string())
    }

    #[test]
    fn the_times_of_each_cpu_are_taken_raw() {
        let mut register = Register::default();
        let text = "cpu  2 2 2 2 2 2 2 2 0 0\ncpu1 10 20 30 40 50 60 70 80 0 0\nintr 5 4\n\
                    ctxt 99\nprocesses 7\nprocs_running 3\nprocs_blocked 1\n";
        stat(text, "", &mut register);
        let taken = read_values(&mut register);
        assert_eq!(taken[&series_key("cpu_time", "cpu1 steal")], 80);
        assert_eq!(taken[&series_key("cpu_time", "cpu1 user")], 10);
        assert_eq!(taken[&series_key("context_switches", "")], 99);
        assert_eq!(taken[&series_key("tasks", "running")], 3);
        assert!(!taken.keys().any(|(_, subject)| subject.starts_with("cpu ")));
    }

    #[test]
    fn interrupts_are_told_by_cpu_and_source() {
        let mut register = Register::default();
        let text = "           CPU0       CPU3       \n \
                    39:    8000123          0  BCM2835   9 Edge      dwc_otg, usb1\n\
                    NMI:          0          5   Non-maskable interrupts\n\
                    ERR:          2\n";
        interrupts(text, "", &mut register);
        let taken = read_values(&mut register);
        let expected = [
            (series_key("interrupts", "cpu0 39 dwc_otg, usb1"), 8_000_123),
            (series_key("interrupts", "cpu0 ERR"), 2),
            (series_key("interrupts", "cpu3 NMI"), 5),
        ];
        assert_eq!(taken, expected.into());
    }

    #[test]
    fn firmware_words_are_decoded() {
        let mut register = Register::default();
        throttle_flags("throttled=0x50005", "firmware", &mut register);
        gpu_temperature("temp=48.3'C", &mut register);
        clocksource("tsc", "", &mut register);
        pressure("some avg10=0.00 avg60=1.00 avg300=0.10 total=771\n", "cpu", &mut register);
        let taken = read_values(&mut register);
        assert_eq!(taken[&series_key("throttle_flags", "firmware")], 0x50005);
        assert_eq!(taken[&series_key("temperature", "gpu vcgencmd")], 48_300);
        assert_eq!(taken[&series_key("clocksource", "tsc")], 1);
        assert_eq!(taken[&series_key("pressure_stall", "cpu some")], 771);
    }
}
