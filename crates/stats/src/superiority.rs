//! Compares two series: how often one is quicker than the other, and by how much.
//!
//! The result holds for these two series. Whether it holds for the two ways to answer, only further
//! series can tell: the next one may differ by more than the interval.

/// Longer series are thinned to this many evenly spaced order statistics.
const MOST_OF_A_SERIES: usize = 2_000;
/// Two-sided, 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// How often a value of one series is less than one of the other.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Precedence {
    /// The probability that a value of the first is less than one of the second; ties count half.
    pub less: f64,
    /// 95 % interval, for these two series.
    pub less_between: (f64, f64),
    /// How many of the first are less than all of the second.
    pub below_all: u64,
}

/// How two series compare.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Superiority {
    /// How often a value of the first is less than one of the second.
    pub precedence: Precedence,
    /// The median of all differences, first minus second (Hodges and Lehmann).
    pub shift: f64,
    /// 95 % interval, for these two series.
    pub shift_between: (f64, f64),
    /// Whether the differences were taken from a thinned series.
    pub thinned: bool,
}

/// Only how often one is less than the other: unlike the shift, this needs no pairs. `None` if a
/// series is empty.
pub fn precedence(first: &[i64], second: &[i64]) -> Option<Precedence> {
    count_preceding(&sorted(first), &sorted(second))
}

/// `None` if a series is empty.
pub fn superiority(first: &[i64], second: &[i64]) -> Option<Superiority> {
    let (first, second) = (sorted(first), sorted(second));
    let precedence = count_preceding(&first, &second)?;
    let (shift, shift_between, thinned) = shift(&first, &second);
    Some(Superiority { precedence, shift, shift_between, thinned })
}

fn sorted(series: &[i64]) -> Vec<i64> {
    let mut sorted = series.to_vec();
    sorted.sort_unstable();
    sorted
}

fn count_preceding(first: &[i64], second: &[i64]) -> Option<Precedence> {
    let smallest = *second.first()?;
    let places = placements(first, second);
    let others = placements(second, first);
    if places.is_empty() {
        return None;
    }
    // Convert "the others are less" into "less than the others".
    let less = 1.0 - mean(&places);
    let error =
        (variance(&places) / places.len() as f64 + variance(&others) / others.len() as f64).sqrt();
    Some(Precedence {
        less,
        less_between: ((less - Z * error).max(0.0), (less + Z * error).min(1.0)),
        below_all: first.partition_point(|value| *value < smallest) as u64,
    })
}

/// For each value, the share of the others that are less; ties count half.
fn placements(sorted: &[i64], others: &[i64]) -> Vec<f64> {
    let place = |value: &i64| {
        let below = others.partition_point(|other| other < value);
        let up_to = others.partition_point(|other| other <= value);
        (below + up_to) as f64 / 2.0 / others.len().max(1) as f64
    };
    sorted.iter().map(place).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    squares / (values.len() as f64 - 1.0).max(1.0)
}

/// The median of all differences with its interval, by the ranks of Mann and Whitney.
fn shift(first: &[i64], second: &[i64]) -> (f64, (f64, f64), bool) {
    let (a, b) = (downsampled(first), downsampled(second));
    let mut differences: Vec<i64> =
        a.iter().flat_map(|one| b.iter().map(move |other| one - other)).collect();
    let (n, m) = (first.len() as f64, second.len() as f64);
    let half = Z * ((n + m + 1.0) / (12.0 * n * m)).sqrt();
    let mut at = |share: f64| {
        let last = differences.len() - 1;
        let place = (share.clamp(0.0, 1.0) * last as f64).round() as usize;
        *differences.select_nth_unstable(place).1 as f64
    };
    let (middle, low, high) = (at(0.5), at(0.5 - half), at(0.5 + half));
    (middle, (low, high), a.len() < first.len() || b.len() < second.len())
}

fn downsampled(sorted: &[i64]) -> Vec<i64> {
    if sorted.len() <= MOST_OF_A_SERIES {
        return sorted.to_vec();
    }
    let place = |index: usize| (2 * index + 1) * sorted.len() / (2 * MOST_OF_A_SERIES);
    (0..MOST_OF_A_SERIES).map(|index| sorted[place(index)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn series_apart_are_told_for_sure() {
        let compared = superiority(&[1, 2, 3], &[11, 12, 13]).unwrap();
        assert_eq!(
            (compared.precedence.less, compared.precedence.below_all, compared.shift),
            (1.0, 3, -10.0)
        );
        assert_eq!(superiority(&[], &[1]), None);
        assert_eq!(superiority(&[1], &[]), None);
    }

    #[test]
    fn a_long_series_is_thinned_and_says_so() {
        let long: Vec<i64> = (0..10_000).collect();
        let later: Vec<i64> = long.iter().map(|value| value + 500).collect();
        let compared = superiority(&long, &later).unwrap();
        assert!(compared.thinned);
        assert!((compared.shift + 500.0).abs() < 10.0, "{}", compared.shift);
        let (low, high) = compared.shift_between;
        assert!(low < -500.0 && high > -500.0);
    }

    proptest! {
        #[test]
        fn it_is_the_count_of_pairs(
            first in proptest::collection::vec(0i64..40, 1..40),
            second in proptest::collection::vec(0i64..40, 1..40)
        ) {
            let pairs = first.iter().flat_map(|a| second.iter().map(move |b| (a, b)));
            let wins: f64 = pairs
                .map(|(a, b)| if a < b { 1.0 } else if a == b { 0.5 } else { 0.0 })
                .sum();
            let share = wins / (first.len() * second.len()) as f64;
            let compared = precedence(&first, &second).unwrap();
            prop_assert!((compared.less - share).abs() < 1e-9);
            prop_assert!(compared.less_between.0 <= share && share <= compared.less_between.1);
            prop_assert_eq!(superiority(&first, &second).unwrap().precedence, compared);
            let back = precedence(&second, &first).unwrap();
            prop_assert!((compared.less + back.less - 1.0).abs() < 1e-9);
        }
    }
}
