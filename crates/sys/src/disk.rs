//! How much may still be written.

use std::path::Path;

/// Bytes that this user may still write into a folder, according to its file system. The folder
/// need not exist yet.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let folder = std::path::absolute(folder).ok()?;
    let there = folder.ancestors().find(|folder| folder.exists())?;
    let disk = rustix::fs::statvfs(there).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_yet_has_the_room_of_the_nearest() {
        let folder = tempfile::tempdir().unwrap();
        let here = free_bytes(folder.path()).unwrap();
        let below = free_bytes(&folder.path().join("not/yet")).unwrap();
        assert!(here > 0 && here.abs_diff(below) < here / 2 + (1 << 30));
    }
}
