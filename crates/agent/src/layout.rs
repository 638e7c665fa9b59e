//! Resolves a plan on a machine: where each thread runs, and when. Pure.

use latlab_model::plan::{MOST_THREADS, Measurement, Phase, Policy, Task};
use latlab_model::{CpuSet, Nanos};

/// The CPUs of the machine, as far as they concern a plan.
#[derive(Clone, Default, Debug)]
pub struct Cpus {
    pub online: CpuSet,
    /// CPUs that this process may be placed on, isolated ones included.
    pub usable: CpuSet,
}

/// Where each thread runs.
#[derive(Clone, PartialEq, Debug)]
pub struct Layout {
    /// The CPU of each thread; `None` if it floats.
    pub threads: Vec<Option<u32>>,
    /// The CPU of the thread that wakes each of them, if one does.
    pub wakers: Vec<Option<u32>>,
    /// CPUs for all threads of ours that do not measure.
    pub helpers: CpuSet,
    /// Whether the helpers share all their CPUs with measuring threads.
    pub crowded: bool,
}

impl Layout {
    /// The measured CPUs; floating threads may measure on any.
    pub fn measured(&self, cpus: &Cpus) -> CpuSet {
        let pinned: CpuSet = self.threads.iter().flatten().copied().collect();
        if pinned.is_empty() { cpus.usable.clone() } else { pinned }
    }
}

/// Resolves the plan; an error is one line for the user.
pub fn layout(measurement: &Measurement, cpus: &Cpus) -> Result<Layout, String> {
    let plan = &measurement.plan;
    if let Task::Attach(_) = measurement.task {
        // The program's own threads are measured where they run.
        let helpers = match &plan.who.helpers_on {
            Some(asked) => check_cpus(asked, cpus, "--helpers-on")?,
            None => cpus.usable.clone(),
        };
        return Ok(Layout { threads: Vec::new(), wakers: Vec::new(), helpers, crowded: false });
    }
    if let Task::Instrument = measurement.task {
        // A thread that only waits disturbs no measurement, wherever it is.
        let (threads, wakers, helpers) = (vec![None], vec![None], cpus.usable.clone());
        return Ok(Layout { threads, wakers, helpers, crowded: false });
    }
    let deadline = matches!(measurement.policy, Policy::Deadline { .. });
    let floats = deadline || measurement.cyclictest().is_some_and(|asked| asked.floating);
    let measured = match &plan.who.cpus {
        None => cpus.usable.without(&cpus_to_leave(measurement, cpus)),
        Some(_) if deadline => {
            return Err("SCHED_DEADLINE threads cannot be pinned (the kernel returns EPERM or \
                        EBUSY): omit --cpus, or use another --policy"
                .to_string());
        }
        Some(asked) => check_cpus(asked, cpus, "--cpus")?,
    };
    if let Some(helpers) = &plan.who.helpers_on {
        check_cpus(helpers, cpus, "--helpers-on")?;
    }
    let count = plan.who.threads.unwrap_or(measured.len() as u32);
    if count == 0 || count > MOST_THREADS {
        return Err(format!("{count} measuring threads: expected 1 to {MOST_THREADS}"));
    }
    let threads: Vec<Option<u32>> = match floats {
        true => vec![None; count as usize],
        false => deal_out(&measured, count),
    };
    let wakers_on = match &measurement.task {
        Task::Handoff(handoff) => handoff.wakers_on.as_ref(),
        Task::Cyclic(_)
        | Task::Spin(_)
        | Task::Timerlat(_)
        | Task::Attach(_)
        | Task::Respond(_)
        | Task::Gpio(_)
        | Task::Instrument => None,
    };
    let wakers = match wakers_on {
        None => threads.clone(),
        Some(asked) => deal_out(&check_cpus(asked, cpus, "--wakers-on")?, count),
    };
    let taken: CpuSet = match floats {
        true => measured,
        false => threads.iter().chain(&wakers).flatten().copied().collect(),
    };
    let free = cpus.usable.without(&taken);
    let helpers = match &plan.who.helpers_on {
        Some(asked) => asked.clone(),
        None if free.is_empty() => cpus.usable.clone(),
        None => free,
    };
    let crowded = helpers.without(&taken).is_empty();
    Ok(Layout { threads, wakers, helpers, crowded })
}

/// Deals the CPUs out to `count` threads.
fn deal_out(cpus: &CpuSet, count: u32) -> Vec<Option<u32>> {
    let cpus = std::iter::repeat_with(|| cpus.iter()).flatten();
    cpus.take(count as usize).map(Some).collect()
}

