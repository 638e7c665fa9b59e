//! What the flags of `latlab run` mean: flags to plan.

use super::run::MeasureArgs;
use crate::load_library::{self, Library};
use latlab_model::load::Load;
use latlab_model::plan::{
    ClockName, Cyclic, Detached, Handoff, Instrument, Method, Policy, Releases, Spin, Timerlat,
    WakeBy, Workload,
};
use latlab_model::{Nanos, Plan};

impl MeasureArgs {
    /// The plan that these flags make; an error is one line.
    pub fn plan(&self, random_seed: u64) -> Result<Plan, String> {
        self.check_instrument()?;
        let defaults = self.guest.defaults()?;
        let defaults = defaults.as_ref();
        let cpus = || defaults.and_then(|named| named.cpus.clone());
        let deadline = || defaults.and_then(|named| named.deadline);
        let plan = Plan {
            name: self.name.clone(),
            note: self.note.clone(),
            target: self.guest.target()?,
            detached: self.detach.then(|| {
                let named = defaults.and_then(|named| named.folder.clone());
                // What the board has room for is asked there.
                Detached { folder: self.board_folder.clone().or(named), most_bytes: u64::MAX }
            }),
            method: self.method(),
            policy: Some(self.scheduling()?),
            cpus: self.cpus.clone().or_else(cpus),
            threads: self.threads,
            helpers_on: self.helpers_on.clone(),
            share_cpus: self.share,
            duration_ns: self.duration,
            cycles: self.cycles,
            warm_up_ns: Some(self.warm_up),
            deadline_ns: self.deadline.or_else(deadline),
            limit_per_hour: self.limit,
            until_decided: self.until_decided,
            stop_above_ns: self.stop_above,
            spike_above_ns: self.spike_above(),
            on_spike: self.on_spike.clone(),
            explain: self.explain,
            idle_states: Some(self.idle_states),
            kernel_files: self.set.clone(),
            tunings: self.tune.clone(),
            load_on: self.load_on.clone(),
            telemetry_ns: self.telemetry.every,
            telemetry_is_full: self.telemetry.is_full,
            interval_ns: self.interval,
            samples: self.samples,
            seed: Some(self.seed.unwrap_or(random_seed)),
            ..Plan::default()
        };
        plan.check()?;
        Ok(plan)
    }

    /// The loads, and the faults as such; an error is one line.
    pub fn all_loads(&self) -> Result<Vec<Load>, String> {
        let defaults = self.guest.defaults()?.filter(|_| self.load.is_empty());
        let words = defaults.map_or_else(|| self.load.clone(), |named| named.load);
        let mut all = load_library::resolve(&words, &Library::new(self.loads.clone()))?;
        all.extend(self.guest.faults(self.warm_up)?);
        Ok(all)
    }

    /// Without a command for it nobody needs to know what a spike is.
    fn spike_above(&self) -> Option<Nanos> {
        let known = self.deadline.or(self.stop_above).filter(|_| self.on_spike.is_some());
        self.spike_above.or(known)
    }

    /// What was given must mean something to the instrument.
    fn check_instrument(&self) -> Result<(), String> {
        let unfit = self.unsupported_flags()?;
        let given = unfit.iter().find(|(_, given, _)| *given);
        given.map_or(Ok(()), |(option, _, why)| Err(format!("{option} {why}")))
    }

