//! What a reader wants to know first about a run: whether it is good enough, why not, and what to
//! do.

use crate::InWords;
use crate::cause_share::{ExplainedLargest, explained_largest};
use crate::causes::{cause_words, measured_policy, remedy};
use crate::doctor::summary::weighty;
use crate::document::{Block, KeyFigure, On, Section};
use crate::facts;
use crate::figures::{
    Counts, LatencyBound, NamedQuantile, P99, P99_9, Value, Whole, figure, share, value,
};
use crate::sections::{explanation as explanation_section, statistics};
use crate::sentence;
use crate::terms;
use crate::units::{counted, percent, short, span};
use crate::verdict::{Parts, capitalised, judgement};
use latlab_model::deadline::is_miss;
use latlab_model::doctor::{Diagnosis, Sign};
use latlab_model::explanation::{self, CauseKind};
use latlab_model::finding::{ConditionFinding, Finding, FindingKind, RT_THROTTLING, VerdictEffect};
use latlab_model::plan::{Method, Recorded};
use latlab_model::run::{Severity, Summary, VerdictWord};
use latlab_model::shell::Line;
use latlab_model::statistics::QuantileInterval;
use latlab_model::{Nanos, Run};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// A possible cause of large latencies.
pub(crate) struct PossibleCause {
    pub severity: Severity,
    pub text: String,
    pub code: String,
    /// How many of the largest latencies it may explain; `None` if that cannot be determined.
    pub largest: Option<usize>,
}

/// Causes named at the top; the others follow below.
const NAMED_CAUSES: usize = 3;
/// The limit for an attached program, whose faults are among the causes.
const NAMED_FAULTS: usize = 6;

/// The judgement with its figures in a sentence; without a deadline, the observed maximum.
pub(crate) fn headline(run: &Run) -> String {
    match &run.verdict {
        Some(verdict) => judgement(run, verdict).sentence(Parts::Answer),
        None => sentence::headline(run),
    }
}

/// Machine, kernel, load and length of the run, on one line.
pub(crate) fn conditions(run: &Run) -> String {
    let load = match (run.load(), run.asked.method.has_agent()) {
        (Some(load), _) => format!("load: {load}"),
        (None, true) => no_load(run),
        (None, false) => "load unknown".to_string(),
    };
    let time = facts::is_timed(run).then(|| match run.measured_ns.0 {
        ..1_000_000_000 => short(run.measured_ns.0 as f64),
        _ => span(run.measured_ns),
    });
    let virtual_time = run.asked.on.guest.as_deref().map(|guest| match guest.accelerator {
        None => "virtual time".to_string(),
        Some(_) => "a guest in the host's time".to_string(),
    });
    let source = run.asked.method.import().map(|import| import.format.clone());
    let facts = [Some(sentence::machine_and_kernel(run)), source, Some(load), time, virtual_time];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    facts.join("; ")
}

/// States that latlab started no load, and how busy the machine was.
fn no_load(run: &Run) -> String {
    let others = run.findings.iter().find_map(|finding| match &finding.kind {
        FindingKind::Condition(ConditionFinding::OtherWork { cpus, share, .. }) => {
            let percent = share * 100.0;
            Some(format!("no load by latlab, other work took up to {percent:.0} % of CPU {cpus}"))
        }
        _ => None,
    });
    others.unwrap_or_else(|| "no load".to_string())
}

/// Median, tail, maximum and misses, each against its whole.
pub(crate) fn figures(run: &Run) -> Vec<KeyFigure> {
    let of_all = of_all_releases(run);
    let subject = Counts::of_run(run);
    let total = &run.total;
    let ids = ["p50_ns", if P99_9.of(total).is_some() { "p99_9_ns" } else { "p99_ns" }];
    let mut figures: Vec<KeyFigure> =
        ids.into_iter().filter_map(|id| one(run, id, &subject)).collect();
    figures
        .extend(of_all.and_then(|(name, all)| Some(KeyFigure { name, ..one(run, ids[1], &all)? })));
    let last = if total.misses.is_some() { "misses" } else { "overruns" };
    figures.extend(["max_ns", last].into_iter().filter_map(|id| one(run, id, &subject)));
    figures
}

