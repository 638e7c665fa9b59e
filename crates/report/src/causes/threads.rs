//! Threads of a cause in words.

use latlab_model::explanation::TracedThread;

/// Whose it is: `of cargo, process 60`; `None` for the first thread of a process, and for the kernel's.
pub(crate) fn process_of(thread: &TracedThread) -> Option<String> {
    let known = thread.known.as_ref().filter(|known| known.process != known.id)?;
    Some(format!("of {}, process {}", known.name, known.process))
}

/// Its priority: `real-time priority 95`, `deadline`; `None` for an ordinary thread.
pub fn priority_of(thread: &TracedThread) -> Option<String> {
    realtime(thread.kernel_priority)
}

/// A priority as the kernel counts; `None` for that of an ordinary thread.
pub(crate) fn realtime(kernel_priority: Option<i32>) -> Option<String> {
    match kernel_priority? {
        ..0 => Some("deadline".to_string()),
        priority @ 0..=98 => Some(format!("real-time priority {}", 99 - priority)),
        _ => None,
    }
}
