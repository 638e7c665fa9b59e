//! Sources that are not files of numbers: the kernel log, the firmware's counter, the Raspberry Pi.

use super::parsers::{gpu_temperature, throttle_flags};
use super::register::{Metric, Register};
use latlab_model::finding::RT_THROTTLING;
use latlab_model::telemetry::metric;
use latlab_sys::files::Root;
use latlab_sys::klog::Log;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const KERNEL_EVENTS: Metric = Metric::counter(metric::KERNEL_EVENTS, "1");
const SMI: Metric = Metric::counter(metric::SMI, "1");

/// MSR in which Intel CPUs count system-management interrupts.
const SMI_COUNT: u64 = 0x34;

/// How often to ask a Raspberry Pi's firmware: each query starts a program.
const ASK_EVERY: Duration = Duration::from_secs(10);

/// Kinds of kernel log lines that matter to a measurement, and the texts that identify them.
const KINDS: &[(&str, &[&str])] = &[
    (RT_THROTTLING, &["RT throttling activated"]),
    ("clocksource", &["Switched to clocksource", "Marking clocksource", "as unstable"]),
    ("heat", &["temperature above threshold", "cpu clock throttled", "thermal throttling"]),
    ("under-voltage", &["Undervoltage detected", "Under-voltage detected"]),
    ("lockup", &["soft lockup", "hard LOCKUP"]),
    ("rcu-stall", &["detected stall", "self-detected stall"]),
    ("hung-task", &["blocked for more than"]),
    ("out-of-memory", &["Out of memory: Killed"]),
    ("perf-limited", &["perf: interrupt took too long"]),
    ("machine-check", &["Machine check events logged", "Hardware Error"]),
];

pub struct Events {
    log: Option<Log>,
    /// Whether it was read since it was opened.
    is_read: bool,
    counts: [i64; KINDS.len()],
    smi: Option<File>,
    firmware: Option<Receiver<(Question, String)>>,
}

/// A query to a Raspberry Pi's firmware.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Question {
    Throttled,
    Temperature,
}

impl Events {
    /// Opens the available sources.
    pub fn open(root: &Root) -> Events {
        let intel = root.read("proc/cpuinfo").is_some_and(|text| text.contains("GenuineIntel"));
        let smi = intel.then(|| File::open(root.path("dev/cpu/0/msr")).ok()).flatten();
        let smi = smi.filter(|file| smi_count(file).is_some());
        let board = root.read("proc/device-tree/compatible").unwrap_or_default();
        let firmware = (root.is_machine() && board.contains("raspberrypi")).then(ask_firmware);
        Events { log: Log::listen(root), is_read: false, counts: [0; KINDS.len()], smi, firmware }
    }

    /// Reports what has happened since the last call.
    pub fn read(&mut self, register: &mut Register) {
        // Nothing counts as happened before the opening, so the first reading is the baseline.
        let is_first = !std::mem::replace(&mut self.is_read, true);
        if let Some(log) = &mut self.log {
            while !is_first && let Some(record) = log.next_record() {
                if let Some(kind) = kind(&record) {
                    self.counts[kind] += 1;
                }
            }
            for (&(name, _), &count) in KINDS.iter().zip(&self.counts) {
                register.put(KERNEL_EVENTS, name, count);
            }
        }
        if let Some(count) = self.smi.as_ref().and_then(smi_count) {
            register.put(SMI, "cpu0", count);
        }
        for (question, answer) in self.firmware.iter().flat_map(Receiver::try_iter) {
            match question {
                Question::Throttled => throttle_flags(&answer, "vcgencmd", register),
                Question::Temperature => gpu_temperature(&answer, register),
            }
        }
    }
}

fn kind(record: &str) -> Option<usize> {
    KINDS.iter().position(|(_, texts)| texts.iter().any(|text| record.contains(text)))
}

fn smi_count(msr: &File) -> Option<i64> {
    let mut bytes = [0; 8];
    msr.read_exact_at(&mut bytes, SMI_COUNT).ok()?;
    // The upper half is reserved.
    Some(i64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])))
}

/// Asks in a separate thread, since a program takes its time; the thread ends when the receiver is
/// dropped.
fn ask_firmware() -> Receiver<(Question, String)> {
    let (answer, answers) = channel();
    let work = move || {
        loop {
            let questions =
                [(Question::Throttled, "get_throttled"), (Question::Temperature, "measure_temp")];
            for (question, word) in questions {
                let asked = Command::new("vcgencmd").arg(word).stderr(Stdio::null()).output();
                let Ok(said) = asked else { return };
                let text = String::from_utf8_lossy(&said.stdout).into_owned();
                if answer.send((question, text)).is_err() {
                    return;
                }
            }
            std::thread::sleep(ASK_EVERY);
        }
    };
    // Without a thread no answer comes, and the series is absent.
    let _ = std::thread::Builder::new().spawn(work);
    answers
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::Nanos;

    #[test]
    fn lines_of_the_log_are_sorted_by_kind() {
        let of = |text: &str| kind(text).map(|kind| KINDS[kind].0);
        assert_eq!(of("4,1,2,-;sched: RT throttling activated"), Some("rt-throttling"));
        assert_eq!(of("6,1,2,-;clocksource: Switched to clocksource hpet"), Some("clocksource"));
        assert_eq!(of("4,1,2,-;hwmon hwmon1: Undervoltage detected!"), Some("under-voltage"));
        assert_eq!(of("6,1,2,-;usb 1-1: new high-speed USB device"), None);
    }

    #[test]
    fn the_counter_of_the_firmware_is_read_where_it_lies() {
        let folder = tempfile::tempdir().unwrap();
        let plant = |file: &str, bytes: &[u8]| {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        };
        let mut registers = vec![0_u8; 0x40];
        registers[0x34] = 17;
        plant("dev/cpu/0/msr", &registers);
        let root = Root::new(folder.path());
        assert!(Events::open(&root).smi.is_none(), "only Intel has it there");
        plant("proc/cpuinfo", b"vendor_id\t: GenuineIntel\n");
        let mut events = Events::open(&root);
        let mut register = Register::default();
        events.read(&mut register);
        let (series, reading) = register.reading(Nanos(1));
        assert_eq!(series.len(), 1, "without a log there are no events, not zero of them");
        assert_eq!((series[0].metric.as_str(), reading.values[0].1), ("smi", Some(17)));
    }
}
