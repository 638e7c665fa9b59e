//! The sentences of a comparison.

use crate::InWords;
use crate::units::{counted, grouped, percent, percent_of, short, span, trimmed, within_sentence};
use crate::verdict::{and_others, per_hour, rate};
use latlab_model::run::{BurstLimit, IncompleteRun};
use latlab_stats::comparison::{
    BurstComparison, BurstRate, ComparisonRemark, ComparisonWord, Metric, MetricComparison,
    MetricDrift, MissComparison, RatioInterval, RunComparison, ScenarioComparison,
    UnsupportedMetric,
};

/// Runs requested for each side: four may show that nothing got worse, but hardly that something
/// did.
pub(super) const FEWEST_RUNS: usize = 5;
/// More runs than this are never requested.
const MOST_RUNS: &str = "more than 30";
/// The metrics in the order in which one represents a scenario.
const HEADLINE_METRICS: [Metric; 5] =
    [Metric::P99_9, Metric::P99_99, Metric::MedianMaximum, Metric::P99, Metric::P50];
/// The way to decide on a machine that drifts.
const IN_TURNS: &str = "measure base, candidate, candidate, base, and so on";
const TURNS: &str =
    "Let the sides take turns: base, candidate, candidate, base (in a campaign, order = \"abba\").";
/// A ratio below this is stated as a factor of improvement.
const MUCH_BETTER: f64 = 0.8;

/// The word as the title of a sentence.
pub fn title(word: ComparisonWord) -> &'static str {
    match word {
        ComparisonWord::NoRegression => "NO REGRESSION",
        ComparisonWord::Changed => "CHANGED",
        ComparisonWord::Inconclusive => "INCONCLUSIVE",
        ComparisonWord::Refused => "CANNOT TELL",
        ComparisonWord::Regressed => "REGRESSED",
    }
}

pub fn headline(of: &RunComparison) -> String {
    match &of.scenarios[..] {
        [] if of.word == ComparisonWord::Inconclusive => {
            format!("{}: latencies may be missing in all runs of a side.", title(of.word))
        }
        [] => "CANNOT TELL: the two sides have no scenario in common.".to_string(),
        [one] => scenario(one),
        several => {
            let with: Vec<&str> = several
                .iter()
                .filter(|one| one.word == of.word)
                .filter_map(|one| one.name.as_deref())
                .collect();
            let named =
                if with.len() <= 4 { format!(": {}", with.join("; ")) } else { String::new() };
            format!("{} in {} of {} scenarios{named}.", title(of.word), with.len(), several.len())
        }
    }
}

/// The result of a scenario with the names of its sides: "rt is better at p99.9 by a factor of 4.1
/// (95 %: 3.2 to 5.6), 5 repeats a side". `one` is the unit of a side, such as a repeat.
pub fn scenario_sentence(
    of: &ScenarioComparison,
    base: &str,
    candidate: &str,
    one: &str,
) -> String {
    let cannot = format!("Cannot tell {candidate} from {base}");
    if of.word == ComparisonWord::Refused {
        let why = of.remarks.iter().find_map(|remark| refusal(remark, one));
        let why = why.unwrap_or_else(|| "the runs have no metric in common".to_string());
        return format!("{cannot}: {why}.");
    }
    let Some(metric) = headline_metric(of, |one| one.word == of.word) else {
        return match &of.misses {
            Some(misses) => format!("{candidate} beside {base}: {}", missed(misses)),
            None => format!("{cannot}."),
        };
    };
    let repeats = runs(metric, one);
    let same = metric.interval.map(|interval| format!("(95 %: {})", range(interval)));
    let same = same.unwrap_or_default();
    let name = metric.metric;
    match (metric.word, metric.interval) {
        (ComparisonWord::NoRegression, Some(interval)) if interval.high < MUCH_BETTER => {
            let factor = improvement(metric.ratio, interval);
            format!("{candidate} is better at {name} by a factor of {factor}, {repeats}.")
        }
        (ComparisonWord::NoRegression, _) => format!(
            "{candidate} is not worse than {base}: {name} x{} {same}, {repeats}.",
            ratio(metric.ratio)
        ),
        (ComparisonWord::Regressed, _) => format!(
            "{candidate} is worse at {name} by a factor of {} {same}, {repeats}.",
            ratio(metric.ratio)
        ),
        _ => {
            let more = match seen_drift(of) {
                Some(_) => format!("the machine drifts; {IN_TURNS}"),
                None => more(metric, one),
            };
            format!("{cannot}: {name} x{} {same}, {repeats}; {more}.", ratio(metric.ratio))
        }
    }
}

