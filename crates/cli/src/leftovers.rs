//! What a killed latlab has left changed or running, undone.

use crate::exit::EXIT_CANNOT_MEASURE;
use crate::output::{print_text, warn};
use latlab_sys::files::Root;
use latlab_sys::undo::{Change, Kind, Leftovers, UndoResult, restore_leftovers};
use std::process::ExitCode;

/// Undoes what a killed latlab has left, and says what that was.
pub fn restore_command() -> anyhow::Result<ExitCode> {
    let left = restore_leftovers(&Root::default());
    let sentences = sentences(&left);
    if sentences.is_empty() {
        print_text("Nothing to restore.\n")?;
    }
    for sentence in sentences {
        print_text(&format!("{sentence}\n"))?;
    }
    let is_failed = |(_, result): &(Change, UndoResult)| {
        matches!(result, UndoResult::Failed(_) | UndoResult::Elsewhere(_))
    };
    let is_whole = left.problems.is_empty() && !left.undone.iter().any(is_failed);
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::from(EXIT_CANNOT_MEASURE) })
}

/// Before any other work: whatever a killed latlab has left changed is in the way of the next.
pub fn restore() {
    undo_leftovers().iter().for_each(warn);
}

/// Undoes what a killed latlab has left changed; a sentence for each change.
pub fn undo_leftovers() -> Vec<String> {
    let mut left = restore_leftovers(&Root::default());
    // Only `doctor --restore` says what cannot be undone from here.
    left.undone.retain(|(_, result)| !matches!(result, UndoResult::Elsewhere(_)));
    sentences(&left)
}

fn sentences(left: &Leftovers) -> Vec<String> {
    let ended = left.undone.iter().map(|(_, result)| match result {
        UndoResult::Ended(count) => *count,
        _ => 0,
    });
    let ended: usize = ended.sum();
    let ended = (ended > 0).then(|| format!("stopped {ended} load processes of a killed latlab"));
    let undone = left.undone.iter().filter_map(sentence);
    undone.chain(ended).chain(left.problems.iter().cloned()).collect()
}

fn sentence((change, result): &(Change, UndoResult)) -> Option<String> {
    let Change { path, before, after, kind } = change;
    let is_load = matches!(kind, Kind::Cgroup(_) | Kind::Scratch(_));
    let left = || match kind {
        Kind::Cgroup(_) | Kind::Scratch(_) => format!("remove {path} of a load"),
        Kind::Folder => format!("remove {path}"),
        _ => format!("restore {path} from '{after}' to '{before}'"),
    };
    Some(match result {
        UndoResult::Ended(_) => return None,
        UndoResult::Gone if is_load => return None,
        UndoResult::Restored if *kind == Kind::Folder => {
            format!("removed {path}, left by a killed latlab")
        }
        UndoResult::Restored => format!("restored {path} from '{after}' to '{before}'"),
        UndoResult::Gone => {
            format!("{path} no longer exists; a killed latlab had set it to '{after}'")
        }
        UndoResult::ChangedSince(now) => format!(
            "did not restore {path}: a killed latlab had changed it from '{before}' to '{after}', \
             but it is now '{now}'"
        ),
        UndoResult::HeldBy { holder, restores: true } => {
            format!(
                "did not restore {path}: {holder} still needs '{after}', and restores '{before}' when it ends"
            )
        }
        UndoResult::HeldBy { holder, restores: false } => {
            format!("cannot {} before {holder} has ended", left())
        }
        UndoResult::Elsewhere(namespace) => format!(
            "cannot {}: it was changed in another {namespace} namespace (of a container?); run \
             `latlab doctor --restore` there",
            left()
        ),
        UndoResult::Failed(reason) => format!("cannot {}: {reason}", left()),
    })
}
