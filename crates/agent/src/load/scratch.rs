//! The scratch folder of a load, in which its processes work.

use std::fs;
use std::path::{Path, PathBuf};

/// How the scratch folders are named, before the mark of their supervisor.
pub const PREFIX: &str = "latlab-load-";

/// The folder of one supervisor; removed with all that lies in it.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes the one of the supervisor with this mark.
    pub fn create(mark: &str) -> std::io::Result<Scratch> {
        let folder = base().join(format!("{PREFIX}{mark}"));
        fs::create_dir(&folder)?;
        Ok(Scratch(folder))
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Where scratch folders lie: on a disk rather than in memory, for loads that write files.
pub fn base() -> PathBuf {
    let asked = std::env::var_os("TMPDIR").map(PathBuf::from).filter(|folder| folder.is_dir());
    asked.unwrap_or_else(|| {
        let disk = PathBuf::from("/var/tmp");
        if disk.is_dir() { disk } else { std::env::temp_dir() }
    })
}
