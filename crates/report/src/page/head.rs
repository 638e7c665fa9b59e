//! The headline of a run, and its main figures.

use super::markup::{count, firm, plural};
use crate::page::markup::Outline;
use crate::page::markup::prose;
use crate::sections::respond;
use crate::sentence::{self, NOT_DEFINED};
use crate::terms;
use crate::units::{grouped, joined, percent, percent_of, span};
use latlab_model::Run;
use latlab_model::run::Summary;
use maud::{Markup, html};

/// The headline and what it is about.
pub fn opening(run: &Run, outline: &Outline) -> Markup {
    html! {
        p.kicker { (terms::of_run(run).title) " run " (run.id) " · " (sentence::started(&run.started)) }
        (outline.headline(prose(&crate::answer::headline(run))))
        p.lead { (prose(&sentence::lead(run).join(" "))) }
        @let said = respond::sentences(run);
        @if !said.is_empty() { p { (prose(&said.join(" "))) } }
        @if let Some(load) = crate::sentence::load(run) { p { "Load: " (load) } }
        @if let Some(note) = &run.asked.note { p { "Note: " (note) } }
    }
}

/// The figures that matter most, each in a box.
pub fn facts(run: &Run) -> Markup {
    let total = &run.total;
    html! {
        dl.facts {
            (fact("Observed maximum", total.max_ns.map(|max| firm(&max.to_string())),
                sentence::maximum_place(run)))
            @match total.noise {
                Some(noise) => {
                    (fact("Noise", Some(firm(&percent(noise.share()))),
                        Some(format!("{} in the worst interval", percent(noise.worst_share)))))
                }
                None if !run.asked.method.is_periodic() => {}
                None => (fact("Missed releases", Some(missed(total.missed)), missed_share(total))),
            }
            @if run.asked.deadline_ns.is_some() {
                (fact("Deadline misses", total.misses.map(count),
                    run.asked.deadline_ns.map(|deadline| format!("{} than {}", terms::of_run(run).beyond, deadline))))
            }
            (fact(cycles(run), Some(count(total.cycles)), releases_due(run)))
            @if respond::is_timed(run) {
              (fact("Measured for", Some(firm(&span(run.measured_ns))),
                (!run.asked.method.is_capture()).then(|| plural(run.threads.len(), "thread"))))
            }
        }
    }
}

fn fact(name: &str, value: Option<String>, beside: Option<String>) -> Markup {
    html! {
        div {
            dt { (name) }
            dd { (value.unwrap_or_else(|| "none".to_string())) @if let Some(beside) = beside { small { (joined(&beside)) } } }
        }
    }
}

/// Missed releases, where there are releases.
pub fn missed(missed: Option<u64>) -> String {
    missed.map_or_else(|| NOT_DEFINED.to_string(), count)
}

/// The name of the count of what was recorded.
pub fn cycles(run: &Run) -> &'static str {
    if run.asked.method.is_periodic() { "Cycles" } else { terms::of_run(run).titles }
}

fn missed_share(total: &Summary) -> Option<String> {
    let share = percent_of(total.missed?, total.activations)?;
    Some(format!("{share} of the releases"))
}

fn releases_due(run: &Run) -> Option<String> {
    if let Some(responses) = run.responses() {
        return Some(format!("of {} stimuli", grouped(responses.stimuli)));
    }
    run.has_releases().then(|| format!("{} releases were due", grouped(run.total.activations)))
}
