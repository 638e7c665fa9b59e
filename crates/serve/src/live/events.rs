//! `/live/ID/events`: the events of a run, as server-sent events.
//!
//! A reader asks the log for what comes after the last event it was sent, so that a slow one takes
//! no memory and delays no other; one that is too slow starts over.

use super::event_log::{EventLog, LiveEvent, RunStart, WHOLE};
use super::watchers::Watcher;
use crate::response::not_found;
use crate::response::{OWN, encoded, refusal, response};
use crate::state::ServerState;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use latlab_model::Nanos;
use latlab_model::finding::Finding;
use latlab_model::sanitize::escape_controls;
use latlab_report::InWords;
use latlab_store::FollowState;
use serde::Serialize;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::watch::Receiver;

/// Bytes per batch.
const BATCH_BYTES: usize = 32 << 10;
/// Keep-alive interval, so that both ends notice when the other is gone.
const QUIET: Duration = Duration::from_secs(15);

/// `/live/ID/events`.
pub async fn events(State(shared): State<Arc<ServerState>>, Path(id): Path<String>) -> Response {
    if shared.catalogue.store().get(&id).is_none() {
        return not_found("no such run");
    }
    let Ok(place) = Arc::clone(&shared.followers).try_acquire_owned() else {
        let text = "too many clients follow runs: try again later";
        return refusal(StatusCode::SERVICE_UNAVAILABLE, text);
    };
    let watch = shared.hub.watch(&id);
    let looks = watch.updates();
    let reader = Reader { looks, watch, id, seen: 0, over: false, _place: place };
    let stream = futures_util::stream::unfold(reader, async |mut reader: Reader| {
        let batch = reader.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(batch)), reader))
    });
    response(StatusCode::OK, "text/event-stream", OWN, Body::from_stream(stream))
}

struct Reader {
    watch: Arc<Watcher>,
    looks: Receiver<u64>,
    id: String,
    seen: u64,
    over: bool,
    _place: OwnedSemaphorePermit,
}

impl Reader {
    /// The next batch; `None` after the last.
    async fn next(&mut self) -> Option<String> {
        while !self.over {
            let batch = self.batch();
            if !batch.is_empty() {
                return Some(batch);
            }
            match tokio::time::timeout(QUIET, self.looks.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return None,
                Err(_) => return Some(": nothing new\n\n".to_string()),
            }
        }
        None
    }

    fn batch(&mut self) -> String {
        let log = self.watch.log();
        if self.seen > 0 && log.is_rewritten_since(self.seen) {
            self.seen = 0;
        }
        let (first, seen) = (log.run_start().map_or(Nanos::ZERO, |begun| begun.first), self.seen);
        let mut batch = String::new();
        if let (0, Some(begun)) = (seen, log.run_start()) {
            put(&mut batch, "plan", &plan(&self.id, begun));
        }
        for finding in log.findings(seen) {
            put(&mut batch, "finding", &printed(finding));
        }
        for (number, event) in log.events_after(seen) {
            put_event(&mut batch, event, first);
            if batch.len() >= BATCH_BYTES {
                self.seen = *number;
                return batch;
            }
        }
        self.over = put_status(&mut batch, &self.id, &log, seen);
        self.seen = log.last();
        batch
    }
}

fn put(batch: &mut String, name: &str, data: &impl Serialize) {
    // JSON in one line has no newline, which would end the event.
    let data = serde_json::to_string(data).unwrap_or_default();
    let _ = write!(batch, "event: {name}\ndata: {data}\n\n");
}

/// A finding with its sentences, in harmless characters.
fn printed(finding: &Finding) -> Value {
    let mut printed = json!(finding.rendered());
    for name in ["text", "remedy"] {
        if let Some(text) = printed[name].as_str() {
            printed[name] = json!(escape_controls(text));
        }
    }
    printed
}

fn plan(id: &str, begun: &RunStart) -> Value {
    let RunStart { plan, machine, prepared, .. } = begun;
    let threads = prepared.threads.iter().map(|thread| {
        json!({ "thread": thread.thread, "cpu": thread.cpu, "policy": escape_controls(&thread.policy) })
    });
    json!({
        "id": id,
        "name": escape_controls(&plan.name),
        "note": plan.note.as_deref().map(escape_controls),
        "machine": machine.as_ref().and_then(|machine| machine.hostname.as_deref()).map(escape_controls),
        "kernel": machine.as_ref().map(|machine| escape_controls(&machine.kernel)),
        "rhythm": plan.method.rhythm(),
        "interval_s": plan.keep.interval_ns.as_secs_f64(),
        "planned_s": plan.until.duration_ns.map(Nanos::as_secs_f64),
        "deadline_ns": plan.until.deadline_ns,
        "whole_s": WHOLE.as_secs_f64(),
        "threads": threads.collect::<Vec<_>>(),
    })
}

fn put_event(batch: &mut String, event: &LiveEvent, first: Nanos) {
    let since = |time: Nanos| (time - first).as_secs_f64();
    match event {
        LiveEvent::Interval(thread, span) => put(
            batch,
            "interval",
            &json!({
                "thread": thread, "from": since(span.from), "to": since(span.to),
                "count": span.count, "overruns": span.overruns, "misses": span.misses, "min_ns": span.min,
                "median_ns": span.median, "p99_9_ns": span.p99_9,
                "p99_9_is_limit": span.p99_9_is_limit, "max_ns": span.max,
            }),
        ),
        LiveEvent::Reading(at, values) => {
            let values: Value = values
                .iter()
                .map(|(name, value)| {
                    (escape_controls(name), json!((value * 100.0).round() / 100.0))
                })
                .collect();
            put(batch, "telemetry", &json!({ "at": since(*at), "values": values }));
        }
    }
}

/// Adds the state of the run if it is new; returns whether nothing more will come.
fn put_status(batch: &mut String, id: &str, log: &EventLog, seen: u64) -> bool {
    let Some((standing, damage, left_out)) = log.status(seen) else { return log.is_over() };
    let status = |word: &str| json!({ "standing": word, "damaged_bytes": damage, "findings_left_out": left_out });
    match standing {
        Ok(FollowState::Running) => put(batch, "standing", &status("goes-on")),
        Ok(FollowState::Abandoned) => put(batch, "standing", &status("left-over")),
        Ok(FollowState::Removed) => put(batch, "standing", &status("gone")),
        Ok(FollowState::Finished(_)) => {
            put(batch, "finished", &json!({ "report": format!("/runs/{}", encoded(id)) }));
        }
        Err(reason) => {
            put(batch, "standing", &json!({ "standing": "unreadable", "reason": reason }));
        }
    }
    log.is_over()
}
