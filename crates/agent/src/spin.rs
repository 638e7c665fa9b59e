//! A measuring thread that spins: its counter, its settings, its rests, and its report.

use crate::thread_job::{Start, ThreadJob, stop_others, thread_end};
use latlab_measure::counter::{Host, Monotonic, Tsc};
use latlab_measure::spin::{RestPlan, SpinConfig, learn, spin};
use latlab_model::Nanos;
use latlab_model::nanos::MILLISECOND;
use latlab_model::plan::{Spin, Workload};
use latlab_model::run::{KernelReserve, Setting, SpinCounts, ThreadEnd};
use latlab_sys::clock::{self, Clock};
use latlab_sys::files::Root;
use latlab_sys::{counter, memory};
use std::hint::black_box;
use std::sync::OnceLock;

/// With a free CPU: a sleep too short to matter, which restarts the kernel's limit of real-time CPU
/// time.
const BREATH: RestPlan = RestPlan { after: 1_000_000_000, length: 50_000 };
/// Without a free CPU: the share of each CPU that is left to the machine.
const SHARE: RestPlan = RestPlan { after: 95_000_000, length: 5_000_000 };

/// Number of gaps rehearsed before any is counted.
const REHEARSAL: i64 = 20_000;

/// How this thread spins, in addition to what every thread reports.
pub fn settings(job: &ThreadJob) -> Vec<Setting> {
    let setting = |what: &str, asked: String, applied: String| Setting {
        thread: Some(job.thread),
        ..Setting::new(what, asked, applied)
    };
    let tsc = "the time-stamp counter".to_string();
    let (asked, applied) = match (tsc_is_trusted(), cfg!(target_arch = "x86_64")) {
        (Ok(()), _) => (tsc.clone(), tsc),
        (Err(why), true) => (tsc, format!("CLOCK_MONOTONIC: {why}")),
        (Err(_), false) => ("CLOCK_MONOTONIC".to_string(), "CLOCK_MONOTONIC".to_string()),
    };
    let rest = rest_plan(job).map(|RestPlan { after, length }| {
        let text = format!("{} after each {}", Nanos(length), Nanos(after));
        setting("rest", text.clone(), text)
    });
    std::iter::once(setting("counter", asked, applied)).chain(rest).collect()
}

/// Whether the time-stamp counter can be trusted here, or why not; determined once for all threads,
/// so that the report matches the use.
fn tsc_is_trusted() -> &'static Result<(), String> {
    static TRUSTED: OnceLock<Result<(), String>> = OnceLock::new();
    TRUSTED.get_or_init(|| counter::is_trusted(&Root::default()))
}

fn rest_plan(job: &ThreadJob) -> Option<RestPlan> {
    let realtime = job.measurement.policy.is_realtime();
    realtime.then_some(if job.crowded { SHARE } else { BREATH })
}

/// Spins on the best counter of this machine.
pub fn run(job: ThreadJob, spin: Spin, start: Start) -> ThreadEnd {
    match tsc_is_trusted() {
        Ok(()) => run_with(job, spin, start, Tsc::start()),
        Err(_) => run_with(job, spin, start, Monotonic),
    }
}

fn run_with(job: ThreadJob, spin: Spin, start: Start, host: impl Host) -> ThreadEnd {
    let reserve = reserve(&Root::default(), &job);
    let spins = spin_config(&job, spin, start, reserve.as_ref());
    match spin.workload {
        Workload::None => run_with_work(job, start, spins, reserve, host, || ()),
        Workload::Memmove { bytes } => {
            let from = vec![1_u8; bytes as usize];
            let mut to = vec![0_u8; from.len()];
            run_with_work(job, start, spins, reserve, host, move || {
                black_box(&mut to).copy_from_slice(black_box(&from));
            })
        }
    }
}