/// Those figures as a section.
pub(crate) fn key_figures(run: &Run) -> Option<Section> {
    let figures = figures(run);
    let section = Section::new("figures", "Main figures").without_title();
    (!figures.is_empty()).then(|| section.add(On::All, Block::Figures(figures)))
}

/// A figure of the table, if it is a number.
fn one(run: &Run, id: &str, of: &Counts) -> Option<KeyFigure> {
    let row = figure(id);
    let is_over = match (row.get)(of)? {
        Value::Latency(latency) => run
            .asked
            .until
            .deadline_ns
            .is_some_and(|deadline| is_miss(latency.ns as i64, deadline.0)),
        Value::Count(count) => id == "misses" && count > 0 && !is_good(run),
        _ => return None,
    };
    let is_exact =
        matches!((row.get)(of)?, Value::Latency(one) if one.bound == LatencyBound::Known);
    Some(KeyFigure {
        name: row.head,
        value: value(id, of)?,
        interval: interval_of(run, row.head).filter(|_| is_exact && of.thread.is_none()),
        share: share(row, of),
        whole: row.whole.map_or("", Whole::words),
        is_over,
    })
}

fn interval_of(run: &Run, name: &str) -> Option<String> {
    let all = &run.statistics.as_ref()?.quantiles;
    let is_it = |one: &&QuantileInterval| statistics::quantile_name(one.parts_per_million) == name;
    all.iter().find(is_it).map(statistics::interval)
}

/// A tail larger by at least this factor counts as different; smaller ratios are within a few bins.
const OTHER_TAIL: f64 = 1.1;

/// The tail over all releases, including those swallowed by late cycles, if it differs from the
/// tail of the cycles. A run that skips most releases has few latencies, and they look good.
fn of_all_releases(run: &Run) -> Option<(&'static str, Counts<'_>)> {
    let corrected = run.statistics.as_ref()?.corrected.as_ref()?;
    let quantile = tail(&run.total);
    let name = match quantile.name == P99_9.name {
        true => "p99.9 of all releases",
        false => "p99 of all releases",
    };
    let all = Summary { quantiles: Some(corrected.quantiles.clone()), ..run.total.clone() };
    let (value, of_cycles) = (quantile.of(&all)?, quantile.of(&run.total)?);
    let subject =
        Counts { summary: Cow::Owned(all), is_at_least: corrected.at_least, ..Counts::of_run(run) };
    (value.ns > OTHER_TAIL * of_cycles.ns).then_some((name, subject))
}

/// The quantile that shows most of the tail without being an extreme.
fn tail(total: &Summary) -> NamedQuantile {
    if P99_9.of(total).is_some() { P99_9 } else { P99 }
}

pub(crate) fn figures_line(run: &Run) -> String {
    let deadline = run.asked.until.deadline_ns.is_some();
    let mut each = Vec::new();
    for (at, KeyFigure { name, value, share, .. }) in figures(run).into_iter().enumerate() {
        let of = if at == 0 && deadline { " of the deadline" } else { "" };
        let share = share.map(|share| format!(" ({share}{of})")).unwrap_or_default();
        each.push(format!("{name} {value}{share}"));
    }
    format!("{}: {}.", capitalised(terms::of_run(run).size), each.join(", "))
}

/// Whether the run needs no explanation.
fn is_good(run: &Run) -> bool {
    run.verdict.as_ref().is_some_and(|verdict| verdict.word == VerdictWord::Pass)
}

/// A finding that may have caused latencies of its run.
struct Suspect<'a> {
    finding: &'a Finding,
    /// The largest latencies that it covers; `None` if that cannot be determined.
    largest: Option<ExplainedLargest>,
}

impl Suspect<'_> {
    fn first_try(&self) -> Option<FirstTry> {
        let (code, remedy) = (self.finding.code().to_string(), self.finding.remedy()?);
        Some(FirstTry { code, remedy, protects: None })
    }
}

