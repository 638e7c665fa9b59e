//! Settings of the whole program: made, read back, and undone when the guard is dropped.

use crate::attach::{self, PreparedAttach};
use crate::flight::{self, PreparedRecorder};
use crate::layout::{Cpus, Layout};
use crate::monitor::{self, Readback, SettingList};
use crate::refusals::{machine_refuses, memory_lock_refused};
use crate::timerlat::{self, KernelTimer};
use crate::trace;
use crate::tuning::tune;
use latlab_model::finding::{Finding, SetupFinding};
use latlab_model::frame::Refusal;
use latlab_model::plan::{IdleStates, KernelFile, Measurement, Task};
use latlab_model::run::Setting;
use latlab_sys::dma_latency::DmaLatency;
use latlab_sys::files::Root;
use latlab_sys::memory::{self, MemoryLock};
use latlab_sys::undo::{Change, Changes, HeldByOther, UndoResult, read_value, single_spaced};
use std::io;
use std::sync::Arc;

/// A real-time thread that has run this long without sleeping is signalled to end …
const SIGNAL_AFTER_US: u64 = 2_000_000;
/// … and after this long it is killed, so that a bug of ours cannot hang the machine.
const KILL_AFTER_US: u64 = 4_000_000;

/// Keeps the settings in force until dropped.
pub struct AppliedSettings {
    /// What was asked and what was read back.
    pub settings: SettingList,
    _dma_latency: Option<Arc<DmaLatency>>,
    /// The trace for the breakdown, until its reader starts.
    pub trace: Option<trace::PreparedTrace>,
    /// The flight recorder, until it records.
    pub recorder: Option<PreparedRecorder>,
    /// The kernel's measuring threads, one per thread of the layout, until their readers start.
    pub kernel: Vec<KernelTimer>,
    /// The attached program, until it is followed.
    pub attach: Option<PreparedAttach>,
    changes: Option<Changes>,
    is_memory_locked: bool,
}

impl AppliedSettings {
    /// Locks present memory for a process with a limited lock, once everything it measures with is
    /// allocated.
    pub fn lock_present_memory(&mut self, root: &Root, realtime: bool) -> Result<(), Refusal> {
        if std::mem::replace(&mut self.is_memory_locked, true) {
            return Ok(());
        }
        push_memory_lock(root, realtime, MemoryLock::Present, &mut self.settings)
    }

    /// Restores everything; returns findings for what could not be restored.
    pub fn undo(self) -> Vec<Finding> {
        let undone = self.changes.map(Changes::undo).unwrap_or_default();
        undone.iter().filter_map(not_restored).collect()
    }
}

fn not_restored((Change { path, before, .. }, undone): &(Change, UndoResult)) -> Option<Finding> {
    let (now, error) = match undone {
        UndoResult::Restored
        | UndoResult::Gone
        | UndoResult::Ended(_)
        | UndoResult::HeldBy { restores: true, .. } => return None,
        UndoResult::HeldBy { holder, restores: false } => {
            (None, Some(format!("{holder} holds it")))
        }
        UndoResult::Elsewhere(_) => (None, Some("it belongs to another namespace".to_string())),
        UndoResult::ChangedSince(now) => (Some(now.clone()), None),
        UndoResult::Failed(reason) => (None, Some(reason.clone())),
    };
    let (setting, before) = (path.clone(), before.clone());
    Some(Finding::new(SetupFinding::SettingNotRestored { setting, before, now, error }))
}

/// Makes the settings of the whole program.
pub fn prepare(
    root: &Root,
    measurement: &Measurement,
    layout: &Layout,
    cpus: &Cpus,
    own_cpus: &[u32],
) -> Result<AppliedSettings, Refusal> {
    let (plan, realtime) = (&measurement.plan, measurement.policy.is_realtime());
    if let Task::Timerlat(_) = measurement.task {
        timerlat::expect_tracer(root)?;
    }
    let mut settings = SettingList::default();
    let may_lock_all = memory::may_lock_all();
    if may_lock_all {
        push_memory_lock(root, realtime, MemoryLock::All, &mut settings)?;
    }
    if realtime {
        let setting = limit_realtime_run();
        settings.push_monitored(root, setting, Readback::Process(realtime_run_limit));
    }
    let dma_latency = idle_states(root, measurement.idle_states, &mut settings);
    let mut changes = begin_changes(root, measurement)?;
    let (mut trace, mut recorder, mut kernel, mut attached) = (None, None, Vec::new(), None);
    if let Some(changes) = &mut changes {
        kernel_files(root, &plan.on.kernel_files, changes, &mut settings)?;
        settings.append(tune(root, &plan.on.tunings, (layout, cpus), changes)?);
        match &measurement.task {
            Task::Cyclic(cyclic) if cyclic.breakdown => {
                trace = Some(trace::prepare(root, changes)?)
            }
            Task::Timerlat(timerlat) => {
                kernel = timerlat::prepare(root, *timerlat, layout, changes, &mut settings)?;
            }
            Task::Attach(attach) => {
                attached = Some(attach::prepare(root, attach, own_cpus, changes)?);
            }
            Task::Cyclic(_)
            | Task::Handoff(_)
            | Task::Spin(_)
            | Task::Respond(_)
            | Task::Gpio(_)
            | Task::Instrument => {}
        }
        recorder = plan.keep.explain.then(|| flight::prepare(root, changes)).transpose()?;
    }
    Ok(AppliedSettings {
        settings,
        _dma_latency: dma_latency,
        trace,
        recorder,
        kernel,
        attach: attached,
        changes,
        is_memory_locked: may_lock_all,
    })
}

