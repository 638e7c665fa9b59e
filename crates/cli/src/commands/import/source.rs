//! The files to import: those of folders, and what can be read only once.

use latlab_model::shell;
use std::fs::{self, File};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

/// Deeper folders are not looked into.
const DEEPEST: usize = 16;

/// A file to import.
pub struct SourceFile {
    pub path: PathBuf,
    /// Whether the user has not named it, but a folder that it is in.
    pub is_of_folder: bool,
}

/// The files that the user names; a folder stands for those in it, in the order of their names.
pub fn expand(paths: &[PathBuf]) -> io::Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    for path in paths {
        let is_of_folder = path.is_dir();
        let mut found = Vec::new();
        match is_of_folder {
            true => walk(path, 0, &mut found)?,
            false => found.push(path.clone()),
        }
        files.extend(found.into_iter().map(|path| SourceFile { path, is_of_folder }));
    }
    Ok(files)
}

/// The command that reads a file of this name, where it is not this one.
pub fn other_reader(path: &Path) -> Option<String> {
    let end = path.extension()?.to_str()?.to_ascii_lowercase();
    let shown = shell::quoted(&path.display().to_string());
    match end.as_str() {
        "sr" | "vcd" | "isf" => Some(format!("latlab respond --from {shown} --look")),
        "out" => Some(format!("latlab respond --from {shown}")),
        _ => None,
    }
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
