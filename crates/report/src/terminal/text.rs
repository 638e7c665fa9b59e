//! A run, or a list of runs, as tables for the terminal.

use crate::doctor::severity_colour;
use crate::doctor::summary;
use crate::figures::{LATENCIES, LatencyBound, LatencyFigure, MAXIMUM, SaidLatency, resolution};
use crate::sections::attach;
use crate::sections::changes;
use crate::sections::conditions;
use crate::sections::explanation;
use crate::sections::legs;
use crate::sections::load;
use crate::sections::noise;
use crate::sections::outliers;
use crate::sections::respond;
use crate::sections::statistics;
use crate::sentence::{self, NOT_DEFINED};
use crate::summary::headline;
use crate::terminal::style::Colour;
pub use crate::terminal::style::Style;
use crate::terminal::table::{Column, table, wrapped};
use crate::terms;
use crate::units::{Scale, bytes, grouped, percent, short, span};
use crate::verdict::{forbids_pass, sentences};
use latlab_model::plan::{Instrument, Recorded};
use latlab_model::run::{Finding, Summary, VerdictWord};
use latlab_model::sanitize::escape_controls;
use latlab_model::{Nanos, Run};

/// Everything a run says, in at most `width` columns (from 80 up), with a picture of characters
/// or with what is to be said in its place.
pub fn show(run: &Run, picture: &str, width: usize, style: Style) -> String {
    let parts = [
        head(run, width, style),
        attach::text(run, width, style),
        if run.attached.is_some() { String::new() } else { threads(run, width, style) },
        maximum(run, width),
        picture.to_string(),
        explanation::text(run, width, style),
        outliers::text(run, width, style),
        statistics::text(run, width, style),
        legs::text(run, width, style),
        losses(run, width),
        samples(run, width),
        if run.asked.method.has_agent() { agent(run, width) } else { String::new() },
        changes::text(run, width),
        load::text(run, width, style),
        conditions::text(run, width, style),
        findings(run, width, style),
        summary::text(run, width, style),
        verdict(run, width, style),
        format!("Repeat it:\n  {}\n", run.asked.repeat()),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

fn head(run: &Run, width: usize, style: Style) -> String {
    let headline = wrapped(&headline(run), width, 0);
    let lead = wrapped(&sentence::lead(run).join(" "), width, 0);
    let plan = &run.asked;
    if plan.method.is_capture() {
        let method = style.paint(Colour::Dim, &wrapped(&respond::method_name(run), width, 0));
        return format!("{}\n{lead}\n{method}\n", style.paint(Colour::Bold, &headline));
    }
    let releases = plan.method.releases();
    let clock = plan.method.clock().filter(|_| plan.method.is_periodic());
    let how: Vec<String> = [
        Some(plan.method.to_string()),
        clock.map(|clock| format!("clock {clock}")),
        plan.who.policy.map(|policy| policy.to_string()),
        plan.method.rhythm(),
        releases.map(|releases| format!("phase {}", releases.phase)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let how = how.join(", ");
    let kernel = Some(sentence::kernel(run)).filter(|kernel| !kernel.is_empty());
    let kernel = kernel.map(|kernel| format!("kernel {kernel}; ")).unwrap_or_default();
    let method = format!("{how}; {kernel}{}", run.id);
    let method = style.paint(Colour::Dim, &wrapped(&method, width, 0));
    format!("{}\n{lead}\n{method}\n", style.paint(Colour::Bold, &headline))
}

/// The table of threads.
pub(crate) fn threads(run: &Run, width: usize, style: Style) -> String {
    if run.threads.is_empty() {
        return String::new();
    }
    table(thread_columns(run), width, style)
}

/// Its columns, all of them.
pub(crate) fn thread_columns(run: &Run) -> Vec<Column> {
    if let Some(columns) = respond::columns(&[run]) {
        return columns;
    }
    let summaries = Summaries::new(run);
    let setups = || run.threads.iter().map(|thread| &thread.setup);
    let total_blank = |with: bool| with.then(String::new);
    let all = summaries.has_total;
    let some = |text: Option<String>| text.unwrap_or_else(|| "-".to_string());
    let mut columns = vec![
        Column::new(
            "thread",
            0,
            setups().map(|s| s.thread.to_string()).chain(all.then(|| "all".to_string())),
        ),
        Column::new(
            "cpu",
            0,
            setups().map(|s| some(s.cpu.map(|cpu| cpu.to_string()))).chain(total_blank(all)),
        ),
    ];
    if sentence::cores_differ(run) {
        let cores = run.threads.iter().map(|thread| some(sentence::core(thread)));
        columns.push(Column::new("core", 8, cores.chain(total_blank(all))));
    }
    columns.push(summaries.latency(&MAXIMUM));
    match run.asked.method.records() {
        _ if run.asked.method.is_import() => {}
        Recorded::Gap => columns.extend(noise::columns(run)),
        Recorded::Response => {}
        Recorded::Latency => columns.push(Column::new(
            "missed",
            0,
            summaries.each(|s| sentence::missed_count(run, s)),
        )),
    }
    if run.asked.until.deadline_ns.is_some() {
        columns.push(Column::new(
            "misses",
            0,
            summaries.each(|s| some(s.misses.map(|misses| misses.to_string()))),
        ));
    }
    let seen = summaries.each(|s| some(sentence::seen_at(run, s)));
    columns.push(Column::new("seen at", 6, seen).unit("s"));
    let cycles = summaries.each(|s| s.cycles.to_string());
    columns.push(Column::new(terms::of_run(run).cycles, 0, cycles));
    if run.asked.method.is_periodic() {
        columns.push(Column::new("due", 11, summaries.each(|s| s.activations.to_string())));
    }
    columns.extend(LATENCIES.iter().map(|figure| summaries.latency(figure)));
    let policies = setups().map(|s| s.policy.clone()).chain(total_blank(all));
    columns.push(Column::new("policy", 10, policies).left());
    if run.asked.method.is_periodic() {
        let periods = setups()
            .map(|s| some(s.period_ns.map(|period| period.to_string())))
            .chain(total_blank(all));
        columns.push(Column::new("period", 9, periods));
    }
    columns.retain(|column| !column.is_void());
    columns
}

fn missed(missed: Option<u64>) -> String {
    missed.map_or_else(|| NOT_DEFINED.to_string(), |missed| missed.to_string())
}

/// The rows of the table of threads: each thread, and all of them where there are several.
struct Summaries<'a> {
    rows: Vec<&'a Summary>,
    has_total: bool,
}

impl<'a> Summaries<'a> {
    fn new(run: &'a Run) -> Summaries<'a> {
        let has_total = run.threads.len() > 1;
        let threads = run.threads.iter().map(|thread| &thread.summary);
        Summaries { rows: threads.chain(has_total.then_some(&run.total)).collect(), has_total }
    }

    fn each(&self, cell: impl Fn(&Summary) -> String) -> Vec<String> {
        self.rows.iter().map(|summary| cell(summary)).collect()
    }

    fn latency(&self, figure: &LatencyFigure) -> Column {
        let (unit, numbers) = figure.column(self.rows.iter().copied());
        let cells = numbers.into_iter().map(|number| number.unwrap_or_else(|| "-".to_string()));
        Column::new(figure.short, figure.rank, cells).unit(unit)
    }
}

fn maximum(run: &Run, width: usize) -> String {
    if run.asked.method.is_response() {
        return format!("{}\n", wrapped(&respond::sentences(run).join(" "), width, 0));
    }
    let (Some(max), Some(place)) = (run.total.max_ns, sentence::maximum_place(run)) else {
        return String::new();
    };
    let at_least = if run.total.max_is_at_least { "at least " } else { "" };
    let missed = match run.asked.method.is_periodic() {
        true => format!("; missed releases: {}", missed(run.total.missed)),
        false => String::new(),
    };
    let text = format!(
        "Observed maximum {at_least}{max} ({place}), in {}{}{missed}.",
        sentence::exposure(run),
        sentence::over(run),
    );
    format!("{}\n", wrapped(&text, width, 0))
}

fn losses(run: &Run, width: usize) -> String {
    let unknown = sentence::unknown_end(run).map(|text| format!("{}\n", wrapped(&text, width, 0)));
    if run.losses.none() {
        return unknown.unwrap_or_else(|| format!("{}\n", sentence::nothing_lost(run)));
    }
    let lines = sentence::losses(run).into_iter().filter(|(_, count)| *count > 0);
    let lines = lines.map(|(what, count)| {
        format!("  {}\n", wrapped(&format!("{what}: {}", grouped(count)), width, 4))
    });
    format!("Lost:\n{}{}", lines.collect::<String>(), unknown.unwrap_or_default())
}

fn samples(run: &Run, width: usize) -> String {
    let text = sentence::samples(run).map(|text| format!("{}\n", wrapped(&text, width, 0)));
    text.unwrap_or_default()
}

fn agent(run: &Run, width: usize) -> String {
    let Some(end) = &run.agent else { return String::new() };
    let share = end.helpers_cpu_ns.as_secs_f64() / run.measured_ns.as_secs_f64();
    let share = if run.measured_ns > Nanos::ZERO {
        format!(" ({} of one CPU)", percent(share))
    } else {
        String::new()
    };
    let text = format!(
        "Cost of measuring: {} of memory at most, {} of CPU time outside the loops{share}.",
        bytes(end.agent_peak_rss_bytes),
        end.helpers_cpu_ns,
    );
    let own_work = sentence::own_work(run).map(|text| format!("{}\n", wrapped(&text, width, 0)));
    format!("{}\n{}", wrapped(&text, width, 0), own_work.unwrap_or_default())
}

fn findings(run: &Run, width: usize, style: Style) -> String {
    if run.findings.is_empty() {
        return "Findings: none.\n".to_string();
    }
    let lines = run.findings_by_weight().into_iter().map(|f| finding(run, f, width, style));
    format!("Findings:\n{}", lines.collect::<String>())
}

fn finding(run: &Run, finding: &Finding, width: usize, style: Style) -> String {
    let severity =
        style.paint(severity_colour(finding.severity()), &format!("{:<7}", finding.severity()));
    let place = sentence::finding_place(run, finding);
    let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
    let text = wrapped(&format!("{}{place} [{}]", finding.text(), finding.code()), width, 10);
    let remedy = finding.remedy().map(|remedy| match remedy.is_command() {
        true => format!("          -> {remedy}\n"),
        false => format!("          -> {}\n", wrapped(remedy.as_str(), width, 13)),
    });
    format!("  {severity} {text}\n{}", remedy.unwrap_or_default())
}

fn verdict(run: &Run, width: usize, style: Style) -> String {
    let Some(verdict) = &run.verdict else {
        let worthless = match sentence::is_invalid(run) {
            true => " A finding makes these figures worthless or incomplete.",
            false => "",
        };
        return format!("No deadline was given, so there is no verdict.{worthless}\n");
    };
    let word = style.paint(verdict_colour(verdict.word), verdict.word.as_str());
    let text = wrapped(&sentences(run, verdict), width, 2);
    format!("Verdict: {word}\n  {text}\n")
}

pub(crate) fn verdict_colour(word: VerdictWord) -> Colour {
    match word {
        VerdictWord::Pass => Colour::Good,
        VerdictWord::Inconclusive => Colour::Warn,
        VerdictWord::Fail | VerdictWord::Invalid => Colour::Bad,
    }
}

/// The colour of a cell that is a verdict.
pub(crate) fn paint_verdict(text: &str) -> Option<Colour> {
    let word = VerdictWord::ALL.iter().find(|word| word.as_str() == text);
    word.map(|word| verdict_colour(*word))
}

/// What the list of runs shows of one.
#[derive(Clone, PartialEq, Debug)]
pub struct ListEntry {
    /// Name of its folder.
    pub id: String,
    /// With what it measured.
    pub instrument: Instrument,
    /// When it began, in UTC.
    pub started: String,
    /// How long it measured; none where nobody knows, as of a list of readings.
    pub measured_ns: Option<Nanos>,
    /// Number of its measuring threads.
    pub threads: usize,
    /// Latencies recorded.
    pub cycles: u64,
    /// Observed maximum.
    pub max_ns: Option<Nanos>,
    /// Whether larger latencies may be missing.
    pub max_is_at_least: bool,
    /// What no time of a capture is known better than.
    pub resolution_ns: Option<f64>,
    /// Missed releases; none where they are not defined.
    pub missed: Option<u64>,
    /// Deadline misses; none without a deadline.
    pub misses: Option<u64>,
    /// The judgement, where there is one.
    pub verdict: Option<VerdictWord>,
    /// What forbids a pass, in a clause.
    pub forbids_pass: Option<String>,
}

impl From<&Run> for ListEntry {
    fn from(run: &Run) -> ListEntry {
        ListEntry {
            id: escape_controls(&run.id),
            instrument: run.asked.method.instrument(),
            started: escape_controls(&run.started),
            measured_ns: Some(run.measured_ns).filter(|_| respond::is_timed(run)),
            threads: run.threads.len(),
            cycles: run.total.cycles,
            max_ns: run.total.max_ns,
            max_is_at_least: run.total.max_is_at_least,
            resolution_ns: resolution(run),
            missed: run.total.missed,
            misses: run.total.misses,
            verdict: run.verdict.as_ref().map(|verdict| verdict.word),
            forbids_pass: forbids_pass(run).map(|why| escape_controls(&why)),
        }
    }
}

/// The list of runs, one a line, in at most `width` columns (from 80 up).
pub fn list(entries: &[ListEntry], width: usize, style: Style) -> String {
    let notes = list_notes(entries).into_iter();
    let notes = notes.map(|note| format!("{}\n", wrapped(&note, width, 2)));
    table(list_columns(entries), width, style) + &notes.collect::<String>()
}

/// More reasons than these are for the list of findings.
const NAMED_REASONS: usize = 5;

/// Why runs do not pass although none of their latencies missed.
pub(crate) fn list_notes(entries: &[ListEntry]) -> Vec<String> {
    let forbidden = || entries.iter().filter_map(|one| Some((&one.id, one.forbids_pass.as_ref()?)));
    let named = forbidden().take(NAMED_REASONS);
    let named = named.map(|(id, why)| format!("{id} is inconclusive: {why}."));
    let more = forbidden().count().saturating_sub(NAMED_REASONS);
    let more = (more > 0).then(|| format!("{more} more are inconclusive: see `latlab show RUN`."));
    named.chain(more).collect()
}

/// Maxima that are so many times apart have a unit each.
const WIDE: i64 = 1_000;

/// The columns of the list.
pub(crate) fn list_columns(entries: &[ListEntry]) -> Vec<Column> {
    let maxima = || entries.iter().filter_map(|entry| entry.max_ns);
    let smallest = maxima().filter(|max| *max > Nanos::ZERO).min().unwrap_or(Nanos::ZERO);
    // In the unit of the largest the smallest would have no digit left.
    let is_wide = maxima().any(|max| max.0 / WIDE > smallest.0);
    let scale = Scale::for_times(maxima());
    let each = |cell: &dyn Fn(&ListEntry) -> String| entries.iter().map(cell).collect::<Vec<_>>();
    let max = |entry: &ListEntry| {
        let Some(max) = entry.max_ns else { return "-".to_string() };
        let bound = match entry.max_is_at_least {
            true => LatencyBound::AtLeast,
            false => LatencyBound::Known,
        };
        let max = SaidLatency { ns: max.0 as f64, bound }.resolved(entry.resolution_ns);
        max.in_column(|ns| match is_wide {
            true => short(ns),
            false => scale.number_f64(ns),
        })
    };
    let word = |entry: &ListEntry| entry.verdict.map_or("-", VerdictWord::as_str).to_string();
    let missed = |entry: &ListEntry| match entry.instrument {
        Instrument::Spin | Instrument::Respond | Instrument::Import => "-".to_string(),
        _ => missed(entry.missed),
    };
    let misses =
        |entry: &ListEntry| entry.misses.map_or("-".to_string(), |misses| misses.to_string());
    // A gap is no latency: where the list has both, each says what it is.
    let alike = entries.iter().all(|entry| entry.instrument == Instrument::Cyclic);
    let instrument = each(&|entry| entry.instrument.to_string());
    let instrument = (!alike).then(|| Column::new("instrument", 0, instrument).left());
    let mut columns = vec![
        Column::new("run", 0, each(&|entry| entry.id.clone())).left(),
        Column::new("started", 3, each(&|entry| sentence::started(&entry.started))).left(),
        Column::new("measured", 1, each(&|entry| entry.measured_ns.map_or("-".to_string(), span))),
        Column::new("threads", 1, each(&|entry| entry.threads.to_string())),
        Column::new("cycles", 2, each(&|entry| entry.cycles.to_string())),
        Column::new("missed", 2, each(&missed)),
        Column::new("misses", 0, each(&misses)),
        Column::new("max", 0, each(&max)).unit(if is_wide { "" } else { scale.unit() }),
        Column::new("verdict", 0, each(&word)).left().coloured(paint_verdict),
    ];
    columns.splice(1..1, instrument);
    columns
}
