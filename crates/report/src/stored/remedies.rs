//! What to do about what the doctor said of the machine of a stored run.

use latlab_model::Run;
use latlab_store::{Error, Result, read_snapshot};
use std::io::ErrorKind;
use std::path::Path;

/// The run of a folder with the remedies of its diagnoses; without them where its kernel files are for other
/// users alone.
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
