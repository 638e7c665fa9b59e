//! The files of the whole machine, and what each says: pure from their text on.

use super::Extent;
use super::pace::Pace;
use super::register::{Metric, Register};
use latlab_model::Nanos;
use latlab_model::telemetry::metric;
use latlab_sys::clock::Clock;
use latlab_sys::files::{OpenFile, Root};
use latlab_sys::release_times::BEFORE;

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
const FREQUENCY: Metric = Metric::gauge(metric::FREQUENCY, "kHz");
const FREQUENCY_LIMIT: Metric = Metric::gauge(metric::FREQUENCY_LIMIT, "kHz");
const THERMAL_THROTTLES: Metric = Metric::counter(metric::THERMAL_THROTTLES, "1");
const IDLE_RESIDENCY: Metric = Metric::counter(metric::IDLE_RESIDENCY, "us");
const THROTTLE_FLAGS: Metric = Metric::gauge(metric::THROTTLE_FLAGS, "bits");

/// How the text of a file goes into the register; its subject is known from its path.
type Parse = fn(&str, &str, &mut Register);

/// A file that is read each time.
struct Source {
    file: OpenFile,
    subject: String,
    parse: Parse,
}

/// All files of this machine that say something of its conditions.
pub struct Sources {
    /// A call to read one of these gives the CPU back soon.
    short: Vec<Source>,
    /// A call to read one of these is over before a release, if it begins between them.
    medium: Vec<Source>,
    /// A call to read one of these may hold the CPU for long.
    long: Vec<Source>,
    extent: Extent,
    /// Whether those between are as quick as they should be on this machine.
    pub fit_between_releases: bool,
}

/// The longest time that reading a file may take between the releases.
const MOST_BETWEEN: i64 = BEFORE / 2;

/// Files that there is one of, and a call to read them may hold the CPU for long.
const LONG: &[(&str, &str, Parse)] = &[
    ("proc/interrupts", "", interrupts),
    ("proc/softirqs", "", softirqs),
    ("proc/vmstat", "", pages),
];

/// Files that there is one of, and a call to read them holds the CPU for some 5 to 25 us.
const MEDIUM: &[(&str, &str, Parse)] = &[
    ("proc/stat", "", stat),
    ("proc/meminfo", "", memory),
    ("proc/pressure/cpu", "cpu", pressure),
    ("proc/pressure/memory", "memory", pressure),
    ("proc/pressure/io", "io", pressure),
    ("proc/pressure/irq", "irq", pressure),
];

/// Other files that there is one of.
const SHORT: &[(&str, &str, Parse)] = &[
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", "", clocksource),
    ("sys/devices/platform/soc/soc:firmware/get_throttled", "firmware", throttle_flags),
];

/// Files of one CPU, below its folder.
const OF_CPU: &[(&str, &str, Parse)] = &[
    ("cpufreq/scaling_cur_freq", "", |text, cpu, to| number(text, cpu, to, FREQUENCY)),
    ("cpufreq/scaling_max_freq", "", |text, cpu, to| number(text, cpu, to, FREQUENCY_LIMIT)),
    ("thermal_throttle/core_throttle_count", " core", throttles),
    ("thermal_throttle/package_throttle_count", " package", throttles),
];

