//! The table of the measuring threads.

use super::head::{cycles, missed};
use super::markup::scrolling;
use super::markup::{count, dash, firm, plural};
use crate::figures::{LATENCIES, LatencyFigure, MAXIMUM};
use crate::page::folds::Fold;
use crate::sections::noise;
use crate::sections::respond;
use crate::sentence;
use crate::terminal::table::markup;
use crate::units::with_fixed_spaces;
use latlab_model::Run;
use latlab_model::plan::Recorded;
use latlab_model::run::{Summary, ThreadRun};
use maud::{Markup, html};

/// A table with more threads scrolls in its own box.
const TALL: usize = 20;

/// The figures of each thread.
pub fn fold(run: &Run) -> Option<Fold> {
    if run.threads.is_empty() {
        return None;
    }
    if let Some(columns) = respond::columns(&[run]) {
        let table = markup(&columns, &respond::meaning(true));
        return Some(Fold::new("threads", "Figures", table));
    }
    let columns = thread_columns(run);
    let total = run.threads.len() > 1;
    let caption = format!(
        "Each measuring thread in {}{}. Quantiles are the upper edge of their bin.",
        sentence::exposure(run),
        sentence::over(run),
    );
    let table = html! {
        table.threads {
            caption { span { (with_fixed_spaces(&caption)) } }
            thead { tr { @for column in &columns { (column.head()) } } }
            tbody { @for row in 0..run.threads.len() { tr { @for column in &columns { (column.cell(row)) } } } }
            @if total { tfoot { tr { @for column in &columns { (column.cell(run.threads.len())) } } } }
        }
    };
    let table = scrolling("Figures of each thread", run.threads.len() > TALL, table);
    let sum = Some(plural(run.threads.len(), "thread"));
    Some(Fold::new("threads", "Threads", table).sum(sum))
}

/// One column of the table of threads; its last cell is that of all threads together.
struct Column {
    name: String,
    unit: &'static str,
    class: Option<&'static str>,
    cells: Vec<String>,
}

impl Column {
    fn head(&self) -> Markup {
        html! {
            th scope="col" class=[self.class] {
                (self.name) @if !self.unit.is_empty() { small { (self.unit) } }
            }
        }
    }

    fn cell(&self, row: usize) -> Markup {
        let content = self.cells.get(row).map_or("", String::as_str);
        html! {
            @if self.name == "Thread" { th scope="row" { (content) } }
            @else { td class=[self.class] { (content) } }
        }
    }
}

fn thread_columns(run: &Run) -> Vec<Column> {
    let (mut columns, setup) = setup_columns(run);
    columns.push(latency_column(run, &MAXIMUM));
    match run.asked.method.records() {
        _ if run.asked.method.is_import() => {}
        Recorded::Gap => columns.extend(noise_columns(run)),
        Recorded::Latency | Recorded::Response => {
            columns.push(summary_column(run, "Missed", |s| missed(s.missed)))
        }
    }
    if run.asked.until.deadline_ns.is_some() {
        columns.push(summary_column(run, "Misses", |s| dash(s.misses.map(count))));
    }
    let seen = summary_column(run, "Seen at", |s| dash(sentence::seen_at(run, s)));
    columns.push(Column { unit: "s", ..seen });
    columns.push(summary_column(run, cycles(run), |s| count(s.cycles)));
    if run.has_releases() {
        columns.push(summary_column(run, "Activations", |s| count(s.activations)));
    }
    columns.extend(LATENCIES.iter().map(|figure| latency_column(run, figure)));
    columns.extend(setup);
    let (first, nothing) = (columns[0].name.clone(), "–");
    columns.retain(|c| c.name == first || c.cells.iter().any(|cell| cell != nothing));
    columns
}

/// Columns that say which thread it is, and those that say how it ran, which come last.
fn setup_columns(run: &Run) -> (Vec<Column>, Vec<Column>) {
    let column = |name: &str, class, cell: &dyn Fn(&ThreadRun) -> String| Column {
        name: name.to_string(),
        unit: "",
        class,
        cells: run.threads.iter().map(cell).collect(),
    };
    let mut columns = vec![
        column("Thread", None, &|t| t.setup.thread.to_string()),
        column("CPU", None, &|t| {
            let unknown = if run.asked.method.is_import() { "–" } else { "floats" };
            t.setup.cpu.map_or_else(|| unknown.to_string(), |cpu| cpu.to_string())
        }),
    ];
    if sentence::cores_differ(run) {
        columns.push(column("Core, capacity", Some("word"), &|t| dash(sentence::core(t))));
    }
    if let Some(first) = columns.first_mut() {
        first.cells.push("all".to_string());
    }
    let setup = vec![
        column("Policy", Some("word"), &|t| t.setup.policy.clone()),
        column("Period", None, &|t| {
            let has_period = run.asked.method.is_periodic() || run.asked.method.is_import();
            let period = t.setup.period_ns.filter(|_| has_period);
            dash(period.map(|period| firm(&period.to_string())))
        }),
    ];
    (columns, setup)
}

/// What a busy loop has instead of missed releases.
fn noise_columns(run: &Run) -> impl Iterator<Item = Column> {
    noise::figures(run).into_iter().map(|figure| Column {
        name: figure.name.to_string(),
        unit: figure.unit,
        class: None,
        cells: figure.cells,
    })
}

fn summary_column(run: &Run, name: &str, cell: impl Fn(&Summary) -> String) -> Column {
    let cells = summaries(run).map(cell).collect();
    Column { name: name.to_string(), unit: "", class: None, cells }
}

fn summaries(run: &Run) -> impl Iterator<Item = &Summary> {
    run.threads.iter().map(|thread| &thread.summary).chain([&run.total])
}

fn latency_column(run: &Run, figure: &LatencyFigure) -> Column {
    let (unit, numbers) = figure.column(summaries(run));
    let class = (figure.name == MAXIMUM.name).then_some("max");
    let cells = numbers.into_iter().map(dash).collect();
    Column { name: figure.name.to_string(), unit, class, cells }
}
