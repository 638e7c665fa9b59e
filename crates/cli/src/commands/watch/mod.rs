//! `latlab watch`: short measurements, repeated.
//!
//! Each look at the rounds so far is one more chance to be wrong, so statements about all of them
//! are any-time valid (`latlab_stats::Rounds`).

pub mod args;
mod hook;

use crate::commands::run::{Shown, measure_plan};
use crate::documents::WatchAlarm;
use crate::exit::{EXIT_FAIL, EXIT_NO_ANSWER, EXIT_USAGE, ExitError, error_code, exit_code};
use crate::output::{escape_controls, print_text, warn};
use crate::store::{open_store, recover};
use args::WatchArgs;
use latlab_conduct::{CpuBudget, Failure, StopFlag, check_disk_space};
use latlab_model::run::{BurstLimit, EndReason, VerdictWord};
use latlab_model::units::counted;
use latlab_model::{Nanos, Plan, Run, Target};
use latlab_report::bursts_so_far;
use latlab_report::units::{percent, span};
use latlab_stats::Rounds;
use latlab_store::{Error, Finished, Removal, RollingRuns, Store, new_id};
use latlab_sys::clock::{Clock, process_cpu_time, sleep_for};
use latlab_sys::memory::children_cpu_time;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::process::ExitCode;

/// Longest sleep before the stop flag is checked: a signal that arrives just before a sleep does
/// not interrupt it.
const NAP: Nanos = Nanos(1_000_000_000);

