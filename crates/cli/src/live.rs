//! The live view of a run: what is known so far, drawn from scratch each time.

use latlab_conduct::live::{Live, LiveThread, RECENT};
use latlab_model::run::{EndReason, Quantiles};
use latlab_model::{Nanos, Plan};
use latlab_report::terms::of_plan;
use latlab_report::units::{Scale, bin_edge, grouped, percent};
use latlab_stats::quantiles;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Stylize;
use ratatui::text::{Line, Text};
use ratatui::widgets::{Paragraph, Row, Table};

/// What the live view is drawn from.
pub struct View<'a> {
    /// The run as it stands.
    pub live: &'a Live,
    /// What was asked.
    pub plan: &'a Plan,
    /// What it is a view of.
    pub title: &'a str,
    /// Since the start of the program.
    pub elapsed: Nanos,
}

/// Blanks between two columns.
const GAP: u16 = 2;
/// A sparkline with fewer characters shows nothing.
const LEAST_SPARK: u16 = 13;
/// Lines for the figures of all threads together.
const TOTALS_LINES: usize = 2;
/// Columns that a narrow terminal goes without, the first one first, after those that hold nothing.
const GIVEN_UP: [&str; 7] = ["min", "mean", "p99", SPARK, "cycles", "p99.99", "cpu"];
const SPARK: &str = "last minute";
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws the whole screen.
pub fn draw(frame: &mut Frame, view: &View) {
    let [head, table, foot] =
        Layout::vertical([Constraint::Length(4), Constraint::Fill(1), Constraint::Length(3)])
            .areas(frame.area());
    draw_head(frame, head, view);
    draw_threads(frame, table, view);
    draw_foot(frame, foot, view);
}

/// One line for where there is no terminal.
pub fn progress_line(view: &View) -> String {
    let left = left(view).map(|left| format!(", {} left", clock(left))).unwrap_or_default();
    format!("{} elapsed{left}: {}", clock(view.elapsed), totals(view).join(", "))
}

/// Three lines and a blank one, which a narrow terminal needs for the end of the third.
fn draw_head(frame: &mut Frame, area: Rect, view: &View) {
    let method = Line::from(cut(&method(view), area.width.into())).dim();
    let mut lines = vec![title_line(view, area.width), method];
    lines.extend(totals_lines(totals(view), area.width.into()).into_iter().map(Line::from));
    frame.render_widget(Paragraph::new(lines), area);
}

/// The parts in as many lines as there are for them; where they are too many, the last one, which
/// is the observed maximum, goes first.
fn totals_lines(mut parts: Vec<String>, width: usize) -> Vec<String> {
    let mut lines = filled(&parts, width);
    if lines.len() > TOTALS_LINES || lines.iter().any(|line| line.chars().count() > width) {
        parts.rotate_right(1);
        if let Some(maximum) = parts.first_mut().filter(|part| part.chars().count() >= width) {
            *maximum = maximum.replace("observed maximum", "max");
        }
        lines = filled(&parts, width);
        let more = lines.len() > TOTALS_LINES;
        lines.truncate(TOTALS_LINES);
        if let Some(last) = lines.last_mut().filter(|_| more) {
            *last += "…";
        }
    }
    lines.iter().map(|line| cut(line, width)).collect()
}

/// Parts with commas between them, in lines that end between two parts only.
fn filled(parts: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let comma = if index + 1 < parts.len() { "," } else { "" };
        let part = format!("{part}{comma}");
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + part.chars().count() <= width => {
                *line += &format!(" {part}");
            }
            _ => lines.push(part),
        }
    }
    lines
}

fn title_line(view: &View, width: u16) -> Line<'static> {
    let time = match left(view) {
        Some(left) => format!("{} elapsed, {} left", clock(view.elapsed), clock(left)),
        None => format!("{} elapsed", clock(view.elapsed)),
    };
    let time = cut(&time, width.into());
    let room = usize::from(width).saturating_sub(time.chars().count() + 1);
    if room == 0 {
        return time.into();
    }
    let name = cut(view.title, room);
    Line::from(vec![format!("{name:<room$} ").bold(), time.into()])
}

fn method(view: &View) -> String {
    let plan = view.plan;
    let deadline = plan.deadline_ns.map(|deadline| format!(", deadline {}", deadline));
    let (way, policy) = (plan.way(), plan.policy);
    let how = match plan.spin {
        Some(spin) => format!("{way}, {policy}, gaps above {}", spin.gap_above_ns),
        None => format!("{way}, {policy}, period {}", plan.period_ns),
    };
    how + &deadline.unwrap_or_default()
}

