//! `/live/ID`: a run in progress, with charts if scripts are enabled and as a table otherwise.

use super::event_log::EventLog;
use super::watchers::Watcher;
use crate::list::frame;
use crate::response::not_found;
use crate::response::{encoded, page as answered, see_other};
use crate::run_index::Lookup;
use crate::state::{ServerState, run_blocking};
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use latlab_model::sanitize::escape_controls;
use latlab_report::InWords;
use latlab_report::units::{grouped, span};
use latlab_report::{figure_head, is_interactive};
use latlab_stats::Span;
use latlab_store::FollowState;
use maud::{Markup, html};
use std::sync::Arc;
use std::time::Duration;

/// The table reloads this often, and its run is followed in between.
const REFRESH_SECONDS: u64 = 2;

/// `/live/ID`, and with `?table` only the table.
pub async fn page(
    State(shared): State<Arc<ServerState>>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let (asked, catalogue) = (id.clone(), Arc::clone(&shared));
    match run_blocking(move || catalogue.catalogue.folder(&asked)).await {
        Some(Lookup::GoesOn) => {}
        Some(Lookup::Finished(_) | Lookup::Damaged(_)) => {
            return see_other(&format!("/runs/{}", encoded(&id)));
        }
        Some(Lookup::Nothing) | None => return not_found("no such run"),
    }
    if query.as_deref() != Some("table") && is_interactive() {
        return answered(charts(&id));
    }
    let watch = shared.hub.watch(&id);
    let mut looks = watch.updates();
    // Before the first poll there is nothing to show; a failed one shows why.
    let _ = looks.wait_for(|looks| *looks > 0).await;
    let html = table(&id, &watch.log());
    tokio::spawn(hold_watcher(watch));
    answered(html)
}

/// Keeps following a run until the table reloads; otherwise all of it would be read again.
async fn hold_watcher(watch: Arc<Watcher>) {
    tokio::time::sleep(Duration::from_secs(2 * REFRESH_SECONDS)).await;
    drop(watch);
}

fn refresh(id: &str) -> String {
    format!("{REFRESH_SECONDS}; url=/live/{}?table", encoded(id))
}

fn charts(id: &str) -> String {
    let head = html! {
        link rel="stylesheet" href="/assets/live.css";
        noscript { meta http-equiv="refresh" content=(refresh(id)); }
        script defer src="/assets/live.js" {}
    };
    let body = html! {
        header {
            p.muted { a href="/" { "Runs" } }
            h1 { (escape_controls(id)) }
            p.answer #answer {}
            p.muted #about {}
            p.standing #standing role="status" { "Loading the run …" }
        }
        main data-events={ "/live/" (encoded(id)) "/events" } {
            div.charts #charts {}
            section { h2 { "Threads" } div.scroll { table #threads data-heads=(heads(&CHART_FIGURES).join("|")) {} } p.muted #joined {} }
            section { h2 { "Findings" } ul.findings #findings {  } }
        }
    };
    frame(&format!("{} is being measured", escape_controls(id)), &head, &body)
}

fn table(id: &str, log: &EventLog) -> String {
    let head = html! { meta http-equiv="refresh" content=(refresh(id)); };
    let body = html! {
        header { p.muted { a href="/" { "Runs" } } h1 { (escape_controls(id)) } p.standing { (state_line(log)) } }
        main {
            div.scroll { table {
                thead { tr { @for head in heads(&FIGURES) { th { (head) } } } }
                tbody { @for (thread, all) in log.totals() { (row(*thread, all, log)) } }
            } }
            ul.findings { @for finding in log.findings(0) { li { (escape_controls(&finding.text())) } } }
        }
        footer { "Reloaded every " (REFRESH_SECONDS) " s." }
    };
    frame(&format!("{} is being measured", escape_controls(id)), &head, &body)
}

/// The figures of a thread, by their names in documents.
const FIGURES: [&str; 7] =
    ["cpu", "measured_ns", "cycles", "overruns", "misses", "min_ns", "max_ns"];
/// Those below the charts, in the order of `web/src/live.js`.
const CHART_FIGURES: [&str; 5] = ["cpu", "cycles", "overruns", "misses", "max_ns"];

fn heads(ids: &[&str]) -> Vec<&'static str> {
    ["thread"].into_iter().chain(ids.iter().map(|id| figure_head(id))).collect()
}

fn row(thread: u32, all: &Span, log: &EventLog) -> Markup {
    let setups = log.run_start().map(|begun| &begun.prepared.threads[..]).unwrap_or_default();
    let cpu = setups.iter().find(|setup| setup.thread == thread).and_then(|setup| setup.cpu);
    let has_deadline = log.run_start().is_some_and(|begun| begun.plan.until.deadline_ns.is_some());
    let time =
        |time: Option<latlab_model::Nanos>| time.map_or("–".into(), |time| time.to_string());
    html! {
        tr {
            td { (thread) }
            td { @match cpu { Some(cpu) => (cpu), None => "floats" } }
            td { (span(all.to - all.from)) }
            td { (grouped(all.count)) }
            td { (grouped(all.overruns)) }
            td { @if has_deadline { (grouped(all.misses)) } @else { "–" } }
            td { (time(all.min)) }
            td.max { (time(all.max)) }
        }
    }
}

fn state_line(log: &EventLog) -> String {
    let text = match log.state() {
        Some(Ok(FollowState::Abandoned)) => {
            "Interrupted; the next latlab command on this folder finishes it."
        }
        Some(Ok(FollowState::Finished(_))) => "Finished.",
        Some(Ok(FollowState::Removed)) => "Removed.",
        Some(Err(reason)) => reason,
        Some(Ok(FollowState::Running)) | None => "Running.",
    };
    text.to_string()
}
