//! A setting that was made, and how it is read again.

use super::thread::{MonitoredThread, Reading};
use latlab_model::finding::{Finding, SetupFinding};
use latlab_model::run::Setting;
use latlab_model::{CpuSet, Nanos};
use latlab_sys::clock::Clock;
use latlab_sys::dma_latency::DmaLatency;
use latlab_sys::files::Root;
use latlab_sys::undo::{self, Kind, read_value};
use std::io::{self, ErrorKind};
use std::sync::Arc;

/// Where a setting is read again.
#[derive(Clone, Debug)]
pub enum Readback {
    /// The scheduling of a thread.
    Scheduling(Arc<MonitoredThread>),
    /// The CPUs of a thread.
    Affinity(Arc<MonitoredThread>),
    /// The timer slack of a thread.
    TimerSlack(Arc<MonitoredThread>),
    /// What this process has of the kernel: its memory lock or a limit.
    Process(fn() -> String),
    /// The request for shallow idle states.
    IdleStates(Arc<DmaLatency>),
    /// A kernel file, or a thread of an interrupt.
    Kernel {
        /// What it is.
        kind: Kind,
        /// Its path, or the thread's name.
        path: String,
        /// What was asked for, which says the word to look at in a file that holds several.
        value: String,
    },
    /// A kernel file with CPUs, none of which may be among these.
    AwayFrom {
        /// Its path.
        path: String,
        /// The measured CPUs.
        measured: CpuSet,
    },
}

impl Readback {
    /// A kernel file of one value.
    pub fn file(path: &str, value: &str) -> Readback {
        Readback::Kernel { kind: Kind::File, path: path.to_string(), value: value.to_string() }
    }

    /// The value; `None` once the thread or the interrupt is gone. The error says why it cannot be read.
    fn read(&self, root: &Root) -> Result<Option<Reading>, String> {
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

    /// The path of the kernel file; none for a setting that is not in a file.
    fn path(&self) -> Option<&str> {
        match self {
            Readback::Kernel { kind: Kind::Thread(_), .. } => None,
            Readback::Kernel { path, .. } | Readback::AwayFrom { path, .. } => Some(path),
            _ => None,
        }
    }
}

/// The request for idle states as a setting says it.
pub fn idle_states(held: &DmaLatency) -> String {
    match held.read() {
        // Another program may ask for less, with which this request holds as well.
        Ok(us) => format!("exit latency up to {} us", us.max(held.asked_us())),
        Err(error) => format!("cannot be read: {error}"),
    }
}

/// Whether what a setting belongs to has gone, as an interrupt does with its device: all other files
/// of the kernel stay as long as it runs.
fn is_gone(root: &Root, kind: Kind, path: &str, error: &io::Error) -> bool {
    let folder = path.strip_prefix("/proc/irq/").and_then(|rest| rest.split('/').next());
    let is_there = |number| root.has(format!("proc/irq/{number}"));
    // Without the others, their folder itself is hidden.
    let interrupt = folder.is_some_and(|number| root.has("proc/irq") && !is_there(number));
    error.kind() == ErrorKind::NotFound && (matches!(kind, Kind::Thread(_)) || interrupt)
}

/// Whether a file lists other CPUs than the measured ones; `None` if it holds no list of CPUs.
fn away_from(path: &str, text: &str, measured: &CpuSet) -> Option<String> {
    // The only files with lists of CPUs say so in their names.
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

/// A setting that is read again.
#[derive(Clone, Debug)]
pub struct MonitoredSetting {
    setting: String,
    thread: Option<u32>,
    matters: bool,
    value: String,
    readback: Readback,
    /// Whether it was told that somebody wrote to it.
    was_written: bool,
    /// Whether it was told that it cannot be read.
    was_unreadable: bool,
}

impl MonitoredSetting {
    /// A setting as it was made; none where its value cannot be read.
    fn new(root: &Root, setting: &Setting, readback: Readback) -> Option<MonitoredSetting> {
        let Setting { what, thread, matters, .. } = setting.clone();
        let value = match setting.holds() {
            true => setting.applied.clone(),
            // It then has a reason in the place of a value.
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

    /// The path of the kernel file; none for a setting that is not in a file.
    pub(super) fn path(&self) -> Option<&str> {
        self.readback.path()
    }

    /// Reads it again; what differs from the last reading is a finding.
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

    /// It cannot be read; told once.
    fn unreadable(&mut self, reason: String) -> Option<Finding> {
        if std::mem::replace(&mut self.was_unreadable, true) {
            return None;
        }
        let (setting, held) = (self.setting.clone(), self.value.clone());
        let unreadable = SetupFinding::SettingUnreadable { setting, held, reason };
        Some(Finding::new(unreadable).at(Nanos(Clock::Monotonic.now())).of_thread(self.thread))
    }

    /// Somebody wrote to it, and it holds what it held; told once.
    pub(super) fn written(&mut self) -> Option<Finding> {
        // An interrupt may move among the CPUs that are not measured.
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

/// Settings as they were made, and what of them is read again.
#[derive(Default, Debug)]
pub struct SettingList {
    /// What was asked and what was read back.
    pub settings: Vec<Setting>,
    /// What is read again.
    pub monitored: Vec<MonitoredSetting>,
}

impl SettingList {
    /// Adds a setting that cannot change.
    pub fn push(&mut self, setting: Setting) {
        self.settings.push(setting);
    }

    /// Adds a setting that is read again.
    pub fn push_monitored(&mut self, root: &Root, setting: Setting, readback: Readback) {
        self.monitor(root, &setting, readback);
        self.settings.push(setting);
    }

    /// Has a part of a setting read again, which is not told by itself.
    pub fn monitor(&mut self, root: &Root, part: &Setting, readback: Readback) {
        self.monitored.extend(MonitoredSetting::new(root, part, readback));
    }

    /// Adds those of another list.
    pub fn append(&mut self, other: SettingList) {
        self.settings.extend(other.settings);
        self.monitored.extend(other.monitored);
    }
}
