//! JSON output of commands about campaigns.

use latlab_model::Nanos;
use latlab_model::campaign::Campaign;
use latlab_report::campaign::CampaignTable;
use serde::Serialize;

/// `latlab run SHEET --dry-run --format json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DryRun<'a> {
    /// The rows, and the runs in their order; without an id, since nothing is begun.
    campaign: &'a Campaign,
    /// How long each run takes, in their order, as far as its limits tell.
    lengths_ns: Vec<Option<Nanos>>,
    /// How long all take with their warm-ups.
    measuring_ns: Nanos,
    /// How long the pauses between them take.
    pauses_ns: Nanos,
    /// Both together.
    total_ns: Nanos,
}

impl<'a> DryRun<'a> {
    pub fn new(campaign: &'a Campaign) -> DryRun<'a> {
        DryRun {
            campaign,
            lengths_ns: campaign.runs.iter().map(|run| campaign.run_duration(run)).collect(),
            measuring_ns: campaign.run_time(),
            pauses_ns: campaign.pause_time(),
            total_ns: campaign.total(),
        }
    }
}

/// `latlab run SHEET --format json`, and that of `--resume`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CampaignResult<'a> {
    /// Path of its folder.
    pub path: String,
    /// What it came to.
    pub table: &'a CampaignTable,
}

/// A sheet of `latlab scenarios --format json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ShippedSheet<'a> {
    /// Its name.
    name: &'a str,
    /// The question it answers.
    about: Option<&'a str>,
    /// Labels of its rows.
    rows: Vec<&'a str>,
    /// Its runs.
    runs: usize,
    /// How long they take.
    total_ns: Nanos,
}

impl<'a> ShippedSheet<'a> {
    /// The sheet with the campaign that it makes.
    pub fn new(name: &'a str, campaign: &'a Campaign) -> ShippedSheet<'a> {
        ShippedSheet {
            name,
            about: campaign.about.as_deref(),
            rows: campaign.rows.iter().map(|row| row.label.as_str()).collect(),
            runs: campaign.runs.len(),
            total_ns: campaign.total(),
        }
    }
}

/// `latlab report CAMPAIGN --format json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CampaignReported<'a> {
    /// Path of the page.
    pub page: String,
    /// Its size.
    pub bytes: usize,
    /// The table on it.
    pub table: &'a CampaignTable,
}
