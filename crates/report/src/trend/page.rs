//! A series of builds as one self-contained page: the answer, the picture, the table.

use super::sentences::{change, headline, limits, step};
use crate::compare::class;
use crate::page::document;
use crate::page::folds::{Fold, folds};
use crate::page::markup::{Outline, count, dash, firm, prose};
use crate::page::pictures::in_widths;
use crate::pictures::options::Options;
use crate::pictures::trend;
use crate::sentence;
use crate::units::{counted, percent, short, span};
use latlab_model::trend::{Build, Trend};
use maud::{Markup, html};

/// Height of the picture.
const HEIGHT: u32 = 260;

/// The whole page.
pub fn page(of: &Trend) -> String {
    let outline = Outline::page();
    let parts = [
        Fold::new("builds", "Builds", builds(of)),
        Fold::new("basis", "What the numbers rest on", basis(of)),
    ];
    let remarks: Vec<String> = of.steps.iter().map(step).chain(limits(of)).collect();
    let caption = format!(
        "{} of each build, in the order of time. Thick lines are the levels, upright ones the steps with \
         the ratio of the levels.",
        of.metric
    );
    let body = html! {
        main.judged {
            header class={ "answer " (class(of.word)) } {
                p.kicker {
                    (of.metric) " over " (counted(of.builds.len() as u64, "build", "builds"))
                    @if let Some(build) = of.builds.last() { " · newest: " (build.name) }
                }
                (outline.headline(prose(&headline(of))))
                @for line in &remarks { p { (prose(line)) } }
            }
            div.whole { (in_widths("trend", &outline, &caption, &|options| {
                trend::draw(of, &Options { plot_height: HEIGHT, ..options.clone() })
            })) }
            (folds(&outline, &parts))
        }
        footer { p { "Made by latlab " (latlab_model::VERSION) "." } }
    };
    document(&headline(of), &body)
}

fn builds(of: &Trend) -> Markup {
    html! {
        div.box { table.stacked {
            caption { span { "All builds, the oldest first" } }
            thead { tr {
                th scope="col" { "Build" } th scope="col" { "Started" }
                th.number scope="col" { (of.metric) } th scope="col" { "Step" }
                th.number scope="col" { "Largest" } th.number scope="col" { "Misses" }
                th.number scope="col" { "Releases" } th.number scope="col" { "Measured for" }
                th scope="col" { "Runs" }
            } }
            tbody { @for (at, build) in of.builds.iter().enumerate() { (row(of, at, build)) } }
        } }
    }
}

fn row(of: &Trend, at: usize, build: &Build) -> Markup {
    let step = of.steps.iter().find(|step| step.at == at).map(change);
    let values: Vec<String> = build.values_ns.iter().map(|value| short(*value)).collect();
    let time = (build.measured_ns.0 > 0).then(|| firm(&span(build.measured_ns)));
    html! {
        tr {
            th scope="row" { (build.name) }
            td data-head="Started" { (sentence::started(&build.started)) }
            td.number data-head=(of.metric) title={ "median of " (values.join(", ")) } {
                (firm(&short(build.value_ns)))
            }
            td data-head="Step" { (dash(step)) }
            td.number data-head="Largest" { (dash(build.max_ns.map(|max| firm(&short(max.0 as f64))))) }
            td.number data-head="Misses" { (dash(build.misses.map(count))) }
            td.number data-head="Releases" { (count(build.activations)) }
            td.number data-head="Measured for" { (dash(time)) }
            td data-head="Runs" { (build.runs.join(", ")) }
        }
    }
}

fn basis(of: &Trend) -> Markup {
    let metric = format!(
        "{} of a build: the median over its runs, each of which gives one number.",
        of.metric
    );
    let word = format!(
        "The newest level against the one before; it has regressed if it is higher by {} or more.",
        percent(of.care)
    );
    let methods = [
        ("Value", metric.as_str()),
        (
            "Step",
            "E-divisive on ranks (Matteson and James), levels of 3 builds at least, by permutation of \
          blocks of builds that are alike, p at most 0.01.",
        ),
        (
            "Newest builds",
            "The newest one to three together against their level, by Student's t with regard to the \
          correlation of neighbours; one false alarm in a thousand looks.",
        ),
        (
            "Ratio",
            "The median of all quotients of the two levels (Hodges and Lehmann), with the exact \
          interval by ranks.",
        ),
        ("Verdict", word.as_str()),
    ];
    html! { dl.reasons { @for (name, words) in methods { dt { (name) } dd { (words) } } } }
}
