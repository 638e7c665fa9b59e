//! The threads of an attached program: the judgement in a sentence, their table, and why their
//! cycles were late.

mod charts;

use crate::causes::clause;
use crate::document::style::Style;
use crate::document::table::{Column, Table};
use crate::document::{Section, to_terminal};
use crate::figures::figure_head;
use crate::sections::explanation::spike;
use crate::units::{counted, four_digits, grouped, short};
use latlab_model::attach::{
    ActivationCall, AttachedChain, AttachedRun, AttachedThreadRun, CyclePart, CyclePartFigures,
    RhythmKind,
};
use latlab_model::plan::JudgedTime;
use latlab_model::run::{Quantiles, Verdict};
use latlab_model::{Nanos, Run};
use maud::{Markup, html};
use std::collections::BTreeSet;

/// Limits for a program with many threads: names in a sentence, and rows in the table.
const NAMED: usize = 6;
const SHOWN: usize = 30;
/// Most threads whose arrivals are shown.
const ARRIVAL_ROWS: usize = 10;

/// The judged threads, those with most misses first.
fn judged(attached: &AttachedRun) -> Vec<&AttachedThreadRun> {
    let mut judged: Vec<&AttachedThreadRun> =
        attached.threads.iter().filter(|thread| thread.found.deadline_ns.is_some()).collect();
    judged.sort_by_key(|thread| std::cmp::Reverse(thread.misses));
    judged
}

fn part(thread: &AttachedThreadRun, part: CyclePart) -> Option<&CyclePartFigures> {
    thread.parts.iter().find(|figures| figures.part == part)
}

/// The part of a cycle that the deadline applies to.
fn judged_part(run: &Run) -> CyclePart {
    match run.asked.method.attach().map(|attach| attach.judged) {
        Some(JudgedTime::WakeUp) => CyclePart::WakeUp,
        _ => CyclePart::Response,
    }
}

/// The judgement of the program's threads, to follow the word of the verdict: misses, and the
/// longest response.
pub fn judgement(run: &Run, verdict: &Verdict) -> Option<(String, String)> {
    let attached = run.attached.as_ref()?;
    let judged = judged(attached);
    let worst = judged.first()?;
    let deadline = worst.found.deadline_ns.unwrap_or(verdict.deadline_ns);
    let releases = grouped(verdict.releases);
    let whose = match (judged.len(), run.asked.until.deadline_ns) {
        (1, _) => format!("of {}", described(worst)),
        (count, _) => format!("of {count} threads"),
    };
    let limit = match (judged.len(), worst.found.deadline_is_assumed) {
        (1, true) => format!("the {deadline} deadline (its period, since none was given)"),
        (_, true) => "the deadline (its period, since none was given)".to_string(),
        (_, false) => format!("the {deadline} deadline"),
    };
    let count = match verdict.misses {
        0 => "none".to_string(),
        misses => grouped(misses),
    };
    let mut text = format!("{count} of {releases} releases {whose} missed {limit}");
    if judged.len() > 1 && worst.misses > 0 {
        let each = judged.iter().filter(|thread| thread.misses > 0);
        let each: Vec<String> = each
            .map(|thread| format!("{} {}", thread.found.name, grouped(thread.misses)))
            .collect();
        text += &format!(": {}", some_of(&each));
    }
    Some((text, longest(run, &judged).unwrap_or_default()))
}

/// The first names, and the number of the others.
fn some_of(names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMED);
    let named = names[..names.len() - more].join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}

/// The threads that are shown if there are many: those with most misses, then the others in order.
fn shown(attached: &AttachedRun) -> Vec<&AttachedThreadRun> {
    let mut threads: Vec<&AttachedThreadRun> = attached.threads.iter().collect();
    if threads.len() > SHOWN {
        threads.sort_by_key(|thread| std::cmp::Reverse(thread.misses));
        threads.truncate(SHOWN);
    }
    threads
}

/// The name of a thread; only threads of an attached program have their own.
pub fn thread_name(run: &Run, number: u32) -> String {
    let threads = run.attached.iter().flat_map(|attached| &attached.threads);
    let is_it = |thread: &&AttachedThreadRun| {
        thread.found.setup.as_ref().is_some_and(|setup| setup.thread == number)
    };
    match threads.into_iter().find(is_it) {
        Some(thread) => format!("{} (thread {number})", thread.found.name),
        None => format!("thread {number}"),
    }
}

/// The headline of a program that is not judged.
pub fn headline(run: &Run) -> Option<String> {
    let attached = run.attached.as_ref()?;
    let program = &attached.program;
    let all: Vec<&AttachedThreadRun> = attached.threads.iter().collect();
    let cycles: u64 = all.iter().map(|thread| thread.report.cycles).sum();
    Some(match all.is_empty() {
        true => format!("No cycle of {program} was found."),
        false => format!(
            "{program}: {} of {}{}.",
            counted(cycles, "cycle", "cycles"),
            counted(all.len() as u64, "thread", "threads"),
            longest(run, &all).unwrap_or_default()
        ),
    })
}

