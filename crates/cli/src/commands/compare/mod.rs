//! `latlab compare`: whether the candidate runs are worse than the baseline.

pub mod args;
pub mod sides;

use crate::commands::result_output::ResultOutput;
use crate::output::sanitize_run;
use crate::store::{open_store, recover};
use anyhow::bail;
use args::CompareArgs;
use latlab_doctor::comparison::Comparison;
use latlab_model::Run;
use latlab_model::machine::Machine;
use latlab_model::sanitize::sanitize_lines;
use latlab_report::compare::{ComparedSides, markdown, page, plan_changes, show, test_suite};
use latlab_report::test_suite::TestSuite;
use latlab_report::{RunWithBins, Style};
use latlab_stats::comparison::{ComparisonWord, RunComparison, ScenarioComparison};
use latlab_stats::{MeasuredRun, Tolerance, compare_beside};
use serde::{Serialize, Serializer};
use sides::{Sides, StoredRun};
use std::io::ErrorKind;
use std::process::ExitCode;

pub fn compare(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    let store = open_store(args.result.out.as_deref());
    recover(&store);
    let sides = Sides::read(&store, &args.base, &args.candidate)?;
    let tolerance = Tolerance { margin: args.margin, bursts_per_hour: args.limit };
    let compared = comparison(&sides, &tolerance)?;
    let limits =
        |one: &ScenarioComparison| one.misses.as_ref().and_then(|misses| misses.bursts).is_some();
    let is_compared = !compared.runs.scenarios.is_empty();
    if args.limit.is_some() && is_compared && !compared.runs.scenarios.iter().any(limits) {
        bail!("--limit: no runs of both sides that have a deadline and releases in a known time");
    }
    args.result.print(&JudgedSides { compared, sides: &sides })
}

/// A comparison with the runs behind it, which the page needs.
struct JudgedSides<'a> {
    compared: ComparedSides,
    sides: &'a Sides,
}

impl Serialize for JudgedSides<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.compared.serialize(serializer)
    }
}

impl ResultOutput for JudgedSides<'_> {
    fn word(&self) -> ComparisonWord {
        self.compared.runs.word
    }

    fn text(&self, width: usize, style: Style) -> anyhow::Result<String> {
        Ok(show(&sanitize_lines(&self.compared)?, width, style))
    }

    fn markdown(&self) -> anyhow::Result<String> {
        Ok(markdown(&sanitize_lines(&self.compared)?))
    }

    fn test_suite(&self) -> anyhow::Result<TestSuite> {
        Ok(test_suite(&sanitize_lines(&self.compared.runs)?))
    }

    fn page(&self) -> anyhow::Result<String> {
        let all = self.sides.base.iter().chain(&self.sides.candidate);
        let runs: Vec<Run> =
            all.clone().map(|one| sanitize_run(&one.run)).collect::<Result<_, _>>()?;
        let with_bins: Vec<RunWithBins> =
            runs.iter().zip(all).map(|(run, one)| RunWithBins { run, bins: one.bins() }).collect();
        Ok(page(&sanitize_lines(&self.compared)?, &with_bins))
    }
}

pub fn comparison(sides: &Sides, tolerance: &Tolerance) -> anyhow::Result<ComparedSides> {
    let Sides { base, candidate, invalid, earlier } = sides;
    let of_base: Vec<MeasuredRun> = base.iter().map(StoredRun::measured).collect();
    let of_candidate: Vec<MeasuredRun> = candidate.iter().map(StoredRun::measured).collect();
    let of_earlier: Vec<MeasuredRun> = earlier.iter().map(StoredRun::measured).collect();
    let compared = compare_beside(&of_base, &of_candidate, &of_earlier, tolerance);
    let (before, after): (Vec<&Run>, Vec<&Run>) =
        (base.iter().map(|one| &one.run).collect(), candidate.iter().map(|one| &one.run).collect());
    let machines =
        |runs: &[&Run]| -> Vec<Machine> { runs.iter().map(|run| run.machine.clone()).collect() };
    let (machines_before, machines_after) = (machines(&before), machines(&after));
    let mut changes = latlab_doctor::compare_machines(&machines_before, &machines_after);
    changes.extend(plan_changes(&before, &after));
    let machines = of_machines(&base[0], &candidate[0])?;
    let runs = RunComparison { invalid: invalid.clone(), ..compared };
    Ok(ComparedSides { runs, changes, machines })
}

/// Compares settings and kernel options of the first run of each side; the machine facts cover all
/// runs. Values of a run that only its owner may read are left out.
fn of_machines(base: &StoredRun, candidate: &StoredRun) -> anyhow::Result<Option<Comparison>> {
    let snapshot = |one: &StoredRun| match latlab_store::read_snapshot(&one.folder, &one.run) {
        Err(latlab_store::Error::Io { error, .. })
            if error.kind() == ErrorKind::PermissionDenied =>
        {
            Ok(None)
        }
        read => read,
    };
    let (Some(before), Some(after)) = (snapshot(base)?, snapshot(candidate)?) else {
        return Ok(None);
    };
    let compared = latlab_doctor::compare((&base.run.id, &before), (&candidate.run.id, &after));
    Ok(Some(Comparison { machine: Vec::new(), ..compared }))
}
