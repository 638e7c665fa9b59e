//! Campaigns and ready-made sheets, a few lines each.

use crate::document::table::wrapped;
use crate::units::span;
use latlab_model::Nanos;
use latlab_model::campaign_table::CampaignSummary;

/// What the list of runs shows of a campaign.
pub struct CampaignEntry {
    /// Name of its folder.
    pub id: String,
    /// How many of its runs stand how, and have which verdict; or why it cannot be read.
    pub summary: Result<CampaignSummary, String>,
}

/// The campaigns, one a line.
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
