//! Remedies for the doctor's diagnoses of a stored run's machine.

use latlab_model::Run;
use latlab_store::{Error, Result, read_snapshot};
use std::io::ErrorKind;
use std::path::Path;

/// Adds remedies to the diagnoses of a folder's run, unless its kernel files are readable only by
/// other users.
pub fn with_remedies(folder: &Path, run: Run) -> Result<Run> {
    if run.doctor.is_none() {
        return Ok(run);
    }
    match read_snapshot(folder, &run) {
        Ok(Some(snapshot)) => Ok(latlab_digest::with_remedies(run, &snapshot)),
        Ok(None) => Ok(run),
        Err(Error::Io { error, .. }) if error.kind() == ErrorKind::PermissionDenied => Ok(run),
        Err(error) => Err(error),
    }
}
