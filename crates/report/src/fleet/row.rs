//! What the tables of many runs hold about each run, and the answer to a query over them.

use crate::figures::{FIGURES, Stored};
use latlab_model::finding::Finding;
use latlab_model::machine::{FACTS, FactValue, MachineFact};
use latlab_model::plan::{OnMachine, Plan, Until};
use latlab_model::{Run, Target};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A run folder as input for the tables of many runs: a line of `latlab fleet-rows`.
#[derive(Debug, Serialize)]
pub struct FleetEntry<'a> {
    /// Path of the folder as requested.
    pub path: &'a str,
    /// Why the run cannot be used; `None` if it is intact.
    pub damaged: Option<String>,
    /// Row of the run.
    pub run: Option<Map<String, Value>>,
    /// Findings of the run, with their texts.
    pub findings: Vec<Finding>,
    /// Tables in its folder.
    pub tables: Vec<String>,
}

/// A column of the table of runs.
pub struct RunColumn {
    pub name: &'static str,
    get: RunValue,
}

#[derive(Clone, Copy)]
enum RunValue {
    Text(fn(&Run) -> Option<String>),
    Number(Stored),
    Fact(&'static MachineFact),
}

impl RunColumn {
    const fn text(name: &'static str, of: fn(&Run) -> Option<String>) -> RunColumn {
        RunColumn { name, get: RunValue::Text(of) }
    }

    const fn integer(name: &'static str, of: fn(&Run) -> Option<i64>) -> RunColumn {
        RunColumn { name, get: RunValue::Number(Stored::Integer(of)) }
    }

    /// Its type in SQL.
    pub fn sql_type(&self) -> &'static str {
        match self.get {
            RunValue::Number(Stored::Real(_)) => "DOUBLE",
            RunValue::Number(Stored::Integer(_)) => "BIGINT",
            RunValue::Fact(fact) if fact.is_number => "BIGINT",
            RunValue::Text(_) | RunValue::Fact(_) => "VARCHAR",
        }
    }

    fn value(&self, run: &Run) -> Value {
        match self.get {
            RunValue::Text(of) => of(run).into(),
            RunValue::Number(Stored::Integer(of)) => of(run).into(),
            RunValue::Number(Stored::Real(of)) => of(run).into(),
            RunValue::Fact(fact) => match (fact.value)(&run.machine) {
                None => Value::Null,
                Some(FactValue::Text(text)) => text.into(),
                Some(FactValue::Bytes(bytes)) => bytes.into(),
                Some(FactValue::Hertz(rate)) => rate.into(),
                Some(FactValue::RealtimeLimit(limit)) => limit.into(),
            },
        }
    }
}

/// What a run is, what was asked of it, and how it was judged.
const OWN: &[RunColumn] = &[
    RunColumn::text("run", |run| Some(run.id.clone())),
    RunColumn::text("checksum", |run| run.checksum.clone()),
    RunColumn::text("started", |run| Some(run.started.clone())),
    RunColumn::integer("start_ns", |run| Some(run.first_release()?.0)),
    RunColumn::text("ended", |run| Some(run.ended.as_str().to_string())),
    RunColumn::text("name", |run| Some(run.asked.name.clone())),
    RunColumn::text("note", |run| run.asked.note.clone()),
    RunColumn::text("scenario", |run| {
        let cell = run.asked.cell.as_ref();
        Some(cell.map_or(&run.asked.name, |cell| &cell.row).clone())
    }),
    RunColumn::text("campaign", |run| Some(run.asked.cell.as_ref()?.campaign.clone())),
    RunColumn::text("target", |run| Some(run.asked.on.target.to_string())),
    RunColumn::text("instrument", |run| Some(run.asked.method.instrument().to_string())),
    RunColumn::integer("period_ns", |run| Some(run.asked.method.period()?.0)),
    RunColumn::text("policy", |run| Some(run.threads.first()?.setup.policy.clone())),
    RunColumn::text("load", |run| Some(run.load_or(""))),
    RunColumn::text("settings", |run| Some(settings(&run.asked))),
    RunColumn::integer("deadline_ns", |run| Some(run.asked.until.deadline_ns?.0)),
    RunColumn::text("verdict", |run| Some(run.verdict.as_ref()?.word.to_string())),
    RunColumn {
        name: "at_most_share",
        get: RunValue::Number(Stored::Real(|run| run.verdict.as_ref()?.at_most_share)),
    },
    RunColumn::integer("underflow", |run| i64::try_from(run.total.underflow).ok()),
    RunColumn::integer("p90_ns", |run| Some(run.total.quantiles.as_ref()?.p90_ns?.0)),
    RunColumn::integer("lost", |run| {
        let losses = &run.losses;
        i64::try_from(losses.cycles + losses.samples + losses.spikes).ok()
    }),
    RunColumn::text("latlab", |run| Some(run.latlab.clone())),
    RunColumn::integer("run_schema", |run| Some(run.schema.into())),
];

/// The columns of the table of runs: those of every run, all facts of its machine, and the figures that have a
/// `stored` number.
pub fn run_columns() -> impl Iterator<Item = RunColumn> {
    let own = OWN.iter().map(|one| RunColumn { name: one.name, get: one.get });
    let facts = FACTS.iter().map(|fact| RunColumn {
        // The tables call the machine itself a board.
        name: if fact.id == "board" { "model" } else { fact.id },
        get: RunValue::Fact(fact),
    });
    let figures = FIGURES.iter().filter_map(|figure| {
        Some(RunColumn { name: figure.id, get: RunValue::Number(figure.stored?) })
    });
    own.chain(facts).chain(figures)
}

/// The row of a stored run.
pub fn run_row(run: &Run) -> Map<String, Value> {
    run_columns().map(|column| (column.name.to_string(), column.value(run))).collect()
}

/// The plan without what differs between runs of the same settings: names, target, length, deadline
/// and seed.
fn settings(asked: &Plan) -> String {
    let alike = Plan {
        name: String::new(),
        note: None,
        command: None,
        cell: None,
        seed: None,
        on: OnMachine { target: Target::Local, guest: None, place: None, ..asked.on.clone() },
        until: Until {
            duration_ns: None,
            cycles: None,
            deadline_ns: None,
            limit_per_hour: None,
            decided: false,
            ..asked.until.clone()
        },
        ..asked.clone()
    };
    serde_json::to_string(&alike).unwrap_or_default()
}

/// Result of `latlab fleet query --format json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetAnswer {
    /// Name of the query or of its file.
    pub query: String,
    /// Column names; columns that end in `_ns` hold times in nanoseconds.
    pub columns: Vec<String>,
    /// Rows, with a value for each column.
    pub rows: Vec<Vec<Value>>,
}
