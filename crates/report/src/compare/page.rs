//! A comparison as one self-contained page: the answer, the figures of each metric, what changed where,
//! and folded below it what it rests on.

use super::machines;
use super::sentences::{
    headline, missed, power, probability, range, ratio, remark, scenario, title, unsupported,
};
use super::sides::{pooled_side, runs_of};
use super::text::{causes, left_out, middle};
use crate::page::document;
use crate::page::folds::{Fold, folds};
use crate::page::markup::{Outline, count, dash, firm, prose};
use crate::page::pictures::in_widths;
use crate::pictures::options::{Options, PictureLabels};
use crate::pictures::plot::{Kind, plot};
use crate::pictures::shift::{self, ShiftPicture};
use crate::run_with_bins::{RunWithBins, terms};
use crate::sentence;
use crate::terminal::table::markup;
use crate::units::{counted, percent_of, short, span};
use latlab_model::run_comparison::{
    ComparedRun, ComparisonWord, Metric, MetricComparison, RunComparison, ScenarioComparison,
};
use maud::{Markup, html};

/// Height of the picture of the answer.
const SHIFT_HEIGHT: u32 = 220;

/// The whole page; `runs` are those that are compared, in any order.
pub fn page(of: &RunComparison, runs: &[RunWithBins]) -> String {
    let outline = Outline::page();
    let body = html! {
        main.judged {
            (opening(of, &outline))
            @match &of.scenarios[..] {
                [one] => (sections(one, runs, &outline, common_folds(of))),
                several => {
                    (overview(several))
                    (folds(&outline, &common_folds(of)))
                    @for (number, one) in (1..).zip(several) {
                        @let outline = Outline::part(number);
                        section.run id=(outline.prefix()) aria-labelledby=(outline.id("headline")) {
                            header {
                                p.kicker { (one.name.as_deref().unwrap_or("runs")) }
                                (outline.headline(prose(&scenario(one))))
                            }
                            (sections(one, runs, &outline, Vec::new()))
                        }
                    }
                }
            }
        }
        footer { p { "Made by latlab " (latlab_model::VERSION) " from "
            (counted(runs.len() as u64, "run", "runs")) ". Each run gives one number for each metric." } }
    };
    document(&headline(of), &body)
}

/// The class of the page's colours.
pub(crate) fn class(word: ComparisonWord) -> &'static str {
    match word {
        ComparisonWord::NoRegression => "pass",
        ComparisonWord::Regressed => "fail",
        ComparisonWord::Changed | ComparisonWord::Inconclusive => "inconclusive",
        ComparisonWord::Refused => "invalid",
    }
}

fn opening(of: &RunComparison, outline: &Outline) -> Markup {
    let names = |side: fn(&ScenarioComparison) -> &Vec<ComparedRun>| {
        let runs: usize = of.scenarios.iter().map(|one| side(one).len()).sum();
        counted(runs as u64, "run", "runs")
    };
    html! {
        header class={ "answer " (class(of.word)) } {
            p.kicker {
                "Comparison · base: " (names(|one| &one.base)) " · candidate: "
                (names(|one| &one.candidate))
            }
            (outline.headline(prose(&headline(of))))
            @if let [one] = &of.scenarios[..] {
                @if let Some(power) = power(one) { p { (prose(&power)) } }
            }
            @for line in left_out(of) { p { (prose(&line)) } }
        }
    }
}

/// A line for each scenario, with a link to its part.
fn overview(all: &[ScenarioComparison]) -> Markup {
    html! {
        div.box { table.stacked {
            caption { span { "Result of each scenario" } }
            thead { tr { th scope="col" { "Scenario" } th scope="col" { "Verdict" } th scope="col" { "Answer" } } }
            tbody { @for (number, one) in (1..).zip(all) { tr {
                th scope="row" { a href={ "#run-" (number) } { (one.name.as_deref().unwrap_or("runs")) } }
                td data-head="Verdict" { span class={ "badge " (class(one.word)) } { (title(one.word)) } }
                td data-head="Answer" { (prose(&scenario(one))) }
            } } }
        } }
    }
}

fn sections(
    of: &ScenarioComparison,
    runs: &[RunWithBins],
    outline: &Outline,
    more: Vec<Fold>,
) -> Markup {
    let mut parts = vec![Fold::new("basis", "What the numbers rest on", basis(of))];
    parts.extend(tails(of, runs, outline));
    parts.push(Fold::new("runs", "Runs and their maxima", maxima(of)));
    if let Some(causes) = causes(of) {
        let content = html! {
            @for line in causes.sentences() { p { (prose(&line)) } }
            (markup(&causes.columns(), "A spike counts for whoever took most of it."))
        };
        parts.push(Fold::new("causes", "Causes of the spikes", content));
    }
    if let Some(misses) = &of.misses {
        let sum = misses.word.map(|word| title(word).to_lowercase());
        parts.push(
            Fold::new("misses", "Deadline misses", html! { p { (prose(&missed(misses))) } })
                .sum(sum),
        );
    }
    parts.extend(more);
    html! {
        (metrics(of))
        @if !of.shifts.is_empty() { div.whole { (shifts(of, outline)) } }
        @if !of.remarks.is_empty() {
            ul.findings { @for one in &of.remarks { li.warning { p { (prose(&remark(one))) } } } }
        }
        (folds(outline, &parts))
    }
}

