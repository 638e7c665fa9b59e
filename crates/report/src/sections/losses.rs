//! Lost data, and the cost of measuring.

use crate::document::{On, Section};
use crate::sentence;
use crate::units::{bytes, grouped, percent};
use latlab_model::{Nanos, Run};

pub fn section(run: &Run) -> Section {
    let lost = sentence::losses(run).into_iter().filter(|(_, count)| *count > 0);
    let lost: Vec<String> =
        lost.map(|(what, count)| format!("{what}: {}", grouped(count))).collect();
    let unknown = sentence::unknown_end(run);
    let section = Section::new("losses", "Losses");
    if lost.is_empty() {
        let (sum, text) = match unknown {
            Some(unknown) => ("some", unknown),
            None => ("none", sentence::nothing_lost(run).to_string()),
        };
        return section.sum(Some(sum.to_string())).without_title().text(text);
    }
    section.list(lost).texts(unknown)
}

/// The agent's overhead; `None` for captures and imports.
pub fn cost(run: &Run) -> Option<Section> {
    if !run.asked.method.has_agent() {
        return None;
    }
    let section = Section::new("cost", "Cost of measuring");
    let Some(end) = &run.agent else {
        return Some(section.on(On::Page).text("The agent sent no resource figures."));
    };
    let share = end.helpers_cpu_ns.as_secs_f64() / run.measured_ns.as_secs_f64();
    let share = match run.measured_ns > Nanos::ZERO {
        true => format!(" ({} of one CPU)", percent(share)),
        false => String::new(),
    };
    let hook = end.spike_hook.as_ref().map(|hook| {
        format!(
            "The spike command was started {} times, skipped {} times, failed {} times, and took {} of CPU \
             time.",
            grouped(hook.started),
            grouped(hook.suppressed),
            grouped(hook.failed),
            hook.cpu_ns,
        )
    });
    let own = format!(
        "{} of memory at most, {} of CPU time outside the loops{share}.",
        bytes(end.agent_peak_rss_bytes),
        end.helpers_cpu_ns,
    );
    Some(section.text(own).texts(sentence::self_interference(run)).texts(hook))
}

/// The number of stored samples; `None` if there are none.
pub fn samples(run: &Run) -> Option<Section> {
    let text = sentence::samples(run)?;
    Some(Section::new("samples", "Samples").without_title().text(text))
}
