//! What the flags of `latlab run` mean: flags to plan.

use super::run::RunArgs;
use crate::load_library::{self, Library};
use latlab_model::load::Load;
use latlab_model::plan::{Instrument, Policy, Spin, WakeBy, Workload};
use latlab_model::{Nanos, Plan};

impl RunArgs {
    /// The order that these flags make; an error is one line.
    pub fn plan(&self, random_seed: u64) -> Result<Plan, String> {
        self.check_instrument()?;
        let default = Plan::default();
        let plan = Plan {
            name: self.name.clone(),
            note: self.note.clone(),
            target: self.guest.target()?,
            instrument: self.instrument,
            mechanism: self.mechanism.unwrap_or(default.mechanism),
            clock: self.clock.unwrap_or(default.clock),
            policy: self.scheduling()?,
            cpus: self.cpus.clone(),
            threads: self.threads,
            helpers_on: self.helpers_on.clone(),
            wake: self.wake(),
            wakers_on: self.wakers_on.clone(),
            period_ns: self.period.unwrap_or(default.period_ns),
            period_step_ns: self.period_step.unwrap_or(default.period_step_ns),
            phase: self.phase.unwrap_or(default.phase),
            missed: self.missed.unwrap_or(default.missed),
            duration_ns: self.duration,
            cycles: self.cycles,
            warm_up_ns: self.warm_up,
            deadline_ns: self.deadline,
            stop_above_ns: self.stop_above,
            spike_above_ns: self.spike_above(),
            on_spike: self.on_spike.clone(),
            idle_states: self.idle_states,
            interval_ns: self.interval,
            samples: self.samples,
            legs: self.legs,
            share_cpus: self.share,
            kernel_files: self.set.clone(),
            tunings: self.tune.clone(),
            telemetry_ns: self.telemetry.0,
            spin: self.spin(),
            load_on: self.load_on.clone(),
            seed: self.seed.unwrap_or(random_seed),
            ..default
        };
        plan.check()?;
        Ok(plan)
    }

    /// The loads, and the faults as such; an error is one line.
    pub fn all_loads(&self) -> Result<Vec<Load>, String> {
        let mut all = load_library::resolve(&self.load, &Library::new(self.loads.clone()))?;
        all.extend(self.guest.faults(self.warm_up)?);
        Ok(all)
    }

    fn wake(&self) -> Option<WakeBy> {
        let default = (self.instrument == Instrument::Handoff).then_some(WakeBy::Futex);
        self.wake.or(default)
    }

    /// Without a command for it nobody needs to know what a spike is.
    fn spike_above(&self) -> Option<Nanos> {
        let known = self.deadline.or(self.stop_above).filter(|_| self.on_spike.is_some());
        self.spike_above.or(known)
    }

    /// What was given must mean something to the instrument.
    fn check_instrument(&self) -> Result<(), String> {
        let of_releases = [
            ("--mechanism", self.mechanism.is_some()),
            ("--period", self.period.is_some()),
            ("--period-step", self.period_step.is_some()),
            ("--phase", self.phase.is_some()),
            ("--missed", self.missed.is_some()),
            ("--seed", self.seed.is_some() && !self.guest.target()?.is_seeded()),
        ];
        let of_spin = [
            ("--gap-above", self.gap_above.is_some()),
            ("--workload", self.workload.is_some()),
            ("--workload-size", self.workload_size.is_some()),
        ];
        let of_handoff =
            [("--wake", self.wake.is_some()), ("--wakers-on", self.wakers_on.is_some())];
        let of_sleep = [("--mechanism", self.mechanism.is_some())];
        let of_sleepers = [("--missed", self.missed.is_some())];
        let of_memmove = [("--workload-size", self.workload_size.is_some())];
        let of_cyclic = [
            ("--mechanism", self.mechanism.is_some()),
            ("--clock", self.clock.is_some()),
            ("--missed", self.missed.is_some()),
        ];
        let is = |instrument| self.instrument == instrument;
        let unfit = [
            (!is(Instrument::Spin), &of_spin[..], "goes with --instrument spin"),
            (!is(Instrument::Handoff), &of_handoff[..], "goes with --instrument handoff"),
            (is(Instrument::Spin), &of_releases[..], "is about releases, which spin has not"),
            (is(Instrument::Handoff), &of_sleep[..], "is about a sleep, which handoff has not"),
            (
                is(Instrument::Handoff),
                &of_sleepers[..],
                "has no choice with handoff, whose waking thread leaves out what is past",
            ),
            (
                self.workload != Some(Workload::Memmove),
                &of_memmove[..],
                "goes with --workload memmove",
            ),
            (is(Instrument::Timerlat), &of_cyclic[..], "is the kernel's own with timerlat"),
        ];
        let mut unfit = unfit.iter().filter(|(applies, ..)| *applies);
        let given = unfit.find_map(|(_, options, why)| {
            let (option, _) = options.iter().find(|(_, given)| *given)?;
            Some(format!("{option} {why}: leave it out"))
        });
        given.map_or(Ok(()), Err)
    }

