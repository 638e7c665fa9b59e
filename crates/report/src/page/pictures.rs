//! The pictures of a run. Without scripts they are still; scripts put one that can be zoomed and
//! asked in the place of each, and keep the still one for the printer.

use super::PageRun;
use crate::options::Options;
use crate::place::Place;
use crate::plot::{Kind, plot};
use crate::runs::{Measured, terms_of};
use crate::terms::{self, Terms};
use crate::time::{self, TimeOptions};
use maud::{Markup, PreEscaped, html};

/// Each picture is made in three widths, of which the width of the page shows one: shrunk text
/// could not be read.
const WIDTHS: [(&str, u32, u32); 3] =
    [("wide", 1120, 420), ("middle", 700, 380), ("narrow", 400, 300)];

const LATENCY: &str = "How many latencies were how large, one line for each measuring thread. \
    Heights are logarithmic: a single late wake-up is as visible as a million punctual ones. They \
    count latencies per unit of width, so that no step depends on the width of a bin. A mark shows \
    each named thread's observed maximum.";
const LATENCIES: &str = "How many latencies were how large, in each run. Heights are logarithmic \
    and count latencies per unit of width, on one scale for all runs.";
const TAIL: &str = "Mean, quantiles and observed maximum of each run. The further right, the \
    rarer; what a run has too few latencies for is hollow.";
const CCDF: &str = "The share of the latencies that was larger, down to a single one. The lower \
    and the further left a line ends, the better.";
const FLOW: &str = "Latencies over time, and the conditions beside them. The largest latency of \
    each stretch of time is drawn, however short it was.";
const GAPS: &str = "How many gaps were how long, one line for each measuring thread. Heights are \
    logarithmic, and count gaps per unit of width, so that no step depends on the width of a bin. \
    A mark shows each named thread's observed maximum.";
const GAP_CCDF: &str = "The share of the gaps that was longer, down to a single one. Passes without \
    a gap are not among them.";
const GAP_FLOW: &str = "Gaps over time, and the conditions beside them. The longest gap of each \
    stretch of time is drawn.";
const TELEMETRY: &str = "What was read beside the run: temperature, frequency, load, and the \
    threads that took the CPUs.";

/// The sections with the pictures of one run.
pub fn pictures(of: &PageRun, place: &Place) -> Markup {
    let runs = [of.measured()];
    let (histogram, ccdf, flow) = match of.run.asked.spin {
        Some(_) => (GAPS, GAP_CCDF, GAP_FLOW),
        None => (LATENCY, CCDF, FLOW),
    };
    html! {
        (place.section("picture", terms::of(of.run).titles, html! {
            (of_latencies(&runs, Kind::Latency, place, histogram))
        }))
        (place.section("tail", "Tail", of_latencies(&runs, Kind::Ccdf, place, ccdf)))
        (place.section("time", "Over time", html! {
            (over_time(of, time::Kind::Flow, place, flow))
            @if of.run.conditions.is_some() {
                (over_time(of, time::Kind::Telemetry, place, TELEMETRY))
            }
        }))
    }
}

/// The pictures of several runs over each other.
pub fn compared(runs: &[Measured], place: &Place) -> Markup {
    html! {
        (place.section("picture", "Latencies", of_latencies(runs, Kind::Latency, place, LATENCIES)))
        (place.section("tail", "Tail", html! {
            (of_latencies(runs, Kind::Tail, place, TAIL))
            (of_latencies(runs, Kind::Ccdf, place, CCDF))
        }))
    }
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
            div.still {
                @for (class, width, height) in WIDTHS {
                    div class=(class) {
                        (PreEscaped(draw(width, height, place.id(&format!("{kind}-{class}")))))
                    }
                }
            }
            figcaption { (caption) }
        }
    }
}
