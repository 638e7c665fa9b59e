//! Searches for settings that help, as campaigns: slots with half of the settings on, in pairs of
//! opposite settings, and slots of the untouched machine between them. What a search has found
//! follows from its stored runs alone.

use latlab_model::campaign::{CAMPAIGN_VERSION, Campaign, CoolDown, Order, PlannedRun, Row};
use latlab_model::machine::Machine;
use latlab_model::tune::{
    Candidate, FigureEffect, Influence, JointResult, SettingResult, SettingWord, TunePlan,
    TuneResult, TunedFigure, UntouchedFigure,
};
use latlab_model::{Nanos, Plan, Run};
use latlab_stats::comparison::Metric;
use latlab_stats::{Effect, MeasuredRun, Screening, coins, figure, upper_median};
use latlab_store::{CampaignProgress, CellState, Error, histograms};
use std::path::Path;

/// Pairs of slots between two slots of the untouched machine.
const PAIRS_TOGETHER: usize = 4;
/// What a run takes in addition to its warm-up and length.
const BETWEEN_RUNS: Nanos = Nanos(1_000_000_000);
/// Share of the time for the search; the rest is for the confirmation.
pub const SEARCHING: f64 = 0.8;
/// Latencies above a quantile that a slot must be expected to have.
const ABOVE: f64 = 8.0;
/// More pairs are not planned, however long the time is.
const MOST_PAIRS: usize = 2000;
/// Runs of each side of a confirmation.
const CONFIRMATIONS: (usize, usize) = (6, 20);

/// Label of the rows that measure the machine as it is.
const UNTOUCHED: &str = "untouched";
/// Label of the row that confirms the chosen settings.
const TUNED: &str = "tuned";

/// Where and when a campaign is planned.
pub struct Planner<'a> {
    /// The measurement of each slot.
    pub plan: &'a Plan,
    /// CPUs of this machine.
    pub cpus: u32,
    pub seed: u64,
    /// UTC (RFC 3339).
    pub begun: String,
}

/// Latencies that latlab's own threads measure each second.
pub fn rate(plan: &Plan, cpus: u32) -> f64 {
    let period = plan.method.period().map_or(1e6, |period| period.0 as f64);
    f64::from(plan.threads(cpus)) * 1e9 / period
}

/// The figures that a slot of this plan can carry; `rate` is its number of latencies each second.
pub fn figures(plan: &Plan, rate: f64) -> Vec<TunedFigure> {
    let latencies = rate * plan.until.duration_ns.unwrap_or_default().as_secs_f64();
    let tail = match latencies {
        many if many * 1e-4 >= ABOVE => TunedFigure::P99_99,
        many if many * 1e-3 >= ABOVE => TunedFigure::P99_9,
        _ => TunedFigure::P99,
    };
    let bursts = plan.until.deadline_ns.map(|_| TunedFigure::Bursts);
    let load = plan.on.loads.first().map(|_| TunedFigure::LoadRate);
    bursts.into_iter().chain([tail, TunedFigure::Median]).chain(load).collect()
}

