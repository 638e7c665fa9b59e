//! Statistics computed from a run: intervals of quantiles, growth, a model of the largest
//! latencies, periods.

use crate::compare::probability;
use crate::document::Section;
use crate::document::table::{Column, Table};
use crate::terms;
use crate::units::{Scale, counted, grouped, percent, short, span, trimmed};
use latlab_model::statistics::{
    CorrectedQuantiles, Growth, IntervalRefusal, PeriodicLatencies, QuantileInterval,
    RunStatistics, TailModel, TailRefusal, TailRemark, ThreadStatistics,
};
use latlab_model::{Nanos, Run};

/// Known periods of disturbances in milliseconds.
const KNOWN: [(f64, &str); 8] = [
    (1.0, "timer tick of 1000 Hz"),
    (4.0, "timer tick of 250 Hz"),
    (10.0, "timer tick of 100 Hz"),
    (16.7, "display of 60 Hz"),
    (1_000.0, "real-time throttling, or the kernel's counters (vmstat)"),
    (2_000.0, "a reader of the machine's state"),
    (4_000.0, "the kernel's watchdog"),
    (5_000.0, "writeback of files"),
];

/// `None` if nothing was computed.
pub fn section(run: &Run) -> Option<Section> {
    let of = run.statistics.as_ref()?;
    if of.quantiles.is_empty() && of.threads.is_empty() {
        return None;
    }
    let caption = format!(
        "Of all threads. {} that depend on each other count as clusters: the last column says how many say as \
         much as one. Order statistics, from bin edge to bin edge.",
        terms::of_run(run).titles
    );
    let section = Section::new("statistics", "What the data can carry")
        .sum(summary(of).map(|words| in_terms(run, &words)));
    let section = match of.quantiles.is_empty() {
        true => section,
        false => section.table(
            Table::new(caption, columns(run, &of.quantiles))
                .titled("Quantiles with their intervals of 95 % confidence:"),
        ),
    };
    Some(section.texts(sentences(run, of)))
}

/// A summary in a few words.
fn summary(of: &RunStatistics) -> Option<String> {
    let count =
        |is: &dyn Fn(&ThreadStatistics) -> bool| of.threads.iter().filter(|one| is(one)).count();
    let growing = count(&|one| one.growth.is_some_and(|growth| growth.grows));
    let periodic = count(&|one| one.periodic.is_some());
    match (growing, periodic) {
        (0, 0) => None,
        (0, _) => Some("large latencies come with a period".to_string()),
        _ => Some("the maximum still grows".to_string()),
    }
}

/// Replaces "latency" by the term of the run's instrument.
fn in_terms(run: &Run, words: &str) -> String {
    let terms = terms::of_run(run);
    words.replace("latencies", terms.many).replace("latency", terms.one)
}

fn columns(run: &Run, quantiles: &[QuantileInterval]) -> Vec<Column> {
    let each = |cell: &dyn Fn(&QuantileInterval) -> String| -> Vec<String> {
        quantiles.iter().map(cell).collect()
    };
    let ends = quantiles.iter().flat_map(|one| [one.low_ns, one.high_ns]).flatten();
    let scale = Scale::for_times(ends);
    let low = |one: &QuantileInterval| match one.low_ns {
        Some(low) => scale.number(low),
        None => "-".to_string(),
    };
    let high = |one: &QuantileInterval| match (one.high_ns, one.refusal) {
        (Some(high), _) => scale.number(high),
        (None, Some(IntervalRefusal::SlowVariation { .. })) => "varies slowly".to_string(),
        (None, None) => format!("needs {}", grouped(one.latencies_needed)),
    };
    let per_event = |one: &QuantileInterval| match one.per_event {
        Some(each) => trimmed(format!("{each:.1}")),
        None => "unknown".to_string(),
    };
    vec![
        Column::new("quantile", 0, each(&|one| quantile_name(one.parts_per_million))).left(),
        Column::new("from", 0, each(&low)).unit(scale.unit()),
        Column::new("to", 0, each(&high)).unit(scale.unit()),
        Column::new(terms::of_run(run).many, 1, each(&|one| grouped(one.latencies))),
        Column::new("cluster size", 1, each(&per_event)),
    ]
}

/// `p99.9`.
pub fn quantile_name(parts_per_million: u32) -> String {
    format!("p{}", trimmed(format!("{:.4}", f64::from(parts_per_million) / 1e4)))
}

/// An interval on one line: `58 us to 66 us`.
pub fn interval(of: &QuantileInterval) -> String {
    match (of.low_ns, of.high_ns) {
        (Some(low), Some(high)) => format!("{} to {}", short(low.0 as f64), short(high.0 as f64)),
        (Some(low), None) => format!("from {}", short(low.0 as f64)),
        (None, _) => "varies slowly".to_string(),
    }
}

