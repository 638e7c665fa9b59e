//! Turns the values of channels into responses to stimuli.

use crate::SECOND_PS;
use crate::capture::{Kind, Point};
use crate::capture_survey::CaptureSurvey;
use crate::edges::{Edge, EdgeKind, Slicer, Threshold};
use crate::error::ParseError;
use crate::figures::{DelayFigures, median_of};
use crate::losses::{Loss, is_rare};
use crate::marks::MarkerStats;
use crate::measure::CaptureResult;
use crate::pairing::{Pairing, Response, ResponseClass};
use crate::query::{CaptureQuery, ChannelSelection};
use crate::wires::{WireLevels, noise_error, noise_of};
use std::collections::VecDeque;

/// Most edges that wait until the other channels have come as far; beyond that they are used at
/// once.
const MOST_WAITING: usize = 1 << 16;
/// Delays that the test for swapped probes examines.
const MOST_REVERSED: u64 = 100_000;

/// Matches edges on the wires.
pub struct EdgeMatcher {
    channels: [Option<usize>; 3],
    slicers: [Option<Slicer>; 3],
    thresholds: [Threshold; 3],
    wanted: [EdgeKind; 3],
    waiting: [VecDeque<Edge>; 3],
    start_ps: i64,
    end_ps: i64,
    now_ps: i64,
    quiet_ps: i64,
    last_edge_ps: Option<i64>,
    within_bursts: u64,
    pairing: Pairing,
    /// Responses at the very time of their stimuli, if levels are digital.
    at_once: Option<AtOnce>,
    figures: DelayFigures,
    swapped: Pairing,
    reversed: DelayFigures,
    marks: Option<MarkerStats>,
}

/// Samples by which the channels of a capture may differ at its start.
const SPARE_SAMPLES: i64 = 2;
/// A response at the time of its stimulus is doubtful if all others take this many times the
/// resolution.
const APART: i64 = 2;

/// Responses at the very time of their stimulus while all others take much longer: a line in
/// between may be missing.
struct AtOnce {
    resolution_ps: i64,
    count: u64,
    first_ps: Option<i64>,
    others: u64,
    least_other_ps: Option<i64>,
}

impl AtOnce {
    fn new(resolution_ps: i64) -> AtOnce {
        AtOnce { resolution_ps, count: 0, first_ps: None, others: 0, least_other_ps: None }
    }

    fn add(&mut self, at_ps: i64, delay_ps: i64) {
        if delay_ps == 0 {
            self.count += 1;
            self.first_ps.get_or_insert(at_ps);
        } else {
            self.others += 1;
            self.least_other_ps =
                Some(self.least_other_ps.map_or(delay_ps, |least| least.min(delay_ps)));
        }
    }

    fn doubt(&self) -> Option<Loss> {
        let (first, least) = self.first_ps.zip(self.least_other_ps)?;
        let is_apart = least >= self.resolution_ps.saturating_mul(APART);
        let is_odd = is_apart && is_rare(self.count, self.count + self.others);
        let seconds = |picoseconds: i64| picoseconds as f64 / SECOND_PS as f64;
        let what = format!(
            "{} s after the start stimulus and response change at once, and all other responses take \
             at least {} s: a line between both may be missing",
            seconds(first),
            seconds(least)
        );
        is_odd.then(|| Loss { count: self.count, ..Loss::missing(ParseError::whole(what)) })
    }
}

const STIMULUS: usize = 0;
const RESPONSE: usize = 1;
const MARKER: usize = 2;