    fn spin(&self) -> Option<Spin> {
        let default = Spin::default();
        (self.instrument == Instrument::Spin).then(|| Spin {
            gap_above_ns: self.gap_above.unwrap_or(default.gap_above_ns),
            workload: self.workload.unwrap_or(default.workload),
            workload_bytes: self.workload_size.unwrap_or(default.workload_bytes),
        })
    }

    fn scheduling(&self) -> Result<Policy, String> {
        // A busy loop before everything else is for those who ask for it.
        let usual = if self.instrument == Instrument::Spin { "other" } else { "fifo" };
        let policy = self.policy.as_deref().unwrap_or(usual);
        let (name, budget) = match policy.split_once(':') {
            Some((name, budget)) => (name, Some(budget)),
            None => (policy, None),
        };
        let ordinary = ["other", "batch", "idle", "deadline"];
        if self.priority.is_some() && ordinary.contains(&name) {
            return Err(format!("--priority goes with fifo and rr, not with --policy {name}"));
        }
        let priority = self.priority.unwrap_or(Policy::DEFAULT_PRIORITY);
        match (name, budget) {
            ("fifo", None) => Ok(Policy::Fifo { priority }),
            ("rr", None) => Ok(Policy::Rr { priority }),
            ("other", None) => Ok(Policy::Other),
            ("batch", None) => Ok(Policy::Batch),
            ("idle", None) => Ok(Policy::Idle),
            ("deadline", budget) => self.budget(budget),
            _ => Err(format!(
                "--policy {policy}: expected fifo, rr, other, batch, idle or \
                 deadline[:RUNTIME/DEADLINE/PERIOD]"
            )),
        }
    }