/// The suspects, the heaviest first, then by how many of the largest latencies they may explain.
/// Findings known to cover none of those are left out, unless they affect the verdict.
fn suspects(run: &Run) -> Vec<Suspect<'_>> {
    let explained = explained_largest(run);
    let mut all: Vec<Suspect> = run
        .findings_by_weight()
        .into_iter()
        .filter(|finding| finding.severity() > Severity::Info)
        .map(|finding| Suspect { finding, largest: explained.get(finding.code()).copied() })
        .filter(|Suspect { finding, largest }| {
            let is_elsewhere =
                largest.is_some_and(|largest| largest.count == 0) || made_nothing_larger(finding);
            !is_elsewhere || finding.effect() != VerdictEffect::None
        })
        .collect();
    all.sort_by_key(|Suspect { finding, largest }| {
        let count = largest.map_or(0, |largest| largest.count);
        let (is_of_program, longest) = match &finding.kind {
            FindingKind::Attach(of_program) => (true, of_program.longest_ns()),
            _ => (false, Nanos::ZERO),
        };
        Reverse((finding.effect(), finding.severity(), count, is_of_program, longest))
    });
    all
}

/// The causes of the recorded spikes, from kernel events.
pub(crate) struct Explained {
    /// States how many spikes are explained.
    pub title: String,
    /// Share of the spikes, and cause.
    pub causes: Vec<(String, String)>,
    pub left_out: usize,
}

/// The causes that the flight recorder found; `None` if nothing was recorded or explained.
pub(crate) fn explained(run: &Run) -> Option<Explained> {
    let of = run.explanation.as_ref().filter(|of| !of.causes.is_empty())?;
    let words = |one: &explanation::RunCause| {
        let who = explanation_section::run_cause_words(one);
        let largest = short(one.largest_ns.0 as f64);
        let spikes = counted(one.count, "spike", "spikes");
        (percent(one.share), format!("{who}: {spikes}, at most {largest}"))
    };
    let recorded = counted(of.spikes.stored, "recorded spike", "recorded spikes");
    let title = format!("Causes of {recorded}");
    let left_out = of.causes.len().saturating_sub(NAMED_CAUSES);
    let causes = named_causes(&of.causes).into_iter().map(words).collect();
    Some(Explained { title, causes, left_out })
}

/// The costliest causes. The last place goes to the one that took most of a single spike, however
/// rare it is, since one spike is enough to miss a deadline.
fn named_causes(all: &[explanation::RunCause]) -> Vec<&explanation::RunCause> {
    let mut named: Vec<&explanation::RunCause> = all.iter().take(NAMED_CAUSES).collect();
    let longest = named.iter().map(|one| one.largest_ns).max();
    let others = all.iter().skip(NAMED_CAUSES);
    let largest =
        others.filter(|one| Some(one.largest_ns) > longest).max_by_key(|one| one.largest_ns);
    if let (Some(largest), Some(last)) = (largest, named.last_mut()) {
        *last = largest;
    }
    named
}

/// The remedy of the costliest cause, if there is one.
fn explained_remedy(run: &Run) -> Option<FirstTry> {
    let first = run.explanation.as_ref()?.causes.first()?;
    let is_known = !matches!(first.cause.kind, CauseKind::WakeUp | CauseKind::Unknown);
    is_known.then(|| {
        let code = cause_words(&first.cause);
        FirstTry { code, remedy: remedy(first, measured_policy(run)), protects: None }
    })
}

/// Conditions of the machine that can cause latencies as large as the run's maximum, unless
/// evidence they would leave is missing.
fn suspected_conditions(run: &Run) -> Vec<&Diagnosis> {
    let is_seen = |sign| match sign {
        Sign::NeverSleeps => matches!(run.asked.method, Method::Spin(_)),
        Sign::Sleeps => !matches!(run.asked.method, Method::Spin(_)),
        Sign::Throttling => has_condition(
            run,
            |condition| matches!(condition, ConditionFinding::KernelEvent { event, .. } if event == RT_THROTTLING),
        ),
        Sign::StolenTime => {
            has_condition(run, |condition| matches!(condition, ConditionFinding::Steal { .. }))
        }
    };
    let Some(largest) = run.total.max_ns else { return Vec::new() };
    let can_make = |one: &&Diagnosis| {
        let Some((least, most)) = one.effect.acts else { return false };
        (least..=most).contains(&largest) && one.effect.sign.is_none_or(is_seen)
    };
    weighty(run).0.into_iter().filter(can_make).collect()
}

