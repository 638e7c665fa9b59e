//! A published experiment with responders: its figures from `published.toml`, next to runs of the
//! same responders, each with its conditions.

use crate::document::table::{Column, Table};
use crate::document::{Block, On, Section};
use crate::sections::respond::ResponseFigure;
use latlab_model::Run;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::LazyLock;

static EXPERIMENT: LazyLock<Experiment> = LazyLock::new(|| {
    toml::from_str(include_str!("published.toml")).expect("published.toml fits its type")
});

/// Contents of `published.toml`.
#[derive(Deserialize)]
struct Experiment {
    source: String,
    /// Which comparisons are valid.
    meaning: String,
    measured: String,
    responder: Vec<Responder>,
}

#[derive(Deserialize)]
struct Responder {
    name: String,
    /// The runs that replicate it, by the names that `--simulate` takes.
    runs: Vec<String>,
    answers: String,
    program: String,
    load: String,
    stimuli: String,
    idle: Published,
    /// `None` for a microcontroller, which runs nothing else.
    busy: Option<Published>,
}

/// A published series.
#[derive(Deserialize)]
struct Published {
    n: u64,
    #[serde(default)]
    unmeasured: u64,
    /// In the order of `FIGURES`, in microseconds.
    us: [f64; 5],
}

impl Responder {
    /// The responder that a run replicates.
    fn of(run: &Run) -> Option<&'static Responder> {
        let asked = run.asked.method.respond()?;
        let name = match &asked.linux {
            Some(linux) => format!("linux:{}", linux.name),
            None => asked.simulated.as_deref()?.split([' ', ',']).next()?.to_string(),
        };
        EXPERIMENT.responder.iter().find(|one| one.runs.contains(&name))
    }

    fn series(&'static self, published: &Published, is_loaded: bool) -> Series {
        Series {
            of: self,
            what: PUBLISHED.to_string(),
            is_loaded,
            n: published.n,
            without: published.unmeasured,
            figures: published.us.map(|us| Some(us * 1e3)),
            conditions: Conditions {
                answers: self.answers.clone(),
                program: self.program.clone(),
                load: self.load.clone(),
                stimuli: self.stimuli.clone(),
                measured: EXPERIMENT.measured.clone(),
            },
        }
    }
}

/// The conditions of a series.
struct Conditions {
    answers: String,
    program: String,
    load: String,
    stimuli: String,
    measured: String,
}

/// A row of the table: the publication's, or that of a run.
struct Series {
    of: &'static Responder,
    what: String,
    is_loaded: bool,
    n: u64,
    /// Stimuli without a figure: not measured, late, or not answered.
    without: u64,
    figures: [Option<f64>; 5],
    conditions: Conditions,
}

/// Published series, each followed by the runs of its responder.
struct Repetition(Vec<Series>);

impl Repetition {
    /// `None` if the runs do not replicate the experiment.
    fn of(runs: &[&Run]) -> Option<Repetition> {
        let known: Vec<(&Responder, &Run)> =
            runs.iter().filter_map(|run| Some((Responder::of(run)?, *run))).collect();
        let different: BTreeSet<&str> = known.iter().map(|(one, _)| one.name.as_str()).collect();
        // With more than one responder missing, it is another experiment.
        if different.len() + 1 < EXPERIMENT.responder.len() {
            return None;
        }
        let mut all = Vec::new();
        for one in &EXPERIMENT.responder {
            for is_loaded in [false, true] {
                let published = if is_loaded { one.busy.as_ref() } else { Some(&one.idle) };
                all.extend(published.map(|published| one.series(published, is_loaded)));
                let same = known.iter().filter(|(of, run)| {
                    of.name == one.name && run.asked.on.loads.is_empty() != is_loaded
                });
                all.extend(same.filter_map(|(_, run)| of_run(one, run)));
            }
        }
        Some(Repetition(all))
    }

    fn columns(&self) -> Vec<Column> {
        let all = &self.0;
        let cells = |of: &dyn Fn(&Series) -> String| all.iter().map(of).collect::<Vec<_>>();
        let mut columns = vec![
            Column::new("responder", 0, cells(&|one| one.of.name.clone())).left(),
            Column::new("series", 0, cells(&|one| one.what.clone())).left(),
            Column::new(
                "load",
                0,
                cells(&|one| if one.is_loaded { "busy" } else { "idle" }.to_string()),
            )
            .left(),
            Column::new("n", 0, cells(&|one| one.n.to_string())),
            Column::new("without a figure", 2, cells(&|one| one.without.to_string())),
        ];
        columns.extend(FIGURES.iter().enumerate().map(|(at, (id, rank))| {
            let cell = |one: &Series| {
                one.figures[at].map_or("-".to_string(), |ns| format!("{:.2}", ns / 1e3))
            };
            Column::new(ResponseFigure::of(id).head(), *rank, cells(&cell)).unit("us")
        }));
        columns
    }

