//! Comparisons of two sides of runs, on machines that are stable or drift.

use super::random::Random;
use super::score::Score;
use latlab_model::machine::Machine;
use latlab_model::plan::{Cyclic, Method};
use latlab_model::run::{AppliedSetup, EndReason, Losses};
use latlab_model::{Histogram, Nanos, Plan, Run, ThreadBins};
use latlab_stats::comparison::{ComparisonRemark, ComparisonWord, Metric};
use latlab_stats::{MeasuredRun, Tolerance, compare_beside, compare_runs};
use std::collections::BTreeMap;

/// Per run.
const LATENCIES: usize = 4_000;
/// Random variation between runs.
const SCATTER: f64 = 0.02;

/// How a machine changes from run to run.
pub struct Drift {
    pub name: &'static str,
    pub held_out: bool,
    /// Runs per side.
    pub runs: usize,
    /// Whether the sides take turns.
    pub in_turns: bool,
    /// Earlier runs of the machine.
    pub earlier: usize,
    /// Logarithms of the levels.
    pub levels: fn(&mut Random, usize) -> Vec<f64>,
}

const fn apart(
    name: &'static str,
    held_out: bool,
    levels: fn(&mut Random, usize) -> Vec<f64>,
) -> Drift {
    Drift { name, held_out, runs: 5, in_turns: false, earlier: 0, levels }
}

pub const DRIFTS: [Drift; 11] = [
    Drift { in_turns: true, ..apart("sides in turns, no drift", false, |_, runs| vec![0.0; runs]) },
    Drift {
        in_turns: true,
        ..apart("sides in turns, 4 % a run", false, |_, runs| line(runs, 0.04))
    },
    apart("one side after the other, no drift", false, |_, runs| vec![0.0; runs]),
    apart("one side after the other, 2 % a run", false, |_, runs| line(runs, 0.02)),
    apart("one side after the other, 6 % a run", true, |_, runs| line(runs, 0.06)),
    apart("one side after the other, random walk", true, |random, runs| walk(random, runs, 1.0)),
    apart("one side after the other, level returns", true, |random, runs| walk(random, runs, 0.7)),
    few("two runs a side, 14 earlier ones", false, 2, |_, runs| vec![0.0; runs]),
    few("four runs a side, 14 earlier ones", false, 4, |_, runs| vec![0.0; runs]),
    few("three runs a side, 14 earlier ones, heavy tail", true, 3, |random, runs| {
        (0..runs).map(|_| 0.04 * (random.pareto(3.0) - random.pareto(3.0))).collect()
    }),
    few("three runs a side, 14 earlier ones, level wanders", true, 3, |random, runs| {
        walk(random, runs, 0.7)
    }),
];

/// Few runs per side, in turn, after some earlier runs of the same machine.
const fn few(
    name: &'static str,
    held_out: bool,
    runs: usize,
    levels: fn(&mut Random, usize) -> Vec<f64>,
) -> Drift {
    Drift { runs, in_turns: true, earlier: 14, ..apart(name, held_out, levels) }
}

fn line(runs: usize, a_run: f64) -> Vec<f64> {
    (0..runs).map(|at| a_run * at as f64).collect()
}

/// An autoregressive level with a step of about 3 % per run; `keeps` is its correlation.
fn walk(random: &mut Random, runs: usize, keeps: f64) -> Vec<f64> {
    let mut at =
        if keeps < 1.0 { 0.03 * random.normal() / (1.0 - keeps * keeps).sqrt() } else { 0.0 };
    let step = |_| {
        at = keeps * at + 0.03 * random.normal();
        at
    };
    (0..runs).map(step).collect()
}

struct Made {
    run: Run,
    bins: Vec<ThreadBins>,
}

