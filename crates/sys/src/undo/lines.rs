//! Changes as lines of a record.

use super::change::{Change, FolderId, Kind, ThreadId};

/// The lines of changes.
pub fn lines(made: &[Change]) -> String {
    made.iter().map(lines_of).collect()
}

fn lines_of(Change { path, before, after, kind }: &Change) -> String {
    let head = match kind {
        Kind::Folder => return format!("folder {path}\n"),
        Kind::Cgroup(FolderId { device, inode }) => {
            return format!("cgroup {device} {inode} {path}\n");
        }
        Kind::Scratch(FolderId { device, inode }) => {
            return format!("scratch {device} {inode} {path}\n");
        }
        Kind::File => format!("file {path}"),
        Kind::Flag => format!("flag {path}"),
        Kind::Thread(ThreadId { id, started }) => format!("thread {id} {started} {path}"),
    };
    format!("{head}\nbefore {before}\nafter {after}\n")
}

/// Parses the changes of a record; the error is a line that cannot be parsed.
pub fn parse(content: &str) -> Result<Vec<Change>, String> {
    let mut lines = content.lines();
    let mut changes = Vec::new();
    while let Some(line) = lines.next() {
        let mut value = |word: &str| {
            let value = lines.next()?.strip_prefix(word)?;
            Some(value.strip_prefix(' ').unwrap_or(value).to_string())
        };
        let change = parse_object(line).and_then(|change| match change.kind {
            Kind::Folder | Kind::Cgroup(_) | Kind::Scratch(_) => Some(change),
            Kind::File | Kind::Flag | Kind::Thread(_) => {
                Some(Change { before: value("before")?, after: value("after")?, ..change })
            }
        });
        changes.push(change.ok_or_else(|| format!("'{line}' is not whole"))?);
    }
    Ok(changes)
}

/// The object of a change, from its first line.
fn parse_object(line: &str) -> Option<Change> {
    let (word, rest) = line.split_once(' ')?;
    let (kind, path) = match word {
        "file" => (Kind::File, rest),
        "flag" => (Kind::Flag, rest),
        "folder" => return Some(Change::folder(rest)),
        "thread" => {
            let (id, started, name) = two_numbers(rest)?;
            (Kind::Thread(ThreadId { id: id.try_into().ok()?, started }), name)
        }
        "cgroup" | "scratch" => {
            let (device, inode, path) = two_numbers(rest)?;
            let id = FolderId { device, inode };
            (if word == "cgroup" { Kind::Cgroup(id) } else { Kind::Scratch(id) }, path)
        }
        _ => return None,
    };
    Some(Change { path: path.to_string(), kind, ..Change::default() })
}

fn two_numbers(text: &str) -> Option<(u64, u64, &str)> {
    let mut parts = text.splitn(3, ' ');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?))
}