pub fn scenario(of: &ScenarioComparison) -> String {
    match of.is_identical() {
        true => format!("Identical: the same bits. {}", result(of)),
        false => result(of),
    }
}

fn result(of: &ScenarioComparison) -> String {
    let title = title(of.word);
    if of.word == ComparisonWord::Refused {
        let why = of.remarks.iter().find_map(|one| refusal(one, "run"));
        let is_one_kind =
            !of.remarks.iter().any(|one| matches!(one, ComparisonRemark::OtherKind { .. }));
        let figure = headline_metric(of, |_| is_one_kind).map(|one| format!(" {}.", figure(one)));
        let why = why.unwrap_or_else(|| "the runs have no metric in common".to_string());
        return format!("{title}: {why}.{}", figure.unwrap_or_default());
    }
    let of_word = headline_metric(of, |one| one.word == of.word);
    let open = of.unsupported.iter().find(|one| one.above_ns.is_some());
    match (of_word, &of.misses) {
        (None, _) if open.is_some() => {
            format!("{title}: {}.", open.map(unsupported).unwrap_or_default())
        }
        (Some(one), _) => match seen_drift(of).filter(|_| one.word == ComparisonWord::Inconclusive)
        {
            Some(drift) => format!(
                "{title}: {}: the sides did not take turns, and the machine drifts ({}); {IN_TURNS}.",
                figure(one),
                drifts(drift)
            ),
            None => format!("{title}: {}.", metric_sentence(one)),
        },
        (None, Some(misses)) => format!("{title}: {}", missed(misses)),
        (None, None) => format!("{title}."),
    }
}

/// Why a metric of a run is not compared.
pub fn unsupported(of: &UnsupportedMetric) -> String {
    match of.above_ns {
        Some(end) => format!("{} of {} lies above {end}, where its bins end", of.metric, of.run),
        None => {
            let (one, many) = match of.metric {
                Metric::MedianMaximum => ("stretch", "stretches"),
                _ => ("latency", "latencies"),
            };
            let has = counted(of.has, one, many);
            format!("{} has {has}; {} needs {}", of.run, of.metric, grouped(of.needs))
        }
    }
}

/// Runs that are left out because latencies may be missing in them.
pub fn incomplete(of: &[IncompleteRun]) -> Vec<String> {
    let line = |one: &IncompleteRun| {
        let why = and_others(&within_sentence(&one.finding.text()), one.others);
        format!("Left out because latencies may be missing: {} ({why}).", one.run)
    };
    of.iter().map(line).collect()
}

/// The number of runs on each side of a metric; `one` is the unit of a side, such as a repeat.
fn runs(of: &MetricComparison, one: &str) -> String {
    match (of.base_ns.len(), of.candidate_ns.len()) {
        (base, candidate) if base == candidate => {
            format!("{} a side", counted(base as u64, one, &format!("{one}s")))
        }
        (base, candidate) => format!("{base} and {candidate} {one}s"),
    }
}

fn headline_metric(
    of: &ScenarioComparison,
    fits: impl Fn(&MetricComparison) -> bool,
) -> Option<&MetricComparison> {
    let named = |metric: &Metric| of.metrics.iter().find(|one| one.metric == *metric && fits(one));
    HEADLINE_METRICS.iter().find_map(named)
}

/// The ratio with its interval: `p99.9 x1.10 (95 %: 1.04 to 1.16), 5 runs a side`.
fn figure(of: &MetricComparison) -> String {
    format!("{} {}, {}", of.metric, factor(of.ratio, of.interval), runs(of, "run"))
}

