//! Quantiles of the distributions used to judge counts, based on the special functions of statrs.

use statrs::function::beta::beta_reg;
use statrs::function::erf::erfc;
use statrs::function::gamma::{gamma_lr, gamma_ur};

/// From this size on Bol'shev's limit replaces the binomial distribution: the logarithms of such
/// large factorials have too few digits for the difference between them.
const LARGE: f64 = 1e6;
/// With more events the exact form has enough digits.
const MANY: f64 = 1e3;
/// With a larger variance the binomial is approximated by a normal distribution with its skewness.
const NORMAL_FROM: f64 = 400.0;

/// The rate at which `events` or fewer have only this chance (Garwood).
pub fn count_above(events: f64, chance: f64) -> f64 {
    let start = (events + 1.0) * 2.0 + 50.0;
    root(0.0, start, |rate| gamma_ur(events + 1.0, rate.max(f64::MIN_POSITIVE)) - chance)
}

/// The rate at which `events` or more have only this chance (Garwood); zero if there are none.
pub fn count_below(events: f64, chance: f64) -> f64 {
    if events <= 0.0 {
        return 0.0;
    }
    let more = |rate: f64| chance - gamma_lr(events, rate.max(f64::MIN_POSITIVE));
    root(0.0, events * 2.0 + 50.0, more)
}

/// The chance that at least `events` of `of` are of a kind that has this share.
pub fn chance_of_at_least(events: u64, of: u64, share: f64) -> f64 {
    match events {
        0 => 1.0,
        events => beta_reg(events as f64, (of - events) as f64 + 1.0, share.clamp(0.0, 1.0)),
    }
}

/// The chance that independent counts of equal rates, over these times, differ at least as much: by
/// the chi-square of their dispersion. 1 with fewer than two counts or without events.
pub fn chance_of_dispersion(counts: &[(u64, f64)]) -> f64 {
    let all: f64 = counts.iter().map(|(count, _)| *count as f64).sum();
    let time: f64 = counts.iter().map(|(_, time)| *time).sum();
    if counts.len() < 2 || all <= 0.0 || time <= 0.0 {
        return 1.0;
    }
    let square = |(count, of): &(u64, f64)| {
        let expected = all * of / time;
        if expected > 0.0 { (*count as f64 - expected).powi(2) / expected } else { 0.0 }
    };
    let sum: f64 = counts.iter().map(square).sum();
    gamma_ur((counts.len() as f64 - 1.0) / 2.0, (sum / 2.0).max(f64::MIN_POSITIVE))
}

/// The share at which `events` or fewer of `of` have only this chance (Clopper and Pearson);
/// neither number need be whole.
pub fn share_above(events: f64, of: f64, chance: f64) -> f64 {
    if of <= 0.0 || events >= of {
        return 1.0;
    }
    if of > LARGE && events < MANY {
        let rate = count_above(events, chance);
        // Bol'shev: the count is that of a Poisson process with the rate (2n - k) p / (2 - p).
        return (2.0 * rate / (2.0 * of - events + rate)).min(1.0);
    }
    root(0.0, 1.0, |share| 1.0 - beta_reg(events + 1.0, of - events, share) - chance)
}

/// The share at which `events` or more of `of` have only this chance: the lower limit to
/// [`share_above`].
pub fn share_below(events: f64, of: f64, chance: f64) -> f64 {
    if of <= 0.0 || events <= 0.0 {
        return 0.0;
    }
    if of > LARGE && events < MANY {
        // The rate at which fewer than `events` have all but this chance.
        let rate = root(0.0, events + 1.0, |rate| {
            gamma_ur(events, rate.max(f64::MIN_POSITIVE)) - (1.0 - chance)
        });
        return (2.0 * rate / (2.0 * of - events + 1.0 + rate)).min(1.0);
    }
    root(0.0, 1.0, |share| chance - beta_reg(events, (of - events).max(0.0) + 1.0, share))
}

/// The probability of at most `events` hits in `of` trials; numbers need not be whole.
pub fn binomial_up_to(events: f64, of: f64, probability: f64) -> f64 {
    let variance = of * probability * (1.0 - probability);
    match () {
        () if events < 0.0 => 0.0,
        () if events >= of => 1.0,
        () if variance > NORMAL_FROM => {
            let deviation = variance.sqrt();
            let z = (events + 0.5 - of * probability) / deviation;
            let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
            // Edgeworth: the skewness of the binomial distribution.
            let skewness = (1.0 - 2.0 * probability) / deviation;
            (normal(z) - density * skewness * (z * z - 1.0) / 6.0).clamp(0.0, 1.0)
        }
        () if of > LARGE => {
            let rate = (2.0 * of - events) * probability / (2.0 - probability);
            gamma_ur(events + 1.0, rate.max(f64::MIN_POSITIVE))
        }
        () => beta_reg(of - events, events + 1.0, 1.0 - probability),
    }
}

