//! Programs that loads need and that are not installed, reported before anything is measured.

use crate::exit::ExitError;
use crate::output::warn;
use latlab_model::campaign::{Campaign, Row};
use latlab_sys::files::Root;

/// Names the program that a row needs on this machine and that is not installed.
fn missing_program(row: &Row) -> Option<String> {
    if !row.plan.on.target.shares_packages() {
        return None;
    }
    latlab_agent::missing_program(&Root::default(), &row.plan)
}

/// Warns about rows that would be refused.
pub fn warn_missing(campaign: &Campaign) {
    for row in &campaign.rows {
        if let Some(text) = missing_program(row) {
            warn(format_args!("{}: {text}", row.label));
        }
    }
}

/// Drops the rows that cannot be measured, if `skip` is set.
pub fn skip_missing(mut campaign: Campaign, skip: bool) -> Result<Campaign, ExitError> {
    let mut texts: Vec<String> = Vec::new();
    for row in &mut campaign.rows {
        row.left_out = missing_program(row);
        texts.extend(
            row.left_out.iter().filter(|text| !texts.contains(text)).cloned().collect::<Vec<_>>(),
        );
    }
    if texts.is_empty() {
        return Ok(campaign);
    }
    let text = texts.join("; ");
    let left = campaign.rows.iter().filter(|row| row.left_out.is_none()).count();
    match skip && left > 0 {
        true => {
            warn(format_args!("skipped (--skip-missing): {text}"));
            let rows = &campaign.rows;
            campaign.runs.retain(|run| rows[run.row].left_out.is_none());
            Ok(campaign)
        }
        false => Err(ExitError::cannot_measure(format!(
            "nothing was run: {text}, or skip its scenarios with --skip-missing"
        ))),
    }
}