/// Quantiles without an interval, and how long a run would have to be for one.
fn slow(run: &Run, quantiles: &[QuantileInterval]) -> Option<String> {
    let slow: Vec<(&QuantileInterval, f64)> = quantiles
        .iter()
        .filter_map(|one| match one.refusal? {
            IntervalRefusal::SlowVariation { times } => Some((one, times)),
        })
        .collect();
    let longest = slow.iter().map(|(_, times)| *times).reduce(f64::max)?;
    let names: Vec<String> =
        slow.iter().map(|(one, _)| quantile_name(one.parts_per_million)).collect();
    let needed = match run.measured_ns > Nanos::ZERO {
        true => format!("about {}", span(Nanos((run.measured_ns.0 as f64 * longest) as i64))),
        false => format!("{:.0} times as long", longest.ceil()),
    };
    Some(format!(
        "No interval of {}: the latencies vary too slowly for a run of this length, which shows few of \
         their ups and downs, or one drift. Measure {needed}.",
        names.join(", ")
    ))
}

/// What the intervals assume for a file that does not keep the order of latencies.
fn unordered(quantiles: &[QuantileInterval]) -> Option<String> {
    quantiles.iter().any(|one| one.per_event.is_none()).then(|| {
        "In which order the latencies came is not known. The intervals hold if each is independent of \
         the others."
            .to_string()
    })
}

/// All sentences; threads with the same one are merged.
fn sentences(run: &Run, of: &RunStatistics) -> Vec<String> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for thread in &of.threads {
        let words = [
            thread.growth.as_ref().map(growth),
            Some(tail(&thread.tail)),
            thread.periodic.as_ref().map(periodic),
        ];
        let words = words.into_iter().flatten().collect::<Vec<_>>().join(" ");
        match all.iter_mut().find(|(same, _)| *same == words) {
            Some((_, names)) => names.push(thread.thread.to_string()),
            None => all.push((words, vec![thread.thread.to_string()])),
        }
    }
    let each = all.into_iter().map(|(words, threads)| match &threads[..] {
        [one] => format!("Thread {one}: {words}"),
        several => format!("Threads {}: {words}", several.join(", ")),
    });
    let corrected = of.corrected.as_ref().map(|of| corrected(run, of));
    let of_intervals = slow(run, &of.quantiles).into_iter().chain(unordered(&of.quantiles));
    let all = of_intervals.chain(corrected).chain(each).chain(one_boot(run, of));
    all.map(|words| in_terms(run, &words)).collect()
}

/// What a single run cannot show.
fn one_boot(run: &Run, of: &RunStatistics) -> Option<String> {
    let is_own = !run.asked.method.is_import() && !run.asked.on.target.has_virtual_time();
    (is_own && !of.threads.is_empty()).then(|| {
        "All of this is one run from one boot: another boot may differ by more than these intervals. \
         Repeat the run after a reboot, and compare."
            .to_string()
    })
}

/// The quantiles with and without the releases that were swallowed by stalls.
fn corrected(run: &Run, of: &CorrectedQuantiles) -> String {
    let raw = run.total.quantiles.as_ref();
    let pairs = [
        ("p99", raw.and_then(|raw| raw.p99_ns), of.quantiles.p99_ns),
        ("p99.9", raw.and_then(|raw| raw.p99_9_ns), of.quantiles.p99_9_ns),
        ("p99.99", raw.and_then(|raw| raw.p99_99_ns), of.quantiles.p99_99_ns),
    ];
    let pair = |(name, raw, corrected): (&str, Option<Nanos>, Option<Nanos>)| {
        let (raw, corrected) = (short(raw?.0 as f64), short(corrected?.0 as f64));
        Some(format!("{name} {corrected} instead of {raw}"))
    };
    let pairs: Vec<String> = pairs.into_iter().filter_map(pair).collect();
    let at_least = if of.at_least { " at least" } else { "" };
    format!(
        "Late cycles swallowed {}{at_least}, of which no latency was recorded. With them: {}.",
        counted(of.added, "release", "releases"),
        pairs.join(", ")
    )
}

fn growth(of: &Growth) -> String {
    let p = chance(of.p);
    if of.grows {
        return format!(
            "the largest latencies still GROW ({p}): later stretches are worse. No bound of this run \
             holds for later; look for a leak, heat, fragmentation."
        );
    }
    let at = of
        .max_at_share
        .map(|share| format!("observed maximum at {} of the run; ", percent_of_run(share)));
    let typical = of.typical_ns.map(|by| format!(", typically by {}", short(by.0 as f64)));
    format!(
        "{}no sign of growth ({p}). Another run of this length exceeds it with a probability of 50 %{}.",
        at.unwrap_or_default(),
        typical.unwrap_or_default()
    )
}

