//! A file in memory between a process that must never wait for its reader, and that reader.
//!
//! A full pipe would make its writer wait, and so reveal to a guest in virtual time when the host
//! reads.

use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, memfd_create};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// How often to check for more data.
const LOOK: Duration = Duration::from_millis(10);
/// Memory that was read is freed in pieces of this size.
const PIECE: u64 = 1 << 20;

/// The reader's end.
#[derive(Debug)]
pub struct Spool {
    file: File,
    read: u64,
    freed: u64,
    ended: Arc<AtomicBool>,
}

/// Tells the reader that nothing follows.
#[derive(Clone, Debug)]
pub struct End(Arc<AtomicBool>);

impl End {
    /// Reports that the writer has gone.
    pub fn reached(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Spool {
    /// Creates an empty spool.
    pub fn new() -> io::Result<Spool> {
        let file = File::from(memfd_create("latlab-stream", MemfdFlags::CLOEXEC)?);
        Ok(Spool { file, read: 0, freed: 0, ended: Arc::default() })
    }

    /// The writer's end, which appends.
    pub fn writer(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// To be informed when the writer has gone.
    pub fn end(&self) -> End {
        End(Arc::clone(&self.ended))
    }

    fn free(&mut self) {
        let piece = (self.read - self.freed) / PIECE * PIECE;
        let holes = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        // Memory that cannot be freed now is freed at the end.
        if piece > 0 && fallocate(&self.file, holes, self.freed, piece).is_ok() {
            self.freed += piece;
        }
    }
}

impl Read for Spool {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            // Check this first: everything written before the end is visible then.
            let ended = self.ended.load(Ordering::Acquire);
            let count = self.file.read_at(buffer, self.read)?;
            if count > 0 || ended || buffer.is_empty() {
                self.read += count as u64;
                self.free();
                return Ok(count);
            }
            sleep(LOOK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;
    use std::thread::spawn;

    #[test]
    fn a_writer_never_waits_and_its_reader_misses_nothing() {
        let mut spool = Spool::new().unwrap();
        let (mut writer, end) = (spool.writer().unwrap(), spool.end());
        // More than any pipe holds, before it is read.
        let all: Vec<u8> = (0..5_000_000_u32).map(|number| (number % 251) as u8).collect();
        let (first, second) = all.split_at(4_000_000);
        writer.write_all(first).unwrap();
        let second = second.to_vec();
        let later = spawn(move || {
            sleep(Duration::from_millis(50));
            writer.write_all(&second).unwrap();
            end.reached();
        });
        let mut read = Vec::new();
        spool.read_to_end(&mut read).unwrap();
        later.join().unwrap();
        assert!(read == all);
        // In blocks of 512 bytes: what was read takes no memory.
        assert!(spool.file.metadata().unwrap().blocks() * 512 < 2 * PIECE);
    }
}