    /// The conditions of each row; the publication's two series share one.
    fn condition_columns(&self) -> Vec<Column> {
        let rows: Vec<&Series> =
            self.0.iter().filter(|one| !(one.what == PUBLISHED && one.is_loaded)).collect();
        let cells =
            |of: &dyn Fn(&Series) -> String| rows.iter().map(|one| of(one)).collect::<Vec<_>>();
        vec![
            Column::new("responder", 0, cells(&|one| one.of.name.clone())).left(),
            Column::new("series", 0, cells(&|one| one.what.clone())).left(),
            Column::new("answers on", 0, cells(&|one| one.conditions.answers.clone())).left(),
            Column::new("program", 0, cells(&|one| one.conditions.program.clone())).left(),
            Column::new("load", 0, cells(&|one| one.conditions.load.clone())).left(),
            Column::new("stimuli", 0, cells(&|one| one.conditions.stimuli.clone())).left(),
            Column::new("measured by", 0, cells(&|one| one.conditions.measured.clone())).left(),
        ]
    }

    /// The order of the medians without load, published and measured; `None` if several runs share
    /// a responder, since there is no single order.
    fn order(&self) -> Option<String> {
        let order = |is_published: bool| {
            let mut all: Vec<&Series> = self
                .0
                .iter()
                .filter(|one| !one.is_loaded && (one.what == PUBLISHED) == is_published)
                .collect();
            let names: BTreeSet<&str> = all.iter().map(|one| one.of.name.as_str()).collect();
            all.sort_by(|a, b| {
                a.figures[1].partial_cmp(&b.figures[1]).unwrap_or(std::cmp::Ordering::Equal)
            });
            let is_single = names.len() == all.len() && all.len() == EXPERIMENT.responder.len();
            is_single
                .then(|| all.iter().map(|one| one.of.name.as_str()).collect::<Vec<_>>().join(" < "))
        };
        Some(format!(
            "Order of the medians without load, published: {}; here: {}.",
            order(true)?,
            order(false)?
        ))
    }
}

/// The published figures, each next to those of the runs, and all conditions. `None` if the runs are
/// not a replication.
pub fn section(runs: &[&Run]) -> Option<Section> {
    let repetition = Repetition::of(runs)?;
    let Experiment { source, meaning, .. } = &*EXPERIMENT;
    let figures = Table::new(meaning, repetition.columns());
    let section = Section::new("published", "Next to the published figures").table(figures);
    let section = section.add(On::Text, Block::Text(meaning.clone()));
    let section = repetition.order().into_iter().fold(section, Section::text);
    let section = section.add(On::Text, Block::Text(source.clone()));
    Some(section.table(Table::new(source, repetition.condition_columns())))
}

const PUBLISHED: &str = "published";
/// The published figures, each with the rank of its column.
const FIGURES: [(&str, u8); 5] =
    [("min_ns", 0), ("p50_ns", 0), ("mean_ns", 1), ("p99_ns", 0), ("max_ns", 0)];

fn of_run(of: &'static Responder, run: &Run) -> Option<Series> {
    let responses = run.responses()?;
    let is_guest = run.asked.method.respond()?.linux.is_some();
    Some(Series {
        of,
        what: match is_guest {
            true => format!("virtual, {}", run.asked.on.target.short_name()),
            false => "simulated".to_string(),
        },
        is_loaded: !run.asked.on.loads.is_empty(),
        n: run.total.cycles,
        without: responses.missing + responses.late + responses.unmeasured(),
        figures: FIGURES.map(|(id, _)| (ResponseFigure::of(id).get)(&responses.figures)),
        conditions: conditions(run),
    })
}

fn conditions(run: &Run) -> Conditions {
    let asked = run.asked.method.respond().cloned().unwrap_or_default();
    let machine = &run.machine;
    let known = |parts: &[Option<&String>]| {
        parts
            .iter()
            .flatten()
            .map(|one| one.as_str())
            .filter(|one| !one.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let setting = |name: &str| {
        run.applied.settings.iter().find(|one| one.what == name).map(|one| &one.applied)
    };
    // The number and timing of the edges follow the name of the simulation.
    let simulated = asked.simulated.unwrap_or_default();
    let stimuli = simulated.split_once(", ").map(|(_, rest)| rest.to_string()).unwrap_or_default();
    let (answers, program, measured) = match &asked.linux {
        Some(linux) => (
            known(&[
                machine.cpu_model.as_ref(),
                Some(&format!("Linux {}", machine.kernel)),
                machine.preemption.as_ref(),
            ]),
            match run.asked.who.policy {
                Some(policy) => format!("{}, policy {policy}", linux.name),
                None => format!("{}, in the kernel", linux.name),
            },
            "time stamps of the pin pair in virtual time".to_string(),
        ),
        None => (
            known(&[machine.board.as_ref(), machine.cpu_model.as_ref()]),
            known(&[setting("core"), setting("compiler")]),
            format!("cycles of {}", known(&[setting("simulator")])),
        ),
    };
    Conditions { answers, program, load: run.load_or("none"), stimuli, measured }
}
