//! `latlab respond --logic`: a capture of a logic analyser, made now.

use super::args::RespondArgs;
use super::{CapturePart, CapturedPart, record_part};
use crate::exit::ExitError;
use latlab_conduct::StopFlag;
use latlab_conduct::respond::logic::{LogicCapture, capture};
use latlab_model::machine::Machine;
use latlab_model::run::EndReason;
use latlab_store::{Finished, Store};

/// Captures, keeps the capture with the run, and reads it.
pub fn record_logic(
    args: &RespondArgs,
    driver: &str,
    store: &Store,
    stop: &StopFlag,
) -> anyhow::Result<Finished> {
    let query = args.query();
    // All channels, where it is left open which ones are meant.
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
    let session = capture(&order, stop).map_err(ExitError::cannot_measure)?;
    let name = driver.split(':').next().unwrap_or_default();
    let ended = match session.is_interrupted {
        true => EndReason::Interrupted,
        false => EndReason::Finished,
    };
    let part = CapturePart {
        name: args.runs.name.clone().unwrap_or_else(|| name.to_string()),
        paths: vec![session.path.clone()],
        query,
        simulated: None,
        captured: Some(CapturedPart { command: session.command.clone(), ended }),
        seed: None,
        machine: Machine::default(),
        settings: Vec::new(),
    };
    // The capture was ended, and is read to its end.
    let never = StopFlag::new();
    record_part(args, store, part, if session.is_interrupted { &never } else { stop })
}
