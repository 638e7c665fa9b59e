//! The Fourier transform of a series.

use num_complex::Complex;
use std::f64::consts::TAU;

/// In-place discrete Fourier transform; the length is a power of two (Cooley and Tukey 1965).
pub fn transform(values: &mut [Complex<f64>]) {
    let length = values.len();
    assert!(length.is_power_of_two(), "a series of {length} values");
    sort_by_reversed_bits(values);
    let turn = |at: usize| Complex::cis(-TAU * at as f64 / length as f64);
    let turns: Vec<Complex<f64>> = (0..length / 2).map(turn).collect();
    let mut half = 1;
    while half < length {
        let stride = length / (2 * half);
        for part in values.chunks_exact_mut(2 * half) {
            let (low, high) = part.split_at_mut(half);
            let pairs = low.iter_mut().zip(high);
            for ((low, high), turn) in pairs.zip(turns.iter().step_by(stride)) {
                let turned = *high * turn;
                (*low, *high) = (*low + turned, *low - turned);
            }
        }
        half *= 2;
    }
}

fn sort_by_reversed_bits(values: &mut [Complex<f64>]) {
    let unused = values.len().leading_zeros() + 1;
    for at in 1..values.len() {
        let other = at.reverse_bits() >> unused;
        if at < other {
            values.swap(at, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_sum_that_defines_it() {
        for length in [1, 2, 8, 64] {
            let value = |at: usize| Complex::new((at * at % 7) as f64, (at * 5 % 11) as f64);
            let values: Vec<Complex<f64>> = (0..length).map(value).collect();
            let mut transformed = values.clone();
            transform(&mut transformed);
            for (frequency, seen) in transformed.iter().enumerate() {
                let term = |(at, value): (usize, &Complex<f64>)| {
                    value * Complex::cis(-TAU * (at * frequency) as f64 / length as f64)
                };
                let expected: Complex<f64> = values.iter().enumerate().map(term).sum();
                assert!((seen - expected).norm() < 1e-10, "{length}: {seen} {expected}");
            }
        }
    }
}