impl Sources {
    /// Opens what there is.
    pub fn open(root: &Root, extent: Extent) -> Sources {
        let source = |&(path, subject, parse): &(&str, &str, Parse)| {
            Some(Source { file: OpenFile::open(root, path)?, subject: subject.to_string(), parse })
        };
        let [medium, long] = [MEDIUM, LONG].map(|all| all.iter().filter_map(source).collect());
        let mut sources =
            Sources { short: Vec::new(), medium, long, extent, fit_between_releases: true };
        if extent == Extent::Gentle {
            let slowest = sources.medium.iter_mut().map(Source::reading_time).max();
            sources.fit_between_releases = slowest.is_none_or(|time| time <= MOST_BETWEEN);
        }
        for &(path, subject, parse) in SHORT {
            sources.add(root, path.to_string(), subject.to_string(), parse);
        }
        let cpus = "sys/devices/system/cpu";
        for cpu in numbered(root, cpus, "cpu") {
            for &(file, what, parse) in OF_CPU {
                sources.add(root, format!("{cpus}/{cpu}/{file}"), format!("{cpu}{what}"), parse);
            }
            for state in numbered(root, &format!("{cpus}/{cpu}/cpuidle"), "state") {
                let folder = format!("{cpus}/{cpu}/cpuidle/{state}");
                let name = root.read(format!("{folder}/name")).unwrap_or(state);
                sources.add(root, format!("{folder}/time"), format!("{cpu} {name}"), idle);
            }
        }
        for zone in numbered(root, "sys/class/thermal", "thermal_zone") {
            let folder = format!("sys/class/thermal/{zone}");
            let kind = root.read(format!("{folder}/type")).unwrap_or_default();
            sources.add(root, format!("{folder}/temp"), format!("{zone} {kind}"), temperature);
        }
        for chip in numbered(root, "sys/class/hwmon", "hwmon") {
            sources.add_sensors(root, &chip);
        }
        sources
    }

    fn add_sensors(&mut self, root: &Root, chip: &str) {
        let folder = format!("sys/class/hwmon/{chip}");
        let name = root.read(format!("{folder}/name")).unwrap_or_default();
        for file in root.names(&folder).unwrap_or_default() {
            let Some(sensor) = file.strip_suffix("_input").filter(|file| file.starts_with("temp"))
            else {
                continue;
            };
            let label = root.read(format!("{folder}/{sensor}_label")).unwrap_or(sensor.to_string());
            let subject = format!("{chip} {name} {label}");
            self.add(root, format!("{folder}/{file}"), subject, temperature);
        }
    }

    fn add(&mut self, root: &Root, path: String, subject: String, parse: Parse) {
        if let Some(file) = OpenFile::open(root, path) {
            self.short.push(Source { file, subject, parse });
        }
    }

    /// Reads those that give the CPU back soon; what cannot be read any more is simply not put.
    pub fn read_short(&mut self, register: &mut Register, pace: &mut Pace<'_>) {
        for source in &mut self.short {
            source.read(register);
            pace.rest();
        }
    }

    /// Reads those that must be between releases, each time or not.
    pub fn read_medium(&mut self, each_time: bool, register: &mut Register, pace: &mut Pace<'_>) {
        register.is_occasional = !each_time;
        for source in &mut self.medium {
            source.read(register);
            pace.rest();
        }
        register.is_occasional = false;
    }

    /// Reads the others; a gentle reading has them at its ends only.
    pub fn read_long(&mut self, register: &mut Register) {
        register.is_occasional = self.extent == Extent::Gentle;
        self.long.iter_mut().for_each(|source| source.read(register));
        register.is_occasional = false;
    }
}

impl Source {
    /// How long it takes to read it, without what other programs take of the CPU meanwhile.
    fn reading_time(&mut self) -> i64 {
        let mut once = || {
            let begun = Clock::Monotonic.now();
            self.file.read();
            Clock::Monotonic.now() - begun
        };
        once().min(once())
    }

    fn read(&mut self, register: &mut Register) {
        let begun = Clock::Monotonic.now();
        if let Some(text) = self.file.read() {
            register.set_instant(middle(begun, Clock::Monotonic.now()));
            (self.parse)(text, &self.subject, register);
        }
    }
}

/// When a file was read for which the calls took from one time to another.
pub fn middle(begun: i64, ended: i64) -> Nanos {
    Nanos(begun + (ended - begun) / 2)
}

/// The folders with a number behind this name.
fn numbered(root: &Root, folder: &str, name: &str) -> Vec<String> {
    let has_number = |found: &String| {
        let number = found.strip_prefix(name);
        number
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()))
    };
    root.names(folder).unwrap_or_default().into_iter().filter(has_number).collect()
}

fn number(text: &str, subject: &str, register: &mut Register, metric: Metric) {
    if let Ok(value) = text.parse() {
        register.put(metric, subject, value);
    }
}

