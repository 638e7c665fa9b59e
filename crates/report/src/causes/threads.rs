//! Names the threads of a cause.

use latlab_model::explanation::TracedThread;

/// The owner: `of cargo, process 60`. `None` for the main thread of a process and for kernel
/// threads.
pub(crate) fn process_of(thread: &TracedThread) -> Option<String> {
    let known = thread.known.as_ref().filter(|known| known.process != known.id)?;
    Some(format!("of {}, process {}", known.name, known.process))
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
