//! Files of run folders: created with a checksum, and compared with it.

use crate::disk::{Disk, DiskFile};
use crate::error::{Error, Result};
use latlab_model::run::StoredFile;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// A file of a run while it is written, with its running checksum.
pub struct NewFile {
    file: DiskFile,
    hash: Sha256,
    bytes: u64,
}

impl NewFile {
    /// Creates the file, replacing what an interrupted attempt left.
    pub fn create(disk: &Disk, path: &Path) -> Result<NewFile> {
        Ok(NewFile { file: disk.create_anew(path)?, hash: Sha256::new(), bytes: 0 })
    }

    /// Syncs the file, and returns its size and checksum.
    pub fn sync(&self) -> Result<StoredFile> {
        self.file.sync().map_err(Error::io("sync", self.file.path()))?;
        Ok(StoredFile { bytes: self.bytes, sha256: hexadecimal(self.hash.clone()) })
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = (&self.file).write(bytes)?;
        self.hash.update(&bytes[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub fn write_file(disk: &Disk, path: &Path, text: &str) -> Result<StoredFile> {
    write_into(NewFile::create(disk, path)?, text)
}

/// Writes a file that only its owner may read.
pub fn write_private_file(disk: &Disk, path: &Path, text: &str) -> Result<StoredFile> {
    let new = NewFile::create(disk, path)?;
    // A file system without modes has no other users either.
    let _ = new.file.make_private();
    write_into(new, text)
}

fn write_into(mut file: NewFile, text: &str) -> Result<StoredFile> {
    let path = file.file.path().to_path_buf();
    file.write_all(text.as_bytes()).map_err(Error::io("write", &path))?;
    file.sync()
}

/// Reads a synced file back from the disk; an error if it differs from what was written.
pub fn read_back(disk: &Disk, path: &Path, written: &StoredFile) -> Result<()> {
    let file = disk.open(path)?;
    file.rewind_to_disk().map_err(Error::io("read", path))?;
    match checksum(&file, path)? == *written {
        true => Ok(()),
        false => Err(Error::NotAsWritten(path.into())),
    }
}

/// Size and checksum of a file from its current position on.
pub fn checksum(mut file: impl Read, path: &Path) -> Result<StoredFile> {
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

/// Describes a difference in size from what was stored.
pub fn compare_size(file: &File, path: &Path, stored: &StoredFile) -> Result<Option<String>> {
    let bytes = file.metadata().map_err(Error::io("read", path))?.len();
    let text = || format!("it has {bytes} bytes instead of {}", stored.bytes);
    Ok((bytes != stored.bytes).then(text))
}

/// A checksum in hexadecimal.
pub fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
