//! A run as one self-contained page: nothing is loaded, nothing needs a script.

use crate::command::command;
use crate::conditions;
use crate::figures::{Figure, LATENCIES, MAXIMUM};
use crate::latency::latency_picture;
use crate::options::Options;
use crate::said;
use crate::sentence::{self, NOT_DEFINED};
use crate::units::{bytes, grouped, joined, percent, percent_of, span};
use latlab_model::run::{End, Finding, Setting, Summary, ThreadEnd, ThreadRun};
use latlab_model::{CpuSet, Nanos, Run, ThreadBins};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("page.css");
/// A table with more threads scrolls in its own box.
const TALL: usize = 20;

/// The whole page.
pub fn page(run: &Run, bins: &[ThreadBins]) -> String {
    let title = format!("{}: {}", run.id, sentence::machine_name(run));
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header { div.top { div { (opening(run)) } (verdict(run)) } (facts(run)) }
                main {
                    (findings(run))
                    (said::section(run))
                    (threads(run))
                    (picture(run, bins))
                    (losses(run))
                    (conditions::section(run))
                    (setup(run))
                    (cost(run))
                    (repeat(run))
                    (files(run))
                }
                footer { "Made by latlab " (run.latlab) " from run " (run.id) ". Times are differences of the clock that the threads slept on." }
            }
        }
    }
    .into_string()
}

/// A number that is never broken over two lines.
fn firm(text: &str) -> String {
    text.replace(' ', "\u{202f}")
}

fn count(number: u64) -> String {
    firm(&grouped(number))
}

fn opening(run: &Run) -> Markup {
    html! {
        p.kicker { "Latency run " (run.id) " · " (sentence::started(&run.started)) }
        h1 { (joined(&sentence::headline(run))) }
        p.lead { (joined(&sentence::lead(run).join(" "))) }
        @if let Some(note) = &run.asked.note { p { "Note: " (note) } }
    }
}

fn facts(run: &Run) -> Markup {
    let total = &run.total;
    html! {
        dl.facts {
            (fact("Observed maximum", total.max_ns.map(|max| firm(&max.to_string())),
                sentence::maximum_place(run)))
            (fact("Missed releases", Some(missed(total.missed)), missed_share(total)))
            @if run.asked.deadline_ns.is_some() {
                (fact("Deadline misses", total.misses.map(count),
                    run.asked.deadline_ns.map(|deadline| format!("later than {}", deadline))))
            }
            (fact("Cycles", Some(count(total.cycles)), releases_due(run)))
            (fact("Measured for", Some(firm(&span(run.measured_ns))),
                Some(plural(run.threads.len(), "thread"))))
        }
    }
}

fn fact(name: &str, value: Option<String>, beside: Option<String>) -> Markup {
    html! {
        div {
            dt { (name) }
            dd { (value.unwrap_or_else(|| "none".to_string())) @if let Some(beside) = beside { small { (joined(&beside)) } } }
        }
    }
}

fn missed(missed: Option<u64>) -> String {
    missed.map_or_else(|| NOT_DEFINED.to_string(), count)
}

fn missed_share(total: &Summary) -> Option<String> {
    let share = percent_of(total.missed?, total.activations)?;
    Some(format!("{share} of the releases"))
}

fn releases_due(run: &Run) -> Option<String> {
    run.has_releases().then(|| format!("{} releases were due", grouped(run.total.activations)))
}

fn plural(number: usize, word: &str) -> String {
    format!("{} {word}{}", grouped(number as u64), if number == 1 { "" } else { "s" })
}

fn verdict(run: &Run) -> Markup {
    let Some(verdict) = &run.verdict else {
        return html! {
            section.verdict.none aria-labelledby="verdict" {
                h2 id="verdict" { "No verdict" }
                p { "No deadline was given, so the figures are not judged. Repeat with --deadline." }
                @if sentence::is_invalid(run) {
                    p { strong.differs { "A finding below makes these figures worthless or incomplete." } }
                }
            }
        };
    };
    html! {
        section class={ "verdict " (verdict.word) } aria-labelledby="verdict" {
            h2 id="verdict" { "Verdict: " strong { (verdict.word) } }
            p { (joined(&verdict.sentence)) }
        }
    }
}

fn findings(run: &Run) -> Markup {
    html! {
        section aria-labelledby="findings" {
            h2 id="findings" { "Findings" }
            @if run.findings.is_empty() {
                p { "Nothing was found that would change how these figures are read." }
            } @else {
                ul.findings { @for finding in sentence::by_weight(run) { (one_finding(run, finding)) } }
            }
        }
    }
}

