//! Fault injection on the host: pauses a guest as the scheduler of a busy host would.

use latlab_model::fault::{Fault, InjectedFault};
use latlab_model::{Nanos, Plan};
use latlab_sys::child::signal;
use latlab_sys::process::KillSignal;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The pending pauses.
pub struct PauseSchedule {
    left: Vec<Fault>,
    /// When the guest started to measure, by the host's clock.
    begun: Option<Instant>,
}

impl PauseSchedule {
    pub fn new(plan: &Plan) -> PauseSchedule {
        let faults = Fault::among(&plan.on.loads);
        let left = faults.filter(|fault| fault.kind == InjectedFault::HypervisorPause).collect();
        PauseSchedule { left, begun: None }
    }

    /// Makes the pauses that are due within `next`; `measured` returns how far the guest is.
    pub fn run_due(&mut self, next: Duration, guest: &Child, measured: &dyn Fn() -> Nanos) {
        if self.left.is_empty() {
            return;
        }
        let begun = match self.begun {
            Some(begun) => begun,
            None => match measured() {
                Nanos::ZERO => return,
                measured => {
                    Instant::now().checked_sub(measured.duration()).unwrap_or_else(Instant::now)
                }
            },
        };
        self.begun = Some(begun);
        self.left.retain(|pause| {
            let at = begun + pause.at_ns.duration();
            let is_due = at < Instant::now() + next;
            if is_due {
                sleep(at.saturating_duration_since(Instant::now()));
                signal(guest.id(), KillSignal::STOP);
                sleep(pause.length_ns.duration());
                signal(guest.id(), KillSignal::CONT);
            }
            !is_due
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::plan::OnMachine;
    use std::process::{Command, Stdio};

    /// Run time of a process of 200 ms with these pauses.
    fn total_length(faults: &[&str]) -> Duration {
        let loads =
            faults.iter().map(|words| words.parse::<Fault>().unwrap().load(words, Nanos::ZERO));
        let plan = Plan {
            on: OnMachine { loads: loads.collect(), ..OnMachine::default() },
            ..Plan::default()
        };
        let mut pauses = PauseSchedule::new(&plan);
        let begun = Instant::now();
        let mut guest = Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 20 ]; do sleep 0.01; i=$((i+1)); done"])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        while guest.try_wait().unwrap().is_none() {
            pauses.run_due(Duration::from_millis(5), &guest, &|| Nanos(1));
            sleep(Duration::from_millis(5));
        }
        assert!(pauses.left.is_empty());
        begun.elapsed()
    }

    #[test]
    fn a_paused_process_takes_longer_by_the_pause() {
        let long = total_length(&["hypervisor-pause@20ms:700ms", "irqs-off@1s:2ms"]);
        assert!(long > Duration::from_millis(880), "{long:?}");
    }
}
