//! The test vectors of the specification in one table: name, the oracle's values, tolerance.
//!
//! Vectors for functions of a single module are also tested there, with their property tests.

use crate::bursts::tests as bursts;
use crate::growth::{lateness, rising_order};
use crate::quantile_interval::{QuantileRanks, quantile_ranks};
use crate::rank::{critical_inversions, rank_test, shift};
use crate::special::{
    chance_of_at_least, chance_of_dispersion, count_above, share_above, share_below,
};
use crate::tail::oracle::{exponential_scale, fitted};

/// Tolerance: relative or absolute.
#[derive(Clone, Copy)]
enum Near {
    Relative(f64),
    Absolute(f64),
}

struct Vector {
    name: &'static str,
    oracle: &'static str,
    got: Vec<f64>,
    expected: Vec<f64>,
    near: Near,
}

fn vector(
    name: &'static str,
    oracle: &'static str,
    got: impl IntoIterator<Item = f64>,
    expected: impl IntoIterator<Item = f64>,
    near: Near,
) -> Vector {
    let (got, expected) = (got.into_iter().collect(), expected.into_iter().collect());
    Vector { name, oracle, got, expected, near }
}

#[test]
fn every_vector_is_within_its_tolerance() {
    let all = [counting(), dependence(), comparing(), tails(), time()];
    for Vector { name, oracle, got, expected, near } in all.into_iter().flatten() {
        assert_eq!(got.len(), expected.len(), "{name} ({oracle})");
        for (got, expected) in got.into_iter().zip(expected) {
            let off = match near {
                Near::Relative(most) => (got - expected).abs() / expected.abs().max(1e-300) / most,
                Near::Absolute(most) => (got - expected).abs() / most,
            };
            assert!(off <= 1.0, "{name} ({oracle}): {got}, expected {expected}");
        }
    }
}

fn counting() -> Vec<Vector> {
    let upper = [(0, 1e8, 0.05), (0, 1e8, 0.01), (1, 1e8, 0.05), (3, 1e6, 0.05), (10, 1e6, 0.05)];
    let upper = upper.into_iter().chain([(0, 300.0, 0.05), (133, 2e5, 0.05)]);
    let two_sided = [(0, 1e6), (3, 1e6), (10, 1e6), (5, 100.0)];
    let ranks = [
        (1e5, 1e-5),
        (1e6, 1e-5),
        (1e6, 1e-4),
        (1e8, 1e-6),
        (1e8, 1e-7),
        (4e5, 1e-5),
        (3.7e5, 1e-5),
        (3.68e5, 1e-5),
    ];
    let rank = |(latencies, above)| {
        let QuantileRanks { lower, upper } = quantile_ranks(latencies, above, 1.0);
        [lower as f64, upper as f64]
    };
    vec![
        vector(
            "Clopper and Pearson, one-sided",
            "scipy.stats.beta.ppf",
            upper.map(|(events, of, chance)| share_above(events as f64, of, chance)),
            [
                2.995732228681931e-08,
                4.60517007995013e-08,
                4.7438644247114806e-08,
                7.75363809884006e-06,
                1.6962160188281603e-05,
                0.009936081944457708,
                0.0007679199616641738,
            ],
            // For 1 in 1e8 scipy's own value is off by 1.03e-9.
            Near::Relative(1.1e-9),
        ),
        vector(
            "Clopper and Pearson, two-sided",
            "scipy.stats.beta.ppf",
            two_sided.into_iter().flat_map(|(events, of)| {
                let limits = [share_below, share_above];
                limits.map(|limit| limit(f64::from(events), of, 0.025))
            }),
            [
                0.0,
                3.688872650206488e-06,
                6.186725501906402e-07,
                8.767247788067677e-06,
                4.795398777545601e-06,
                1.8390278891238532e-05,
                0.016431879182052158,
                0.11283491110546275,
            ],
            Near::Relative(1e-9),
        ),
        vector(
            "Garwood",
            "scipy.stats.chi2.ppf",
            [(0.0, 0.05), (0.0, 0.01), (1.0, 0.05), (3.0, 0.05), (10.0, 0.05)]
                .map(|(events, chance)| count_above(events, chance)),
            [
                2.9957322735539895,
                4.60517018598809,
                4.743864518390577,
                7.753656527932725,
                16.962219235721903,
            ],
            Near::Relative(1e-9),
        ),
        vector(
            "ranks of a quantile",
            "scipy.stats.binom",
            ranks.into_iter().flat_map(rank),
            [4, 0, 18, 4, 121, 81, 121, 81, 18, 4, 9, 1, 9, 1, 9, 0].map(f64::from),
            Near::Absolute(1e-9),
        ),
        vector(
            "rate ratio",
            "scipy.stats.binom",
            [(0, 5), (1, 7), (10, 22), (3, 10)]
                .map(|(before, after)| chance_of_at_least(after, before + after, 0.5)),
            [0.03125, 0.03515625, 0.025051229866221547, 0.046142578125],
            Near::Relative(1e-9),
        ),
    ]
}

