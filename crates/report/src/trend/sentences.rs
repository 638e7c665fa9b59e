//! The sentences of a series of builds.

use crate::compare::{about, factor, incomplete, probability, title, unsupported};
use crate::units::{counted, percent, short};
use latlab_stats::builds::{Trend, TrendLimit, TrendStep};
use latlab_stats::comparison::ComparisonWord;

/// The answer, in a sentence or two.
pub fn headline(of: &Trend) -> String {
    let (title, metric) = (title(of.word), of.metric);
    let Some(newest) = of.builds.last() else {
        return format!("{title}: no run supports {metric}.");
    };
    let open = of.unsupported.iter().any(|one| one.above_ns.is_some()) || !of.incomplete.is_empty();
    let since = of.steps.last().map_or_else(
        || format!("{metric} shows no step in {}", builds(of)),
        |last| format!("{metric} {} since {}", change(last), last.build),
    );
    match (of.word, &of.limit) {
        (ComparisonWord::Refused, Some(limit)) => format!("{title}: {}.", clause(limit)),
        (ComparisonWord::Inconclusive, _) if open && !of.newest_is_high => {
            format!("{title}: {since}, but {metric} of some runs is not known.")
        }
        (ComparisonWord::Inconclusive, _) if of.newest_is_high => format!(
            "{title}: the newest build, {}, has {metric} {}, above its level by more than {} and by more \
             than chance; measure it again, or the next build.",
            newest.name,
            short(newest.value_ns),
            percent(of.margin)
        ),
        (ComparisonWord::Inconclusive, _) => {
            format!("{title}: {since}, but {}.", seen(of, "only steps"))
        }
        (ComparisonWord::NoRegression, _) => format!("{title}: {since}; {}.", seen(of, "steps")),
        _ => format!("{title}: {since}."),
    }
}

fn builds(of: &Trend) -> String {
    counted(of.builds.len() as u64, "build", "builds")
}

/// The smallest step of the newest builds that is detectable: `only steps above 9 % …`.
fn seen(of: &Trend, steps: &str) -> String {
    match of.smallest_step {
        Some(step) => {
            format!("{steps} above {} of the newest three builds would be seen", about(step))
        }
        None => "the builds are too few to say which step would be seen".to_string(),
    }
}

/// The change of a level from the one before: `x1.20 (95 %: 1.18 to 1.23)`.
pub fn change(of: &TrendStep) -> String {
    factor(of.ratio, of.interval)
}

fn clause(of: &TrendLimit) -> String {
    match of {
        TrendLimit::TooFewBuilds { has, needs } => format!(
            "{} are too few to find a step; {needs} are needed",
            counted(*has as u64, "build", "builds")
        ),
        TrendLimit::OtherKinds => {
            "the runs recorded different things, which cannot be compared".to_string()
        }
        TrendLimit::Drift { .. } => {
            "something else drifts, so steps cannot be attributed to builds".to_string()
        }
    }
}

/// Limitations of the series, in a sentence or two.
pub fn limits(of: &Trend) -> Vec<String> {
    let drift = match of.limit {
        Some(TrendLimit::Drift { correlation }) => Some(format!(
            "Neighbouring builds are alike beyond the steps (correlation {correlation:.2}): \
             temperature, other programs or the order of the runs change with time."
        )),
        _ => None,
    };
    let unequal = of.unequal.as_ref().map(|what| {
        format!(
            "The runs are not alike; they differ in: {what}. A step may come from that and not from \
             its build."
        )
    });
    let alarms = (!of.builds.is_empty() && of.limit.is_none()).then(|| {
        "In a thousand looks at a series without a step, the newest builds raise one false alarm."
            .to_string()
    });
    let one_each = of.builds.iter().all(|build| build.runs.len() == 1);
    let one_each = (one_each && !of.builds.is_empty()).then(|| {
        "Each build has one run: what one run shows may be that run and not its build.".to_string()
    });
    let unsupported = of.unsupported.iter().map(|one| format!("Left out: {}.", unsupported(one)));
    let invalid = (!of.invalid.is_empty())
        .then(|| format!("Left out because they are invalid: {}.", of.invalid.join(", ")));
    drift
        .into_iter()
        .chain(unequal)
        .chain(power(of))
        .chain(alarms)
        .chain(one_each)
        .chain(unsupported)
        .chain(incomplete(&of.incomplete))
        .chain(invalid)
        .collect()
}

/// The smallest step that this series can show.
fn power(of: &Trend) -> Option<String> {
    let needed = match of.builds_needed {
        Some(builds) => format!("{builds} builds before it and {builds} from it on"),
        None => "more than 30 builds before it and 30 from it on".to_string(),
    };
    Some(format!(
        "To see a step of {} in {} you need {needed}: the builds of a level vary {}.",
        percent(of.margin),
        of.metric,
        about(of.variation?)
    ))
}

/// A step in a sentence.
pub fn step(of: &TrendStep) -> String {
    format!("From {} on: {}, p={}.", of.build, change(of), probability(of.p))
}