fn one_finding(run: &Run, finding: &Finding) -> Markup {
    html! {
        li class=(finding.severity) {
            p {
                span.tag { (finding.severity) @if finding.invalidates { ", makes the run invalid" } }
                " " span.where {
                    code { (finding.code) }
                    @if let Some(place) = sentence::finding_place(run, finding) { " · " (joined(&place)) }
                }
            }
            p { (joined(&finding.text)) }
            @if let Some(remedy) = &finding.remedy { p.remedy { strong { "Remedy: " } (remedy) } }
        }
    }
}

/// A box in which a wide table scrolls, so that the page itself never does.
fn scrolling(name: &str, tall: bool, table: Markup) -> Markup {
    html! {
        div class=(if tall { "scroll tall" } else { "scroll" }) role="region" tabindex="0"
            aria-label=(name) { (table) }
    }
}

fn threads(run: &Run) -> Markup {
    if run.threads.is_empty() {
        return html! {};
    }
    let columns = thread_columns(run);
    let total = run.threads.len() > 1;
    let caption = format!(
        "Each measuring thread in {} over {}. Quantiles are the upper edge of their bin.",
        sentence::exposure(run),
        span(run.measured_ns),
    );
    let table = html! {
        table.threads {
            caption { span { (joined(&caption)) } }
            thead { tr { @for column in &columns { (column.head()) } } }
            tbody { @for row in 0..run.threads.len() { tr { @for column in &columns { (column.cell(row)) } } } }
            @if total { tfoot { tr { @for column in &columns { (column.cell(run.threads.len())) } } } }
        }
    };
    html! {
        section aria-labelledby="threads" {
            h2 id="threads" { "Threads" }
            (scrolling("Figures of each thread", run.threads.len() > TALL, table))
        }
    }
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
    columns.push(summary_column(run, "Missed", |s| missed(s.missed)));
    if run.asked.deadline_ns.is_some() {
        columns.push(summary_column(run, "Misses", |s| dash(s.misses.map(count))));
    }
    let seen = summary_column(run, "Seen at", |s| dash(sentence::seen_at(run, s)));
    columns.push(Column { unit: "s", ..seen });
    columns.push(summary_column(run, "Cycles", |s| count(s.cycles)));
    if run.has_releases() {
        columns.push(summary_column(run, "Activations", |s| count(s.activations)));
    }
    columns.extend(LATENCIES.iter().map(|figure| latency_column(run, figure)));
    columns.extend(setup);
    let (first, nothing) = (columns[0].name.clone(), "–");
    columns.retain(|c| c.name == first || c.cells.iter().any(|cell| cell != nothing));
    columns
}

fn dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_string())
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
            t.setup.cpu.map_or_else(|| "floats".to_string(), |cpu| cpu.to_string())
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
        column("Period", None, &|t| firm(&t.setup.period_ns.to_string())),
    ];
    (columns, setup)
}

fn summary_column(run: &Run, name: &str, cell: impl Fn(&Summary) -> String) -> Column {
    let cells = summaries(run).map(cell).collect();
    Column { name: name.to_string(), unit: "", class: None, cells }
}

fn summaries(run: &Run) -> impl Iterator<Item = &Summary> {
    run.threads.iter().map(|thread| &thread.summary).chain([&run.total])
}

fn latency_column(run: &Run, figure: &Figure) -> Column {
    let (unit, numbers) = figure.column(summaries(run));
    let class = (figure.name == MAXIMUM.name).then_some("max");
    let cells = numbers.into_iter().map(dash).collect();
    Column { name: figure.name.to_string(), unit, class, cells }
}

/// Three pictures, of which the width of the page shows one: shrunk text could not be read.
fn picture(run: &Run, bins: &[ThreadBins]) -> Markup {
    let wide = Options { width: 1120, plot_height: 420, id: "wide".into(), ..Options::default() };
    let middle = Options { width: 700, plot_height: 380, id: "middle".into(), ..wide.clone() };
    let narrow = Options { width: 400, plot_height: 300, id: "narrow".into(), ..wide.clone() };
    html! {
        section aria-labelledby="picture" {
            h2 id="picture" { "Latencies" }
            figure {
                div.wide { (PreEscaped(latency_picture(run, bins, &wide))) }
                div.middle { (PreEscaped(latency_picture(run, bins, &middle))) }
                div.narrow { (PreEscaped(latency_picture(run, bins, &narrow))) }
                figcaption {
                    "How many latencies were how large, one line for each measuring thread. Heights are "
                    "logarithmic: a single late wake-up is as visible as a million punctual ones. They "
                    "count latencies per unit of width, so that no step depends on the width of a bin. "
                    "A mark shows each named thread's observed maximum."
                }
            }
        }
    }
}