/// `; the longest response took 3.45 ms: …`.
fn longest(run: &Run, judged: &[&AttachedThreadRun]) -> Option<String> {
    let of = judged_part(run);
    let max = |thread: &&&AttachedThreadRun| part(thread, of).map(|figures| figures.max_ns);
    let worst = judged.iter().max_by_key(max)?;
    let figures = part(worst, of)?;
    let what = match of {
        CyclePart::WakeUp => "wake-up",
        _ => "response",
    };
    let whose =
        if judged.len() > 1 { format!(" (of {})", worst.found.name) } else { String::new() };
    let why = worst
        .longest
        .first()
        .filter(|long| of == CyclePart::Response && long.latency_ns == figures.max_ns)
        .and_then(clause)
        .map(|why| format!(": {why}"));
    Some(format!(
        "; the longest {what}{whose} took {}{}",
        four_digits(figures.max_ns),
        why.unwrap_or_default()
    ))
}

/// `control (fifo 75, every 1 ms)`.
fn described(thread: &AttachedThreadRun) -> String {
    let found = &thread.found;
    let every = found.period_ns.map(|period| format!(", every {}", four_digits(period)));
    format!("{} ({}{})", found.name, found.policy, every.unwrap_or_default())
}

fn waits_in(call: &ActivationCall) -> String {
    match (call.sleep, call.descriptor, &call.file) {
        (Some((_, true)), ..) => format!("{} (until a time)", call.call),
        (Some((_, false)), ..) => format!("{} (for a time)", call.call),
        (None, Some(descriptor), Some(file)) => format!("{} {descriptor} ({file})", call.call),
        (None, Some(descriptor), None) => format!("{} {descriptor}", call.call),
        (None, None, _) => call.call.clone(),
    }
}

/// Where in the program a thread waits: `control.c:23 (step)`.
fn place(thread: &AttachedThreadRun) -> Option<String> {
    thread.report.activation_site.as_ref()?.place()
}

/// The one that wakes a thread most often.
fn woken_by(thread: &AttachedThreadRun) -> String {
    thread.report.wakers.first().map_or("-".to_string(), |waker| waker.name.clone())
}

fn every(thread: &AttachedThreadRun) -> String {
    match (thread.found.period_ns, thread.found.rhythm) {
        (None, _) | (_, RhythmKind::Irregular) => "irregular".to_string(),
        (Some(period), RhythmKind::Exact) => four_digits(period),
        (Some(period), _) => format!("~{}", four_digits(period)),
    }
}

fn columns(attached: &AttachedRun) -> Vec<Column> {
    let threads = shown(attached);
    let words = |head: &str, rank, cell: &dyn Fn(&AttachedThreadRun) -> String| {
        Column::new(head, rank, threads.iter().map(|thread| cell(thread))).left()
    };
    let numbers = |head: &str, rank, cell: &dyn Fn(&AttachedThreadRun) -> String| {
        Column::new(head, rank, threads.iter().map(|thread| cell(thread)))
    };
    let time = |name: &str, id: &str, rank, of: CyclePart| {
        let times = threads.iter().map(|thread| {
            let figures = part(thread, of)?;
            time_figure(figures.quantiles.as_ref(), figures.max_ns, id)
        });
        time_column(&format!("{name} {}", figure_head(id)), rank, times)
    };
    vec![
        words("thread", 0, &|thread| thread.found.name.clone()),
        words(figure_head("policy"), 3, &|thread| thread.found.policy.clone()),
        words("waits in", 7, &|thread| waits_in(&thread.found.activation)),
        words("at", 10, &|thread| place(thread).unwrap_or("-".to_string())),
        words("woken by", 9, &woken_by),
        numbers("every", 2, &every),
        numbers(figure_head("cycles"), 1, &|thread| grouped(thread.report.cycles)),
        numbers(figure_head("overruns"), 4, &|thread| grouped(thread.report.overruns)),
        numbers(figure_head("misses"), 0, &|thread| match thread.found.deadline_ns {
            Some(_) => grouped(thread.misses),
            None => "-".to_string(),
        }),
        time("wake-up", "p99_ns", 6, CyclePart::WakeUp),
        time("wake-up", "max_ns", 2, CyclePart::WakeUp),
        time("runs", "p50_ns", 8, CyclePart::Execution),
        time("runs", "max_ns", 5, CyclePart::Execution),
        time("preempted", "max_ns", 6, CyclePart::Preempted),
        time("blocked", "max_ns", 6, CyclePart::Blocked),
        time("response", "p50_ns", 8, CyclePart::Response),
        time("response", "p99_ns", 5, CyclePart::Response),
        time("response", "max_ns", 0, CyclePart::Response),
    ]
}