/// Starts the record of kernel changes, if any are to be made.
fn begin_changes(root: &Root, measurement: &Measurement) -> Result<Option<Changes>, Refusal> {
    let cannot = |error| machine_refuses(format!("cannot change kernel files: {error}"));
    let traces = match &measurement.task {
        Task::Cyclic(cyclic) => cyclic.breakdown,
        Task::Timerlat(_) | Task::Attach(_) => true,
        Task::Handoff(_) | Task::Spin(_) | Task::Respond(_) | Task::Gpio(_) | Task::Instrument => {
            false
        }
    };
    let plan = &measurement.plan;
    let wanted = !plan.on.kernel_files.is_empty()
        || !plan.on.tunings.is_empty()
        || traces
        || plan.keep.explain;
    wanted.then(|| Changes::begin(root).map_err(cannot)).transpose()
}

/// Writes the files of `--set`, each read back.
fn kernel_files(
    root: &Root,
    files: &[KernelFile],
    changes: &mut Changes,
    settings: &mut SettingList,
) -> Result<(), Refusal> {
    for KernelFile { path, value } in files {
        let asked = single_spaced(value);
        let before = read_value(root, path).ok();
        let applied = changes.set(path, value).map_err(|error| {
            let hint = match HeldByOther::is_cause(&error) {
                true => String::new(),
                false => format!("; see `ls -l {path}`"),
            };
            machine_refuses(format!("--set {path}={value}: {error}{hint}"))
        })?;
        let before = before.filter(|before| *before != applied);
        let setting = Setting::new(path, asked, applied);
        let setting = Setting { matters: true, before, ..setting };
        settings.push_monitored(root, setting, Readback::file(path, value));
    }
    Ok(())
}

const ALL_PAGES: &str = "all pages";
const NOTHING_LOCKED: &str = "nothing is locked";

fn push_memory_lock(
    root: &Root,
    realtime: bool,
    what: MemoryLock,
    settings: &mut SettingList,
) -> Result<(), Refusal> {
    let setting = memory_lock(root, realtime, what)?;
    // If the kernel cannot tell whether the tested page is locked, there is nothing to compare.
    if setting.holds() && lock_of_memory() == setting.applied {
        settings.push_monitored(root, setting, Readback::Process(lock_of_memory));
    } else {
        settings.push(setting);
    }
    Ok(())
}

fn memory_lock(root: &Root, realtime: bool, what: MemoryLock) -> Result<Setting, Refusal> {
    let applied = match memory::lock(what) {
        Ok(()) if memory::locked_bytes(root) == Some(0) => NOTHING_LOCKED.to_string(),
        Ok(()) => ALL_PAGES.to_string(),
        Err(error) if realtime => return Err(memory_lock_refused(error)),
        Err(error) => format!("refused: {error}"),
    };
    Ok(Setting {
        // SCHED_OTHER threads are measured anyway; their page faults show whether paging mattered.
        matters: realtime,
        ..Setting::new("memory lock", ALL_PAGES.into(), applied)
    })
}

fn lock_of_memory() -> String {
    if memory::is_locked() { ALL_PAGES.into() } else { NOTHING_LOCKED.into() }
}

fn limit_realtime_run() -> Setting {
    let asked = format!("{} s without sleeping", SIGNAL_AFTER_US / 1_000_000);
    let applied = match memory::limit_realtime_run(SIGNAL_AFTER_US, KILL_AFTER_US) {
        Err(error) => format!("refused: {error}"),
        Ok(()) => realtime_run_limit(),
    };
    Setting::new("run-away guard", asked, applied)
}

fn realtime_run_limit() -> String {
    match memory::realtime_run_limit() {
        Some(us) if us % 1_000_000 == 0 => format!("{} s without sleeping", us / 1_000_000),
        Some(us) => format!("{us} us without sleeping"),
        None => "no limit".to_string(),
    }
}

/// Asks for shallow idle states; dropping the request ends it.
fn idle_states(
    root: &Root,
    asked: IdleStates,
    settings: &mut SettingList,
) -> Option<Arc<DmaLatency>> {
    let IdleStates::ExitWithin(limit) = asked else { return None };
    let asked_us = (limit.0 / 1000).clamp(0, i64::from(i32::MAX)) as i32;
    let setting = |applied| {
        let asked = format!("exit latency up to {asked_us} us");
        Setting::new("idle states", asked, applied)
    };
    match DmaLatency::request(root, asked_us).map(Arc::new) {
        Ok(request) => {
            let readback = Readback::IdleStates(Arc::clone(&request));
            settings.push_monitored(root, setting(monitor::idle_states(&request)), readback);
            return Some(request);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let text = "system default: no /dev/cpu_dma_latency";
            settings.push(setting(text.to_string()));
        }
        Err(error) => {
            let text = format!("system default: /dev/cpu_dma_latency: {error}");
            settings.push(setting(text));
        }
    }
    None
}
