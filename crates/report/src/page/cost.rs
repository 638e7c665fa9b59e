//! What measuring took from the machine.

use super::tables::pairs;
use crate::page::place::Place;
use crate::units::{bytes, grouped, joined, percent};
use latlab_model::run::End;
use latlab_model::{Nanos, Run};
use maud::{Markup, html};

/// What the agent took.
pub fn cost(run: &Run, place: &Place) -> Markup {
    let caption = "What the agent took from the machine, beside the measuring threads";
    let content = html! {
        @match &run.agent {
            Some(end) => (pairs(caption, cost_rows(run, end))),
            None => p { "The agent said nothing at its end." },
        }
    };
    place.section("cost", "Cost of measuring", content)
}

fn cost_rows(run: &Run, end: &End) -> Vec<(&'static str, String)> {
    let share = match run.measured_ns > Nanos::ZERO {
        true => percent(end.helpers_cpu_ns.as_secs_f64() / run.measured_ns.as_secs_f64()),
        false => "unknown share".to_string(),
    };
    let mut rows = vec![
        ("Largest resident memory", bytes(end.agent_peak_rss_bytes)),
        ("CPU time of the helpers", format!("{} ({share} of one CPU)", end.helpers_cpu_ns)),
    ];
    if let Some(hook) = &end.spike_hook {
        rows.push((
            "Spike command",
            format!(
                "started {} times, left out {} times, failed {} times, {} of CPU time",
                grouped(hook.started),
                grouped(hook.suppressed),
                grouped(hook.failed),
                hook.cpu_ns,
            ),
        ));
    }
    rows.into_iter().map(|(name, value)| (name, joined(&value))).collect()
}
