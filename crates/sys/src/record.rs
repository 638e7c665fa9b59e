//! Records of what a process holds on this machine: CPUs that it measures, values that it has
//! changed, processes that it has started.
//!
//! A record is a file on which its process has a write lock until it ends, in whatever way. So the
//! lock tells a reader in any process, time or mount namespace whether the process lives.

mod folder;
mod origin;

use crate::file_lock::{is_locked, try_lock};
use crate::files::Root;
use crate::folder::open_plain;
use crate::process::effective_user;
pub use folder::{FolderLock, own as own_folders, remove_drafts, strange as strange_folders};
pub use origin::Origin;
use std::fs::{self, File, OpenOptions, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

const HEAD: &str = "# What latlab holds or has changed, which it puts back when it ends; after a kill \
                    the next latlab does,\n# or `latlab doctor --restore`.\n";
/// A longer file is not a record of ours.
const LARGEST: u64 = 1 << 20;
/// First word of the last line, before the checksum of all lines above; without it a record was
/// truncated.
const END: &str = "end ";
/// Suffix of a record until it is complete.
const DRAFT: &str = "draft";

/// Subject of a record: the first word of its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// CPUs that are measured.
    Cpus,
    /// Changed values and created folders.
    Changes,
    /// Processes of a load.
    Load,
    /// A search for settings.
    Tune,
}

impl Subject {
    fn prefix(self) -> &'static str {
        match self {
            Subject::Cpus => "cpus-",
            Subject::Changes => "undo-",
            Subject::Load => "load-",
            Subject::Tune => "tune-",
        }
    }
}

/// The record of this process.
#[derive(Debug)]
pub struct Record {
    path: PathBuf,
    origin: Origin,
    /// The file with its lock, once it was written.
    file: Option<File>,
}

