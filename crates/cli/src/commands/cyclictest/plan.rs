//! Turns the options into a plan, as `latlab run` would make it.

use super::options::{Affinity, Options, Power};
use latlab_model::nanos::MICROSECOND;
use latlab_model::plan::{
    ClockName, Cyclic, Cyclictest, IdleStates, Keep, KernelFile, Mechanism, Method, OnMachine,
    OverrunPolicy, Phase, Policy, Releases, Until, Who,
};
use latlab_model::{CpuSet, Nanos, Plan};
use latlab_sys::files::Root;
use latlab_sys::sched;
use std::path::Path;

/// What the options need to know about the machine.
pub struct CpuLimits {
    /// The CPUs that this process may use.
    pub usable: CpuSet,
    /// Root of /proc and /sys.
    pub root: Root,
}

impl CpuLimits {
    pub fn read() -> CpuLimits {
        let usable = sched::affinity().unwrap_or_default().into_iter().collect();
        CpuLimits { usable, root: Root::default() }
    }

    /// The CPUs of a set on the command line, parsed like libnuma does.
    fn cpus(&self, option: &str, text: &str) -> Result<CpuSet, String> {
        let (not, rest) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (relative, list) = match rest.strip_prefix('+') {
            Some(list) => (true, list),
            None => (false, rest),
        };
        let mut named: CpuSet = match list {
            "all" => self.usable.clone(),
            list => list.parse().map_err(|error| format!("{option}: {error}"))?,
        };
        if relative {
            let usable: Vec<u32> = self.usable.iter().collect();
            let nth = |number: u32| usable.get(number as usize).copied();
            named = named.iter().map(|number| nth(number).unwrap_or(u32::MAX)).collect();
        }
        let named = if not { self.usable.without(&named) } else { named };
        if named.is_empty() || !named.without(&self.usable).is_empty() {
            return Err(format!(
                "{option} {text}: expected CPUs that this process may use ({})",
                self.usable
            ));
        }
        Ok(named)
    }
}

/// Makes the plan. Adds to `options` what depends on the machine.
pub fn plan(options: &mut Options, machine: &CpuLimits, seed: u64) -> Result<Plan, String> {
    let threads = match options.threads {
        None => 1,
        Some(0) => machine.usable.len() as u32,
        Some(threads) => threads,
    };
    options.scheduling(threads as usize)?;
    let cpus = match &options.affinity {
        Some(Affinity::Set(text)) => Some(machine.cpus("-a", text)?),
        _ => None,
    };
    let helpers = options.main_affinity.as_deref();
    let helpers_on = helpers.map(|text| machine.cpus("--mainaffinity", text)).transpose()?;
    let measured = cpus.clone().unwrap_or_else(|| machine.usable.clone());
    // cyclictest compares the printed value, so a limit is exceeded by a whole unit.
    let above = |limit: i64| match options.nsecs {
        true => Nanos(limit),
        false => Nanos((limit + 1) * 1000 - 1),
    };
    let plan = Plan {
        name: "cyclictest".into(),
        method: Method::Cyclic(cyclic(options)),
        seed: Some(seed),
        who: Who {
            policy: Some(match (options.policy, options.priority) {
                ("fifo", priority) => Policy::Fifo { priority },
                ("rr", priority) => Policy::Rr { priority },
                ("batch", _) => Policy::Batch,
                ("idle", _) => Policy::Idle,
                _ => Policy::Other,
            }),
            cpus,
            threads: Some(threads),
            helpers_on,
            share_cpus: true,
        },
        until: Until {
            duration_ns: options.duration,
            cycles: options.loops,
            warm_up_ns: Some(Nanos::ZERO),
            stop_above_ns: options.breaktrace.map(above),
            ..Until::default()
        },
        on: OnMachine {
            idle_states: Some(match options.power {
                Power::Latency(limit) => IdleStates::ExitWithin(microseconds(limit)),
                _ => IdleStates::System,
            }),
            kernel_files: match options.power {
                Power::Deepest(state) => idle_state_files(&machine.root, &measured, state)?,
                _ => Vec::new(),
            },
            ..OnMachine::default()
        },
        keep: Keep { samples: options.verbose || histogram_of_samples(options), ..Keep::default() },
        ..Plan::default()
    };
    plan.check()?;
    Ok(plan)
}

/// How threads sleep, and when they are released.
fn cyclic(options: &Options) -> Cyclic {
    let distance = if options.histogram.is_some() { 0 } else { options.distance.unwrap_or(500) };
    let releases = Releases {
        clock: if options.realtime_clock { ClockName::Realtime } else { ClockName::Monotonic },
        period_ns: microseconds(options.interval),
        period_step_ns: microseconds(distance),
        phase: match options.aligned.or(options.secaligned) {
            Some(_) => Phase::Aligned,
            None => Phase::Spread,
        },
    };
    Cyclic {
        mechanism: match () {
            () if options.relative || options.system => Mechanism::Relative,
            () if options.posix_timers => Mechanism::PosixTimer,
            () => Mechanism::Nanosleep,
        },
        releases,
        overruns: OverrunPolicy::Skip,
        cyclictest: Some(Cyclictest {
            floating: options.affinity.is_none(),
            priority_step: u8::from(options.priospread),
            phase_step_ns: microseconds(options.aligned.unwrap_or(0)),
            second_offset_ns: options.secaligned.map(microseconds),
            ends_with_first: options.loops.is_some(),
            mark_trace: options.tracemark,
        }),
        ..Cyclic::default()
    }
}

