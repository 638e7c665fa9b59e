//! The initramfs of a guest in the cpio format `newc`. The same files give the same bytes, since it
//! contains no times or owners.

use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const MAGIC: &str = "070701";
const TRAILER: &str = "TRAILER!!!";
const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const FILE: u32 = 0o100_644;

/// The object at a path.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Entry {
    Folder,
    File { mode: u32, bytes: Vec<u8> },
}

/// Files by path, without a leading `/`.
#[derive(Clone, Default, Debug)]
pub struct Archive {
    entries: BTreeMap<String, Entry>,
}

impl Archive {
    pub fn file(&mut self, path: &str, bytes: Vec<u8>) {
        self.add(path, Entry::File { mode: FILE, bytes });
    }

    /// Adds an executable file.
    pub fn program(&mut self, path: &str, bytes: Vec<u8>) {
        self.add(path, Entry::File { mode: PROGRAM, bytes });
    }

    /// Adds the wanted files of a folder, at their paths in it; a link is replaced by its target.
    pub fn folder(&mut self, folder: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<()> {
        let mut folders = vec![folder.to_path_buf()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(&next).map_err(Error::io("read", &next))?.flatten() {
                let path = entry.path();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(path);
                    continue;
                }
                let place = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
                // A link may lead out of the package.
                if wanted(&place) && path.is_file() {
                    self.program(&place, fs::read(&path).map_err(Error::io("read", &path))?);
                }
            }
        }
        Ok(())
    }

    /// Parent folders are added as needed.
    fn add(&mut self, path: &str, entry: Entry) {
        let path = path.trim_start_matches('/');
        for (end, _) in path.match_indices('/') {
            self.entries.entry(path[..end].to_string()).or_insert(Entry::Folder);
        }
        self.entries.insert(path.to_string(), entry);
    }

    /// The archive as bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (number, (path, entry)) in self.entries.iter().enumerate() {
            let (mode, content) = match entry {
                Entry::Folder => (FOLDER, &[][..]),
                Entry::File { mode, bytes } => (*mode, &bytes[..]),
            };
            put(&mut bytes, number as u32 + 1, mode, path, content);
        }
        put(&mut bytes, 0, 0, TRAILER, &[]);
        bytes
    }
}

/// A header of thirteen numbers of eight digits, the name, and the content, each padded to four
/// bytes.
fn put(bytes: &mut Vec<u8>, number: u32, mode: u32, name: &str, content: &[u8]) {
    let (size, name_size) = (content.len() as u32, name.len() as u32 + 1);
    let links = if mode == FOLDER { 2 } else { 1 };
    let numbers = [number, mode, 0, 0, links, 0, size, 0, 0, 0, 0, name_size, 0];
    bytes.extend_from_slice(MAGIC.as_bytes());
    for number in numbers {
        bytes.extend_from_slice(format!("{number:08X}").as_bytes());
    }
    bytes.extend_from_slice(name.as_bytes());
    bytes.push(0);
    pad(bytes);
    bytes.extend_from_slice(content);
    pad(bytes);
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_files_make_the_same_bytes_in_any_order() {
        let mut one = Archive::default();
        one.program("init", b"first".to_vec());
        one.file("lab/job", b"job".to_vec());
        let mut other = Archive::default();
        other.file("/lab/job", b"job".to_vec());
        other.program("/init", b"first".to_vec());
        assert_eq!(one.bytes(), other.bytes());
    }

    #[test]
    fn each_entry_begins_at_a_multiple_of_four() {
        let mut archive = Archive::default();
        archive.file("a/bc", b"x".to_vec());
        let bytes = archive.bytes();
        assert_eq!(bytes.len() % 4, 0);
        let text = String::from_utf8_lossy(&bytes);
        let places: Vec<usize> = text.match_indices(MAGIC).map(|(place, _)| place).collect();
        assert_eq!(places.len(), 3, "a folder, a file and the end");
        assert!(places.iter().all(|place| place % 4 == 0), "{places:?}");
        // Size of the name with its terminator, then the checksum, then the name.
        assert!(text.contains("0000000500000000a/bc\0"), "{text}");
    }
}
