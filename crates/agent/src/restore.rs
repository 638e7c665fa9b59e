//! What a killed agent has left changed on a board, undone before the next one starts there.

use latlab_sys::files::Root;
use latlab_sys::undo::restore_from_here;

/// The word for it on the command line.
pub const RESTORE: &str = "--restore";

/// Undoes what agents that are gone have left changed; a sentence for each change.
pub fn restore() -> Vec<String> {
    restore_from_here(&Root::default())
}
