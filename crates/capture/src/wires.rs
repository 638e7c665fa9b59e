//! How the levels of the channels that were asked for were parted.

use crate::capture::{Channel, Kind};
use crate::capture_survey::CaptureSurvey;
use crate::edges::{EdgeRule, Slicer, Threshold};
use crate::error::ParseError;
use crate::levels::{LevelPair, NoiseReason};
use crate::query::Query;

/// How the levels of a channel were parted.
#[derive(Clone, PartialEq, Debug)]
pub struct WireLevels {
    /// The channel.
    pub channel: String,
    /// Its levels, and what speaks against them.
    pub pair: LevelPair,
    /// The threshold and its hysteresis; none where it is noise.
    pub rule: Option<EdgeRule>,
    /// Whether the threshold was given as a level.
    pub is_given: bool,
    /// Values far outside of the levels, which made no edge.
    pub passed_over: u64,
}

impl WireLevels {
    /// Of a channel; none where it has no levels.
    pub(crate) fn new(
        survey: &CaptureSurvey,
        channel: usize,
        slicer: &Option<Slicer>,
        query: &Query,
    ) -> Option<WireLevels> {
        let Channel { name, kind } = &survey.head.channels[channel];
        let pair = survey.channels[channel].levels.pair().filter(|_| *kind != Kind::Logic)?;
        Some(WireLevels {
            channel: name.clone(),
            pair,
            rule: slicer.as_ref().map(Slicer::rule),
            is_given: matches!(query.threshold, Threshold::Level(_)),
            passed_over: slicer.as_ref().map_or(0, Slicer::passed_over),
        })
    }
}

/// Why a channel is noise where its levels are asked for.
pub(crate) fn noise_of(
    survey: &CaptureSurvey,
    channel: usize,
    query: &Query,
) -> Option<NoiseReason> {
    let is_asked = survey.head.channels[channel].kind == Kind::Sampled
        && matches!(query.threshold, Threshold::Share(_));
    is_asked.then(|| survey.channels[channel].levels.pair()?.is_noise).flatten()
}

pub(crate) fn noise_error(name: &str, reason: NoiseReason) -> ParseError {
    let why = match reason {
        NoiseReason::FewSteps(1) => "its levels are 1 step of the converter apart".to_string(),
        NoiseReason::FewSteps(steps) => {
            format!("its levels are {steps} steps of the converter apart")
        }
        NoiseReason::OneLevel => "its values show no two levels".to_string(),
    };
    ParseError::whole(format!(
        "the channel {name} shows noise: {why}. If it has a signal, give its --threshold as a \
         voltage"
    ))
}
