//! Snapshots of the figures during a run: by signal, or through a named pipe.

use super::lines::{LineUnit, status, thread_lines};
use super::options::Options;
use super::state::Thread;
use crate::output::warn;
use latlab_sys::files::make_fifo;
use latlab_sys::signal::{self, Signal};
use std::fs::{self, OpenOptions};
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

/// Set by SIGUSR1: print a snapshot to standard error.
static TO_STDERR: AtomicU8 = AtomicU8::new(0);
/// Set by SIGUSR2: write it to the file that `get_cyclictest_snapshot` reads.
static TO_FILE: AtomicU8 = AtomicU8::new(0);

/// `get_cyclictest_snapshot` maps two pages of 4 KiB.
const FILE_BYTES: usize = 2 * 4096;
/// Pause between two readers of the pipe.
const PAUSE: Duration = Duration::from_millis(50);

pub struct Snapshots {
    file: PathBuf,
    pipe: Option<SyncSender<String>>,
}

impl Snapshots {
    /// Installs the signal handlers, and creates the pipe if `--fifo` was given.
    pub fn begin(options: &Options) -> Result<Snapshots, String> {
        // A failure only costs the snapshots.
        let _ = signal::store_on(Signal::User1, &TO_STDERR, 1);
        let _ = signal::store_on(Signal::User2, &TO_FILE, 1);
        let file = PathBuf::from(format!("/dev/shm/cyclictest{}", std::process::id()));
        let _ = fs::write(&file, [0; FILE_BYTES]);
        let pipe = options.fifo.as_deref().map(pipe).transpose()?;
        Ok(Snapshots { file, pipe })
    }

    /// Writes the snapshots that were requested since the last call.
    pub fn answer(&self, threads: &[Thread], unit: LineUnit) {
        if TO_STDERR.swap(0, Ordering::Relaxed) != 0 {
            let _ = write!(stderr(), "{}", status(threads, unit));
        }
        if TO_FILE.swap(0, Ordering::Relaxed) != 0 {
            let mut text = status(threads, unit).into_bytes();
            text.resize(text.len().max(FILE_BYTES), 0);
            if let Err(error) = fs::write(&self.file, text) {
                warn(format_args!("cannot write {}: {error}", self.file.display()));
            }
        }
        if let Some(pipe) = &self.pipe {
            // Accepted only if a reader is waiting.
            let _ = pipe.try_send(thread_lines(threads, unit));
        }
    }
}

impl Drop for Snapshots {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}

/// Creates the pipe, and a thread that serves its readers.
fn pipe(path: &Path) -> Result<SyncSender<String>, String> {
    let _ = fs::remove_file(path);
    make_fifo(path).map_err(|error| format!("--fifo {}: {error}", path.display()))?;
    let (answers, waiting) = sync_channel::<String>(0);
    let path = path.to_path_buf();
    let answer = move || {
        // Opening blocks until there is a reader. The thread ends with the process.
        while let Ok(mut out) = OpenOptions::new().write(true).open(&path) {
            let Ok(text) = waiting.recv() else { return };
            let _ = out.write_all(text.as_bytes());
            drop(out);
            std::thread::sleep(PAUSE);
        }
    };
    let cannot = |error| format!("--fifo: cannot start a thread ({error}): raise `ulimit -u`");
    std::thread::Builder::new().spawn(answer).map_err(cannot)?;
    Ok(answers)
}
