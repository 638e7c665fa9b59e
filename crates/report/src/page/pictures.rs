//! The pictures of a run. Without scripts they are still; scripts put one that can be zoomed and
//! asked in the place of each, and keep the still one for the printer.

use super::PageRun;
use crate::page::place::Place;
use crate::pictures::axis::Axis;
use crate::pictures::options::Options;
use crate::pictures::plot::{Kind, plot};
use crate::pictures::time::{self, TimeOptions};
use crate::runs::{Measured, terms_of};
use crate::sections::respond;
use crate::terms::{self, Terms};
use latlab_model::Nanos;
use maud::{Markup, PreEscaped, html};

/// Each picture is made in three widths, of which the width of the page shows one: shrunk text
/// could not be read.
const WIDTHS: [(&str, u32, u32); 3] =
    [("wide", 1120, 420), ("middle", 700, 380), ("narrow", 400, 300)];

const TELEMETRY: &str = "What was read beside the run: temperature, frequency, load, and the \
    threads that took the CPUs.";

const SHARE: &str = "The share of the responses that was no larger, with the maximum of each.";

/// The sections with the pictures of one run.
pub fn pictures(of: &PageRun, place: &Place) -> Markup {
    let runs = [of.measured()];
    let terms = terms::of(of.run);
    if of.run.asked.respond.is_some() {
        return html! {
            (compared(&runs, place))
            (place.section("time", "Over time", over_time(of, time::Kind::Flow, place, &flow(terms))))
        };
    }
    html! {
        (place.section("picture", terms.titles, html! {
            (of_latencies(&runs, Kind::Latency, place, &of_threads(terms)))
        }))
        (place.section("tail", "Tail", of_latencies(&runs, Kind::Ccdf, place, &ccdf(terms))))
        (place.section("time", "Over time", html! {
            (over_time(of, time::Kind::Flow, place, &flow(terms)))
            @if of.run.conditions.is_some() {
                (over_time(of, time::Kind::Telemetry, place, TELEMETRY))
            }
        }))
    }
}

/// The pictures of several runs over each other.
pub fn compared(runs: &[Measured], place: &Place) -> Markup {
    let terms = terms_of(runs);
    html! {
        (place.section("picture", terms.titles, html! {
            (of_latencies(runs, Kind::Latency, place, &of_whole_runs(terms)))
            @if let Some(end) = respond::body(runs.iter().map(|one| one.run)) { (zoomed(runs, end, place)) }
        }))
        @if runs.iter().all(|one| one.run.asked.respond.is_some()) {
            (place.section("share", "Share", of_latencies(runs, Kind::Cdf, place, SHARE)))
        }
        (place.section("tail", "Tail", html! {
            (of_latencies(runs, Kind::Tail, place, &tail(terms)))
            (of_latencies(runs, Kind::Ccdf, place, &ccdf(terms)))
        }))
    }
}

/// The same up to where nearly all responses are, which a slow one would squeeze into a corner.
fn zoomed(runs: &[Measured], end: Nanos, place: &Place) -> Markup {
    let caption = format!("The same up to {end}; what lies beyond is counted at the right.");
    in_widths("zoomed", place, &caption, &|options| {
        plot(runs, Kind::Latency, &Options { axis: Axis::linear_to(end), ..options.clone() })
    })
}

fn of_threads(Terms { many, .. }: &Terms) -> String {
    format!(
        "How many {many} were how large, one line for each measuring thread. Heights are \
         logarithmic: a single large one is as visible as a million small ones. They count {many} \
         per unit of width, so that no step depends on the width of a bin. A mark shows each named \
         thread's observed maximum."
    )
}

fn of_whole_runs(Terms { many, .. }: &Terms) -> String {
    format!(
        "How many {many} were how large, in each run. Heights are logarithmic and count {many} per \
         unit of width, on one scale for all runs."
    )
}

fn tail(Terms { many, .. }: &Terms) -> String {
    format!(
        "Mean, quantiles and observed maximum of each run. The further right, the rarer; what a run \
         has too few {many} for is hollow."
    )
}

fn ccdf(terms: &Terms) -> String {
    format!(
        "The share of the {} that was larger, down to a single one. {}",
        terms.many,
        match terms.has_gaps {
            true => "Passes without a gap are not among them.",
            false => "The lower and the further left a line ends, the better.",
        }
    )
}

fn flow(Terms { one, titles, .. }: &Terms) -> String {
    format!(
        "{titles} over time, and the conditions beside them. The largest {one} of each stretch of \
         time is drawn, however short it was."
    )
}

fn of_latencies(runs: &[Measured], kind: Kind, place: &Place, caption: &str) -> Markup {
    figure(kind.word(), terms_of(runs), place, caption, &|width, plot_height, id| {
        plot(runs, kind, &Options { width, plot_height, id, ..Options::default() })
    })
}

fn over_time(of: &PageRun, kind: time::Kind, place: &Place, caption: &str) -> Markup {
    figure(kind.word(), terms::of(of.run), place, caption, &|width, _, id| {
        kind.draw(of.run, of.still, &TimeOptions { width, id, ..TimeOptions::default() })
    })
}

/// A picture that stays still, in all widths.
pub fn in_widths(
    kind: &str,
    place: &Place,
    caption: &str,
    draw: &dyn Fn(&Options) -> String,
) -> Markup {
    html! {
        figure {
            (still(kind, place, &|width, plot_height, id| {
                draw(&Options { width, plot_height, id, ..Options::default() })
            }))
            figcaption { (caption) }
        }
    }
}

fn still(kind: &str, place: &Place, draw: &dyn Fn(u32, u32, String) -> String) -> Markup {
    html! {
        div.still {
            @for (class, width, height) in WIDTHS {
                div class=(class) {
                    (PreEscaped(draw(width, height, place.id(&format!("{kind}-{class}")))))
                }
            }
        }
    }
}

fn figure(
    kind: &str,
    terms: &Terms,
    place: &Place,
    caption: &str,
    draw: &dyn Fn(u32, u32, String) -> String,
) -> Markup {
    html! {
        figure data-picture=(kind) data-run=(place.prefix())
            data-many=(terms.many) data-axis=(terms.axis) data-size=(terms.size) {
            (still(kind, place, draw))
            figcaption { (caption) }
        }
    }
}