impl Planner<'_> {
    /// The pairs of slots that fit into the time.
    pub fn pairs(&self, time: Nanos) -> usize {
        let slots = time.0 as f64 * SEARCHING / self.slot().0 as f64;
        let each = 2.0 + 1.0 / PAIRS_TOGETHER as f64;
        ((slots / each) as usize).min(MOST_PAIRS)
    }

    /// What a slot takes.
    pub fn slot(&self) -> Nanos {
        self.plan.duration(self.cpus).unwrap_or_default() + BETWEEN_RUNS
    }

    /// A search.
    pub fn search(&self, tune: TunePlan) -> Campaign {
        let pairs = self.pairs(tune.time_ns);
        let mut rows = Vec::new();
        for (number, first) in coins(tune.candidates.len(), pairs, self.seed).iter().enumerate() {
            if number % PAIRS_TOGETHER == 0 {
                let label = format!("{UNTOUCHED}-{:03}", 1 + number / PAIRS_TOGETHER);
                rows.push(self.row(label, &[]));
            }
            for (side, is_on) in [("a", true), ("b", false)] {
                let on = tune.candidates.iter().zip(first).filter(|(_, on)| **on == is_on);
                let on: Vec<&Candidate> = on.map(|(one, _)| one).collect();
                rows.push(self.row(format!("pair-{:03}-{side}", number + 1), &on));
            }
        }
        let runs = (0..rows.len()).map(|row| self.run(row, 1, row)).collect();
        self.campaign("tune", rows, runs, tune)
    }

    /// The confirmation of a choice, within this time.
    pub fn confirmation(&self, tune: TunePlan) -> Campaign {
        let all: Vec<&Candidate> = tune.candidates.iter().collect();
        let rows = vec![self.row(UNTOUCHED.into(), &[]), self.row(TUNED.into(), &all)];
        let fitting = tune.time_ns.0 / (2 * self.slot().0).max(1);
        let repeats = (fitting.max(0) as usize).clamp(CONFIRMATIONS.0, CONFIRMATIONS.1);
        // A B B A: a drift affects both alike.
        let turn = |repeat: usize| if repeat % 2 == 1 { [0, 1] } else { [1, 0] };
        let order = (1..=repeats).flat_map(|repeat| turn(repeat).map(|row| (row, repeat)));
        let runs =
            order.enumerate().map(|(at, (row, repeat))| self.run(row, repeat as u32, at)).collect();
        self.campaign("tune-confirmation", rows, runs, tune)
    }

    fn row(&self, label: String, on: &[&Candidate]) -> Row {
        let mut plan = self.plan.clone();
        on.iter().for_each(|one| one.apply_to(&mut plan));
        Row {
            scenario: label.clone(),
            label,
            about: None,
            settings: on.iter().map(|one| (one.name.clone(), "on".to_string())).collect(),
            kernel: None,
            left_out: None,
            plan,
        }
    }

    fn run(&self, row: usize, repeat: u32, at: usize) -> PlannedRun {
        PlannedRun { row, repeat, seed: self.seed.wrapping_add(at as u64) }
    }

    fn campaign(
        &self,
        name: &str,
        rows: Vec<Row>,
        runs: Vec<PlannedRun>,
        tune: TunePlan,
    ) -> Campaign {
        Campaign {
            schema: CAMPAIGN_VERSION,
            latlab: latlab_model::VERSION.to_string(),
            id: String::new(),
            name: name.to_string(),
            about: Some("Which settings help?".to_string()),
            begun: self.begun.clone(),
            repeats: runs.iter().map(|run| run.repeat).max().unwrap_or(1),
            scale: None,
            order: Order::Random,
            seed: self.seed,
            retries: 1,
            cool_down: CoolDown::default(),
            cpus: self.cpus,
            rows,
            runs,
            published: None,
            tune: Some(tune),
        }
    }
}

/// What the runs of a search say so far; slots are added as they are measured.
pub struct Search<'a> {
    campaign: &'a Campaign,
    tune: &'a TunePlan,
    screenings: Vec<Screening>,
    /// Logarithms of the figures of the untouched machine, for each figure.
    untouched: Vec<Vec<f64>>,
    untouched_runs: usize,
    /// The machine of the first run.
    machine: Option<Machine>,
    /// The first run that was not taken yet.
    next: usize,
    pairs: usize,
}

/// Logarithms of the figures of a slot; `None` if it does not carry a figure.
type SlotFigures = Vec<Option<f64>>;