/// The figures of all threads together, last the observed maximum.
fn totals(view: &View) -> Vec<String> {
    let threads = &view.live.threads;
    let Some(slowest) = threads.iter().filter(|t| t.total.count > 0).max_by_key(|t| t.total.max_ns)
    else {
        if view.plan.spin.is_some() && view.live.measured > Nanos::ZERO {
            return vec!["no gap".to_string()];
        }
        return vec![if threads.is_empty() { "preparing" } else { "warming up" }.to_string()];
    };
    let sum = |of: fn(&LiveThread) -> u64| grouped(threads.iter().map(of).sum());
    let missed = match view.plan.has_releases() {
        true => format!("{} missed", sum(|thread| thread.total.missed)),
        false if view.plan.spin.is_some() => format!("noise {}", percent(noise(view, threads))),
        false => "missed not defined".to_string(),
    };
    let misses = view
        .plan
        .deadline_ns
        .map(|deadline| format!("{} above {}", sum(|thread| thread.total.misses), deadline));
    let maximum =
        format!("observed maximum {} (thread {})", slowest.total.max_ns, slowest.setup.thread);
    let cycles = format!("{} {}", sum(|thread| thread.total.count), of_plan(view.plan).cycles);
    [Some(cycles), Some(missed), misses, Some(maximum)].into_iter().flatten().collect()
}

/// The share of the time so far that was taken from these busy loops.
fn noise(view: &View, threads: &[LiveThread]) -> f64 {
    let taken: i128 = threads.iter().map(|thread| thread.total.sum_ns).sum();
    let of = view.live.measured.0.max(1) as f64 * threads.len().max(1) as f64;
    taken as f64 / of
}

/// Time to the planned end; none where only an interrupt ends the run.
fn left(view: &View) -> Option<Nanos> {
    let by_time = view.plan.duration_ns.map(|duration| duration - view.live.measured);
    let by_cycles = view.plan.cycles.map(|cycles| time_for_cycles(view, cycles));
    let left = [by_time, by_cycles].into_iter().flatten().min()?;
    Some(left.max(Nanos::ZERO))
}

/// The slowest thread decides when all have their cycles.
fn time_for_cycles(view: &View, cycles: u64) -> Nanos {
    let wanted = |done: u64| i64::try_from(cycles.saturating_sub(done)).unwrap_or(i64::MAX);
    let threads = view.live.threads.iter();
    let times = threads.map(|thread| thread.setup.period_ns * wanted(thread.total.count));
    times.max().unwrap_or(view.plan.period_ns * wanted(0))
}

