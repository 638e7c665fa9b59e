//! `/`: the runs of the folder as a table that can be filtered, without any script.

use crate::campaigns::CampaignLine;
use crate::response::encoded;
use crate::run_index::{ListFigures, RunLine, RunStatus};
use latlab_model::Nanos;
use latlab_model::sanitize::escape_controls;
use latlab_report::units::{bin_edge, grouped, span};
use maud::{DOCTYPE, Markup, html};
use serde::Deserialize;

/// What the list is filtered by, as it stands in the address.
#[derive(Deserialize, Default, Debug)]
pub struct Filter {
    /// Words that must all be there.
    #[serde(default)]
    pub q: String,
    /// A verdict or a state; empty for all.
    #[serde(default)]
    pub verdict: String,
}

/// The words of the filter, and what they are called.
const WORDS: [(&str, &str); 9] = [
    ("", "all"),
    ("pass", "pass"),
    ("fail", "fail"),
    ("inconclusive", "inconclusive"),
    ("invalid", "invalid"),
    ("none", "no verdict"),
    ("goes-on", "running"),
    ("left-over", "interrupted"),
    ("damaged", "damaged"),
];

impl Filter {
    /// A campaign has a verdict for each of its rows, and none by which it could be chosen.
    fn accepts_campaign(&self, campaign: &CampaignLine) -> bool {
        self.verdict.is_empty() && campaign.has(&self.q)
    }

    fn accepts(&self, row: &RunLine) -> bool {
        (self.verdict.is_empty() || self.verdict == row.as_str()) && row.has(&self.q)
    }
}

/// A page of this crate: head, and what is in it.
pub fn frame(title: &str, head: &Markup, body: &Markup) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="icon" href="data:,";
                link rel="stylesheet" href="/assets/pages.css";
                (head)
            }
            body { (body) }
        }
    }
    .into_string()
}

/// The whole page.
pub fn list(folder: &str, campaigns: &[CampaignLine], rows: &[RunLine], filter: &Filter) -> String {
    let listed: Vec<&CampaignLine> =
        campaigns.iter().filter(|campaign| filter.accepts_campaign(campaign)).collect();
    let shown: Vec<&RunLine> = rows.iter().filter(|row| filter.accepts(row)).collect();
    let body = html! {
        header { h1 { "Runs" } p.muted { "in " code { (escape_controls(folder)) } } }
        main {
            (form(filter))
            @if !listed.is_empty() {
                h2 { "Campaigns" }
                (campaign_table(&listed))
                h2 { "Runs" }
            }
            p { (count_line(shown.len(), rows.len(), campaigns.is_empty(), filter)) }
            @if !shown.is_empty() { (table(&shown)) }
        }
        footer { "latlab serve only reads; it never changes a run." }
    };
    frame("Runs", &html! {}, &body)
}

fn count_line(shown: usize, all: usize, no_campaign: bool, filter: &Filter) -> Markup {
    let filtered = !filter.q.trim().is_empty() || !filter.verdict.is_empty();
    html! {
        @if all == 0 && !no_campaign { "No runs outside of the campaigns." }
        @else if all == 0 { "No runs yet: " code { "latlab run --for 10s" } " creates one." }
        @else if filtered { (shown) " of " (all) " runs match. " a href="/" { "Show all" } }
        @else { (all) " of " (all) " runs, newest first." }
    }
}

fn form(filter: &Filter) -> Markup {
    html! {
        form method="get" action="/" role="search" {
            label { "Id, name, note, kernel or machine" input type="search" name="q" value=(filter.q); }
            label { "Verdict"
                select name="verdict" {
                    @for (word, name) in WORDS {
                        option value=(word) selected[word == filter.verdict] { (name) }
                    }
                }
            }
            button { "Filter" }
        }
    }
}

fn campaign_table(campaigns: &[&CampaignLine]) -> Markup {
    html! {
        div.scroll role="region" tabindex="0" aria-label="Campaigns" {
            table {
                thead { tr { th.word { "Campaign" } th.word { "Runs" } } }
                tbody { @for campaign in campaigns { tr { (campaign_cells(campaign)) } } }
            }
        }
    }
}

fn campaign_cells(campaign: &CampaignLine) -> Markup {
    html! {
        td.word {
            @match &campaign.sheet {
                Some((name, about)) => {
                    a href={ "/campaigns/" (encoded(&campaign.id)) } { (name) }
                    small { (escape_controls(&campaign.id)) }
                    @if let Some(about) = about { small { (about) } }
                }
                None => (escape_controls(&campaign.id)),
            }
        }
        @match &campaign.tally {
            Ok(tally) => td.word { (tally) },
            Err(reason) => td.word.damaged { "cannot be read: " (reason) },
        }
    }
}

fn table(rows: &[&RunLine]) -> Markup {
    html! {
        div.scroll role="region" tabindex="0" aria-label="Runs" {
            table {
                thead { tr {
                    th.word { "Started (UTC)" } th.word { "Run" } th.word { "Machine, kernel" }
                    th { "Cycles" } th { "Measured" } th { "Observed maximum" } th { "p99.9" }
                    th { "Missed" } th.word { "Verdict" }
                } }
                tbody { @for row in rows { tr { (cells(row)) } } }
            }
        }
    }
}

fn cells(row: &RunLine) -> Markup {
    let id = encoded(&row.id);
    match &row.what {
        RunStatus::Figures(run) => figures(row, run),
        RunStatus::GoesOn => state(row, &format!("/live/{id}"), "running: watch"),
        RunStatus::LeftOver => state(
            row,
            &format!("/live/{id}"),
            "interrupted; the next latlab command on this folder finishes it",
        ),
        RunStatus::Damaged(reason) => html! {
            td.word {} td.word { (escape_controls(&row.id)) } td.word.damaged colspan="7" { "cannot be read: " (reason) }
        },
    }
}

fn state(row: &RunLine, place: &str, text: &str) -> Markup {
    html! {
        td.word {} td.word { a href=(place) { (escape_controls(&row.id)) } } td.word colspan="7" { (text) }
    }
}

fn figures(row: &RunLine, run: &ListFigures) -> Markup {
    html! {
        td.word { (started(&run.started)) }
        td.word {
            a href={ "/runs/" (encoded(&row.id)) } { (run.name) }
            small { (escape_controls(&row.id)) }
            @if let Some(instrument) = run.instrument { small { "instrument " (instrument) } }
            @if let Some(note) = &run.note { small { (note) } }
        }
        td.word { (run.machine) small { (run.kernel) } }
        td { (grouped(run.cycles)) }
        td { (span(run.measured)) }
        td.max { (time(run.max)) }
        td { (time(run.p99_9.map(bin_edge))) }
        td { @match run.missed { Some(missed) => (grouped(missed)), None => "–" } }
        td.word { @match run.verdict { Some(verdict) => span.tag.(verdict.as_str()) { (verdict) }, None => "–" } }
    }
}

fn time(time: Option<Nanos>) -> String {
    time.map_or_else(|| "–".to_string(), |time| time.to_string())
}

/// A time in UTC to the second, as people write it.
fn started(time: &str) -> String {
    time.chars().take(19).collect::<String>().replace('T', " ")
}