fn dependence() -> Vec<Vector> {
    vec![
        vector(
            "dispersion over runs",
            "scipy.stats.chi2.sf",
            [chance_of_dispersion(&[12, 27, 9, 24, 32].map(|count| (count, 1.0)))],
            [0.0008648280553508721],
            Near::Relative(1e-9),
        ),
        vector(
            "extremal index by intervals",
            "R extRemes::extremalindex",
            bursts::extremal_indices(),
            [0.583318, 1.0],
            Near::Absolute(1e-6),
        ),
        vector(
            "K-gaps",
            "the likelihood of Suveges and Davison, maximised by golden section",
            bursts::k_gaps_of_the_same_distances(),
            K_GAPS,
            Near::Absolute(1e-5),
        ),
    ]
}

/// For the ten distances of the specification, with gaps above 2 releases and a miss share of 0.01:
/// index and standard error, then the same with two gaps that were cut off.
const K_GAPS: [f64; 4] = [0.45931854, 0.13080699, 0.50973119, 0.12554108];

fn comparing() -> Vec<Vector> {
    let first = [41.2, 39.8, 43.1, 40.5, 42.0];
    let second = [45.9, 44.1, 47.3, 43.6, 46.0];
    let logs = |values: [f64; 5]| values.map(f64::ln);
    let shifted = shift(&logs(first), &logs(second));
    let (low, high, level) = shifted.interval.unwrap();
    let critical = [(4, 0.9714285714285714), (5, 0.9682539682539683), (8, 0.9501165501165502)];
    let critical = critical.into_iter().chain([(10, 0.9567429474550218)]);
    let (sizes, levels): (Vec<usize>, Vec<f64>) = critical.unzip();
    vec![
        vector(
            "ratio, interval and probability of two samples",
            "R wilcox.test, scipy.stats.mannwhitneyu",
            [shifted.estimate.exp(), low.exp(), high.exp(), level, rank_test(&first, &second)],
            [
                1.095477386934674,
                1.0380952380952382,
                1.1557788944723622,
                0.9682539682539683,
                0.007936507936507936,
            ],
            Near::Relative(1e-9),
        ),
        vector(
            "levels of the exact intervals",
            "scipy.stats.mannwhitneyu",
            sizes.iter().map(|size| critical_inversions(*size, *size).unwrap().1),
            levels,
            Near::Relative(1e-9),
        ),
        vector(
            "critical values",
            "scipy.stats.mannwhitneyu",
            sizes.iter().map(|size| critical_inversions(*size, *size).unwrap().0 as f64),
            [0.0, 2.0, 13.0, 23.0],
            Near::Absolute(1e-9),
        ),
    ]
}

