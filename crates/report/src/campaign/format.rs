//! Formats a cell of a campaign.

use crate::campaign::{CampaignCell, CampaignTable};
use crate::figures::{CellFigures, LatencyBound, SaidLatency};
use crate::units::{bin_edge, grouped, percent_of, span};
use latlab_model::Nanos;
use latlab_model::deadline::is_miss;
use latlab_store::CellWord;

/// How close the observed maximum came to the deadline; decides the colour of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeadlineDistance {
    /// No deadline was given, or there are no latencies.
    Unknown,
    /// Up to half of the deadline.
    Far,
    /// Up to the deadline.
    Close,
    /// Beyond the deadline.
    Over,
    /// The run failed, or its folder is damaged.
    Invalid,
}

impl DeadlineDistance {
    pub fn new(cell: &CampaignCell, deadline: Option<Nanos>) -> DeadlineDistance {
        if matches!(cell.state, CellWord::Failed | CellWord::Damaged) {
            return DeadlineDistance::Invalid;
        }
        match cell.figures.max_ns.zip(deadline) {
            None => DeadlineDistance::Unknown,
            Some((max, deadline)) if is_miss(max.0, deadline.0) => DeadlineDistance::Over,
            Some((max, deadline)) if max.0 * 2 > deadline.0 => DeadlineDistance::Close,
            Some(_) => DeadlineDistance::Far,
        }
    }

    /// The CSS class.
    pub fn class(self) -> &'static str {
        match self {
            DeadlineDistance::Unknown => "unknown",
            DeadlineDistance::Far => "far",
            DeadlineDistance::Close => "close",
            DeadlineDistance::Over => "over",
            DeadlineDistance::Invalid => "invalid",
        }
    }
}

/// The verdict or the state of a cell in a word or two.
pub fn verdict(cell: &CampaignCell) -> String {
    match (cell.state, cell.verdict) {
        (CellWord::Done, Some(word)) => word.to_string(),
        (CellWord::Done, None) => String::new(),
        (CellWord::Failed, Some(word)) => word.to_string(),
        (CellWord::Failed, None) => "failed".to_string(),
        (CellWord::Damaged, _) => "damaged".to_string(),
        (CellWord::Missing, _) => "missing".to_string(),
        (CellWord::LeftOut, _) => "left out".to_string(),
    }
}

/// Why a cell has no figures, no valid ones, or no pass.
pub fn reason(cell: &CampaignCell) -> Option<String> {
    let reason = cell.reason.as_deref().unwrap_or_default();
    match cell.state {
        CellWord::Failed | CellWord::Damaged | CellWord::LeftOut => {
            Some(format!("{}: {reason}", verdict(cell)))
        }
        CellWord::Done => cell.reason.as_ref().map(|why| format!("{}: {why}", verdict(cell))),
        CellWord::Missing => None,
    }
}

/// The length of the runs, and the planned length if it differs; the sheet may name that one.
pub fn length(lengths: Option<(Nanos, Nanos)>, scale: Option<&str>) -> Option<String> {
    let length = lengths.map(|(shortest, longest)| match shortest == longest {
        true => format!("Each run: {}", span(shortest)),
        false => format!("Each run: {} to {}", span(shortest), span(longest)),
    });
    let scaled = |scale| format!("scaled by --scale {scale} instead of the sheet's values");
    match (length, scale.map(scaled)) {
        (Some(length), Some(scaled)) => Some(format!("{length}, {scaled}.")),
        (Some(one), None) => Some(format!("{one}.")),
        (None, Some(scaled)) => Some(format!("Each run: {scaled}.")),
        (None, None) => None,
    }
}

pub fn length_of(table: &CampaignTable) -> Option<String> {
    length(table.shortest_ns.zip(table.longest_ns), table.scale.as_deref())
}

pub fn maximum(figures: &CellFigures) -> Option<SaidLatency> {
    let bound = if figures.max_is_at_least { LatencyBound::AtLeast } else { LatencyBound::Known };
    Some(SaidLatency { ns: figures.max_ns?.0 as f64, bound })
}

pub fn p99_9(figures: &CellFigures) -> Option<SaidLatency> {
    let known = figures.p99_9_ns.map(|time| (bin_edge(time), LatencyBound::Known));
    let above = figures.p99_9_above_ns.map(|end| (end, LatencyBound::Above));
    known.or(above).map(|(time, bound)| SaidLatency { ns: time.0 as f64, bound })
}

/// All figures of a cell except its observed maximum.
pub fn rest(figures: &CellFigures, deadline: Option<Nanos>) -> Vec<String> {
    let p99_9 = p99_9(figures)
        .map(|latency| format!("p99.9 {}", latency.words(|ns| Nanos(ns as i64).to_string())));
    let misses = figures
        .misses
        .map(|count| format!("{} {}", grouped(count), if count == 1 { "miss" } else { "misses" }));
    p99_9.into_iter().chain(misses).chain(share(figures, deadline)).collect()
}

pub fn share(figures: &CellFigures, deadline: Option<Nanos>) -> Option<String> {
    let (max, deadline) = figures.max_ns.zip(deadline)?;
    let percent = percent_of(max.0.max(0).unsigned_abs(), deadline.0.unsigned_abs())?;
    let at_least = if figures.max_is_at_least { "at least " } else { "" };
    Some(format!("{at_least}{percent} of the deadline"))
}
