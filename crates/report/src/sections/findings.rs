//! The findings of a run, the heaviest first.

use crate::InWords;
use crate::document::{Item, Section, severities};
use crate::sentence;
use latlab_model::Run;
use latlab_model::finding::VerdictEffect;
use latlab_model::run::Finding;

pub fn section(run: &Run) -> Section {
    let section = Section::new("findings", "Findings");
    let section =
        section.sum(Some(severities(run.findings.iter().map(|finding| finding.severity()))));
    match run.findings.is_empty() {
        true => section.without_title().text("No finding."),
        false => {
            section.items(run.findings_by_weight().into_iter().map(|one| item(run, one)).collect())
        }
    }
}

fn item(run: &Run, finding: &Finding) -> Item {
    let since_start =
        finding.at_ns.zip(run.first_release()).map(|(at, first)| (at - first).as_secs_f64());
    Item {
        effect: match finding.effect() {
            VerdictEffect::None => "",
            VerdictEffect::ForbidsPass => ", forbids a pass",
            VerdictEffect::MakesInvalid => ", makes the run invalid",
        },
        place: sentence::finding_place(run, finding),
        since_start: since_start.map(|seconds| format!("{:.3}", seconds.max(0.0))),
        remedy: finding.remedy(),
        ..Item::new(finding.severity(), finding.text(), finding.code().to_string())
    }
}
