//! The exact rank test of Mann and Whitney, the matching estimate of Hodges and Lehmann, and how
//! many values it needs.

use crate::special::{normal, normal_above};

/// Each tail of a two-sided 95 % interval.
pub const TAIL: f64 = 0.025;
/// Larger samples have too many permutations for an exact count.
const MOST_EXACT: usize = 120;
/// Power that [`values_needed`] asks for.
const POWER: f64 = 0.8;
/// Most values per side that latlab asks for.
pub const MOST_VALUES: usize = 30;
/// Fewest values per side that can differ at 95 %.
pub const FEWEST_VALUES: usize = 4;

/// Difference of two samples.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shift {
    /// The median of all differences, second minus first.
    pub estimate: f64,
    /// Exact interval and its confidence; `None` with too few values.
    pub interval: Option<(f64, f64, f64)>,
}

/// The ranks of values, doubled so that the mean rank of equal values is whole.
pub fn doubled_ranks(values: &[f64]) -> Vec<usize> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        2 * below + equal + 1
    };
    values.iter().map(rank).collect()
}

/// The exact two-sided probability that the ranks of two samples differ at least this much if
/// nothing changed; ties are taken into account.
pub fn rank_test(first: &[f64], second: &[f64]) -> f64 {
    let values = [first, second].concat();
    let ranks = doubled_ranks(&values);
    let mean = first.len() * (values.len() + 1);
    let seen = ranks[..first.len()].iter().sum::<usize>().abs_diff(mean);
    chances(&ranks, first.len())[seen]
}

/// For each distance, the probability that the sum of `chosen` of these ranks is at least this far
/// from its mean, if all choices are equally likely.
pub fn chances(ranks: &[usize], chosen: usize) -> Vec<f64> {
    let mean = chosen * (ranks.len() + 1);
    let most = mean.max(ranks.iter().sum::<usize>().saturating_sub(mean));
    if ranks.len() > MOST_EXACT {
        return (0..=most).map(|distance| usual_chance(ranks, chosen, distance as f64)).collect();
    }
    let mut chances = vec![0.0; most + 2];
    for (sum, p) in rank_sums(ranks, chosen).into_iter().enumerate() {
        chances[sum.abs_diff(mean)] += p;
    }
    for distance in (0..=most).rev() {
        chances[distance] = f64::min(chances[distance] + chances[distance + 1], 1.0);
    }
    chances
}

/// The same for large samples, by the normal approximation.
fn usual_chance(ranks: &[usize], chosen: usize, seen: f64) -> f64 {
    let (all, chosen) = (ranks.len() as f64, chosen as f64);
    let squares: f64 = ranks.iter().map(|rank| (*rank as f64 - all - 1.0).powi(2)).sum();
    let deviation = (squares * chosen * (all - chosen) / (all * (all - 1.0))).sqrt();
    // Doubled ranks come in steps of two.
    let distance = (seen - 1.0).max(0.0) / deviation.max(1e-9);
    (2.0 * normal(-distance)).clamp(f64::MIN_POSITIVE, 1.0)
}

/// Probability of each sum of `chosen` of these ranks, if all choices are equally likely.
fn rank_sums(ranks: &[usize], chosen: usize) -> Vec<f64> {
    let most: usize = ranks.iter().sum();
    let mut ways = vec![vec![0.0; most + 1]; chosen + 1];
    ways[0][0] = 1.0;
    for rank in ranks {
        for count in (1..=chosen).rev() {
            let (fewer, more) = ways.split_at_mut(count);
            let (from, to) = (&fewer[count - 1], &mut more[0]);
            for sum in *rank..=most {
                to[sum] += from[sum - rank];
            }
        }
    }
    let all: f64 = ways[chosen].iter().sum();
    ways.swap_remove(chosen).into_iter().map(|count| count / all.max(1.0)).collect()
}

/// The largest number of inversions between samples of these sizes that is rarer than 2.5 %, and
/// the confidence of the resulting interval; `None` for samples too small for 95 %.
pub fn critical_inversions(first: usize, second: usize) -> Option<(usize, f64)> {
    inversions_at(first, second, TAIL)
}

/// The largest number of inversions with a smaller tail probability, and the confidence of its
/// interval.
fn inversions_at(first: usize, second: usize, tail: f64) -> Option<(usize, f64)> {
    if first + second > MOST_EXACT {
        return usual_inversions(first, second, tail);
    }
    let ways = inversions(first, second);
    let all = ways.iter().sum::<i128>() as f64;
    let mut below = 0.0;
    let mut critical = None;
    for (inversions, ways) in ways.into_iter().enumerate() {
        below += ways as f64 / all;
        if below > tail {
            break;
        }
        critical = Some((inversions, 1.0 - 2.0 * below));
    }
    critical
}