/// What holds for all scenarios.
fn common_folds(of: &RunComparison) -> Vec<Fold> {
    vec![machines::fold(of)]
}

fn metrics(of: &ScenarioComparison) -> Markup {
    html! {
        div.box { table.stacked.metrics {
            caption { span { "A number of each run for each metric; ratios are candidate to base" } }
            thead { tr {
                th scope="col" { "Metric" } th scope="col" { "Verdict" }
                th.number scope="col" { "Ratio" } th.number scope="col" { "95 % interval" }
                th.number scope="col" { "Base" } th.number scope="col" { "Candidate" }
                th.number scope="col" { "p" } th.number scope="col" { "Limit" }
            } }
            tbody {
                @for one in &of.metrics { (metric(one, of)) }
                @for one in &of.unsupported { tr {
                    th scope="row" { (one.metric) }
                    td data-head="Verdict" colspan="7" {
                        "not compared: " (prose(&unsupported(one)))
                    }
                } }
            }
        } }
    }
}

fn metric(one: &MetricComparison, of: &ScenarioComparison) -> Markup {
    let side = |values: &[f64], runs: &[ComparedRun]| {
        let each: Vec<String> = values.iter().map(|value| short(*value)).collect();
        format!("{}; {}. Runs: {}", each.join(", "), exposure(runs), ids(runs))
    };
    let runs = format!("{} and {} runs", one.base_ns.len(), one.candidate_ns.len());
    let level = one.interval.map(|interval| format!("{:.1} %", interval.level * 100.0));
    html! {
        tr {
            th scope="row" { (one.metric) }
            td data-head="Verdict" { span class={ "badge " (class(one.word)) } { (title(one.word)) } }
            td.number data-head="Ratio" title={ "Hodges and Lehmann, " (runs) } {
                "x" (firm(&ratio(one.ratio)))
            }
            td.number data-head="95 % interval" title={ "exact, by ranks, " (dash(level)) ", " (runs) } {
                (dash(one.interval.map(|interval| firm(&range(interval)))))
            }
            td.number data-head="Base" title=(side(&one.base_ns, &of.base)) {
                (firm(&short(middle(&one.base_ns))))
            }
            td.number data-head="Candidate" title=(side(&one.candidate_ns, &of.candidate)) {
                (firm(&short(middle(&one.candidate_ns))))
            }
            td.number data-head="p" title={ "Mann and Whitney, exact, " (runs) "; for all metrics and scenarios \
                together p=" (probability(one.p_of_all)) } { (probability(one.p)) }
            td.number data-head="Limit" { "x" (ratio(1.0 + one.care)) }
        }
    }
}

/// For how long and how often a side was measured.
fn exposure(runs: &[ComparedRun]) -> String {
    let releases = runs.iter().fold(0, |sum: u64, run| sum.saturating_add(run.activations));
    let measured: latlab_model::Nanos = runs.iter().map(|run| run.measured_ns).sum();
    let time = match measured.0 {
        0 => "in an unknown time".to_string(),
        _ => format!("in {}", span(measured)),
    };
    format!("{} {time}", counted(releases, "release", "releases"))
}

fn ids(runs: &[ComparedRun]) -> String {
    runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>().join(", ")
}

/// Number, exposure, method and source of all figures.
fn basis(of: &ScenarioComparison) -> Markup {
    let sides = [("Base", &of.base), ("Candidate", &of.candidate)];
    let methods = [
        (
            "Base, candidate",
            "The median over the runs of a side. Each run gives one number: a quantile, \
          interpolated within its bin, or the median of the largest latencies of equal stretches.",
        ),
        (
            "Ratio",
            "The median of all quotients of a run of the candidate and a run of the base (Hodges and \
          Lehmann).",
        ),
        ("95 % interval", "Exact, from the ranks of the runs; it assumes no distribution."),
        (
            "p",
            "The exact probability of ranks at least this far apart if nothing differs (Mann and Whitney). \
          A regression must also be rarer than chance among all metrics and scenarios (Westfall and Young).",
        ),
        (
            "Band of the picture",
            "Bootstrap of the runs: 400 samples with replacement, the same for all quantiles.",
        ),
        (
            "Bursts",
            "Clopper and Pearson, Garwood: one-sided bounds of 95 %; bursts by the extremal index.",
        ),
    ];
    html! {
        div.box { table.stacked {
            caption { span { "The runs of both sides" } }
            thead { tr { th scope="col" { "Side" } th.number scope="col" { "n" } th scope="col" { "Exposure" } th scope="col" { "Source" } } }
            tbody { @for (name, runs) in sides { tr {
                th scope="row" { (name) }
                td.number data-head="n" { (runs.len()) }
                td data-head="Exposure" { (prose(&exposure(runs))) }
                td data-head="Source" { (ids(runs)) }
            } } }
        } }
        dl.reasons { @for (name, words) in methods { dt { (name) } dd { (words) } } }
    }
}

