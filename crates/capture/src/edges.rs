//! Finds edges in levels: a threshold with hysteresis, and interpolation between two samples.

use crate::capture::Kind;
use crate::levels::{LevelPair, Levels, is_level};
use std::fmt;
use std::str::FromStr;

/// Where an edge is: at a share of the swing, or at a level.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Threshold {
    /// A share of the swing, from the low level.
    Share(f64),
    Level(f64),
}

/// How far a level must go beyond the threshold to be on the other side, both directions together.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Hysteresis {
    /// As required by the channel's noise, but at least a tenth of the swing.
    Auto,
    /// A share of the swing.
    Share(f64),
    /// A difference of levels.
    Level(f64),
}

/// Not a threshold or hysteresis.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected a share like 50% or a level like 1.65V")]
pub struct ParseRuleError;

/// Parses a share or a level; true for a share.
fn rule(text: &str) -> Result<(bool, f64), ParseRuleError> {
    let (is_share, number) = match (text.strip_suffix('%'), text.strip_suffix(['V', 'v'])) {
        (Some(share), _) => (true, share),
        (_, Some(level)) => match level.strip_suffix('m') {
            Some(milli) => {
                return milli.parse().map(|it: f64| (false, it / 1e3)).map_err(|_| ParseRuleError);
            }
            None => (false, level),
        },
        _ => (false, text),
    };
    let number: f64 = number.trim().parse().map_err(|_| ParseRuleError)?;
    match number.is_finite() && (!is_share || (0.0..=100.0).contains(&number)) {
        true if is_share => Ok((true, number / 100.0)),
        true => Ok((false, number)),
        false => Err(ParseRuleError),
    }
}

impl FromStr for Threshold {
    type Err = ParseRuleError;

    fn from_str(text: &str) -> Result<Threshold, ParseRuleError> {
        Ok(match rule(text)? {
            (true, share) if share > 0.0 && share < 1.0 => Threshold::Share(share),
            (true, _) => return Err(ParseRuleError),
            (false, level) => Threshold::Level(level),
        })
    }
}

impl FromStr for Hysteresis {
    type Err = ParseRuleError;

    fn from_str(text: &str) -> Result<Hysteresis, ParseRuleError> {
        if text == "auto" {
            return Ok(Hysteresis::Auto);
        }
        Ok(match rule(text)? {
            (_, number) if number < 0.0 => return Err(ParseRuleError),
            (true, share) => Hysteresis::Share(share),
            (false, level) => Hysteresis::Level(level),
        })
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Threshold::Share(share) => write!(f, "{}%", rounded(share * 100.0)),
            Threshold::Level(level) => write!(f, "{}V", rounded(*level)),
        }
    }
}

impl fmt::Display for Hysteresis {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Hysteresis::Auto => f.write_str("auto"),
            Hysteresis::Share(share) => write!(f, "{}%", rounded(share * 100.0)),
            Hysteresis::Level(level) => write!(f, "{}V", rounded(*level)),
        }
    }
}

fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

/// Which edges count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EdgeKind {
    Rising,
    Falling,
    /// Either.
    Both,
}

impl EdgeKind {
    pub const ALL: &[EdgeKind] = &[EdgeKind::Rising, EdgeKind::Falling, EdgeKind::Both];

    /// Its name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            EdgeKind::Rising => "rising",
            EdgeKind::Falling => "falling",
            EdgeKind::Both => "both",
        }
    }

    pub(crate) fn includes(self, rising: bool) -> bool {
        match self {
            EdgeKind::Rising => rising,
            EdgeKind::Falling => !rising,
            EdgeKind::Both => true,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    pub at_ps: i64,
    pub rising: bool,
}

/// How a channel's levels are separated.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EdgeRule {
    /// The usual low and high levels.
    pub levels: (f64, f64),
    /// The level that separates low from high.
    pub threshold: f64,
    /// How far a level must go beyond it, both directions together.
    pub hysteresis: f64,
}

impl EdgeRule {
    fn new(pair: &LevelPair, threshold: Threshold, hysteresis: Hysteresis) -> EdgeRule {
        let threshold = match threshold {
            Threshold::Share(share) => pair.low + share * pair.swing(),
            Threshold::Level(level) => level,
        };
        let hysteresis = match hysteresis {
            Hysteresis::Auto => pair.hysteresis(),
            Hysteresis::Share(share) => share * pair.swing(),
            Hysteresis::Level(level) => level,
        };
        EdgeRule { levels: (pair.low, pair.high), threshold, hysteresis }
    }

