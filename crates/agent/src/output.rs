//! Where the program's stream goes: a pipe, or on a board without its conductor a file.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// A file is brought to the disk this often: a power cut costs no more, and a flash is not worn out.
const SYNC_EVERY: Duration = Duration::from_secs(5);

/// The standard output of the program, unbuffered.
pub struct Output {
    file: File,
    /// When it was brought to the disk; none for what is no file.
    synced: Option<Instant>,
}

impl Output {
    /// What this leads to.
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
            // Whoever collects the file compares it with what is read there.
            let _ = self.file.sync_data();
        }
    }
}
