//! Names the threads of a cause.

use latlab_model::Run;
use latlab_model::explanation::TracedThread;
use latlab_model::plan::Policy;

/// The policy of the measured threads; for a program, that of its least urgent judged thread.
pub(crate) fn measured_policy(run: &Run) -> Option<Policy> {
    let threads = run.attached.iter().flat_map(|attached| &attached.threads);
    let judged = threads.filter(|thread| thread.found.setup.is_some());
    let priority = judged.filter_map(|thread| {
        let words = thread.found.policy.strip_prefix("fifo ");
        words.or(thread.found.policy.strip_prefix("rr "))?.parse().ok()
    });
    let of_program = || priority.min().map(|priority| Policy::Fifo { priority });
    run.asked.who.policy.or_else(of_program)
}

/// The owner: `of cargo, process 60`. `None` for the main thread of a process and for kernel
/// threads.
pub(crate) fn process_of(thread: &TracedThread) -> Option<String> {
    let known = thread.known.as_ref().filter(|known| known.process != known.id)?;
    Some(format!("of {}, process {}", known.name, known.process))
}

/// `real-time priority 95`, `deadline` or `nice 0`; `None` if it is not known.
pub fn urgency_of(thread: &TracedThread) -> Option<String> {
    const NICE_0: i32 = 120;
    let priority = thread.kernel_priority?;
    realtime(Some(priority)).or_else(|| Some(format!("nice {}", priority - NICE_0)))
}

/// `real-time priority 95` or `deadline`; `None` for a SCHED_OTHER thread.
pub fn priority_of(thread: &TracedThread) -> Option<String> {
    realtime(thread.kernel_priority)
}

/// A priority in kernel numbering; `None` for that of a SCHED_OTHER thread.
pub(crate) fn realtime(kernel_priority: Option<i32>) -> Option<String> {
    match kernel_priority? {
        ..0 => Some("deadline".to_string()),
        priority @ 0..=98 => Some(format!("real-time priority {}", 99 - priority)),
        _ => None,
    }
}
