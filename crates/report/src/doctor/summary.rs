//! What the doctor said of the machine of a run, in short: the weighty findings, a line each.

use crate::doctor::severity_colour;
use crate::page::findings::severities;
use crate::page::folds::Fold;
use crate::page::markup::prose;
use crate::terminal::style::Style;
use crate::terminal::table::wrapped;
use latlab_model::Run;
use latlab_model::doctor::Diagnosis;
use latlab_model::run::Severity;
use latlab_model::shell::{self, Line};
use maud::{Markup, html};

/// The findings that weigh, and how many others there are.
pub(crate) fn weighty(run: &Run) -> (Vec<&Diagnosis>, usize) {
    let all = run.doctor.iter().flatten();
    let (weighty, others): (Vec<_>, Vec<_>) = all.partition(|one| one.severity > Severity::Info);
    (weighty, others.len())
}

/// Where the rest can be read.
fn rest(run: &Run, others: usize) -> String {
    let more = match others {
        0 => String::new(),
        others => format!("\n  {others} more are of severity info."),
    };
    // A command stays in one line, to be copied.
    format!("Reasons and remedies: `{}`.{more}", shell::latlab("doctor", &run.id))
}

/// For the terminal; nothing where nothing weighs.
pub fn text(run: &Run, width: usize, style: Style) -> String {
    let (weighty, others) = weighty(run);
    if weighty.is_empty() {
        return String::new();
    }
    let each = weighty.into_iter().map(|one| {
        let severity = style.paint(severity_colour(one.severity), &format!("{:<7}", one.severity));
        format!("  {severity} {}\n", wrapped(&format!("{} [{}]", one.text, one.code), width, 10))
    });
    let each: String = each.collect();
    format!("Diagnoses of this machine:\n{each}  {}\n", rest(run, others))
}

/// For the page, with reasons and remedies.
pub fn fold(run: &Run) -> Option<Fold> {
    let all: Vec<&Diagnosis> = run.doctor.iter().flatten().collect();
    if all.is_empty() {
        return None;
    }
    let (weighty, others): (Vec<&Diagnosis>, Vec<&Diagnosis>) =
        all.iter().copied().partition(|one| one.severity > Severity::Info);
    let content = html! {
        @if !weighty.is_empty() { (list(&weighty)) }
        @if !others.is_empty() {
            details {
                summary { (others.len()) " of severity info" }
                (list(&others))
            }
        }
    };
    let sum = severities(all.iter().map(|one| one.severity));
    Some(Fold::new("doctor", "Diagnoses of this machine", content).sum(Some(sum)))
}

fn list(all: &[&Diagnosis]) -> Markup {
    html! {
        ul.findings {
            @for one in all {
                li class=(one.severity) {
                    p { span.tag { (one.severity) } " " span.where { code { (one.code) } } }
                    p { (prose(&one.text)) }
                    dl.reasons {
                        dt { "Why" } dd { (prose(&one.why)) }
                        dt { "Cost" } dd { (prose(&one.cost)) }
                        @if let Some(remedy) = &one.remedy { dt { "Remedy" } dd { (remedy_of(remedy)) } }
                        @if let Some(undo) = &one.undo { dt { "Undo" } dd { (remedy_of(undo)) } }
                    }
                }
            }
        }
    }
}

/// A command stays as it is, to be copied.
fn remedy_of(line: &Line) -> Markup {
    html! { @if line.is_command() { pre { code { (line) } } } @else { (prose(line.as_str())) } }
}
