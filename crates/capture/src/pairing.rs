//! Decides which response answers which stimulus.
//!
//! A response belongs to the last stimulus before it, as on an oscilloscope that each stimulus
//! triggers. So a response that takes longer than the distance of two stimuli looks like a quick
//! response to the next one; the wires alone cannot show the difference.

/// What became of the stimuli and of the responses.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Stimuli that could be judged.
    pub stimuli: u64,
    /// Of these, those answered in time.
    pub answered: u64,
    /// Those without a response before the next stimulus.
    pub missing: u64,
    /// Those whose response came after the window.
    pub late: u64,
    /// Those that the instrument could not measure.
    pub censored: u64,
    /// Those with an impossible value.
    pub impossible: u64,
    /// Further responses within the window of a stimulus that was answered before.
    pub double: u64,
    /// Responses that belong to no stimulus.
    pub spurious: u64,
    /// A first response before any stimulus, which may answer one before the capture.
    pub before_first: u64,
    /// Stimuli at the end whose answer is not in the capture.
    pub cut_off: u64,
}

/// What became of a stimulus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResponseClass {
    /// Answered after this many picoseconds.
    Answered(i64),
    /// No response came.
    Missing,
    /// The response came after the window, this many picoseconds after the stimulus.
    Late(i64),
    /// Its response could not be measured.
    Unmeasured,
}

/// A stimulus with a known result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Response {
    /// Its time, in the capture's own time.
    pub at_ps: i64,
    /// What became of it.
    pub class: ResponseClass,
}

/// Matches responses to stimuli, which must come in time order.
#[derive(Clone, Debug)]
pub struct Pairing {
    window: Option<i64>,
    /// Edges closer than this count as simultaneous, as far as the capture shows.
    same_ps: i64,
    last: Option<Last>,
    /// A response that answers no stimulus yet, unless the next one is simultaneous.
    unasked: Option<(i64, Unasked)>,
    /// Periods of unknown level.
    unknown: Vec<Unknown>,
    pub counts: Counts,
}

/// A period in which the level of a wire is unknown.
#[derive(Clone, Copy, Debug)]
struct Unknown {
    wire: usize,
    from_ps: i64,
    to_ps: i64,
}

/// What a response is that answers no stimulus.
#[derive(Clone, Copy, Debug)]
enum Unasked {
    BeforeFirst,
    Double,
    Spurious,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    at_ps: i64,
    is_judged: bool,
}