/// A ratio with its interval, if there is one: `x1.10 (95 %: 1.04 to 1.16)`.
pub fn factor(of: f64, interval: Option<RatioInterval>) -> String {
    let interval = interval.map(|interval| format!(" (95 %: {})", range(interval)));
    format!("x{}{}", ratio(of), interval.unwrap_or_default())
}

/// A ratio below one as a factor of improvement: `4.1 (95 %: 3.2 to 5.6)`.
fn improvement(of: f64, RatioInterval { low, high, .. }: RatioInterval) -> String {
    format!("{} (95 %: {} to {})", ratio(1.0 / of), ratio(1.0 / high), ratio(1.0 / low))
}

/// A factor with three digits.
pub fn ratio(value: f64) -> String {
    match value {
        small if small < 0.1 => format!("{small:.4}"),
        large if large >= 100.0 => format!("{large:.0}"),
        large if large >= 10.0 => format!("{large:.1}"),
        usual => format!("{usual:.2}"),
    }
}

pub fn range(RatioInterval { low, high, .. }: RatioInterval) -> String {
    format!("{} to {}", ratio(low), ratio(high))
}

fn metric_sentence(of: &MetricComparison) -> String {
    let margin = percent(of.margin);
    match of.word {
        ComparisonWord::Regressed => {
            format!("{}; the limit is x{}", figure(of), ratio(1.0 + of.margin))
        }
        ComparisonWord::NoRegression => match of.interval {
            Some(interval) if interval.high < MUCH_BETTER => format!(
                "{} is better by a factor of {}, {}",
                of.metric,
                improvement(of.ratio, interval),
                runs(of, "run")
            ),
            Some(RatioInterval { low, .. }) if low > 1.0 => {
                format!("{}; slower, but not by {margin}", figure(of))
            }
            _ => format!("{}; a slowdown of {margin} is excluded", figure(of)),
        },
        ComparisonWord::Changed => {
            format!("{} may exceed the limit of {margin}: {}", figure(of), more(of, "run"))
        }
        ComparisonWord::Inconclusive => format!("{}: {}", figure(of), more(of, "run")),
        ComparisonWord::Refused => figure(of),
    }
}

/// How many more runs would decide.
fn each_needs(more: u64, one: &str) -> String {
    let more = counted(more, &format!("more {one}"), &format!("more {one}s"));
    format!("each side needs at least {more}")
}

/// What would decide.
fn more(of: &MetricComparison, one: &str) -> String {
    let most = || format!("{MOST_RUNS} {one}s a side");
    match (of.more_runs, of.variation) {
        (Some(more), _) => each_needs(more.into(), one),
        (None, _) if of.word == ComparisonWord::Changed => {
            format!("so near the limit that {} are needed to decide", most())
        }
        (None, Some(variation)) => format!(
            "this machine varies {} from {one} to {one}; {} needs {}",
            about(variation),
            percent(of.margin),
            most()
        ),
        (None, None) => format!("more {one}s are needed"),
    }
}

/// A share with two or three digits.
pub fn about(share: f64) -> String {
    format!("{} %", trimmed(format!("{:.*}", if share < 0.1 { 1 } else { 0 }, share * 100.0)))
}

/// The smallest changes that this machine can show, a sentence for each metric shown.
pub fn power(of: &ScenarioComparison) -> Option<String> {
    let one = headline_metric(of, |one| one.variation.is_some())?;
    let (margin, varies) = (percent(one.margin), about(one.variation?));
    let needed = match one.runs_needed {
        Some(runs) => format!("{runs} runs a side"),
        None => format!("{MOST_RUNS} runs a side"),
    };
    Some(format!(
        "To see a change of {margin} in {} on this machine you need {needed}: it varies {varies} from \
         run to run.",
        one.metric
    ))
}