/// A duration as a clock shows it: `4:05`, `1:00:00`.
fn clock(time: Nanos) -> String {
    let seconds = time.0.max(0) / 1_000_000_000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

fn draw_threads(frame: &mut Frame, area: Rect, view: &View) {
    if view.live.threads.is_empty() {
        return;
    }
    // Two lines of the table are its head, and one is for the threads that have no room.
    let rows = usize::from(area.height).saturating_sub(2);
    let hides = view.live.threads.len() > rows;
    let shown = largest(&view.live.threads, if hides { rows.saturating_sub(1) } else { rows });
    let columns = fitting(columns(view, &shown), area.width);
    let [table, hidden] =
        Layout::vertical([Constraint::Fill(1), Constraint::Length(hides.into())]).areas(area);
    render_table(frame, table, &columns, shown.len());
    if hides {
        let count = view.live.threads.len() - shown.len();
        let text = format!("{count} more threads, none with a larger observed maximum");
        frame.render_widget(Line::from(cut(&text, area.width.into())).dim(), hidden);
    }
}

/// The threads with the largest maxima, in the order of their numbers so that rows stay put.
fn largest(threads: &[LiveThread], room: usize) -> Vec<&LiveThread> {
    let max = |thread: &LiveThread| (thread.total.count > 0).then_some(thread.total.max_ns);
    let mut shown: Vec<&LiveThread> = threads.iter().collect();
    shown.sort_by_key(|thread| std::cmp::Reverse(max(thread)));
    shown.truncate(room);
    shown.sort_by_key(|thread| thread.setup.thread);
    shown
}

/// A column of the table; `cells` has one entry for each shown thread.
struct Column {
    head: &'static str,
    unit: &'static str,
    cells: Vec<String>,
    width: u16,
}

impl Column {
    fn new(head: &'static str, cells: impl IntoIterator<Item = String>) -> Column {
        let cells: Vec<String> = cells.into_iter().collect();
        let widths = cells.iter().map(|cell| cell.chars().count()).chain([head.len()]);
        let width = widths.max().unwrap_or(0).min(60) as u16;
        Column { head, unit: "", cells, width }
    }

    fn latencies(head: &'static str, values: impl IntoIterator<Item = Option<f64>>) -> Column {
        let values: Vec<Option<f64>> = values.into_iter().collect();
        let scale = Scale::of(values.iter().flatten().map(|value| Nanos(*value as i64)));
        let scale = scale.steady();
        let cell = |value: Option<f64>| value.map_or("-".into(), |value| scale.number_f64(value));
        Column { unit: scale.unit(), ..Column::new(head, values.into_iter().map(cell)) }
    }
}

fn columns(view: &View, threads: &[&LiveThread]) -> Vec<Column> {
    let each = |head, cell: &dyn Fn(&LiveThread) -> String| {
        Column::new(head, threads.iter().map(|thread| cell(thread)))
    };
    let missed_head = if view.plan.spin.is_some() { "noise %" } else { "missed" };
    let missed = |thread: &LiveThread| match view.plan.has_releases() {
        true => grouped(thread.total.missed),
        false if view.plan.spin.is_some() => {
            format!("{:.3}", 100.0 * noise(view, std::slice::from_ref(thread)))
        }
        false => "not defined".to_string(),
    };
    let mut columns = vec![
        each("thread", &|thread| thread.setup.thread.to_string()),
        each("cpu", &|thread| thread.setup.cpu.map_or("-".into(), |cpu| cpu.to_string())),
        each(of_plan(view.plan).cycles, &|thread| grouped(thread.total.count)),
        each(missed_head, &missed),
    ];
    if view.plan.deadline_ns.is_some() {
        columns.push(each("misses", &|thread| grouped(thread.total.misses)));
    }
    columns.extend(latency_columns(threads));
    columns.push(sparks(view, threads));
    columns
}

fn latency_columns(threads: &[&LiveThread]) -> Vec<Column> {
    let float = |time: Nanos| time.0 as f64;
    let counted = |thread: &&LiveThread| thread.total.count > 0;
    let extreme = |head, of: fn(&LiveThread) -> Nanos| {
        let values = threads.iter().map(|t| counted(t).then(|| float(of(t))));
        Column::latencies(head, values)
    };
    let tails: Vec<Option<Quantiles>> = threads.iter().map(|t| quantiles(&t.total)).collect();
    let quantile = |head, of: fn(&Quantiles) -> Option<Nanos>| {
        let values = tails.iter().map(|tail| tail.as_ref().and_then(of).map(bin_edge).map(float));
        Column::latencies(head, values)
    };
    vec![
        extreme("min", |thread| thread.total.min_ns),
        Column::latencies("mean", threads.iter().map(|thread| thread.total.mean_ns())),
        quantile("p99", |tail| Some(tail.p99_ns)),
        quantile("p99.99", |tail| tail.p99_99_ns),
        extreme("max", |thread| thread.total.max_ns),
    ]
}

/// The maxima of the last minute, all threads on one scale; why a thread ended, once it has.
fn sparks(view: &View, threads: &[&LiveThread]) -> Column {
    let recent = view.live.threads.iter().flat_map(|thread| &thread.recent_max);
    let largest = recent.copied().max().unwrap_or_default();
    let cells = threads.iter().map(|thread| match thread.ended {
        None | Some(EndReason::Finished) => spark(thread, largest),
        Some(reason) => reason.to_string(),
    });
    Column { width: RECENT as u16, ..Column::new(SPARK, cells) }
}

fn spark(thread: &LiveThread, largest: Nanos) -> String {
    let steps = BLOCKS.len() as f64;
    let block = |max: &Nanos| {
        let share = max.0.max(0) as f64 / largest.0.max(1) as f64;
        BLOCKS[((share * steps) as usize).min(BLOCKS.len() - 1)]
    };
    thread.recent_max.iter().map(block).collect()
}

/// The columns that a terminal of this width has room for.
fn fitting(mut columns: Vec<Column>, width: u16) -> Vec<Column> {
    let void = |head: &&str| {
        let mut column = columns.iter().filter(|column| column.head == *head);
        column.any(|column| column.cells.iter().all(|cell| cell == "-"))
    };
    let void: Vec<&str> = GIVEN_UP.into_iter().filter(void).collect();
    for given_up in void.into_iter().chain(GIVEN_UP) {
        if least_width(&columns) <= width {
            break;
        }
        columns.retain(|column| column.head != given_up);
    }
    let spare = width.saturating_sub(least_width(&columns));
    if let Some(spark) = columns.iter_mut().find(|column| column.head == SPARK) {
        spark.width = spark.width.min(LEAST_SPARK + spare);
    }
    columns
}

fn least_width(columns: &[Column]) -> u16 {
    let width = |column: &Column| match column.head {
        SPARK => column.width.min(LEAST_SPARK),
        _ => column.width,
    };
    let gaps = GAP * (columns.len() as u16).saturating_sub(1);
    columns.iter().map(width).sum::<u16>() + gaps
}

fn render_table(frame: &mut Frame, area: Rect, columns: &[Column], rows: usize) {
    let head = columns.iter().map(|column| {
        let text = Text::from(vec![Line::from(column.head), Line::from(column.unit)]);
        aligned(text, column)
    });
    let row = |index: usize| {
        Row::new(columns.iter().map(move |column| {
            let cell = column.cells.get(index).map_or("", String::as_str);
            let text = Text::from(latest(cell, column).to_string());
            aligned(if column.head == "max" { text.bold() } else { text }, column)
        }))
    };
    let widths = columns.iter().map(|column| Constraint::Length(column.width));
    let table = Table::new((0..rows).map(row), widths)
        .column_spacing(GAP)
        .header(Row::new(head).height(2).dim());
    frame.render_widget(table, area);
}

fn aligned<'a>(text: Text<'a>, column: &Column) -> Text<'a> {
    if column.head == SPARK { text } else { text.right_aligned() }
}

