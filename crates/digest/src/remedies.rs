//! Remedies for the doctor's diagnoses of a stored run.

use latlab_model::doctor::Diagnosis;
use latlab_model::{Run, Snapshot};

/// The run with the remedies of its diagnoses, derived from its machine's kernel files. The run
/// folder holds remedies too, but those may have been written by anyone.
pub fn with_remedies(run: Run, snapshot: &Snapshot) -> Run {
    let known = latlab_doctor::examine(snapshot);
    let mend = |one: Diagnosis| match known.iter().find(|known| known.code == one.code) {
        Some(known) => Diagnosis { remedy: known.remedy.clone(), undo: known.undo.clone(), ..one },
        None => one,
    };
    Run { doctor: run.doctor.map(|all| all.into_iter().map(mend).collect()), ..run }
}
