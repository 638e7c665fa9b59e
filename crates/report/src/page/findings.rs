//! What was found, the most costly first.

use crate::page::markup::Outline;
use crate::page::markup::prose;
use crate::sentence;
use crate::units::joined;
use latlab_model::Run;
use latlab_model::run::Finding;
use maud::{Markup, html};

/// The findings of a run.
pub fn findings(run: &Run, outline: &Outline) -> Markup {
    let list = html! {
        @if run.findings.is_empty() {
            p { "No finding." }
        } @else {
            ul.findings { @for finding in run.findings_by_weight() { (one_finding(run, finding)) } }
        }
    };
    outline.section("findings", "Findings", list)
}

fn one_finding(run: &Run, finding: &Finding) -> Markup {
    html! {
        li class=(finding.severity()) {
            p {
                span.tag { (finding.severity()) @if finding.invalidates() { ", makes the run invalid" } }
                " " span.where {
                    code { (finding.code()) }
                    @if let Some(words) = sentence::finding_place(run, finding) {
                        // Scripts make of a place with a time a way to that time.
                        " · " span data-at=[since_start(run, finding)] { (joined(&words)) }
                    }
                }
            }
            p { (prose(&finding.text())) }
            @if let Some(remedy) = finding.remedy() { p.remedy { strong { "Remedy: " } (prose(&remedy)) } }
        }
    }
}

/// Seconds since the first release.
fn since_start(run: &Run, finding: &Finding) -> Option<String> {
    let first = run.threads.iter().map(|one| one.setup.first_release_ns).min()?;
    Some(format!("{:.3}", (finding.at_ns? - first).as_secs_f64().max(0.0)))
}