/// The same for large samples, by the normal approximation.
fn usual_inversions(first: usize, second: usize, tail: f64) -> Option<(usize, f64)> {
    let (first, second) = (first as f64, second as f64);
    let deviation = (first * second * (first + second + 1.0) / 12.0).sqrt();
    let critical = (first * second / 2.0 - normal_above(tail) * deviation - 0.5).floor();
    (critical >= 0.0).then_some((critical as usize, 1.0 - 2.0 * tail))
}

/// Number of arrangements of two samples without ties, by their number of inversions: the
/// coefficients of a Gaussian binomial, for samples of 60 at most.
fn inversions(first: usize, second: usize) -> Vec<i128> {
    let most = first * second;
    let mut ways = vec![0_i128; most + 1];
    ways[0] = 1;
    for count in 1..=first {
        // Times (1 - q^(second + count)), divided by (1 - q^count).
        for at in (second + count..=most).rev() {
            ways[at] -= ways[at - second - count];
        }
        for at in count..=most {
            ways[at] += ways[at - count];
        }
    }
    ways
}

/// How much larger the second sample is than the first; neither may be empty.
pub fn shift(first: &[f64], second: &[f64]) -> Shift {
    let mut differences: Vec<f64> =
        first.iter().flat_map(|one| second.iter().map(move |other| other - one)).collect();
    differences.sort_by(f64::total_cmp);
    let interval = critical_inversions(first.len(), second.len()).map(|(least, level)| {
        (differences[least], differences[differences.len() - 1 - least], level)
    });
    Shift { estimate: median(&differences), interval }
}

/// The median of all differences, second minus first, without its interval; neither may be empty.
pub fn median_difference(first: &[f64], second: &[f64]) -> f64 {
    let mut differences: Vec<f64> =
        first.iter().flat_map(|one| second.iter().map(move |other| other - one)).collect();
    let half = differences.len() / 2;
    let (below, middle, _) = differences.select_nth_unstable_by(half, f64::total_cmp);
    let middle = *middle;
    match below.iter().copied().max_by(f64::total_cmp) {
        Some(below) if (first.len() * second.len()).is_multiple_of(2) => (below + middle) / 2.0,
        _ => middle,
    }
}

/// The median of sorted values; zero if empty.
pub fn median(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => sorted[half],
        _ => (sorted[half - 1] + sorted[half]) / 2.0,
    }
}

/// The upper median: that of the values which is in the middle; zero if there are none.
pub fn upper_median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let half = values.len() / 2;
    *values.select_nth_unstable_by(half, f64::total_cmp).1
}

/// How many values per side show a shift of this many standard deviations in four of five
/// comparisons; `None` if more than [`MOST_VALUES`]. A two-sided test leaves `tail` to each side.
pub fn values_needed(deviations: f64, tail: f64) -> Option<usize> {
    let earlier = normal(deviations / std::f64::consts::SQRT_2);
    let both = earlier_than_both(deviations);
    (FEWEST_VALUES..=MOST_VALUES).find(|&count| {
        let Some((critical, _)) = inversions_at(count, count, tail) else { return false };
        let (n, pairs) = (count as f64, (count * count) as f64);
        let variance =
            pairs * (earlier * (1.0 - earlier) + 2.0 * (n - 1.0) * (both - earlier * earlier));
        let needed = pairs - critical as f64 - 0.5;
        let distance = (pairs * earlier - needed) / variance.max(1e-9).sqrt();
        normal(distance) >= POWER
    })
}

