//! Named changes of the machine for the time of a run.
//!
//! Each tuning is first resolved, without changing anything, to files and threads of this machine
//! with their old and new values. Only when all are resolved are they applied and read back. A
//! thread is identified by number, start time and name, so that a later thread with the same number
//! is never touched.

mod affinity;
mod apply;
mod cpus;
mod threads;

use crate::layout::{Cpus, Layout};
use crate::monitor::SettingList;
use crate::refusals::machine_refuses;
use latlab_model::CpuSet;
use latlab_model::frame::Refusal;
use latlab_model::plan::{Thp, Tuning};
use latlab_sys::files::Root;
use latlab_sys::undo::{Changes, ThreadId, read_value};
use std::io::ErrorKind;

const RT_RUNTIME: &str = "/proc/sys/kernel/sched_rt_runtime_us";
const TIMER_MIGRATION: &str = "/proc/sys/kernel/timer_migration";
const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// A tuning resolved on this machine.
#[derive(Clone, PartialEq, Debug)]
struct Recipe {
    /// What is asked, for people.
    asked: String,
    /// The present value, if it differs.
    before: Option<String>,
    steps: Vec<Step>,
    /// Whether the machine may refuse some steps, which is then reported.
    some_may_stay: bool,
    /// What to read again instead of the steps, if not every change matters.
    away: Away,
}

/// Files with CPU lists that must stay free of some CPUs, including those that needed no change.
#[derive(Clone, Default, PartialEq, Debug)]
struct Away {
    /// What each file is for, in words, and its path.
    files: Vec<(String, String)>,
    cpus: CpuSet,
}

/// One change of a recipe.
#[derive(Clone, PartialEq, Debug)]
struct Step {
    target: StepObject,
    /// What it changes, in words.
    of: String,
    value: String,
}

impl Step {
    /// The path of a file, or the name of a thread.
    fn path(&self) -> &str {
        match &self.target {
            StepObject::File(path) => path,
            StepObject::Thread(_) => &self.of,
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
enum StepObject {
    File(String),
    Thread(ThreadId),
}

/// Where tunings are resolved.
struct TuningContext<'a> {
    root: &'a Root,
    measured: CpuSet,
    /// CPUs that are present and not measured.
    free: CpuSet,
}

impl<'a> TuningContext<'a> {
    fn new(root: &'a Root, layout: &Layout, cpus: &Cpus) -> TuningContext<'a> {
        let wakers = layout.wakers.iter().flatten().copied();
        let measured: CpuSet = layout.measured(cpus).iter().chain(wakers).collect();
        let free = cpus.online.without(&measured);
        TuningContext { root, measured, free }
    }
}

/// Applies the tunings; none if any cannot be resolved.
pub fn tune(
    root: &Root,
    tunings: &[Tuning],
    (layout, cpus): (&Layout, &Cpus),
    changes: &mut Changes,
) -> Result<SettingList, Refusal> {
    let ground = TuningContext::new(root, layout, cpus);
    let refused = |tuning| move |text| machine_refuses(format!("--tune {tuning}: {text}"));
    let recipes = tunings.iter().map(|tuning| recipe(tuning, &ground).map_err(refused(tuning)));
    let recipes: Vec<Recipe> = recipes.collect::<Result<_, _>>()?;
    let mut settings = SettingList::default();
    for (tuning, recipe) in tunings.iter().zip(&recipes) {
        let applied = apply::apply(root, &tuning.name(), recipe, changes);
        settings.append(applied.map_err(refused(tuning))?);
    }
    Ok(settings)
}

/// Resolves a tuning; an error says what is missing and what to do, in one line.
fn recipe(tuning: &Tuning, ground: &TuningContext) -> Result<Recipe, String> {
    match tuning {
        Tuning::Governor(name) => cpus::governor(ground, name),
        Tuning::FairServerOff => cpus::fair_server(ground),
        Tuning::IrqsAway => affinity::irqs(ground),
        Tuning::WorkqueuesAway => affinity::workqueues(ground),
        Tuning::RtThrottlingOff => one_file(
            ground.root,
            RT_RUNTIME,
            "-1",
            "it does not throttle real-time threads this \
                                                     way",
        ),
        Tuning::TimerMigrationOff => one_file(
            ground.root,
            TIMER_MIGRATION,
            "0",
            "without CONFIG_NO_HZ_COMMON timers do not migrate",
        ),
        Tuning::Thp(when) => huge_pages(ground.root, *when),
        Tuning::IrqThread { pattern, priority } => threads::irq_threads(ground, pattern, *priority),
    }
}

fn huge_pages(root: &Root, when: Thp) -> Result<Recipe, String> {
    let missing = "it was built without CONFIG_TRANSPARENT_HUGEPAGE";
    one_file(root, HUGE_PAGES, when.as_str(), missing)
}

/// Sets one file to this value.
fn one_file(root: &Root, path: &str, value: &str, missing: &str) -> Result<Recipe, String> {
    let now = present(root, path, missing)?;
    let step = Step { target: StepObject::File(path.into()), of: path.into(), value: value.into() };
    Ok(Recipe {
        asked: value.to_string(),
        before: (now != value).then_some(now),
        steps: vec![step],
        some_may_stay: false,
        away: Away::default(),
    })
}

/// The contents of a file that this kernel may lack.
fn present(root: &Root, path: &str, missing: &str) -> Result<String, String> {
    read_value(root, path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("this kernel has no {path} ({missing}): omit it"),
        ErrorKind::PermissionDenied => format!(
            "cannot read {path} ({error}): use sudo; if root cannot read it either, the kernel is \
             locked down or a container hides it"
        ),
        _ => format!("cannot read {path} ({error}): omit it"),
    })
}

/// Groups things by value: `ondemand (CPU 0-1), powersave (CPU 2)`.
fn group_values(had: &[(String, String)]) -> Option<String> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for (of, value) in had {
        match groups.iter_mut().find(|(known, _)| known == value) {
            Some((_, all)) => all.push(of),
            None => groups.push((value, vec![of])),
        }
    }
    let text = |(value, all): &(&str, Vec<&str>)| format!("{value} ({})", all.join(", "));
    (!groups.is_empty()).then(|| groups.iter().map(text).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests;
