//! A comparison as one self-contained page: the answer, the figures of each metric, what changed
//! where, and the supporting data folded below.

use super::ComparedSides;
use super::sections::{changes, exposure, ids, left_out, of_scenario};
use super::sentences::{headline, scenario, title};
use super::sides::{pooled_side, runs_of};
use super::text::colour;
use crate::document::html::content;
use crate::document::outline::{Outline, prose};
use crate::document::table::{Cell, Column, Table, markup};
use crate::document::{Section, folds};
use crate::page::document;
use crate::page::pictures::in_widths;
use crate::pictures::options::{Options, PictureLabels};
use crate::pictures::plot::{Kind, plot};
use crate::pictures::shift::{self, ShiftPicture};
use crate::run_with_bins::{RunWithBins, terms};
use crate::sentence;
use crate::units::counted;
use latlab_stats::comparison::{
    ComparedRun, ComparisonWord, Metric, RunComparison, ScenarioComparison,
};
use maud::{Markup, html};

const SHIFT_HEIGHT: u32 = 220;

/// The whole page; `runs` are the compared runs, in any order.
pub fn page(sides: &ComparedSides, runs: &[RunWithBins]) -> String {
    let of = &sides.runs;
    let outline = Outline::page();
    let body = html! {
        main.judged {
            (opening(of, &outline))
            @match &of.scenarios[..] {
                [one] => (sections(one, runs, &outline, vec![changes(sides)])),
                several => {
                    (overview(several))
                    (folds(&outline, &[changes(sides)]))
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

/// The CSS class.
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
            @for line in left_out(of) { p { (prose(&line)) } }
        }
    }
}

/// A line for each scenario, with a link to its part.
fn overview(all: &[ScenarioComparison]) -> Markup {
    let name = |(number, one): (usize, &ScenarioComparison)| {
        Cell::from(one.name.clone().unwrap_or("runs".to_string()))
            .link(Some(format!("#run-{number}")))
    };
    let word = |one: &ScenarioComparison| {
        Cell::from(title(one.word).to_string()).badge(class(one.word), colour(one.word))
    };
    let columns = vec![
        Column::new("scenario", 0, (1..).zip(all).map(name)).left(),
        Column::new("verdict", 0, all.iter().map(word)).left(),
        Column::new("answer", 0, all.iter().map(scenario)).left(),
    ];
    markup(&Table::new("Result of each scenario", columns).stacked())
}

fn sections(
    of: &ScenarioComparison,
    runs: &[RunWithBins],
    outline: &Outline,
    more: Vec<Section>,
) -> Markup {
    let mut all = of_scenario(of).into_iter();
    let metrics = all.next();
    let mut parts = vec![Section::new("basis", "What the numbers rest on").html(basis(of))];
    parts.extend(tails(of, runs, outline));
    parts.extend(all);
    parts.extend(more);
    html! {
        @if let Some(metrics) = metrics { (content(&metrics)) }
        @if !of.shifts.is_empty() { div.whole { (shifts(of, outline)) } }
        (folds(outline, &parts))
    }
}

/// The number, exposure, method and source behind all figures.
fn basis(of: &ScenarioComparison) -> Markup {
    let sides = [("base", &of.base), ("candidate", &of.candidate)];
    let columns = vec![
        Column::new("side", 0, sides.map(|(name, _)| name.to_string())).left(),
        Column::new("n", 0, sides.map(|(_, runs)| runs.len().to_string())),
        Column::new("exposure", 0, sides.map(|(_, runs)| exposure(runs))).left(),
        Column::new("runs", 0, sides.map(|(_, runs)| ids(runs))).left(),
    ];
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
        (markup(&Table::new("The runs of both sides", columns).stacked()))
        dl.reasons { @for (name, words) in methods { dt { (name) } dd { (words) } } }
    }
}

fn shifts(of: &ScenarioComparison, outline: &Outline) -> Markup {
    let margin = of.metrics.iter().find(|one| one.metric == Metric::P99_9).or(of.metrics.first());
    let picture = ShiftPicture {
        shifts: &of.shifts,
        limit: 1.0 + margin.map_or(0.05, |one| one.margin),
        title: "Ratio of each quantile, candidate to base".to_string(),
    };
    let caption = "How many times larger each quantile is on the candidate's side. The band holds 95 % of \
                   the choices of runs; quantiles to the right are rarer. Where it includes x1, no difference is shown.";
    in_widths("shift", outline, caption, &|options| {
        shift::draw(&picture, &Options { plot_height: SHIFT_HEIGHT, ..options.clone() })
    })
}

/// The tails of both sides overlaid, with the runs of a side pooled.
fn tails(of: &ScenarioComparison, runs: &[RunWithBins], outline: &Outline) -> Option<Section> {
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
    Some(Section::new("tail", "Tails over each other").html(picture))
}
