//! `/`: campaigns and runs as filtered tables, with a selection of runs to compare, without any
//! script.

use crate::campaigns::CampaignLine;
use crate::response::encoded;
use crate::run_index::{ListFigures, RunLine, RunStatus};
use latlab_model::campaign::Campaign;
use latlab_model::sanitize::escape_controls;
use latlab_report::{served_heads, with_breaks};
use latlab_store::CampaignSummary;
use maud::{DOCTYPE, Markup, html};
use serde::Deserialize;

/// The filter, as in the query string.
#[derive(Deserialize, Default, Debug)]
pub struct Filter {
    /// All of these words must occur.
    #[serde(default)]
    pub q: String,
    /// A verdict or a state; empty for all.
    #[serde(default)]
    pub verdict: String,
}

/// The values of the filter, and their labels.
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
    /// A campaign matches if any of its runs has the verdict.
    fn accepts_campaign(&self, campaign: &CampaignLine) -> bool {
        (self.verdict.is_empty() || campaign.has_verdict(&self.verdict)) && campaign.has(&self.q)
    }

    fn accepts(&self, row: &RunLine) -> bool {
        (self.verdict.is_empty() || self.verdict == row.as_str()) && row.has(&self.q)
    }
}

/// A page of this crate: head and body.
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
    let body = html! {
        header { h1 { "Runs" } p.muted { "in " code { (escape_controls(folder)) } } }
        main {
            (form(filter, "/"))
            @if !listed.is_empty() {
                h2 { "Campaigns" }
                (campaign_table(&listed))
                h2 { "Runs" }
            }
            (runs(rows, campaigns.is_empty(), filter, &Addresses::alone()))
        }
        footer { "latlab serve only reads; it never changes a run." }
    };
    frame("Runs", &html! {}, &body)
}

/// The runs of a campaign as such a page.
pub fn campaign_runs(campaign: &Campaign, rows: &[RunLine], filter: &Filter) -> String {
    let (id, name) = (&campaign.id, escape_controls(&campaign.name));
    let addresses = Addresses::of_campaign(id);
    let body = html! {
        header {
            h1 { "Runs of " (name) }
            p.muted {
                a href={ "/campaigns/" (encoded(id)) } { "Campaign" } " " (escape_controls(id)) " · "
                a href="/" { "All runs" }
            }
        }
        main {
            (form(filter, &addresses.list))
            (runs(rows, true, filter, &addresses))
        }
        footer { "latlab serve only reads; it never changes a run." }
    };
    frame(&format!("Runs of {name}"), &html! {}, &body)
}

/// Links of the runs in a table, and their names in comparisons.
struct Addresses {
    list: String,
    runs: String,
    compared: String,
}

impl Addresses {
    fn alone() -> Addresses {
        Addresses { list: "/".into(), runs: "/runs/".into(), compared: String::new() }
    }

    fn of_campaign(id: &str) -> Addresses {
        let list = format!("/campaigns/{}/runs", encoded(id));
        Addresses { runs: format!("{list}/"), compared: format!("{id}/"), list }
    }
}

/// The count, the table, and the button that compares the selection.
fn runs(rows: &[RunLine], no_campaign: bool, filter: &Filter, addresses: &Addresses) -> Markup {
    let shown: Vec<&RunLine> = rows.iter().filter(|row| filter.accepts(row)).collect();
    html! {
        p { (count_line(shown.len(), rows.len(), no_campaign, filter, &addresses.list)) }
        @if !shown.is_empty() {
            form.compare method="get" action="/compare" {
                (table(&shown, addresses))
                p.bar { button { "Compare the chosen runs" } span.muted { "The first one is the baseline." } }
            }
        }
    }
}

fn count_line(shown: usize, all: usize, no_campaign: bool, filter: &Filter, list: &str) -> Markup {
    let filtered = !filter.q.trim().is_empty() || !filter.verdict.is_empty();
    html! {
        @if all == 0 && !no_campaign { "No runs outside of the campaigns." }
        @else if all == 0 { "No runs yet: " code { "latlab run --for 10s" } " creates one." }
        @else if filtered { (shown) " of " (all) " runs match. " a href=(list) { "Show all" } }
        @else { (all) " of " (all) " runs, newest first." }
    }
}

