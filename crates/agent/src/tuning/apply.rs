//! Applies a recipe, reads it back, and reports it as settings.

use super::{Away, Recipe, Step, StepObject};
use crate::monitor::{Readback, SettingList};
use latlab_model::run::Setting;
use latlab_model::shell::Line;
use latlab_sys::Errno;
use latlab_sys::files::Root;
use latlab_sys::sched::ThreadScheduling;
use latlab_sys::undo::{Changes, HeldByOther, Kind};
use std::io::{self, Error};

/// What Linux 6.12 does once sched_rt_runtime_us was read or written, unless it holds -1.
const LOST_COUNT: &str = "the kernel's accounting of its servers is inconsistent, as in 6.12 \
                          after sched_rt_runtime_us was read or written: put --tune \
                          rt-throttling=off before it, which ends the accounting";

/// Applies a recipe and reports what was read back; an error is one line.
pub fn apply(
    root: &Root,
    name: &str,
    recipe: &Recipe,
    changes: &mut Changes,
) -> Result<SettingList, String> {
    let (mut differing, mut stay) = (Vec::new(), Vec::new());
    let mut list = SettingList::default();
    for step in &recipe.steps {
        let result = apply_step(step, changes);
        if let (Ok(now), true) = (&result, recipe.away.files.is_empty()) {
            list.monitor(root, &part(name, &step.of, now), readback(step));
        }
        match result {
            Ok(now) if now == step.value => {}
            Err(error) if HeldByOther::is_cause(&error) => {
                return Err(format!("{}: {error}", step.path()));
            }
            Err(error) if !recipe.some_may_stay || is_forbidden(&error) => {
                return Err(refusal_text(step, &error));
            }
            _ if recipe.some_may_stay => stay.push(step.of.as_str()),
            Ok(now) => differing.push(format!("{now} ({})", step.of)),
            Err(_) => {}
        }
    }
    let applied = match differing.is_empty() {
        true => recipe.asked.clone(),
        false => differing.join(", "),
    };
    let setting = Setting {
        matters: true,
        before: recipe.before.clone(),
        ..Setting::new(&format!("tuning {name}"), recipe.asked.clone(), applied)
    };
    let staying = (!stay.is_empty()).then(|| {
        let applied = format!("{}: {}", stay.len(), stay.join(", "));
        let what = format!("{name} that cannot be moved");
        Setting::new(&what, "none".to_string(), applied)
    });
    let Away { files, cpus } = &recipe.away;
    for (of, path) in files.iter().filter(|(of, _)| !stay.contains(&of.as_str())) {
        let readback = Readback::AwayFrom { path: path.clone(), measured: cpus.clone() };
        list.monitor(root, &part(name, of, &format!("not on CPU {cpus}")), readback);
    }
    list.settings.extend(std::iter::once(setting).chain(staying));
    Ok(list)
}

/// A part of a tuning, with this value.
fn part(name: &str, of: &str, value: &str) -> Setting {
    let setting = Setting::new(&format!("tuning {name} ({of})"), value.into(), value.into());
    Setting { matters: true, ..setting }
}

fn readback(Step { target, of, value }: &Step) -> Readback {
    match target {
        StepObject::File(path) => Readback::file(path, value),
        StepObject::Thread(id) => {
            let (kind, path) = (Kind::Thread(*id), of.clone());
            Readback::Kernel { kind, path, value: value.clone() }
        }
    }
}

fn apply_step(Step { target, of, value }: &Step, changes: &mut Changes) -> io::Result<String> {
    match target {
        StepObject::File(path) => changes.set(path, value),
        StepObject::Thread(id) => {
            let wanted: ThreadScheduling = value.parse().map_err(Error::other)?;
            changes.set_thread(*id, of, wanted)
        }
    }
}

/// Whether privileges are missing. A per-CPU interrupt refuses with EIO, on newer kernels with
/// EPERM, which is not a matter of privileges.
fn is_forbidden(error: &Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::ACCESS | Errno::ROFS))
}

fn refusal_text(step: &Step, error: &Error) -> String {
    let Step { target, value, .. } = step;
    let what = step.path();
    let by_hand = match target {
        StepObject::File(path) => Line::new("echo").word(value).text("| sudo tee").word(path),
        StepObject::Thread(id) => {
            let priority = value.trim_start_matches("fifo ");
            Line::new("sudo chrt -f -p").word(priority).word(id.id.to_string())
        }
    };
    let todo = match Errno::from_io_error(error) {
        Some(Errno::ACCESS) => "use sudo".to_string(),
        Some(Errno::ROFS) => "it is mounted read-only, as in a container".to_string(),
        Some(Errno::BUSY) if what.contains("fair_server") => LOST_COUNT.to_string(),
        _ => format!("omit it, or try by hand: {by_hand}"),
    };
    format!("cannot set {what} to '{value}' ({error}): {todo}")
}