fn run_with_work(
    job: ThreadJob,
    start: Start,
    spins: SpinConfig,
    reserve: Option<KernelReserve>,
    mut host: impl Host,
    mut work: impl FnMut(),
) -> ThreadEnd {
    let ThreadJob { thread, measurement, mut recorder, stop, .. } = job;
    // Sleep until all threads begin; a signal interrupts it, and the loop sees why.
    let _ = clock::sleep_until(Clock::Monotonic, start.warm_up_from);
    let usual = learn(&mut host, &mut work, start.from - REHEARSAL, &stop);
    // A rehearsal in which each pass counts as a gap, so that rarely used code is in memory before
    // counting.
    let rehearsal = SpinConfig {
        from: start.from - REHEARSAL,
        until: start.from,
        gap_above: -MILLISECOND.0,
        deadline: i64::MAX,
        stop_above: i64::MAX,
        rest: None,
        reserve: 0..0,
    };
    spin(&mut host, &mut work, usual, &rehearsal, &mut recorder, &stop);
    host.align();
    recorder.start(start.from);
    let before = memory::thread_usage();
    let ended = spin(&mut host, &mut work, usual, &spins, &mut recorder, &stop);
    stop_others(&measurement, &stop, ended.code);
    let gaps = recorder.cycles();
    let totals = recorder.finish(ended.at.max(start.from));
    let end = thread_end(thread, ended.code, gaps, totals, before);
    ThreadEnd { spun: Some(SpinCounts { reserve, ..ended.spun }), ..end }
}

fn spin_config(
    job: &ThreadJob,
    spin: Spin,
    start: Start,
    reserve: Option<&KernelReserve>,
) -> SpinConfig {
    let plan = &job.measurement.plan;
    let limit = |time: Option<Nanos>| time.map_or(i64::MAX, |time| time.0);
    let about = |taken: Nanos| taken.0 * 3 / 4..taken.0 * 3 / 2;
    SpinConfig {
        from: start.from,
        until: plan
            .until
            .duration_ns
            .map_or(i64::MAX, |length| start.from.saturating_add(length.0)),
        gap_above: spin.gap_above_ns.0,
        deadline: limit(plan.until.deadline_ns),
        stop_above: limit(plan.until.stop_above_ns),
        rest: rest_plan(job),
        reserve: reserve.map_or(0..0, |reserve| about(reserve.taken_ns)),
    }
}

/// From this version on the fair server replaces RT throttling.
const FAIR_SERVER_SINCE: (u32, u32) = (6, 12);
/// The fair server's default, if the kernel does not show it: 50 ms of each second.
const FAIR_SERVER: (i64, i64) = (50_000_000, 1_000_000_000);

/// The kernel's reserve for SCHED_OTHER threads on this CPU against a real-time one.
fn reserve(root: &Root, job: &ThreadJob) -> Option<KernelReserve> {
    if !job.measurement.policy.is_realtime() {
        return None;
    }
    let (by, (taken, period)) = match kernel(root) >= Some(FAIR_SERVER_SINCE) {
        true => ("the fair server", fair_server(root, job.cpu?)),
        false => ("RT throttling", throttling(root)?),
    };
    let reserve = KernelReserve { by: by.into(), taken_ns: Nanos(taken), period_ns: Nanos(period) };
    (taken > 0).then_some(reserve)
}

fn kernel(root: &Root) -> Option<(u32, u32)> {
    let release = root.read("proc/sys/kernel/osrelease")?;
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn fair_server(root: &Root, cpu: u32) -> (i64, i64) {
    let read = |name: &str| {
        root.read_as::<i64>(&format!("sys/kernel/debug/sched/fair_server/cpu{cpu}/{name}"))
    };
    read("runtime").zip(read("period")).unwrap_or(FAIR_SERVER)
}

fn throttling(root: &Root) -> Option<(i64, i64)> {
    let runtime: i64 = root.read_as("proc/sys/kernel/sched_rt_runtime_us")?;
    let period: i64 = root.read_as("proc/sys/kernel/sched_rt_period_us")?;
    (runtime >= 0).then_some(((period - runtime) * 1_000, period * 1_000))
}