fn percent_of_run(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn tail(of: &TailModel) -> String {
    let Some(estimate) = of.estimate else { return refused(of) };
    let remarks = of.remarks.iter().map(remark).collect::<String>();
    format!(
        "Extrapolation, not a bound: about one latency above {} (95 %: {} to {}) every {}, unless \
         something new happens.{remarks}",
        short(estimate.value_ns.0 as f64),
        short(estimate.low_ns.0 as f64),
        short(estimate.high_ns.0 as f64),
        span(estimate.once_per_ns),
    )
}

fn remark(of: &TailRemark) -> String {
    match of {
        TailRemark::FewBursts { has } => {
            format!(" It rests on {} only.", counted(*has, "burst", "bursts"))
        }
        TailRemark::Coarse { cells } => format!(" It is coarse: {cells} cells."),
        TailRemark::MayBeHeavy { .. } => " The tail may have no end.".to_string(),
    }
}

/// Why there is no estimate, and what would allow one.
fn refused(of: &TailModel) -> String {
    let reasons: Vec<&str> = of.refusals.iter().map(reason).collect();
    let figures: Vec<String> = of.refusals.iter().filter_map(figures).collect();
    let figures = match figures.is_empty() {
        true => String::new(),
        false => format!(" ({})", figures.join("; ")),
    };
    let remedy = of.refusals.first().map(remedy).unwrap_or_default();
    format!("No extrapolation: {}{figures}. {remedy}", reasons.join("; "))
}

fn reason(of: &TailRefusal) -> &'static str {
    match of {
        TailRefusal::NoTimes {} => "the times of the largest latencies are not known",
        TailRefusal::Clipped { .. } => "some of the largest latencies were lost",
        TailRefusal::TooFewBursts { .. } => "too few independent large latencies",
        TailRefusal::TooCoarse { .. } => "the resolution is too coarse for this tail",
        TailRefusal::NotOneMechanism { .. } => "the tail is not one mechanism",
        TailRefusal::ShapeChanges { .. } => {
            "the tail changes its shape with its level, as a mixture does"
        }
        TailRefusal::OtherMechanism { .. } => "the largest values belong to another mechanism",
        TailRefusal::HeavyTail { .. } => "no finite worst value is in sight",
        TailRefusal::Growing { .. } => "the maximum still grows",
        TailRefusal::HalvesDiffer { .. } => "the first half of the run does not predict the second",
    }
}

fn figures(of: &TailRefusal) -> Option<String> {
    Some(match of {
        TailRefusal::NoTimes {} => return None,
        TailRefusal::Clipped { lost } => grouped(*lost),
        TailRefusal::TooFewBursts { has, needs } => {
            format!("{} of {} bursts", grouped(*has), grouped(*needs))
        }
        TailRefusal::TooCoarse { cells, width_ns } => format!("{cells} cells of {width_ns}"),
        TailRefusal::NotOneMechanism { p } | TailRefusal::Growing { p } => chance(*p),
        TailRefusal::ShapeChanges { deviance } => format!("deviance {deviance:.1}"),
        TailRefusal::OtherMechanism { largest, p } => {
            format!("{largest} largest, {}", chance(*p))
        }
        TailRefusal::HeavyTail { low, high } => match high {
            Some(high) => format!("shape {low:.2} to {high:.2}"),
            None => format!("shape from {low:.2}"),
        },
        TailRefusal::HalvesDiffer { level_ns, expected, seen } => {
            format!("{seen} above {}, {expected:.0} expected", short(level_ns.0 as f64))
        }
    })
}

fn remedy(of: &TailRefusal) -> &'static str {
    match of {
        TailRefusal::NoTimes {} => "Measure with latlab run.",
        TailRefusal::Clipped { .. } => "Measure again; see the findings.",
        TailRefusal::TooFewBursts { .. } => "Measure longer.",
        TailRefusal::TooCoarse { .. } => "Record nanoseconds.",
        TailRefusal::NotOneMechanism { .. }
        | TailRefusal::ShapeChanges { .. }
        | TailRefusal::OtherMechanism { .. } => {
            "Look at the largest latencies above, and trace them (--breakdown)."
        }
        TailRefusal::HeavyTail { .. } => {
            "Find what the largest latencies have in common; a longer run alone does not bound them."
        }
        TailRefusal::Growing { .. } | TailRefusal::HalvesDiffer { .. } => {
            "Measure longer, until it is steady."
        }
    }
}

fn periodic(of: &PeriodicLatencies) -> String {
    let (low, high) = of.share_interval;
    let known = hint(of.period_ns).map(|known| format!(": {known}")).unwrap_or_default();
    let locked = of.locked_to_ns.zip(of.better_period_ns).map(|(locked, better)| {
        format!(
            " Releases every {locked} meet it always or never: repeat the run with a period of {better}."
        )
    });
    format!(
        "{} (95 %: {} to {}) of the {} large latencies above {} come every {} ({}){known}.{}",
        percent(of.share),
        percent(low),
        percent(high),
        grouped(of.events),
        short(of.from_ns.0 as f64),
        period(of.period_ns),
        chance(of.p),
        locked.unwrap_or_default()
    )
}

