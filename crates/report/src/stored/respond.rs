//! The single responses of a responder's run.

use super::Result;
use crate::Options;
use crate::phase::{Fold, draw};
use crate::sanitize::sanitize_run;
use latlab_digest::window::WindowSpec;
use latlab_model::samples::Sample;
use latlab_model::{Nanos, Run};
use latlab_store::{WindowReader, read_run};
use std::path::Path;

/// Runs with more responses are neither compared in pairs nor drawn as dots.
const MOST: u64 = 1 << 22;

/// The responses in order; empty for other instruments, and if there are too many.
pub fn responses(folder: &Path, run: &Run) -> Result<Vec<Sample>> {
    if !run.asked.method.is_response() || run.total.cycles == 0 || run.total.cycles > MOST {
        return Ok(Vec::new());
    }
    let stretch = WindowReader::open(folder, run, &WindowSpec::whole())?;
    let mut samples = Vec::new();
    for piece in stretch.samples() {
        samples.extend(piece?.samples);
    }
    Ok(samples)
}

/// The responses against the phase of their stimuli, for this period or that of the run's marker;
/// `None` if there is neither.
pub fn against_phase(
    folder: &Path,
    period: Option<Nanos>,
    options: &Options,
) -> Result<Option<String>> {
    let run = sanitize_run(&read_run(folder)?)?;
    let asked = period.map(|period| Fold { period_ns: period.0 as f64, origin_ns: 0.0 });
    let Some(fold) = asked.or(Fold::of_run(&run)) else { return Ok(None) };
    let samples = responses(folder, &run)?;
    Ok(Some(draw(&run, &samples, fold, options)))
}
