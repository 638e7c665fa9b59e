//! What the repeats of a row prove together about a tolerated rate of miss bursts.

use crate::campaign::{CampaignRow, CampaignTable};
use crate::units::{counted, grouped, percent, span};
use crate::verdict::{UNCHANGED, against, per_hour};
use latlab_stats::RepeatsVerdict;

pub fn limits(of: &CampaignTable) -> Vec<String> {
    of.rows.iter().filter_map(limit).collect()
}

/// What the repeats of a row prove together; `None` without a limit.
pub fn limit(row: &CampaignRow) -> Option<String> {
    Some(sentence(row, row.repeated.as_ref()?))
}

fn sentence(row: &CampaignRow, of: &RepeatsVerdict) -> String {
    let RepeatsVerdict { word, misses, limit, bursts, .. } = *of;
    let deadline = row.deadline_ns.map(|deadline| format!("Deadline {deadline}: "));
    let bursts = match (bursts.bursts, bursts.unknown) {
        (0, _) => String::new(),
        (count, 0) => format!(" in {}", counted(count, "burst", "bursts")),
        (count, _) => format!(" in {} at least", counted(count, "burst", "bursts")),
    };
    format!(
        "{}: {}. {}{}{bursts} in {} of {} ({}).{} At most {} bursts of misses an hour (95 % confidence), \
         {UNCHANGED}. {}{}",
        row.label,
        word.as_str().to_uppercase(),
        deadline.unwrap_or_default(),
        counted(misses, "miss", "misses"),
        counted(of.releases, "release", "releases"),
        counted(of.runs as u64, "repeat", "repeats"),
        span(of.bursts.measured_ns),
        differ(of),
        per_hour(limit.at_most_per_hour),
        against(&limit, word, misses),
        undecided(of)
    )
}

fn differ(of: &RepeatsVerdict) -> String {
    if !of.differ {
        return String::new();
    }
    format!(
        " The repeats differ by more than chance, so that each must keep the limit by itself: what follows \
         is of the worst. {} of {} had a miss; with 95 % confidence at most {} of such runs have one.",
        grouped(of.runs_with_misses as u64),
        grouped(of.runs as u64),
        percent(of.at_most_share_of_runs)
    )
}

fn undecided(of: &RepeatsVerdict) -> String {
    match of.undecided as u64 {
        0 => String::new(),
        1 => {
            " One repeat was not measured as planned, which shows no limit to be kept.".to_string()
        }
        count => format!(
            " {} repeats were not measured as planned, which shows no limit to be kept.",
            grouped(count)
        ),
    }
}