/// CPUs to leave free: a real-time spinning thread must leave one to SCHED_OTHER threads, unless
/// the user names them all.
fn cpus_to_leave(measurement: &Measurement, cpus: &Cpus) -> CpuSet {
    let spins = matches!(measurement.task, Task::Spin(_));
    let leaves = spins && measurement.policy.is_realtime();
    let several = cpus.usable.len() > 1;
    cpus.usable.iter().take(usize::from(leaves && several)).collect()
}

/// The CPUs that an option names, if they are present and usable.
pub fn check_cpus(asked: &CpuSet, cpus: &Cpus, option: &str) -> Result<CpuSet, String> {
    let offline = asked.without(&cpus.online);
    if asked.is_empty() {
        return Err(format!("{option} names no CPU"));
    }
    if !offline.is_empty() {
        return Err(format!(
            "{option} {asked}: CPU {offline} is not online (online: {})",
            cpus.online
        ));
    }
    let forbidden = asked.without(&cpus.usable);
    if !forbidden.is_empty() {
        return Err(format!(
            "{option} {asked}: CPU {forbidden} is not among the CPUs that this process may use \
             ({}), because of taskset, a cpuset or a container",
            cpus.usable
        ));
    }
    Ok(asked.clone())
}

/// Longest random start offset: far more than a tick, and short enough to wait for.
const LONGEST_START: i64 = 1_000_000_000;

/// Offset of each thread from the common start to its first release, if it has releases.
pub fn phases(measurement: &Measurement, threads: usize) -> Vec<Nanos> {
    let Some(releases) = measurement.releases() else { return vec![Nanos::ZERO; threads] };
    let step = measurement.cyclictest().map_or(Nanos::ZERO, |asked| asked.phase_step_ns);
    let mut random = SplitMix(measurement.seed);
    let period = releases.period_ns.0;
    // A random start keeps the releases of different runs from hitting the tick at the same phase.
    let start = match releases.phase {
        Phase::Aligned => 0,
        Phase::Spread | Phase::Random => random.below(period.min(LONGEST_START)),
    };
    (0..threads as i64)
        .map(|thread| {
            let phase = match releases.phase {
                Phase::Aligned => 0,
                Phase::Spread => start + period * thread / threads as i64,
                Phase::Random => random.below(releases.period_of(thread as u32).0),
            };
            Nanos(phase) + step * thread
        })
        .collect()
}

/// SplitMix64 (Steele, Lea and Flood 2014): the same seed yields the same numbers on every machine.
pub struct SplitMix(pub u64);

impl SplitMix {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: i64) -> i64 {
        (self.next() % limit.max(1) as u64) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tests::plan;
    use latlab_model::Plan;
    use latlab_model::plan::{Cyclic, Handoff, Method, Releases, Spin, WakeBy};

    fn cpus(online: &str, usable: &str) -> Cpus {
        Cpus { online: online.parse().unwrap(), usable: usable.parse().unwrap() }
    }

    fn layout_of(change: impl FnOnce(&mut Plan), cpus: &Cpus) -> Result<Layout, String> {
        let mut plan = plan();
        change(&mut plan);
        layout(&Measurement::new(plan)?, cpus)
    }

    /// Invariant (settings): The CPU and phase rules of a plan are resolved without touching a machine.
    #[test]
    fn one_thread_for_each_usable_cpu() {
        let layout = layout_of(|_| (), &cpus("0-3", "0-3")).unwrap();
        assert_eq!(layout.threads, [Some(0), Some(1), Some(2), Some(3)]);
        assert!(layout.crowded);
        let masked = layout_of(|_| (), &cpus("0-3", "1,3")).unwrap();
        assert_eq!(masked.threads, [Some(1), Some(3)]);
        assert_eq!(masked.helpers.to_string(), "1,3", "a mask binds the helpers as well");
    }

    /// Invariant (settings): The CPU and phase rules of a plan are resolved without touching a machine.
    #[test]
    fn helpers_stay_off_the_measured_cpus() {
        let layout =
            layout_of(|plan| plan.who.cpus = Some("1-3".parse().unwrap()), &cpus("0-3", "0-3"));
        let layout = layout.unwrap();
        assert_eq!((layout.helpers.to_string().as_str(), layout.crowded), ("0", false));
        let one = layout_of(|plan| plan.who.threads = Some(1), &cpus("0-3", "0-3")).unwrap();
        assert_eq!(one.helpers.to_string(), "1-3");
        let asked =
            layout_of(|plan| plan.who.helpers_on = Some("2".parse().unwrap()), &cpus("0-3", "0-3"));
        assert!(asked.unwrap().crowded);
    }

    fn woken_from(cpus: &str) -> Method {
        let wakers_on = Some(cpus.parse().unwrap());
        Method::Handoff(Handoff { wake: WakeBy::Futex, wakers_on, releases: Releases::default() })
    }

