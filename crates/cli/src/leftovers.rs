//! Undoes what a killed latlab left changed or running.

use crate::exit::EXIT_CANNOT_MEASURE;
use crate::output::{print_text, warn};
use latlab_sys::files::Root;
use latlab_sys::undo::{Change, UndoResult, restore_from_here, restore_leftovers};
use std::process::ExitCode;

/// Undoes all leftovers, and prints each change.
pub fn restore_command() -> anyhow::Result<ExitCode> {
    let left = restore_leftovers(&Root::default());
    let sentences = left.sentences();
    if sentences.is_empty() {
        print_text("Nothing to restore.\n")?;
    }
    for sentence in sentences {
        print_text(&format!("{sentence}\n"))?;
    }
    for sentence in &left.skipped {
        print_text(&format!("{sentence}\n"))?;
    }
    let is_failed = |(_, result): &(Change, UndoResult)| {
        matches!(result, UndoResult::Failed(_) | UndoResult::Elsewhere(_))
    };
    let is_whole = left.problems.is_empty() && !left.undone.iter().any(is_failed);
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::from(EXIT_CANNOT_MEASURE) })
}

/// Called before any other work: leftovers would disturb the next measurement.
pub fn restore() {
    undo_leftovers().iter().for_each(warn);
}

/// Undoes what a killed latlab left changed; returns a sentence for each change.
pub fn undo_leftovers() -> Vec<String> {
    // Only `doctor --restore` reports what cannot be undone from here.
    restore_from_here(&Root::default())
}
