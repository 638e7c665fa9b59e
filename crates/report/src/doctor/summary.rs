//! What the doctor said of the machine of a run, in short: the weighty findings, a line each.

use crate::doctor::severity_colour;
use crate::page::markup::Outline;
use crate::page::markup::prose;
use crate::terminal::style::Style;
use crate::terminal::table::wrapped;
use latlab_model::Run;
use latlab_model::doctor::Diagnosis;
use latlab_model::run::Severity;
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
        others => format!(", and {others} more of severity info"),
    };
    format!("Reasons and remedies: `latlab doctor {}`{more}.", run.id)
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
    let rest = wrapped(&rest(run, others), width, 2);
    format!("Diagnoses of this machine:\n{each}  {rest}\n")
}

/// For the page.
pub fn section(run: &Run, outline: &Outline) -> Markup {
    let (weighty, others) = weighty(run);
    html! {
        @if !weighty.is_empty() {
            (outline.section("doctor", "Diagnoses of this machine", html! {
                ul.findings {
                    @for one in weighty {
                        li class=(one.severity) {
                            p { span.tag { (one.severity) } " " span.where { code { (one.code) } } }
                            p { (prose(&one.text)) }
                        }
                    }
                }
                p { (prose(&rest(run, others))) }
            }))
        }
    }
}
