//! A series of builds as one self-contained page: the answer, the chart, the table.

use super::sections::builds;
use super::sentences::{headline, limits, step};
use crate::compare::class;
use crate::document::outline::{Outline, prose};
use crate::document::{Section, folds};
use crate::page::document;
use crate::page::pictures::in_widths;
use crate::pictures::options::Options;
use crate::pictures::trend;
use crate::units::{counted, percent};
use latlab_stats::builds::Trend;
use maud::{Markup, html};

const HEIGHT: u32 = 260;

pub fn page(of: &Trend) -> String {
    let outline = Outline::page();
    let parts = [builds(of), Section::new("basis", "What the numbers rest on").html(basis(of))];
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

fn basis(of: &Trend) -> Markup {
    let metric = format!(
        "{} of a build: the median over its runs, each of which gives one number.",
        of.metric
    );
    let word = format!(
        "The newest level against the one before; it has regressed if it is higher by {} or more.",
        percent(of.margin)
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