fn losses(run: &Run) -> Markup {
    html! {
        section aria-labelledby="losses" {
            h2 id="losses" { "Losses" }
            @match sentence::unknown_end(run) {
                Some(unknown) => p { (unknown) },
                None => @if run.losses.none() { p { "Nothing was lost: every counter below is zero." } },
            }
            div.counters {
                (pairs("Counters of what was lost", sentence::losses(run).map(|(what, number)| (what, count(number)))))
            }
        }
    }
}

/// Facts with their labels, one a row.
fn pairs<'a>(caption: &str, rows: impl IntoIterator<Item = (&'a str, String)>) -> Markup {
    let table = html! {
        table.pairs {
            caption { span { (caption) } }
            tbody { @for (name, value) in rows { tr { th scope="row" { (name) } td { (value) } } } }
        }
    };
    html! { div.scroll { (table) } }
}

fn setup(run: &Run) -> Markup {
    html! {
        section aria-labelledby="setup" {
            h2 id="setup" { "Setup" }
            div.columns {
                (pairs("The machine", machine(run)))
                (pairs("How it was measured", how(run)))
            }
            (settings(run))
            (thread_ends(run))
        }
    }
}

fn how(run: &Run) -> Vec<(&'static str, String)> {
    let mut rows = sentence::method(&run.asked);
    rows.push(("Helpers ran on CPUs", run.applied.helpers_on.clone()));
    rows.push(("Ended", run.ended.to_string()));
    let rows = rows.into_iter().filter(|(_, value)| !value.is_empty());
    rows.map(|(name, value)| (name, joined(&value))).collect()
}

fn machine(run: &Run) -> Vec<(&'static str, String)> {
    let machine = &run.machine;
    let set = |cpus: &CpuSet| (!cpus.is_empty()).then(|| cpus.to_string());
    let rows = [
        ("Host", machine.hostname.clone()),
        ("Board", machine.board.clone()),
        ("Processor", machine.cpu_model.clone()),
        ("Architecture", Some(machine.architecture.clone())),
        ("Kernel", Some(machine.kernel.clone())),
        ("Kernel version", Some(machine.kernel_version.clone())),
        ("Preemption", machine.preemption.clone()),
        ("Tick", machine.tick_hz.map(|rate| joined(&format!("{rate} Hz")))),
        ("Command line", machine.command_line.clone()),
        ("Distribution", machine.distribution.clone()),
        ("Virtualisation", machine.virtualisation.clone()),
        ("CPUs online", set(&machine.cpus_online)),
        ("CPUs allowed", set(&machine.cpus_allowed)),
        ("CPUs isolated", set(&machine.cpus_isolated)),
        ("CPUs without tick", set(&machine.cpus_nohz_full)),
        ("Clock source", machine.clocksource.clone()),
        ("Governor", machine.governor.clone()),
        ("Real-time limit", machine.rt_runtime_us.map(rt_limit).map(|limit| joined(&limit))),
        ("Memory", machine.memory_bytes.map(|memory| joined(&bytes(memory)))),
        ("Microcode", machine.microcode.clone()),
        ("Boot id", machine.boot_id.clone()),
    ];
    rows.into_iter()
        .filter_map(|(name, value)| Some((name, value.filter(|value| !value.is_empty())?)))
        .collect()
}

fn rt_limit(runtime_us: i64) -> String {
    match runtime_us {
        -1 => "none (-1)".to_string(),
        runtime => format!("{} us of each period", grouped(runtime.unsigned_abs())),
    }
}

/// The same setting of several threads in one row.
struct SettingRow<'a> {
    setting: &'a Setting,
    threads: Vec<u32>,
}

fn folded(run: &Run) -> Vec<SettingRow<'_>> {
    let mut rows: Vec<SettingRow> = Vec::new();
    for setting in &run.applied.settings {
        let same = |row: &&mut SettingRow| {
            Setting { thread: None, ..row.setting.clone() }
                == Setting { thread: None, ..setting.clone() }
                && row.setting.thread.is_some() == setting.thread.is_some()
        };
        match rows.iter_mut().find(same) {
            Some(row) => row.threads.extend(setting.thread),
            None => {
                rows.push(SettingRow { setting, threads: setting.thread.into_iter().collect() })
            }
        }
    }
    rows
}

/// What the machine refused stands open; what it did as asked can be unfolded.
fn settings(run: &Run) -> Markup {
    let rows = folded(run);
    let (held, differing): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.setting.holds());
    html! {
        h3 { "Settings, read back after they were made" }
        @if differing.is_empty() && held.is_empty() {
            p { "No setting is on record." }
        } @else if differing.is_empty() {
            p { "Everything was applied as it was asked." }
        } @else {
            (scrolling("Settings that differ", false, setting_table("Settings that the machine did not apply as asked", &differing)))
        }
        @if !held.is_empty() {
            details {
                summary { (plural(held.len(), "setting")) " applied as asked" }
                (scrolling("Settings as asked", false, setting_table("Settings applied as asked", &held)))
            }
        }
    }
}