fn tails() -> Vec<Vector> {
    let first = fitted(&H1, 1.0);
    let second = fitted(&H2, 1.0);
    let heavy = fitted(&H3, 1.0);
    let rain = fitted(&RAIN, 5.0);
    let prototype = "the prototype (scipy.optimize)";
    let parameters = |name, got: [f64; 2], expected: [f64; 2]| {
        vector(name, prototype, got, expected, Near::Absolute(2e-3))
    };
    vec![
        parameters("H1: scale, shape", first.parameters, [3.0615006, -0.0290976]),
        parameters("H2: scale, shape", second.parameters, [4.1674810, -0.2506797]),
        parameters("H3: scale, shape", heavy.parameters, [2.8720219, 0.2330796]),
        parameters("rain in cells: scale, shape", rain.parameters, [7.5332, 0.17826]),
        vector(
            "likelihoods",
            prototype,
            [first.cost, second.cost, heavy.cost, rain.cost],
            [2094.246540960726, 1438.3373508286265, 2015.8139973343161, 244.1957],
            Near::Absolute(1e-3),
        ),
        vector(
            "interval of the shape",
            prototype,
            [first.shape, second.shape, heavy.shape].concat(),
            [-0.0886043, 0.0398980, -0.3138055, -0.1755208, 0.1502754, 0.3273796],
            Near::Absolute(2e-3),
        ),
        vector(
            "excess of a thousandth, with its interval",
            prototype,
            [first.excess, second.excess, heavy.excess].concat(),
            [
                19.15836070300628,
                16.67435835867781,
                23.037092445712542,
                13.682188419374247,
                12.601387020528653,
                15.562126539917259,
                49.326114830469514,
                37.15391287725755,
                70.64792580643363,
            ],
            Near::Relative(5e-3),
        ),
        vector(
            "distances of Anderson and Darling",
            prototype,
            [first.distances, second.distances, heavy.distances].concat(),
            [
                0.03597699569564805,
                0.019976926211343796,
                0.14371588674682959,
                0.06699337811180736,
                0.3161450530929678,
                0.1680803067247737,
            ],
            Near::Relative(5e-3),
        ),
        vector(
            "without a shape",
            "1/ln(1 + 1/mean)",
            [exponential_scale(&H1)],
            [2.974032339361394],
            Near::Absolute(2e-3),
        ),
    ]
}

const H1: [f64; 19] = [
    283.0, 203.0, 146.0, 105.0, 75.0, 54.0, 38.0, 28.0, 20.0, 14.0, 10.0, 7.0, 5.0, 4.0, 3.0, 2.0,
    1.0, 1.0, 1.0,
];
const H2: [f64; 14] =
    [150.0, 120.0, 96.0, 76.0, 60.0, 46.0, 35.0, 26.0, 19.0, 13.0, 9.0, 6.0, 3.0, 1.0];
const H3: [f64; 37] = [
    260.0, 165.0, 112.0, 78.0, 56.0, 42.0, 32.0, 25.0, 19.0, 15.0, 12.0, 10.0, 8.0, 7.0, 6.0, 5.0,
    4.0, 4.0, 3.0, 3.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0,
    0.0, 1.0,
];
/// Excesses of the Exeter rainfall data in cells of 5 units (Coles 2001).
const RAIN: [f64; 12] = [71.0, 37.0, 14.0, 13.0, 5.0, 6.0, 0.0, 1.0, 1.0, 1.0, 1.0, 2.0];

fn time() -> Vec<Vector> {
    let maxima = [31, 29, 35, 30, 33, 36, 34, 38, 33, 37, 40, 36].map(f64::from);
    let rising = rising_order(&maxima);
    let late = [0.1, 0.35, 0.62, 0.7, 0.81, 0.88, 0.9, 0.95, 0.97, 0.99];
    vec![
        vector(
            "order of maxima",
            "scipy.stats.kendalltau",
            [rising.tau, rising.chance],
            [0.5539117094069973, 0.00656355469578533],
            Near::Relative(1e-9),
        ),
        vector(
            "late events",
            "scipy.stats.norm.sf",
            [lateness(late.into_iter())],
            [0.006447421077047418],
            Near::Relative(1e-9),
        ),
    ]
}