/// `p=0.4`, or `p<0.0001`.
fn chance(p: f64) -> String {
    let number = probability(p);
    if number.starts_with('<') { format!("p{number}") } else { format!("p={number}") }
}

/// Four digits, the precision of a period.
fn period(of: Nanos) -> String {
    crate::units::four_digits(of)
}

/// The usual source of a disturbance with this period.
fn hint(period: Nanos) -> Option<&'static str> {
    let ms = period.0 as f64 / 1e6;
    KNOWN.iter().find(|(known, _)| (ms / known - 1.0).abs() < 0.003).map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::statistics::TailEstimate;

    fn model(refusals: &[TailRefusal]) -> TailModel {
        TailModel { refusals: refusals.to_vec(), ..TailModel::default() }
    }

    #[test]
    fn each_refusal_says_why_and_what_would_decide() {
        let refusals = [
            (
                TailRefusal::TooFewBursts { has: 40, needs: 250 },
                "No extrapolation: too few independent large latencies (40 of 250 bursts). Measure longer.",
            ),
            (
                TailRefusal::TooCoarse { cells: 4, width_ns: Nanos(1_000) },
                "No extrapolation: the resolution is too coarse for this tail (4 cells of 1 us). Record \
                 nanoseconds.",
            ),
            (
                TailRefusal::OtherMechanism { largest: 20, p: 0.006 },
                "No extrapolation: the largest values belong to another mechanism (20 largest, p=0.006). \
                 Look at the largest latencies above, and trace them (--breakdown).",
            ),
            (
                TailRefusal::HeavyTail { low: 0.75, high: Some(1.08) },
                "No extrapolation: no finite worst value is in sight (shape 0.75 to 1.08). Find what the \
                 largest latencies have in common; a longer run alone does not bound them.",
            ),
            (
                TailRefusal::Growing { p: 0.002 },
                "No extrapolation: the maximum still grows (p=0.002). Measure longer, until it is steady.",
            ),
        ];
        for (refusal, expected) in refusals {
            assert_eq!(tail(&model(&[refusal])), expected);
        }
        let both = [
            TailRefusal::NotOneMechanism { p: 0.01 },
            TailRefusal::ShapeChanges { deviance: 53.1 },
        ];
        assert_eq!(
            tail(&model(&both)),
            "No extrapolation: the tail is not one mechanism; the tail changes its shape with its level, \
             as a mixture does (p=0.01; deviance 53.1). Look at the largest latencies above, and trace \
             them (--breakdown)."
        );
    }

    #[test]
    fn an_estimate_is_no_proof() {
        let estimate = TailEstimate {
            once_per_ns: Nanos(125_000_000_000_000),
            value_ns: Nanos(97_000),
            low_ns: Nanos(90_000),
            high_ns: Nanos(112_000),
        };
        let remarks = vec![TailRemark::FewBursts { has: 400 }];
        let model = TailModel { estimate: Some(estimate), remarks, ..TailModel::default() };
        assert_eq!(
            tail(&model),
            "Extrapolation, not a bound: about one latency above 97 us (95 %: 90 us to 112 us) every 34.7 h, \
             unless something new happens. It rests on 400 bursts only."
        );
    }

    #[test]
    fn growth_and_periods_are_said_plainly() {
        let steady = Growth {
            p: 0.4,
            grows: false,
            trend: 0.02,
            stretches: 100,
            max_at_share: Some(0.71),
            typical_ns: Some(Nanos(2_000)),
        };
        assert_eq!(
            growth(&steady),
            "observed maximum at 71 % of the run; no sign of growth (p=0.40). Another run of this length \
             exceeds it with a probability of 50 %, typically by 2 us."
        );
        let growing = growth(&Growth { p: 0.002, grows: true, ..steady });
        assert!(growing.contains("GROW (p=0.002)") && !growing.contains("50 %"), "{growing}");
        let tick = PeriodicLatencies {
            period_ns: Nanos(4_000_005),
            events: 50,
            from_ns: Nanos(60_000),
            share: 0.38,
            share_interval: (0.25, 0.52),
            concentration: 0.4,
            phase: 0.3,
            p: 1e-9,
            locked_to_ns: Some(Nanos(200_000)),
            better_period_ns: Some(Nanos(199_000)),
        };
        assert_eq!(
            periodic(&tick),
            "38 % (95 %: 25 % to 52 %) of the 50 large latencies above 60 us come every 4 ms (p<0.0001): \
             timer tick of 250 Hz. Releases every 200 us meet it always or never: repeat the run with a \
             period of 199 us."
        );
    }
}
