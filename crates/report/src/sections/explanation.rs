//! Why the spikes of a run were large: the causes, and a timeline of one spike.

use crate::causes::{
    cause_words, detail, measured_policy, priority_of, process_of, realtime, reason,
    remedy as cause_remedy, sentence, why, words,
};
use crate::document::style::{Colour, Style};
use crate::document::table::{Column, Table, markup, table, wrapped};
use crate::document::{Block, On, Section, to_terminal};
use crate::sections::attach::thread_name;
use crate::units::{Scale, counted, grouped, percent, short};
use latlab_model::breakdown::PartFigures;
use latlab_model::explanation::{BlamePart, CauseKind, RunCause, RunExplanation, SpikeBlame};
use latlab_model::flight::KnownThread;
use latlab_model::plan::Policy;
use latlab_model::{Nanos, Run};
use maud::{Markup, html};

/// Columns of a bar in the timeline.
const BAR: usize = 32;
/// Approximate number of rows in a timeline.
const ROWS: usize = 24;
/// Threads whose process is named.
const THREADS: usize = 4;
/// Approximate number of segments of a bar on the page.
const CELLS: usize = 60;

/// Names a cause, with the processes that it started, and the priority of a real-time thread.
pub fn run_cause_words(cause: &RunCause) -> String {
    let realtime =
        realtime(cause.kernel_priority).map(|words| format!(", {words}")).unwrap_or_default();
    let started = match cause.started.is_empty() {
        true => String::new(),
        false => format!(" ({})", cause.started.join(", ")),
    };
    format!("{}{started}{realtime}", cause_words(&cause.cause))
}

/// `None` if nothing was recorded.
pub fn section(run: &Run) -> Option<Section> {
    let explanation = run.explanation.as_ref()?;
    let (causes, policy) = (&explanation.causes, measured_policy(run));
    let caption = "A spike counts for the cause that took most of it. Times are counted from the first \
                   release.";
    let mut section = Section::new("explained", "Causes of the spikes");
    if !causes.is_empty() {
        section = section
            .add(On::Page, Block::Table(Table::new(caption, with_remedies(causes, policy))))
            .add(On::Text, Block::Table(Table::new(caption, columns(causes))))
            .add(On::Text, Block::Text("What to do:".to_string()));
        section = causes.iter().fold(section, |section, one| remedy(section, one, policy));
    }
    section = section.texts(summary(explanation)).text(cost(explanation)).html(icicle(causes));
    let largest = &explanation.largest;
    if let Some(first) = largest.first() {
        let spikes = html! {
            p { "The largest spikes, from release to wake-up; each opens its parts:" }
            @for one in largest { (spike(one, run)) }
        };
        let text = format!("The largest: {}", sentence(first));
        section = section.add(On::Text, Block::Text(text)).html(spikes);
    }
    Some(section)
}

/// The causes for the terminal.
pub fn text(run: &Run, width: usize, style: Style) -> String {
    to_terminal(&Vec::from_iter(section(run)), width, style)
}

/// The time that causes took, by kind and then by name; start with the widest.
fn icicle(causes: &[RunCause]) -> Markup {
    let mut kinds: Vec<(CauseKind, i64)> = Vec::new();
    for cause in causes {
        match kinds.iter_mut().find(|(kind, _)| *kind == cause.cause.kind) {
            Some((_, total)) => *total += cause.total_ns.0,
            None => kinds.push((cause.cause.kind, cause.total_ns.0)),
        }
    }
    kinds.sort_by_key(|(_, total)| std::cmp::Reverse(*total));
    let all: i64 = kinds.iter().map(|(_, total)| total).sum();
    let of = |kind: CauseKind| {
        let mut each: Vec<&RunCause> =
            causes.iter().filter(|cause| cause.cause.kind == kind).collect();
        each.sort_by_key(|cause| std::cmp::Reverse(cause.total_ns));
        each
    };
    let share = |total: i64| percent(total as f64 / all.max(1) as f64);
    html! {
        @if all > 0 {
            figure.icicle {
                div.cell.kind-all { (short(all as f64)) " in all spikes" }
                div.parts {
                    @for (kind, total) in &kinds {
                        div.column style=(grow(*total, all)) {
                            div class={ "cell kind-" (kind) } title={ (words(*kind).all) ": " (share(*total)) } {
                                (words(*kind).all) " " (share(*total))
                            }
                            div.parts {
                                @for cause in of(*kind) {
                                    div class={ "cell kind-" (kind) } style=(grow(cause.total_ns.0, all))
                                        title={ (run_cause_words(cause)) ": " (short(cause.total_ns.0 as f64))
                                                ", " (grouped(cause.count)) " spikes" } {
                                        (run_cause_words(cause))
                                    }
                                }
                            }
                        }
                    }
                }
                figcaption { "The time that each cause took of its spikes, by kind and by name." }
            }
        }
    }
}

/// The CSS share of a cell in its row.
fn grow(part: i64, all: i64) -> String {
    format!("flex-grow:{:.4}", part as f64 / all.max(1) as f64)
}

