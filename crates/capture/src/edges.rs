//! From levels to edges: a threshold with a hysteresis, and the moment between two samples.

use crate::capture::Kind;
use crate::levels::Levels;
use std::fmt;
use std::str::FromStr;

/// Where an edge is: a share of the way from low to high, or a level.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Threshold {
    /// A share of the way from the low to the high level.
    Share(f64),
    /// A level.
    Level(f64),
}

/// How far a level must go beyond the threshold until it is on the other side, both ways together.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Hysteresis {
    /// A share of the way from the low to the high level.
    Share(f64),
    /// A difference of levels.
    Level(f64),
}

/// A threshold or a hysteresis that is none.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected a share like 50% or a level like 1.65V")]
pub struct ParseRuleError;

/// A share of one or a level.
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
    /// From low to high.
    Rising,
    /// From high to low.
    Falling,
    /// Either.
    Both,
}

impl EdgeKind {
    /// All of them.
    pub const ALL: &[EdgeKind] = &[EdgeKind::Rising, EdgeKind::Falling, EdgeKind::Both];

    /// Its word on the command line.
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

/// An edge of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    pub at_ps: i64,
    pub rising: bool,
}

/// Finds the edges of one channel.
#[derive(Clone, Debug)]
pub struct Slicer {
    threshold: f64,
    low: f64,
    high: f64,
    is_sampled: bool,
    /// On which side the level is; none where that is not known yet.
    is_high: Option<bool>,
    before: Option<(i64, f64)>,
    /// The last time that the threshold was crossed, and in which direction.
    crossed: Option<Edge>,
}

impl Slicer {
    /// For a channel with these levels; none where it never crosses the threshold.
    pub fn new(
        kind: Kind,
        levels: &Levels,
        threshold: Threshold,
        hysteresis: Hysteresis,
    ) -> Option<Slicer> {
        let (at, wide) = match kind {
            Kind::Logic => {
                levels.range().filter(|(low, high)| low < high)?;
                (0.5, 0.0)
            }
            Kind::Sampled | Kind::Held => {
                let (low, high) = levels.low_and_high().filter(|(low, high)| low < high)?;
                let at = match threshold {
                    Threshold::Share(share) => low + share * (high - low),
                    Threshold::Level(level) => level,
                };
                let wide = match hysteresis {
                    Hysteresis::Share(share) => share * (high - low),
                    Hysteresis::Level(level) => level,
                };
                (at, wide)
            }
        };
        let (low, high) = (at - wide / 2.0, at + wide / 2.0);
        levels.range().filter(|(min, max)| *min <= low && high <= *max)?;
        Some(Slicer {
            threshold: at,
            low,
            high,
            is_sampled: kind == Kind::Sampled,
            is_high: None,
            before: None,
            crossed: None,
        })
    }

    /// The level at which it parts low from high.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Takes in the next level; an edge may have been a while before.
    pub fn push(&mut self, at_ps: i64, level: f64) -> Option<Edge> {
        if level.is_nan() {
            (self.is_high, self.before, self.crossed) = (None, None, None);
            return None;
        }
        if let Some((before_ps, before)) = self.before {
            let rising = level >= self.threshold;
            if rising != (before >= self.threshold) {
                let share = (self.threshold - before) / (level - before);
                let between = (share * (at_ps - before_ps) as f64).round() as i64;
                // To a level beyond the range of the instrument there is no straight line.
                let is_line = self.is_sampled && (level - before).is_finite();
                let at_ps = if is_line { before_ps + between } else { at_ps };
                self.crossed = Some(Edge { at_ps, rising });
            }
        }
        self.before = Some((at_ps, level));
        let side = match () {
            () if level >= self.high => true,
            () if level <= self.low => false,
            () => return None,
        };
        let was = self.is_high.replace(side);
        let crossed = self.crossed.filter(|crossed| crossed.rising == side);
        (was == Some(!side)).then(|| crossed.unwrap_or(Edge { at_ps, rising: side }))
    }

    /// No edge that it will still find is before this.
    pub fn settled_to(&self, now_ps: i64) -> i64 {
        let pending = self.crossed.filter(|crossed| self.is_high == Some(!crossed.rising));
        pending.map_or(now_ps, |crossed| crossed.at_ps.min(now_ps))
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