fn shifts(of: &ScenarioComparison, outline: &Outline) -> Markup {
    let care = of.metrics.iter().find(|one| one.metric == Metric::P99_9).or(of.metrics.first());
    let picture = ShiftPicture {
        shifts: &of.shifts,
        limit: 1.0 + care.map_or(0.05, |one| one.care),
        title: "Ratio of each quantile, candidate to base".to_string(),
    };
    let caption = "How many times larger each quantile is on the candidate's side. The band holds 95 % of \
                   the choices of runs; quantiles to the right are rarer. Where it includes x1, no difference is shown.";
    in_widths("shift", outline, caption, &|options| {
        shift::draw(&picture, &Options { plot_height: SHIFT_HEIGHT, ..options.clone() })
    })
}

/// The tails of both sides over each other, all runs of a side together.
fn tails(of: &ScenarioComparison, runs: &[RunWithBins], outline: &Outline) -> Option<Fold> {
    let (base, candidate) = (runs_of(&of.base, runs), runs_of(&of.candidate, runs));
    let sides = [pooled_side("base", &base)?, pooled_side("candidate", &candidate)?];
    let both: Vec<RunWithBins> =
        sides.iter().map(|(run, bins)| RunWithBins { run, bins }).collect();
    let many = terms(&both).many;
    let side = |name: &str, runs: &[ComparedRun], all: &[RunWithBins]| {
        let machine = all.first().map(|one| sentence::machine_and_kernel(one.run));
        let count = counted(runs.len() as u64, "run", "runs");
        format!("{name}: {}; {count}, {}", machine.unwrap_or_default(), exposure(runs))
    };
    let labels = PictureLabels {
        title: format!("Share of larger {many}, all runs of a side together"),
        conditions: vec![
            side("base", &of.base, &base),
            side("candidate", &of.candidate, &candidate),
        ],
        names: vec!["base".to_string(), "candidate".to_string()],
    };
    let caption = format!(
        "The share of the {many} that were larger than each value, down to a single one. A line further \
         down and to the left is better."
    );
    let picture = in_widths("ccdf", outline, &caption, &|options| {
        plot(&both, Kind::Ccdf, &Options { labels: Some(labels.clone()), ..options.clone() })
    });
    Some(Fold::new("tail", "Tails over each other", picture))
}

/// The observed maximum of each run, which is shown and not judged.
fn maxima(of: &ScenarioComparison) -> Markup {
    let sides = [("base", &of.base), ("candidate", &of.candidate)];
    let has_misses = of.misses.is_some();
    html! {
        div.box { table.stacked {
            caption { span { "Maxima depend on chance and on the length of a run, and are not judged" } }
            thead { tr {
                th scope="col" { "Run" } th scope="col" { "Side" }
                th.number scope="col" { "Largest" }
                @if has_misses { th.number scope="col" { "Misses" } }
                th.number scope="col" { "Releases" } th.number scope="col" { "Missed releases" }
                th.number scope="col" { "Measured for" }
                th scope="col" { "Started" } th scope="col" { "Boot" }
            } }
            tbody { @for (name, runs) in sides { @for run in runs { (run_row(name, run, has_misses)) } } }
        } }
    }
}

fn run_row(side: &str, run: &ComparedRun, has_misses: bool) -> Markup {
    let share = |misses: u64| {
        let share = percent_of(misses, run.activations).filter(|_| misses > 0);
        format!("{}{}", count(misses), share.map(|share| format!(" ({share})")).unwrap_or_default())
    };
    let boot = run.boot_id.as_ref().map(|boot| boot.chars().take(8).collect::<String>());
    let time = (run.measured_ns.0 > 0).then(|| firm(&span(run.measured_ns)));
    html! {
        tr {
            th scope="row" { (run.id) }
            td.words data-head="Side" { (side) }
            td.number data-head="Largest" { (dash(run.max_ns.map(|max| firm(&short(max.0 as f64))))) }
            @if has_misses { td.number data-head="Misses" { (dash(run.misses.map(share))) } }
            td.number data-head="Releases" { (count(run.activations)) }
            td.number data-head="Missed releases" { (dash(run.missed.map(count))) }
            td.number data-head="Measured for" { (dash(time)) }
            td data-head="Started" { (sentence::started(&run.started)) }
            td data-head="Boot" title=[run.boot_id.as_deref()] { (dash(boot)) }
        }
    }
}
