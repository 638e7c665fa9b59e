//! Undoes what processes that have ended left changed or running.

use super::change::{Change, Kind, UndoResult};
use super::lines::{lines, parse};
use super::{OtherChanges, note_failure, others, undo_all};
use crate::files::Root;
use crate::process::effective_user;
use crate::record::{
    FolderLock, FoundRecord, Origin, Subject, UnreadableRecord, own_folders, records_in,
    remove_drafts, strange_folders,
};
use crate::scratch::remove_abandoned;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a killed process may take to end.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time between two checks.
const PAUSE: Duration = Duration::from_millis(1);

/// What was left, and the results of undoing it.
#[derive(Debug, Default)]
pub struct Leftovers {
    /// Each change with its result.
    pub undone: Vec<(Change, UndoResult)>,
    /// Unreadable records, and killed processes that do not end, one per line.
    pub problems: Vec<String>,
    /// Running processes that will restore their changes themselves, one per line.
    pub skipped: Vec<String>,
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

/// Undoes what processes of this user have left; returns a sentence for each change that can be
/// undone from here, which excludes those in other namespaces (containers).
pub fn restore_from_here(root: &Root) -> Vec<String> {
    let mut left = restore_leftovers(root);
    left.undone.retain(|(_, result)| !matches!(result, UndoResult::Elsewhere(_)));
    left.sentences()
}

/// Undoes what processes of this user have left.
pub fn restore_leftovers(root: &Root) -> Leftovers {
    let left = restore(root, &[Subject::Cpus, Subject::Changes, Subject::Load, Subject::Tune]);
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
    left.problems.extend(strange_folders(root).into_iter().map(|(folder, reason)| {
        format!(
            "{} {reason}, so no record in it is believed, and what a killed latlab has changed may \
             stay changed: look at it, and remove it",
            folder.display()
        )
    }));
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
    let here = Origin::of_this_process(root);
    let found = wait_for_the_killed(root, folder, subjects, &here)?;
    for held in found.iter().flatten().filter(|found| found.is_held) {
        let lines = match held.is_ending(root, &here) {
            true => &mut left.problems,
            false => &mut left.skipped,
        };
        let line = held_line(held, &here, held.is_ending(root, &here));
        if !is_claim(held.subject) && !lines.contains(&line) {
            lines.push(line);
        }
    }
    // The usual case: nothing to lock for.
    if found.iter().all(|found| found.as_ref().is_ok_and(|found| found.is_held)) {
        return Ok(());
    }
    // Held until all is undone, so that no other process does the same.
    let _lock = FolderLock::take(folder)?;
    remove_drafts(folder);
    // Processes that still run; this does not change here.
    let others = others(root, &here, None)?;
    for found in records_in(folder, subjects)? {
        match found {
            Ok(found) if found.is_held => {}
            Ok(found) if is_claim(found.subject) => {
                // The claim has ended with its process.
                let _ = fs::remove_file(found.path);
            }
            Ok(found) => match parse(&found.content) {
                Ok(made) => left.undone.extend(restore_record(root, &found, made, &here, &others)),
                Err(reason) => left.problems.push(unreadable(&found.path, &reason)),
            },
            // It claims nothing.
            Err(found) if is_claim(found.subject) => {}
            Err(UnreadableRecord { path, reason, .. }) => {
                left.problems.push(unreadable(&path, &reason));
            }
        }
    }
    Ok(())
}

/// Whether a record lists nothing to undo.
fn is_claim(subject: Subject) -> bool {
    matches!(subject, Subject::Cpus | Subject::Tune)
}

/// The records of a folder, once killed processes have released theirs: the kernel takes some
/// milliseconds to end a process, which keeps its locks meanwhile, and a process whose run was
/// killed restores its own changes.
fn wait_for_the_killed(
    root: &Root,
    folder: &Path,
    subjects: &[Subject],
    here: &Origin,
) -> io::Result<Vec<Result<FoundRecord, UnreadableRecord>>> {
    let until = Instant::now() + PATIENCE;
    loop {
        let found = records_in(folder, subjects)?;
        let will_end =
            |found: &FoundRecord| found.is_ending(root, here) && !found.origin.is_stopped(root);
        if Instant::now() >= until || !found.iter().flatten().any(will_end) {
            return Ok(found);
        }
        std::thread::sleep(PAUSE);
    }
}

/// The message for changes whose process lives.
fn held_line(found: &FoundRecord, here: &Origin, is_ending: bool) -> String {
    let holder = found.holder(here);
    match is_ending {
        true => format!(
            "{holder} was killed and has not ended yet, so what it has changed stays: run `latlab \
             doctor --restore` when it has"
        ),
        false => format!("{holder} goes on, and restores what it has changed when it ends"),
    }
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
    others: &[OtherChanges],
) -> Vec<(Change, UndoResult)> {
    // Changes do not survive a reboot.
    let made = if found.origin.boot == here.boot { made } else { Vec::new() };
    let before = made.len();
    let (results, left) = undo_all(root, made, (&found.origin, here), others);
    let closed = match left.len() {
        0 => fs::remove_file(&found.path),
        count if count == before => Ok(()),
        _ => found.write(&lines(&left)),
    };
    note_failure(results, closed, &found.path)
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