/// Probability that a value shifted by this many standard deviations exceeds two others.
fn earlier_than_both(deviations: f64) -> f64 {
    const STEPS: usize = 400;
    const REACH: f64 = 8.0;
    let width = 2.0 * REACH / STEPS as f64;
    let density = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let at = |step: usize| {
        let x = -REACH + step as f64 * width;
        density(x) * normal(x + deviations).powi(2)
    };
    // The integrand is zero at both ends.
    (0..=STEPS).map(at).sum::<f64>() * width
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Two samples of five: values of R's wilcox.test and scipy's mannwhitneyu.
    const FIRST: [f64; 5] = [41.2, 39.8, 43.1, 40.5, 42.0];
    const SECOND: [f64; 5] = [45.9, 44.1, 47.3, 43.6, 46.0];

    fn near(got: f64, expected: f64) -> bool {
        (got - expected).abs() <= 1e-9 * expected.abs().max(1.0)
    }

    #[test]
    fn the_test_is_that_of_scipy() {
        assert!(near(rank_test(&FIRST, &SECOND), 0.007_936_507_936_507_936));
        let logs = |values: [f64; 5]| values.map(f64::ln);
        let Shift { estimate, interval } = shift(&logs(FIRST), &logs(SECOND));
        let (low, high, level) = interval.unwrap();
        assert!(near(estimate.exp(), 1.095_477_386_934_674), "{}", estimate.exp());
        assert!(near(low.exp(), 1.038_095_238_095_238_2), "{}", low.exp());
        assert!(near(high.exp(), 1.155_778_894_472_362_2), "{}", high.exp());
        assert!(near(level, 0.968_253_968_253_968_3), "{level}");
    }

    #[test]
    fn critical_values_and_levels_are_those_of_scipy() {
        let expected = [
            (4, 0, 0.971_428_571_428_571_4),
            (5, 2, 0.968_253_968_253_968_3),
            (6, 5, 0.958_874_458_874_458_9),
            (7, 8, 0.962_121_212_121_212_1),
            (8, 13, 0.950_116_550_116_550_2),
            (9, 17, 0.960_016_454_134_101_2),
            (10, 23, 0.956_742_947_455_021_8),
            (11, 30, 0.952_692_818_017_895_4),
            (12, 37, 0.955_098_004_700_911_2),
        ];
        for (count, critical, level) in expected {
            let (got, got_level) = critical_inversions(count, count).unwrap();
            assert_eq!(got, critical, "{count}");
            assert!(near(got_level, level), "{count}: {got_level}");
        }
        assert_eq!(critical_inversions(3, 3), None, "three a side cannot go below p = 0.1");
        assert!(near(rank_test(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), 0.1));
    }

    #[test]
    fn large_samples_have_the_interval_of_the_normal_distribution() {
        let (exact, _) = critical_inversions(60, 60).unwrap();
        let (usual, _) = usual_inversions(60, 60, TAIL).unwrap();
        assert!(exact.abs_diff(usual) <= 3, "{exact} {usual}");
        let values = |from: i32| (from..from + 60).map(f64::from).collect::<Vec<_>>();
        let (first, second) = (values(0), values(9));
        let ranks = doubled_ranks(&[&first[..], &second[..]].concat());
        let seen = ranks[..60].iter().sum::<usize>().abs_diff(60 * 121) as f64;
        let (exact, usual) = (rank_test(&first, &second), usual_chance(&ranks, 60, seen));
        assert!((exact / usual - 1.0).abs() < 0.05, "{exact} {usual}");
        let many = [values(0), values(1), values(2)].concat();
        assert_eq!(rank_test(&many, &many), 1.0);
        assert!(critical_inversions(500, 700).unwrap().0 > 160_000);
        assert!(critical_inversions(3, 500).is_some_and(|(critical, _)| critical < 300));
    }

    #[test]
    fn equal_values_are_no_difference() {
        assert!(near(rank_test(&[1.0; 5], &[1.0; 5]), 1.0));
        // Of the 70 choices of four, 3 have this sum of ranks or a smaller one, and 3 are as far above.
        assert!(near(rank_test(&[0.0, 0.0, 0.0, 1.0], &[1.0, 1.0, 2.0, 2.0]), 6.0 / 70.0));
    }

    /// The study behind it: runs per side for a power of 80 %, by simulation.
    #[test]
    fn noisier_machines_need_more_runs() {
        let needed = |variation: f64, change: f64| {
            values_needed((1.0 + change).ln() / (1.0 + variation * variation).ln().sqrt(), TAIL)
        };
        let within = |got: Option<usize>, expected: usize| got.unwrap().abs_diff(expected) <= 2;
        assert!(within(needed(0.03, 0.05), 8), "{:?}", needed(0.03, 0.05));
        assert!(within(needed(0.05, 0.05), 20), "{:?}", needed(0.05, 0.05));
        assert!(within(needed(0.05, 0.10), 6), "{:?}", needed(0.05, 0.10));
        assert!(within(needed(0.10, 0.10), 20), "{:?}", needed(0.10, 0.10));
        assert_eq!(needed(0.10, 0.05), None);
        assert_eq!(values_needed(f64::INFINITY, TAIL), Some(4));
        assert_eq!(values_needed(0.0, TAIL), None);
    }

    proptest! {
        #[test]
        fn sides_can_be_swapped(
            first in prop::collection::vec(-20_i32..20, 1..9),
            second in prop::collection::vec(-20_i32..20, 1..9),
        ) {
            let values = |all: &[i32]| all.iter().map(|one| f64::from(*one)).collect::<Vec<_>>();
            let (first, second) = (values(&first), values(&second));
            let p = rank_test(&first, &second);
            prop_assert!(p > 0.0 && p <= 1.0);
            prop_assert!((p - rank_test(&second, &first)).abs() < 1e-9);
            let (there, back) = (shift(&first, &second), shift(&second, &first));
            prop_assert!((there.estimate - median_difference(&first, &second)).abs() < 1e-9);
            prop_assert!((there.estimate + back.estimate).abs() < 1e-9);
            if let Some((low, high, level)) = there.interval {
                prop_assert!(low <= there.estimate && there.estimate <= high && level >= 0.95);
            }
        }
    }
}
