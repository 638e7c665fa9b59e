//! Maps addresses to pages.

use crate::campaigns::{CampaignIndex, CampaignLookup};
use crate::connections::Limits;
use crate::guard::{Guard, Token, guard};
use crate::list::{Filter, campaign_runs, list};
use crate::live::{self, Watchers};
use crate::metrics::Metrics;
use crate::reports::{Document, Reports, document};
use crate::response::{
    OWN, SELF_CONTAINED, encoded, not_found, page, refusal, response, see_other, self_contained,
};
use crate::run_index::{Lookup, RunIndex};
use crate::state::{ServerState, run_blocking};
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::get;
use latlab_report::{live_script, live_style};
use latlab_store::Store;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Semaphore;

const STYLE: &str = include_str!("pages.css");
/// Most runs on one comparison page.
const MOST_COMPARED: usize = 16;

/// What is served, and to whom.
pub struct Setup {
    pub store: Store,
    /// The required secret.
    pub token: Option<Token>,
    /// The name of this machine.
    pub hostname: String,
    /// How many clients are served at a time.
    pub limits: Limits,
    /// Prints a line for the user who runs the server.
    pub log: fn(&str),
}

/// All routes of a server at this address.
pub fn router(setup: Setup, address: SocketAddr) -> Router {
    let rules = Guard::new(address, &setup.hostname, setup.token, setup.log);
    let shared = ServerState {
        followers: Arc::new(Semaphore::new(setup.limits.followers)),
        hub: Watchers::new(setup.store.clone()),
        campaigns: CampaignIndex::new(setup.store.clone()),
        catalogue: RunIndex::new(setup.store),
        reports: Reports::default(),
        metrics: Metrics::default(),
    };
    Router::new()
        .route("/", get(index))
        .route("/assets/{name}", get(asset))
        .route("/runs/{id}", get(report))
        .route("/runs/{id}/{file}", get(file))
        .route("/campaigns/{id}", get(campaign))
        .route("/campaigns/{id}/runs", get(campaign_index))
        .route("/campaigns/{id}/runs/{run}", get(campaign_run))
        .route("/campaigns/{id}/runs/{run}/{file}", get(campaign_file))
        .route("/compare", get(compare))
        .route("/metrics", get(metrics))
        .route("/live/{id}", get(live::page))
        .route("/live/{id}/events", get(live::events))
        .fallback(async || not_found("no such page"))
        .with_state(Arc::new(shared))
        .layer(from_fn_with_state(rules, guard))
}

fn broken(error: impl std::fmt::Display) -> Response {
    let text = latlab_model::sanitize::escape_controls(&error.to_string());
    refusal(StatusCode::INTERNAL_SERVER_ERROR, &text)
}

fn crashed() -> Response {
    broken("cannot show this because of a bug in latlab: please report it")
}

async fn index(
    State(shared): State<Arc<ServerState>>,
    filter: Result<Query<Filter>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let Ok(Query(filter)) = filter else {
        return refusal(StatusCode::BAD_REQUEST, "expected ?q=WORDS&verdict=WORD");
    };
    let made = run_blocking(move || {
        let folder = shared.catalogue.store().root().display().to_string();
        let campaigns = shared.campaigns.lines()?;
        shared.catalogue.rows().map(|rows| list(&folder, &campaigns, &rows, &filter))
    });
    match made.await {
        Some(Ok(html)) => page(html),
        Some(Err(error)) => broken(error),
        None => crashed(),
    }
}

/// `/metrics`.
async fn metrics(State(shared): State<Arc<ServerState>>, headers: HeaderMap) -> Response {
    let made = run_blocking(move || {
        shared.metrics.answer(&shared.catalogue, &headers).unwrap_or_else(broken)
    });
    made.await.unwrap_or_else(crashed)
}

/// `/campaigns/ID/runs`.
async fn campaign_index(
    State(shared): State<Arc<ServerState>>,
    Path(id): Path<String>,
    filter: Result<Query<Filter>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let Ok(Query(filter)) = filter else {
        return refusal(StatusCode::BAD_REQUEST, "expected ?q=WORDS&verdict=WORD");
    };
    let made = run_blocking(move || match shared.campaigns.find(&id) {
        CampaignLookup::Found(folder) => match RunIndex::new(folder.runs().clone()).rows() {
            Ok(rows) => page(campaign_runs(&folder.campaign, &rows, &filter)),
            Err(error) => broken(error),
        },
        CampaignLookup::Damaged(reason) => broken(reason),
        CampaignLookup::Nothing => not_found("no such campaign"),
    });
    made.await.unwrap_or_else(crashed)
}

/// `/compare?run=ID&run=CAMPAIGN/ID`.
async fn compare(
    State(shared): State<Arc<ServerState>>,
    query: Result<Query<Vec<(String, String)>>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let Ok(Query(words)) = query else {
        return refusal(StatusCode::BAD_REQUEST, "expected ?run=ID&run=ID");
    };
    let mut runs: Vec<RunAddress> = Vec::new();
    for (_, name) in words.iter().filter(|(key, _)| key == "run") {
        let address = RunAddress::named(name);
        if !runs.contains(&address) {
            runs.push(address);
        }
    }
    if !(2..=MOST_COMPARED).contains(&runs.len()) {
        let text = format!("choose 2 to {MOST_COMPARED} runs to compare; {} chosen", runs.len());
        return refusal(StatusCode::BAD_REQUEST, &text);
    }
    let made = run_blocking(move || {
        let mut folders = Vec::new();
        for address in &runs {
            match address.find(&shared) {
                Lookup::Finished(folder) => folders.push(folder),
                Lookup::GoesOn => return not_found("one of the runs is not finished yet"),
                Lookup::Damaged(reason) => return broken(reason),
                Lookup::Nothing => return not_found("no such run"),
            }
        }
        match shared.reports.comparison(&folders) {
            Ok(html) => self_contained(html),
            Err(error) => broken(error),
        }
    });
    made.await.unwrap_or_else(crashed)
}

