//! Turns captures into ordinary runs by building the stream that an agent would send.
//!
//! The responses are the latencies. The end of the only thread tells what became of the stimuli.
//! `scope` asks an oscilloscope for each of them; `logic.rs` has a logic analyser write a capture.
//! `simulate.rs` builds a sketch and the simulator, runs it, and reads its capture like any other.

mod bins;
mod findings;
pub mod logic;
mod machine;
pub mod scope;
pub mod simulate;
mod stream;

use crate::StopFlag;
use latlab_capture::{CaptureQuery, CaptureResult, DelayFigures, Mark, Preparation, WireLevels};
use latlab_model::Plan;
use latlab_model::respond::{ChannelLevels, MarkerFigures, ResponseFigures, Responses};
use latlab_model::run::{EndReason, Finding};
use latlab_store::{Finished, Store};
pub use machine::AnsweringMachine;
use std::fs::File;
use std::io;
use std::path::PathBuf;
pub use stream::Answering;
use stream::StreamBuilder;

/// Picoseconds in a nanosecond.
const NANO: f64 = 1_000.0;

/// Why there is no run of a responder.
#[derive(Debug, thiserror::Error)]
pub enum RespondFailure {
    /// The capture cannot be read, or lacks what was requested.
    #[error(transparent)]
    Capture(#[from] latlab_capture::Error),
    #[error(transparent)]
    Store(#[from] latlab_store::Error),
    /// A captured file cannot be read.
    #[error("cannot read {}: {}", .0.display(), .1)]
    File(PathBuf, io::Error),
    /// The instrument failed to measure.
    #[error(transparent)]
    Instrument(#[from] scope::InstrumentError),
    /// The agent on the answering machine failed.
    #[error(transparent)]
    Machine(#[from] crate::Failure),
    /// The user ended it.
    #[error("interrupted: nothing is stored")]
    Interrupted,
}

pub struct ResponseRequest<'a> {
    /// The plan, with its responder part.
    pub plan: &'a Plan,
    /// The captures; several are the channels of one.
    pub paths: &'a [PathBuf],
    /// What to read from them.
    pub query: &'a CaptureQuery,
    /// The true resolution of their times, if the files look finer.
    pub resolution_ps: Option<i64>,
    /// What answered.
    pub answering: Answering,
    /// A file to keep in the folder of the run, if it has no other place.
    pub original: Option<PathBuf>,
    /// Why the capture ended.
    pub ended: EndReason,
    pub store: &'a Store,
    pub id: &'a str,
    /// Aborts the reading when set.
    pub stop: &'a StopFlag,
}

/// Reads the captures and stores a run.
pub fn record_responses(request: ResponseRequest<'_>) -> Result<Finished, RespondFailure> {
    let ResponseRequest {
        plan,
        paths,
        query: asked,
        resolution_ps,
        answering,
        original,
        ended,
        store,
        id,
        stop,
    } = request;
    let preparation = Preparation::new(paths, asked)?;
    let finest_ps = preparation.resolution_ps().max(resolution_ps);
    let open = store.begin(id)?;
    let mut recorder = StreamBuilder::begin(open, plan, answering, finest_ps, stop)?;
    let measured = match preparation.measure(|answer| recorder.push(answer)) {
        Ok(measured) => {
            CaptureResult { resolution_ps: measured.resolution_ps.max(resolution_ps), ..measured }
        }
        Err(failure) => {
            recorder.discard()?;
            return Err(failure);
        }
    };
    if let Some(path) = &original {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let opened = File::open(path).map_err(|error| RespondFailure::File(path.clone(), error));
        recorder.add_original(&name, &mut opened?)?;
    }
    let findings: Vec<Finding> = findings::findings(&measured);
    let length_ps = measured.length_ps;
    recorder.finish(responses(measured, asked), findings, length_ps, ended)
}

fn responses(measured: CaptureResult, asked: &CaptureQuery) -> Responses {
    let counts = measured.counts;
    let marker = asked.marker.clone().unwrap_or_default();
    Responses {
        format: measured.format.to_string(),
        stimuli: counts.stimuli,
        missing: counts.missing,
        late: counts.late,
        censored: counts.censored,
        timed_out: 0,
        impossible: counts.impossible,
        double: counts.double,
        spurious: counts.spurious,
        before_first: counts.before_first,
        cut_off: counts.cut_off,
        resolution_ns: measured.resolution_ps.map(nanos),
        is_timed: measured.is_timed,
        figures: figures(measured.figures),
        marked: measured.mark.map(|mark| marker_figures(&mark, marker)),
        levels: measured.wires.iter().map(channel_levels).collect(),
        cpu: None,
    }
}

fn channel_levels(wire: &WireLevels) -> ChannelLevels {
    ChannelLevels {
        channel: wire.channel.clone(),
        low: wire.pair.low,
        high: wire.pair.high,
        threshold: wire.rule.map(|rule| rule.threshold),
        hysteresis: wire.rule.map(|rule| rule.hysteresis),
        noise: wire.pair.noise,
    }
}

fn nanos(picoseconds: i64) -> f64 {
    picoseconds as f64 / NANO
}

fn figures(figures: DelayFigures) -> ResponseFigures {
    let of = ResponseFigures {
        min_ns: figures.min_ps().map(nanos),
        mean_ns: figures.mean_ps().map(|mean| mean / NANO),
        deviation_ns: figures.deviation_ps().map(|deviation| deviation / NANO),
        max_ns: figures.max_ps().map(nanos),
        ..ResponseFigures::default()
    };
    let Some(rising) = figures.sorted() else { return of };
    of.with_quantiles(&rising, NANO)
}

fn marker_figures(mark: &Mark, by: String) -> MarkerFigures {
    MarkerFigures {
        by,
        count: mark.marked.count(),
        slower: mark.slower,
        max_ns: mark.marked.max_ps().map(nanos),
        others_max_ns: mark.others.max_ps().map(nanos),
        period_ns: mark.period_ps.map(|period| period / NANO),
        first_ns: mark.first_ps.map(nanos),
    }
}
