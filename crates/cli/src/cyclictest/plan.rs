//! Options to plan: the same order that `latlab run` makes.

use super::options::{Affinity, Options, Power};
use latlab_model::nanos::MICROSECOND;
use latlab_model::plan::{
    ClockName, IdleStates, KernelFile, Mechanism, MissedPolicy, Phase, Policy,
};
use latlab_model::{CpuSet, Nanos, Plan};
use latlab_sys::files::Root;
use latlab_sys::sched;
use std::path::Path;

/// What the machine has, as far as options refer to it.
pub struct Machine {
    /// The CPUs this process may run on.
    pub usable: CpuSet,
    /// Where its kernel files lie.
    pub root: Root,
}

impl Machine {
    /// This machine.
    pub fn here() -> Machine {
        let usable = sched::affinity().unwrap_or_default().into_iter().collect();
        Machine { usable, root: Root::default() }
    }

    /// The CPUs that a set of the command line names, as libnuma reads it.
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

/// The plan of these options, which learn what follows from the machine.
pub fn plan(options: &mut Options, machine: &Machine, seed: u64) -> Result<Plan, String> {
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
    let microseconds = |count: i64| MICROSECOND * count;
    // The original compares what it prints, so that a limit is passed by a whole unit.
    let above = |limit: i64| match options.nsecs {
        true => Nanos(limit),
        false => Nanos((limit + 1) * 1000 - 1),
    };
    let distance = if options.histogram.is_some() { 0 } else { options.distance.unwrap_or(500) };
    let plan = Plan {
        name: "cyclictest".into(),
        mechanism: match () {
            () if options.relative || options.system => Mechanism::Relative,
            () if options.posix_timers => Mechanism::PosixTimer,
            () => Mechanism::Nanosleep,
        },
        clock: if options.realtime_clock { ClockName::Realtime } else { ClockName::Monotonic },
        policy: match (options.policy, options.priority) {
            ("fifo", priority) => Policy::Fifo { priority },
            ("rr", priority) => Policy::Rr { priority },
            ("batch", _) => Policy::Batch,
            ("idle", _) => Policy::Idle,
            _ => Policy::Other,
        },
        priority_step: u8::from(options.priospread),
        cpus,
        threads: Some(threads),
        floating: options.affinity.is_none(),
        helpers_on,
        period_ns: microseconds(options.interval),
        period_step_ns: microseconds(distance),
        phase: match options.aligned.or(options.secaligned) {
            Some(_) => Phase::Aligned,
            None => Phase::Spread,
        },
        phase_step_ns: microseconds(options.aligned.unwrap_or(0)),
        second_offset_ns: options.secaligned.map(microseconds),
        missed: MissedPolicy::Skip,
        duration_ns: options.duration,
        cycles: options.loops,
        ends_with_first: options.loops.is_some(),
        warm_up_ns: Nanos::ZERO,
        stop_above_ns: options.breaktrace.map(above),
        mark_trace: options.tracemark,
        idle_states: match options.power {
            Power::Latency(limit) => IdleStates::ExitWithin(microseconds(limit)),
            _ => IdleStates::System,
        },
        kernel_files: match options.power {
            Power::Deepest(state) => idle_state_files(&machine.root, &measured, state)?,
            _ => Vec::new(),
        },
        samples: wants_samples(options),
        share_cpus: true,
        seed,
        ..Plan::default()
    };
    plan.check()?;
    Ok(plan)
}

/// Whether what is printed needs every latency: the bins of a run are 100 ns wide, and only an
/// absolute sleep has releases that tell the number of a cycle.
fn wants_samples(options: &Options) -> bool {
    let unnumbered = options.nsecs || options.relative || options.system;
    options.verbose || (options.histogram.is_some() && unnumbered)
}

/// The switches of the idle states deeper than one.
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
        true => Err(format!(
            "--deepest-idle-state {deepest}: this machine has no deeper idle state to switch off; \
             leave out the option"
        )),
        false => Ok(files),
    }
}
