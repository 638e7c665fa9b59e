//! Settings and machine facts that differ between runs.

use super::RunTable;
use crate::sections::setup;
use crate::sentence;
use crate::units::span;
use latlab_model::{CpuSet, Run};

/// Facts that differ in every run but are not settings.
const NO_SETTING: [&str; 1] = ["Boot id"];
/// The table of runs already has a column for each of these.
const IN_THE_TABLE: [&str; 2] = ["Kernel", "Preemption"];
/// Precedes the seed in a value; seeds differ unless one was requested.
const SEED: &str = ", seed ";

pub(crate) struct DifferingSetting {
    pub name: &'static str,
    /// The value in each run, `-` if it has none.
    pub values: Vec<String>,
}

impl RunTable<'_> {
    /// Everything that differs between any two runs, except kernel and load.
    pub(crate) fn settings(&self) -> Vec<DifferingSetting> {
        let all: Vec<Vec<(&'static str, String)>> =
            self.runs.iter().map(|run| facts(run)).collect();
        let mut names: Vec<&'static str> = Vec::new();
        for (name, _) in all.iter().flatten() {
            if !names.contains(name) {
                names.push(name);
            }
        }
        let setting = |name: &'static str| {
            let value = |facts: &Vec<(&'static str, String)>| {
                let found = facts.iter().find(|(other, _)| *other == name);
                found.map_or("-".to_string(), |(_, value)| value.clone())
            };
            DifferingSetting { name, values: all.iter().map(value).collect() }
        };
        let differs =
            |one: &DifferingSetting| one.values.iter().any(|value| *value != one.values[0]);
        names.into_iter().map(setting).filter(differs).collect()
    }
}

/// The requested settings, and the machine.
fn facts(run: &Run) -> Vec<(&'static str, String)> {
    let plan = &run.asked;
    let cpus: CpuSet = run.threads.iter().filter_map(|thread| thread.setup.cpu).collect();
    let listed = |all: Vec<String>| Some(all.join(", ")).filter(|text| !text.is_empty());
    let asked = [
        ("Deadline", plan.until.deadline_ns.map(|deadline| deadline.to_string())),
        ("Duration", plan.until.duration_ns.map(span)),
        ("Target", Some(plan.on.target.to_string())),
        ("Threads", Some(run.threads.len().to_string())),
        ("Measured CPUs", Some(cpus.to_string())),
        ("Tunings", listed(plan.on.tunings.iter().map(ToString::to_string).collect())),
        ("Kernel files", listed(plan.on.kernel_files.iter().map(ToString::to_string).collect())),
    ];
    let asked = asked.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let method = sentence::method_facts(plan).into_iter().filter(|(name, _)| *name != "Target");
    let machine = setup::machine(run).into_iter();
    let all = asked.chain(method).chain(machine);
    all.filter(|(name, _)| !NO_SETTING.contains(name) && !IN_THE_TABLE.contains(name))
        .map(|(name, value)| (name, without_seed(&value)))
        .collect()
}

fn without_seed(value: &str) -> String {
    let value = value.replace('\u{a0}', " ");
    value.split_once(SEED).map_or(value.as_str(), |(before, _)| before).to_string()
}
