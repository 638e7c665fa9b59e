//! What decides which of its texts a cause has.

use super::{priority_of, realtime};
use latlab_model::explanation::{Cause, CauseKind, RunCause, SpikeBlame, WakePhase};
use latlab_model::plan::Policy;

#[derive(Default)]
pub struct Facts<'a> {
    pub name: &'a str,
    /// The number of an interrupt or of its thread.
    pub interrupt: Option<u32>,
    /// `real-time priority 95`, or `deadline`; `None` for other threads.
    pub priority: Option<String>,
    pub id: Option<i32>,
    pub process: Option<&'a str>,
    /// Policy of the measured threads.
    pub policy: Option<Policy>,
    /// Whether the longest part ended before the timer's interrupt.
    pub before_interrupt: bool,
}

impl<'a> Facts<'a> {
    pub fn of(cause: &'a Cause) -> Facts<'a> {
        let name = cause.name.as_str();
        Facts { name, interrupt: interrupt(cause), ..Facts::default() }
    }

    pub fn of_spike(cause: &'a Cause, blame: &SpikeBlame) -> Facts<'a> {
        let longest = blame.longest.as_ref();
        let thread = longest.and_then(|part| part.thread.as_ref());
        Facts {
            priority: thread.and_then(priority_of),
            before_interrupt: longest.is_some_and(|part| part.phase == WakePhase::TimerLate),
            ..Facts::of(cause)
        }
    }

    pub fn of_run(cause: &'a RunCause, policy: Option<Policy>) -> Facts<'a> {
        Facts {
            priority: realtime(cause.kernel_priority),
            id: cause.thread,
            process: cause.process.as_deref(),
            policy,
            ..Facts::of(&cause.cause)
        }
    }
}

/// `33` of the interrupt `33 eth0` and of the thread `irq/33-eth0`. Other threads can have such a
/// name too, with anything in it.
fn interrupt(cause: &Cause) -> Option<u32> {
    let number = match cause.kind {
        CauseKind::Interrupt => cause.name.split_once(' ')?.0,
        CauseKind::Thread => cause.name.strip_prefix("irq/")?.split('-').next()?,
        _ => return None,
    };
    number.parse().ok()
}
