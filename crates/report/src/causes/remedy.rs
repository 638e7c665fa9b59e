//! What to do about a cause.

use super::facts::Facts;
use super::kinds::{case, words};
use latlab_model::explanation::{CauseKind, RunCause};
use latlab_model::plan::Policy;
use latlab_model::sanitize::is_hidden;
use latlab_model::shell::{self, Line};

/// A command or a sentence. `policy` is that of the measured threads. The result contains names
/// unchanged, not sanitized.
pub fn remedy(cause: &RunCause, policy: Option<Policy>) -> Line {
    cause.remedy.clone().unwrap_or_else(|| remedy_of(cause, policy))
}

fn remedy_of(cause: &RunCause, policy: Option<Policy>) -> Line {
    let facts = Facts::of_run(cause, policy);
    let priority = match policy {
        Some(Policy::Fifo { priority } | Policy::Rr { priority }) => priority,
        _ => Policy::DEFAULT_PRIORITY,
    };
    let number = |of: Option<i64>| shell::word(of.unwrap_or_default().to_string());
    // The process of what is started is not that of its starter.
    let process = facts.process.filter(|_| cause.cause.kind != CauseKind::Starts);
    let parts = [
        ("name", shell::word(facts.name)),
        ("process", shell::operand(pattern(process.unwrap_or(facts.name)))),
        ("threads", shell::operand(pattern(facts.name))),
        ("interrupt", number(facts.interrupt.map(i64::from))),
        ("id", number(facts.id.map(i64::from))),
        ("lower", shell::word(priority.saturating_sub(1).max(1).to_string())),
    ];
    Line::filled(case(words(cause.cause.kind).remedy, &facts), &parts)
}

/// A `pgrep` pattern that matches only this name; a thread may have any name.
fn pattern(name: &str) -> String {
    let mut escaped = String::new();
    for one in name.chars() {
        match one {
            '.' | '[' | ']' | '(' | ')' | '*' | '+' | '?' | '{' | '}' | '|' | '^' | '$' | '\\' => {
                escaped.extend(['\\', one]);
            }
            // An unreadable or unprintable character matches any.
            char::REPLACEMENT_CHARACTER => escaped.push('.'),
            one if is_hidden(one) => escaped.push('.'),
            one => escaped.push(one),
        }
    }
    escaped
}
