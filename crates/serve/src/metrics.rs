//! `/metrics`: the newest run of each board and scenario, for Prometheus.

use crate::response::{OWN, response};
use crate::run_index::{RunIndex, RunLine, RunStatus, Stamp, link_outside, stamp};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use latlab_formats::write::metrics::{
    Family, Kind, Label, MetricsRun, Sample, Style, Value, families, messages, text,
};
use latlab_model::sanitize::escape_controls;
use latlab_model::{Run, ThreadBins};
use latlab_report::sanitize_run;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The exposition format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Exposition {
    Text(Style),
    /// Protobuf, which has native histograms.
    Messages,
}

impl Exposition {
    fn content_type(self) -> &'static str {
        match self {
            Exposition::Text(Style::Prometheus) => "text/plain; version=0.0.4; charset=utf-8",
            Exposition::Text(_) => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Exposition::Messages => {
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; \
                 encoding=delimited"
            }
        }
    }

    /// The format that a client prefers, by its `Accept` headers; among equals the first.
    fn wanted(headers: &HeaderMap) -> Exposition {
        let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let mut best = (Exposition::Text(Style::Prometheus), 0.0);
        for one in values.flat_map(|value| value.split(',')) {
            let mut parts = one.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default();
            let parameters: Vec<&str> = parts.collect();
            let has = |wanted: &str| parameters.contains(&wanted);
            let weight = parameters.iter().find_map(|one| one.strip_prefix("q="));
            let weight = weight.map_or(Some(1.0), |weight| weight.parse().ok()).unwrap_or(0.0);
            let kind = match name {
                "application/openmetrics-text" => Exposition::Text(Style::OpenMetrics),
                "application/vnd.google.protobuf"
                    if has("proto=io.prometheus.client.MetricFamily")
                        && has("encoding=delimited") =>
                {
                    Exposition::Messages
                }
                "text/plain" | "text/*" | "*/*" => Exposition::Text(Style::Prometheus),
                _ => continue,
            };
            if weight > best.1 {
                best = (kind, weight);
            }
        }
        best.0
    }
}

/// An exported run, with its counts.
struct CountedRun {
    run: Run,
    bins: Vec<ThreadBins>,
    labels: Vec<Label>,
}

/// The exported runs, cached until there is a newer one.
#[derive(Default)]
pub struct Metrics {
    /// The runs of each campaign, by their folder.
    of_campaigns: Mutex<BTreeMap<PathBuf, Arc<RunIndex>>>,
    loaded: Mutex<BTreeMap<PathBuf, (Stamp, Arc<CountedRun>)>>,
}

impl Metrics {
    /// The metrics in the client's preferred format.
    pub fn answer(&self, runs: &RunIndex, headers: &HeaderMap) -> latlab_store::Result<Response> {
        let exposition = Exposition::wanted(headers);
        let mut lines = in_folder(runs)?;
        for index in self.campaigns(runs)? {
            lines.extend(in_folder(&index)?);
        }
        let states = states(&lines);
        let counted = self.newest(lines);
        let shown: Vec<MetricsRun<'_>> = counted
            .iter()
            .map(|one| MetricsRun { run: &one.run, bins: &one.bins, labels: one.labels.clone() })
            .collect();
        let mut all = vec![states];
        all.extend(families(&shown));
        let body = match exposition {
            Exposition::Text(style) => text(&all, style).into_bytes(),
            Exposition::Messages => messages(&all),
        };
        Ok(response(StatusCode::OK, exposition.content_type(), OWN, body))
    }

    /// The indexes of the runs of campaigns, which cache what they have read.
    fn campaigns(&self, runs: &RunIndex) -> latlab_store::Result<Vec<Arc<RunIndex>>> {
        let mut known = self.of_campaigns.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = BTreeMap::new();
        for store in runs.store().campaign_stores()? {
            let root = store.root().to_path_buf();
            if link_outside(runs.store(), root.parent().unwrap_or(&root)).is_none() {
                let index = known.remove(&root).unwrap_or_else(|| Arc::new(RunIndex::new(store)));
                next.insert(root, index);
            }
        }
        *known = next;
        Ok(known.values().cloned().collect())
    }

    /// The newest run of each board and scenario; one that cannot be read any more is left out.
    fn newest(&self, lines: Vec<(PathBuf, RunLine)>) -> Vec<Arc<CountedRun>> {
        let mut newest = BTreeMap::new();
        for (folder, line) in lines {
            let RunStatus::Figures(figures) = line.what else { continue };
            let place = newest.entry(figures.labels).or_insert((line.time, folder.clone()));
            if line.time > place.0 {
                *place = (line.time, folder);
            }
        }
        let mut known = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = BTreeMap::new();
        for (labels, (_, folder)) in newest {
            let Some(stamp) = stamp(&folder) else { continue };
            let kept = known.remove(&folder).filter(|(then, _)| *then == stamp);
            let loaded = kept.map(|(_, run)| run).or_else(|| load(&folder, labels).map(Arc::new));
            next.extend(loaded.map(|run| (folder, (stamp, run))));
        }
        *known = next;
        known.values().map(|(_, run)| run.clone()).collect()
    }
}

/// The runs of a folder with their paths.
fn in_folder(runs: &RunIndex) -> latlab_store::Result<Vec<(PathBuf, RunLine)>> {
    let root = runs.store().root();
    Ok(runs.rows()?.into_iter().map(|line| (root.join(&line.id), line)).collect())
}

fn load(folder: &Path, labels: Vec<Label>) -> Option<CountedRun> {
    let stored = latlab_store::read_run(folder).ok()?;
    let bins = latlab_store::histograms(folder, &stored).ok()?;
    let labels = labels.into_iter().map(|(name, value)| (name, escape_controls(&value))).collect();
    Some(CountedRun { run: sanitize_run(&stored).ok()?, bins, labels })
}

/// Number of runs in each state.
fn states(lines: &[(PathBuf, RunLine)]) -> Family<'static> {
    let of = |line: &RunLine| match &line.what {
        RunStatus::Figures(_) => "finished",
        RunStatus::GoesOn => "goes-on",
        RunStatus::LeftOver => "left-over",
        RunStatus::Damaged(_) => "damaged",
    };
    let sample = |state: &str| Sample {
        labels: vec![("state", state.to_string())],
        value: Value::Number(lines.iter().filter(|(_, line)| of(line) == state).count() as f64),
    };
    Family {
        name: "latlab_stored_runs",
        help: "Runs in the folder, those of campaigns among them.".to_string(),
        kind: Kind::Gauge,
        samples: ["finished", "goes-on", "left-over", "damaged"].map(sample).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn a_client_gets_what_it_likes_best() {
        let wanted = |accept: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
            Exposition::wanted(&headers)
        };
        let prometheus = "application/openmetrics-text;version=1.0.0,\
            application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        assert_eq!(wanted(prometheus), Exposition::Text(Style::OpenMetrics));
        let native = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;\
            encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8,*/*;q=0.1";
        assert_eq!(wanted(native), Exposition::Messages);
        for other in ["*/*", "text/html", "application/openmetrics-text;q=0", "", "x;q=y, ;;q=,"] {
            assert_eq!(wanted(other), Exposition::Text(Style::Prometheus), "{other}");
        }
        assert_eq!(Exposition::wanted(&HeaderMap::new()), Exposition::Text(Style::Prometheus));
    }
}