pub fn missed(of: &MissComparison) -> String {
    let side = |misses: u64, due: u64| {
        let share = percent_of(misses, due).filter(|_| misses > 0);
        let share = share.map(|share| format!(" ({share})")).unwrap_or_default();
        format!("{} of {}{share}", grouped(misses), grouped(due))
    };
    let exceeds = of.bursts.and_then(|bursts| bursts.limit).is_some_and(|limit| is_above(&limit));
    let told = match of.word {
        Some(ComparisonWord::Regressed) if !exceeds => {
            format!("; the candidate misses more (p={})", probability(of.p))
        }
        _ if of.base + of.candidate == 0 => String::new(),
        _ => format!("; the runs do not show that it misses more (p={})", probability(of.p)),
    };
    let misses = format!(
        "The {} deadline was missed by {} releases of the base and {} of the candidate{told}.",
        of.deadline_ns,
        side(of.base, of.base_releases),
        side(of.candidate, of.candidate_releases),
    );
    match of.bursts {
        Some(bursts) => format!("{misses} {}", rates(&bursts)),
        None => misses,
    }
}

/// Miss bursts of both sides, and the rate tolerated for the candidate.
fn rates(of: &BurstComparison) -> String {
    let side = |rate: &BurstRate| {
        let unknown = (rate.unknown > 0).then_some(" at least");
        format!(
            "{}{} in {}",
            counted(rate.bursts, "burst", "bursts"),
            unknown.unwrap_or_default(),
            span(rate.measured_ns)
        )
    };
    let most = of.limit.map_or(of.candidate.at_most_per_hour, |limit| limit.at_most_per_hour);
    let chance = of.p.filter(|_| of.base.bursts + of.candidate.bursts > 0);
    let chance = chance.map(|p| format!(" (p={} of so many or more)", probability(p)));
    let bound = format!(
        "They came in {} and {}{}; the candidate has at most {} an hour (95 % confidence).",
        side(&of.base),
        side(&of.candidate),
        chance.unwrap_or_default(),
        per_hour(most)
    );
    match of.limit {
        Some(limit) => format!("{bound} {}", tolerated(&limit)),
        None => bound,
    }
}

fn is_above(limit: &BurstLimit) -> bool {
    limit.at_least_per_hour > limit.per_hour
}

/// What the candidate's runs prove about a tolerated rate.
fn tolerated(limit: &BurstLimit) -> String {
    let rate = rate(limit.per_hour);
    match limit.more_ns {
        _ if is_above(limit) => format!("That is above the limit of {rate} in an hour."),
        None => format!("That keeps the limit of {rate} in an hour."),
        Some(more) => format!(
            "The limit is {rate} in an hour: {} more without a further burst would show that it is kept.",
            span(more)
        ),
    }
}

/// A probability with two digits.
pub fn probability(p: f64) -> String {
    match p {
        tiny if tiny < 1e-4 => "<0.0001".to_string(),
        small if small < 0.1 => trimmed(format!("{small:.4}")),
        large => format!("{large:.2}"),
    }
}

/// The largest latency of each run, shown but not judged.
pub fn maxima(of: &ScenarioComparison) -> String {
    let side = |runs: &[latlab_stats::comparison::ComparedRun]| {
        let each = runs.iter().map(|run| match run.max_ns {
            Some(max) => short(max.0 as f64),
            None => "unknown".to_string(),
        });
        each.collect::<Vec<_>>().join(", ")
    };
    format!(
        "Observed maxima, run by run: base {}; candidate {}. They depend on chance and on the length \
         of a run, and are not judged.",
        side(&of.base),
        side(&of.candidate)
    )
}

/// Why no judgement is possible, as a clause; `one` is the unit of a side, such as a repeat.
fn refusal(remark: &ComparisonRemark, one: &str) -> Option<String> {
    match remark {
        ComparisonRemark::TooFewRuns { base, candidate } => {
            let more = FEWEST_RUNS.saturating_sub(*base.min(candidate)) as u64;
            Some(format!("too few {one}s; {}", each_needs(more, one)))
        }
        ComparisonRemark::OneBootEach => Some("kernel and boot cannot be separated".to_string()),
        ComparisonRemark::OtherKind { base, candidate } if base == candidate => {
            Some(format!("the sides hold {base}, which cannot be compared"))
        }
        ComparisonRemark::OtherKind { base, candidate } => {
            Some(format!("{base} of the base cannot be compared with {candidate} of the candidate"))
        }
        _ => None,
    }
}