/// A figure of some times, by its name in the figure table.
fn time_figure(quantiles: Option<&Quantiles>, max_ns: Nanos, id: &str) -> Option<Nanos> {
    match id {
        "p50_ns" => quantiles?.p50_ns,
        "p99_ns" => quantiles?.p99_ns,
        "p99_9_ns" => quantiles?.p99_9_ns,
        _ => Some(max_ns),
    }
}

fn time_column(head: &str, rank: u8, times: impl Iterator<Item = Option<Nanos>>) -> Column {
    let cell = |time: Option<Nanos>| match time {
        Some(time) => format!("{:.1}", time.0 as f64 / 1e3),
        None => "-".to_string(),
    };
    Column::new(head, rank, times.map(cell)).unit("us")
}

/// The table, why cycles were late, and for each judged thread its histograms and its longest
/// cycles.
pub fn section(run: &Run) -> Option<Section> {
    let attached = run.attached.as_ref()?;
    let caption = "Threads of the program whose cycles were found. Quantiles are the upper edge of \
                   their bin.";
    let charts = html! {
        @for thread in shown(attached) {
            h3.subtitle {
                (described(thread)) ", waits in " (waits_in(&thread.found.activation))
                @if let Some(place) = place(thread) { " at " (place) }
            }
            (charts::histograms(thread))
            @if !thread.longest.is_empty() { (longest_cycles(thread, run)) }
        }
    };
    let threads = counted(attached.threads.len() as u64, "thread", "threads");
    let chains = (!attached.chains.is_empty()).then(|| chains(attached));
    let arrivals = arrivals(attached);
    let section =
        Section::new("cycles", "Cycles of the program").without_title().sum(Some(threads));
    let section = match attached.threads.is_empty() {
        true => section,
        false => section.table(Table::new(caption, columns(attached))),
    };
    let section = chains.into_iter().chain(arrivals).fold(section, Section::table);
    Some(section.texts(sentences(run)).html(charts))
}

/// Chains of threads, from the first release to the last end.
fn chains(attached: &AttachedRun) -> Table {
    let all = &attached.chains;
    let time = |id: &str, rank| {
        let of = |chain: &AttachedChain| time_figure(chain.quantiles.as_ref(), chain.max_ns, id);
        time_column(figure_head(id), rank, all.iter().map(of))
    };
    let columns = vec![
        Column::new("chain", 0, all.iter().map(|chain| chain.names.join(" > "))).left(),
        Column::new("followed", 2, all.iter().map(|chain| grouped(chain.count))),
        Column::new("of cycles", 3, all.iter().map(|chain| grouped(chain.cycles))),
        time("p50_ns", 0),
        time("p99_ns", 1),
        time("p99_9_ns", 1),
        time("max_ns", 0),
    ];
    let caption = "Threads that release one another: from the release of the first to the end of \
                   the last, for each cycle of the last that could be followed back.";
    Table::new(caption, columns).titled("End to end")
}

/// The arrival curves of threads that others release.
fn arrivals(attached: &AttachedRun) -> Option<Table> {
    let with_curve = shown(attached).into_iter().filter(|thread| !thread.arrivals.is_empty());
    let threads: Vec<&AttachedThreadRun> = with_curve.take(ARRIVAL_ROWS).collect();
    let windows: BTreeSet<Nanos> =
        threads.iter().flat_map(|one| &one.arrivals).map(|one| one.window_ns).collect();
    let names = threads.iter().map(|thread| thread.found.name.clone());
    let mut columns = vec![Column::new("thread", 0, names).left()];
    for (rank, window) in (1..).zip(&windows) {
        let cells = threads.iter().map(|thread| {
            let one = thread.arrivals.iter().find(|one| one.window_ns == *window);
            one.map_or("-".to_string(), |one| match one.least == one.most {
                true => grouped(one.most),
                false => format!("{}-{}", grouped(one.least), grouped(one.most)),
            })
        });
        columns.push(Column::new(&window.to_string(), rank, cells));
    }
    let caption = "Arrivals: the smallest and the largest number of releases in any window of \
                   this length, for threads without their own timer.";
    (!threads.is_empty()).then(|| Table::new(caption, columns).titled("Arrivals"))
}

/// The longest cycles of a thread, from release to end.
fn longest_cycles(thread: &AttachedThreadRun, run: &Run) -> Markup {
    html! {
        p { "Its longest cycles, from release to end; each opens its parts:" }
        @for long in &thread.longest { (spike(long, run)) }
    }
}

