//! Whether a plan makes sense by itself; an error is one line for the user.

use super::{ClockName, Instrument, Mechanism, MissedPolicy, Plan, Policy, Tuning};
use crate::Nanos;
use crate::nanos::{MICROSECOND, MILLISECOND, SECOND};

/// What the kernel's timerlat takes, which counts in microseconds.
const TIMERLAT_PERIODS: std::ops::RangeInclusive<Nanos> = Nanos(100_000)..=Nanos(1_000_000_000);
/// More threads than this are a mistake in the order, not a measurement.
pub const MOST_THREADS: u32 = 4096;
/// A day; a longer period is taken for a mistake.
const LONGEST_PERIOD: Nanos = Nanos(86_400_000_000_000);

/// A longer warm-up is taken for a mistake.
const LONGEST_WARM_UP: Nanos = Nanos(3_600_000_000_000);

/// Shorter warm-ups could tell nothing of the usual pass.
const LEAST_LEARNING: Nanos = Nanos(10_000_000);

impl Plan {
    /// Whether the order makes sense by itself; an error is one line for the user.
    pub fn check(&self) -> Result<(), String> {
        self.check_times()?;
        self.check_counts()?;
        self.check_sleep()?;
        self.check_handoff()?;
        self.check_spin()?;
        self.check_timerlat()?;
        self.check_respond()?;
        self.check_tunings()?;
        self.policy.check()
    }

    fn check_respond(&self) -> Result<(), String> {
        match self.instrument == Instrument::Respond {
            true => Err("--instrument respond: wires are measured by `latlab respond`".to_string()),
            false => Ok(()),
        }
    }

    fn check_times(&self) -> Result<(), String> {
        let refuse = |text: String| Err(text);
        if self.period_ns < MICROSECOND || self.period_ns > LONGEST_PERIOD {
            return refuse(format!("--period {}: expected 1us to 24h", self.period_ns));
        }
        if self.period_step_ns < Nanos::ZERO || self.period_step_ns > LONGEST_PERIOD {
            return refuse(format!("--period-step {}: expected 0 to 24h", self.period_step_ns));
        }
        if self.interval_ns < MILLISECOND * 100 || self.interval_ns > LONGEST_PERIOD {
            return refuse(format!("--interval {}: expected 100ms to 24h", self.interval_ns));
        }
        if let Some(every) =
            self.telemetry_ns.filter(|every| *every < MILLISECOND * 100 || *every > SECOND * 3600)
        {
            return refuse(format!("--telemetry {every}: expected 100ms to 1h, or off"));
        }
        for (option, limit) in [
            ("--deadline", self.deadline_ns),
            ("--stop-above", self.stop_above_ns),
            ("--spike-above", self.spike_above_ns),
            ("--for", self.duration_ns),
        ] {
            if limit.is_some_and(|limit| limit <= Nanos::ZERO) {
                return refuse(format!("{option} must be more than 0"));
            }
        }
        if self.warm_up_ns > LONGEST_WARM_UP {
            return refuse(format!("--warm-up {}: expected at most 1h", self.warm_up_ns));
        }
        if self.duration_ns.is_some_and(|length| length < self.period_ns) {
            return refuse(format!(
                "--for is shorter than --period {}: not one release would be due",
                self.period_ns
            ));
        }
        Ok(())
    }

    fn check_counts(&self) -> Result<(), String> {
        let refuse = |text: String| Err(text);
        if let Some(threads) = self.threads.filter(|count| !(1..=MOST_THREADS).contains(count)) {
            return refuse(format!("--threads {threads}: expected 1 to {MOST_THREADS}"));
        }
        if self.cycles == Some(0) {
            return refuse("--cycles must be more than 0".into());
        }
        if self.on_spike.is_some() && self.spike_above_ns.is_none() {
            return refuse(
                "--on-spike needs --spike-above, --deadline or --stop-above to know a spike".into(),
            );
        }
        Ok(())
    }