impl EdgeMatcher {
    pub fn new(
        survey: &CaptureSurvey,
        selection: &ChannelSelection,
        query: &CaptureQuery,
    ) -> Result<EdgeMatcher, ParseError> {
        let channels = [Some(selection.stimulus), Some(selection.response), selection.marker];
        let response_threshold = query.response_threshold.unwrap_or(query.threshold);
        let thresholds = [query.threshold, response_threshold, query.threshold];
        let slicers = [STIMULUS, RESPONSE, MARKER].map(|role| {
            let channel = channels[role]?;
            let (kind, levels) =
                (survey.head.channels[channel].kind, &survey.channels[channel].levels);
            Slicer::new(kind, levels, thresholds[role], query.hysteresis)
        });
        for role in [STIMULUS, RESPONSE] {
            let (None, Some(channel)) = (&slicers[role], channels[role]) else { continue };
            let name = &survey.head.channels[channel].name;
            if let Some((pair, reason)) = noise_of(survey, channel, thresholds[role]) {
                // The response channel may have no signal: then all responses are missing, and a
                // finding names the noise.
                if role == RESPONSE {
                    continue;
                }
                return Err(noise_error(name, &pair, reason));
            }
            match survey.channels[channel].levels.range().filter(|(low, high)| low < high) {
                Some((low, high)) => {
                    let what = "does not cross the threshold with its hysteresis: it ranges from";
                    return Err(ParseError::whole(format!(
                        "the channel {name} {what} {low} to {high}"
                    )));
                }
                // The response never occurring is a valid result.
                None if role == RESPONSE => {}
                None => {
                    let what = format!("the channel {name} never changes its level");
                    return Err(ParseError::whole(what));
                }
            }
        }
        let (start_ps, end_ps) = survey.span_ps.unwrap_or_default();
        let kinds = channels.map(|channel| channel.map(|at| survey.head.channels[at].kind));
        let is_sampled = kinds[..2].contains(&Some(Kind::Sampled));
        let resolution_ps = survey.head.resolution_ps.unwrap_or(0);
        // Edges of sampled levels lie between samples, where their order is unknown.
        let same_ps = match is_sampled && channels[STIMULUS] != channels[RESPONSE] {
            true => resolution_ps,
            false => 0,
        };
        Ok(EdgeMatcher {
            channels,
            slicers,
            thresholds,
            wanted: [query.edge, query.response_edge, EdgeKind::Both],
            waiting: Default::default(),
            start_ps,
            end_ps,
            now_ps: start_ps,
            quiet_ps: query.quiet_ps.unwrap_or(0),
            last_edge_ps: None,
            within_bursts: 0,
            pairing: Pairing::new(query.window_ps, same_ps),
            at_once: (!is_sampled).then(|| AtOnce::new(resolution_ps)),
            figures: DelayFigures::default(),
            swapped: Pairing::new(query.window_ps, 0),
            reversed: DelayFigures::default(),
            marks: selection.marker.map(|_| MarkerStats::default()),
        })
    }

    pub fn push<E>(
        &mut self,
        point: Point,
        each: &mut impl FnMut(Response) -> Result<(), E>,
    ) -> Result<(), E> {
        self.now_ps = self.now_ps.max(point.at_ps);
        for role in 0..self.channels.len() {
            if self.channels[role] != Some(point.channel) {
                continue;
            }
            let Some(slicer) = &mut self.slicers[role] else { continue };
            if role != MARKER {
                match point.value.is_nan() {
                    true => self.pairing.unknown_from(role, point.at_ps),
                    false => self.pairing.known_from(role, point.at_ps),
                }
            }
            let edge = slicer.push(point.at_ps, point.value);
            self.waiting[role].extend(edge.filter(|edge| self.wanted[role].includes(edge.rising)));
        }
        let is_full = self.waiting.iter().any(|edges| edges.len() > MOST_WAITING);
        let settled = self.slicers.iter().flatten().map(|slicer| slicer.settled_to(self.now_ps));
        let settled = settled.min().unwrap_or(self.now_ps);
        self.settle(if is_full { i64::MAX } else { settled }, each)
    }

    pub fn end<E>(&mut self, each: &mut impl FnMut(Response) -> Result<(), E>) -> Result<(), E> {
        self.settle(i64::MAX, each)?;
        let last = self.pairing.end(self.end_ps);
        self.handle_response(last, each)
    }

