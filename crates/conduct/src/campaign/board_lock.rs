//! Lets only one campaign at a time measure a board: one lock file per board.

use super::request::CampaignRequest;
use latlab_model::target::BoardTarget;
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::FileExt;

/// Waits until the board is free or the campaign is stopped; `notify` is called once with the owner
/// of the lock. `None` if the lock file cannot be used, which does not prevent measuring.
pub fn wait(
    request: &CampaignRequest<'_>,
    board: &BoardTarget,
    mut notify: impl FnMut(&str),
) -> Option<File> {
    fs::create_dir_all(&request.board_locks).ok()?;
    let path = request.board_locks.join(board.file_name());
    let mut open = OpenOptions::new();
    let mut file = open.create(true).truncate(false).read(true).write(true).open(path).ok()?;
    let mut told = false;
    while let Err(fs::TryLockError::WouldBlock) = file.try_lock() {
        if !std::mem::replace(&mut told, true) {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            notify(holder.trim());
        }
        if request.stop.is_set() {
            return None;
        }
        std::thread::sleep(request.timing.refresh);
    }
    let holder = format!("{}, process {}\n", request.folder.campaign.id, std::process::id());
    let _ = file.set_len(0).and_then(|()| file.write_all_at(holder.as_bytes(), 0));
    Some(file)
}