async fn report(State(shared): State<Arc<ServerState>>, Path(id): Path<String>) -> Response {
    with_folder(shared, RunAddress::alone(id), |shared, folder| report_of(shared, &folder)).await
}

async fn campaign_run(
    State(shared): State<Arc<ServerState>>,
    Path((campaign, run)): Path<(String, String)>,
) -> Response {
    let address = RunAddress { campaign: Some(campaign), run };
    with_folder(shared, address, |shared, folder| report_of(shared, &folder)).await
}

fn report_of(shared: &ServerState, folder: &std::path::Path) -> Response {
    match shared.reports.get(folder, Document::Page) {
        Ok(html) => self_contained(html),
        Err(error) => broken(error),
    }
}

async fn campaign(State(shared): State<Arc<ServerState>>, Path(id): Path<String>) -> Response {
    let made = run_blocking(move || match shared.campaigns.find(&id) {
        CampaignLookup::Found(folder) => {
            match shared.reports.get(folder.path(), Document::Campaign) {
                Ok(html) => self_contained(html),
                Err(error) => broken(error),
            }
        }
        CampaignLookup::Damaged(reason) => broken(reason),
        CampaignLookup::Nothing => not_found("no such campaign"),
    });
    made.await.unwrap_or_else(crashed)
}

async fn file(
    State(shared): State<Arc<ServerState>>,
    Path((id, file)): Path<(String, String)>,
) -> Response {
    file_of(shared, RunAddress::alone(id), file).await
}

async fn campaign_file(
    State(shared): State<Arc<ServerState>>,
    Path((campaign, run, file)): Path<(String, String, String)>,
) -> Response {
    file_of(shared, RunAddress { campaign: Some(campaign), run }, file).await
}

async fn file_of(shared: Arc<ServerState>, address: RunAddress, file: String) -> Response {
    let svg = file.strip_suffix(".svg").and_then(Document::picture);
    let json = file == "run.json";
    if svg.is_none() && !json {
        return not_found("expected run.json, or KIND.svg for a chart of `latlab plot`");
    }
    with_folder(shared, address, move |shared, folder| match svg {
        Some(what) => match shared.reports.get(&folder, what) {
            Ok(svg) => response(StatusCode::OK, "image/svg+xml", SELF_CONTAINED, svg),
            Err(error) => broken(error),
        },
        None => match document(&folder) {
            Ok(Some(json)) => response(StatusCode::OK, "application/json", OWN, json),
            Ok(None) => broken("run.json is too large to send: read it in the folder of the run"),
            Err(error) => broken(error),
        },
    })
    .await
}

/// A run by its id, alone or in a campaign.
#[derive(PartialEq, Eq)]
struct RunAddress {
    campaign: Option<String>,
    run: String,
}

impl RunAddress {
    fn alone(run: String) -> RunAddress {
        RunAddress { campaign: None, run }
    }

    /// `ID`, or `CAMPAIGN/ID`.
    fn named(name: &str) -> RunAddress {
        match name.split_once('/') {
            Some((campaign, run)) => {
                RunAddress { campaign: Some(campaign.to_string()), run: run.to_string() }
            }
            None => RunAddress::alone(name.to_string()),
        }
    }

    fn find(&self, shared: &ServerState) -> Lookup {
        match &self.campaign {
            Some(campaign) => shared.campaigns.run(campaign, &self.run),
            None => shared.catalogue.folder(&self.run),
        }
    }
}

/// Applies a function to the folder of a finished run, or says why there is none.
async fn with_folder(
    shared: Arc<ServerState>,
    address: RunAddress,
    then: impl FnOnce(&ServerState, PathBuf) -> Response + Send + 'static,
) -> Response {
    let made = run_blocking(move || match address.find(&shared) {
        Lookup::Finished(folder) => then(&shared, folder),
        Lookup::GoesOn if address.campaign.is_some() => {
            not_found("this run of the campaign is not finished yet")
        }
        Lookup::GoesOn => see_other(&format!("/live/{}", encoded(&address.run))),
        Lookup::Damaged(reason) => broken(reason),
        Lookup::Nothing => not_found("no such run"),
    });
    made.await.unwrap_or_else(crashed)
}

/// `/assets/NAME`.
async fn asset(Path(name): Path<String>) -> Response {
    let css = "text/css; charset=utf-8";
    let (kind, text) = match name.as_str() {
        "pages.css" => (css, STYLE.to_owned()),
        "live.css" => (css, live_style()),
        "live.js" => ("text/javascript; charset=utf-8", live_script()),
        _ => return refusal(StatusCode::NOT_FOUND, "no such file"),
    };
    response(StatusCode::OK, kind, OWN, text)
}