impl Pairing {
    pub fn new(window: Option<i64>, same_ps: i64) -> Pairing {
        Pairing {
            window,
            same_ps,
            last: None,
            unasked: None,
            unknown: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// The level of this wire is unknown from here on.
    pub fn unknown_from(&mut self, wire: usize, from_ps: i64) {
        let is_open = |one: &Unknown| one.wire == wire && one.to_ps == i64::MAX;
        if !self.unknown.iter().any(is_open) {
            self.unknown.push(Unknown { wire, from_ps, to_ps: i64::MAX });
        }
    }

    /// The level of this wire is known again from here on.
    pub fn known_from(&mut self, wire: usize, to_ps: i64) {
        let mut open = self.unknown.iter_mut().filter(|one| one.to_ps == i64::MAX);
        if let Some(open) = open.find(|one| one.wire == wire) {
            open.to_ps = to_ps;
        }
    }

    /// Whether an answer between these times may be missing from the capture.
    fn may_hide_answer(&mut self, from_ps: i64, to_ps: i64) -> bool {
        self.unknown.retain(|one| one.to_ps > from_ps);
        self.unknown.iter().any(|one| one.from_ps < to_ps && one.from_ps < one.to_ps)
    }

    /// Takes a stimulus; returns what becomes known of the one before it, or of this one.
    pub fn stimulus(&mut self, at_ps: i64) -> Option<Response> {
        if self.unasked.take_if(|(response, _)| at_ps - *response < self.same_ps).is_some() {
            self.last = Some(Last { at_ps, is_judged: true });
            return Some(self.judge(Response { at_ps, class: ResponseClass::Answered(0) }, at_ps));
        }
        self.count_unasked();
        let before = self.last.replace(Last { at_ps, is_judged: false });
        let unanswered = before.filter(|before| !before.is_judged)?;
        let missing = Response { at_ps: unanswered.at_ps, class: ResponseClass::Missing };
        Some(self.judge(missing, at_ps))
    }

    /// Takes a response; returns what becomes known of its stimulus.
    pub fn response(&mut self, at_ps: i64) -> Option<Response> {
        self.count_unasked();
        let Some(last) = &mut self.last else {
            self.unasked = Some((at_ps, Unasked::BeforeFirst));
            return None;
        };
        let delay = at_ps - last.at_ps;
        let in_time = self.window.is_none_or(|window| delay <= window);
        if last.is_judged {
            let what = if in_time { Unasked::Double } else { Unasked::Spurious };
            self.unasked = Some((at_ps, what));
            return None;
        }
        last.is_judged = true;
        let fate =
            if in_time { ResponseClass::Answered(delay) } else { ResponseClass::Late(delay) };
        let stimulus_ps = last.at_ps;
        Some(self.judge(Response { at_ps: stimulus_ps, class: fate }, at_ps))
    }

    /// Ends the capture: its last stimulus is missing a response only if there was time for one.
    pub fn end(&mut self, at_ps: i64) -> Option<Response> {
        self.count_unasked();
        let last = self.last.take().filter(|last| !last.is_judged)?;
        match self.window {
            Some(window) if at_ps - last.at_ps > window => {
                let missing = Response { at_ps: last.at_ps, class: ResponseClass::Missing };
                Some(self.judge(missing, at_ps))
            }
            _ => {
                self.counts.cut_off += 1;
                None
            }
        }
    }

    fn count_unasked(&mut self) {
        match self.unasked.take() {
            Some((_, Unasked::BeforeFirst)) if self.counts.before_first == 0 => {
                self.counts.before_first = 1;
            }
            Some((_, Unasked::BeforeFirst | Unasked::Spurious)) => self.counts.spurious += 1,
            Some((_, Unasked::Double)) => self.counts.double += 1,
            None => {}
        }
    }

    /// Counts the result of a stimulus, which is known from here on.
    fn judge(&mut self, mut judged: Response, known_ps: i64) -> Response {
        let last_ps = self.window.map_or(i64::MAX, |window| judged.at_ps.saturating_add(window));
        if self.may_hide_answer(judged.at_ps, known_ps.min(last_ps)) {
            judged.class = ResponseClass::Unmeasured;
        }
        self.counts.stimuli += 1;
        match judged.class {
            ResponseClass::Answered(_) => self.counts.answered += 1,
            ResponseClass::Missing => self.counts.missing += 1,
            ResponseClass::Late(_) => self.counts.late += 1,
            ResponseClass::Unmeasured => self.counts.censored += 1,
        }
        judged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn paired(window: Option<i64>, events: &[(i64, bool)], end: i64) -> (Vec<Response>, Counts) {
        let mut pairing = Pairing::new(window, 0);
        let mut judged = Vec::new();
        for &(at, is_stimulus) in events {
            judged.extend(match is_stimulus {
                true => pairing.stimulus(at),
                false => pairing.response(at),
            });
        }
        judged.extend(pairing.end(end));
        (judged, pairing.counts)
    }

    #[test]
    fn every_response_has_its_place() {
        let events = [
            (5, false), // before any stimulus
            (10, true),
            (12, false), // its answer
            (13, false), // a second one
            (40, false), // far beyond the window
            (50, true),  // never answered
            (60, true),
            (75, false), // late
            (80, true),  // the end
        ];
        let (judged, counts) = paired(Some(10), &events, 85);
        let fates = [ResponseClass::Answered(2), ResponseClass::Missing, ResponseClass::Late(15)];
        assert_eq!(judged.iter().map(|one| one.class).collect::<Vec<_>>(), fates);
        let wanted = Counts {
            stimuli: 3,
            answered: 1,
            missing: 1,
            late: 1,
            double: 1,
            spurious: 1,
            before_first: 1,
            cut_off: 1,
            ..Counts::default()
        };
        assert_eq!(counts, wanted);
    }

    #[test]
    fn the_end_misses_a_response_only_after_the_window() {
        assert_eq!(paired(Some(10), &[(0, true)], 11).1.missing, 1);
        assert_eq!(paired(Some(10), &[(0, true)], 10).1.cut_off, 1);
        assert_eq!(paired(None, &[(0, true)], 1_000).1.cut_off, 1);
    }

    #[test]
    fn a_response_just_before_its_stimulus_is_at_the_same_time() {
        let mut pairing = Pairing::new(None, 10);
        let answered = |at_ps| Some(Response { at_ps, class: ResponseClass::Answered(0) });
        assert_eq!(pairing.response(95), None);
        assert_eq!(pairing.stimulus(100), answered(100));
        assert_eq!(pairing.response(195), None);
        assert_eq!(pairing.stimulus(200), answered(200));
        // A stimulus still waiting for its response takes it, however late.
        let late = Response { at_ps: 300, class: ResponseClass::Answered(95) };
        assert_eq!(pairing.stimulus(300), None);
        assert_eq!(pairing.response(395), Some(late));
        assert_eq!(pairing.stimulus(400), None);
        let counts = Counts { stimuli: 3, answered: 3, ..Counts::default() };
        assert_eq!(pairing.counts, counts);
    }

    proptest! {
        /// Invariant (captures): Every format gives back the pairs that were written; no edge is lost.
        #[test]
        fn nothing_is_lost(
            steps in proptest::collection::vec((0i64..50, proptest::bool::ANY), 0..200),
            window in proptest::option::of(0i64..100)
        ) {
            let mut now = 0;
            let events: Vec<(i64, bool)> =
                steps.iter().map(|&(step, kind)| { now += step; (now, kind) }).collect();
            let (judged, counts) = paired(window, &events, now);
            let stimuli = events.iter().filter(|one| one.1).count() as u64;
            let responses = events.len() as u64 - stimuli;
            prop_assert_eq!(counts.stimuli + counts.cut_off, stimuli);
            prop_assert_eq!(counts.answered + counts.missing + counts.late, counts.stimuli);
            let unasked = counts.double + counts.spurious + counts.before_first;
            prop_assert_eq!(counts.answered + counts.late + unasked, responses);
            prop_assert_eq!(judged.len() as u64, counts.stimuli);
            for one in judged {
                if let ResponseClass::Answered(delay) = one.class {
                    prop_assert!(delay >= 0 && window.is_none_or(|window| delay <= window));
                }
            }
        }
    }
}
