//! The figures of a busy loop: how much of the time was taken, and by what.

use crate::terminal::table::Column;
use crate::units::{Scale, trimmed};
use latlab_model::run::{Gaps, Noise, SpinCounts, ThreadRun};
use latlab_model::{Nanos, Run};

/// A column of figures: a cell for each thread, and one for all where there are several.
pub struct NoiseFigures {
    /// Its name on the page.
    pub name: &'static str,
    /// Its name in the terminal.
    pub short: &'static str,
    /// The larger, the sooner a narrow terminal does without it.
    pub rank: u8,
    /// Its unit.
    pub unit: &'static str,
    /// Its cells.
    pub cells: Vec<String>,
}

/// All of them, in their order.
pub fn figures(run: &Run) -> Vec<NoiseFigures> {
    let several = run.threads.len() > 1;
    let summaries = run.threads.iter().map(|one| &one.summary).chain(several.then_some(&run.total));
    let noises: Vec<Option<Noise>> = summaries.map(|summary| summary.noise).collect();
    let share = |name, short, rank, of: fn(&Noise) -> f64| NoiseFigures {
        name,
        short,
        rank,
        unit: "%",
        cells: noises.iter().map(|one| cell(one.as_ref().map(|one| hundredth(of(one))))).collect(),
    };
    let taken = |name, short, of: fn(&SpinCounts) -> Gaps| {
        let share = |one: &ThreadRun| {
            let noise = one.summary.noise?;
            let sum = of(spun(one)?).sum_ns;
            Some(hundredth(Noise { sum_ns: sum, ..noise }.share()))
        };
        let blank = several.then(String::new);
        let cells = run.threads.iter().map(|one| cell(share(one))).chain(blank).collect();
        NoiseFigures { name, short, rank: 2, unit: "%", cells }
    };
    vec![
        share("Noise", "noise", 0, Noise::share),
        share("Worst interval", "worst", 1, |noise| noise.worst_share),
        taken("By other threads", "threads", |spun| spun.preempted),
        taken("By interrupts and firmware", "irq etc", |spun| spun.interrupted),
        pass(run, several),
    ]
}

/// The columns of the terminal.
pub fn columns(run: &Run) -> impl Iterator<Item = Column> {
    let column = |one: NoiseFigures| Column::new(one.short, one.rank, one.cells).unit(one.unit);
    figures(run).into_iter().map(column)
}

/// The mean pass says what can be told apart at all.
fn pass(run: &Run, several: bool) -> NoiseFigures {
    let mean = |one: &ThreadRun| {
        let (noise, spun) = (one.summary.noise?, spun(one)?);
        let own = noise.of_ns - noise.sum_ns - spun.rested_ns;
        Some(own.0 as f64 / spun.passes.max(1) as f64)
    };
    let means: Vec<Option<f64>> = run.threads.iter().map(mean).collect();
    let scale = Scale::for_times(means.iter().flatten().map(|mean| Nanos(*mean as i64)));
    let cells = means.into_iter().map(|mean| cell(mean.map(|mean| scale.number_f64(mean))));
    let cells = cells.chain(several.then(String::new)).collect();
    NoiseFigures { name: "Mean pass", short: "pass", rank: 4, unit: scale.unit(), cells }
}

fn spun(thread: &ThreadRun) -> Option<&SpinCounts> {
    thread.end.as_ref()?.spun.as_ref()
}

fn cell(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_string())
}

/// A share in percent, to three digits behind the point.
fn hundredth(share: f64) -> String {
    trimmed(format!("{:.3}", share * 100.0))
}