impl<'a> Search<'a> {
    /// `None` if the campaign is not a search.
    pub fn new(campaign: &'a Campaign) -> Option<Search<'a>> {
        let tune = campaign.search()?;
        let figures = tune.figures.len();
        let screening = || Screening::new(tune.candidates.len(), figures, tune.tolerance.ln_1p());
        Some(Search {
            campaign,
            tune,
            screenings: (0..figures).map(|_| screening()).collect(),
            untouched: vec![Vec::new(); figures],
            untouched_runs: 0,
            machine: None,
            next: 0,
            pairs: 0,
        })
    }

    /// Takes what was measured since the last call, up to the first run that is missing.
    pub fn update(&mut self, progress: &CampaignProgress) -> Result<(), Error> {
        self.machine = progress.runs.first().map(|(_, run)| run.machine.clone());
        while let Some(planned) = self.campaign.runs.get(self.next) {
            let row = &self.campaign.rows[planned.row];
            if row.settings.is_empty() && row.label.starts_with(UNTOUCHED) {
                let Some(slot) = self.slot(progress, self.next)? else { return Ok(()) };
                self.untouched_runs += usize::from(slot.iter().any(Option::is_some));
                for (all, figure) in self.untouched.iter_mut().zip(slot) {
                    all.extend(figure);
                }
                self.next += 1;
                continue;
            }
            let slots = [self.slot(progress, self.next)?, self.slot(progress, self.next + 1)?];
            let [Some(first), Some(second)] = slots else { return Ok(()) };
            let is_on = |one: &Candidate| row.settings.contains_key(&one.name);
            let on: Vec<bool> = self.tune.candidates.iter().map(is_on).collect();
            let mut is_taken = false;
            for ((screening, first), second) in self.screenings.iter_mut().zip(first).zip(second) {
                // Both or none: a slot alone has nothing to be compared with.
                if let (Some(first), Some(second)) = (first, second) {
                    screening.take(&on, [first, second]);
                    is_taken = true;
                }
            }
            self.pairs += usize::from(is_taken);
            self.next += 2;
        }
        Ok(())
    }

    /// The figures of a slot, all absent if its run was given up; `None` if it is missing.
    fn slot(&self, progress: &CampaignProgress, at: usize) -> Result<Option<SlotFigures>, Error> {
        let Some(planned) = self.campaign.runs.get(at) else { return Ok(None) };
        match progress.cell_state(self.campaign, planned) {
            CellState::Missing { .. } => Ok(None),
            CellState::GivenUp { .. } => Ok(Some(vec![None; self.tune.figures.len()])),
            CellState::Done { run } => {
                let (folder, run) = &progress.runs[run];
                slot_figures(&self.tune.figures, folder, run).map(Some)
            }
        }
    }

    /// Whether every setting has its answer.
    pub fn is_decided(&self) -> bool {
        self.words().iter().all(|word| *word != SettingWord::Undecided)
    }

    pub fn pairs(&self) -> usize {
        self.pairs
    }

    /// How many settings have which answer so far.
    pub fn progress(&self) -> String {
        let words = self.words();
        let each = SettingWord::ALL.iter().filter_map(|word| {
            let count = words.iter().filter(|one| *one == word).count();
            (count > 0).then(|| format!("{count} {}", word.as_str().replace('-', " ")))
        });
        each.collect::<Vec<_>>().join(", ")
    }

    fn words(&self) -> Vec<SettingWord> {
        let influences: Vec<Vec<Influence>> =
            self.screenings.iter().map(Screening::influences).collect();
        let of = |at: usize| {
            let each = influences.iter().map(|all| all[at]);
            word(self.tune.figures.iter().copied().zip(each))
        };
        (0..self.tune.candidates.len()).map(of).collect()
    }

    pub fn result(&self) -> TuneResult {
        let effects: Vec<Vec<Effect>> = self.screenings.iter().map(Screening::effects).collect();
        let figures = || self.tune.figures.iter().copied();
        let pair = self.slot_time() * 2;
        let setting = |(at, candidate): (usize, &Candidate)| {
            let each: Vec<FigureEffect> =
                figures().zip(&effects).map(|(figure, all)| effect(figure, &all[at])).collect();
            let more = figures().zip(&effects).filter(|(figure, _)| figure.decides());
            let more = more.filter_map(|(_, all)| all[at].more_pairs).min_by(f64::total_cmp);
            let word = word(each.iter().map(|one| (one.figure, one.influence)));
            SettingResult {
                setting: candidate.clone(),
                word,
                effects: each,
                more_ns: more
                    .filter(|_| word == SettingWord::Undecided)
                    .map(|pairs| Nanos((pairs.ceil() * pair.0 as f64) as i64)),
            }
        };
        let mut settings: Vec<SettingResult> =
            self.tune.candidates.iter().enumerate().map(setting).collect();
        let ratio = |one: &SettingResult| {
            one.effects
                .iter()
                .find(|effect| effect.figure.decides())
                .map_or(1.0, |effect| effect.ratio)
        };
        settings.sort_by(|one, other| {
            one.word.cmp(&other.word).then(ratio(one).total_cmp(&ratio(other)))
        });
        let joint = figures().zip(&self.screenings).flat_map(|(figure, screening)| {
            let name = |at: usize| self.tune.candidates[at].name.clone();
            screening.joint_effects().into_iter().map(move |one| JointResult {
                settings: (name(one.settings.0), name(one.settings.1)),
                figure,
                ratio: one.estimate.exp(),
            })
        });
        let middle = |(figure, logs): (TunedFigure, &Vec<f64>)| UntouchedFigure {
            figure,
            median: unlogged(figure, upper_median(&mut logs.clone())),
        };
        let known = figures().zip(&self.untouched).filter(|(_, logs)| !logs.is_empty());
        TuneResult {
            id: self.campaign.id.clone(),
            host: self.machine.as_ref().and_then(|machine| machine.hostname.clone()),
            kernel: self.machine.as_ref().map(|machine| machine.kernel.clone()).unwrap_or_default(),
            tolerance: self.tune.tolerance,
            pairs: self.pairs,
            planned_pairs: self.planned_pairs(),
            slot_ns: self
                .campaign
                .rows
                .first()
                .and_then(|row| row.plan.until.duration_ns)
                .unwrap_or_default(),
            is_decided: self.is_decided(),
            untouched: known.map(middle).collect(),
            untouched_runs: self.untouched_runs,
            settings,
            joint: joint.collect(),
            left_out: self.tune.left_out.clone(),
            confirmed: None,
        }
    }

    fn planned_pairs(&self) -> usize {
        self.campaign.rows.iter().filter(|row| !row.label.starts_with(UNTOUCHED)).count() / 2
    }

    fn slot_time(&self) -> Nanos {
        let first = self.campaign.runs.first().and_then(|run| self.campaign.run_duration(run));
        first.unwrap_or_default() + BETWEEN_RUNS
    }
}

fn word(each: impl Iterator<Item = (TunedFigure, Influence)>) -> SettingWord {
    let decisive: Vec<(TunedFigure, Influence)> =
        each.filter(|(figure, _)| figure.decides()).collect();
    let any = |wanted: Influence| decisive.iter().any(|(_, influence)| *influence == wanted);
    // Bursts may be too few to tell: then the tail alone says that a setting makes no difference.
    let is_same = |(figure, influence): &(TunedFigure, Influence)| {
        *figure != TunedFigure::Bursts && *influence == Influence::NoDifference
    };
    match () {
        () if any(Influence::Raises) => SettingWord::Hurts,
        () if any(Influence::Lowers) => SettingWord::Helps,
        () if decisive.iter().any(is_same) => SettingWord::NoDifference,
        () => SettingWord::Undecided,
    }
}

fn effect(figure: TunedFigure, of: &Effect) -> FigureEffect {
    let bound = |log: f64| log.is_finite().then(|| log.exp());
    FigureEffect {
        figure,
        influence: of.influence,
        ratio: of.estimate.exp(),
        low: bound(of.bounds.0),
        high: bound(of.bounds.1),
    }
}

/// Half a burst is added, so that a slot without any has a logarithm.
const HALF: f64 = 0.5;

fn unlogged(figure: TunedFigure, log: f64) -> f64 {
    match figure {
        TunedFigure::Bursts => log.exp() - HALF,
        _ => log.exp(),
    }
}

fn slot_figures(figures: &[TunedFigure], folder: &Path, run: &Run) -> Result<SlotFigures, Error> {
    let bins = histograms(folder, run)?;
    let measured = MeasuredRun { run, bins: &bins, spans: &[], scenario: None };
    let quantile = |metric| figure(metric, &measured, Nanos(1)).ok().map(f64::ln);
    let each = figures.iter().map(|figure| match figure {
        TunedFigure::Bursts => bursts(run).map(|count| (count + HALF).ln()),
        TunedFigure::P99 => quantile(Metric::P99),
        TunedFigure::P99_9 => quantile(Metric::P99_9),
        TunedFigure::P99_99 => quantile(Metric::P99_99),
        TunedFigure::Median => quantile(Metric::P50),
        TunedFigure::LoadRate => load_rate(run).map(f64::ln),
    });
    Ok(each.collect())
}

fn bursts(run: &Run) -> Option<f64> {
    let bursts = run.verdict.as_ref()?.bursts?;
    Some((bursts.count + bursts.unknown) as f64)
}

/// What the first load got done by its kernel counter, or else its CPU time. Its own figures may be times, of
/// which less is more.
fn load_rate(run: &Run) -> Option<f64> {
    let load = run.loads.first()?;
    let counted = load.evidence.as_ref().map(|evidence| evidence.per_second.mean);
    let share = || load.cpu_share.map(|share| share.mean);
    counted.or_else(share).filter(|rate| *rate > 0.0)
}
