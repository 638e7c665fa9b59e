//! The answer of a run, above its figures.

use crate::document::{Block, On, Section};
use crate::facts;
use crate::sections::respond;
use crate::sentence;
use crate::summary;
use crate::verdict::{Parts, bound, judgement};
use latlab_model::Run;
use latlab_model::run::Verdict;

/// The answer in a sentence, with the place of the largest latency.
pub fn headline(run: &Run) -> String {
    match &run.verdict {
        Some(verdict) => judgement(run, verdict).sentence(Parts::WithPlace),
        None => sentence::headline(run),
    }
}

/// The conditions, the basis of the verdict, and further parts of the answer.
pub fn section(run: &Run) -> Section {
    let bound = basis(run, bound);
    let worthless = worthless(run).map(str::to_string);
    let lead = Some(sentence::lead(run).join(" ")).filter(|lead| !lead.is_empty());
    // With a verdict the headline already has the place.
    let place = run.verdict.is_none().then(|| sentence::maximum_place(run)).flatten();
    let place = place.filter(|place| !place.is_empty() && run.attached.is_none());
    let place = place.map(|place| format!("Observed maximum: {place}."));
    let said = bound.into_iter().chain(worthless).chain(lead).chain(place);
    let section = Section::new("answer", "In words").without_title();
    said.fold(section.text(summary::conditions(run)), Section::text)
}

/// The bound that the verdict gives, in the words of `bound`, or why there is no verdict.
pub fn basis(run: &Run, bound: fn(&Run, &Verdict) -> Option<String>) -> Option<String> {
    match &run.verdict {
        Some(verdict) => bound(run, verdict),
        None if run.attached.is_some() => {
            Some("Not judged: no thread has a period, and no `--deadline` was given.".to_string())
        }
        None => Some("Not judged: no deadline was given (`--deadline TIME`).".to_string()),
    }
}

/// What a run without a verdict says of its figures if a finding makes it invalid.
pub fn worthless(run: &Run) -> Option<&'static str> {
    let is_worthless = run.verdict.is_none() && facts::is_invalid(run);
    is_worthless.then_some("A finding makes these figures worthless or incomplete.")
}

/// How the run was measured, on one line.
pub fn method(run: &Run) -> String {
    let plan = &run.asked;
    if plan.method.is_capture() {
        return respond::method_name(run);
    }
    let releases = plan.method.releases();
    let clock = plan.method.clock().filter(|_| plan.method.is_periodic());
    let how = [
        Some(plan.method.to_string()),
        clock.map(|clock| format!("clock {clock}")),
        plan.who.policy.map(|policy| policy.to_string()),
        plan.method.rhythm(),
        releases.map(|releases| format!("phase {}", releases.phase)),
    ];
    format!("{}; {}", how.into_iter().flatten().collect::<Vec<_>>().join(", "), run.id)
}

/// Remarks on responses, besides their figures.
pub fn notes(run: &Run) -> Option<Section> {
    let text = run.asked.method.is_response().then(|| respond::sentences(run).join(" "))?;
    let section = Section::new("words", "In words").without_title();
    (!text.is_empty()).then(|| section.text(text))
}

/// The exact command.
pub fn repeat(run: &Run) -> Section {
    Section::new("repeat", "Repeat it").add(On::All, Block::Command(run.asked.repeat()))
}
