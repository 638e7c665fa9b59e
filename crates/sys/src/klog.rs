//! The kernel log.

use crate::files::Root;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

/// Log records from now on.
pub struct Log {
    file: File,
    record: Vec<u8>,
}

impl Log {
    /// Listens from now on; `None` without the privilege.
    pub fn listen(root: &Root) -> Option<Log> {
        let path = root.path("dev/kmsg");
        let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
        let mut file = opened.ok()?;
        file.seek(SeekFrom::End(0)).ok()?;
        Some(Log { file, record: vec![0; 8 << 10] })
    }

    /// The next record, if there is one.
    pub fn next_record(&mut self) -> Option<String> {
        loop {
            match self.file.read(&mut self.record) {
                Ok(0) => return None,
                Ok(length) => {
                    return Some(String::from_utf8_lossy(&self.record[..length]).into_owned());
                }
                // Reading on skips records that were overwritten.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
                Err(_) => return None,
            }
        }
    }
}

/// The whole log; `None` without the privilege to read it.
pub fn read_all() -> Option<String> {
    const READ_ALL: libc::c_int = 3;
    const SIZE: libc::c_int = 10;
    // SAFETY: this action takes no buffer.
    let size = unsafe { libc::klogctl(SIZE, std::ptr::null_mut(), 0) };
    let mut buffer = vec![0_u8; usize::try_from(size).ok()?];
    // SAFETY: the kernel writes at most the length that is passed.
    let read = unsafe { libc::klogctl(READ_ALL, buffer.as_mut_ptr().cast(), size) };
    buffer.truncate(usize::try_from(read).ok()?);
    Some(String::from_utf8_lossy(&buffer).into_owned())
}
