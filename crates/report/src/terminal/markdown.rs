//! A run, or a list of runs, as Markdown for issues and wikis.
//!
//! Names and texts come from the machine and from users: whatever they hold, they stay text in
//! their place.

use crate::sections::changes;
use crate::sections::conditions;
use crate::sections::legs;
use crate::sections::load;
use crate::sentence;
use crate::terminal::table::escaped;
use crate::terminal::table::markdown as table;
use crate::terminal::text::{ListEntry, list_columns, list_notes, thread_columns};
use crate::units::grouped;
use crate::verdict::sentences;
use latlab_model::Run;
use latlab_model::run::Severity;
use latlab_model::sanitize::escape_lines;
use latlab_model::shell::Line;

/// What a run says, in the Markdown of GitHub.
pub fn markdown(run: &Run) -> String {
    let parts = [
        format!("### {}\n", escaped(&crate::summary::headline(run))),
        paragraph(&sentence::lead(run).join(" ")),
        verdict(run),
        threads(run),
        legs_of(run),
        losses(run),
        changes::sentence(run).map(|text| paragraph(&text)).unwrap_or_default(),
        findings(run),
        loads(run),
        conditions_of(run),
        doctor(run),
        format!(
            "Measured with latlab {}, run {}. To repeat it:\n",
            escaped(&run.latlab),
            escaped(&run.id)
        ),
        fenced(run.asked.repeat().as_str()),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// The list of runs, one a row.
pub fn markdown_list(entries: &[ListEntry]) -> String {
    let notes = list_notes(entries).into_iter();
    let notes = notes.map(|note| format!("\n{}", paragraph(&note)));
    table(&list_columns(entries)) + &notes.collect::<String>()
}

/// Text as a block of code that it cannot end.
fn fenced(text: &str) -> String {
    let text = escape_lines(text);
    let fence = fence(&text, 3);
    format!("{fence}sh\n{text}\n{fence}\n")
}

/// A command as code that it cannot end, a sentence as text.
fn code_or_text(line: &Line) -> String {
    if !line.is_command() {
        return escaped(line.as_str());
    }
    let fence = fence(line.as_str(), 1);
    format!("{fence} {line} {fence}")
}

/// More backticks than the text has in a row.
fn fence(text: &str, least: usize) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat((longest + 1).max(least))
}

/// A paragraph whose first character cannot begin a list, a heading or a rule.
fn paragraph(text: &str) -> String {
    let text = escaped(text);
    match text.starts_with(|c: char| !c.is_alphanumeric()) {
        true => format!("\\{text}\n"),
        false if text.is_empty() => text,
        false => format!("{text}\n"),
    }
}

fn verdict(run: &Run) -> String {
    match &run.verdict {
        Some(verdict) => {
            format!(
                "**Verdict: {}.** {}\n",
                verdict.word.as_str(),
                escaped(&sentences(run, verdict))
            )
        }
        None if sentence::is_invalid(run) => {
            "**A finding makes these figures worthless or incomplete.**\n".to_string()
        }
        None => String::new(),
    }
}

/// What loaded the machine, with the evidence.
fn loads(run: &Run) -> String {
    let load = |(name, facts): (String, Vec<String>)| {
        let facts = facts.iter().map(|fact| format!("- {}\n", escaped(fact)));
        format!("**{}: {}**\n\n{}", load::TITLE, escaped(&name), facts.collect::<String>())
    };
    load::items(run).into_iter().map(load).collect::<Vec<_>>().join("\n")
}

fn threads(run: &Run) -> String {
    if run.threads.is_empty() {
        return String::new();
    }
    let place = sentence::maximum_place(run);
    let place = place.map(|place| format!(" Observed maximum: {}.", escaped(&place)));
    let kernel = Some(sentence::kernel(run)).filter(|kernel| !kernel.is_empty());
    let kernel = kernel.map(|kernel| format!("; kernel {}", escaped(&kernel)));
    let method = format!(
        "{}{}.{}\n",
        escaped(&sentence::conditions(run)),
        kernel.unwrap_or_default(),
        place.unwrap_or_default(),
    );
    format!("{}\n{method}", table(&thread_columns(run)))
}

fn legs_of(run: &Run) -> String {
    let Some((figures, said, largest)) = legs::parts(run) else { return String::new() };
    let largest = largest
        .map(|largest| format!("\nLargest latencies with known legs:\n\n{}", table(&largest)));
    format!("{}\n{}\n{}", table(&figures), escaped(&said), largest.unwrap_or_default())
}

fn losses(run: &Run) -> String {
    let lost = sentence::losses(run).into_iter().filter(|(_, count)| *count > 0);
    let lost: String =
        lost.map(|(what, count)| format!("- {what}: {}\n", grouped(count))).collect();
    let unknown = sentence::unknown_end(run).map(|text| format!("{text}\n")).unwrap_or_default();
    match lost.is_empty() {
        true if unknown.is_empty() => format!("{}\n", sentence::nothing_lost(run)),
        true => unknown,
        false => format!("Lost:\n\n{lost}\n{unknown}").trim_end().to_string() + "\n",
    }
}

fn findings(run: &Run) -> String {
    let lines = run.findings_by_weight().into_iter().map(|finding| {
        let place = sentence::finding_place(run, finding);
        let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
        let remedy = finding.remedy().map(|remedy| format!(" → {}", code_or_text(&remedy)));
        item(finding.severity(), &format!("{}{place}", finding.text()), finding.code())
            + &remedy.unwrap_or_default()
            + "\n"
    });
    section("Findings", lines.collect())
}

fn doctor(run: &Run) -> String {
    let weighty = run.doctor.iter().flatten().filter(|one| one.severity > Severity::Info);
    let lines = weighty.map(|one| item(one.severity, &one.text, &one.code) + "\n");
    section("Diagnoses of this machine", lines.collect())
}

fn item(severity: Severity, text: &str, code: &str) -> String {
    format!("- **{severity}**: {} \\[{}\\]", escaped(text), escaped(code))
}

fn conditions_of(run: &Run) -> String {
    let Some((readings, figures)) = conditions::figures(run) else { return String::new() };
    section(&format!("Conditions, {}", escaped(&readings)), table(&figures))
}

fn section(title: &str, content: String) -> String {
    match content.is_empty() {
        true => content,
        false => format!("{title}:\n\n{content}"),
    }
}