/// The probability of `events` or more at this rate.
pub fn count_from(events: f64, rate: f64) -> f64 {
    match events > 0.0 && rate > 0.0 {
        true => 1.0 - gamma_ur(events, rate),
        false => f64::from(u8::from(events <= 0.0)),
    }
}

/// Normal distribution function, in standard deviations.
pub fn normal(deviations: f64) -> f64 {
    erfc(-deviations / std::f64::consts::SQRT_2) / 2.0
}

/// The value that the normal distribution exceeds with this chance, below a half.
pub fn normal_above(chance: f64) -> f64 {
    root(0.0, 40.0, |deviations| normal(-deviations) - chance)
}

/// Quantile of the normal distribution.
pub fn normal_quantile(share: f64) -> f64 {
    if share > 0.5 { normal_above(1.0 - share) } else { -normal_above(share) }
}

/// Two-sided tail probability of Student's distribution.
pub fn student_beyond(freedom: f64, distance: f64) -> f64 {
    beta_reg(freedom / 2.0, 0.5, freedom / (freedom + distance * distance))
}

/// The chance that the ratio of two mean squares with these degrees of freedom is this large or
/// larger if what they measure does not differ (Fisher).
pub fn fisher_beyond(above: f64, below: f64, ratio: f64) -> f64 {
    match ratio.is_finite() {
        true => beta_reg(below / 2.0, above / 2.0, below / (below + above * ratio)),
        false => 0.0,
    }
}

/// The value that Student's distribution exceeds with this chance, below a half.
pub fn student_above(freedom: f64, chance: f64) -> f64 {
    root(0.0, 1e6, |t| student_beyond(freedom, t) / 2.0 - chance)
}

/// Zero of a falling function, by halving; `high` if it has none.
pub fn root(low: f64, high: f64, falling: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..2_000 {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        match falling(middle) > 0.0 {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Upper limits of Clopper and Pearson: events, number of trials, confidence,
    /// scipy.stats.beta.ppf.
    const SHARES: [(f64, f64, f64, f64); 7] = [
        (0.0, 1e8, 0.95, 2.995_732_228_681_931e-8),
        (0.0, 1e8, 0.99, 4.605_170_079_950_13e-8),
        (1.0, 1e8, 0.95, 4.743_864_424_711_480_6e-8),
        (3.0, 1e6, 0.95, 7.753_638_098_840_06e-6),
        (10.0, 1e6, 0.95, 1.696_216_018_828_160_3e-5),
        (0.0, 300.0, 0.95, 0.009_936_081_944_457_708),
        (133.0, 2e5, 0.95, 7.679_199_616_641_738e-4),
    ];
    /// Upper limits of Garwood: events, confidence, scipy.stats.chi2.ppf.
    const COUNTS: [(f64, f64, f64); 5] = [
        (0.0, 0.95, 2.995_732_273_553_989_5),
        (0.0, 0.99, 4.605_170_185_988_09),
        (1.0, 0.95, 4.743_864_518_390_577),
        (3.0, 0.95, 7.753_656_527_932_725),
        (10.0, 0.95, 16.962_219_235_721_903),
    ];

    fn error(got: f64, expected: f64) -> f64 {
        (got / expected - 1.0).abs()
    }

    #[test]
    fn limits_are_those_of_scipy() {
        for (events, of, confidence, expected) in SHARES {
            let got = share_above(events, of, 1.0 - confidence);
            // For 1 in 1e8 scipy's own value is off by 1.03e-9, as the series in 1/n shows.
            assert!(error(got, expected) < 1.1e-9, "{events} of {of}: {got}");
        }
        for (events, confidence, expected) in COUNTS {
            let got = count_above(events, 1.0 - confidence);
            assert!(error(got, expected) < 1e-9, "{events}: {got}");
        }
        assert_eq!((share_above(5.0, 5.0, 0.05), share_above(0.0, 0.0, 0.05)), (1.0, 1.0));
        let t = student_above(4.0, 0.05);
        assert!(error(t, 2.131_846_786_326_649) < 1e-9, "{t}");
    }

    /// Bursts of two sides in the same time: base, candidate, scipy.stats.binom.sf.
    #[test]
    fn rates_are_compared_as_the_oracle_does() {
        for (base, candidate, expected) in
            [(0, 5, 0.03125), (1, 7, 0.035_156_25), (10, 22, 0.025_051_23), (3, 10, 0.046_142_58)]
        {
            let got = chance_of_at_least(candidate, base + candidate, 0.5);
            assert!((got - expected).abs() < 5e-9, "{base}, {candidate}: {got}");
        }
        assert_eq!(chance_of_at_least(0, 9, 0.5), 1.0);
        // Bursts of five real runs of one machine: chi2 = 18.79.
        let runs = [12, 27, 9, 24, 32].map(|count| (count, 8.0));
        assert!((chance_of_dispersion(&runs) - 0.000_86).abs() < 1e-5);
        assert_eq!(chance_of_dispersion(&[(0, 1.0), (0, 1.0)]), 1.0);
    }
}