    /// Processes all edges before this time in order; at equal times a marker comes first, and a
    /// stimulus before its response.
    fn settle<E>(
        &mut self,
        before_ps: i64,
        each: &mut impl FnMut(Response) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            let at = |role: usize| Some((self.waiting[role].front()?.at_ps, role));
            let next =
                [MARKER, STIMULUS, RESPONSE].into_iter().filter_map(at).min_by_key(|it| it.0);
            let Some((_, role)) = next.filter(|(at, _)| *at < before_ps) else { return Ok(()) };
            let Some(edge) = self.waiting[role].pop_front() else { return Ok(()) };
            self.event(role, edge, each)?;
        }
    }

    fn event<E>(
        &mut self,
        role: usize,
        edge: Edge,
        each: &mut impl FnMut(Response) -> Result<(), E>,
    ) -> Result<(), E> {
        let Edge { at_ps, rising } = edge;
        if role == STIMULUS
            && let Some(last) = self.last_edge_ps.replace(at_ps)
            && at_ps - last < self.quiet_ps
        {
            self.within_bursts += 1;
            return Ok(());
        }
        let (judged, reversed) = match role {
            STIMULUS => (self.pairing.stimulus(at_ps), self.swapped.response(at_ps)),
            RESPONSE => (self.pairing.response(at_ps), self.swapped.stimulus(at_ps)),
            _ => {
                if let Some(marks) = &mut self.marks {
                    marks.edge(at_ps, rising, self.start_ps);
                }
                return Ok(());
            }
        };
        if let Some(Response { class: ResponseClass::Answered(delay), .. }) = reversed
            && self.reversed.count() < MOST_REVERSED
        {
            self.reversed.add(delay);
        }
        self.handle_response(judged, each)
    }

    fn handle_response<E>(
        &mut self,
        judged: Option<Response>,
        each: &mut impl FnMut(Response) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(Response { at_ps, class: fate }) = judged else { return Ok(()) };
        if let ResponseClass::Answered(delay) = fate {
            self.figures.add(delay);
            if let Some(at_once) = &mut self.at_once {
                at_once.add(at_ps - self.start_ps, delay);
            }
            if let Some(marks) = &mut self.marks {
                marks.add_response(at_ps, delay);
            }
        }
        each(Response { at_ps: at_ps - self.start_ps, class: fate })
    }

    pub fn result(self, survey: CaptureSurvey, selection: &ChannelSelection) -> CaptureResult {
        let swapped_ps = self.swapped();
        let asked = survey.losses.iter().filter(|loss| loss.concerns(&self.channels)).cloned();
        let late =
            [STIMULUS, RESPONSE].into_iter().filter_map(|role| self.late_start(role, &survey));
        let losses =
            asked.chain(late).chain(self.at_once.as_ref().and_then(AtOnce::doubt)).collect();
        let wire = |role: usize| {
            WireLevels::new(
                &survey,
                self.channels[role]?,
                &self.slicers[role],
                self.thresholds[role],
            )
        };
        let wires = [STIMULUS, RESPONSE, MARKER].into_iter().filter_map(wire).collect();
        let head = survey.head;
        let name = |index: usize| Some(head.channels[index].name.clone());
        let (stimulus, response) = (name(selection.stimulus), name(selection.response));
        let mut notes = head.notes;
        if self.within_bursts > 0 {
            notes.push(format!(
                "{} edges within bursts of the stimulus are not counted as stimuli.",
                self.within_bursts
            ));
        }
        if self.figures.count() > 2 && self.figures.max_ps() == Some(0) {
            let same =
                if self.at_once.is_some() { "exactly the same times" } else { "the same samples" };
            notes.push(format!("Both channels change at {same}: they may show the same wire."));
        }
        CaptureResult {
            format: head.format,
            stimulus,
            response,
            counts: self.pairing.counts,
            figures: self.figures,
            resolution_ps: head.resolution_ps,
            is_timed: true,
            length_ps: self.end_ps - self.start_ps,
            swapped_ps,
            mark: self.marks.map(MarkerStats::finish),
            impossible: Vec::new(),
            first_row_left_out: false,
            wires,
            missing_chunks: head.missing_chunks,
            notes,
            losses,
        }
    }

    /// A channel whose first level may be the end of an edge whose start was not captured.
    fn late_start(&self, role: usize, survey: &CaptureSurvey) -> Option<Loss> {
        let channel = self.channels[role]?;
        let (first_ps, level) = survey.channels[channel].first_known?;
        let spare = survey.head.resolution_ps.unwrap_or(0).saturating_mul(SPARE_SAMPLES);
        let is_late = first_ps > self.start_ps.saturating_add(spare);
        let is_high = level >= self.slicers[role].as_ref()?.threshold();
        let what = format!(
            "the level of {} is unknown before {} s after the start, where it is {}",
            survey.head.channels[channel].name,
            (first_ps - self.start_ps) as f64 / SECOND_PS as f64,
            if is_high { "high" } else { "low" }
        );
        let is_edge = is_late && self.wanted[role].includes(is_high);
        is_edge.then(|| Loss { channel: Some(channel), ..Loss::missing(ParseError::whole(what)) })
    }

    /// The median delay in the other direction, if that looks like what was meant: as many pairs,
    /// and much quicker.
    fn swapped(&self) -> Option<f64> {
        // A pulse and the pause after it are on the same channel.
        if self.channels[STIMULUS] == self.channels[RESPONSE] {
            return None;
        }
        let median = |figures: &DelayFigures| median_of(&figures.clone().sorted()?);
        let reversed = median(&self.reversed)?;
        let (answered, other) = (self.figures.count(), self.swapped.counts.answered);
        match median(&self.figures) {
            None => Some(reversed),
            Some(own) => (other >= 3
                && other + 1 >= answered
                && other * 10 >= self.pairing.counts.stimuli * 8
                && reversed * 3.0 < own)
                .then_some(reversed),
        }
    }
}
