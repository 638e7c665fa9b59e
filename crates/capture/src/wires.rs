//! How the levels of the selected channels were separated.

use crate::capture::{Channel, Kind};
use crate::capture_survey::CaptureSurvey;
use crate::edges::{EdgeRule, Slicer, Threshold};
use crate::error::ParseError;
use crate::levels::{LevelPair, NoiseReason};

/// How the levels of a channel were separated.
#[derive(Clone, PartialEq, Debug)]
pub struct WireLevels {
    pub channel: String,
    /// Its levels, and reasons to doubt them.
    pub pair: LevelPair,
    /// The threshold and its hysteresis; `None` for noise.
    pub rule: Option<EdgeRule>,
    /// Whether the threshold was given as a level.
    pub is_given: bool,
    /// Number of skipped values far outside the levels.
    pub passed_over: u64,
}

impl WireLevels {
    /// Whether the threshold is ambiguous.
    pub fn is_in_doubt(&self) -> bool {
        let LevelPair { wanders, others, rare, .. } = &self.pair;
        let is_found = self.rule.is_some() && !self.is_given;
        is_found && (*wanders || !others.is_empty() || rare.is_some())
    }

    /// For a channel; `None` if it has no levels.
    pub(crate) fn new(
        survey: &CaptureSurvey,
        channel: usize,
        slicer: &Option<Slicer>,
        threshold: Threshold,
    ) -> Option<WireLevels> {
        let Channel { name, kind, .. } = &survey.head.channels[channel];
        let pair = survey.channels[channel].levels.pair().filter(|_| *kind != Kind::Logic)?;
        Some(WireLevels {
            channel: name.clone(),
            pair,
            rule: slicer.as_ref().map(Slicer::rule),
            is_given: matches!(threshold, Threshold::Level(_)),
            passed_over: slicer.as_ref().map_or(0, Slicer::passed_over),
        })
    }
}

/// The levels of a noise channel, and why it is noise, if its levels are needed.
pub(crate) fn noise_of(
    survey: &CaptureSurvey,
    channel: usize,
    threshold: Threshold,
) -> Option<(LevelPair, NoiseReason)> {
    let is_asked = survey.head.channels[channel].kind == Kind::Sampled
        && matches!(threshold, Threshold::Share(_));
    let pair = survey.channels[channel].levels.pair().filter(|_| is_asked)?;
    let reason = pair.is_noise?;
    Some((pair, reason))
}

pub(crate) fn noise_error(name: &str, pair: &LevelPair, reason: NoiseReason) -> ParseError {
    ParseError::whole(format!(
        "the channel {name} shows noise: {}. If it has a signal, give its --threshold as a voltage",
        pair.noise_in_words(reason)
    ))
}
