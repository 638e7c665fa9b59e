//! What was found, the most costly first.

use crate::InWords;
use crate::page::folds::Fold;
use crate::page::markup::{plural, prose};
use crate::sentence;
use crate::units::with_fixed_spaces;
use latlab_model::Run;
use latlab_model::finding::VerdictEffect;
use latlab_model::run::{Finding, Severity};
use maud::{Markup, html};

/// The findings of a run.
pub fn fold(run: &Run) -> Fold {
    let list = html! {
        @if run.findings.is_empty() {
            p { "No finding." }
        } @else {
            ul.findings { @for finding in run.findings_by_weight() { (one_finding(run, finding)) } }
        }
    };
    let sum = severities(run.findings.iter().map(|finding| finding.severity()));
    Fold::new("findings", "Findings", list).sum(Some(sum))
}

/// How many there are of each severity, the heaviest first.
pub fn severities(all: impl Iterator<Item = Severity>) -> String {
    let all: Vec<Severity> = all.collect();
    let many = |severity: Severity| {
        let count = all.iter().filter(|one| **one == severity).count();
        (count > 0).then(|| match severity {
            Severity::Info => format!("{count} of severity info"),
            severity => plural(count, severity.as_str()),
        })
    };
    let heaviest_first = [Severity::Error, Severity::Warning, Severity::Info];
    let parts: Vec<String> = heaviest_first.into_iter().filter_map(many).collect();
    if parts.is_empty() { "none".to_string() } else { parts.join(", ") }
}

fn one_finding(run: &Run, finding: &Finding) -> Markup {
    html! {
        li class=(finding.severity()) {
            p {
                span.tag { (finding.severity()) (effect(finding)) }
                " " span.where {
                    code { (finding.code()) }
                    @if let Some(words) = sentence::finding_place(run, finding) {
                        // Scripts make of a place with a time a way to that time.
                        " · " span data-at=[since_start(run, finding)] { (with_fixed_spaces(&words)) }
                    }
                }
            }
            p { (prose(&finding.text())) }
            @if let Some(remedy) = finding.remedy() { p.remedy { strong { "Remedy: " } (prose(remedy.as_str())) } }
        }
    }
}

fn effect(finding: &Finding) -> &'static str {
    match finding.effect() {
        VerdictEffect::None => "",
        VerdictEffect::ForbidsPass => ", forbids a pass",
        VerdictEffect::MakesInvalid => ", makes the run invalid",
    }
}

/// Seconds since the first release.
fn since_start(run: &Run, finding: &Finding) -> Option<String> {
    let first = run.threads.iter().map(|one| one.setup.first_release_ns).min()?;
    Some(format!("{:.3}", (finding.at_ns? - first).as_secs_f64().max(0.0)))
}