    /// Options that mean nothing to the instrument: whether each was given, and why not.
    fn unsupported_flags(&self) -> Result<Vec<(&'static str, bool, &'static str)>, String> {
        let mechanism = |why| ("--mechanism", self.mechanism.is_some(), why);
        let missed = |why| ("--missed", self.missed.is_some(), why);
        let legs = |why| ("--legs", self.legs, why);
        let of_spin = [
            ("--gap-above", self.gap_above.is_some()),
            ("--workload", self.workload.is_some()),
            ("--workload-size", self.workload_size.is_some()),
        ]
        .map(|(option, given)| (option, given, "requires --instrument spin"));
        let of_handoff =
            [("--wake", self.wake.is_some()), ("--wakers-on", self.wakers_on.is_some())]
                .map(|(option, given)| (option, given, "requires --instrument handoff"));
        Ok(match self.instrument {
            Instrument::Cyclic => [&of_spin[..], &of_handoff].concat(),
            Instrument::Handoff => {
                let own = [
                    mechanism("does not apply to handoff, whose measured threads do not sleep"),
                    missed("does not apply to handoff, which always skips past releases"),
                    legs("does not apply to handoff, whose measured threads do not sleep"),
                ];
                [&of_spin[..], &own].concat()
            }
            Instrument::Spin => {
                let why = "does not apply to spin, which has no releases";
                let is_set = self.clock.is_some_and(|clock| clock != ClockName::Monotonic);
                let has_size = self.workload_size.is_some() && self.workload != Some("memmove");
                let own = [
                    mechanism(why),
                    ("--period", self.period.is_some(), why),
                    ("--period-step", self.period_step.is_some(), why),
                    ("--phase", self.phase.is_some(), why),
                    missed(why),
                    ("--seed", self.seed.is_some() && !self.guest.target()?.is_seeded(), why),
                    legs(why),
                    ("--clock", is_set, "does not apply to spin, which uses CLOCK_MONOTONIC"),
                    ("--workload-size", has_size, "requires --workload memmove"),
                ];
                [&of_handoff[..], &own].concat()
            }
            Instrument::Timerlat => {
                let why = "does not apply to timerlat, where the kernel sleeps";
                let own = [
                    mechanism(why),
                    ("--clock", self.clock.is_some(), why),
                    ("--phase", self.phase.is_some(), why),
                    missed(why),
                    (
                        "--period-step",
                        self.period_step.is_some(),
                        "does not apply to timerlat, which has the same period on all CPUs",
                    ),
                    legs("is always on with timerlat"),
                ];
                [&of_spin[..], &of_handoff, &own].concat()
            }
            // The plan refuses it as a whole.
            Instrument::Attach | Instrument::Respond | Instrument::Import => Vec::new(),
        })
    }

    fn method(&self) -> Method {
        match self.instrument {
            Instrument::Cyclic => {
                let default = Cyclic::default();
                Method::Cyclic(Cyclic {
                    mechanism: self.mechanism.unwrap_or(default.mechanism),
                    releases: self.releases(),
                    missed: self.missed.unwrap_or(default.missed),
                    legs: self.legs,
                    cyclictest: None,
                })
            }
            Instrument::Handoff => Method::Handoff(Handoff {
                wake: self.wake.unwrap_or(WakeBy::Futex),
                wakers_on: self.wakers_on.clone(),
                releases: self.releases(),
            }),
            Instrument::Spin => Method::Spin(self.spin()),
            Instrument::Timerlat => {
                Method::Timerlat(Timerlat { period_ns: self.releases().period_ns })
            }
            Instrument::Attach => Method::Attach(Box::default()),
            Instrument::Respond => Method::Respond(Box::default()),
            Instrument::Import => Method::Import(Box::default()),
        }
    }

    fn releases(&self) -> Releases {
        let default = Releases::default();
        Releases {
            clock: self.clock.unwrap_or(default.clock),
            period_ns: self.period.unwrap_or(default.period_ns),
            period_step_ns: self.period_step.unwrap_or(default.period_step_ns),
            phase: self.phase.unwrap_or(default.phase),
        }
    }