    /// Values outside these bounds are glitches: a swing or more outside all levels.
    fn bounds(&self, pair: &LevelPair) -> (f64, f64) {
        let all = pair.all();
        let is_between = pair.low < self.threshold && self.threshold < pair.high;
        match (all.first(), all.last()) {
            (Some(lowest), Some(highest)) if is_between && pair.is_noise.is_none() => {
                (lowest - pair.swing(), highest + pair.swing())
            }
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }
}

/// Finds the edges of one channel.
#[derive(Clone, Debug)]
pub struct Slicer {
    rule: EdgeRule,
    low: f64,
    high: f64,
    /// Finite values outside these bounds are skipped.
    bounds: (f64, f64),
    is_sampled: bool,
    passed_over: u64,
    /// The side that the level is on; `None` if it is not known yet.
    is_high: Option<bool>,
    before: Option<(i64, f64)>,
    /// The last threshold crossing.
    crossed: Option<Edge>,
}

impl Slicer {
    /// For a channel with these levels. `None` if it never crosses the threshold, or is noise and
    /// the threshold is not an absolute level.
    pub fn new(
        kind: Kind,
        levels: &Levels,
        threshold: Threshold,
        hysteresis: Hysteresis,
    ) -> Option<Slicer> {
        let whole = (f64::NEG_INFINITY, f64::INFINITY);
        let (rule, bounds) = match kind {
            Kind::Logic => {
                levels.range().filter(|(low, high)| low < high)?;
                (EdgeRule { levels: (0.0, 1.0), threshold: 0.5, hysteresis: 0.0 }, whole)
            }
            Kind::Sampled | Kind::Held => {
                let pair = levels.pair()?;
                let is_noise = kind == Kind::Sampled && pair.is_noise.is_some();
                if is_noise && matches!(threshold, Threshold::Share(_)) {
                    return None;
                }
                let rule = EdgeRule::new(&pair, threshold, hysteresis);
                (rule, rule.bounds(&pair))
            }
        };
        let (low, high) =
            (rule.threshold - rule.hysteresis / 2.0, rule.threshold + rule.hysteresis / 2.0);
        levels.range().filter(|(min, max)| *min <= low && high <= *max)?;
        Some(Slicer {
            rule,
            low,
            high,
            bounds,
            is_sampled: kind == Kind::Sampled,
            passed_over: 0,
            is_high: None,
            before: None,
            crossed: None,
        })
    }

    /// The levels, and how they are separated.
    pub fn rule(&self) -> EdgeRule {
        self.rule
    }

    /// Number of skipped values far outside the levels.
    pub fn passed_over(&self) -> u64 {
        self.passed_over
    }

    /// The level that separates low from high.
    pub fn threshold(&self) -> f64 {
        self.rule.threshold
    }

    /// Takes the next level; a returned edge may lie some time back.
    pub fn push(&mut self, at_ps: i64, level: f64) -> Option<Edge> {
        if level.is_nan() {
            (self.is_high, self.before, self.crossed) = (None, None, None);
            return None;
        }
        let threshold = self.rule.threshold;
        if let Some((before_ps, before)) = self.before {
            let rising = level >= threshold;
            if rising != (before >= threshold) {
                let share = (threshold - before) / (level - before);
                let between = (share * (at_ps - before_ps) as f64).round() as i64;
                // A level beyond the instrument's range has no straight line to it.
                let is_line = self.is_sampled && is_level(level) && is_level(before);
                let at_ps = if is_line { before_ps + between } else { at_ps };
                self.crossed = Some(Edge { at_ps, rising });
            }
        }
        self.before = Some((at_ps, level));
        if is_level(level) && !(self.bounds.0..=self.bounds.1).contains(&level) {
            // It may be the overshoot of an edge, which the next value confirms.
            self.passed_over += 1;
            return None;
        }
        let side = match () {
            () if level >= self.high => true,
            () if level <= self.low => false,
            () => return None,
        };
        let was = self.is_high.replace(side);
        let crossed = self.crossed.filter(|crossed| crossed.rising == side);
        (was == Some(!side)).then(|| crossed.unwrap_or(Edge { at_ps, rising: side }))
    }

