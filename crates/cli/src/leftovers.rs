//! What a killed latlab has left changed, put back.

use crate::exit::EXIT_CANNOT_MEASURE;
use crate::output::{print, warn};
use latlab_sys::files::Root;
use latlab_sys::undo::{Change, Kind, UndoResult, restore_leftovers};
use std::process::ExitCode;

/// Puts back what a killed latlab has left, and says what that was.
pub fn restore_command() -> anyhow::Result<ExitCode> {
    let undone = restore_leftovers(&Root::default());
    let ended = end_loads();
    if undone.is_empty() && ended.is_none() {
        print("Nothing to restore.\n")?;
    }
    if let Some(ended) = ended {
        print(&format!("{ended}\n"))?;
    }
    for one in &undone {
        print(&format!("{}\n", sentence(one)))?;
    }
    let failed = undone.iter().any(|(_, undone)| matches!(undone, UndoResult::Failed(_)));
    Ok(if failed { ExitCode::from(EXIT_CANNOT_MEASURE) } else { ExitCode::SUCCESS })
}

/// Before any other work: whatever a killed latlab has left changed is in the way of the next.
pub fn restore() {
    undo_leftovers().iter().for_each(warn);
}

/// Undoes what a killed latlab has left changed; a sentence for each change.
pub fn undo_leftovers() -> Vec<String> {
    let undone = restore_leftovers(&Root::default());
    undone.iter().map(sentence).chain(end_loads()).collect()
}

/// Ends what the loads of a killed latlab have left running, and says so.
fn end_loads() -> Option<String> {
    let ended = latlab_agent::end_orphans(&Root::default());
    (ended > 0).then(|| format!("ended {ended} load processes that a killed latlab had left"))
}

fn sentence((Change { path, before, after, kind }, undone): &(Change, UndoResult)) -> String {
    match undone {
        UndoResult::Restored if *kind == Kind::Folder => {
            format!("removed {path}, which a killed latlab had left")
        }
        UndoResult::Restored => {
            format!("restored {path} from '{after}' to '{before}'")
        }
        UndoResult::Gone => {
            format!("{path} no longer exists; a killed latlab had left it as '{after}'")
        }
        UndoResult::ChangedSince(now) => format!(
            "left {path} as '{now}', which somebody set after a killed latlab had changed it from \
             '{before}' to '{after}'"
        ),
        UndoResult::Failed(reason) => {
            format!("cannot restore {path} from '{after}' to '{before}': {reason}")
        }
    }
}
