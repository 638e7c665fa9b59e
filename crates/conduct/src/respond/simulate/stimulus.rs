//! When the stimuli of a simulation come.

use super::clock::Hertz;
use latlab_model::Nanos;
use std::fmt;
use std::str::FromStr;

/// Least distance of two stimuli: the sketches hold their answer for 50 us.
const SHORTEST: Nanos = Nanos(80_000);
/// With a larger distance a simulation takes hours.
const LONGEST: Nanos = Nanos(1_000_000_000);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stimulus {
    /// At a constant distance.
    Square(Nanos),
    /// At random distances, uniform between these.
    Random(Nanos, Nanos),
}

impl FromStr for Stimulus {
    type Err = String;

    fn from_str(text: &str) -> Result<Stimulus, String> {
        let expected = || "expected square:10kHz or random:10ms..20ms".to_string();
        let (kind, rest) = text.split_once(':').ok_or_else(expected)?;
        let stimulus = match kind {
            "square" => {
                let Hertz(hertz) = rest.parse().map_err(|()| expected())?;
                Stimulus::Square(Nanos((1e9 / hertz).round().clamp(0.0, 1e15) as i64))
            }
            "random" => {
                let (from, to) = rest.split_once("..").ok_or_else(expected)?;
                let time = |text: &str| text.parse::<Nanos>().map_err(|error| error.to_string());
                Stimulus::Random(time(from)?, time(to)?)
            }
            _ => return Err(expected()),
        };
        let (from, to) = stimulus.between();
        match from >= SHORTEST && to >= from && to <= LONGEST {
            true => Ok(stimulus),
            false => Err(format!("expected times from {SHORTEST} to {LONGEST}")),
        }
    }
}

impl Stimulus {
    /// The least and the largest distance.
    pub fn between(self) -> (Nanos, Nanos) {
        match self {
            Stimulus::Square(every) => (every, every),
            Stimulus::Random(from, to) => (from, to),
        }
    }
}

impl fmt::Display for Stimulus {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Stimulus::Square(every) => write!(f, "square, every {every}"),
            Stimulus::Random(from, to) => write!(f, "random, after {from} to {to}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stimuli_are_told_by_rate_or_by_distance() {
        assert_eq!("square:10kHz".parse(), Ok(Stimulus::Square(Nanos(100_000))));
        let random = Stimulus::Random(Nanos(10_000_000), Nanos(20_000_000));
        assert_eq!("random:10ms..20ms".parse(), Ok(random));
        for wrong in ["", "square", "square:0Hz", "square:1MHz", "random:20ms..10ms", "sine:1Hz"] {
            assert!(wrong.parse::<Stimulus>().is_err(), "{wrong}");
        }
    }
}
