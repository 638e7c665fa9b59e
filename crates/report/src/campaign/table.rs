//! Builds the table of a campaign from its runs. Results from another target, kernel or board get a
//! row of their own.

use super::comparisons::comparisons;
use super::conditions;
use crate::campaign::{
    CampaignCell, CampaignRow, CampaignTable, CellAttempt, PooledRow, PooledThread,
};
use crate::figures::CellFigures;
use crate::verdict::forbids_pass;
use latlab_model::campaign::Campaign;
use latlab_model::explanation::CauseCounts;
use latlab_model::histogram::censored_above;
use latlab_model::run::VerdictWord;
use latlab_model::{Bin, Nanos, Run, ThreadBins};
use latlab_stats::RepeatsVerdict;
use latlab_stats::{MeasuredRun, judge_repeats, quantile_of_equal_weight, quantile_of_rows};
use latlab_store::{CampaignCounts, CellWord, cell_verdict};
use std::collections::BTreeMap;

const P99_9: u32 = 999_000;
/// Fewer latencies than this have no p99.9, as in a run.
const LEAST_FOR_P99_9: u64 = 1_000;

/// A planned run and its outcome.
#[derive(Clone, Debug)]
pub struct PlannedResult<'a> {
    /// Index of its row in the campaign.
    pub row: usize,
    /// Repeat number, from 1.
    pub repeat: u32,
    pub state: CellWord,
    pub reason: Option<String>,
    pub run: Option<MeasuredRun<'a>>,
    /// All attempts in order.
    pub attempts: Vec<CellAttempt>,
}

/// Builds the table of a campaign from the outcome of each of its runs.
pub fn table(campaign: &Campaign, made: &[PlannedResult]) -> CampaignTable {
    let rows = (0..campaign.rows.len()).flat_map(|index| {
        let measured = machines(made, index);
        let rows = measured.iter().map(|machine| row(campaign, made, index, machine, &measured));
        rows.collect::<Vec<_>>()
    });
    let table = CampaignTable {
        id: campaign.id.clone(),
        name: campaign.name.clone(),
        about: campaign.about.clone(),
        scale: campaign.scale.clone(),
        shortest_ns: campaign.shortest_and_longest().map(|(shortest, _)| shortest),
        longest_ns: campaign.shortest_and_longest().map(|(_, longest)| longest),
        tally: counts(campaign, made),
        repeats: campaign.repeats,
        rows: rows.collect(),
        comparisons: Vec::new(),
        published: campaign.published.clone(),
        virtual_time: made
            .iter()
            .filter_map(|one| one.run)
            .any(|one| one.run.asked.on.target.has_virtual_time()),
    };
    let comparisons = comparisons(&table, made);
    CampaignTable { comparisons, ..table }
}

/// Only runs that agree in kernel, preemption and board are pooled.
#[derive(Clone, PartialEq, Eq, Default)]
struct MeasuredMachine {
    kernel: Option<String>,
    preemption: Option<String>,
    board: Option<String>,
}

impl MeasuredMachine {
    fn of(run: &Run) -> MeasuredMachine {
        let machine = &run.machine;
        MeasuredMachine {
            kernel: Some(machine.kernel.clone()).filter(|kernel| !kernel.is_empty()),
            preemption: machine.preemption.clone(),
            board: machine.board.clone(),
        }
    }

    /// Its description, unless it is the one that the row already shows.
    fn words(&self) -> String {
        let parts = [&self.kernel, &self.preemption, &self.board];
        parts.into_iter().flatten().cloned().collect::<Vec<_>>().join(" ")
    }
}

/// The machines on which a row of the sheet was measured, in the order of its runs; one unknown
/// machine if there is no run.
fn machines(made: &[PlannedResult], row: usize) -> Vec<MeasuredMachine> {
    let mut known = Vec::new();
    for one in made.iter().filter(|one| one.row == row).filter_map(|one| one.run) {
        let machine = MeasuredMachine::of(one.run);
        if !known.contains(&machine) {
            known.push(machine);
        }
    }
    if known.is_empty() {
        known.push(MeasuredMachine::default());
    }
    known
}

fn counts(campaign: &Campaign, made: &[PlannedResult]) -> CampaignCounts {
    let count = |state, has_run| {
        made.iter().filter(|one| one.state == state && one.run.is_some() == has_run).count()
    };
    CampaignCounts {
        planned: campaign.runs.len(),
        measured: count(CellWord::Done, true),
        invalid: count(CellWord::Failed, true),
        failed: count(CellWord::Failed, false),
        damaged: count(CellWord::Damaged, false),
    }
}

