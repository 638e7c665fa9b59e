//! The record of changes on disk: where it lies, how it is written, and whose is believed.

use super::change::{Change, Kind, ThreadId};
use crate::files::Root;
use crate::process::{effective_user, is_gone};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub(super) const HEAD: &str = "# Changed by latlab, which restores it when it ends; after a kill \
                               the next latlab does,\n# or `latlab doctor --restore`.\n";

/// More is no record of ours.
const LARGEST: u64 = 1 << 20;

const PREFIX: &str = "undo-";

/// What the process of a mark writes into a folder.
pub(super) fn path(folder: &Path, mark: &str) -> PathBuf {
    folder.join(format!("{PREFIX}{mark}"))
}

/// Writes the record, whole or not at all.
pub(super) fn write(record: &Path, made: &[Change]) -> io::Result<()> {
    let draft = record.with_extension("draft");
    fs::write(&draft, HEAD.to_string() + &made.iter().map(lines).collect::<String>())?;
    fs::File::open(&draft)?.sync_all()?;
    fs::rename(&draft, record)
}

fn lines(Change { path, before, after, kind }: &Change) -> String {
    let head = match kind {
        Kind::Folder => return format!("folder {path}\n"),
        Kind::File => format!("file {path}"),
        Kind::Flag => format!("flag {path}"),
        Kind::Thread(ThreadId { id, started }) => format!("thread {id} {started} {path}"),
    };
    format!("{head}\nbefore {before}\nafter {after}\n")
}

/// What a record says was changed.
pub(super) fn parse(record: &str) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for line in record.lines() {
        let (word, value) = line.split_once(' ').unwrap_or((line, ""));
        let of = |kind, path: &str| Change { path: path.to_string(), kind, ..Change::default() };
        match (word, changes.last_mut()) {
            ("file", _) => changes.push(of(Kind::File, value)),
            ("flag", _) => changes.push(of(Kind::Flag, value)),
            ("thread", _) => {
                changes.extend(thread(value).map(|(id, name)| of(Kind::Thread(id), name)));
            }
            ("folder", _) => changes.push(Change::folder(value)),
            ("before", Some(change)) => change.before = value.to_string(),
            ("after", Some(change)) => change.after = value.to_string(),
            _ => {}
        }
    }
    changes
}

fn thread(value: &str) -> Option<(ThreadId, &str)> {
    let (id, rest) = value.split_once(' ')?;
    let (started, name) = rest.split_once(' ')?;
    Some((ThreadId { id: id.parse().ok()?, started: started.parse().ok()? }, name))
}

/// The records in a folder that processes have left which are gone, and whose folder it is; what
/// others may write is not believed.
pub(super) fn leftover_records(root: &Root, folder: &Path) -> (u32, Vec<PathBuf>) {
    let Some(owner) = fs::symlink_metadata(folder).ok().filter(|there| there.is_dir()) else {
        return (effective_user(), Vec::new());
    };
    let records = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let believed = |record: &PathBuf| {
        fs::symlink_metadata(record).is_ok_and(|there| {
            there.is_file() && there.uid() == owner.uid() && there.len() < LARGEST
        })
    };
    (owner.uid(), records.filter(|record| believed(record) && is_leftover(root, record)).collect())
}

/// Whether this is the record of a process that is gone.
fn is_leftover(root: &Root, record: &Path) -> bool {
    let name = record.file_stem().and_then(|name| name.to_str());
    name.and_then(|name| name.strip_prefix(PREFIX)).is_some_and(|mark| is_gone(root, mark))
}

/// Where records may lie, the best first: what is lost with a reboot, as the changes are.
pub(super) fn folders(root: &Root) -> Vec<PathBuf> {
    let user = effective_user();
    let names =
        ["run/latlab".into(), format!("run/user/{user}/latlab"), format!("tmp/latlab-{user}")];
    names.into_iter().map(|name: String| root.path(name)).collect()
}

/// Makes a folder that is ours alone.
pub(super) fn create_private(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let there = fs::symlink_metadata(folder)?;
    match there.is_dir() && there.uid() == effective_user() {
        true => Ok(()),
        false => Err(ErrorKind::PermissionDenied.into()),
    }
}
