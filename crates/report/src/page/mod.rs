//! One or several runs as one self-contained page: it loads nothing, and works without scripts. The
//! page of one run and each part of a page of several come from the same code; a part has headings
//! one level lower and its own anchors. `data.rs` adds the run document and packed columns of
//! numbers, which `web/src/data.js` unpacks; `web/test/packed.json` holds both to the same bytes.
//! Scripts replace a chart only once its interactive version is complete.

mod compare;
pub(crate) mod data;
mod head;
mod packed;
pub(crate) mod pictures;
mod responders;

use crate::document::html::content;
use crate::document::outline::Outline;
use crate::document::{Section, folds};
use crate::pictures::time::TimeData;
use crate::run_with_bins::{RunWithBins, names};
use crate::sections::{self, answer, setup};
use crate::sentence;
use crate::summary;
use flate2::read::ZlibDecoder;
use latlab_model::samples::Sample;
use latlab_model::{Run, ThreadBins};
use latlab_stats::{MeasuredRun, Span};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::io::Read;

const STYLE: &str = include_str!("page.css");
/// The output of `scripts/web.sh`, compressed; empty in a build without npm.
const SCRIPT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/page.js"));
const SCRIPT_STYLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/page.css"));
const LIVE_SCRIPT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/live.js"));
const LIVE_STYLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/live.css"));

/// Whether pages of this build have charts with zoom and tooltips.
pub const fn is_interactive() -> bool {
    !SCRIPT.is_empty()
}

/// The script of the live page that `serve` delivers; empty in a build without npm.
pub fn live_script() -> String {
    unpack(LIVE_SCRIPT)
}

pub fn live_style() -> String {
    unpack(LIVE_STYLE)
}

/// Decompresses a text that `build.rs` packed.
fn unpack(packed: &[u8]) -> String {
    let mut text = String::new();
    if !packed.is_empty() {
        ZlibDecoder::new(packed).read_to_string(&mut text).expect("build.rs packed a text");
    }
    text
}

/// A stored run with everything that its page shows.
#[derive(Clone, Copy, Debug)]
pub struct PageRun<'a> {
    pub run: &'a Run,
    /// `run.json` as it was stored.
    pub document: &'a str,
    pub bins: &'a [ThreadBins],
    /// The intervals of all threads joined.
    pub spans: &'a [Span],
    /// Rows over time, for static charts.
    pub still: &'a TimeData,
    /// Rows over time, as finely as a page carries them.
    pub fine: &'a TimeData,
    /// The single responses of a responder's run; empty for other instruments, and if there are too
    /// many.
    pub samples: &'a [Sample],
}

impl<'a> PageRun<'a> {
    fn with_bins(&self) -> RunWithBins<'a> {
        RunWithBins { run: self.run, bins: self.bins }
    }

    fn measured(&self) -> MeasuredRun<'a> {
        MeasuredRun { run: self.run, bins: self.bins, spans: self.spans, scenario: None }
    }
}

pub fn page(runs: &[PageRun]) -> String {
    let title = match runs {
        [one] => format!("{}: {}", one.run.id, sentence::machine_name(one.run)),
        several => format!("{} runs compared", several.len()),
    };
    let body = html! {
        main {
            @match runs {
                [one] => (run_sections(one, &Outline::page())),
                several => (several_runs(several)),
            }
        }
        footer {
            @for one in runs { p { "Made by latlab " (one.run.latlab) " from run " (one.run.id) "." } }
            @if runs.iter().any(|one| !one.run.asked.method.is_capture() && one.run.asked.method.has_agent()) {
                p { "Times are differences of the clock that the threads slept on." }
            }
        }
    };
    document(&title, &body)
}

/// The answer of a run for embedding in another page: the top of its own page, without scripts.
pub fn page_top(of: &PageRun) -> String {
    let title = format!("{}: {}", of.run.id, sentence::machine_name(of.run));
    let body = html! { main { (top(of, &Outline::page(), false)) } };
    shell(&title, &body, false)
}

/// Wraps a body into a complete HTML page.
pub(crate) fn document(title: &str, body: &Markup) -> String {
    shell(title, body, is_interactive())
}

fn shell(title: &str, body: &Markup, is_interactive: bool) -> String {
    // The static charts were laid out in this font.
    let font = crate::png::font_faces(&body.0);
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(font)) (PreEscaped(unpack(SCRIPT_STYLE))) (PreEscaped(STYLE)) }
            }
            body {
                (body)
                @if is_interactive { script #script { (PreEscaped(unpack(SCRIPT))) } }
            }
        }
    };
    markup.into_string()
}

fn several_runs(runs: &[PageRun]) -> Markup {
    let measured: Vec<RunWithBins> = runs.iter().map(PageRun::with_bins).collect();
    html! {
        nav.runs aria-label="Runs" {
            a href="#comparison" { "Comparison" }
            @for (number, name) in (1..).zip(names(&measured)) { a href={ "#run-" (number) } { (name) } }
        }
        (compare::comparison(runs, &Outline::page()))
        @for (number, one) in (1..).zip(runs) {
            @let outline = Outline::part(number);
            section.run id=(outline.prefix()) aria-labelledby=(outline.id("headline")) {
                (run_sections(one, &outline))
            }
        }
    }
}

/// The answer on one screen, and the rest collapsed below it.
fn run_sections(of: &PageRun, outline: &Outline) -> Markup {
    html! {
        (top(of, outline, true))
        (folds(outline, &parts(of, outline)))
    }
}

/// The answer on one screen. The causes link to the rest of the page if there is one.
fn top(of: &PageRun, outline: &Outline, has_more: bool) -> Markup {
    let run = of.run;
    let causes = head::causes(run, outline, has_more);
    let figures = summary::key_figures(run);
    html! {
        (head::opening(run, outline))
        @if let Some(figures) = &figures { (content(figures)) }
        div class=(if causes.is_some() { "split" } else { "whole" }) {
            (pictures::main_picture(of, outline))
            @if let Some(causes) = causes { (causes) }
        }
    }
}

/// The collapsed sections, the most important first.
fn parts(of: &PageRun, outline: &Outline) -> Vec<Section> {
    let run = of.run;
    let mut pictures = pictures::sections(of, outline);
    pictures.extend(responders::phase(of, outline));
    let mut parts = sections::of_run(run, pictures);
    parts.push(answer::section(run));
    parts.push(setup::section(run, outline));
    parts.push(answer::repeat(run));
    parts.push(data::section(of, outline));
    parts
}
