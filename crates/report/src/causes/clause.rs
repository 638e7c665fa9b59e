//! What took most of a cycle, as a clause.

use super::{detail, urgency_of};
use crate::sections::explanation::cause_words;
use crate::units::short;
use latlab_model::explanation::{CauseKind, SpikeBlame, UnexplainedReason, WakePhase};

/// `2.6 ms of it waiting for a futex that logger (nice 0) held`; `None` if nothing is known of it.
pub fn clause(blame: &SpikeBlame) -> Option<String> {
    let Some(cause) = &blame.cause else { return unclear(blame) };
    let longest = blame.longest.as_ref();
    let urgency = longest.and_then(|part| urgency_of(part.thread.as_ref()?));
    let urgency = urgency.map(|words| format!(" ({words})")).unwrap_or_default();
    let detail = longest.and_then(detail);
    let words = detail.as_ref().map(|words| format!(", {words}")).unwrap_or_default();
    let name = &cause.name;
    let what = match cause.kind {
        CauseKind::Lock => format!("waiting for a futex that {name}{urgency} held"),
        CauseKind::Call => format!("asleep in {name}{words}"),
        CauseKind::Thread => format!("while {name}{urgency} had its CPU"),
        CauseKind::Execution => "in its own work".to_string(),
        CauseKind::PreviousCycle => "before its previous cycle had ended".to_string(),
        CauseKind::OwnSleep => name.clone(),
        CauseKind::PageFaults if name.is_empty() => "waiting for a page".to_string(),
        CauseKind::WakeUp => "in the wake-up itself".to_string(),
        CauseKind::Throttled => {
            format!("kept off its CPU by a limit of CPU time{words}")
        }
        _ => format!("for {}{urgency}{words}", cause_words(cause)),
    };
    Some(format!("{} of it {what}", short(blame.cause_ns.0 as f64)))
}

/// What is known of the time that is not explained.
fn unclear(blame: &SpikeBlame) -> Option<String> {
    let unknown = blame.parts.iter().filter(|part| part.cause.kind == CauseKind::Unknown);
    let longest = unknown.max_by_key(|part| part.length())?;
    let when = match longest.phase {
        WakePhase::TimerLate => "until it was woken",
        WakePhase::Work => "in its work",
        _ => "until it ran",
    };
    let how = match blame.reason {
        Some(UnexplainedReason::OnlyTheProgram) => "which only --explain records",
        _ => "which is not recorded",
    };
    Some(format!("{} of it {when}, {how}", short(longest.length().0 as f64)))
}
