//! The end of the part of a run: what was lost, what measuring cost, the command, the files.

use super::folds::Fold;
use super::markup::{count, firm, pairs, plural, scrolling};
use crate::sentence;
use crate::units::{bytes, grouped, percent, with_fixed_spaces};
use latlab_model::run::AgentEnd;
use latlab_model::{Nanos, Run};
use maud::html;

/// What was lost.
pub fn losses(run: &Run) -> Fold {
    let lost = sentence::losses(run).into_iter().filter(|(_, number)| *number > 0);
    let lost: Vec<(&str, String)> = lost.map(|(what, number)| (what, count(number))).collect();
    let unknown = sentence::unknown_end(run);
    let sum = if lost.is_empty() && unknown.is_none() { "none" } else { "some" };
    let content = html! {
        @if let Some(unknown) = unknown { p { (unknown) } }
        @else if lost.is_empty() {
            p { (sentence::nothing_lost(run)) }
        }
        @if !lost.is_empty() { div.counters { (pairs("Lost", lost)) } }
    };
    Fold::new("losses", "Losses", content).sum(Some(sum.to_string()))
}

/// What the agent took; a capture and an import have none.
pub fn cost(run: &Run) -> Option<Fold> {
    if !run.asked.method.has_agent() {
        return None;
    }
    let caption = "Resources used by the agent, without the measuring threads";
    let content = html! {
        @match &run.agent {
            Some(end) => (pairs(caption, cost_rows(run, end))),
            None => p { "The agent sent no resource figures." },
        }
    };
    Some(Fold::new("cost", "Cost of measuring", content))
}

fn cost_rows(run: &Run, end: &AgentEnd) -> Vec<(&'static str, String)> {
    let share = match run.measured_ns > Nanos::ZERO {
        true => percent(end.helpers_cpu_ns.as_secs_f64() / run.measured_ns.as_secs_f64()),
        false => "unknown share".to_string(),
    };
    let mut rows = vec![
        ("Largest resident memory", bytes(end.agent_peak_rss_bytes)),
        ("CPU time of the helper threads", format!("{} ({share} of one CPU)", end.helpers_cpu_ns)),
    ];
    if let Some(work) = sentence::own_work(run) {
        rows.push(("latlab's own threads", work));
    }
    if let Some(hook) = &end.spike_hook {
        rows.push((
            "Spike command",
            format!(
                "started {} times, skipped {} times, failed {} times, {} of CPU time",
                grouped(hook.started),
                grouped(hook.suppressed),
                grouped(hook.failed),
                hook.cpu_ns,
            ),
        ));
    }
    rows.into_iter().map(|(name, value)| (name, with_fixed_spaces(&value))).collect()
}

/// The exact command.
pub fn repeat(run: &Run) -> Fold {
    Fold::new("repeat", "Repeat it", html! { pre { code { (run.asked.repeat()) } } })
}

/// The files of the run with their checksums.
pub fn files(run: &Run) -> Option<Fold> {
    if run.files.is_empty() {
        return None;
    }
    let table = html! {
        table.words {
            caption { span { "SHA-256 of each file of the run" } }
            thead { tr { @for name in ["File", "Size", "SHA-256"] { th scope="col" { (name) } } } }
            tbody {
                @for (name, file) in &run.files {
                    tr { th scope="row" { (name) } td { (firm(&bytes(file.bytes))) } td { code { (file.sha256) } } }
                }
            }
        }
    };
    let sum = Some(plural(run.files.len(), "file"));
    Some(
        Fold::new("files", "Files of the run", scrolling("Files of the run", false, table))
            .sum(sum),
    )
}