/// `Spike 7: `; nothing for a cycle that was not recorded.
fn number(blame: &SpikeBlame) -> String {
    match blame.spike {
        0 => String::new(),
        spike => format!("Spike {spike}: "),
    }
}

/// One spike as a bar to scale, which expands to a table of its parts.
pub fn spike(blame: &SpikeBlame, run: &Run) -> Markup {
    let parts = blame.condensed(CELLS);
    let scale = Scale::for_times([blame.latency_ns]);
    html! {
        details.spike {
            summary {
                span { (number(blame)) (sentence(blame)) }
                span.cells aria-hidden="true" {
                    @for part in &parts {
                        span class={ "cell kind-" (part.cause.kind) } style=(grow(part.length().0, blame.latency_ns.0))
                            data-from=(part.from_ns.0) data-to=(part.to_ns.0) data-part=(part.phase) data-name=(cause_words(&part.cause))
                            title={ (who(part)) ": " (short(part.length().0 as f64)) " from " (short(part.from_ns.0 as f64))
                                    " on (" (part.phase) ")" } {}
                    }
                }
            }
            (markup(&Table::new("From the release on.", part_columns(&blame.condensed(ROWS), &scale, None))))
            @for line in around(blame, run) { p { (line) } }
        }
    }
}

/// What had the CPU during a part, with its thread and further facts.
fn who(part: &BlamePart) -> String {
    let id = part.thread.as_ref().map(|thread| {
        let process = process_of(thread).map(|words| format!(" {words}"));
        let realtime = priority_of(thread).map(|words| format!(", {words}"));
        let (process, realtime) = (process.unwrap_or_default(), realtime.unwrap_or_default());
        let starter = thread.started_by.as_ref().filter(|starter| starter.id != thread.id);
        let starter = starter.map(|one| format!(", started by {}", one.name)).unwrap_or_default();
        format!(" (thread {}{process}{realtime}{starter})", thread.id)
    });
    let detail = detail(part).map(|detail| format!(": {detail}"));
    format!("{}{}{}", cause_words(&part.cause), id.unwrap_or_default(), detail.unwrap_or_default())
}

/// The parts as a table, with bars if a latency is given.
fn part_columns(parts: &[BlamePart], scale: &Scale, bars: Option<Nanos>) -> Vec<Column> {
    let each = |cell: &dyn Fn(&BlamePart) -> String| parts.iter().map(cell).collect::<Vec<_>>();
    let bars = bars.map(|latency| Column::new("", 1, each(&|part| bar(part, latency.0))).left());
    let first = [
        Column::new("from", 0, each(&|part| scale.number(part.from_ns))).unit(scale.unit()),
        Column::new("for", 0, each(&|part| scale.number(part.length()))).unit(scale.unit()),
        Column::new("part", 2, each(&|part| part.phase.to_string())).left(),
    ];
    let last = Column::new("who had the CPU", 0, each(&who)).left();
    first.into_iter().chain(bars).chain([last]).collect()
}

/// What to do about a cause; a command stays on one line, to be copied.
fn remedy(section: Section, cause: &RunCause, policy: Option<Policy>) -> Section {
    let (who, remedy) = (run_cause_words(cause), cause_remedy(cause, policy));
    match remedy.is_command() {
        true => section
            .add(On::Text, Block::Text(format!("{who}:")))
            .add(On::Text, Block::Command(remedy)),
        false => section.add(On::Text, Block::Text(format!("{who}: {remedy}"))),
    }
}

/// The table of causes for the page.
fn with_remedies(causes: &[RunCause], policy: Option<Policy>) -> Vec<Column> {
    let mut columns = columns(causes);
    columns.push(
        Column::new("remedy", 0, causes.iter().map(|one| cause_remedy(one, policy).to_string()))
            .left(),
    );
    columns
}

fn columns(causes: &[RunCause]) -> Vec<Column> {
    let each = |cell: &dyn Fn(&RunCause) -> String| causes.iter().map(cell).collect::<Vec<_>>();
    let scale = Scale::for_times(causes.iter().map(|one| one.largest_ns));
    let cpus = |one: &RunCause| one.cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    vec![
        Column::new("cause", 0, each(&run_cause_words)).left(),
        Column::new("spikes", 0, each(&|one| grouped(one.count))),
        Column::new("share", 1, each(&|one| percent(one.share))),
        Column::new("largest", 0, each(&|one| scale.number(one.largest_ns))).unit(scale.unit()),
        Column::new("total", 3, each(&|one| scale.number(one.total_ns))).unit(scale.unit()),
        Column::new("cpus", 4, each(&cpus)),
        Column::new("first", 5, each(&|one| format!("{:.1}", one.first_ns.as_secs_f64())))
            .unit("s"),
        Column::new("last", 5, each(&|one| format!("{:.1}", one.last_ns.as_secs_f64()))).unit("s"),
    ]
}

