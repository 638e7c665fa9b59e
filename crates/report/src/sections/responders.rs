//! Responders next to each other, next to a published experiment, in pairs, and under load.

use super::pairs::{self, PairedRuns};
use super::{kernels, published, respond};
use crate::document::style::Style;
use crate::document::{Section, to_terminal};
use latlab_model::Run;

/// `None` if a run is of another instrument.
pub fn compared(all: &[PairedRuns]) -> Option<Vec<Section>> {
    let runs: Vec<&Run> = all.iter().map(|one| one.run).collect();
    let figures = respond::section(&runs)?;
    let sections = [
        kernels::section(&runs),
        Some(figures),
        published::section(&runs),
        respond::findings(&runs),
        Some(pairs::section(all)),
        pairs::under_load(all),
    ];
    Some(sections.into_iter().flatten().collect())
}

/// For the terminal; empty if a run is of another instrument.
pub fn text(all: &[PairedRuns], width: usize, style: Style) -> String {
    to_terminal(&compared(all).unwrap_or_default(), width, style)
}
