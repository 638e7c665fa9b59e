//! `latlab respond --logic`: captures with a logic analyser.

use super::args::RespondArgs;
use super::{CapturePart, CapturedPart, machine, plan, record_part};
use crate::exit::ExitError;
use latlab_conduct::StopFlag;
use latlab_conduct::respond::logic::{LogicCapture, capture};
use latlab_conduct::respond::{Answering, AnsweringMachine};
use latlab_model::run::EndReason;
use latlab_store::{Finished, Store};
use std::time::Instant;

/// Captures, measures the capture, and stores it with the run.
pub fn record_logic(
    args: &RespondArgs,
    driver: &str,
    store: &Store,
    stop: &StopFlag,
) -> anyhow::Result<Finished> {
    let query = args.query();
    // Empty, which captures all channels, unless stimulus and response are both named.
    let known = query.stimulus.iter().zip(&query.response);
    let channels = known.flat_map(|(stimulus, response)| {
        [Some(stimulus), Some(response), query.marker.as_ref()].into_iter().flatten().cloned()
    });
    let order = LogicCapture {
        driver: driver.to_string(),
        samplerate: args.samplerate.clone(),
        duration: args.duration,
        channels: channels.collect(),
        options: args.sigrok_options.clone(),
    };
    let name = driver.split(':').next().unwrap_or_default();
    let mut part = CapturePart {
        name: args.runs.name.clone().unwrap_or_else(|| name.to_string()),
        paths: Vec::new(),
        query,
        simulated: None,
        captured: Some(CapturedPart { command: order.command(), ended: EndReason::Finished }),
        seed: None,
        answering: Answering::default(),
    };
    // However long the capture takes, the machine that answers is under load and observed.
    let mut agent = machine::start(&plan(args, &part)?, name, stop)?;
    let begun = Instant::now();
    let session = capture(&order, stop).map_err(ExitError::cannot_measure)?;
    agent.iter_mut().for_each(AnsweringMachine::stop);
    part.answering.agent = agent.map(|agent| (agent, begun));
    part.paths = vec![session.path.clone()];
    part.captured.iter_mut().for_each(|captured| {
        if session.is_interrupted {
            captured.ended = EndReason::Interrupted;
        }
    });
    // An interrupt ended the capture, but must not end reading it.
    let never = StopFlag::new();
    record_part(args, store, part, if session.is_interrupted { &never } else { stop })
}