fn setting_table(caption: &str, rows: &[SettingRow]) -> Markup {
    html! {
        table.words {
            caption { span { (caption) } }
            thead { tr { @for name in ["Setting", "Thread", "Asked", "Applied", ""] { th scope="col" { (name) } } } }
            tbody { @for row in rows { (setting_row(row)) } }
        }
    }
}

fn setting_row(row: &SettingRow) -> Markup {
    let setting = row.setting;
    let threads = match row.threads.is_empty() {
        true => "program".to_string(),
        false => row.threads.iter().copied().collect::<CpuSet>().to_string(),
    };
    let mark = match (setting.holds(), setting.matters) {
        (true, _) => "as asked",
        (false, true) => "differs, makes the figures worthless",
        (false, false) => "differs",
    };
    html! {
        tr {
            th scope="row" { (setting.what) }
            td { (threads) } td { (joined(&setting.asked)) } td { (joined(&setting.applied)) }
            td { @if setting.holds() { (mark) } @else { strong.differs { (mark) } } }
        }
    }
}

fn thread_ends(run: &Run) -> Markup {
    if run.threads.iter().all(|thread| thread.end.is_none()) {
        return html! {};
    }
    let names = [
        "Thread",
        "Ended",
        "Page faults",
        "Put off its CPU",
        "Slept",
        "Spikes lost",
        "Intervals grown",
    ];
    let table = html! {
        table {
            caption { "Counted after the first release; page faults and being put off the CPU should be zero" }
            thead { tr { @for name in names { th scope="col" { (name) } } } }
            tbody { @for thread in &run.threads { (thread_end(thread)) } }
        }
    };
    html! {
        details {
            summary { "How the threads fared" }
            (scrolling("How the threads fared", false, table))
        }
    }
}

fn thread_end(thread: &ThreadRun) -> Markup {
    let cell = |of: fn(&ThreadEnd) -> u64| dash(thread.end.as_ref().map(of).map(count));
    html! {
        tr {
            th scope="row" { (thread.setup.thread) }
            td { (thread.end.as_ref().map_or("no word", |end| end.reason.word())) }
            td { (cell(|end| end.page_faults)) }
            td { (cell(|end| end.involuntary_switches)) }
            td { (cell(|end| end.voluntary_switches)) }
            td { (cell(|end| end.spikes_lost)) }
            td { (cell(|end| end.intervals_grown)) }
        }
    }
}

fn cost(run: &Run) -> Markup {
    html! {
        section aria-labelledby="cost" {
            h2 id="cost" { "Cost of measuring" }
            @match &run.agent {
                Some(end) => (pairs("What the agent took from the machine, beside the measuring threads", cost_rows(run, end))),
                None => p { "The agent said nothing at its end." },
            }
        }
    }
}

fn cost_rows(run: &Run, end: &End) -> Vec<(&'static str, String)> {
    let share = match run.measured_ns > Nanos::ZERO {
        true => percent(end.helpers_cpu_ns.as_secs_f64() / run.measured_ns.as_secs_f64()),
        false => "unknown share".to_string(),
    };
    let mut rows = vec![
        ("Largest resident memory", bytes(end.agent_peak_rss_bytes)),
        ("CPU time of the helpers", format!("{} ({share} of one CPU)", end.helpers_cpu_ns)),
    ];
    if let Some(hook) = &end.spike_hook {
        rows.push((
            "Spike command",
            format!(
                "started {} times, left out {} times, failed {} times, {} of CPU time",
                grouped(hook.started),
                grouped(hook.suppressed),
                grouped(hook.failed),
                hook.cpu_ns,
            ),
        ));
    }
    rows.into_iter().map(|(name, value)| (name, joined(&value))).collect()
}

fn repeat(run: &Run) -> Markup {
    html! {
        section aria-labelledby="repeat" {
            h2 id="repeat" { "Repeat it" }
            pre { code { (command(&run.asked)) } }
        }
    }
}

fn files(run: &Run) -> Markup {
    if run.files.is_empty() {
        return html! {};
    }
    let table = html! {
        table.words {
            caption { "SHA-256 of each file beside this page" }
            thead { tr { @for name in ["File", "Size", "SHA-256"] { th scope="col" { (name) } } } }
            tbody {
                @for (name, file) in &run.files {
                    tr { th scope="row" { (name) } td { (firm(&bytes(file.bytes))) } td { code { (file.sha256) } } }
                }
            }
        }
    };
    html! {
        details {
            summary { "Files of the run" }
            (scrolling("Files of the run", false, table))
        }
    }
}
