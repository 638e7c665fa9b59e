//! Files of run folders: opened, created, compared with what was stored of them.

use crate::error::{Error, Result};
use latlab_model::run::StoredFile;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Opens what must be a file: reading a pipe or a device could go on for ever.
pub fn open_file(path: &Path) -> Result<File> {
    let there = fs::metadata(path).map_err(Error::io("read", path))?;
    if !there.is_file() {
        return Err(Error::Damaged { path: path.into(), reason: "it is not a file".to_string() });
    }
    File::open(path).map_err(Error::io("open", path))
}

/// Creates a file in place of whatever a try that was cut off, or somebody, has left there: a pipe
/// would be waited for, and a link would lead somewhere else.
pub fn create_file(path: &Path) -> Result<File> {
    let _ = fs::remove_file(path);
    File::create_new(path).map_err(Error::io("create", path))
}

/// The size and the checksum of a file, from where it is read next.
pub fn checksum(mut file: &File, path: &Path) -> Result<StoredFile> {
    let (mut hash, mut bytes) = (Sha256::new(), 0);
    let mut part = vec![0; 1 << 16];
    loop {
        match file.read(&mut part).map_err(Error::io("read", path))? {
            0 => break,
            length => {
                hash.update(&part[..length]);
                bytes += length as u64;
            }
        }
    }
    Ok(StoredFile { bytes, sha256: hexadecimal(hash) })
}

/// What differs from what was stored: first the size, which costs nothing.
pub fn compare(file: &File, path: &Path, stored: &StoredFile) -> Result<Option<String>> {
    if let Some(what) = compare_size(file, path, stored)? {
        return Ok(Some(what));
    }
    Ok((checksum(file, path)? != *stored).then(|| "wrong SHA-256".to_string()))
}

/// The same without a look at what is in the file.
pub fn compare_size(file: &File, path: &Path, stored: &StoredFile) -> Result<Option<String>> {
    let bytes = file.metadata().map_err(Error::io("read", path))?.len();
    let text = || format!("it has {bytes} bytes instead of {}", stored.bytes);
    Ok((bytes != stored.bytes).then(text))
}

/// A checksum as it is written.
pub fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Makes what happened to the names of a folder survive a power cut.
pub fn sync_folder(folder: &Path) -> Result<()> {
    let opened = File::open(folder).map_err(Error::io("open", folder))?;
    opened.sync_all().map_err(Error::io("sync", folder))
}
