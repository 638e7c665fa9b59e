//! Tests of the command that every measurement prints to repeat a run.

use crate::commands::attach::args::AttachArgs;
use crate::flags::parse;
use crate::flags::plan::MeasureArgs;
use crate::load_library::{self, Library};
use latlab_model::plan::{
    AttachTarget, ClockName, Cyclic, Detached, Handoff, IdleStates, Mechanism, Method,
    OverrunPolicy, Phase, Policy, Releases, Spin, TelemetryPlan, Timerlat, WakeBy, Workload,
};
use latlab_model::{Nanos, Plan, shell};
use proptest::collection::vec;
use proptest::prelude::*;

/// A random plan: `dice` decides which settings are given.
fn random_plan(method: Method, dice: &mut impl FnMut(u64) -> u64) -> Plan {
    let mut plan = Plan::of(method);
    random_method(&mut plan.method, dice);
    let is_attach = matches!(plan.method, Method::Attach(_));
    if let Method::Attach(attach) = &plan.method {
        plan.name = attach.target.name();
    }
    let mut time = |most: u64| (dice(2) == 0).then(|| Nanos(1 + dice(most) as i64));
    plan.until.duration_ns = time(10_000_000_000_000);
    plan.until.deadline_ns = time(2_000_000_000);
    if !is_attach {
        plan.until.stop_above_ns = time(2_000_000);
        plan.keep.spike_above_ns = time(2_000_000);
        plan.until.warm_up_ns = time(60_000_000_000).or(plan.until.warm_up_ns);
    }
    plan.keep.interval_ns = Nanos(100_000_000 + dice(3) as i64 * 450_000_000);
    plan.keep.telemetry = match dice(4) {
        0 => None,
        1 => Some(TelemetryPlan { every_ns: Nanos(100_000_001), is_full: dice(2) == 0 }),
        _ => plan.keep.telemetry,
    };
    if dice(2) == 0 {
        plan.note = Some(["new kernel", "-x", "it's 'so'", ""][dice(4) as usize].to_string());
        plan.name = "a b".to_string();
    }
    plan.until.limit_per_hour = plan.until.deadline_ns.and((dice(2) == 0).then_some(0.1));
    let words: Vec<String> = ["stressapptest", "hackbench,groups=4"]
        .into_iter()
        .filter(|_| dice(3) == 0)
        .map(str::to_string)
        .collect();
    plan.on.loads = load_library::resolve(&words, &Library::new(None)).unwrap();
    plan.on.load_on = ["everywhere", "others", "1-2"][dice(3) as usize].parse().unwrap();
    plan.on.tunings = ["irqs=away", "governor=performance", "irq-thread:eth0=80"]
        .into_iter()
        .filter(|_| dice(3) == 0)
        .map(|tuning| tuning.parse().unwrap())
        .collect();
    if dice(3) == 0 {
        plan.on.kernel_files = vec!["kernel.sched_rt_runtime_us=-1".parse().unwrap()];
    }
    if is_attach {
        plan.keep.explain = dice(4) == 0;
        plan.keep.spike_above_ns = plan.keep.explain.then(|| Nanos(1 + dice(2_000_000) as i64));
        if dice(3) == 0 {
            plan.on.target = "ssh://pi@board:2200".parse().unwrap();
        }
        return plan;
    }
    plan.seed = Some(dice(u64::MAX));
    let priority = 1 + dice(99) as u8;
    let [runtime_ns, deadline_ns, period_ns] = [100_000, 1_000_001, 2_000_000].map(Nanos);
    plan.who.policy = [
        plan.who.policy,
        Some(Policy::Fifo { priority }),
        Some(Policy::Rr { priority }),
        Some(Policy::Other),
        Some(Policy::Batch),
        Some(Policy::Idle),
        Some(Policy::Deadline { runtime_ns, deadline_ns, period_ns }),
    ][dice(7) as usize];
    let is_realtime = plan.is_realtime();
    if let Method::Cyclic(cyclic) = &mut plan.method {
        let slack = Nanos(1 + dice(1_000_000) as i64);
        cyclic.timer_slack_ns = (!is_realtime && dice(2) == 0).then_some(slack);
    }
    plan.who.cpus = (dice(2) == 0).then(|| "1-3,7".parse().unwrap());
    plan.who.helpers_on = (dice(2) == 0).then(|| "0".parse().unwrap());
    plan.who.share_cpus = dice(2) == 0;
    if plan.method.releases().is_some() {
        plan.who.threads = (dice(2) == 0).then(|| 1 + dice(4096) as u32);
        plan.keep.samples = dice(2) == 0;
        plan.keep.explain = dice(4) == 0;
        plan.until.cycles = (dice(2) == 0).then(|| 1 + dice(1 << 53));
    }
    plan.until.decided = plan.until.limit_per_hour.is_some() && dice(2) == 0;
    let has_bound = plan.keep.spike_above_ns.is_some();
    plan.keep.on_spike = (has_bound && dice(2) == 0).then(|| "cat >> 'a b'".to_string());
    plan.on.idle_states = Some(match dice(3) {
        0 => IdleStates::System,
        1 => IdleStates::ExitWithin(Nanos(dice(1_000_000) as i64)),
        _ => IdleStates::ExitWithin(Nanos::ZERO),
    });
    if dice(3) == 0 {
        plan.on.target = "ssh://pi@board:2200".parse().unwrap();
        let folder = (dice(2) == 0).then(|| "/mnt/data".to_string());
        let detached = Detached { folder, most_bytes: u64::MAX };
        plan.on.detached = (dice(2) == 0).then_some(detached);
    }
    plan
}