fn made(random: &mut Random, number: usize, level: f64) -> Made {
    let scale = 10_000.0 * (level + SCATTER * random.normal()).exp();
    let latency = |_| Nanos((scale * (1.0 + 0.1 * random.exponential())) as i64);
    let counts: Histogram = (0..LATENCIES).map(latency).collect();
    let asked = Plan { method: Method::Cyclic(Cyclic::every(Nanos(1_000_000))), ..Plan::default() };
    let total = latlab_stats::summary(&asked, &counts, None);
    let bins = vec![ThreadBins { thread: 0, bins: counts.rows() }];
    let run = Run {
        schema: 1,
        latlab: "0.1.0".into(),
        id: format!("run-{number}"),
        started: format!("2026-11-23T00:00:{number:02}Z"),
        measured_ns: Nanos(4_000_000_000),
        ended: EndReason::Finished,
        recovered: false,
        asked,
        applied: AppliedSetup::default(),
        machine: Machine { boot_id: Some(format!("boot {number}")), ..Machine::default() },
        clocks: None,
        threads: Vec::new(),
        total,
        losses: Losses::default(),
        agent: None,
        findings: Vec::new(),
        doctor: None,
        conditions: None,
        breakdown: None,
        attached: None,
        explanation: None,
        guest_measurement: None,
        loads: Vec::new(),
        self_interference: None,
        largest: Vec::new(),
        statistics: None,
        verdict: None,
        files: BTreeMap::new(),
        checksum: None,
    };
    Made { run, bins }
}

fn measured(one: &Made) -> MeasuredRun<'_> {
    MeasuredRun { run: &one.run, bins: &one.bins, spans: &[], scenario: None }
}

/// How often a comparison of a machine with itself is right.
pub fn comparisons(drift: &Drift, cases: usize) -> Vec<Score> {
    let score = |statement| Score::new(drift.name, statement, drift.held_out);
    let mut scores = vec![score("compare: interval of p99"), score("compare: not REGRESSED")];
    for case in 0..cases {
        let random = &mut Random::new(80_000 + case as u64);
        let levels = (drift.levels)(random, drift.earlier + 2 * drift.runs);
        let runs: Vec<Made> =
            levels.iter().enumerate().map(|(at, level)| made(random, at, *level)).collect();
        let (earlier, runs) = runs.split_at(drift.earlier);
        let earlier: Vec<MeasuredRun> = earlier.iter().map(measured).collect();
        // In turn: base, candidate, candidate, base.
        let is_base = |at: usize| match drift.in_turns {
            true => matches!(at % 4, 0 | 3),
            false => at < drift.runs,
        };
        let side = |base: bool| -> Vec<MeasuredRun> {
            let of_side = runs.iter().enumerate().filter(|(at, _)| is_base(*at) == base);
            of_side.map(|(_, one)| measured(one)).collect()
        };
        let found = compare_beside(&side(true), &side(false), &earlier, &Tolerance::default());
        let scenario = &found.scenarios[0];
        // If a drift is seen, no statement is made about the sides.
        let drifts = scenario
            .remarks
            .iter()
            .any(|remark| matches!(remark, ComparisonRemark::OneAfterTheOther { drift: Some(_) }));
        let p99 = scenario.metrics.iter().find(|one| one.metric == Metric::P99).unwrap();
        let holds = p99.interval.map(|interval| interval.low <= 1.0 && interval.high >= 1.0);
        scores[0].count(holds.filter(|_| !drifts));
        let is_said = !drifts && found.word != ComparisonWord::Refused;
        scores[1].count(is_said.then_some(found.word != ComparisonWord::Regressed));
    }
    scores
}

/// How often copies of one file compared with copies of another give a result.
pub fn copies(cases: usize) -> Vec<Score> {
    let mut score = Score::new("five copies of one file a side", "compare: not REGRESSED", false);
    for case in 0..cases {
        let random = &mut Random::new(90_000 + case as u64);
        let two = [made(random, 0, 0.0), made(random, 1, 0.0)];
        let copies = |one: &Made| -> Vec<Made> {
            let copy = |number| {
                let (started, id) = (format!("2026-11-23T00:00:{number:02}Z"), format!("{number}"));
                Made { run: Run { started, id, ..one.run.clone() }, bins: one.bins.clone() }
            };
            (0..5).map(copy).collect()
        };
        let [base, candidate] = two.each_ref().map(copies);
        let base: Vec<MeasuredRun> = base.iter().map(measured).collect();
        let candidate: Vec<MeasuredRun> = candidate.iter().map(measured).collect();
        let word = compare_runs(&base, &candidate, &Tolerance::default()).word;
        let is_said = word != ComparisonWord::Refused;
        score.count(is_said.then_some(word != ComparisonWord::Regressed));
    }
    vec![score]
}