fn temperature(text: &str, subject: &str, register: &mut Register) {
    number(text, subject, register, TEMPERATURE);
}

fn throttles(text: &str, subject: &str, register: &mut Register) {
    number(text, subject, register, THERMAL_THROTTLES);
}

fn idle(text: &str, subject: &str, register: &mut Register) {
    number(text, subject, register, IDLE_RESIDENCY);
}

/// `0x50005`, with or without its prefix; `vcgencmd` puts `throttled=` before it.
pub fn throttle_flags(text: &str, subject: &str, register: &mut Register) {
    let flags = text.trim().trim_start_matches("throttled=").trim_start_matches("0x");
    if let Ok(flags) = i64::from_str_radix(flags, 16) {
        register.put_now(THROTTLE_FLAGS, subject, flags);
    }
}

/// `temp=48.3'C`, as `vcgencmd` says it.
pub fn gpu_temperature(text: &str, register: &mut Register) {
    let degrees = text.trim().trim_start_matches("temp=").trim_end_matches("'C");
    if let Ok(degrees) = degrees.parse::<f64>() {
        register.put_now(TEMPERATURE, "gpu vcgencmd", (degrees * 1000.0).round() as i64);
    }
}

fn clocksource(text: &str, _: &str, register: &mut Register) {
    if !text.is_empty() {
        register.put(CLOCKSOURCE, text, 1);
    }
}

/// What the columns of a CPU's line in `/proc/stat` count.
const CPU_COLUMNS: [&str; 10] =
    ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"];

fn stat(text: &str, _: &str, register: &mut Register) {
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let Some(name) = words.next() else { continue };
        let mut first = || words.next()?.parse().ok();
        match name {
            "ctxt" => first().map(|value| register.put(CONTEXT_SWITCHES, "", value)),
            "processes" => first().map(|value| register.put(FORKS, "", value)),
            "procs_running" => first().map(|value| register.put(TASKS, "running", value)),
            "procs_blocked" => first().map(|value| register.put(TASKS, "blocked", value)),
            // Not the sum of all, which has no number.
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

/// A table with a column for each CPU; what stands behind the numbers, if anything, names the row.
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
        // The names of devices stand behind the last two blanks; others have a name already.
        let device = match source.bytes().all(|c| c.is_ascii_digit()) {
            true => rest.rsplit_once("  ").map_or("", |(_, devices)| devices.trim()),
            false => "",
        };
        for (cpu, count) in cpus.iter().zip(counts) {
            // A source that never came is no series of each CPU.
            if let Some(count @ 1..) = count {
                let subject = format!("{cpu} {source} {device}");
                register.put(metric, subject.trim_end(), count);
            }
        }
    }
}

fn interrupts(text: &str, _: &str, register: &mut Register) {
    per_cpu(text, register, INTERRUPTS);
}

