//! Further facts about a part of the breakdown, and why a spike is not explained, as clauses.

use latlab_model::explanation::{BlamePart, CauseEvidence, UnexplainedReason};
use latlab_model::units::counted;

/// Why a spike is not explained, or only in part.
pub fn reason(reason: UnexplainedReason) -> &'static str {
    match reason {
        UnexplainedReason::NoEvents => "no event of its CPU is recorded",
        UnexplainedReason::ReleaseOverwritten => "the events of its release were overwritten",
        UnexplainedReason::EventsLost => "events were lost",
        UnexplainedReason::WakeUpUnknown => {
            "the recorded events do not show when the thread was woken"
        }
        UnexplainedReason::SwitchUnknown => "the kernel did not record the switch to the thread",
        UnexplainedReason::SilentInterrupt => "nothing was recorded in the timer's interrupt",
        UnexplainedReason::SilentThread => {
            "nothing was recorded while the thread itself had the CPU"
        }
        UnexplainedReason::CauseUnknown => "the recorded events do not show the cause",
        UnexplainedReason::OnlyTheProgram => {
            "only events of the program were recorded; --explain records all of its CPU"
        }
    }
}

pub fn detail(part: &BlamePart) -> Option<String> {
    Some(match part.evidence.as_ref()? {
        CauseEvidence::TimerOf { thread } => format!("a timer of {thread}"),
        CauseEvidence::Called { function, thread } => {
            let within = thread.as_ref().map(|thread| format!("in {thread}"));
            let parts: Vec<String> = function.clone().into_iter().chain(within).collect();
            parts.join(" ")
        }
        CauseEvidence::IdleState { state } => format!("idle state {state}"),
        CauseEvidence::CpuIdle => "the CPU was idle".to_string(),
        CauseEvidence::RanInstead { thread } => format!("{thread} ran instead"),
        CauseEvidence::Stolen { silence_ns, rose_ns } => {
            format!("no event for {silence_ns}, while steal rose by {rose_ns}")
        }
        CauseEvidence::NotWoken { silence_ns } => {
            format!("it did not wake its idle CPU for {silence_ns}")
        }
        CauseEvidence::Silence { reason: silence } => reason(*silence).to_string(),
        CauseEvidence::LinesPrinted { lines } => counted(*lines, "line printed", "lines printed"),
        CauseEvidence::ConsoleThread => "the thread of the console".to_string(),
        CauseEvidence::PageFaults { faults } => counted(*faults, "page fault", "page faults"),
        CauseEvidence::CpuChange => "a CPU was taken away or brought back".to_string(),
        CauseEvidence::AllCpusStopped => {
            "all CPUs are stopped for hot-plug, a module, or a patch of code".to_string()
        }
        CauseEvidence::InCall { call } => format!("in {call}"),
        CauseEvidence::WokenBy { thread } => format!("until {thread} woke it"),
        CauseEvidence::ShorterCauses { causes } => {
            format!("and {}", counted(*causes, "shorter cause", "shorter causes"))
        }
    })
}