impl Record {
    /// Finds a folder for it, without writing anything.
    pub fn new(root: &Root, subject: Subject) -> io::Result<Record> {
        let folder = folder::create(root)?;
        let name = format!("{}{}-{}", subject.prefix(), std::process::id(), random());
        Ok(Record { path: folder.join(name), origin: Origin::of_this_process(root), file: None })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The process that writes it.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Locks all records of this user, so that none changes while this one is compared with them.
    pub fn lock_folder(&self) -> io::Result<FolderLock> {
        FolderLock::take(self.path.parent().unwrap_or(Path::new("/")))
    }

    /// Writes it, whole or not at all.
    pub fn write(&mut self, content: &str) -> io::Result<()> {
        let draft = self.path.with_extension(DRAFT);
        let file =
            write_locked(&draft, &with_checksum(HEAD.to_string() + &self.origin.lines() + content))
                .and_then(|file| fs::rename(&draft, &self.path).map(|()| file))
                .inspect_err(|_| drop(fs::remove_file(&draft)))?;
        // Only now may the previous file's lock be dropped.
        self.file = Some(file);
        Ok(())
    }

    /// Leaves it as it is for later processes.
    pub fn release(&mut self) {
        self.file = None;
    }

    /// Removes it, if it was written.
    pub fn remove(&mut self) -> io::Result<()> {
        match self.file.take().map(|_| fs::remove_file(&self.path)) {
            Some(Err(error)) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// The text of a record with its last line.
pub(crate) fn with_checksum(lines: String) -> String {
    let end = format!("{END}{:016x}\n", checksum(&lines));
    lines + &end
}

/// FNV-1a: detects damage, not forgery; a record is trusted because of its owner.
fn checksum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Writes a new, world-readable file that is locked before it becomes visible.
fn write_locked(path: &Path, content: &str) -> io::Result<File> {
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    if !try_lock(&file)? {
        return Err(ErrorKind::ResourceBusy.into());
    }
    file.set_permissions(Permissions::from_mode(0o644))?;
    file.write_all(content.as_bytes())?;
    file.sync_all()?;
    Ok(file)
}

/// Random letters for a unique name.
pub(crate) fn random() -> String {
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}

/// A record that was found.
#[derive(Debug)]
pub struct FoundRecord {
    /// Its subject.
    pub subject: Subject,
    /// Its path.
    pub path: PathBuf,
    /// The user that owns it.
    pub owner: u32,
    /// Whether its process lives.
    pub is_held: bool,
    /// The process that wrote it.
    pub origin: Origin,
    /// The content after the origin.
    pub content: String,
}

impl FoundRecord {
    /// Whether this user or root wrote it, so that it is trusted.
    pub fn is_trusted(&self) -> bool {
        is_trusted(self.owner)
    }

    /// The process that has it locked, as a person can find it from here.
    pub fn holder(&self, here: &Origin) -> String {
        let user = match self.owner {
            owner if owner == effective_user() => String::new(),
            owner => format!(" of user {owner}"),
        };
        let container = match self.origin.differs(here, &["pid"]) {
            None => "",
            Some(_) => " in another container",
        };
        format!("{}{user}{container}", self.origin)
    }

    /// Whether its process still lives although it, or the run it belongs to, was killed.
    pub fn is_ending(&self, root: &Root, here: &Origin) -> bool {
        self.is_held && self.origin.is_ending(root, here)
    }

    /// Writes it again, without keeping a lock.
    pub fn write(&self, content: &str) -> io::Result<()> {
        let (path, origin) = (self.path.clone(), self.origin.clone());
        Record { path, origin, file: None }.write(content)
    }
}

/// A record that exists but cannot be read.
#[derive(PartialEq, Eq, Debug)]
pub struct UnreadableRecord {
    /// Its subject.
    pub subject: Subject,
    /// Its path.
    pub path: PathBuf,
    /// Why it cannot be read.
    pub reason: String,
}

/// All readable records of a subject, of all users; fails if the trusted ones cannot be listed.
pub fn records(root: &Root, subject: Subject) -> io::Result<Vec<FoundRecord>> {
    let mut records = Vec::new();
    for folder in folder::all(root) {
        match records_in(&folder, &[subject]) {
            Ok(found) => records.extend(found.into_iter().flatten()),
            Err(error) if folder::owner(&folder).is_some_and(is_trusted) => return Err(error),
            Err(_) => {}
        }
    }
    Ok(records)
}

/// The records of these subjects in a folder; at most a thousand if the folder belongs to another
/// user, who may put anything there.
pub fn records_in(
    folder: &Path,
    subjects: &[Subject],
) -> io::Result<Vec<Result<FoundRecord, UnreadableRecord>>> {
    let Some(owner) = folder::owner(folder) else { return Ok(Vec::new()) };
    let most = if is_trusted(owner) { usize::MAX } else { 1000 };
    let mut records = Vec::new();
    for entry in fs::read_dir(folder)?.take(most) {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let subject = subjects.iter().find(|subject| name.starts_with(subject.prefix()));
        let is_draft = path.extension().is_some_and(|end| end == DRAFT);
        if let (Some(subject), false) = (subject, is_draft) {
            let unreadable =
                |reason| UnreadableRecord { subject: *subject, path: path.clone(), reason };
            records.extend(read(&path, *subject, owner).map_err(unreadable).transpose());
        }
    }
    Ok(records)
}

/// Whether a user's records are trusted.
fn is_trusted(owner: u32) -> bool {
    owner == 0 || owner == effective_user()
}

/// Reads a record; `None` if it has just been removed, or belongs to another user and is not a
/// file.
fn read(path: &Path, subject: Subject, owner: u32) -> Result<Option<FoundRecord>, String> {
    // In our own folder it may stand for a change of ours.
    let strange = |reason: String| match owner == effective_user() {
        true => Err(reason),
        false => Ok(None),
    };
    let mut file = match open_plain(path, false) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
            return strange("it is a link".to_string());
        }
        Err(error) => return strange(error.to_string()),
    };
    let text = |error: io::Error| error.to_string();
    let metadata = file.metadata().map_err(text)?;
    if !metadata.is_file() {
        return strange("it is not a regular file".to_string());
    }
    if metadata.uid() != owner {
        return strange(format!("it belongs to user {}", metadata.uid()));
    }
    let mut bytes = Vec::new();
    (&mut file).take(LARGEST + 1).read_to_end(&mut bytes).map_err(text)?;
    let is_held = is_locked(&file).map_err(text)?;
    // Its process has removed or rewritten it before its lock was checked.
    if file.metadata().map_err(text)?.nlink() == 0 {
        return Ok(None);
    }
    match parse(&bytes) {
        Ok((origin, content)) => {
            let path = path.to_path_buf();
            Ok(Some(FoundRecord { subject, path, owner, is_held, origin, content }))
        }
        // From another version, which still runs and undoes its changes itself.
        Err(_) if is_held => Ok(None),
        Err(reason) => Err(reason),
    }
}

fn parse(bytes: &[u8]) -> Result<(Origin, String), String> {
    if bytes.len() as u64 > LARGEST {
        return Err(format!("it is longer than {LARGEST} bytes"));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_string())?;
    let begun = text.strip_prefix(HEAD).ok_or("not a record of this version")?;
    let lines = begun.rsplit_once(END).map(|(lines, _)| lines);
    let lines = lines.filter(|lines| lines.ends_with('\n')).ok_or("it was cut")?;
    if with_checksum(HEAD.to_string() + lines) != text {
        return Err("its checksum does not fit: it was cut or changed".to_string());
    }
    let text = lines;
    let parsed = Origin::parse(text).map(|(origin, content)| (origin, content.to_string()));
    parsed.ok_or_else(|| "it does not say who wrote it".to_string())
}
