//! The charts of a run. They are static without scripts; scripts replace each by an interactive
//! chart, and keep the static one for printing.

use super::PageRun;
use crate::document::Section;
use crate::document::outline::Outline;
use crate::pictures::axis::Axis;
use crate::pictures::options::Options;
use crate::pictures::plot::{Kind, plot};
use crate::pictures::time::{self, TimeOptions};
use crate::run_with_bins::{RunWithBins, terms};
use crate::sections::respond;
use crate::terms::{self, Terms};
use latlab_model::Nanos;
use maud::{Markup, PreEscaped, html};

/// Each chart is rendered in three widths, of which CSS shows one: shrunk text would be illegible.
const WIDTHS: [(&str, u32, u32); 3] =
    [("wide", 1120, 420), ("middle", 700, 380), ("narrow", 400, 300)];

const TELEMETRY: &str = "Conditions of the run: temperature, frequency, load, and the threads \
                         that used the CPUs.";

const SHARE: &str = "The share of the responses up to each latency, with the maximum of each \
                     series.";

/// The histogram at the top of a page, next to the possible causes.
const TOP_WIDTHS: [(&str, u32, u32); 3] =
    [("wide", 760, 180), ("middle", 700, 230), ("narrow", 400, 220)];

pub fn main_picture(of: &PageRun, outline: &Outline) -> Markup {
    let (runs, terms) = ([of.with_bins()], terms::of_run(of.run));
    let kind = Kind::Latency;
    let draw = |width, plot_height, id| {
        let axis = Axis::default();
        plot(
            &runs,
            kind,
            &Options { width, plot_height, axis, has_heading: false, id, labels: None },
        )
    };
    figure(kind.as_str(), terms, &TOP_WIDTHS, outline, &of_threads(terms), &draw)
}

pub fn sections(of: &PageRun, outline: &Outline) -> Vec<Section> {
    let runs = [of.with_bins()];
    let terms = terms::of_run(of.run);
    let over_time = |kind, caption: &str| over_time(of, kind, outline, caption);
    let latencies = |kind, caption: &str| of_latencies(&runs, kind, outline, caption);
    let over_time_content = || {
        html! {
            (over_time(time::Kind::Flow, &flow(terms)))
            @if of.run.conditions.is_some() { (over_time(time::Kind::Telemetry, TELEMETRY)) }
        }
    };
    if of.run.asked.method.is_response() {
        let body = respond::body([of.run].into_iter()).map(|end| zoomed(&runs, end, outline));
        let body = body.map(|picture| Section::new("body", "Without the slowest").html(picture));
        let pictures = [
            Section::new("share", "Share").html(latencies(Kind::Cdf, SHARE)),
            Section::new("tail", "Tail")
                .html(latencies(Kind::Tail, &tail(terms)))
                .html(latencies(Kind::Ccdf, &ccdf(terms))),
            Section::new("time", "Over time").html(over_time_content()),
        ];
        return body.into_iter().chain(pictures).collect();
    }
    let tail = Section::new("tail", "Tail").html(latencies(Kind::Ccdf, &ccdf(terms)));
    // An imported run has no data over time.
    if of.run.asked.method.is_import() {
        return vec![tail];
    }
    vec![
        Section::new("time", "Over time").html(over_time_content()),
        tail,
        Section::new("heatmap", "Heatmap").html(over_time(time::Kind::Heatmap, &heatmap(terms))),
    ]
}

/// The charts of several runs overlaid.
pub fn compared(runs: &[RunWithBins], outline: &Outline) -> Markup {
    let terms = terms(runs);
    html! {
        (outline.section("picture", terms.titles, html! {
            (of_latencies(runs, Kind::Latency, outline, &of_whole_runs(terms)))
            @if let Some(end) = respond::body(runs.iter().map(|one| one.run)) { (zoomed(runs, end, outline)) }
        }))
        @if runs.iter().all(|one| one.run.asked.method.is_response()) {
            (outline.section("share", "Share", of_latencies(runs, Kind::Cdf, outline, SHARE)))
        }
        (outline.section("tail", "Tail", html! {
            (of_latencies(runs, Kind::Tail, outline, &tail(terms)))
            (of_latencies(runs, Kind::Ccdf, outline, &ccdf(terms)))
        }))
    }
}

