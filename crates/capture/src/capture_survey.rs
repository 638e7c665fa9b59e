//! A survey of a capture: its channels with their levels, edges and appearance.

use crate::SECOND_PS;
use crate::capture::Capture;
use crate::capture::{Head, Kind, Point};
use crate::edges::{Hysteresis, Slicer, Threshold};
use crate::error::{Error, ParseError};
use crate::grid::TimeGrid;
use crate::levels::Levels;
use crate::losses::Loss;
use crate::open::open_joined;
use std::path::PathBuf;

/// What was seen of a capture.
#[derive(Clone, PartialEq, Debug)]
pub struct CaptureSurvey {
    pub head: Head,
    /// What was seen of each channel.
    pub channels: Vec<ChannelSurvey>,
    /// From the first to the last value; `None` without values.
    pub span_ps: Option<(i64, i64)>,
    /// Unreadable or missing parts.
    pub losses: Vec<Loss>,
}

/// What was seen of a channel.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ChannelSurvey {
    pub levels: Levels,
    pub rising: u64,
    pub falling: u64,
    /// Whether it was low, and whether it was high, in each part of the time.
    pub picture: Vec<(bool, bool)>,
    /// Its first known level, and the time of that.
    pub(crate) first_known: Option<(i64, f64)>,
    /// Periods of unknown level after the first one.
    unknown: Unknown,
}

/// When the level of a channel was unknown.
#[derive(Clone, PartialEq, Debug, Default)]
struct Unknown {
    stretches: u64,
    first_ps: Option<i64>,
    is_now: bool,
}

/// Reads a capture once, for its levels and its length.
pub fn survey(paths: &[PathBuf]) -> Result<Option<CaptureSurvey>, Error> {
    let Capture::Points(opened) = open_joined(paths, None)? else { return Ok(None) };
    let mut source = opened.source;
    let of_channel = |channel: &crate::Channel| ChannelSurvey {
        levels: Levels::of_unit(channel.volts),
        ..ChannelSurvey::default()
    };
    let mut seen: Vec<ChannelSurvey> = opened.head.channels.iter().map(of_channel).collect();
    let (mut first, mut last) = (None, None);
    let mut grid = TimeGrid::default();
    let mut points = Vec::new();
    let mut goes_on = true;
    while goes_on {
        goes_on = source.read(&mut points).map_err(|error| error.in_file(&paths[0]))?;
        for Point { at_ps, channel, value } in points.drain(..) {
            first.get_or_insert(at_ps);
            last = last.max(Some(at_ps));
            grid.add(at_ps);
            seen[channel].add(at_ps, value);
        }
    }
    let last = last.max(source.reached_ps());
    let mut head = opened.head;
    if let (Some(unit), false) = (head.resolution_ps, head.is_sample_time) {
        head.resolution_ps = Some(grid.step_ps(unit).unwrap_or(unit));
    }
    for (channel, seen) in head.channels.iter_mut().zip(&seen) {
        let is_bit = |level: f64| level == 0.0 || level == 1.0;
        let is_logic = seen.levels.range().is_none_or(|(low, high)| is_bit(low) && is_bit(high));
        if channel.kind == Kind::Logic && !is_logic {
            // The first rows of a table had only 0 and 1, others have more.
            channel.kind = Kind::Held;
        }
    }
    let mut losses = std::mem::take(&mut head.losses);
    losses.extend(source.losses());
    let mut survey = CaptureSurvey { head, channels: seen, span_ps: first.zip(last), losses };
    let unknown = survey.unknown_levels();
    survey.losses.extend(unknown);
    Ok(Some(survey))
}

