//! `/dev/cpu_dma_latency`: allows no idle state with a longer exit latency than asked.

use crate::files::Root;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

/// Holds the request; the kernel drops it when the file is closed.
#[derive(Debug)]
pub struct DmaLatency {
    file: File,
    asked_us: i32,
}

impl DmaLatency {
    /// Requests at most this many microseconds.
    pub fn request(root: &Root, asked_us: i32) -> io::Result<DmaLatency> {
        let mut file =
            OpenOptions::new().read(true).write(true).open(root.path("dev/cpu_dma_latency"))?;
        file.write_all(&asked_us.to_ne_bytes())?;
        Ok(DmaLatency { file, asked_us })
    }

    /// The requested number of microseconds.
    pub fn asked_us(&self) -> i32 {
        self.asked_us
    }

    /// The effective value in microseconds: the smallest of all requests.
    pub fn read(&self) -> io::Result<i32> {
        let mut holds = [0; 4];
        self.file.read_exact_at(&mut holds, 0)?;
        Ok(i32::from_ne_bytes(holds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        assert!(DmaLatency::request(&root, 0).is_err(), "a machine without the device");
        std::fs::create_dir(folder.path().join("dev")).unwrap();
        std::fs::write(folder.path().join("dev/cpu_dma_latency"), [0xff; 4]).unwrap();
        assert_eq!(DmaLatency::request(&root, 20).unwrap().read().unwrap(), 20);
    }
}
