//! A setting that was made, and how to read it again.

use super::thread::{MonitoredThread, SettingReading};
use latlab_model::finding::{Finding, SetupFinding};
use latlab_model::run::Setting;
use latlab_model::{CpuSet, Nanos};
use latlab_sys::clock::Clock;
use latlab_sys::dma_latency::DmaLatency;
use latlab_sys::files::Root;
use latlab_sys::undo::{self, Kind, read_value};
use std::io::{self, ErrorKind};
use std::sync::Arc;

/// How a setting is read again.
#[derive(Clone, Debug)]
pub enum Readback {
    /// A thread's scheduling.
    Scheduling(Arc<MonitoredThread>),
    /// A thread's CPUs.
    Affinity(Arc<MonitoredThread>),
    /// A thread's timer slack.
    TimerSlack(Arc<MonitoredThread>),
    /// A property of this process: its memory lock or a limit.
    Process(fn() -> String),
    /// The request for shallow idle states.
    IdleStates(Arc<DmaLatency>),
    /// A kernel file, or the scheduling of an interrupt's thread.
    Kernel {
        kind: Kind,
        /// The path, or the thread's name.
        path: String,
        /// The requested value, which selects the word to compare in a file that holds several.
        value: String,
    },
    /// A kernel file with a CPU list that must not contain any of these.
    AwayFrom { path: String, measured: CpuSet },
}

impl Readback {
    /// A kernel file with one value.
    pub fn file(path: &str, value: &str) -> Readback {
        Readback::Kernel { kind: Kind::File, path: path.to_string(), value: value.to_string() }
    }

    /// The value; `None` once the thread or interrupt is gone. The error says why it cannot be
    /// read.
    fn read(&self, root: &Root) -> Result<Option<SettingReading>, String> {
        let value = match self {
            Readback::Scheduling(thread) => return Ok(thread.scheduling()),
            Readback::Affinity(thread) => return Ok(thread.affinity()),
            Readback::TimerSlack(thread) => return Ok(thread.timer_slack()),
            Readback::Process(read) => read(),
            Readback::IdleStates(held) => idle_states(held),
            Readback::Kernel { kind, path, value } => match undo::read(*kind, root, path, value) {
                Err(error) if is_gone(root, *kind, path, &error) => return Ok(None),
                Err(error) => return Err(error.to_string()),
                Ok(value) => value,
            },
            Readback::AwayFrom { path, measured } => match read_value(root, path) {
                Err(error) if is_gone(root, Kind::File, path, &error) => return Ok(None),
                Err(error) => return Err(error.to_string()),
                Ok(text) => away_from(path, &text, measured).ok_or("it holds no CPUs")?,
            },
        };
        Ok(Some((Nanos(Clock::Monotonic.now()), value)))
    }

    /// Path of the kernel file; `None` for a setting without a file.
    fn path(&self) -> Option<&str> {
        match self {
            Readback::Kernel { kind: Kind::Thread(_), .. } => None,
            Readback::Kernel { path, .. } | Readback::AwayFrom { path, .. } => Some(path),
            _ => None,
        }
    }
}

/// The idle-state request in the words of a setting.
pub fn idle_states(held: &DmaLatency) -> String {
    match held.read() {
        // Another program may ask for an even smaller value, which satisfies this request too.
        Ok(us) => format!("exit latency up to {} us", us.max(held.asked_us())),
        Err(error) => format!("cannot be read: {error}"),
    }
}

/// Whether the object of a setting is gone, as an interrupt goes with its device. All other kernel
/// files stay while the kernel runs.
fn is_gone(root: &Root, kind: Kind, path: &str, error: &io::Error) -> bool {
    let folder = path.strip_prefix("/proc/irq/").and_then(|rest| rest.split('/').next());
    let is_there = |number| root.has(format!("proc/irq/{number}"));
    // If no interrupt is left, the folder itself is hidden.
    let interrupt = folder.is_some_and(|number| root.has("proc/irq") && !is_there(number));
    error.kind() == ErrorKind::NotFound && (matches!(kind, Kind::Thread(_)) || interrupt)
}