    #[test]
    fn wakers_share_the_cpu_of_their_thread_unless_they_have_their_own() {
        let machine = cpus("0-3", "0-3");
        let same = layout_of(|plan| plan.who.threads = Some(2), &machine).unwrap();
        assert_eq!(same.wakers, same.threads);
        let other = |plan: &mut Plan| {
            plan.who.threads = Some(2);
            plan.method = woken_from("3");
        };
        let other = layout_of(other, &machine).unwrap();
        assert_eq!(other.wakers, [Some(3), Some(3)]);
        assert_eq!(other.helpers.to_string(), "2", "nothing else runs where one wakes");
        let away = layout_of(|plan| plan.method = woken_from("7"), &machine);
        assert!(away.unwrap_err().starts_with("--wakers-on 7: CPU 7 is not online"));
    }

    /// Invariant (instruments): spin: a real-time thread leaves a CPU free, or rests.
    #[test]
    fn a_real_time_spinner_leaves_a_cpu_free_unless_all_are_named() {
        let spun = |policy, list: Option<&str>, machine: &Cpus| {
            layout_of(
                |plan| {
                    plan.method = Method::Spin(Spin::default());
                    plan.who.policy = Some(policy);
                    plan.until.cycles = None;
                    plan.until.warm_up_ns = Some(Nanos(1_000_000_000));
                    plan.who.cpus = list.map(|list| list.parse().unwrap());
                },
                machine,
            )
            .unwrap()
        };
        let (fifo, machine) = (Policy::Fifo { priority: 1 }, cpus("0-3", "1-3"));
        let layout = spun(fifo, None, &machine);
        assert_eq!((layout.threads, layout.crowded), (vec![Some(2), Some(3)], false));
        assert!(spun(fifo, Some("1-3"), &machine).crowded);
        assert_eq!(spun(Policy::Other, None, &machine).threads.len(), 3);
        assert_eq!(spun(fifo, None, &cpus("0", "0")).threads, [Some(0)]);
    }

    #[test]
    fn more_threads_than_cpus_go_round() {
        let layout = layout_of(|plan| plan.who.threads = Some(5), &cpus("0-1", "0-1")).unwrap();
        assert_eq!(layout.threads, [Some(0), Some(1), Some(0), Some(1), Some(0)]);
    }

    /// Invariant (settings): The CPU and phase rules of a plan are resolved without touching a machine.
    #[test]
    fn what_cannot_be_is_one_line() {
        let machine = cpus("0-1", "1");
        let line = |list: &str| {
            layout_of(|plan| plan.who.cpus = Some(list.parse().unwrap()), &machine).unwrap_err()
        };
        assert!(line("7").contains("not online (online: 0-1)"));
        assert!(line("0").contains("not among the CPUs that this process may use (1)"));
        assert!(line("").contains("names no CPU"));
        let none = layout_of(|plan| plan.who.threads = Some(0), &machine).unwrap_err();
        assert!(none.contains("expected 1 to"));
    }

    #[test]
    fn deadline_threads_float_and_cannot_be_pinned() {
        let policy = Policy::Deadline {
            runtime_ns: Nanos(2_000),
            deadline_ns: Nanos(2_000),
            period_ns: Nanos(3_000),
        };
        let machine = cpus("0-1", "0-1");
        let layout = layout_of(|plan| plan.who.policy = Some(policy), &machine).unwrap();
        assert_eq!(layout.threads, [None, None]);
        let both = layout_of(
            |plan| {
                plan.who.policy = Some(policy);
                plan.who.cpus = Some("0".parse().unwrap());
            },
            &machine,
        );
        assert!(both.unwrap_err().contains("cannot be pinned"));
    }

    #[test]
    fn phases_follow_their_names() {
        let begin = |phase, seed, threads| {
            let releases = Releases { phase, ..Releases::default() };
            let method = Method::Cyclic(Cyclic { releases, ..Cyclic::default() });
            let plan = Plan { method, seed: Some(seed), ..plan() };
            phases(&Measurement::new(plan).unwrap(), threads)
        };
        let spread = begin(Phase::Spread, 1, 4);
        let period = Releases::DEFAULT_PERIOD.0;
        for pair in spread.windows(2) {
            assert!((pair[1].0 - pair[0].0 - period / 4).abs() <= 1);
        }
        assert_eq!(spread, begin(Phase::Spread, 1, 4), "the seed decides");
        assert_ne!(spread, begin(Phase::Spread, 2, 4));
        let random = begin(Phase::Random, 1, 9);
        assert!(random.iter().all(|phase| (0..period).contains(&phase.0)));
        assert_eq!(begin(Phase::Aligned, 1, 3), [Nanos::ZERO; 3]);
    }
}
