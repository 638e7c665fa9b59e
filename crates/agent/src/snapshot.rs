//! Takes the snapshot of a machine; no single file can block it for long.

use flate2::read::GzDecoder;
use latlab_model::CpuSet;
use latlab_model::snapshot::{
    AVOIDED, Content, DAEMONS, LOG_WORDS, SETTINGS, STATE, Snapshot, made, name_matches,
};
use latlab_sys::files::Root;
use latlab_sys::{ethernet, klog, process};
use std::io::Read;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Longer files are not kept.
const LARGEST_FILE: u64 = 512 << 10;
/// Limit of a plausible kernel configuration.
const LARGEST_CONFIG: u64 = 8 << 20;
/// Names that a pattern may match in one folder; no kernel folder has more.
const MOST_NAMES: usize = 8192;
/// Last lines of the kernel log kept for each keyword.
const MOST_LOG_LINES: usize = 10;

/// How long to wait for a file: a longer read counts as hung, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(5);
const MOST_HANGS: u32 = 3;

/// The snapshot of everything below this root.
pub fn snapshot(root: &Root) -> Snapshot {
    read_matching(root, |_| true)
}

/// The part about this process, which changes its own limits and CPUs.
pub fn process_snapshot(root: &Root) -> Snapshot {
    read_matching(root, |pattern| pattern.starts_with("proc/self/"))
}

fn read_matching(root: &Root, wanted: impl Fn(&str) -> bool) -> Snapshot {
    let mut taker = SnapshotReader::new(root.clone(), PATIENCE);
    for pattern in SETTINGS.iter().chain(STATE).filter(|pattern| wanted(pattern)) {
        taker.add_matching(pattern);
    }
    taker.snapshot
}

/// A request to the reading thread.
type Job = Box<dyn FnOnce(&Root) -> Answer + Send>;
type Answer = Result<Option<String>, String>;

/// Reads files in a thread that can be abandoned.
struct SnapshotReader {
    root: Root,
    patience: Duration,
    hangs: u32,
    reader: (Sender<Job>, Receiver<Answer>),
    snapshot: Snapshot,
}

impl SnapshotReader {
    fn new(root: Root, patience: Duration) -> SnapshotReader {
        let reader = start_reader(root.clone());
        SnapshotReader { root, patience, hangs: 0, reader, snapshot: Snapshot::default() }
    }

    fn add_matching(&mut self, pattern: &str) {
        match pattern {
            made::COALESCING => self.add(pattern, Box::new(|root| Ok(coalescing(root)))),
            made::KERNEL_CONFIG => self.add(pattern, Box::new(kernel_config)),
            made::KERNEL_LOG => self.add(pattern, Box::new(|root| Ok(kernel_log(root)))),
            made::THREADS => self.add(pattern, Box::new(|root| Ok(threads(root)))),
            made::MACHINE => self.add(pattern, Box::new(|root| Ok(machine_word(root)))),
            made::THROTTLED => self.add(pattern, Box::new(|root| vcgencmd(root, "get_throttled"))),
            made::GPU_TEMPERATURE => {
                self.add(pattern, Box::new(|root| vcgencmd(root, "measure_temp")));
            }
            folder if folder.ends_with('/') => {
                let path = folder.to_string();
                let names = move |root: &Root| Ok(root.names(path).map(|names| names.join("\n")));
                self.add(folder, Box::new(names));
            }
            pattern if pattern.contains('*') => {
                let avoided = |path: &String| !AVOIDED.contains(&path.as_str());
                for path in self.paths(pattern).into_iter().filter(avoided) {
                    let read = path.clone();
                    // Some of the files may be write-only.
                    let look = move |root: &Root| match root.read_limited(read, LARGEST_FILE) {
                        Err(reason) if reason.starts_with("Permission denied") => Ok(None),
                        answer => answer,
                    };
                    self.add(&path, Box::new(look));
                }
            }
            file => self.file(file.to_string()),
        }
    }

    fn file(&mut self, path: String) {
        let read = path.clone();
        self.add(&path, Box::new(move |root| root.read_limited(read, LARGEST_FILE)));
    }

    /// The paths that match a pattern.
    fn paths(&mut self, pattern: &str) -> Vec<String> {
        let mut paths = vec![String::new()];
        for part in pattern.split('/') {
            paths = match part.contains('*') {
                false => paths.iter().map(|path| join_path(path, part)).collect(),
                true => paths
                    .iter()
                    .flat_map(|path| {
                        let names = self.names(path, pattern);
                        let fitting = names.into_iter().filter(|name| name_matches(part, name));
                        fitting.map(|name| join_path(path, &name)).collect::<Vec<_>>()
                    })
                    .take(MOST_NAMES)
                    .collect(),
            };
        }
        paths
    }