fn softirqs(text: &str, _: &str, register: &mut Register) {
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

fn pages(text: &str, _: &str, register: &mut Register) {
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

fn memory(text: &str, _: &str, register: &mut Register) {
    for line in text.lines() {
        if let Some((name, value)) = line.split_once(':')
            && MEMORY_SIZES.contains(&name)
            && let Ok(value) = value.trim().trim_end_matches("kB").trim_end().parse()
        {
            register.put(MEMORY, name, value);
        }
    }
}

fn pressure(text: &str, what: &str, register: &mut Register) {
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
mod tests {
    use super::*;
    use crate::telemetry::tests::unhurried;
    use std::collections::BTreeMap;
    use std::fs;

    /// What a reading holds, by metric and subject.
    fn read_values(register: &mut Register) -> BTreeMap<(String, String), i64> {
        let (series, reading) = register.reading(Nanos(1));
        let named = |(number, value): (u32, Option<i64>)| {
            let series = &series[number as usize];
            ((series.metric.clone(), series.subject.clone()), value.unwrap())
        };
        reading.values.into_iter().map(named).collect()
    }

    fn series_key(metric: &str, subject: &str) -> (String, String) {
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

    #[test]
    fn a_board_is_read_and_what_vanishes_is_absent() {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in [
            ("sys/class/thermal/thermal_zone0/type", "cpu-thermal\n"),
            ("sys/class/thermal/thermal_zone0/temp", "48312\n"),
            ("sys/class/hwmon/hwmon1/name", "coretemp\n"),
            ("sys/class/hwmon/hwmon1/temp2_input", "51000\n"),
            ("sys/class/hwmon/hwmon1/temp2_label", "Core 0\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "600000\n"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state1/name", "cpu-sleep\n"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state1/time", "77\n"),
            ("sys/devices/system/cpu/cpufreq/boost", "1\n"),
        ] {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut sources = Sources::open(&Root::new(folder.path()), Extent::Full);
        let mut register = Register::default();
        unhurried(|pace| sources.read_short(&mut register, pace));
        let taken = read_values(&mut register);
        let expected = [
            (series_key("cpu_frequency", "cpu0"), 600_000),
            (series_key("idle_residency", "cpu0 cpu-sleep"), 77),
            (series_key("temperature", "hwmon1 coretemp Core 0"), 51_000),
            (series_key("temperature", "thermal_zone0 cpu-thermal"), 48_312),
        ];
        assert_eq!(taken, expected.into());
        let gone = folder.path().join("sys/class/thermal/thermal_zone0/temp");
        fs::write(gone, "no number").unwrap();
        unhurried(|pace| sources.read_short(&mut register, pace));
        let (_, reading) = register.reading(Nanos(2));
        assert_eq!(reading.values.len(), 1);
        assert_eq!(reading.values[0].1, None);
    }

    /// Invariant (conditions): Where every CPU is measured, telemetry holds none of them for long.
    #[test]
    fn a_gentle_reading_has_long_files_at_its_ends_only() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("proc")).unwrap();
        let plant = |faults: u32| {
            fs::write(folder.path().join("proc/vmstat"), format!("pgfault {faults}\n")).unwrap();
            fs::write(folder.path().join("proc/stat"), format!("ctxt {faults}\n")).unwrap();
        };
        plant(5);
        let root = Root::new(folder.path());
        let mut sources = Sources::open(&root, Extent::Gentle);
        let mut register = Register::default();
        sources.read_long(&mut register);
        let mut read = |number, end| {
            plant(number);
            unhurried(|pace| sources.read_medium(true, &mut register, pace));
            if end {
                sources.read_long(&mut register);
            }
            register.reading(Nanos(number.into())).1.values
        };
        // The first series is that of the long file, which is neither read nor gone meanwhile.
        assert_eq!(read(6, false), [(0, Some(5)), (1, Some(6))]);
        assert_eq!(read(7, false), [(1, Some(7))]);
        assert_eq!(read(8, true), [(0, Some(8)), (1, Some(8))]);
    }

    /// Invariant (conditions): Where every CPU is measured, telemetry holds none of them for long.
    #[test]
    fn what_has_no_time_between_the_releases_is_not_gone_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("proc")).unwrap();
        fs::write(folder.path().join("proc/stat"), "ctxt 5\n").unwrap();
        let mut sources = Sources::open(&Root::new(folder.path()), Extent::Gentle);
        let mut register = Register::default();
        unhurried(|pace| sources.read_medium(false, &mut register, pace));
        let (series, first) = register.reading(Nanos(1));
        assert_eq!((series[0].steady, first.values), (false, vec![(0, Some(5))]));
        assert_eq!(register.reading(Nanos(2)).1.values, []);
    }

    #[test]
    fn no_text_can_crash_a_parser() {
        let texts = ["", ":", "cpu", "cpu0", "\u{0}", "CPU0\n1:", "CPU0\n:\n::", "a b", "-1", "x="];
        let mut register = Register::default();
        for text in texts {
            for &(_, subject, parse) in [SHORT, MEDIUM, LONG, OF_CPU].concat().iter() {
                parse(text, subject, &mut register);
            }
            gpu_temperature(text, &mut register);
        }
        register.reading(Nanos(1));
    }
}
