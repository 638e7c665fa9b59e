//! What processes that are gone have left changed or running, undone.

use super::change::{Change, Kind, UndoResult};
use super::lines::{lines, parse};
use super::{note_failure, others, undo_all};
use crate::files::Root;
use crate::process::effective_user;
use crate::record::{
    FolderLock, FoundRecord, Origin, Subject, UnreadableRecord, own_folders, records_in,
    remove_drafts,
};
use crate::scratch::remove_abandoned;
use std::fs;
use std::io;
use std::path::Path;

/// What was left, and what became of it.
#[derive(Debug, Default)]
pub struct Leftovers {
    /// Each change with what became of it.
    pub undone: Vec<(Change, UndoResult)>,
    /// Records that cannot be read, each in a line.
    pub problems: Vec<String>,
}

impl Leftovers {
    /// A sentence for each change, and one for all processes.
    pub fn sentences(&self) -> Vec<String> {
        let ended = self.undone.iter().map(|(_, result)| match result {
            UndoResult::Ended(count) => *count,
            _ => 0,
        });
        let ended: usize = ended.sum();
        let ended =
            (ended > 0).then(|| format!("stopped {ended} load processes of a killed latlab"));
        let undone = self.undone.iter().filter_map(sentence);
        undone.chain(ended).chain(self.problems.iter().cloned()).collect()
    }
}

/// Undoes what processes of this user have left; a sentence for each change that can be undone from here,
/// which those of another namespace (of a container) cannot.
pub fn restore_from_here(root: &Root) -> Vec<String> {
    let mut left = restore_leftovers(root);
    left.undone.retain(|(_, result)| !matches!(result, UndoResult::Elsewhere(_)));
    left.sentences()
}

/// Undoes what processes of this user have left.
pub fn restore_leftovers(root: &Root) -> Leftovers {
    let left = restore(root, &[Subject::Cpus, Subject::Changes, Subject::Load]);
    if root.is_machine() {
        remove_abandoned();
    }
    left
}

/// Ends the loads that processes of this user have left.
pub fn restore_loads(root: &Root) -> Leftovers {
    restore(root, &[Subject::Load])
}

fn restore(root: &Root, subjects: &[Subject]) -> Leftovers {
    let mut left = Leftovers::default();
    for folder in own_folders(root) {
        if let Err(error) = restore_folder(root, &folder, subjects, &mut left) {
            let folder = folder.display();
            left.problems.push(format!(
                "cannot look in {folder} for what a killed latlab has left: {error}"
            ));
        }
    }
    if effective_user() != 0 {
        left.undone.extend(changes_of_root(root));
    }
    left
}

fn restore_folder(
    root: &Root,
    folder: &Path,
    subjects: &[Subject],
    left: &mut Leftovers,
) -> io::Result<()> {
    // Nothing to wait for, as mostly.
    let is_held = |found: &FoundRecord| found.is_held;
    if records_in(folder, subjects)?.iter().all(|found| found.as_ref().is_ok_and(is_held)) {
        return Ok(());
    }
    // Held until all is undone, so that nobody else does it too.
    let _lock = FolderLock::take(folder)?;
    remove_drafts(folder);
    let here = Origin::of_this_process(root);
    for found in records_in(folder, subjects)? {
        match found {
            Ok(found) if found.is_held => {}
            Ok(found) if found.subject == Subject::Cpus => {
                // Its claim ended with its process.
                let _ = fs::remove_file(found.path);
            }
            Ok(found) => match parse(&found.content) {
                Ok(made) => left.undone.extend(restore_record(root, &found, made, &here)?),
                Err(reason) => left.problems.push(unreadable(&found.path, &reason)),
            },
            // It claims nothing.
            Err(found) if found.subject == Subject::Cpus => {}
            Err(UnreadableRecord { path, reason, .. }) => {
                left.problems.push(unreadable(&path, &reason));
            }
        }
    }
    Ok(())
}

fn unreadable(path: &Path, reason: &str) -> String {
    format!(
        "{} cannot be read ({reason}), so what it lists stays changed: put that back by hand, and \
         remove it",
        path.display()
    )
}

fn restore_record(
    root: &Root,
    found: &FoundRecord,
    made: Vec<Change>,
    here: &Origin,
) -> io::Result<Vec<(Change, UndoResult)>> {
    // What was changed went with its boot.
    let made = if found.origin.boot == here.boot { made } else { Vec::new() };
    let before = made.len();
    let others = others(root, here, None)?;
    let (results, left) = undo_all(root, made, (&found.origin, here), &others);
    let closed = match left.len() {
        0 => fs::remove_file(&found.path),
        count if count == before => Ok(()),
        _ => found.write(&lines(&left)),
    };
    Ok(note_failure(results, closed, &found.path))
}

/// What root's processes have left, which only root may undo.
fn changes_of_root(root: &Root) -> Vec<(Change, UndoResult)> {
    let found = records_in(&root.path("run/latlab"), &[Subject::Changes]).unwrap_or_default();
    let left = found.into_iter().flatten().filter(|found| !found.is_held && found.owner == 0);
    let made = left.filter_map(|found| parse(&found.content).ok()).flatten();
    let changed = made.filter(|change| change.before != change.after);
    let reason = "only root can do that: run `sudo latlab doctor --restore`";
    changed.map(|change| (change, UndoResult::Failed(reason.to_string()))).collect()
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
