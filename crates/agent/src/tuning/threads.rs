//! Changes the priority of interrupt threads.

use super::{Away, Recipe, Step, StepObject, TuningContext, group_values};
use latlab_sys::child::processes;
use latlab_sys::process::Stat;
use latlab_sys::sched::ThreadScheduling;
use latlab_sys::undo::{ThreadId, is_irq_thread};

/// More names than this are only counted.
const NAMED: usize = 20;

/// All interrupt threads whose names contain this.
pub fn irq_threads(ground: &TuningContext, pattern: &str, priority: u8) -> Result<Recipe, String> {
    let all = threads(ground);
    let (chosen, others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, stat)| stat.name.contains(pattern));
    if chosen.is_empty() {
        return Err(nothing(pattern, &others));
    }
    let wanted = ThreadScheduling::fifo(priority).to_string();
    let had: Vec<(String, String)> = chosen
        .iter()
        .map(|(_, stat)| (stat.name.clone(), format!("{} {}", stat.policy_word(), stat.priority)))
        .filter(|(_, now)| *now != wanted)
        .collect();
    let names: Vec<&str> = chosen.iter().map(|(_, stat)| stat.name.as_str()).collect();
    let asked = format!("{wanted} ({})", names.join(", "));
    let steps = chosen.iter().map(|(id, stat)| Step {
        target: StepObject::Thread(ThreadId { id: *id, started: stat.started }),
        of: stat.name.clone(),
        value: wanted.clone(),
    });
    Ok(Recipe {
        steps: steps.collect(),
        asked,
        before: group_values(&had),
        some_may_stay: false,
        away: Away::default(),
    })
}

fn threads(ground: &TuningContext) -> Vec<(u32, Stat)> {
    let mut ids = processes(ground.root);
    ids.sort_unstable();
    let stats = ids.into_iter().filter_map(|id| Some((id, Stat::read(ground.root, id)?)));
    stats.filter(|(_, stat)| is_irq_thread(stat)).collect()
}

fn nothing(pattern: &str, there: &[(u32, Stat)]) -> String {
    if there.is_empty() {
        return "this kernel has no interrupt threads: boot a PREEMPT_RT kernel, or this one with \
                threadirqs"
            .to_string();
    }
    let names: Vec<&str> = there.iter().take(NAMED).map(|(_, stat)| stat.name.as_str()).collect();
    let more = match there.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "no thread of an interrupt has '{pattern}' in its name; available: {}{more}",
        names.join(", ")
    )
}