fn random_method(method: &mut Method, dice: &mut impl FnMut(u64) -> u64) {
    fn pick<T: Copy>(all: &[T], dice: &mut impl FnMut(u64) -> u64) -> T {
        all[dice(all.len() as u64) as usize]
    }
    fn releases(releases: &mut Releases, dice: &mut impl FnMut(u64) -> u64) {
        releases.clock = pick(ClockName::ALL, dice);
        releases.phase = pick(Phase::ALL, dice);
        releases.period_ns = pick(&[releases.period_ns, Nanos(200_000), Nanos(1_000_003)], dice);
        releases.period_step_ns = Nanos(dice(3) as i64 * 500);
    }
    match method {
        Method::Cyclic(cyclic) => {
            releases(&mut cyclic.releases, dice);
            cyclic.mechanism = pick(Mechanism::ALL, dice);
            cyclic.overruns = pick(OverrunPolicy::ALL, dice);
            cyclic.breakdown = dice(4) == 0;
        }
        Method::Handoff(handoff) => {
            releases(&mut handoff.releases, dice);
            handoff.wake = pick(WakeBy::ALL, dice);
            handoff.wakers_on = (dice(2) == 0).then(|| "2".parse().unwrap());
        }
        Method::Spin(spin) => {
            spin.gap_above_ns = Nanos(100 + dice(10_000) as i64);
            let bytes = pick(&[4096, 8, 65_536], dice);
            spin.workload = pick(&[Workload::None, Workload::Memmove { bytes }], dice);
        }
        Method::Timerlat(timerlat) => timerlat.period_ns = Nanos(100_000 + dice(1000) as i64),
        Method::Attach(attach) => {
            let words = vec!["./a b".to_string(), "--rate".to_string(), "-".to_string()];
            let output = (dice(2) == 0).then(|| "/tmp/out".to_string());
            attach.target = match dice(3) {
                0 => AttachTarget::Command { words, output, as_root: dice(2) == 0 },
                1 => AttachTarget::Process { id: dice(1 << 22) as u32 },
                _ => AttachTarget::Name { pattern: "ec_*".to_string() },
            };
            attach.thread = (dice(2) == 0).then(|| "main*".to_string());
            attach.activation = vec!["read:7".to_string(); dice(3) as usize];
        }
        Method::Respond(_) | Method::Import(_) => {}
    }
}

/// Parses the printed command back into a plan.
fn plan_again(line: &str, seed: u64) -> Result<Plan, String> {
    let words = shell::split(line);
    match words[1].as_str() {
        "attach" => {
            let args: AttachArgs = parse(&words[2..]).map_err(|error| error.to_string())?;
            args.options.plan()
        }
        _ => {
            let args: MeasureArgs = parse(&words[2..]).map_err(|error| error.to_string())?;
            args.plan(seed)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Invariant (command line): The command that repeats a run makes the same plan.
    #[test]
    fn a_repeated_command_makes_the_same_plan(
        method in 0..5usize,
        numbers in vec(any::<u64>(), 80),
    ) {
        let methods = [
            Method::Cyclic(Cyclic::default()),
            Method::Handoff(Handoff::default()),
            Method::Spin(Spin::default()),
            Method::Timerlat(Timerlat::default()),
            Method::Attach(Box::default()),
        ];
        let mut numbers = numbers.into_iter().cycle();
        let mut dice = |sides: u64| numbers.next().unwrap_or_default() % sides.max(1);
        let mut plan = random_plan(methods[method].clone(), &mut dice);
        // An invalid plan has no command. Resetting the method keeps the rest of the random plan.
        if plan.check().is_err() {
            plan.method = methods[method].clone();
            random_method(&mut plan.method, &mut |_| 1);
        }
        prop_assume!(plan.check().is_ok());
        let line = plan.repeat().to_string();
        let again = plan_again(&line, plan.seed.unwrap_or_default());
        prop_assert_eq!(again, Ok(plan), "{}", line);
    }
}
