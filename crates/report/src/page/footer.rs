//! The end of the part of a run: what was lost, what measuring cost, the command, the files.

use super::markup::{Outline, count, firm, pairs, scrolling};
use crate::command::command;
use crate::sentence;
use crate::units::{bytes, grouped, joined, percent};
use latlab_model::run::AgentEnd;
use latlab_model::{Nanos, Run};
use maud::{Markup, html};

/// The counters of what was lost.
pub fn losses(run: &Run, outline: &Outline) -> Markup {
    let counters = sentence::losses(run).map(|(what, number)| (what, count(number)));
    let content = html! {
        @match sentence::unknown_end(run) {
            Some(unknown) => p { (unknown) },
            None => @if run.losses.none() { p { (sentence::nothing_lost(run)) } },
        }
        div.counters { (pairs("Losses", counters)) }
    };
    outline.section("losses", "Losses", content)
}

/// What the agent took.
pub fn cost(run: &Run, outline: &Outline) -> Markup {
    let caption = "Resources used by the agent, without the measuring threads";
    let content = html! {
        @match &run.agent {
            Some(end) => (pairs(caption, cost_rows(run, end))),
            None => p { "The agent sent no resource figures." },
        }
    };
    outline.section("cost", "Cost of measuring", content)
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
    rows.into_iter().map(|(name, value)| (name, joined(&value))).collect()
}

/// The exact command.
pub fn repeat(run: &Run, outline: &Outline) -> Markup {
    outline.section("repeat", "Repeat it", html! { pre { code { (command(&run.asked)) } } })
}

/// The files of the run with their checksums.
pub fn files(run: &Run) -> Markup {
    if run.files.is_empty() {
        return html! {};
    }
    let table = html! {
        table.words {
            caption { "SHA-256 of each file of the run" }
            thead { tr { @for name in ["File", "Size", "SHA-256"] { th scope="col" { (name) } } } }
            tbody {
                @for (name, file) in &run.files {
                    tr { th scope="row" { (name) } td { (firm(&bytes(file.bytes))) } td { code { (file.sha256) } } }
                }
            }
        }
    };
    html! {
        details {
            summary { "Files of the run" }
            (scrolling("Files of the run", false, table))
        }
    }
}
