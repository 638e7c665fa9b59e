//! A series of builds for the terminal, and as Markdown.

use super::sentences::{change, headline, limits, step};
use crate::compare::colour;
use crate::terminal::style::Style;
use crate::terminal::table::{Column, escaped, markdown as markdown_table, table, wrapped};
use crate::units::{grouped, short, span};
use latlab_model::trend::{Build, Trend};

/// The whole series in the terminal.
pub fn show(of: &Trend, width: usize, style: Style) -> String {
    let head = style.paint(colour(of.word), &wrapped(&headline(of), width, 0));
    let lines: Vec<String> = of.steps.iter().map(step).chain(limits(of)).collect();
    let lines = lines.iter().map(|line| format!("{}\n", wrapped(line, width, 2)));
    format!("{head}\n\n{}\n{}", table(columns(of), width, style), lines.collect::<String>())
}

/// The whole series in the Markdown of GitHub.
pub fn markdown(of: &Trend) -> String {
    let lines = of.steps.iter().map(step).chain(limits(of));
    let lines = lines.map(|line| format!("- {}\n", escaped(&line)));
    format!(
        "**{}**\n\n{}\n{}",
        escaped(&headline(of)),
        markdown_table(&columns(of)),
        lines.collect::<String>()
    )
}

fn columns(of: &Trend) -> Vec<Column> {
    let cells =
        |cell: &dyn Fn(&Build) -> String| -> Vec<String> { of.builds.iter().map(cell).collect() };
    let dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_string());
    let steps = (0..of.builds.len()).map(|at| {
        let step = of.steps.iter().find(|step| step.at == at);
        step.map_or(String::new(), change)
    });
    vec![
        Column::new("build", 0, cells(&|one| one.name.clone())).left(),
        Column::new("started", 3, cells(&|one| one.started.chars().take(16).collect())).left(),
        Column::new("runs", 1, cells(&|one| one.runs.len().to_string())),
        Column::new(of.metric.as_str(), 0, cells(&|one| short(one.value_ns))),
        Column::new("step", 0, steps).left(),
        Column::new("largest", 1, cells(&|one| dash(one.max_ns.map(|max| short(max.0 as f64))))),
        Column::new("misses", 2, cells(&|one| dash(one.misses.map(grouped)))),
        Column::new("releases", 4, cells(&|one| grouped(one.activations))),
        Column::new(
            "measured",
            4,
            cells(&|one| match one.measured_ns.0 {
                0 => "-".to_string(),
                _ => span(one.measured_ns),
            }),
        ),
    ]
}