/// Of a sparkline that is too long, the end: it is the present.
fn latest<'a>(cell: &'a str, column: &Column) -> &'a str {
    let excess = cell.chars().count().saturating_sub(column.width.into());
    match (column.head, cell.char_indices().nth(excess)) {
        (SPARK, Some((start, _))) if cell.starts_with(BLOCKS) => &cell[start..],
        _ => cell,
    }
}

fn draw_foot(frame: &mut Frame, area: Rect, view: &View) {
    let findings = &view.live.findings;
    let newest = match (findings.len(), findings.last()) {
        (_, None) => "No findings".to_string(),
        (1, Some(finding)) => format!("1 finding: {}", finding.text),
        (count, Some(finding)) => format!("{count} findings, the newest: {}", finding.text),
    };
    let newest = Line::from(cut(&newest, area.width.into()));
    let lines = vec![
        Line::default(),
        if findings.is_empty() { newest.dim() } else { newest.bold() },
        Line::from(cut("Ctrl-C ends the run and keeps it", area.width.into())).dim(),
    ];
    frame.render_widget(Paragraph::new(lines), area);
}

fn cut(text: &str, room: usize) -> String {
    match text.chars().count() > room {
        true => text.chars().take(room.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::frame::{Interval, Message};
    use latlab_model::plan::Mechanism;
    use latlab_model::run::{Finding, Prepared, Severity, ThreadEnd, ThreadSetup};
    use latlab_model::{Histogram, nanos::SECOND};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn plan() -> Plan {
        Plan { name: "idle".into(), duration_ns: Some(SECOND * 90), ..Plan::default() }
    }

    fn setup(thread: u32) -> ThreadSetup {
        ThreadSetup {
            thread,
            thread_id: None,
            cpu: Some(thread),
            core_type: None,
            capacity: None,
            policy: "fifo 90".into(),
            period_ns: Nanos(997_000),
            first_release_ns: Nanos::ZERO,
        }
    }

    /// What a thread could count in this second: two latencies are recorded, the rest is added.
    fn second(thread: u32, number: i64) -> Histogram {
        let mut counts = Histogram::default();
        let wave = (number * 37 + i64::from(thread) * 11) % 50;
        counts.record(Nanos(3_200 + wave));
        counts.record(Nanos(9_000 + wave * wave * 17 + i64::from(thread % 7) * 6_017));
        counts.count += 1_001;
        counts.sum_ns += 1_001 * 5_500;
        counts.bins[0].1 += 1_001;
        counts.missed = u64::from(number % 20 == 7 && thread == 1);
        counts.misses = counts.missed;
        counts
    }

    fn live(threads: u32, seconds: i64) -> Live {
        let mut live = Live::default();
        let threads: Vec<ThreadSetup> = (0..threads).map(setup).collect();
        let prepared = Prepared { threads, ..Prepared::default() };
        live.take(&Message::Prepared(prepared.clone()));
        for number in 0..seconds {
            for setup in &prepared.threads {
                live.take(&Message::Interval(Interval {
                    thread: setup.thread,
                    start_ns: SECOND * number,
                    end_ns: SECOND * (number + 1),
                    counts: second(setup.thread, number),
                }));
            }
        }
        live
    }

    fn screen(width: u16, height: u16, view: &View) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, view)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn screens_of_both_sizes() {
        let with_deadline = Plan { deadline_ns: Some(Nanos(50_000)), ..plan() };
        let relative = Plan { mechanism: Mechanism::Relative, ..plan() };
        let mut broken = live(4, 75);
        broken.findings.push(Finding::new("a", Severity::Info, "The clock was stepped by 2 ms."));
        broken.findings.push(Finding::new(
            "b",
            Severity::Error,
            "CPU 2 was taken offline, so thread 2 has ended and all that it would have measured is missing.",
        ));
        broken.take(&Message::ThreadEnd(ThreadEnd {
            thread: 2,
            reason: EndReason::CpuOffline,
            cycles: 0,
            missed: 0,
            page_faults: 0,
            involuntary_switches: 0,
            voluntary_switches: 0,
            spikes_lost: 0,
            intervals_grown: 0,
            samples_lost: 0,
            cpu_ns: Nanos(0),
            spun: None,
        }));
        let cases = [
            ("two", live(2, 14), plan()),
            ("deadline", broken, with_deadline),
            ("relative", live(1, 3), relative),
            ("many", live(128, 5), plan()),
            ("begin", live(2, 0), plan()),
            ("nothing", Live::default(), plan()),
        ];
        for (name, live, plan) in &cases {
            let view =
                View { live, plan, title: "latlab run idle", elapsed: live.measured + SECOND };
            for (width, height) in [(80, 24), (160, 50)] {
                insta::assert_snapshot!(format!("{name}-{width}"), screen(width, height, &view));
            }
        }
    }

    #[test]
    fn missed_and_maximum_are_never_given_up() {
        let live = live(2, 14);
        let plan = Plan { deadline_ns: Some(Nanos(50_000)), ..plan() };
        let view = View { live: &live, plan: &plan, title: "latlab run idle", elapsed: SECOND };
        for width in 40..200 {
            let screen = screen(width, 24, &view);
            for head in ["thread", "missed", "misses", "max"] {
                assert!(screen.contains(head), "{head} at {width}:\n{screen}");
            }
        }
    }

    #[test]
    fn a_tiny_terminal_shows_the_maximum_and_says_what_it_cuts() {
        let live = live(2, 14);
        let plan = Plan { deadline_ns: Some(Nanos(50_000)), ..plan() };
        let view = View { live: &live, plan: &plan, title: "latlab run idle", elapsed: SECOND };
        insta::assert_snapshot!("tiny-50", screen(50, 12, &view));
        insta::assert_snapshot!("tiny-24", screen(24, 12, &view));
        for width in 18..80 {
            let screen = screen(width, 12, &view);
            assert!(screen.contains("54.185 us"), "{width}:\n{screen}");
        }
    }

    #[test]
    fn a_column_that_holds_nothing_goes_first() {
        let column = |head, cell: &str| Column::new(head, [cell.to_string()]);
        let columns = vec![column("min", "3.21"), column("p99.99", "-"), column("max", "41.72")];
        let heads: Vec<&str> = fitting(columns, 12).iter().map(|column| column.head).collect();
        assert_eq!(heads, ["min", "max"]);
    }

    #[test]
    fn any_size_is_drawn() {
        let live = live(20, 2);
        let plan = plan();
        let view = View { live: &live, plan: &plan, title: "latlab run idle", elapsed: SECOND };
        for (width, height) in [(1, 1), (3, 9), (20, 4), (80, 7), (500, 8)] {
            screen(width, height, &view);
        }
    }

    #[test]
    fn a_line_says_how_it_goes() {
        let (some, none) = (live(2, 14), Live::default());
        let plan = Plan { deadline_ns: Some(Nanos(50_000)), ..plan() };
        let line = |live, plan| {
            progress_line(&View { live, plan, title: "latlab run idle", elapsed: SECOND * 15 })
        };
        insta::assert_snapshot!("line", line(&some, &plan));
        insta::assert_snapshot!("line-nothing", line(&none, &plan));
        let cycles = Plan { duration_ns: None, cycles: Some(100_000), ..plan.clone() };
        insta::assert_snapshot!("line-cycles", line(&some, &cycles));
        let endless = Plan { duration_ns: None, ..plan.clone() };
        insta::assert_snapshot!("line-endless", line(&some, &endless));
    }

    #[test]
    fn clocks_read_well() {
        assert_eq!(clock(SECOND * 5), "0:05");
        assert_eq!(clock(SECOND * 3_725), "1:02:05");
        assert_eq!(clock(SECOND * -3), "0:00");
    }
}
