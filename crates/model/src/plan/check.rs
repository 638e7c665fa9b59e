//! Checks a plan by itself; an error is one line for the user.

use super::{ClockName, Cyclic, Measurement, Mechanism, Method, Plan, Policy, Recorded, Tuning};
use crate::Nanos;
use crate::nanos::{MILLISECOND, SECOND};
use crate::target::Target;

/// More threads than this are treated as a mistake in the plan.
pub const MOST_THREADS: u32 = 4096;
/// One day; a longer interval is treated as a mistake.
const LONGEST_INTERVAL: Nanos = Nanos(86_400_000_000_000);
/// A longer warm-up is treated as a mistake.
const LONGEST_WARM_UP: Nanos = Nanos(3_600_000_000_000);

impl Plan {
    /// Checks that the plan makes sense and can be measured; an error is one line for the user.
    pub fn check(&self) -> Result<(), String> {
        Measurement::new(self.clone()).map(drop)
    }

    /// Checks what all methods share; an error is one line for the user.
    pub(super) fn check_shared(&self) -> Result<(), String> {
        self.check_times()?;
        self.check_counts()?;
        self.check_limit()?;
        self.check_detached()?;
        self.check_explain()?;
        self.check_program()?;
        self.check_tunings()?;
        self.check_timer_slack()?;
        self.who.policy.map_or(Ok(()), Policy::check)
    }

    fn check_times(&self) -> Result<(), String> {
        let refuse = |text: String| Err(text);
        if self.keep.interval_ns < MILLISECOND * 100 || self.keep.interval_ns > LONGEST_INTERVAL {
            return refuse(format!("--interval {}: expected 100ms to 24h", self.keep.interval_ns));
        }
        if let Some(every) = self
            .keep
            .telemetry
            .map(|telemetry| telemetry.every_ns)
            .filter(|every| !(MILLISECOND * 100..=SECOND * 3600).contains(every))
        {
            return refuse(format!("--telemetry {every}: expected 100ms to 1h, or off"));
        }
        for (option, limit) in [
            ("--deadline", self.until.deadline_ns),
            ("--stop-above", self.until.stop_above_ns),
            ("--spike-above", self.keep.spike_above_ns),
            ("--for", self.until.duration_ns),
        ] {
            if limit.is_some_and(|limit| limit <= Nanos::ZERO) {
                return refuse(format!("{option} must be more than 0"));
            }
        }
        if let Some(warm_up) = self.until.warm_up_ns.filter(|warm_up| *warm_up > LONGEST_WARM_UP) {
            return refuse(format!("--warm-up {warm_up}: expected at most 1h"));
        }
        match (self.until.duration_ns, self.method.period()) {
            (Some(length), Some(period)) if length < period => {
                refuse(format!("--for is shorter than --period {period}: no release would be due"))
            }
            _ => Ok(()),
        }
    }

    fn check_counts(&self) -> Result<(), String> {
        let refuse = |text: String| Err(text);
        if let Some(threads) = self.who.threads.filter(|count| !(1..=MOST_THREADS).contains(count))
        {
            return refuse(format!("--threads {threads}: expected 1 to {MOST_THREADS}"));
        }
        if self.until.cycles == Some(0) {
            return refuse("--cycles must be more than 0".into());
        }
        if self.keep.on_spike.is_some() && self.keep.spike_above_ns.is_none() {
            return refuse("--on-spike needs --spike-above, --deadline or --stop-above".into());
        }
        Ok(())
    }

    /// A burst limit requires misses, and releases that can miss.
    fn check_limit(&self) -> Result<(), String> {
        let refuse = |text: &str| Err(text.to_string());
        match self.until.limit_per_hour {
            None if self.until.decided => refuse("--until-decided needs --limit, such as 0.1/h"),
            None => Ok(()),
            Some(_) if self.until.deadline_ns.is_none() => refuse("--limit needs --deadline"),
            Some(_) if self.method.records() != Recorded::Latency => {
                refuse("--limit does not apply to this instrument, which has no releases")
            }
            Some(rate) if !(1e-6..=1e6).contains(&rate) => {
                refuse("--limit: expected 0.000001/h to 1000000/h")
            }
            Some(_) if self.until.decided && self.until.duration_ns.is_none() => {
                refuse("--until-decided needs --for, the longest time that it may take")
            }
            Some(_) => Ok(()),
        }
    }

    /// Without a link no decision can be made here, and only a board is behind a link.
    fn check_detached(&self) -> Result<(), String> {
        match &self.on.detached {
            Some(_) if !self.on.target.is_behind_a_link() => {
                Err("--detach needs a board, such as --target ssh://pi@board".to_string())
            }
            Some(_) if self.until.decided => {
                Err("--until-decided is decided here, which --detach is not: omit one of them"
                    .to_string())
            }
            _ => Ok(()),
        }
    }

    /// The recorder locates each latency by its release in the kernel's events.
    fn check_explain(&self) -> Result<(), String> {
        let has_releases = match &self.method {
            Method::Cyclic(cyclic) => cyclic.mechanism != Mechanism::Relative,
            Method::Handoff(_) | Method::Attach(_) => true,
            Method::Spin(_) | Method::Timerlat(_) | Method::Respond(_) | Method::Import(_) => false,
        };
        match self.keep.explain
            && !(has_releases && self.method.clock() == Some(ClockName::Monotonic))
        {
            true => Err("--explain requires --clock monotonic and --instrument cyclic (but not \
                         --mechanism relative), handoff or attach"
                .to_string()),
            false => Ok(()),
        }
    }

    /// A guest has no programs but the agent.
    fn check_program(&self) -> Result<(), String> {
        match (&self.method, &self.on.target) {
            (Method::Attach(_), Target::Lab(_)) => Err("attach needs a machine on which the \
                                                        program can run: this one, or a board \
                                                        such as ssh://pi@board"
                .to_string()),
            _ => Ok(()),
        }
    }

    /// The kernel ignores the slack of real-time threads, and takes 0 for its default.
    fn check_timer_slack(&self) -> Result<(), String> {
        match &self.method {
            Method::Cyclic(Cyclic { timer_slack_ns: Some(slack), .. }) => match *slack {
                Nanos(..=0) => Err("--timer-slack must be more than 0".to_string()),
                _ if self.is_realtime() => Err(format!(
                    "--timer-slack does not apply to {}: use --policy other, batch or idle",
                    self.scheduling()
                )),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Each tuning may have only one value.
    fn check_tunings(&self) -> Result<(), String> {
        let names: Vec<String> = self.on.tunings.iter().map(Tuning::name).collect();
        let twice = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name));
        match twice {
            Some((_, name)) => Err(format!("--tune {name} is given twice")),
            None => Ok(()),
        }
    }
}
