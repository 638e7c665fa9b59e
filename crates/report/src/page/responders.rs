//! What pages show of responders in addition to what they show of every run.

use super::PageRun;
use super::pictures::in_widths;
use crate::document::Section;
use crate::document::html::opened;
use crate::document::outline::Outline;
use crate::pictures::options::Options;
use crate::pictures::phase::{Fold as Period, draw};
use crate::sections::pairs::PairedRuns;
use crate::sections::responders;
use maud::Markup;

/// Responses against the phase of a possible disturbance; `None` if that is not known.
pub fn phase(of: &PageRun, outline: &Outline) -> Option<Section> {
    let period = Period::of_run(of.run).filter(|_| !of.samples.is_empty())?;
    let caption = "Each response at the time of its stimulus, modulo the period of the marker: \
                   delays that come with the marker appear at one phase, whatever the distance of \
                   the stimuli is.";
    let draw = |options: &Options| draw(of.run, of.samples, period, options);
    let picture = in_widths("phase", outline, caption, &draw);
    Some(Section::new("phase", "Against the phase").html(picture))
}

/// `None` if other runs are among them.
pub fn compared(runs: &[PageRun], outline: &Outline) -> Option<Markup> {
    let latencies: Vec<Vec<i64>> = runs
        .iter()
        .map(|one| one.samples.iter().map(|sample| sample.latency_ps()).collect())
        .collect();
    let each = runs.iter().zip(&latencies);
    let series: Vec<PairedRuns> =
        each.map(|(one, latencies)| PairedRuns { run: one.run, latencies }).collect();
    Some(opened(outline, &responders::compared(&series)?))
}