impl CaptureSurvey {
    /// Reads the capture again, for its edges and a picture with this many parts.
    pub fn read_edges(
        mut self,
        paths: &[PathBuf],
        rule: (Threshold, Hysteresis),
        parts: usize,
    ) -> Result<CaptureSurvey, Error> {
        let (Some((first, last)), Capture::Points(opened)) =
            (self.span_ps, open_joined(paths, None)?)
        else {
            return Ok(self);
        };
        let mut source = opened.source;
        let slicer = |(channel, seen): (&crate::Channel, &ChannelSurvey)| {
            Slicer::new(channel.kind, &seen.levels, rule.0, rule.1)
        };
        let mut slicers: Vec<Option<Slicer>> =
            self.head.channels.iter().zip(&self.channels).map(slicer).collect();
        let mut lasting: Vec<Option<(usize, bool)>> = vec![None; slicers.len()];
        self.channels.iter_mut().for_each(|seen| seen.picture = vec![(false, false); parts]);
        let length = i128::from(last) - i128::from(first) + 1;
        let part = |at: i64| {
            ((i128::from(at) - i128::from(first)).max(0) * parts as i128 / length) as usize
        };
        let mut points = Vec::new();
        let mut goes_on = true;
        while goes_on {
            goes_on = source.read(&mut points).map_err(|error| error.in_file(&paths[0]))?;
            for Point { at_ps, channel, value } in points.drain(..) {
                let seen = &mut self.channels[channel];
                let here = part(at_ps).min(parts.saturating_sub(1));
                let threshold = match &mut slicers[channel] {
                    None => f64::INFINITY,
                    Some(slicer) => {
                        match slicer.push(at_ps, value).map(|edge| edge.rising) {
                            Some(true) => seen.rising += 1,
                            Some(false) => seen.falling += 1,
                            None => {}
                        }
                        slicer.threshold()
                    }
                };
                seen.mark_range(lasting[channel], here);
                let is_high = value >= threshold;
                if !value.is_nan() {
                    seen.mark(here, is_high);
                }
                lasting[channel] = (!value.is_nan()).then_some((here, is_high));
            }
        }
        for (seen, lasting) in self.channels.iter_mut().zip(lasting) {
            seen.mark_range(lasting, parts);
        }
        Ok(self)
    }

    /// Periods of unknown level that may have hidden an edge.
    fn unknown_levels(&self) -> Vec<Loss> {
        let start = self.span_ps.map_or(0, |(first, _)| first);
        let after =
            |at_ps: i64| format!("{} s", at_ps.saturating_sub(start) as f64 / SECOND_PS as f64);
        let mut found = Vec::new();
        for (channel, seen) in self.channels.iter().enumerate() {
            let name = &self.head.channels[channel].name;
            // Missing and unreadable parts are already reported.
            let is_told = !self.head.missing_chunks.is_empty()
                || self.losses.iter().any(|loss| loss.channel == Some(channel));
            if let (Some(at_ps), false) = (seen.unknown.first_ps, is_told) {
                let what =
                    format!("the level of {name} is unknown {} after the start", after(at_ps));
                let (channel, count) = (Some(channel), seen.unknown.stretches);
                found.push(Loss { channel, count, ..Loss::missing(ParseError::whole(what)) });
            }
        }
        found
    }

    /// Whether times lie between samples.
    pub fn is_sampled(&self) -> bool {
        self.head.channels.iter().any(|channel| channel.kind == Kind::Sampled)
    }
}

impl ChannelSurvey {
    fn add(&mut self, at_ps: i64, value: f64) {
        if value.is_nan() {
            if !self.unknown.is_now && self.levels.range().is_some() {
                self.unknown.stretches += 1;
                self.unknown.first_ps.get_or_insert(at_ps);
            }
            self.unknown.is_now = true;
        } else {
            self.unknown.is_now = false;
            self.first_known.get_or_insert((at_ps, value));
        }
        self.levels.add(value);
    }

    fn mark(&mut self, part: usize, is_high: bool) {
        if let Some((low, high)) = self.picture.get_mut(part) {
            *low |= !is_high;
            *high |= is_high;
        }
    }

    /// Marks a level that lasted from `from` to `to`.
    fn mark_range(&mut self, from: Option<(usize, bool)>, to: usize) {
        if let Some((from, is_high)) = from {
            (from + 1..to).for_each(|part| self.mark(part, is_high));
        }
    }
}
