//! Runs whose texts are safe to print.

use crate::causes::{measured_policy, remedy};
use latlab_doctor::comparison::Comparison;
use latlab_model::Run;
use latlab_model::sanitize::{keep_remedies, sanitize_document, sanitize_lines};

/// The run with hidden characters in its texts escaped.
pub fn sanitize_run(run: &Run) -> serde_json::Result<Run> {
    let mut safe = sanitize_document(run)?;
    // Remedies need the true thread names, so create them before names are escaped.
    if let (Some(safe), Some(explanation)) = (&mut safe.explanation, &run.explanation) {
        for (safe, cause) in safe.causes.iter_mut().zip(&explanation.causes) {
            safe.remedy = Some(remedy(cause, measured_policy(run)));
        }
    }
    keep_remedies(safe.doctor.iter_mut().flatten(), run.doctor.iter().flatten());
    Ok(safe)
}

/// A comparison of machines with the hidden characters in its texts escaped.
pub fn sanitize_comparison(comparison: &Comparison) -> serde_json::Result<Comparison> {
    let mut safe = sanitize_lines(comparison)?;
    keep_remedies(&mut safe.appeared, &comparison.appeared);
    keep_remedies(&mut safe.gone, &comparison.gone);
    let weighed = safe.weighed.iter_mut().map(|one| &mut one.now);
    keep_remedies(weighed, comparison.weighed.iter().map(|one| &one.now));
    Ok(safe)
}
