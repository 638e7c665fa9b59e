//! A file of a finished run, read in parts, each of which must match the file's checksum.
//!
//! A table may be larger than the memory, so it is read once for its checksum and once for its
//! rows. The first pass makes a keyed hash of each block, which the second verifies: a change in
//! between gives an error and never a wrong number.

use crate::error::{Error, Result};
use crate::files::{compare_size, hexadecimal};
use crate::trust::open_file;
use bytes::Bytes;
use latlab_model::run::StoredFile;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// Bytes per block; its hash takes eight bytes of memory.
const BLOCK: u64 = 1 << 14;

/// A file with random access.
#[derive(Clone)]
pub struct RunFile(Arc<OpenRunFile>);

struct OpenRunFile {
    file: File,
    length: u64,
    /// Hash of each block; `None` if the file has not been compared with a checksum.
    blocks: Option<BlockHashes>,
}

struct BlockHashes {
    /// Random, so that no one can prepare a block with the hash of another.
    key: RandomState,
    hashes: Vec<u64>,
}

impl RunFile {
    /// Opens a file without a stored checksum.
    #[cfg(test)]
    pub fn open(path: &Path) -> Result<RunFile> {
        OpenRunFile::open(path).map(RunFile::new)
    }

    /// Opens a file that must have the stored size.
    pub fn open_sized(path: &Path, stored: &StoredFile) -> Result<RunFile> {
        OpenRunFile::open_sized(path, stored).map(RunFile::new)
    }

    /// Opens a file that must have the stored checksum; later reads must match what was checked.
    pub fn open_checked(path: &Path, stored: &StoredFile) -> Result<RunFile> {
        let mut opened = OpenRunFile::open_sized(path, stored)?;
        let (mut sum, key, mut hashes) = (Sha256::new(), RandomState::new(), Vec::new());
        for number in 0..opened.length.div_ceil(BLOCK) {
            let block = opened.read_block(number).map_err(Error::io("read", path))?;
            sum.update(&block);
            hashes.push(key.hash_one(&block));
        }
        if hexadecimal(sum) != stored.sha256 {
            return Err(Error::Changed { path: path.into(), reason: "wrong SHA-256".to_string() });
        }
        opened.blocks = Some(BlockHashes { key, hashes });
        Ok(RunFile::new(opened))
    }

    fn new(opened: OpenRunFile) -> RunFile {
        RunFile(Arc::new(opened))
    }
}

impl OpenRunFile {
    fn open(path: &Path) -> Result<OpenRunFile> {
        let file = open_file(path)?;
        let length = file.metadata().map_err(Error::io("read", path))?.len();
        Ok(OpenRunFile { file, length, blocks: None })
    }

    fn open_sized(path: &Path, stored: &StoredFile) -> Result<OpenRunFile> {
        let opened = OpenRunFile::open(path)?;
        match compare_size(&opened.file, path, stored)? {
            Some(reason) => Err(Error::Changed { path: path.into(), reason }),
            None => Ok(opened),
        }
    }

    fn read_block(&self, number: u64) -> io::Result<Vec<u8>> {
        let start = number * BLOCK;
        let mut block = vec![0; BLOCK.min(self.length.saturating_sub(start)) as usize];
        self.file.read_exact_at(&mut block, start)?;
        let is_same = |blocks: &BlockHashes| {
            blocks.hashes.get(number as usize) == Some(&blocks.key.hash_one(&block))
        };
        match self.blocks.as_ref().is_none_or(is_same) {
            true => Ok(block),
            false => Err(io::Error::new(ErrorKind::InvalidData, "it changed while it was read")),
        }
    }
}

impl Length for RunFile {
    fn len(&self) -> u64 {
        self.0.length
    }
}

impl ChunkReader for RunFile {
    type T = RunFileReader;

    fn get_read(&self, start: u64) -> parquet::errors::Result<RunFileReader> {
        Ok(RunFileReader { file: self.clone(), at: start, block: Vec::new(), number: u64::MAX })
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        // A damaged footer may ask for any length.
        let fits = start.checked_add(length as u64).is_some_and(|end| end <= self.0.length);
        if !fits {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} are not there")));
        }
        let mut bytes = vec![0; length];
        self.get_read(start)?.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// Reads a file from some offset on.
pub struct RunFileReader {
    file: RunFile,
    at: u64,
    /// The block read last.
    block: Vec<u8>,
    number: u64,
}

impl Read for RunFileReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.file.0.length {
            return Ok(0);
        }
        let (number, within) = (self.at / BLOCK, (self.at % BLOCK) as usize);
        if number != self.number {
            self.block = self.file.0.read_block(number)?;
            self.number = number;
        }
        let count = (&self.block[within..]).read(buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::checksum;
    use std::fs::{self, OpenOptions};
    use std::path::PathBuf;

    /// A file of some blocks and a half, with its stored checksum.
    fn stored() -> (tempfile::TempDir, PathBuf, Vec<u8>, StoredFile) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table");
        let bytes: Vec<u8> = (0..BLOCK as usize * 7 / 2).map(|at| (at / 7) as u8).collect();
        fs::write(&path, &bytes).unwrap();
        let stored = checksum(&bytes[..], &path).unwrap();
        (folder, path, bytes, stored)
    }

    #[test]
    fn any_part_is_what_is_in_the_file() {
        let (_folder, path, bytes, stored) = stored();
        let file = RunFile::open_checked(&path, &stored).unwrap();
        assert_eq!(file.len(), bytes.len() as u64);
        let block = BLOCK as usize;
        for (start, length) in [(0, 10), (block - 3, 7), (5, 3 * block), (bytes.len() - 1, 1)] {
            let part = file.get_bytes(start as u64, length).unwrap();
            assert_eq!(part, bytes[start..start + length], "{start}");
        }
        let mut rest = Vec::new();
        file.get_read(11).unwrap().read_to_end(&mut rest).unwrap();
        assert_eq!(rest, bytes[11..]);
        for (start, length) in [(0, bytes.len() + 1), (bytes.len(), 1), (usize::MAX, 9)] {
            assert!(file.get_bytes(start as u64, length).is_err(), "{start}");
        }
    }

    /// Invariant (losses): What is read of a table is what its checksum was computed of.
    #[test]
    fn what_changes_after_the_checksum_is_an_error_and_no_number() {
        let (_folder, path, bytes, stored) = stored();
        let file = RunFile::open_checked(&path, &stored).unwrap();
        let writer = OpenOptions::new().write(true).open(&path).unwrap();
        writer.write_all_at(&[bytes[BLOCK as usize] ^ 1], BLOCK).unwrap();
        assert_eq!(file.get_bytes(0, 9).unwrap(), bytes[..9], "a block that is as it was");
        let error = file.get_bytes(BLOCK - 1, 9).unwrap_err();
        assert!(error.to_string().contains("it changed while it was read"), "{error}");
        writer.set_len(BLOCK).unwrap();
        assert!(file.get_bytes(2 * BLOCK, 9).is_err());
        assert!(RunFile::open_checked(&path, &stored).is_err());
    }
}