fn microseconds(count: i64) -> Nanos {
    MICROSECOND * count
}

/// Whether the histogram needs every latency: the run's bins are 100 ns wide, and only releases of
/// an absolute sleep yield cycle numbers.
pub fn histogram_of_samples(options: &Options) -> bool {
    options.histogram.is_some() && (options.nsecs || options.relative || options.system)
}

/// The `disable` files of all idle states deeper than `deepest`.
fn idle_state_files(root: &Root, cpus: &CpuSet, deepest: i64) -> Result<Vec<KernelFile>, String> {
    let mut files = Vec::new();
    for cpu in cpus.iter() {
        let folder = format!("sys/devices/system/cpu/cpu{cpu}/cpuidle");
        for name in root.names(&folder).unwrap_or_default() {
            let state = name.strip_prefix("state").and_then(|number| number.parse::<i64>().ok());
            if state.is_some_and(|state| state > deepest) {
                let path = Path::new("/").join(&folder).join(name).join("disable");
                files.push(KernelFile { path: path.display().to_string(), value: "1".into() });
            }
        }
    }
    match files.is_empty() {
        true => {
            Err(format!("--deepest-idle-state {deepest}: this machine has no deeper idle state"))
        }
        false => Ok(files),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::nanos::SECOND;

    fn machine() -> CpuLimits {
        CpuLimits { usable: "0-3".parse().unwrap(), root: Root::new("/nowhere") }
    }

    fn parse_plan(line: &str) -> Result<Plan, String> {
        let line: Vec<String> = line.split_whitespace().map(str::to_string).collect();
        plan(&mut Options::parse(&line)?, &machine(), 1)
    }

    /// The parts of a plan that the command lines of tutorials set.
    fn parse_error(line: &str) -> String {
        let plan = parse_plan(line).unwrap();
        let Method::Cyclic(cyclic) = &plan.method else { unreachable!("cyclictest is cyclic") };
        format!(
            "{} x{} on {}, {}+{}, {:?} cycles, {:?}, {}",
            plan.scheduling(),
            plan.who.threads.unwrap(),
            match (&plan.who.cpus, cyclic.cyclictest.as_ref().unwrap().floating) {
                (Some(cpus), _) => cpus.to_string(),
                (None, true) => "any".into(),
                (None, false) => "each".into(),
            },
            cyclic.releases.period_ns,
            cyclic.releases.period_step_ns,
            plan.until.cycles.unwrap_or(0),
            plan.until.duration_ns.map(|length| length.0 / SECOND.0),
            cyclic.mechanism,
        )
    }

    /// Invariant (command line): The commands of cyclictest tutorials mean the same.
    #[test]
    fn the_commands_of_the_tutorials() {
        insta::assert_snapshot!(
            [
                "-l100000 -m -S -p90 -i200 -h400 -q",
                "-l10000 -q -v -p80 -a0",
                "-l10000 -q -v -p80 -t -a",
                "-l10000 -q -v -p80 -t16 -a",
                "-D 5 -m -Sp90 -i200 -h400 -q",
                "",
                "-t 2 -r --policy batch",
                "-t5 -a 1-2,0 -x",
                "-a !0 -d 0",
                "-a +1",
            ]
            .map(|line| format!("{line}\n    {}", parse_error(line)))
            .join("\n")
        );
    }

    #[test]
    fn limits_are_passed_by_a_whole_unit_as_in_what_is_printed() {
        assert_eq!(parse_plan("-b 30").unwrap().until.stop_above_ns, Some(Nanos(30_999)));
        assert_eq!(parse_plan("-N -b 30").unwrap().until.stop_above_ns, Some(Nanos(30)));
    }

    #[test]
    fn what_the_machine_has_not_is_one_line() {
        assert!(parse_plan("-a 7").unwrap_err().contains("this process may use (0-3)"));
        assert!(parse_plan("-a !all").unwrap_err().contains("this process may use"));
        assert!(parse_plan("--deepest-idle-state=0").unwrap_err().contains("no deeper idle state"));
    }

    #[test]
    fn deeper_idle_states_are_switched_off() {
        let folder = tempfile::tempdir().unwrap();
        for state in 0..3 {
            let path = format!("sys/devices/system/cpu/cpu1/cpuidle/state{state}");
            std::fs::create_dir_all(folder.path().join(path)).unwrap();
        }
        let cpus = "0-1".parse().unwrap();
        let files = idle_state_files(&Root::new(folder.path()), &cpus, 1).unwrap();
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["/sys/devices/system/cpu/cpu1/cpuidle/state2/disable"]);
    }
}