    /// Without numbers: a tenth of the period as budget, over the period.
    fn budget(&self, text: Option<&str>) -> Result<Policy, String> {
        let period = self.period.unwrap_or(Plan::default().period_ns);
        let Some(text) = text else {
            let runtime_ns = Nanos(period.0 / 10).max(Nanos(10_000)).min(period);
            return Ok(Policy::Deadline { runtime_ns, deadline_ns: period, period_ns: period });
        };
        let parts: Vec<&str> = text.split('/').collect();
        let [runtime, deadline, period] = parts[..] else {
            return Err(format!("--policy deadline:{text}: expected RUNTIME/DEADLINE/PERIOD"));
        };
        let time = |text: &str| text.parse::<Nanos>().map_err(|error| error.to_string());
        Ok(Policy::Deadline {
            runtime_ns: time(runtime)?,
            deadline_ns: time(deadline)?,
            period_ns: time(period)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::parse;
    use latlab_model::plan::{IdleStates, Mechanism, Workload};

    fn plan(flags: &str) -> Result<Plan, String> {
        let args: RunArgs = parse(flags.split_whitespace()).map_err(|error| error.to_string())?;
        args.plan(7)
    }

    #[test]
    fn defaults_are_those_of_the_house() {
        assert_eq!(plan(""), Ok(Plan { seed: 7, ..Plan::default() }));
    }

    #[test]
    fn spinning_is_ordinary_unless_priority_is_asked_for() {
        let spun = plan("--instrument spin --workload memmove --workload-size 64K").unwrap();
        let spin = Spin { workload: Workload::Memmove, workload_bytes: 65_536, ..Spin::default() };
        assert_eq!((spun.policy, spun.spin), (Policy::Other, Some(spin)));
        let fifo = plan("--instrument spin --policy fifo -p 1").unwrap();
        assert_eq!(fifo.policy, Policy::Fifo { priority: 1 });
    }

    #[test]
    fn flags_mean_what_they_say() {
        let plan = plan(
            "-a 1-3 -t 16 -p 80 -i 200us -D 5h -l 1000 --deadline 125us --idle-states system \
             --mechanism posix-timer --clock tai --missed catch-up --phase random --seed 3",
        )
        .unwrap();
        assert_eq!(plan.cpus.unwrap().to_string(), "1-3");
        assert_eq!((plan.threads, plan.cycles, plan.seed), (Some(16), Some(1000), 3));
        assert_eq!(plan.spike_above_ns, None);
        assert_eq!(plan.mechanism, Mechanism::PosixTimer);
        assert_eq!(plan.idle_states, IdleStates::System);
    }

    #[test]
    fn the_deadline_tells_a_spike_unless_something_else_does() {
        let above = |flags: &str| plan(flags).unwrap().spike_above_ns;
        assert_eq!(above("--deadline 1ms --on-spike true"), Some(Nanos(1_000_000)));
        assert_eq!(above("--deadline 1ms --on-spike true --spike-above 5us"), Some(Nanos(5_000)));
        assert_eq!(above("-b 150us --on-spike true"), Some(Nanos(150_000)));
    }

    #[test]
    fn deadline_scheduling_reads_its_budget() {
        let policy = |flags: &str| plan(flags).map(|plan| plan.policy);
        let nanos = |runtime_ns, deadline_ns, period_ns| Policy::Deadline {
            runtime_ns: Nanos(runtime_ns),
            deadline_ns: Nanos(deadline_ns),
            period_ns: Nanos(period_ns),
        };
        assert_eq!(
            policy("--policy deadline:100us/1ms/1ms"),
            Ok(nanos(100_000, 1_000_000, 1_000_000))
        );
        assert_eq!(policy("--policy deadline -i 1ms"), Ok(nanos(100_000, 1_000_000, 1_000_000)));
        assert!(policy("--policy deadline:1ms/100us/1ms").unwrap_err().contains("runtime <="));
        assert!(policy("--policy deadline:1ms").unwrap_err().contains("RUNTIME/DEADLINE/PERIOD"));
    }

    #[test]
    fn mistakes_are_one_line_with_what_was_expected() {
        for (flags, expected) in [
            ("--policy fofo", "expected fifo, rr, other"),
            ("-p 0", "expected 1 (low) to 99 (high)"),
            ("-p 50 --policy other", "goes with fifo and rr"),
            ("-i abc", "expected a number and a unit"),
            ("-i 0", "expected 1us to 24h"),
            ("-i 200", "has no unit"),
            ("--clock 2", "monotonic, tai, realtime"),
            ("-a 3-1", "not a list of CPUs"),
            ("--on-spike true", "--spike-above, --deadline or --stop-above"),
            ("--mechanism timerfd --clock tai", "no timer file descriptors"),
            ("--wake pipe", "goes with --instrument handoff"),
            ("--wakers-on 0", "goes with --instrument handoff"),
            ("--instrument handoff --mechanism timerfd", "which handoff has not"),
            ("--instrument handoff --missed catch-up", "leaves out what is past"),
            ("--instrument handoff --mechanism relative", "which handoff has not"),
            ("--instrument handoff --policy deadline", "can be pinned"),
            ("--mechanism relative --missed catch-up", "no releases"),
            ("--idle-states deep", "the word system"),
            ("--telemetry never", "the word off"),
            ("--telemetry 1ms", "expected 100ms to 1h"),
            ("--cycles 0", "more than 0"),
            ("--gap-above 2us", "goes with --instrument spin"),
            ("--instrument spin -i 1ms", "--period is about releases"),
            ("--instrument spin --missed skip", "--missed is about releases"),
            ("--instrument spin --cycles 9", "end it by --for"),
            ("--instrument spin --samples", "largest 4096 gaps"),
            ("--instrument spin --policy deadline", "uses up at once"),
            ("--instrument spin --gap-above 1ns", "expected 100ns to 1s"),
            ("--instrument spin --workload-size 1T", "such as 512, 64K or 1M"),
            ("--instrument spin --workload memmove --workload-size 100000M", "at most 256M"),
            ("--instrument spin --workload-size 64K", "goes with --workload memmove"),
            ("--instrument spin --warm-up 1ms", "learns the usual pass"),
            ("--load-on here", "expected everywhere, measured, others or a list"),
            ("--deadline 0", "more than 0"),
            ("--tune smt=off", "expected governor=NAME, irqs=away"),
            ("--tune irqs=here", "expected irqs=away"),
            ("--tune thp=never --tune thp=always", "--tune thp is given twice"),
            ("--set kernel.sched_rt_runtime_us", "expected /sys/FILE=VALUE"),
            ("--set /proc/sys/../../etc/passwd=x", "expected /sys/FILE=VALUE"),
            ("--set /etc/passwd=x", "expected /sys/FILE=VALUE"),
        ] {
            let error = plan(flags).unwrap_err();
            assert!(error.contains(expected), "{flags}: {error}");
        }
    }
}