fn row(
    campaign: &Campaign,
    made: &[PlannedResult],
    index: usize,
    machine: &MeasuredMachine,
    all: &[MeasuredMachine],
) -> CampaignRow {
    let asked = &campaign.rows[index];
    let here: Vec<&PlannedResult> = made.iter().filter(|one| one.row == index).collect();
    let is_elsewhere = |one: &PlannedResult| {
        one.run.map(|one| MeasuredMachine::of(one.run)).filter(|other| other != machine)
    };
    let cell_of = |repeat: u32| match here.iter().find(|one| one.repeat == repeat) {
        None => left_out(repeat, asked.left_out.clone()),
        Some(one) => match is_elsewhere(one) {
            Some(other) => left_out(repeat, Some(format!("measured on {}", other.words()))),
            None => cell(one),
        },
    };
    let cells: Vec<CampaignCell> = (1..=campaign.repeats).map(cell_of).collect();
    let done: Vec<(&Run, &[ThreadBins])> = here
        .iter()
        .filter(|one| one.state == CellWord::Done && is_elsewhere(one).is_none())
        .filter_map(|one| one.run)
        .map(|one| (one.run, one.bins))
        .collect();
    let of_done: Vec<&Run> = done.iter().map(|(run, _)| *run).collect();
    let repeated =
        asked.plan.until.limit_per_hour.and_then(|per_hour| judge_repeats(&of_done, per_hour));
    let published = campaign.published.iter().flat_map(|published| &published.figures);
    let label = match all.len() {
        0 | 1 => asked.label.clone(),
        _ => format!("{}, measured on {}", asked.label, machine.words()),
    };
    CampaignRow {
        label,
        group: asked.group(),
        scenario: asked.scenario.clone(),
        target: match asked.settings.get("target") {
            Some(name) => name.clone(),
            None => asked.plan.on.target.to_string(),
        },
        kernel: machine.kernel.clone().or_else(|| asked.kernel.clone()),
        preemption: machine.preemption.clone(),
        board: machine.board.clone(),
        about: asked.about.clone(),
        deadline_ns: asked.plan.until.deadline_ns,
        verdict: verdict(asked.plan.until.deadline_ns, &cells, repeated.as_ref()),
        repeated,
        cells,
        pooled: pooled(&done),
        published: published.filter(|figure| figure.scenario == asked.scenario).cloned().collect(),
    }
}

fn left_out(repeat: u32, reason: Option<String>) -> CampaignCell {
    CampaignCell {
        repeat,
        state: CellWord::LeftOut,
        reason,
        run: None,
        started: None,
        measured_ns: None,
        hostname: None,
        tries: Vec::new(),
        attempts: Vec::new(),
        figures: CellFigures::default(),
        conditions: Vec::new(),
        verdict: None,
    }
}

fn cell(made: &PlannedResult) -> CampaignCell {
    let run = made.run.map(|one| one.run);
    CampaignCell {
        repeat: made.repeat,
        state: made.state,
        reason: made.reason.clone().or_else(|| forbids_pass(run?)),
        run: run.map(|run| run.id.clone()),
        started: run.map(|run| run.started.clone()),
        measured_ns: run.map(|run| run.measured_ns),
        hostname: run.and_then(|run| run.machine.hostname.clone()),
        tries: made.attempts.iter().filter_map(|one| one.run.clone()).collect(),
        attempts: made.attempts.clone(),
        figures: run.map(figures).unwrap_or_default(),
        conditions: run.map(conditions::of_run).unwrap_or_default(),
        verdict: cell_verdict(made.state, run, made.attempts.iter().any(CellAttempt::has_failed)),
    }
}

/// Copies the figures of a run; nothing is recomputed.
fn figures(run: &Run) -> CellFigures {
    let quantiles = run.total.quantiles.as_ref();
    let is_above = run.total.cycles >= LEAST_FOR_P99_9;
    CellFigures {
        cycles: run.total.cycles,
        min_ns: run.total.min_ns,
        max_ns: run.total.max_ns,
        max_is_at_least: run.total.max_is_at_least,
        p99_9_ns: quantiles.and_then(|all| all.p99_9_ns),
        p99_9_above_ns: quantiles
            .filter(|all| is_above && all.p99_9_ns.is_none())
            .and_then(|all| all.above_ns),
        overruns: run.total.overruns,
        misses: run.total.misses,
    }
}

/// Without a deadline nothing passes, but a failed or invalid run still decides its row. With a
/// tolerated rate of bursts the repeats are judged together, since they prove more than each alone.
fn verdict(
    deadline: Option<Nanos>,
    cells: &[CampaignCell],
    repeated: Option<&RepeatsVerdict>,
) -> Option<VerdictWord> {
    let spoilt = |cell: &CampaignCell| matches!(cell.state, CellWord::Failed | CellWord::Damaged);
    match (deadline, repeated) {
        (Some(_), Some(repeated)) => {
            let others = cells.iter().filter(|cell| cell.state != CellWord::Done).cloned();
            let others = heaviest(&others.collect::<Vec<_>>());
            heaviest_word(others.into_iter().chain([repeated.word]))
        }
        (Some(_), None) => heaviest(cells),
        (None, _) => cells.iter().any(spoilt).then_some(VerdictWord::Invalid),
    }
}

/// A miss outweighs everything else; a row with a missing run cannot pass.
fn heaviest(cells: &[CampaignCell]) -> Option<VerdictWord> {
    let of = |cell: &CampaignCell| match (cell.state, cell.verdict) {
        (_, Some(word)) => Some(word),
        (CellWord::LeftOut, None) => None,
        (CellWord::Failed | CellWord::Damaged, None) => Some(VerdictWord::Invalid),
        (_, None) => Some(VerdictWord::Inconclusive),
    };
    heaviest_word(cells.iter().filter_map(of))
}