fn has_condition(run: &Run, is_it: impl Fn(&ConditionFinding) -> bool) -> bool {
    run.findings.iter().any(|finding| match &finding.kind {
        FindingKind::Condition(condition) => is_it(condition),
        _ => false,
    })
}

/// What may be behind the large latencies of a run, and what to do first.
pub(crate) struct Causes {
    /// The title of the list; after a pass nothing needs an explanation.
    pub title: &'static str,
    /// One of each kind; the run's own findings come before the conditions of the machine.
    pub named: Vec<PossibleCause>,
    /// The number of kinds left out.
    pub left_out: usize,
    /// What to try first; `None` for a run that passes.
    pub first_try: Option<FirstTry>,
}

/// The causes of a run; for one that passes only its findings.
pub(crate) fn causes(run: &Run) -> Causes {
    let suspects = suspects(run);
    let (title, conditions, first_try) = match is_good(run) {
        true => ("Noticed", Vec::new(), None),
        false => {
            let conditions = suspected_conditions(run);
            let first_try = first_try(run, &suspects, &conditions);
            ("Possible causes", conditions, first_try)
        }
    };
    let of_run = suspects.iter().map(|Suspect { finding, largest }| PossibleCause {
        severity: finding.severity(),
        text: finding.text(),
        code: finding.code().to_string(),
        largest: largest.map(|largest| largest.count),
    });
    let of_machine = conditions.iter().map(|one| PossibleCause {
        severity: one.severity,
        text: one.text.clone(),
        code: one.code.clone(),
        largest: None,
    });
    let mut codes = BTreeSet::new();
    // The first of a kind is the heaviest.
    let all: Vec<PossibleCause> =
        of_run.chain(of_machine).filter(|cause| codes.insert(cause.code.clone())).collect();
    // Explained and possible causes share the lines; the explained ones come first.
    let known = run.explanation.as_ref().map_or(0, |of| of.causes.len().min(NAMED_CAUSES));
    let number = match run.attached {
        Some(_) => NAMED_FAULTS,
        None => NAMED_CAUSES - known.min(NAMED_CAUSES - 1),
    };
    let left_out = all.len().saturating_sub(number);
    let to_try = first_try.as_ref().map(|one| one.code.as_str());
    Causes { title, named: first_causes(all, number, to_try), left_out, first_try }
}

/// The first `named` causes; the one to try first is always included, if necessary in the last
/// place.
fn first_causes(
    mut all: Vec<PossibleCause>,
    named: usize,
    to_try: Option<&str>,
) -> Vec<PossibleCause> {
    let tried = all.iter().position(|cause| Some(cause.code.as_str()) == to_try);
    if let Some(at) = tried.filter(|at| *at >= named) {
        all.swap(named - 1, at);
    }
    all.truncate(named);
    all
}

/// The first thing to do about a run.
pub(crate) struct FirstTry {
    pub code: String,
    pub remedy: Line,
    /// The protection that the remedy removes, if any.
    pub protects: Option<String>,
}

