//! The sentences of a run, shared by the page and the terminal.

mod method_facts;

pub use method_facts::method_facts;

use crate::facts::{NOT_DEFINED, is_timed, kernel, since_first_release};
use crate::figures::{NamedQuantile, P99, P99_9, P99_99, P99_999, maximum};
use crate::sections::{attach, respond};
use crate::terms;
use crate::units::{counted, four_digits, grouped, percent, percent_of, span};
use latlab_model::finding::{FindingKind, ImportFinding};
use latlab_model::guest::Guest;
use latlab_model::run::{EndReason, Gaps, SpinCounts, ThreadRun};
use latlab_model::self_interference::RunSelfInterference;
use latlab_model::{Nanos, Run};

/// The number of stored samples; `None` if none were requested.
pub fn samples(run: &Run) -> Option<String> {
    let file = run.files.get("samples.parquet")?;
    let counted =
        |thread: &ThreadRun| thread.end.as_ref().map_or(thread.summary.cycles, |end| end.cycles);
    let cycles = run.threads.iter().map(counted).fold(0, u64::saturating_add);
    let stored = cycles.saturating_sub(run.losses.samples);
    // A stream that broke off may include samples of cycles that were no longer counted.
    let about = if run.threads.iter().all(|thread| thread.end.is_some()) { "" } else { "about " };
    let each = file.bytes as f64 / stored.max(1) as f64;
    Some(format!(
        "{}{} sample{} stored, in {about}{each:.2} bytes each; show a part with --window.",
        if about.is_empty() { "" } else { "About " },
        grouped(stored),
        if stored == 1 { "" } else { "s" },
    ))
}

/// The machine's name for use in a sentence.
pub fn machine_name(run: &Run) -> &str {
    if run.asked.method.is_capture() {
        return &run.asked.name;
    }
    let known = run.machine.hostname.as_deref().or(run.machine.board.as_deref());
    let unknown = if run.asked.method.is_import() { &run.asked.name } else { "Machine" };
    known.filter(|name| !name.trim().is_empty()).unwrap_or(unknown)
}

/// The observed maximum, and in how many cycles it was observed.
pub fn headline(run: &Run) -> String {
    if let Some(headline) = attach::headline(run) {
        return headline;
    }
    if let Some(responses) = run.responses() {
        return respond::headline(run, responses);
    }
    let (name, one) = (machine_name(run), terms::of_run(run).one);
    match maximum(&run.total) {
        Some(max) => {
            let max = max.words(|ns| four_digits(Nanos(ns as i64)));
            let most = if run.total.max_is_at_least { "" } else { "at most " };
            let exposure = exposure(run);
            match run.total.noise {
                Some(noise) => format!(
                    "{name} took {} of the time from busy loops, {most}{max} at once, in {exposure} \
                     over {}.",
                    percent(noise.share()),
                    span(run.measured_ns)
                ),
                None => {
                    let quantity = match run.asked.method.import() {
                        Some(import) => &import.quantity[..],
                        None if run.asked.method.is_response() => "response time",
                        None => "wake-up latency",
                    };
                    format!(
                        "The {quantity} of {name} was {most}{max}{} in {exposure}{}.",
                        without_self_interference(run),
                        over(run)
                    )
                }
            }
        }
        None if run.total.cycles > 0 => {
            format!("{name} recorded {}; the largest {one} is not known.", exposure(run))
        }
        None if run.measured_ns <= Nanos::ZERO => format!("{name} recorded no {one}."),
        None => format!("{name} recorded no {one} in {}.", span(run.measured_ns)),
    }
}

/// The length, to follow a count: ` over 60 s`; empty if it is not known.
pub fn over(run: &Run) -> String {
    match is_timed(run) {
        true => format!(" over {}", span(run.measured_ns)),
        false => String::new(),
    }
}

