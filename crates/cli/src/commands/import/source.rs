//! The files to import: those of folders, and what can be read only once.

use std::fs::{self, File};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

/// Deeper folders are not looked into.
const DEEPEST: usize = 16;

/// The files that the user names; a folder stands for those in it, in the order of their names.
pub fn expand(paths: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => walk(path, 0, &mut files)?,
            false => files.push(path.clone()),
        }
    }
    Ok(files)
}

fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type()?;
        if kind.is_file() {
            files.push(entry.path());
        } else if kind.is_dir() && depth < DEEPEST {
            walk(&entry.path(), depth + 1, files)?;
        }
    }
    Ok(())
}

/// A file that can be read again from its start: what comes through a pipe is copied first.
pub fn open(path: &Path) -> io::Result<File> {
    if path == Path::new("-") {
        return spool(&mut io::stdin().lock());
    }
    let mut file = File::open(path)?;
    match file.metadata()? {
        kind if kind.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        kind if kind.is_file() => Ok(file),
        _ => spool(&mut file),
    }
}

fn spool(source: &mut impl io::Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(source, &mut file)?;
    file.rewind()?;
    Ok(file)
}
