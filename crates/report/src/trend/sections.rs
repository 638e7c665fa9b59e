//! The sections of a series of builds below its answer.

use super::sentences::{change, limits, step};
use crate::document::table::{Cell, Column, Table};
use crate::document::{On, Section};
use crate::figures::{Counts, Place, columns};
use crate::units::short;
use latlab_stats::builds::{Build, Trend};

/// The builds, with the steps between them.
pub fn builds(of: &Trend) -> Section {
    let each = |cell: &dyn Fn(&Build) -> Cell| of.builds.iter().map(cell).collect::<Vec<_>>();
    let steps = (0..of.builds.len()).map(|at| {
        let step = of.steps.iter().find(|step| step.at == at);
        step.map_or(String::new(), change)
    });
    let value = |build: &Build| {
        let values: Vec<String> = build.values_ns.iter().map(|value| short(*value)).collect();
        Cell::from(short(build.value_ns)).tip(Some(format!("median of {}", values.join(", "))))
    };
    let runs =
        |build: &Build| Cell::from(build.runs.len().to_string()).tip(Some(build.runs.join(", ")));
    let counted: Vec<Counts> = of.builds.iter().map(Counts::from).collect();
    let mut all = vec![
        Column::new("build", 0, each(&|one| one.name.clone().into())).left(),
        Column::new(of.metric.as_str(), 0, each(&value)),
        Column::new("step", 0, steps).left(),
        Column::new("runs", 1, each(&runs)),
    ];
    all.extend(columns(Place::Builds, &counted));
    let table = Table::new("All builds, the oldest first", all).stacked();
    let said = of.steps.iter().map(step).chain(limits(of));
    let section = Section::new("builds", "Builds").without_title().table(table);
    section.texts_on(On::Text, said)
}
