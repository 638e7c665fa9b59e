//! Responders on several kernels side by side: median and tail apart, idle and under load.

use crate::document::table::{Column, Table};
use crate::document::{On, Section};
use crate::figures::figure_head;
use crate::sections::respond::ResponseFigure;
use latlab_model::plan::Policy;
use latlab_model::respond::{LinuxResponder, Responses};
use latlab_model::target::{LabKernel, Target};
use latlab_model::{Plan, Run};
use std::collections::BTreeSet;

const MEANING: &str = "In microseconds, of virtual time. A real-time kernel is often slower at \
                           the median and tighter at the maximum: its interrupts wake threads. \
                           CPU is the CPU time for each stimulus: a program that polls answers \
                           soon and takes a whole CPU.";

/// What distinguishes rows of the table of kernels.
#[derive(Clone, PartialEq, Eq)]
struct Row {
    responder: String,
    load: String,
}

/// A run of a responder in a guest.
struct Entry<'a> {
    row: Row,
    kernel: String,
    responses: &'a Responses,
}

/// `None` for fewer than two kernels, or if there are runs other than responders on Linux.
pub fn section(runs: &[&Run]) -> Option<Section> {
    let table = Table::new(MEANING, columns(runs)?);
    Some(Section::new("kernels", "Kernels side by side").on(On::Page).table(table))
}

/// A column for each figure and kernel.
fn columns(runs: &[&Run]) -> Option<Vec<Column>> {
    let entries: Vec<Entry> = runs.iter().map(|run| entry(run)).collect::<Option<_>>()?;
    let kernels: BTreeSet<&str> = entries.iter().map(|one| one.kernel.as_str()).collect();
    let mut rows: Vec<&Row> = Vec::new();
    for one in &entries {
        if !rows.contains(&&one.row) {
            rows.push(&one.row);
        }
    }
    if kernels.len() < 2 {
        return None;
    }
    let mut columns = vec![
        Column::new("responder", 0, rows.iter().map(|row| row.responder.clone())).left(),
        Column::new(figure_head("load"), 0, rows.iter().map(|row| row.load.clone())).left(),
    ];
    // Stock kernels before real-time ones.
    let order = || kernels.iter().rev();
    let cell = |row: &Row, kernel: &str, text: &dyn Fn(&Responses) -> Option<String>| {
        let found = entries.iter().find(|one| one.row == *row && one.kernel == kernel);
        found.and_then(|one| text(one.responses)).unwrap_or("-".to_string())
    };
    let mut add = |name: &str, rank, of: &dyn Fn(&Responses) -> Option<f64>| {
        columns.extend(order().map(|kernel| {
            let text = |one: &Responses| of(one).map(|nanos| format!("{:.2}", nanos / 1e3));
            let cells = rows.iter().map(|row| cell(row, kernel, &text));
            Column::new(&format!("{name} {kernel}"), rank, cells)
        }));
    };
    for (id, rank) in [("p50_ns", 0), ("p99_ns", 2), ("max_ns", 0)] {
        let figure = ResponseFigure::of(id);
        add(figure.head(), rank, &|one| (figure.get)(&one.figures));
    }
    add("CPU", 1, &|one| one.cpu.map(|cpu| cpu.total_ns()));
    columns.extend(order().map(|kernel| {
        let text = |one: &Responses| Some((one.missing + one.late).to_string());
        let cells = rows.iter().map(|row| cell(row, kernel, &text));
        Column::new(&format!("unanswered {kernel}"), 0, cells)
    }));
    Some(columns)
}

fn entry(run: &Run) -> Option<Entry<'_>> {
    let plan = &run.asked;
    let linux = plan.method.respond()?.linux.as_ref()?;
    let Target::Lab(target) = &plan.on.target else { return None };
    let kernel = match &target.kernel {
        LabKernel::Named(name) => name.clone(),
        LabKernel::Files(files) => files.image.file_name()?.to_string_lossy().into_owned(),
    };
    let load = run.load().unwrap_or_else(|| "idle".to_string());
    let responder = responder(linux, plan, &target.machine);
    Some(Entry { row: Row { responder, load }, kernel, responses: run.responses()? })
}

/// The responder's name, its scheduling if that is unusual, and its machine.
fn responder(linux: &LinuxResponder, plan: &Plan, machine: &str) -> String {
    let usual = Policy::Fifo { priority: Policy::DEFAULT_PRIORITY };
    let policy = plan.who.policy.filter(|policy| *policy != usual);
    let policy = policy.map(|policy| format!(", {policy}")).unwrap_or_default();
    let pins = if linux.board_pins { ", its GPIO" } else { "" };
    format!("{}{policy} ({machine}{pins})", linux.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::plan::Who;

    #[test]
    fn a_responder_is_named_with_what_is_unusual() {
        use latlab_model::Nanos;
        use latlab_model::respond::LinuxResponderName::Gpiochip;
        let (from_ns, to_ns) = (Nanos(1), Nanos(2));
        let linux = LinuxResponder {
            name: Gpiochip,
            argv: Vec::new(),
            edges: 1,
            from_ns,
            to_ns,
            board_pins: false,
        };
        let usual = responder(&linux, &Plan::default(), "arm64");
        let other =
            Plan { who: Who { policy: Some(Policy::Other), ..Who::default() }, ..Plan::default() };
        assert_eq!(usual, "c-gpiochip (arm64)");
        assert_eq!(responder(&linux, &other, "arm64"), "c-gpiochip, other (arm64)");
    }
}
