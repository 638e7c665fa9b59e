//! Campaigns and ready-made sheets, a few lines each.

use crate::table::wrapped;
use crate::units::span;
use latlab_model::Nanos;

/// What the list of runs shows of a campaign.
pub struct CampaignEntry {
    /// Name of its folder.
    pub id: String,
    /// Runs that need no further try.
    pub settled: usize,
    /// Runs that were planned.
    pub planned: usize,
}

/// The campaigns, one a line.
pub fn campaigns(entries: &[CampaignEntry]) -> String {
    let line = |one: &CampaignEntry| {
        let state = match one.settled >= one.planned {
            true => "complete".to_string(),
            false => "latlab run --resume goes on".to_string(),
        };
        format!("{}: campaign, {} of {} runs made, {state}\n", one.id, one.settled, one.planned)
    };
    entries.iter().map(line).collect()
}

/// What the list of ready-made sheets shows of one.
pub struct SheetEntry {
    /// Its name.
    pub name: String,
    /// The question it answers.
    pub about: String,
    /// Its runs.
    pub runs: usize,
    /// How long they take.
    pub total_ns: Nanos,
}

/// The sheets, two lines or so each.
pub fn sheets(entries: &[SheetEntry], width: usize) -> String {
    let paragraph = |one: &SheetEntry| {
        let runs = if one.runs == 1 { "run" } else { "runs" };
        let about = wrapped(&format!("  {}", one.about), width, 2);
        format!(
            "{} ({} {runs}, {})\n  {}\n",
            one.name,
            one.runs,
            span(one.total_ns),
            about.trim_start()
        )
    };
    entries.iter().map(paragraph).collect()
}
