//! Lists of campaigns and of ready-made sheets, a few lines each.

use crate::document::table::wrapped;
use crate::units::span;
use latlab_model::Nanos;
use latlab_store::CampaignSummary;

pub struct CampaignEntry {
    /// Name of the folder.
    pub id: String,
    /// The states and verdicts of its runs, or why it cannot be read.
    pub summary: Result<CampaignSummary, String>,
}

/// One line for each campaign.
pub fn campaigns(entries: &[CampaignEntry], width: usize) -> String {
    let line = |one: &CampaignEntry| {
        let state = match &one.summary {
            Err(reason) => format!("cannot be read: {reason}"),
            Ok(CampaignSummary { counts, verdicts }) => {
                let each = verdicts.iter().map(|(verdict, count)| format!("{count} {verdict}, "));
                let verdicts: String = each.collect();
                let next = if counts.missing() > 0 {
                    "; continue with latlab run --resume"
                } else if counts.failed > 0 {
                    "; retry failed runs with latlab run --resume"
                } else {
                    ", complete"
                };
                format!("{verdicts}{counts}{next}")
            }
        };
        wrapped(&format!("{}: campaign, {state}", one.id), width, 2) + "\n"
    };
    entries.iter().map(line).collect()
}

pub struct SheetEntry {
    pub name: String,
    /// The question that the sheet answers.
    pub about: String,
    pub runs: usize,
    pub total_ns: Nanos,
}

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