/// The same, but cut off where nearly all responses end, since a slow one would squeeze the others
/// into a corner. Runs without latencies in that range are named.
fn zoomed(runs: &[RunWithBins], end: Nanos, outline: &Outline) -> Markup {
    let has_some = |one: &&RunWithBins| {
        one.bins.iter().any(|thread| thread.bins.iter().any(|bin| bin.low_ns < end))
    };
    let (shown, beyond): (Vec<&RunWithBins>, Vec<&RunWithBins>) = runs.iter().partition(has_some);
    let shown: Vec<RunWithBins> = shown.into_iter().copied().collect();
    let beyond: Vec<&str> = beyond.iter().map(|one| one.run.asked.name.as_str()).collect();
    let beyond = match beyond[..] {
        [] => String::new(),
        _ => format!(" All of {} is larger.", beyond.join(", ")),
    };
    let caption =
        format!("The same up to {end}; larger values are counted at the right edge.{beyond}");
    in_widths("zoomed", outline, &caption, &|options| {
        plot(&shown, Kind::Latency, &Options { axis: Axis::linear_to(end), ..options.clone() })
    })
}

fn of_threads(Terms { many, one, .. }: &Terms) -> String {
    format!(
        "Histogram of the {many}, a line for each measuring thread. Counts are logarithmic, so that a \
         single large {one} is seen; a mark shows each observed maximum."
    )
}

fn of_whole_runs(Terms { many, .. }: &Terms) -> String {
    format!(
        "Histogram of the {many} of each run. Counts are logarithmic, on one scale for all runs."
    )
}

fn tail(Terms { many, .. }: &Terms) -> String {
    format!(
        "Mean, quantiles and observed maximum of each run. Rarer events are further right; hollow \
         bars have too few {many}."
    )
}

fn ccdf(terms: &Terms) -> String {
    format!(
        "The share of the {} that were larger than each value, down to a single one. {}",
        terms.many,
        match terms.has_gaps {
            true => "Passes without a gap are not included.",
            false => "A line further down and to the left is better.",
        }
    )
}

fn flow(Terms { one, titles, .. }: &Terms) -> String {
    format!(
        "{titles} over time, with the conditions below. The largest {one} of each column is \
         always drawn, however short it was."
    )
}

fn heatmap(Terms { one, many, .. }: &Terms) -> String {
    format!(
        "How many {many} were how large, over time: the darker, the more. The line is the largest \
         {one} of each column."
    )
}

fn of_latencies(runs: &[RunWithBins], kind: Kind, outline: &Outline, caption: &str) -> Markup {
    figure(kind.as_str(), terms(runs), &WIDTHS, outline, caption, &|width, plot_height, id| {
        plot(runs, kind, &Options { width, plot_height, id, ..Options::default() })
    })
}

fn over_time(of: &PageRun, kind: time::Kind, outline: &Outline, caption: &str) -> Markup {
    figure(kind.as_str(), terms::of_run(of.run), &WIDTHS, outline, caption, &|width, _, id| {
        kind.draw(of.run, of.still, &TimeOptions { width, id, ..TimeOptions::default() })
    })
}

/// A static chart in all widths.
pub fn in_widths(
    kind: &str,
    outline: &Outline,
    caption: &str,
    draw: &dyn Fn(&Options) -> String,
) -> Markup {
    html! {
        figure {
            (still(kind, &WIDTHS, outline, &|width, plot_height, id| {
                draw(&Options { width, plot_height, id, ..Options::default() })
            }))
            figcaption { (caption) }
        }
    }
}

fn still(
    kind: &str,
    widths: &[(&str, u32, u32)],
    outline: &Outline,
    draw: &dyn Fn(u32, u32, String) -> String,
) -> Markup {
    html! {
        div.still {
            @for (class, width, height) in widths {
                div class=(class) {
                    (PreEscaped(draw(*width, *height, outline.id(&format!("{kind}-{class}")))))
                }
            }
        }
    }
}

fn figure(
    kind: &str,
    terms: &Terms,
    widths: &[(&str, u32, u32)],
    outline: &Outline,
    caption: &str,
    draw: &dyn Fn(u32, u32, String) -> String,
) -> Markup {
    html! {
        figure data-picture=(kind) data-run=(outline.prefix())
            data-many=(terms.many) data-axis=(terms.axis) data-size=(terms.size) {
            (still(kind, widths, outline, draw))
            figcaption { (caption) }
        }
    }
}
