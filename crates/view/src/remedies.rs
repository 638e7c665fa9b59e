//! What to do about what the doctor said of the machine of a stored run.

use latlab_model::Run;
use latlab_store::read_snapshot;
use std::path::Path;

/// The run of a folder with the remedies of its diagnoses; without them if its kernel files cannot be
/// read.
pub fn with_remedies(folder: &Path, run: Run) -> Run {
    match run.doctor.as_ref().map(|_| read_snapshot(folder, &run)) {
        Some(Ok(Some(snapshot))) => latlab_digest::with_remedies(run, &snapshot),
        _ => run,
    }
}