pub fn watch(args: &WatchArgs) -> anyhow::Result<ExitCode> {
    args.check()?;
    let plan = plan(args)?;
    let store = open_store(args.out.as_deref());
    // Look before `recover` finishes leftover runs, which would then be the newest. Also fails
    // early if the path is not a folder.
    let mut runs = RollingRuns::open(&store, &plan.name)?;
    refuse_unwritable(&store)?;
    recover(&store);
    runs.refresh(None)?;
    let stop = StopFlag::on_signals(true)?;
    let mut watch = Watch {
        args,
        runs,
        store,
        spent: CpuSpent::default(),
        told: BTreeSet::new(),
        failures: 0,
        rounds: Rounds::new(),
    };
    let budget = CpuBudget { every_ns: args.every, share: args.cpu_budget };
    let begun = Clock::Boottime.now();
    let since = || Nanos(Clock::Boottime.now() - begun);
    for round in 1.. {
        let at = since();
        watch.round(round, stop, since)?;
        if stop.is_set() || args.rounds == Some(round) {
            break;
        }
        let next = budget.next_round(at, watch.spent.total());
        if round == 1 && next > at + args.every {
            warn(format_args!(
                "a round takes {} of CPU time: --cpu-budget {} gives one every {}, not every {}",
                watch.spent.last,
                percent(args.cpu_budget),
                span(next),
                span(args.every)
            ));
        }
        while !stop.is_set() && since() < next {
            // A signal may interrupt the sleep.
            let _ = sleep_for(Clock::Boottime, NAP.min(next - since()).0.max(0));
        }
        if stop.is_set() {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses a folder of runs that cannot be written to. A full disk is accepted: a later round may
/// have room.
fn refuse_unwritable(store: &Store) -> anyhow::Result<()> {
    match store.begin(&new_id(jiff::Timestamp::now(), "watch")) {
        Ok(open) => Ok(open.discard()?),
        Err(Error::Io { error, .. })
            if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) =>
        {
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

/// The plan of a round, with a fresh seed.
fn plan(args: &WatchArgs) -> Result<Plan, ExitError> {
    let seed = jiff::Timestamp::now().as_nanosecond() as u64;
    let plan = args.measure.plan(seed).map_err(ExitError::usage)?;
    args.check_plan(&plan)?;
    match plan.duration(1) {
        Some(_) => Ok(plan),
        None => Err(ExitError::usage("a round needs an end: --for or --cycles")),
    }
}

/// The rounds so far.
struct Watch<'a> {
    args: &'a WatchArgs,
    store: Store,
    runs: RollingRuns,
    spent: CpuSpent,
    /// Runs already reported as kept.
    told: BTreeSet<String>,
    /// Consecutive failed rounds up to now.
    failures: u64,
    /// Bursts of deadline misses over all rounds.
    rounds: Rounds,
}

impl Watch<'_> {
    /// One round: makes room, measures, prints the result, and runs the `--on-fail` command.
    fn round(
        &mut self,
        round: u64,
        stop: &StopFlag,
        since: impl Fn() -> Nanos,
    ) -> anyhow::Result<()> {
        let plan = plan(self.args)?;
        self.make_room(&plan);
        let shown = Shown {
            quiet: true,
            console: self.args.measure.guest.console,
            command: "latlab watch",
        };
        let target = plan.on.target.clone();
        let measured = measure_plan(plan, &self.store, stop, shown);
        self.spent.add(&target, measured.as_ref().ok().map(|finished| &finished.run));
        match measured {
            Ok(finished) => {
                if let Err(error) = self.runs.refresh(Some(&finished.run.id)) {
                    warn(error);
                }
                self.rounds.add_run(&finished.run);
                let limit = finished.run.asked.until.limit_per_hour;
                let limit = limit.and_then(|rate| self.rounds.against(rate));
                let result = result_of(&finished.run, limit);
                self.print(&finished, result, limit, since())?;
                self.tell_removed(self.args.keep);
                let cut = latlab_report::why_lost(&finished.run);
                if let Some(why) = &cut {
                    warn(format_args!("{}: {why}", finished.run.id));
                }
                let limit = limit.map(|(limit, _)| limit);
                self.warn_of(result, stop, |failures| {
                    WatchAlarm::of_run(&finished, cut.as_deref(), limit, failures)
                });
            }
            Err(_) if stop.is_set() => {}
            // Wrong flags would fail in every round.
            Err(error) if round == 1 && error_code(&error) == EXIT_USAGE => return Err(error),
            Err(error) => {
                let text = format!("{error:#}");
                warn(format_args!("nothing measured: {text}"));
                self.warn_of(RoundResult::Failed, stop, |failures| {
                    WatchAlarm::of_failure(&text, failures)
                });
            }
        }
        Ok(())
    }

    /// Removes runs until the disk has room for another one, or none can be removed.
    fn make_room(&mut self, plan: &Plan) {
        let store = self.store.clone();
        let is_full = |_| matches!(check_disk_space(plan, &store), Err(Failure::NoRoom(_)));
        let looked_at = self.runs.remove_while(is_full);
        self.tell(looked_at, "the disk is full");
    }

    /// Removes runs beyond `--keep`.
    fn tell_removed(&mut self, limit: u64) {
        let looked_at = self.runs.remove_while(|left| left > limit);
        self.tell(looked_at, "--keep");
    }

    fn tell(&mut self, looked_at: Vec<(String, Removal)>, why: &str) {
        for (id, removal) in looked_at {
            match removal {
                Removal::Removed(bytes) => {
                    warn(format_args!("removed {id}, {} ({why})", megabytes(bytes)));
                }
                // Say it once.
                Removal::Kept(reason) if self.told.insert(id.clone()) => {
                    warn(format_args!("{id} stays: {reason}"));
                }
                Removal::Kept(_) => {}
            }
        }
    }

    /// Prints a round's line.
    fn print(
        &self,
        finished: &Finished,
        result: RoundResult,
        limit: Option<LimitOfRounds>,
        since: Nanos,
    ) -> anyhow::Result<()> {
        let run = &finished.run;
        let is_invalid = is_invalid(run);
        let is_silent = match result {
            RoundResult::Failed => false,
            RoundResult::Good => limit.is_some() || exit_code(run) == 0,
            // A limit that is still undecided is no news.
            RoundResult::NoAnswer => limit.is_some() && !is_invalid,
        };
        if self.args.quiet && is_silent {
            return Ok(());
        }
        let of_round = run.verdict.as_ref().map(|verdict| verdict.word);
        let word = match limit {
            Some((_, decided)) if !is_invalid => Some(decided.unwrap_or(VerdictWord::Inconclusive)),
            _ => of_round,
        };
        let largest = run.total.max_ns.map(|max| format!("largest {max}"));
        let misses = run.total.misses.map(|misses| {
            let misses = counted(misses, "deadline miss", "deadline misses");
            format!("{misses} in {}", counted(run.total.releases, "release", "releases"))
        });
        let figures: Vec<String> = largest.into_iter().chain(misses).collect();
        let of_all = self.rounds.count().map(|count| {
            let limit = limit.map(|(limit, _)| limit);
            format!("; {}", bursts_so_far(&count.rate(), &count.against(1.0, true), limit.as_ref()))
        });
        let share = self.spent.total().0 as f64 / since.0.max(1) as f64;
        print_text(&format!(
            "{}: {}, {}{}; CPU {}, {} in {}; {}, {}\n",
            escape_controls(&run.id),
            word.map_or("measured", |word| word.as_str()),
            figures.join(", "),
            of_all.unwrap_or_default(),
            self.spent.last,
            percent(share),
            span(since),
            counted(self.runs.count() as u64, "run", "runs"),
            megabytes(self.runs.bytes()),
        ))
    }

    /// Runs the `--on-fail` command after a failed round.
    fn warn_of<'b>(
        &mut self,
        result: RoundResult,
        stop: &StopFlag,
        alarm: impl FnOnce(u64) -> WatchAlarm<'b>,
    ) {
        match result {
            RoundResult::Good => self.failures = 0,
            RoundResult::NoAnswer => {}
            RoundResult::Failed => self.failures += 1,
        }
        if let (RoundResult::Failed, Some(command)) = (result, &self.args.on_fail) {
            hook::run(command, &alarm(self.failures), stop);
            // The hook's CPU time is the user's, not latlab's.
            self.spent.forget();
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RoundResult {
    Good,
    /// Undecided: does not reset the count of consecutive failures.
    NoAnswer,
    /// A deadline miss, too many bursts of them, or a failure to measure.
    Failed,
}

/// The verdict of all rounds on `--limit`. The word is `None` while undecided.
type LimitOfRounds = (BurstLimit, Option<VerdictWord>);

/// The result of a round. With `--limit` all rounds count: a single one shows hardly anything, and
/// of many rounds judged one by one some fail by chance.
fn result_of(run: &Run, limit: Option<LimitOfRounds>) -> RoundResult {
    let is_cut = run.ended == EndReason::Lost || run.ended == EndReason::StopAbove;
    match (limit, exit_code(run)) {
        _ if is_cut => RoundResult::Failed,
        (Some(_), _) if is_invalid(run) => RoundResult::NoAnswer,
        (Some((_, Some(VerdictWord::Fail))), _) => RoundResult::Failed,
        (Some((_, Some(_))), _) => RoundResult::Good,
        (Some((_, None)), _) => RoundResult::NoAnswer,
        (None, EXIT_FAIL) => RoundResult::Failed,
        (None, EXIT_NO_ANSWER) => RoundResult::NoAnswer,
        (None, _) => RoundResult::Good,
    }
}

fn is_invalid(run: &Run) -> bool {
    run.verdict.as_ref().is_some_and(|verdict| verdict.word == VerdictWord::Invalid)
}

/// CPU time spent by latlab.
struct CpuSpent {
    /// CPU time of this process and its children at the last reading.
    counted: Nanos,
    /// CPU time of the last round.
    last: Nanos,
    total: Nanos,
}

impl Default for CpuSpent {
    fn default() -> CpuSpent {
        CpuSpent { counted: CpuSpent::clocks(), last: Nanos::ZERO, total: Nanos::ZERO }
    }
}

impl CpuSpent {
    /// CPU time of this process and the children it has waited for.
    fn clocks() -> Nanos {
        Nanos(process_cpu_time() + children_cpu_time())
    }

    /// Adds a round: the agent's CPU time if a board was measured, else that of this machine.
    fn add(&mut self, target: &Target, run: Option<&Run>) {
        let now = CpuSpent::clocks();
        let here = now - self.counted;
        self.counted = now;
        self.last = match run {
            Some(run) if target.is_behind_a_link() => on_target(run),
            _ => here,
        };
        self.total += self.last;
    }

    fn forget(&mut self) {
        self.counted = CpuSpent::clocks();
    }

    fn total(&self) -> Nanos {
        self.total
    }
}

/// The agent's CPU time on the target.
fn on_target(run: &Run) -> Nanos {
    let threads = run.threads.iter().filter_map(|thread| thread.end.as_ref());
    let helpers = run.agent.as_ref().map_or(Nanos::ZERO, |agent| agent.helpers_cpu_ns);
    threads.map(|end| end.cpu_ns).sum::<Nanos>() + helpers
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