/// For `--list`: each thread and the call in which it waits.
pub fn list(run: &Run, width: usize, style: Style) -> String {
    let Some(attached) = &run.attached else { return String::new() };
    let threads = &attached.threads;
    let words = |head: &str, rank, cell: &dyn Fn(&AttachedThreadRun) -> String| {
        Column::new(head, rank, threads.iter().map(cell)).left()
    };
    let mut section =
        Section::new("threads", "Threads").without_title().text(attached.program.clone());
    if !threads.is_empty() {
        let columns = vec![
            words("thread", 0, &|thread| thread.found.name.clone()),
            words("id", 1, &|thread| thread.found.thread_id.to_string()),
            words(figure_head("policy"), 0, &|thread| thread.found.policy.clone()),
            words("cpus", 3, &|thread| thread.found.cpus.clone()),
            words("waits in", 0, &|thread| waits_in(&thread.found.activation)),
            words("at", 4, &|thread| place(thread).unwrap_or("-".to_string())),
            words("woken by", 2, &woken_by),
            words("every", 0, &every),
            words(figure_head("cycles"), 0, &|thread| grouped(thread.report.cycles)),
        ];
        let caption = "Threads of the program, and the call in which each waits.";
        section = section.table(Table::new(caption, columns));
    }
    section = section.texts(without_rhythm(attached));
    if threads.is_empty() && attached.without_rhythm.is_empty() {
        section = section.text("No thread of it waited in a call.");
    }
    to_terminal(&[section], width, style)
}

fn without_rhythm(attached: &AttachedRun) -> Option<String> {
    let each: Vec<String> = attached
        .without_rhythm
        .iter()
        .map(|(name, waits)| format!("{name} ({})", counted(*waits, "wait", "waits")))
        .collect();
    (!each.is_empty()).then(|| format!("Without a rhythm: {}.", some_of(&each)))
}

/// The sentences below the table.
fn sentences(run: &Run) -> Vec<String> {
    let Some(attached) = &run.attached else { return Vec::new() };
    let late = judged(attached).into_iter().take(NAMED);
    let mut sentences: Vec<String> = late.filter_map(why_late).collect();
    let hidden = attached.threads.len().saturating_sub(SHOWN);
    if hidden > 0 {
        let threads = counted(hidden as u64, "more thread", "more threads");
        sentences.insert(0, format!("{threads} in `latlab show --format json`."));
    }
    let unjudged: Vec<String> = attached
        .threads
        .iter()
        .filter(|thread| thread.found.setup.is_none())
        .map(|thread| thread.found.name.clone())
        .collect();
    if !unjudged.is_empty() {
        let which = match run.asked.method.attach().and_then(|attach| attach.thread.as_ref()) {
            Some(pattern) => format!("other names than '{pattern}'"),
            None => "ordinary policies".to_string(),
        };
        sentences.push(format!("Not judged, with {which}: {}.", some_of(&unjudged)));
    }
    sentences.extend(without_rhythm(attached));
    sentences.push(followed(attached));
    sentences
}

/// The amount of data that was read, and its cost.
fn followed(attached: &AttachedRun) -> String {
    let cycles: u64 = attached.threads.iter().map(|thread| thread.report.cycles).sum();
    let lost = match attached.events_lost {
        0 => "none lost".to_string(),
        lost => format!("{} lost", grouped(lost)),
    };
    let status = match attached.exit_status {
        Some(0) | None => String::new(),
        Some(status) => format!(" The program ended with status {status}."),
    };
    format!(
        "{}: {} of the kernel's events, {lost}; reading them took {} of CPU time for {}.{status}",
        attached.program,
        grouped(attached.events),
        short(attached.reader_cpu_ns.0 as f64),
        counted(cycles, "cycle", "cycles"),
    )
}

/// `Why control was late: 8 times it began late, 3 times it slept in its work; longest 3.4 ms: …`.
fn why_late(thread: &AttachedThreadRun) -> Option<String> {
    let mut late = thread.report.late_by.clone();
    late.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let each: Vec<String> = late
        .iter()
        .map(|(part, count)| {
            let what = match part {
                CyclePart::WakeUp => "it began late",
                CyclePart::Execution => "its own work took long",
                CyclePart::Preempted => "others had its CPU",
                _ => "it slept in its work",
            };
            format!("{} {what}", counted(*count, "time", "times"))
        })
        .collect();
    let overruns = (thread.report.overruns > 0).then(|| {
        format!("{} passed without a cycle", counted(thread.report.overruns, "release", "releases"))
    });
    let each: Vec<String> = each.into_iter().chain(overruns).collect();
    let longest = thread.longest.first().and_then(|long| {
        Some(format!(" The longest, {}: {}.", short(long.latency_ns.0 as f64), clause(long)?))
    });
    (!each.is_empty() && thread.misses > 0).then(|| {
        let name = &thread.found.name;
        format!("Why {name} was late: {}.{}", each.join(", "), longest.unwrap_or_default())
    })
}