pub fn heaviest_word(words: impl Iterator<Item = VerdictWord>) -> Option<VerdictWord> {
    let words: Vec<VerdictWord> = words.collect();
    let by_weight =
        [VerdictWord::Fail, VerdictWord::Invalid, VerdictWord::Inconclusive, VerdictWord::Pass];
    by_weight.into_iter().find(|word| words.contains(word))
}

fn pooled(runs: &[(&Run, &[ThreadBins])]) -> Option<PooledRow> {
    if runs.is_empty() {
        return None;
    }
    let sum =
        |of: fn(&Run) -> Option<u64>| runs.iter().map(|(run, _)| of(run)).sum::<Option<u64>>();
    let threads = by_thread(runs);
    let all: Vec<&ThreadBins> = runs.iter().flat_map(|(_, bins)| *bins).collect();
    let rows = summed(all.iter().flat_map(|thread| &thread.bins));
    let observed = observed(runs);
    let cycles = runs.iter().map(|(run, _)| run.total.cycles).sum();
    let enough = cycles >= LEAST_FOR_P99_9;
    let differ = threads
        .values()
        .any(|(period, _, _)| threads.values().any(|(other, _, _)| other != period));
    let parts: Vec<&[Bin]> = threads.values().map(|(_, bins, _)| bins.as_slice()).collect();
    let p99_9_ns =
        observed.filter(|_| enough).and_then(|within| quantile_of_rows(&rows, P99_9, within));
    Some(PooledRow {
        runs: runs.len(),
        figures: CellFigures {
            cycles,
            min_ns: runs.iter().filter_map(|(run, _)| run.total.min_ns).min(),
            max_ns: runs.iter().filter_map(|(run, _)| run.total.max_ns).max(),
            max_is_at_least: runs.iter().any(|(run, _)| run.total.max_is_at_least),
            p99_9_ns,
            p99_9_above_ns: censored_above(&rows).filter(|_| enough && p99_9_ns.is_none()),
            overruns: sum(|run| run.total.overruns),
            misses: sum(|run| run.total.misses),
        },
        p99_9_equal_weight_ns: observed
            .filter(|_| enough && differ)
            .and_then(|within| quantile_of_equal_weight(&parts, P99_9, within)),
        threads: if differ { threads.iter().map(pooled_thread).collect() } else { Vec::new() },
        causes: CauseCounts::pooled(runs.iter().map(|(run, _)| run.explanation.as_ref())),
    })
}

/// Period, bins, and smallest and largest latency of each thread over all runs.
type OfThread = (Option<Nanos>, Vec<Bin>, Option<(Nanos, Nanos)>);
type ByThread = BTreeMap<u32, OfThread>;

fn by_thread(runs: &[(&Run, &[ThreadBins])]) -> ByThread {
    let mut threads: ByThread = BTreeMap::new();
    for thread in runs.iter().flat_map(|(run, _)| &run.threads) {
        let number = thread.setup.thread;
        let mine =
            runs.iter().flat_map(|(_, bins)| bins.iter()).filter(|bins| bins.thread == number);
        let one = threads.entry(number).or_insert_with(|| {
            (thread.setup.period_ns, summed(mine.flat_map(|bins| &bins.bins)), None)
        });
        let ends = thread.summary.min_ns.zip(thread.summary.max_ns);
        one.2 = match (one.2, ends) {
            (Some(known), Some(ends)) => Some((known.0.min(ends.0), known.1.max(ends.1))),
            (known, ends) => known.or(ends),
        };
    }
    threads
}

fn pooled_thread((&thread, (period_ns, bins, observed)): (&u32, &OfThread)) -> PooledThread {
    let cycles = bins.iter().map(|bin| bin.count).sum();
    let enough = observed.filter(|_| cycles >= LEAST_FOR_P99_9);
    PooledThread {
        thread,
        period_ns: *period_ns,
        cycles,
        max_ns: observed.map(|(_, max)| max),
        p99_9_ns: enough.and_then(|within| quantile_of_rows(bins, P99_9, within)),
    }
}

fn observed(runs: &[(&Run, &[ThreadBins])]) -> Option<(Nanos, Nanos)> {
    let min = runs.iter().filter_map(|(run, _)| run.total.min_ns).min();
    min.zip(runs.iter().filter_map(|(run, _)| run.total.max_ns).max())
}

/// Adds up equal bins; the result is in ascending order.
pub fn summed<'a>(bins: impl IntoIterator<Item = &'a Bin>) -> Vec<Bin> {
    let mut all: BTreeMap<Nanos, Bin> = BTreeMap::new();
    for bin in bins {
        let sum = all.entry(bin.high_ns).or_insert(Bin { count: 0, ..*bin });
        sum.low_ns = sum.low_ns.min(bin.low_ns);
        sum.count = sum.count.saturating_add(bin.count);
    }
    all.into_values().collect()
}