/// What to try first for a run that is not good enough, in this order: make the run valid and
/// complete, fix what `--explain` named, what covers the largest latency, what can cause one as
/// large, or else find out more.
fn first_try(run: &Run, suspects: &[Suspect], conditions: &[&Diagnosis]) -> Option<FirstTry> {
    let is_broken =
        |finding: &Finding| finding.invalidates() || finding.severity() == Severity::Error;
    if let Some(broken) = suspects.iter().find(|one| is_broken(one.finding)) {
        return broken.first_try();
    }
    let has_first = |one: &&Suspect| one.largest.is_some_and(|largest| largest.has_first);
    let of_largest = || suspects.iter().find(has_first).and_then(Suspect::first_try);
    let of_run = suspects.iter().filter_map(Suspect::first_try);
    let of_machine = conditions.iter().filter_map(|one| {
        let protects = one.effect.protects.as_ref().map(|text| text.to_string());
        Some(FirstTry { code: one.code.clone(), remedy: one.remedy.clone()?, protects })
    });
    // Without events, the kernel cannot distinguish firmware from disabled interrupts.
    let is_of_firmware = suspects.iter().filter(has_first).any(|one| is_smi(one.finding));
    let of_firmware = is_of_firmware && is_without_events(run);
    let explained = explained_remedy(run).filter(|_| !of_firmware);
    let of_program = suspects.iter().find(|one| matches!(one.finding.kind, FindingKind::Attach(_)));
    explained
        .or_else(of_largest)
        .or_else(|| of_program.and_then(Suspect::first_try))
        .or_else(|| of_run.chain(of_machine).find(|one| one.remedy.is_command()))
        .or_else(|| find_out(run))
}

fn made_nothing_larger(finding: &Finding) -> bool {
    match &finding.kind {
        FindingKind::Condition(condition) => condition.made_nothing_larger(),
        _ => false,
    }
}

fn is_smi(finding: &Finding) -> bool {
    matches!(&finding.kind, FindingKind::Condition(ConditionFinding::Smi { .. }))
}

/// Whether the costliest cause was inferred from the absence of events.
fn is_without_events(run: &Run) -> bool {
    let first = run.explanation.as_ref().and_then(|of| of.causes.first());
    first.is_some_and(|one| one.cause.kind == CauseKind::InterruptsOff)
}

/// Suggests recording the cause, if that was not done and is possible.
fn find_out(run: &Run) -> Option<FirstTry> {
    let is_wanted = run.verdict.as_ref().is_none_or(|verdict| verdict.word == VerdictWord::Fail);
    let is_possible = is_wanted
        && run.total.cycles > 0
        && run.asked.method.has_agent()
        && run.asked.method.records() == Recorded::Latency
        && run.explanation.is_none();
    is_possible.then(|| FirstTry {
        code: "explain".to_string(),
        remedy: Line::new("Measure again with `--explain`, which names what delays the thread."),
        protects: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::Nanos;
    use latlab_model::explanation::Cause;

    fn cause(name: &str, count: u64, largest: i64) -> explanation::RunCause {
        explanation::RunCause {
            cause: Cause { kind: CauseKind::Thread, name: name.to_string() },
            count,
            share: 0.1,
            total_ns: Nanos(largest),
            largest_ns: Nanos(largest),
            cpus: vec![0],
            first_ns: Nanos(0),
            last_ns: Nanos(1),
            kernel_priority: None,
            thread: None,
            process: None,
            started: Vec::new(),
            realtime: None,
            remedy: None,
        }
    }

    #[test]
    fn what_to_try_first_is_among_the_causes_that_are_named() {
        let codes = |to_try: Option<&str>| -> String {
            let all = ["a", "b", "c", "d"].map(|code| PossibleCause {
                severity: Severity::Warning,
                text: String::new(),
                code: code.to_string(),
                largest: None,
            });
            let named = first_causes(all.into(), 2, to_try);
            named.into_iter().map(|cause| cause.code).collect()
        };
        for (to_try, named) in
            [(None, "ab"), (Some("b"), "ab"), (Some("d"), "ad"), (Some("who held it"), "ab")]
        {
            assert_eq!(codes(to_try), named, "{to_try:?}");
        }
    }

    #[test]
    fn the_cause_of_the_largest_spike_is_named_however_rare_it_is() {
        let names = |all: &[explanation::RunCause]| -> Vec<String> {
            named_causes(all).into_iter().map(|one| one.cause.name.clone()).collect()
        };
        let mut all =
            vec![cause("a", 9, 50), cause("b", 8, 70), cause("c", 7, 60), cause("d", 2, 70)];
        assert_eq!(names(&all), ["a", "b", "c"]);
        all.push(cause("rare", 1, 5_000));
        assert_eq!(names(&all), ["a", "b", "rare"]);
        assert_eq!(names(&all[4..]), ["rare"]);
        assert!(names(&[]).is_empty());
    }
}