    /// The names in a folder, for a pattern. If the reader hangs, the pattern is reported as
    /// unread.
    fn names(&mut self, folder: &str, pattern: &str) -> Vec<String> {
        let folder = folder.to_string();
        let names = move |root: &Root| Ok(root.names(folder).map(|names| names.join("\n")));
        let answer = self.run_job(Box::new(names)).unwrap_or_else(|unreadable| {
            let content = Content::Unreadable { unreadable };
            self.snapshot.files.insert(pattern.to_string(), content);
            None
        });
        answer.unwrap_or_default().lines().map(str::to_string).collect()
    }

    fn add(&mut self, path: &str, job: Job) {
        let content = match self.run_job(job) {
            Ok(None) => return,
            Ok(Some(text)) => Content::Text(text),
            Err(unreadable) => Content::Unreadable { unreadable },
        };
        self.snapshot.files.insert(path.to_string(), content);
    }

    /// Waits for an answer. A hung reader is abandoned, and the next request starts another.
    fn run_job(&mut self, job: Job) -> Answer {
        if self.hangs == MOST_HANGS {
            return Err(format!("not tried, since {MOST_HANGS} files gave no answer"));
        }
        // A dead reader does not answer, just like a hung one.
        let _ = self.reader.0.send(job);
        self.reader.1.recv_timeout(self.patience).unwrap_or_else(|_| {
            self.reader = start_reader(self.root.clone());
            self.hangs += 1;
            Err(format!("no answer within {} s", self.patience.as_secs_f64()))
        })
    }
}

fn start_reader(root: Root) -> (Sender<Job>, Receiver<Answer>) {
    let (ask, asked) = channel::<Job>();
    let (answer, answers) = channel();
    let read = move || {
        for job in asked {
            if answer.send(job(&root)).is_err() {
                return;
            }
        }
    };
    // Without a thread no answer comes, and each file reports that.
    let _ = std::thread::Builder::new().spawn(read);
    (ask, answers)
}

fn join_path(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_string() } else { format!("{path}/{name}") }
}

/// The options that are set, from wherever this kernel publishes them.
fn kernel_config(root: &Root) -> Answer {
    let release = root.read("proc/sys/kernel/osrelease").unwrap_or_default();
    let packed = root.read_bytes_limited("proc/config.gz", LARGEST_CONFIG).ok().flatten();
    let unpacked = packed.and_then(|packed| {
        let mut text = String::new();
        let unpacker = GzDecoder::new(&packed[..]).take(LARGEST_CONFIG);
        std::io::BufReader::new(unpacker).read_to_string(&mut text).ok().map(|_| text)
    });
    let plain = [made::KERNEL_CONFIG.to_string(), format!("boot/config-{release}")];
    let plain = || {
        plain
            .iter()
            .find_map(|file| root.read_limited(file, LARGEST_CONFIG).transpose())
            .transpose()
    };
    let text = unpacked.map_or_else(plain, |text| Ok(Some(text)))?;
    let set = |text: String| {
        let lines = text.lines().filter(|line| line.starts_with("CONFIG_"));
        lines.collect::<Vec<_>>().join("\n")
    };
    Ok(text.map(set))
}

/// Lines of the kernel log with one of the keywords, reduced to what matters.
fn kernel_log(root: &Root) -> Option<String> {
    let planted = root.read(made::KERNEL_LOG);
    let text = if root.is_machine() { klog::read_all() } else { planted }?;
    let mut seen = [0; LOG_WORDS.len()];
    let mut lines: Vec<&str> = text
        .lines()
        .map(without_level)
        .rev()
        .filter(|line| {
            let line = line.to_lowercase();
            let word = LOG_WORDS.iter().position(|word| line.contains(word));
            word.is_some_and(|word| {
                seen[word] += 1;
                seen[word] <= MOST_LOG_LINES
            })
        })
        .collect();
    lines.reverse();
    Some(lines.join("\n"))
}

/// A line of the log without its level: `<4>[ 1.2] …`.
fn without_level(line: &str) -> &str {
    let level = line.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    level.filter(|(level, _)| level.parse::<u8>().is_ok()).map_or(line, |(_, rest)| rest)
}

