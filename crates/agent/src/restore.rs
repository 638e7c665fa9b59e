//! What a killed agent has left changed on a board, undone before the next one starts there.

use latlab_sys::files::Root;
use latlab_sys::undo::{UndoResult, restore_leftovers};

/// The word for it on the command line.
pub const RESTORE: &str = "--restore";

/// Undoes what agents that are gone have left changed; a sentence for each change.
pub fn restore() -> Vec<String> {
    let mut left = restore_leftovers(&Root::default());
    // What belongs to a container cannot be undone from here.
    left.undone.retain(|(_, result)| !matches!(result, UndoResult::Elsewhere(_)));
    left.sentences()
}