    /// No edge that is still to be found is before this time.
    pub fn settled_to(&self, now_ps: i64) -> i64 {
        let pending = self.crossed.filter(|crossed| self.is_high == Some(!crossed.rising));
        let pending = pending.map_or(now_ps, |crossed| crossed.at_ps.min(now_ps));
        // An edge may follow its last sample, even if other channels are further ahead.
        match self.before.filter(|_| self.is_sampled) {
            Some((before_ps, _)) => pending.min(before_ps),
            None => pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slicer(hysteresis: f64) -> Slicer {
        let mut levels = Levels::default();
        for _ in 0..9 {
            levels.add(0.0);
            levels.add(2.0);
        }
        let wide = Hysteresis::Level(hysteresis);
        Slicer::new(Kind::Sampled, &levels, Threshold::Level(1.0), wide).unwrap()
    }

    #[test]
    fn an_edge_lies_between_its_samples() {
        let mut slicer = slicer(0.2);
        assert_eq!(slicer.push(0, 0.0), None);
        assert_eq!(slicer.push(1_000, 0.5), None);
        assert_eq!(slicer.push(2_000, 1.5), Some(Edge { at_ps: 1_500, rising: true }));
        assert_eq!(slicer.push(3_000, 0.75), Some(Edge { at_ps: 2_667, rising: false }));
    }

    #[test]
    fn noise_within_the_hysteresis_is_no_edge() {
        let mut slicer = slicer(0.5);
        let levels = [0.0, 0.9, 1.1, 0.9, 1.1, 0.8, 1.2, 0.0];
        let edges: Vec<Edge> =
            (0..).zip(levels).filter_map(|(at, level)| slicer.push(at, level)).collect();
        assert_eq!(edges, []);
    }

    #[test]
    fn a_value_far_outside_is_no_edge_and_an_overshoot_does_not_move_one() {
        let edges = |levels: &[f64]| -> Vec<Edge> {
            let mut slicer = slicer(0.2);
            let at = (0..).map(|at| at * 1_000);
            at.zip(levels).filter_map(|(at, level)| slicer.push(at, *level)).collect()
        };
        assert_eq!(edges(&[0.0, 9.0, 0.0, -7.0, 0.0]), []);
        assert_eq!(edges(&[2.0, -7.0, 2.0]), []);
        // The straight line from 0 to 4.5 crosses 1 there.
        assert_eq!(edges(&[0.0, 4.5, 2.0]), [Edge { at_ps: 222, rising: true }]);
    }

    #[test]
    fn an_unknown_level_is_no_edge() {
        let mut slicer = slicer(0.0);
        let levels = [0.0, f64::NAN, 2.0, 0.0];
        let edges: Vec<Edge> =
            (0..).zip(levels).filter_map(|(at, level)| slicer.push(at * 10, level)).collect();
        assert_eq!(edges, [Edge { at_ps: 25, rising: false }]);
    }

    #[test]
    fn rules_are_shares_or_levels() {
        assert_eq!("50%".parse(), Ok(Threshold::Share(0.5)));
        assert_eq!("1.65V".parse(), Ok(Threshold::Level(1.65)));
        assert_eq!("200mV".parse(), Ok(Hysteresis::Level(0.2)));
        assert_eq!("auto".parse(), Ok(Hysteresis::Auto));
        for wrong in ["", "%", "0%", "100%", "abc", "NaN", "infV"] {
            assert_eq!(wrong.parse::<Threshold>(), Err(ParseRuleError), "{wrong}");
        }
        assert_eq!("-1V".parse::<Hysteresis>(), Err(ParseRuleError));
    }

    proptest! {
        #[test]
        fn edges_take_turns_and_rise_in_time(
            levels in proptest::collection::vec(-1.0f64..3.0, 0..300), wide in 0.0f64..1.0
        ) {
            let mut slicer = slicer(wide);
            let mut edges = Vec::new();
            for (at, level) in (0..).zip(levels) {
                let settled = slicer.settled_to(at * 100);
                if let Some(edge) = slicer.push(at * 100, level) {
                    prop_assert!(edge.at_ps >= settled.min((at - 1).max(0) * 100));
                    edges.push(edge);
                }
            }
            for pair in edges.windows(2) {
                prop_assert!(pair[0].at_ps <= pair[1].at_ps);
                prop_assert_ne!(pair[0].rising, pair[1].rising);
            }
        }
    }
}