    fn spin(&self) -> Spin {
        let default = Spin::default();
        let workload = match self.workload {
            Some("memmove") => {
                Workload::Memmove { bytes: self.workload_size.unwrap_or(Workload::DEFAULT_BYTES) }
            }
            _ => Workload::None,
        };
        Spin { gap_above_ns: self.gap_above.unwrap_or(default.gap_above_ns), workload }
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
            return Err(format!("--priority requires --policy fifo or rr, not {name}"));
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
        let period = self.releases().period_ns;
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
    use latlab_model::plan::{IdleStates, Mechanism};

    fn plan(flags: &str) -> Result<Plan, String> {
        let args: MeasureArgs =
            parse(flags.split_whitespace()).map_err(|error| error.to_string())?;
        args.plan(7)
    }

    #[test]
    fn defaults_are_those_of_the_house() {
        assert_eq!(plan(""), Ok(Plan { seed: Some(7), ..Plan::default() }));
    }

    #[test]
    fn spinning_is_ordinary_unless_priority_is_asked_for() {
        let spun = plan("--instrument spin --workload memmove --workload-size 64K").unwrap();
        let spin = Spin { workload: Workload::Memmove { bytes: 65_536 }, ..Spin::default() };
        assert_eq!((spun.policy, spun.method), (Some(Policy::Other), Method::Spin(spin)));
        let fifo = plan("--instrument spin --policy fifo -p 1").unwrap();
        assert_eq!(fifo.policy, Some(Policy::Fifo { priority: 1 }));
    }

    #[test]
    fn flags_mean_what_they_say() {
        let plan = plan(
            "-a 1-3 -t 16 -p 80 -i 200us -D 5h -l 1000 --deadline 125us --idle-states system \
             --mechanism posix-timer --clock tai --missed catch-up --phase random --seed 3",
        )
        .unwrap();
        assert_eq!(plan.cpus.unwrap().to_string(), "1-3");
        assert_eq!((plan.threads, plan.cycles, plan.seed), (Some(16), Some(1000), Some(3)));
        assert_eq!(plan.spike_above_ns, None);
        let Method::Cyclic(cyclic) = plan.method else { panic!("{:?}", plan.method) };
        assert_eq!(cyclic.mechanism, Mechanism::PosixTimer);
        assert_eq!(cyclic.releases.period_ns, Nanos(200_000));
        assert_eq!(plan.idle_states, Some(IdleStates::System));
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
        let policy = |flags: &str| plan(flags).map(|plan| plan.policy.unwrap());
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
            ("-p 50 --policy other", "requires --policy fifo or rr"),
            ("-i abc", "expected a number and a unit"),
            ("-i 0", "expected 1us to 24h"),
            ("-i 200", "has no unit"),
            ("--clock 2", "monotonic, tai, realtime"),
            ("-a 3-1", "not a list of CPUs"),
            ("--on-spike true", "--spike-above, --deadline or --stop-above"),
            ("--mechanism timerfd --clock tai", "no timer file descriptors"),
            ("--wake pipe", "requires --instrument handoff"),
            ("--wakers-on 0", "requires --instrument handoff"),
            ("--instrument handoff --mechanism timerfd", "do not sleep"),
            ("--instrument handoff --missed catch-up", "always skips past releases"),
            ("--instrument handoff --mechanism relative", "do not sleep"),
            ("--instrument handoff --policy deadline", "pins its threads"),
            ("--mechanism relative --missed catch-up", "no releases"),
            ("--idle-states deep", "or 'system'"),
            ("--telemetry never", "or 'off'"),
            ("--telemetry full,often", "'full,TIME' or 'off'"),
            ("--telemetry 1ms", "expected 100ms to 1h"),
            ("--cycles 0", "more than 0"),
            ("--gap-above 2us", "requires --instrument spin"),
            ("--instrument spin -i 1ms", "--period does not apply to spin"),
            ("--instrument spin --missed skip", "--missed does not apply to spin"),
            ("--instrument spin --cycles 9", "use --for"),
            ("--instrument spin --samples", "largest 4096 gaps"),
            ("--instrument spin --policy deadline", "exhaust its budget"),
            ("--instrument spin --gap-above 1ns", "expected 100ns to 1s"),
            ("--instrument spin --workload-size 1T", "512, 64K or 1M"),
            ("--instrument spin --workload memmove --workload-size 100000M", "at most 256M"),
            ("--instrument spin --workload-size 64K", "requires --workload memmove"),
            ("--instrument spin --warm-up 1ms", "learn the usual pass"),
            ("--instrument spin --clock tai", "which uses CLOCK_MONOTONIC"),
            ("--instrument spin --legs", "--legs does not apply to spin"),
            ("--instrument handoff --legs", "do not sleep"),
            ("--instrument timerlat --legs", "always on"),
            ("--instrument timerlat --phase random", "does not apply to timerlat"),
            ("--instrument timerlat --period-step 1us", "the same period on all CPUs"),
            ("--instrument timerlat -i 50us", "100us to 1s"),
            ("--instrument timerlat -t 2", "no --threads"),
            ("--instrument respond", "`latlab respond`"),
            ("--legs --clock tai", "--legs requires"),
            ("--legs --mechanism timerfd", "--legs requires"),
            ("--explain --clock tai", "--explain requires"),
            ("--explain --mechanism relative", "--explain requires"),
            ("--explain --instrument spin", "--explain requires"),
            ("--load-on here", "expected everywhere, measured, others or a list"),
            ("--deadline 0", "more than 0"),
            ("--limit 1/h", "--limit needs --deadline"),
            ("--limit 1 --deadline 1ms", "is not a rate such as"),
            ("--until-decided --deadline 1ms --for 9s", "--until-decided needs --limit"),
            ("--until-decided --deadline 1ms --limit 1/h", "needs --for"),
            ("--instrument spin --deadline 1ms --limit 1/h", "which has no releases"),
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