/// The number of values behind a maximum: releases, if there are any.
pub fn exposure(run: &Run) -> String {
    let terms = terms::of_run(run);
    let (count, one, many) = match run.has_releases() {
        true => (run.total.releases, "release", "releases"),
        false => (run.total.cycles, terms.cycle, terms.cycles),
    };
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// The sentences that belong to the headline.
pub fn lead(run: &Run) -> Vec<String> {
    let has_some = run.total.releases > 0;
    let responses = run.responses();
    [
        responses.and_then(respond::median),
        responses.and_then(respond::class_counts),
        tail(run).filter(|_| responses.is_none()),
        noise(run),
        overruns(run).filter(|_| has_some),
        incomplete(run),
        ending(run.ended),
        recovered(run),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The largest latency outside of self-interference, to follow an observed maximum that lies in it:
/// ` (17.9 us without self-interference)`; empty if the maximum does not.
pub fn without_self_interference(run: &Run) -> String {
    let work = run.self_interference.as_ref();
    let is_maximum = |work: &&RunSelfInterference| {
        work.affects_maximum() && work.largest.first().map(|one| one.latency_ns) == run.total.max_ns
    };
    let without = work.filter(is_maximum).and_then(|work| work.max_without_ns);
    let without =
        without.map(|without| format!(" ({} without self-interference)", four_digits(without)));
    without.unwrap_or_default()
}

/// Self-interference during the largest latencies; `None` if it was not recorded.
pub fn self_interference(run: &Run) -> Option<String> {
    let work = run.self_interference.as_ref()?;
    let (ran, measured) =
        (work.threads.iter().map(|one| one.ran_ns).sum::<Nanos>(), work.ran_on_measured());
    let of_these = match measured {
        Nanos::ZERO => "none of it on measured CPUs".to_string(),
        measured if measured == ran => "all of it on measured CPUs".to_string(),
        measured => format!("{measured} of it on measured CPUs"),
    };
    let compared = work.largest.len();
    let (one, many) = (terms::of_run(run).one, terms::of_run(run).many);
    let largest = match (work.affected(), compared) {
        (_, 0) => String::new(),
        (0, 1) => format!("; the largest {one} does not overlap them"),
        (0, _) => format!("; none of the {compared} largest {many} overlaps them"),
        (1, _) => format!("; 1 of the {compared} largest {many} overlaps them"),
        (affected, _) => format!("; {affected} of the {compared} largest {many} overlap them"),
    };
    Some(format!("latlab's own threads ran for {ran}, {of_these}{largest}."))
}

/// The sentences that belong to the headline of a window, which exclude how the run ended.
pub fn window_lead(run: &Run) -> Vec<String> {
    let has_some = run.total.releases > 0;
    let lost = run.has_releases() && run.total.overruns.is_none();
    let overruns = match lost {
        true => "Samples were lost, so the number of overruns is unknown.".to_string(),
        false => overruns(run).unwrap_or_default(),
    };
    [tail(run), has_some.then_some(overruns), misses(run).filter(|_| has_some)]
        .into_iter()
        .flatten()
        .collect()
}

/// With fewer cycles, the 99 % quantile is the maximum.
const CYCLES_FOR_A_TAIL: u64 = 100;

fn tail(run: &Run) -> Option<String> {
    let (total, terms) = (&run.total, terms::of_run(run));
    if total.cycles < CYCLES_FOR_A_TAIL {
        return None;
    }
    let all: [NamedQuantile; 4] = [P99_999, P99_99, P99_9, P99];
    let known = |one: &NamedQuantile| one.of(total).filter(|latency| !latency.is_bound());
    let found = all.iter().find_map(|one| Some((one.share, known(one)?)));
    let Some((share, latency)) = found else {
        let above = P99.of(total)?;
        return Some(format!("{} is {}, where the bins end.", P99.name, above.short()));
    };
    let latency = Nanos(latency.ns as i64);
    Some(format!("{share} of the {} were no {} than {latency}.", terms.cycles, terms.beyond))
}

/// The noise of a run; `None` if it is not measured.
fn noise(run: &Run) -> Option<String> {
    // Another tool has no intervals.
    let noise = run.total.noise.filter(|_| !run.asked.method.is_import())?;
    let spun = || run.threads.iter().filter_map(|one| one.end.as_ref()?.spun.as_ref());
    let sum = |of: fn(&SpinCounts) -> &Gaps| {
        spun().map(|spun| of(spun).sum_ns.as_secs_f64()).sum::<f64>()
    };
    let of = |part: f64| percent(part / noise.of_ns.as_secs_f64().max(1e-9));
    let kinds = spun().next().map(|_| {
        format!(
            " Other threads took {}; interrupts, firmware and hypervisor took {}.",
            of(sum(|spun| &spun.preempted)),
            of(sum(|spun| &spun.interrupted))
        )
    });
    Some(format!(
        "In the worst interval {} was taken.{}",
        percent(noise.worst_share),
        kinds.unwrap_or_default()
    ))
}

/// The overruns, which are stated with every maximum.
fn overruns(run: &Run) -> Option<String> {
    Some(match run.total.overruns {
        None if !run.asked.method.is_periodic() => return None,
        None => "Overruns are not defined: a relative sleep has no releases.".to_string(),
        Some(0) => "No overrun.".to_string(),
        Some(overruns) => {
            let share = percent_of(overruns, run.total.releases).unwrap_or_default();
            format!("{} ({share} of the releases).", counted(overruns, "overrun", "overruns"))
        }
    })
}

fn misses(run: &Run) -> Option<String> {
    let (misses, deadline) = (run.total.misses?, run.asked.until.deadline_ns?.to_string());
    let beyond = terms::of_run(run).beyond;
    Some(match (misses, percent_of(misses, run.total.releases)) {
        (0, _) => format!("Nothing was {beyond} than the deadline of {deadline}."),
        (misses, share) => {
            let share = share.unwrap_or_default();
            let verb = if misses == 1 { "was" } else { "were" };
            format!(
                "{} {verb} {beyond} than the deadline of {deadline} ({share}).",
                grouped(misses)
            )
        }
    })
}

/// Why the run ended early; `None` if it did not.
pub fn ending(reason: EndReason) -> Option<String> {
    let why = match reason {
        EndReason::Finished | EndReason::Decided => return None,
        EndReason::Interrupted => "The run was interrupted before its planned end.",
        EndReason::StopAbove => "The run stopped at a value above --stop-above.",
        EndReason::CpuOffline => "The run ended because a measured CPU went offline.",
        EndReason::RanAway => "The run ended because a measuring thread ran without sleeping.",
        EndReason::RecorderFull => {
            "The run ended because the recorded data was not collected for \
                                    hours."
        }
        EndReason::Failed => "The run ended because a system call of the loop failed.",
        EndReason::Lost => {
            "The stream ended early: the agent was killed or the connection was \
                            lost."
        }
    };
    Some(why.to_string())
}

fn recovered(run: &Run) -> Option<String> {
    run.recovered.then(|| "The run was recovered from the journal of a killed program.".to_string())
}

/// Findings about missing data that no loss counter covers.
const MISSING: [&str; 3] = ["telemetry-gap", "telemetry-lost", "own-work-lost"];

/// States that all loss counters are zero, but mentions other missing data.
pub fn nothing_lost(run: &Run) -> &'static str {
    if lacks_values(run) {
        "The file does not have every value, as the findings say."
    } else if run.findings.iter().any(|finding| finding.forbids_pass()) {
        "Latencies may be missing, as the findings say."
    } else if has_finding(run, &MISSING) {
        "No latency was lost; other readings are missing, as the findings say."
    } else {
        "Nothing was lost."
    }
}

/// Whether the file of an import lacks values.
fn lacks_values(run: &Run) -> bool {
    run.findings.iter().any(|finding| match &finding.kind {
        // An overflow is complete if number and maximum are known; otherwise the maximum is
        // missing.
        FindingKind::Import(ImportFinding::ImportOverflow { largest_ns, .. }) => {
            largest_ns.is_none()
        }
        FindingKind::Import(
            ImportFinding::ImportIncomplete { .. }
            | ImportFinding::ImportLeftOut { .. }
            | ImportFinding::ImportOverflowUnknown { .. },
        ) => true,
        _ => false,
    })
}

/// Warns that the largest latency may be in a missing part of an imported file.
fn incomplete(run: &Run) -> Option<String> {
    let hidden = run.findings.iter().any(|finding| finding.hides_maximum());
    hidden.then(|| "The recording is incomplete, so larger values may be missing.".to_string())
}

fn has_finding(run: &Run, codes: &[&str]) -> bool {
    run.findings.iter().any(|finding| codes.contains(&finding.code()))
}

/// What no counter covers, since the counting process was gone.
pub fn unknown_end(run: &Run) -> Option<String> {
    (run.ended == EndReason::Lost)
        .then(|| "Up to about a second of data was lost at the end of the stream.".to_string())
}

/// Thread, CPU and time of the observed maximum.
pub fn maximum_place(run: &Run) -> Option<String> {
    let max = run.total.max_ns?;
    let thread = run.threads.iter().find(|thread| thread.summary.max_ns == Some(max))?;
    let cpu = thread.setup.cpu.map(|cpu| format!(" on CPU {cpu}")).unwrap_or_default();
    let when = since_first_release(run, &thread.summary);
    let when = when.map(|when| format!(", at {}", span(when))).unwrap_or_default();
    if run.asked.method.is_response() {
        return Some(when.trim_start_matches(", ").to_string()).filter(|_| is_timed(run));
    }
    Some(format!("{}{cpu}{when}", attach::thread_name(run, thread.setup.thread)))
}

/// The title above a chart of one run.
pub fn picture_title(run: &Run) -> String {
    let mut loads: Vec<&str> = run.asked.on.loads.iter().map(|load| load.name.as_str()).collect();
    loads.dedup();
    let under = if loads.is_empty() { "" } else { " under " };
    let title = terms::of_run(run).title;
    format!("{title} of {}{under}{}", machine_and_kernel(run), loads.join(" + "))
}

/// The machine and its kernel, if it has one.
pub fn machine_and_kernel(run: &Run) -> String {
    let (machine, kernel) = (machine_name(run), kernel(run));
    if kernel.is_empty() { machine.to_string() } else { format!("{machine} on {kernel}") }
}

/// The time base of a guest, stated with its figures.
fn guests_time(guest: &Guest) -> &'static str {
    match guest.accelerator {
        None => "; virtual time: 1 instruction = 1 ns",
        Some(_) => "; a guest in the host's time: noisy",
    }
}

/// The conditions for a chart, on a line or two.
pub fn conditions(run: &Run) -> String {
    let threads = match run.threads.len() {
        _ if run.asked.method.is_response() => String::new(),
        1 => ", 1 thread".to_string(),
        several => format!(", {several} threads"),
    };
    let note = run.asked.note.as_deref().map(str::trim).filter(|note| !note.is_empty());
    if run.asked.method.is_capture() {
        let note = note.map(|note| format!("; note: {note}")).unwrap_or_default();
        let load = run.load().map(|load| format!("; load: {load}")).unwrap_or_default();
        return format!("{}{load}{note}", extent(run));
    }
    let known = [run.asked.method.rhythm(), run.asked.who.policy.map(|policy| policy.to_string())];
    let known: String = known.iter().flatten().map(|fact| format!(", {fact}")).collect();
    format!(
        "{}{threads}{known}{}{}{}{}",
        extent(run),
        overrun_words(run),
        run.load().map(|load| format!("; load: {load}")).unwrap_or_default(),
        run.asked.on.guest.as_deref().map_or("", guests_time),
        note.map(|note| format!("; note: {note}")).unwrap_or_default(),
    )
}

/// The overruns, to follow other facts; empty for an instrument without releases.
fn overrun_words(run: &Run) -> String {
    if !run.asked.method.is_periodic() {
        return String::new();
    }
    let overruns = run.total.overruns.map_or_else(|| NOT_DEFINED.to_string(), grouped);
    format!("; overruns: {overruns}")
}

/// How much was measured: `120 361 cycles in 60 s`.
pub fn extent(run: &Run) -> String {
    let (cycles, terms) = (run.total.cycles, terms::of_run(run));
    let noun = if cycles == 1 { terms.cycle } else { terms.cycles };
    match run.responses() {
        Some(responses) => {
            format!("{} {noun} to {} stimuli", grouped(cycles), grouped(responses.stimuli))
        }
        None if !is_timed(run) => format!("{} {noun}", grouped(cycles)),
        None => format!("{} {noun} in {}", grouped(cycles), span(run.measured_ns)),
    }
}

/// The loss counters, each with its meaning.
pub fn losses(run: &Run) -> [(&'static str, u64); 5] {
    [
        ("Cycles that a thread counted but no interval contains", run.losses.cycles),
        ("Large latencies whose release time was lost", run.losses.spikes),
        ("Intervals merged with the next one (no count is lost)", run.losses.intervals_merged),
        ("Cycles without a sample", run.losses.samples),
        ("Bytes at the end of the journal without a complete frame", run.losses.journal_bytes),
    ]
}

/// Thread and time of a finding.
pub fn finding_place(run: &Run, finding: &latlab_model::run::Finding) -> Option<String> {
    let thread = finding.thread.map(|thread| format!("thread {thread}"));
    let since_start = finding.at_ns.zip(run.first_release()).map(|(at, first)| at - first);
    let at = since_start.map(|time| format!("at {}", span(time)));
    let parts: Vec<String> = thread.into_iter().chain(at).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