fn machine_word(root: &Root) -> Option<String> {
    let planted = root.read(made::MACHINE).or_else(|| root.read("proc/sys/kernel/arch"));
    planted.or_else(|| root.is_machine().then(|| process::uname().machine))
}

/// The threads that a snapshot keeps, one per line.
fn threads(root: &Root) -> Option<String> {
    if let Some(planted) = root.read(made::THREADS) {
        return Some(planted);
    }
    let numbers = |names: Vec<String>| names.into_iter().filter_map(|name| name.parse().ok());
    let processes: Vec<u32> = numbers(root.names("proc")?).collect();
    let mut lines = Vec::new();
    let others = |process: &u32| *process != std::process::id();
    for process in processes.into_iter().filter(others) {
        let tasks = root.names(format!("proc/{process}/task"));
        for thread in tasks.into_iter().flat_map(numbers) {
            let thread: u32 = thread;
            let Some(stat) = root.read(format!("proc/{process}/task/{thread}/stat")) else {
                continue;
            };
            lines.extend(thread_line(root, process, thread, &stat));
        }
    }
    Some(lines.join("\n"))
}

/// The network cards that are up and report interrupt coalescing, one per line.
fn coalescing(root: &Root) -> Option<String> {
    if !root.is_machine() {
        return root.read(made::COALESCING);
    }
    let cards = root.names("sys/class/net")?;
    let line = |card: String| {
        let state = root.read(format!("sys/class/net/{card}/operstate"));
        // A query would wake a sleeping card.
        if state.as_deref() == Some("down") {
            return None;
        }
        let found = ethernet::coalescing(&card).ok()?;
        let adaptive = if found.adaptive_rx { "on" } else { "off" };
        Some(format!("{card}\t{}\t{}\t{adaptive}", found.driver, found.rx_usecs))
    };
    let lines: Vec<String> = cards.into_iter().filter_map(line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn thread_line(root: &Root, process: u32, thread: u32, stat: &str) -> Option<String> {
    let stat = process::Stat::parse(stat)?;
    let is_daemon = DAEMONS.iter().any(|name| stat.name.starts_with(name)) && process == thread;
    if !stat.is_realtime() && !is_daemon {
        return None;
    }
    let status = root.read(format!("proc/{process}/task/{thread}/status")).unwrap_or_default();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let allowed: CpuSet = allowed.and_then(|cpus| cpus.trim().parse().ok()).unwrap_or_default();
    let (policy, priority, cpu) = (stat.policy_word(), stat.priority, stat.cpu);
    // A thread's name may contain anything, even a newline.
    let name = stat.name.replace(char::is_control, "\u{fffd}");
    Some(format!("{thread}\t{policy}\t{priority}\t{cpu}\t{allowed}\t{name}"))
}

/// The answer of a Raspberry Pi's firmware; `None` on other machines.
fn vcgencmd(root: &Root, question: &str) -> Answer {
    if !root.is_machine() {
        return root.read_limited(format!("vcgencmd.{question}"), LARGEST_FILE);
    }
    // Elsewhere a program of this name is something else.
    let board = root.read("proc/device-tree/compatible").unwrap_or_default();
    if !board.contains("raspberrypi") {
        return Ok(None);
    }
    match std::process::Command::new("vcgencmd").arg(question).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot start vcgencmd: {error}")),
        Ok(output) if !output.status.success() => {
            Err(format!("vcgencmd {question} failed: {}", output.status))
        }
        Ok(output) => Ok(Some(String::from_utf8_lossy(&output.stdout).trim().to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn root() -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        (folder, root)
    }

    fn plant(root: &Root, file: &str, bytes: impl AsRef<[u8]>) {
        let path = root.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    #[test]
    fn what_is_there_is_taken_and_nothing_else() {
        let (_folder, root) = root();
        plant(&root, "proc/cmdline", "isolcpus=3\n");
        plant(&root, "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
        plant(&root, "sys/bus/gpio/devices/gpiochip0/label", "x");
        plant(&root, "proc/kcore", "secrets");
        plant(&root, "boot/config-6.1.0", "# CONFIG_A is not set\nCONFIG_HZ=250\n");
        plant(&root, "proc/sys/kernel/osrelease", "6.1.0\n");
        plant(&root, "kernel.log", "[1] random: crng\n<4>[2] sched: RT throttling activated\n");
        let taken = snapshot(&root);
        assert_eq!(taken.text("proc/cmdline"), Some("isolcpus=3"));
        assert_eq!(taken.text(made::KERNEL_CONFIG), Some("CONFIG_HZ=250"));
        assert_eq!(taken.text(made::KERNEL_LOG), Some("[2] sched: RT throttling activated"));
        assert_eq!(taken.names("sys/bus/gpio/devices/").collect::<Vec<_>>(), ["gpiochip0"]);
        assert_eq!(taken.matching("sys/devices/system/cpu/cpu*/cpufreq/*").len(), 1);
        assert!(!taken.has("proc/kcore") && !taken.has("proc/version"));
    }

    #[test]
    fn threads_are_found_by_policy_and_by_name() {
        let (_folder, root) = root();
        let stat = |name: &str, policy: u32, priority: u32| {
            format!("1 ({name}) S 2 {} 2 {priority} {policy} 0", ["0"; 34].join(" "))
        };
        plant(&root, "proc/50/task/50/stat", stat("irq/24-dwc_otg", 1, 50));
        plant(&root, "proc/50/task/50/status", "Name:\tx\nCpus_allowed_list:\t0-1\n");
        plant(&root, "proc/60/task/60/stat", stat("irqbalance", 0, 0));
        plant(&root, "proc/70/task/70/stat", stat("bash", 0, 0));
        plant(&root, "proc/80/task/80/stat", "garbage");
        let taken = snapshot(&root);
        let lines: Vec<&str> = taken.text(made::THREADS).unwrap().lines().collect();
        assert_eq!(
            lines,
            ["50\tfifo\t50\t2\t0-1\tirq/24-dwc_otg", "60\tother\t0\t2\t\tirqbalance"]
        );
    }

    /// Invariant (doctor): A kernel file that hangs, or is a pipe, huge or binary, costs little and is reported.
    #[test]
    fn a_file_that_does_not_answer_costs_little_and_is_told() {
        let (_folder, root) = root();
        let (long, short) = (Duration::from_secs(60), Duration::from_millis(20));
        let mut taker = SnapshotReader::new(root, short);
        let stuck = |_: &Root| {
            std::thread::sleep(Duration::from_secs(3600));
            Ok(None)
        };
        taker.add("stuck", Box::new(stuck));
        // A slow file that does answer is waited for.
        taker.patience = long;
        taker.add("next", Box::new(|_| Ok(Some("fine".into()))));
        assert_eq!(taker.snapshot.text("next"), Some("fine"));
        let Some(Content::Unreadable { unreadable }) = taker.snapshot.files.get("stuck") else {
            panic!("{:?}", taker.snapshot)
        };
        assert!(unreadable.contains("no answer within 0.02 s"), "{unreadable}");
        taker.patience = short;
        (2..=MOST_HANGS).for_each(|number| taker.add(&format!("stuck {number}"), Box::new(stuck)));
        taker.add("late", Box::new(|_| Ok(Some("too late".into()))));
        assert!(taker.snapshot.has("late") && taker.snapshot.text("late").is_none());
        taker.add_matching("sys/class/hwmon/hwmon*/name");
        let unread: Vec<&str> = taker.snapshot.unreadable().map(|(path, _)| path).collect();
        assert_eq!(unread, ["late", "stuck", "stuck 2", "stuck 3", "sys/class/hwmon/hwmon*/name"]);
    }

    /// Invariant (doctor): A kernel file that hangs, or is a pipe, huge or binary, costs little and is reported.
    #[test]
    fn a_pipe_a_loop_a_binary_and_a_huge_file_harm_nobody() {
        let (folder, root) = root();
        plant(&root, "proc/cmdline", vec![0xff_u8; 5000]);
        plant(&root, "proc/interrupts", vec![b'x'; 600 << 10]);
        plant(&root, "etc/rpi-issue", "");
        let pipe = folder.path().join("proc/stat");
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
        std::os::unix::fs::symlink("loadavg", folder.path().join("proc/loadavg")).unwrap();
        fs::create_dir(folder.path().join("proc/meminfo")).unwrap();
        let taken = snapshot(&root);
        assert_eq!(taken.text("etc/rpi-issue"), Some(""));
        assert!(taken.text("proc/cmdline").is_some());
        assert!(taken.has("proc/interrupts") && taken.text("proc/interrupts").is_none());
        assert!(taken.has("proc/loadavg") && taken.text("proc/loadavg").is_none());
        assert!(!taken.has("proc/meminfo"));
    }
}
