//! The program's stream: a pipe, or a file on a detached board.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// How often a file is synced: a bound on what a power cut costs, without wearing out flash memory.
const SYNC_EVERY: Duration = Duration::from_secs(5);

/// The program's standard output, unbuffered.
pub struct Output {
    file: File,
    /// When it was last synced; `None` if it is not a file.
    synced: Option<Instant>,
}

impl Output {
    pub fn new(output: OwnedFd) -> Output {
        let file = File::from(output);
        let is_file = file.metadata().is_ok_and(|there| there.is_file());
        Output { file, synced: is_file.then(Instant::now) }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(synced) = self.synced.as_mut().filter(|at| at.elapsed() >= SYNC_EVERY) {
            *synced = Instant::now();
            self.file.sync_data()?;
        }
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.synced.is_some() {
            // Ignored: the collector compares the file with what it reads.
            let _ = self.file.sync_data();
        }
    }
}