fn form(filter: &Filter, list: &str) -> Markup {
    html! {
        form.filter method="get" action=(list) role="search" {
            label { "Id, name, note, load, kernel or machine" input type="search" name="q" value=(filter.q); }
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
        div.box role="region" aria-label="Campaigns" {
            table {
                thead { tr { th { "Campaign" } th { "Verdicts" } th { "State" } th { "Runs" } } }
                tbody { @for campaign in campaigns { tr { (campaign_cells(campaign)) } } }
            }
        }
    }
}

fn campaign_cells(campaign: &CampaignLine) -> Markup {
    let id = encoded(&campaign.id);
    html! {
        td.name {
            @match &campaign.sheet {
                Some((name, about)) => {
                    a href={ "/campaigns/" (id) } { (name) }
                    small { (escape_controls(&campaign.id)) }
                    @if let Some(about) = about { small { (about) } }
                }
                None => (escape_controls(&campaign.id)),
            }
        }
        @match &campaign.summary {
            Ok(CampaignSummary { counts, verdicts }) => {
                td data-head="Verdicts" { span {
                    @for (index, (verdict, count)) in verdicts.iter().enumerate() {
                        @if index > 0 { ", " }
                        (count) " " span.tag.(verdict.as_str()) { (verdict) }
                    }
                    @if verdicts.is_empty() { "–" }
                } }
                td data-head="State" { (counts) }
                td data-head="Runs" { a href={ "/campaigns/" (id) "/runs" } { "choose and compare" } }
            }
            Err(reason) => td.damaged colspan="3" { "cannot be read: " (reason) },
        }
    }
}

fn table(rows: &[&RunLine], addresses: &Addresses) -> Markup {
    html! {
        div.box role="region" aria-label="Runs" {
            table {
                thead { tr {
                    th { "run" } th { "verdict" }
                    @for head in served_heads() { th.number { (head) } }
                    th { "load" } th { "machine, kernel" } th { "started (UTC)" }
                } }
                tbody { @for row in rows { tr { (cells(row, addresses)) } } }
            }
        }
    }
}

fn cells(row: &RunLine, addresses: &Addresses) -> Markup {
    let id = encoded(&row.id);
    match &row.what {
        RunStatus::Figures(run) => figures(row, run, addresses),
        RunStatus::GoesOn => state(row, &format!("/live/{id}"), "running: watch"),
        RunStatus::LeftOver => state(
            row,
            &format!("/live/{id}"),
            "interrupted; the next latlab command on this folder finishes it",
        ),
        RunStatus::Damaged(reason) => html! {
            td.name { (escape_controls(&row.id)) } td.damaged colspan=(others()) { "cannot be read: " (reason) }
        },
    }
}

fn state(row: &RunLine, place: &str, text: &str) -> Markup {
    html! {
        td.name { a href=(place) { (escape_controls(&row.id)) } } td colspan=(others()) { (text) }
    }
}

fn figures(row: &RunLine, run: &ListFigures, addresses: &Addresses) -> Markup {
    let compared = format!("{}{}", addresses.compared, row.id);
    html! {
        td.name {
            // A name with hidden characters appears nowhere on a page.
            @if escape_controls(&compared) == compared {
                input type="checkbox" name="run" value=(compared) aria-label={ "Compare " (run.name) };
                " "
            }
            a href={ (addresses.runs) (encoded(&row.id)) } { (run.name) }
            small { (with_breaks(&escape_controls(&row.id), '_')) }
            @if let Some(instrument) = run.instrument { small { "instrument " (instrument) } }
            @if let Some(note) = &run.note { small { (note) } }
        }
        td data-head="verdict" {
            @match run.verdict { Some(verdict) => span.tag.(verdict.as_str()) { (verdict) }, None => "–" }
            @if let Some(reason) = &run.reason { small { (reason) } }
        }
        @for (head, words) in served_heads().into_iter().zip(&run.figures) {
            td.number data-head=(head) { (words) }
        }
        td.words data-head="load" { (with_breaks(&run.load, ',')) }
        td data-head="machine, kernel" { span { (run.machine) small { (run.kernel) } } }
        td data-head="started (UTC)" { (started(&run.started)) }
    }
}

/// The columns next to the name of a run.
fn others() -> usize {
    served_heads().len() + 4
}

/// A time in UTC to the second, without the T and Z.
fn started(time: &str) -> String {
    time.chars().take(19).collect::<String>().replace('T', " ")
}
