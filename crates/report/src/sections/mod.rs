//! Sections of a report on a run, each one a function that all outputs share.

pub mod answer;
pub mod attach;
pub mod breakdown;
pub mod causes;
pub mod changes;
pub mod conditions;
pub mod explanation;
pub mod files;
pub mod findings;
pub mod kernels;
pub mod load;
pub mod losses;
pub mod outliers;
pub mod pairs;
pub mod published;
pub mod respond;
pub mod responders;
pub mod setup;
pub mod statistics;
pub mod threads;

use crate::doctor::summary as doctor;
use crate::document::Section;
use latlab_model::Run;

/// The sections below the answer, the most important first; charts follow the figures.
pub fn of_run(run: &Run, pictures: Vec<Section>) -> Vec<Section> {
    let figures = [attach::section(run), threads::section(run), answer::notes(run)];
    let rest = [
        Some(findings::section(run)),
        doctor::section(run),
        explanation::section(run),
        outliers::section(run),
        statistics::section(run),
        breakdown::section(run),
        load::section(run),
        conditions::section(run),
        Some(losses::section(run)),
        losses::samples(run),
        changes::section(run),
        losses::cost(run),
        files::section(run),
    ];
    let rest = rest.into_iter().flatten();
    figures.into_iter().flatten().chain(pictures).chain(rest).collect()
}