    /// What a way to sleep cannot do.
    fn check_sleep(&self) -> Result<(), String> {
        let refuse = |text: String| Err(text);
        if self.mechanism == Mechanism::Timerfd && self.clock == ClockName::Tai {
            return refuse(
                "the kernel has no timer file descriptors on CLOCK_TAI: take --mechanism \
                 nanosleep or posix-timer, or another --clock"
                    .into(),
            );
        }
        if self.mechanism == Mechanism::Relative && self.missed == MissedPolicy::CatchUp {
            return refuse(
                "relative sleep has no releases that could be caught up with: leave out --missed, \
                 or take another --mechanism"
                    .into(),
            );
        }
        let sleeps = (self.instrument, self.mechanism, self.clock)
            == (Instrument::Cyclic, Mechanism::Nanosleep, ClockName::Monotonic);
        if self.legs && self.instrument != Instrument::Timerlat && !sleeps {
            return refuse(
                "--legs finds the cycles of --instrument cyclic with --mechanism nanosleep on --clock \
                 monotonic by their releases: leave those as they are, or leave out --legs"
                    .into(),
            );
        }
        Ok(())
    }

    fn check_handoff(&self) -> Result<(), String> {
        let hands_over = self.instrument == Instrument::Handoff;
        let refused = [
            (
                hands_over != self.wake.is_some(),
                "the instrument handoff and --wake belong together",
            ),
            (!hands_over && self.wakers_on.is_some(), "--wakers-on goes with --instrument handoff"),
            (
                hands_over
                    && (self.mechanism != Mechanism::Nanosleep
                        || self.missed != MissedPolicy::Skip),
                "with --instrument handoff another thread sleeps until the releases, by nanosleep, \
                 and leaves out those that it misses: --mechanism and --missed do not go with it",
            ),
            (
                hands_over && matches!(self.policy, Policy::Deadline { .. }),
                "--instrument handoff needs threads that can be pinned: take another --policy than \
                 deadline",
            ),
        ];
        first_refused(&refused)
    }

    fn check_spin(&self) -> Result<(), String> {
        if let Some(spin) = self.spin {
            spin.check()?;
        }
        let spins = self.instrument == Instrument::Spin;
        let refused = [
            (spins != self.spin.is_some(), "the instrument spin and its options belong together"),
            (
                spins && self.samples,
                "--samples stores latencies of releases, which spin has not: \
              the largest 4096 gaps of each thread are stored anyway",
            ),
            (
                spins && self.cycles.is_some(),
                "--cycles counts releases, which spin has not: \
              end it by --for",
            ),
            (
                spins && self.clock != ClockName::Monotonic,
                "--clock: gaps are always told on \
              CLOCK_MONOTONIC",
            ),
            (
                spins && matches!(self.policy, Policy::Deadline { .. }),
                "--policy deadline gives a \
              budget that a spinning thread uses up at once: take other, fifo or rr",
            ),
            (
                spins && self.threads.is_some(),
                "--threads: spin measures each CPU by one thread; \
              name them by --cpus",
            ),
            (
                spins && self.warm_up_ns < LEAST_LEARNING,
                "--warm-up: spin learns the usual pass in \
              it, for 10ms at least",
            ),
        ];
        first_refused(&refused)
    }

    /// What the kernel's tracer cannot do.
    fn check_timerlat(&self) -> Result<(), String> {
        let wrong = match () {
            () if self.instrument != Instrument::Timerlat => return Ok(()),
            () if !TIMERLAT_PERIODS.contains(&self.period_ns) => "a --period from 100us to 1s",
            () if self.period_step_ns != Nanos::ZERO => "one --period for all CPUs",
            () if (self.mechanism, self.clock) != (Mechanism::Nanosleep, ClockName::Monotonic) => {
                "its own timer on CLOCK_MONOTONIC: no --mechanism, no --clock"
            }
            () if self.missed != MissedPolicy::Skip => "releases that it skips: no --missed",
            () if self.threads.is_some() || self.floating => {
                "one thread on each of --cpus: no --threads"
            }
            () if self.legs => "legs anyway: no --legs",
            () => return Ok(()),
        };
        Err(format!("--instrument timerlat has {wrong}"))
    }

    /// One value for one name.
    fn check_tunings(&self) -> Result<(), String> {
        let names: Vec<String> = self.tunings.iter().map(Tuning::name).collect();
        let twice = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name));
        match twice {
            Some((_, name)) => Err(format!("--tune {name} is given twice: leave one out")),
            None => Ok(()),
        }
    }
}

/// The first that applies, as an error.
fn first_refused(refused: &[(bool, &str)]) -> Result<(), String> {
    let first = refused.iter().find(|(applies, _)| *applies);
    first.map_or(Ok(()), |(_, text)| Err(text.to_string()))
}