/// The CPU list of a file, or that it lists none of the measured CPUs; `None` if it holds no CPU
/// list.
fn away_from(path: &str, text: &str, measured: &CpuSet) -> Option<String> {
    // Only files whose names end in `_list` hold lists; the others hold masks.
    let cpus = match path.ends_with("_list") {
        true => text.parse().ok(),
        false => CpuSet::from_mask(text),
    }?;
    let among = cpus.and(measured);
    Some(match among.is_empty() {
        true => format!("not on CPU {measured}"),
        false => format!("on CPU {cpus}"),
    })
}

/// A monitored setting.
#[derive(Clone, Debug)]
pub struct MonitoredSetting {
    setting: String,
    thread: Option<u32>,
    matters: bool,
    value: String,
    readback: Readback,
    /// Whether a write was already reported.
    was_written: bool,
    /// Whether a failed reading was already reported.
    was_unreadable: bool,
}

impl MonitoredSetting {
    /// A setting as it was made; `None` if it cannot be read.
    fn new(root: &Root, setting: &Setting, readback: Readback) -> Option<MonitoredSetting> {
        let Setting { what, thread, matters, .. } = setting.clone();
        let value = match setting.holds() {
            true => setting.applied.clone(),
            // `applied` then holds a reason instead of a value.
            false => readback.read(root).ok()??.1,
        };
        Some(MonitoredSetting {
            setting: what,
            thread,
            matters,
            value,
            readback,
            was_written: false,
            was_unreadable: false,
        })
    }

    /// Path of the kernel file; `None` for a setting without a file.
    pub(super) fn path(&self) -> Option<&str> {
        self.readback.path()
    }

    /// Reads it again; a difference from the last reading is a finding.
    pub fn read(&mut self, root: &Root) -> Option<Finding> {
        let (at, now) = match self.readback.read(root) {
            Ok(reading) => reading?,
            Err(reason) => return self.unreadable(reason),
        };
        if now == self.value {
            return None;
        }
        let held = std::mem::replace(&mut self.value, now.clone());
        let (setting, matters) = (self.setting.clone(), self.matters);
        let changed = SetupFinding::SettingChanged { setting, held, now, matters };
        Some(Finding::new(changed).at(at).of_thread(self.thread))
    }

    /// Reports once that it cannot be read.
    fn unreadable(&mut self, reason: String) -> Option<Finding> {
        if std::mem::replace(&mut self.was_unreadable, true) {
            return None;
        }
        let (setting, held) = (self.setting.clone(), self.value.clone());
        let unreadable = SetupFinding::SettingUnreadable { setting, held, reason };
        Some(Finding::new(unreadable).at(Nanos(Clock::Monotonic.now())).of_thread(self.thread))
    }

    /// Reports once that it was written to although its value is unchanged.
    pub(super) fn written(&mut self) -> Option<Finding> {
        // An interrupt may move among the unmeasured CPUs.
        if matches!(self.readback, Readback::AwayFrom { .. }) {
            return None;
        }
        if std::mem::replace(&mut self.was_written, true) {
            return None;
        }
        let (setting, value) = (self.setting.clone(), self.value.clone());
        let written = SetupFinding::SettingWritten { setting, value };
        Some(Finding::new(written).at(Nanos(Clock::Monotonic.now())).of_thread(self.thread))
    }
}

/// Settings as they were made, and how to read them again.
#[derive(Default, Debug)]
pub struct SettingList {
    /// What was asked and what was read back.
    pub settings: Vec<Setting>,
    /// The ones to read again.
    pub monitored: Vec<MonitoredSetting>,
}

impl SettingList {
    /// Adds a setting that cannot change.
    pub fn push(&mut self, setting: Setting) {
        self.settings.push(setting);
    }

    /// Adds a setting to be read again.
    pub fn push_monitored(&mut self, root: &Root, setting: Setting, readback: Readback) {
        self.monitor(root, &setting, readback);
        self.settings.push(setting);
    }

    /// Monitors a part of a setting that is not listed separately.
    pub fn monitor(&mut self, root: &Root, part: &Setting, readback: Readback) {
        self.monitored.extend(MonitoredSetting::new(root, part, readback));
    }

    pub fn append(&mut self, other: SettingList) {
        self.settings.extend(other.settings);
        self.monitored.extend(other.monitored);
    }
}