fn summary(explanation: &RunExplanation) -> Vec<String> {
    let spikes = &explanation.spikes;
    let left_out = [
        ("came while the recorder was off", spikes.while_off),
        ("came too fast", spikes.rate_limited),
        ("were not taken by the stream in time", spikes.stream_full),
    ];
    let left_out: Vec<String> = left_out
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(why, count)| format!("{} {why}", grouped(count)))
        .collect();
    let left_out = match left_out.is_empty() {
        true => String::new(),
        false => format!(" ({})", left_out.join(", ")),
    };
    let all = format!(
        "Of {} spikes {} were recorded{left_out}, and {} of these are explained.",
        grouped(spikes.seen),
        grouped(spikes.stored),
        grouped(explanation.explained)
    );
    let unexplained = explanation.unexplained.iter().map(|one| {
        format!("Not explained: {}, since {}.", counted(one.count, "spike", "spikes"), why(one))
    });
    [all].into_iter().chain(unexplained).collect()
}

fn cost(explanation: &RunExplanation) -> String {
    let Some(cost) = &explanation.cost else {
        return "The cost of the recorder is unknown: too few cycles were measured without it."
            .to_string();
    };
    let side = |figures: &PartFigures, cpu: Option<Nanos>| {
        let (p50, p99) = (short(figures.p50_ns.0 as f64), short(figures.p99_ns.0 as f64));
        let cpu = cpu.map(|cpu| format!(", {} of CPU time a cycle", short(cpu.0 as f64)));
        format!("p50 {p50}, p99 {p99}{}", cpu.unwrap_or_default())
    };
    format!(
        "With the recorder: {}; without it: {}.",
        side(&cost.on, cost.on_cpu_ns),
        side(&cost.off, cost.off_cpu_ns)
    )
}

/// Facts around a spike: the processes of the threads involved, what preceded it, the load, and
/// what is unknown.
fn around(blame: &SpikeBlame, run: &Run) -> Vec<String> {
    let mut threads: Vec<(&KnownThread, &str, Nanos)> = Vec::new();
    for part in &blame.parts {
        let Some(known) = part.thread.as_ref().and_then(|thread| thread.known.as_ref()) else {
            continue;
        };
        match threads.iter_mut().find(|(other, ..)| other.id == known.id) {
            Some((_, _, total)) => *total += part.length(),
            None => threads.push((known, &part.cause.name, part.length())),
        }
    }
    threads.sort_by_key(|(.., total)| std::cmp::Reverse(*total));
    let whose = threads.iter().take(THREADS).map(|(known, name, _)| {
        let process = match known.process == known.id {
            true => String::new(),
            false => format!(" of process {}, {}", known.process, known.name),
        };
        let cgroup = known.cgroup.as_ref().map(|path| format!(" in cgroup {path}"));
        format!("{name} is thread {}{process}{}.", known.id, cgroup.unwrap_or_default())
    });
    let idle = blame.before.idle_state.map(|state| format!("in idle state {state}"));
    let frequency = blame.before.khz.map(|khz| format!("at {} MHz", grouped(khz / 1000)));
    let was: Vec<String> = idle.into_iter().chain(frequency).collect();
    let before = (!was.is_empty()).then(|| format!("Its CPU was {} before.", was.join(", ")));
    let loads: Vec<&str> = run.loads.iter().map(|load| load.name.as_str()).collect();
    let load = (!loads.is_empty()).then(|| format!("Load: {}.", loads.join(", ")));
    let reason = blame.reason.map(reason).map(|why| format!("Not everything is known: {why}."));
    whose.chain(before).chain(load).chain(reason).collect()
}

/// One spike as a timeline to scale.
pub fn timeline(blame: &SpikeBlame, run: &Run, width: usize, style: Style) -> String {
    let at = (blame.release_ns - run.first_release().unwrap_or_default()).as_secs_f64();
    let cpu = blame.cpu.map(|cpu| format!(" on CPU {cpu}")).unwrap_or_default();
    let thread = thread_name(run, blame.thread);
    let head = format!("{}{thread}{cpu}, {at:.6} s after the first release", number(blame));
    let scale = Scale::for_times([blame.latency_ns]);
    let columns = part_columns(&blame.condensed(ROWS), &scale, Some(blame.latency_ns));
    let around = around(blame, run);
    let around: String =
        around.iter().map(|line| format!("{}\n", wrapped(line, width, 0))).collect();
    format!(
        "{}\n{}\n{}{}",
        style.paint(Colour::Bold, &wrapped(&head, width, 0)),
        wrapped(&sentence(blame), width, 0),
        table(columns, width, style),
        around
    )
}

/// The position of a part within its latency.
fn bar(part: &BlamePart, latency: i64) -> String {
    let place = |time: i64| (time * BAR as i64 / latency.max(1)).clamp(0, BAR as i64) as usize;
    let from = place(part.from_ns.0).min(BAR - 1);
    let length = place(part.to_ns.0).saturating_sub(from).max(1);
    format!("{}{}", "·".repeat(from), "█".repeat(length)) + &"·".repeat(BAR - from - length)
}
