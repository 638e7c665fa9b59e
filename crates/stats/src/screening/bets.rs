//! Bets on coins: whether the sign that a coin gave a slot foretells what was measured.

use crate::rank::upper_median;
use std::collections::VecDeque;

/// Shares of the capital that are bet, each by another bettor.
const SHARES: [f64; 6] = [0.05, 0.1, 0.2, 0.4, 0.6, 0.9];

/// A measured value counts fully from this multiple of the usual size on.
const FULL: f64 = 3.0;

/// Number of values that tell the usual size.
const REMEMBERED: usize = 41;

/// Bets that a sign of 1 does not add `shift`.
#[derive(Clone, Debug)]
pub struct Bets {
    shift: f64,
    /// Logarithms of the capitals of those who bet on less, and on more.
    bettors: [[f64; SHARES.len()]; 2],
    /// What the last values were without the shift.
    sizes: VecDeque<f64>,
}

impl Bets {
    pub fn against(shift: f64) -> Bets {
        Bets { shift, bettors: [[0.0; SHARES.len()]; 2], sizes: VecDeque::new() }
    }

    /// Takes a sign and what was measured with it.
    pub fn take(&mut self, (sign, value): (f64, f64)) {
        let rest = value - sign * self.shift;
        let outcome = sign * score(rest, &self.sizes);
        for (direction, bettors) in [-1.0, 1.0].into_iter().zip(&mut self.bettors) {
            for (share, capital) in SHARES.into_iter().zip(bettors) {
                *capital += (direction * share * outcome).ln_1p();
            }
        }
        self.sizes.push_back(rest.abs());
        if self.sizes.len() > REMEMBERED {
            self.sizes.pop_front();
        }
    }

    pub fn after(mut self, steps: impl IntoIterator<Item = (f64, f64)>) -> Bets {
        steps.into_iter().for_each(|step| self.take(step));
        self
    }

    /// What was won by betting that it adds less.
    pub fn below(&self) -> f64 {
        mean(&self.bettors[0])
    }

    /// What was won by betting that it adds more.
    pub fn above(&self) -> f64 {
        mean(&self.bettors[1])
    }

    /// What was won by betting half on either.
    pub fn either(&self) -> f64 {
        (self.below() + self.above()) / 2.0
    }
}

fn mean(capitals: &[f64; SHARES.len()]) -> f64 {
    capitals.iter().map(|capital| capital.exp()).sum::<f64>() / SHARES.len() as f64
}

/// How large a value is, from -1 to 1, by the usual size of those before it; a value that is usual by its own size
/// while there are none.
fn score(value: f64, before: &VecDeque<f64>) -> f64 {
    let mut sizes: Vec<f64> = before.iter().copied().collect();
    let usual = if sizes.len() < 5 { value.abs() } else { upper_median(&mut sizes) };
    if usual == 0.0 {
        return if value == 0.0 { 0.0 } else { value.signum() };
    }
    (value / (FULL * usual)).clamp(-1.0, 1.0)
}