/// The drift that leaves every metric of a comparison undecided.
fn seen_drift(of: &ScenarioComparison) -> Option<&MetricDrift> {
    of.remarks.iter().find_map(|one| match one {
        ComparisonRemark::OneAfterTheOther { drift } => drift.as_ref(),
        _ => None,
    })
}

/// How a metric changes from run to run.
fn drifts(of: &MetricDrift) -> String {
    let verb = if of.a_run > 0.0 { "rises" } else { "falls" };
    format!("{} {verb} by {} from run to run", of.metric, about(of.a_run.abs()))
}

/// A limitation of the comparison, in a sentence or two.
pub fn remark(of: &ComparisonRemark) -> String {
    match of {
        ComparisonRemark::TooFewRuns { base, candidate } => format!(
            "{} of the base and {} of the candidate. Two runs of one machine differ, so one run \
             cannot stand for a side: at least {FEWEST_RUNS} runs a side are needed, 8 are usual.",
            counted(*base as u64, "run", "runs"),
            counted(*candidate as u64, "run", "runs"),
        ),
        ComparisonRemark::EarlierRuns { runs } => format!(
            "The sides have few runs. How much runs differ is taken from {} of this machine, and the \
             intervals assume that their logarithms are normally distributed.",
            counted(*runs as u64, "earlier run", "earlier runs")
        ),
        ComparisonRemark::OneBootEach => {
            "All runs of a side are from one boot: the difference may come \
            from the boot and not from what was changed. Reboot between the runs."
                .to_string()
        }
        ComparisonRemark::OneBoot => {
            "All runs are from the same boot; another boot may differ.".to_string()
        }
        ComparisonRemark::BootsUnknown => {
            "The boots of the runs are unknown. If each side is from \
            one boot, the difference may come from the boot."
                .to_string()
        }
        ComparisonRemark::OneAfterTheOther { drift: Some(drift) } => format!(
            "All runs of one side came before those of the other, and the machine drifts: within the \
             sides, {}. A drift looks like a change. {TURNS}",
            drifts(drift)
        ),
        ComparisonRemark::OneAfterTheOther { drift: None } => format!(
            "All runs of one side came before those of the other. No drift is seen within the sides; the \
             intervals allow for a steady one that is too small to be seen, and are about twice as wide. \
             {TURNS}"
        ),
        ComparisonRemark::FewerLatencies { of_candidate, share, is_timed } => {
            let time =
                if *is_timed { "in the same time" } else { "(if both were measured equally long)" };
            format!(
                "The {} recorded {} fewer latencies {time}. A late wake-up skips releases, which are in \
                 no quantile (coordinated omission), so that its figures look better than they are.",
                if *of_candidate { "candidate" } else { "base" },
                percent(*share)
            )
        }
        ComparisonRemark::OtherLength { base_ns, candidate_ns } => format!(
            "The runs of the base are {} long, those of the candidate {}: do not compare their \
             maxima.",
            span(*base_ns),
            span(*candidate_ns)
        ),
        ComparisonRemark::MoreOverruns { base, candidate } => format!(
            "Overruns, which are in no quantile: {} of the base, {} of the candidate.",
            percent(*base),
            percent(*candidate)
        ),
        ComparisonRemark::OtherKind { .. } => {
            "Latencies, gaps of a busy loop and responses of a pin have \
            the same unit but mean different things. Compare runs of one kind."
                .to_string()
        }
        ComparisonRemark::OtherMethod { what } => format!(
            "The sides were not measured in the same way; they differ in: {what}. The figures may differ \
             because of that."
        ),
        ComparisonRemark::Copies { runs } => format!(
            "Left out: {} exactly the latencies of another run of that side. A copy, or a second run of one \
             seed, is no other run.",
            match runs {
                1 => "a run that holds".to_string(),
                several => format!("{} that hold", counted(*several as u64, "run", "runs")),
            }
        ),
        ComparisonRemark::OtherDeadlines => {
            "Not all runs have the same deadline: their misses are not compared.".to_string()
        }
        ComparisonRemark::UnequalRuns { what } => {
            format!("The runs of one side are not alike; they differ in: {what}.")
        }
    }
}
