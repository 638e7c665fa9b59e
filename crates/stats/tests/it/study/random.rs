//! Random numbers of the distributions that the study draws from.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

pub struct Random(Xoshiro256PlusPlus);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 1.0) / (1_u64 << 53) as f64
    }

    pub fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    pub fn normal(&mut self) -> f64 {
        let angle = self.uniform() * std::f64::consts::TAU;
        (2.0 * self.exponential()).sqrt() * angle.cos()
    }

    pub fn poisson(&mut self, mean: f64) -> u64 {
        let (mut count, mut time) = (0, self.exponential());
        while time < mean {
            count += 1;
            time += self.exponential();
        }
        count
    }

    /// The gamma distribution of this shape and mean 1 (Marsaglia and Tsang).
    pub fn gamma(&mut self, shape: f64) -> f64 {
        let d = shape - 1.0 / 3.0;
        loop {
            let x = self.normal();
            let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
            if v > 0.0 && self.uniform().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v / shape;
            }
        }
    }

    pub fn below(&mut self, end: usize) -> usize {
        ((self.uniform() * end as f64) as usize).min(end - 1)
    }

    /// Pareto distribution from 1 on, with this tail exponent.
    pub fn pareto(&mut self, power: f64) -> f64 {
        self.uniform().powf(-1.0 / power)
    }

    /// Size of a burst, geometric with this mean.
    pub fn size(&mut self, mean: f64) -> u64 {
        if mean > 1.0 { 1 + (self.exponential() / -(1.0 - 1.0 / mean).ln()) as u64 } else { 1 }
    }
}
