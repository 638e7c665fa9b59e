//! The live view of a run, drawn from scratch each time.

use super::line::{Line, cut, left, width_of};
use super::table::{LiveColumn, fitting, spark, table_lines};
use crate::output::escape_controls;
use latlab_conduct::live::{LiveRun, LiveThread};
use latlab_model::plan::Recorded;
use latlab_model::run::{EndReason, Quantiles};
use latlab_model::{Nanos, Plan};
use latlab_report::terms::of_plan;
use latlab_report::units::{bin_edge, grouped, percent, span};
use latlab_report::{Colour, InWords};
use latlab_stats::quantiles;

pub struct LiveView<'a> {
    pub live: &'a LiveRun,
    pub plan: &'a Plan,
    /// What is measured, for the first line.
    pub title: &'a str,
    /// Time since the start of the program.
    pub elapsed: Nanos,
}

/// Lines for the figures of all threads together.
const TOTALS_LINES: usize = 2;

/// Lines above and below the table.
const HEAD_LINES: usize = 4;
const FOOT_LINES: usize = 3;

/// Draws the whole screen in `height` lines; what does not fit is dropped from the bottom.
pub fn draw(view: &LiveView, width: usize, height: usize) -> Vec<Line> {
    let mut lines = head(view, width);
    lines.resize(HEAD_LINES, Line::default());
    let room = height.saturating_sub(HEAD_LINES + FOOT_LINES);
    lines.extend(threads(view, width, room));
    lines.resize(HEAD_LINES + room, Line::default());
    lines.extend(foot(view, width));
    lines.truncate(height);
    lines
}

/// A progress line for output without a terminal.
pub fn progress_line(view: &LiveView) -> String {
    format!("{}: {}", passed(view), totals(view).join(", "))
}

/// Three lines, or four if the end of the third does not fit on a narrow terminal.
fn head(view: &LiveView, width: usize) -> Vec<Line> {
    let method = Line::painted(Colour::Dim, cut(&method(view), width));
    let mut lines = vec![title_line(view, width), method];
    lines.extend(totals_lines(totals(view), width).into_iter().map(Line::plain));
    lines
}

/// Distributes the parts over the available lines. If they do not fit, the last part, the observed
/// maximum, comes first.
fn totals_lines(mut parts: Vec<String>, width: usize) -> Vec<String> {
    let mut lines = filled(&parts, width);
    if lines.len() > TOTALS_LINES || lines.iter().any(|line| width_of(line) > width) {
        parts.rotate_right(1);
        if let Some(maximum) = parts.first_mut().filter(|part| width_of(part) >= width) {
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

/// Joins parts with commas, and breaks lines only between parts.
fn filled(parts: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let comma = if index + 1 < parts.len() { "," } else { "" };
        let part = format!("{part}{comma}");
        match lines.last_mut() {
            Some(line) if width_of(line) + 1 + width_of(&part) <= width => {
                *line += &format!(" {part}");
            }
            _ => lines.push(part),
        }
    }
    lines
}

fn title_line(view: &LiveView, width: usize) -> Line {
    let time = cut(&passed(view), width);
    match width.saturating_sub(width_of(&time) + 1) {
        0 => Line::plain(time),
        room => {
            let title = left(view.title, room) + " ";
            Line::painted(Colour::Bold, title).then(Line::plain(time))
        }
    }
}

fn method(view: &LiveView) -> String {
    let plan = view.plan;
    let deadline = plan.until.deadline_ns.map(|deadline| format!(", deadline {}", deadline));
    let known = [plan.who.policy.map(|policy| policy.to_string()), plan.method.rhythm()];
    let known = known.into_iter().flatten().map(|fact| format!(", {fact}"));
    let how = std::iter::once(plan.method.to_string()).chain(known);
    how.chain(deadline).collect()
}

/// The figures of all threads together; the observed maximum is the last.
fn totals(view: &LiveView) -> Vec<String> {
    let threads = &view.live.threads;
    let Some(slowest) = threads.iter().filter(|t| t.total.count > 0).max_by_key(|t| t.total.max_ns)
    else {
        if view.plan.method.records() == Recorded::Gap && view.live.measured > Nanos::ZERO {
            return vec!["no gap".to_string()];
        }
        let stage = match (threads.is_empty(), view.plan.on.target.boots_for_each_run()) {
            (true, true) => "booting",
            (true, false) if view.plan.method.attach().is_some() => "looking for cycles",
            (true, false) => "preparing",
            (false, _) => "warming up",
        };
        return vec![stage.to_string()];
    };
    let sum = |of: fn(&LiveThread) -> u64| grouped(threads.iter().map(of).sum());
    let overruns = match view.plan.method.has_releases() {
        true => format!("{} overruns", sum(|thread| thread.total.overruns)),
        false if view.plan.method.records() == Recorded::Gap => {
            format!("noise {}", percent(noise(view, threads)))
        }
        false => "overruns not defined".to_string(),
    };
    let misses = || sum(|thread| thread.total.misses);
    let misses = match view.plan.until.deadline_ns {
        Some(deadline) => Some(format!("{} above {deadline}", misses())),
        // Attached: each thread of the program has its own deadline.
        None => view.plan.method.attach().map(|_| format!("{} deadline misses", misses())),
    };
    let maximum = format!("observed maximum {} (thread {})", slowest.total.max_ns, name(slowest));
    let cycles = format!("{} {}", sum(|thread| thread.total.count), of_plan(view.plan).cycles);
    [Some(cycles), Some(overruns), misses, Some(maximum)].into_iter().flatten().collect()
}

/// The share of the elapsed time that was taken from these busy loops.
fn noise(view: &LiveView, threads: &[LiveThread]) -> f64 {
    let taken: i128 = threads.iter().map(|thread| thread.total.sum_ns).sum();
    let of = view.live.measured.0.max(1) as f64 * threads.len().max(1) as f64;
    taken as f64 / of
}

/// The elapsed time, and the remaining time if the target's clock runs at the host's speed.
fn passed(view: &LiveView) -> String {
    let elapsed = format!("{} elapsed", clock(view.elapsed));
    match (!view.plan.on.target.boots_for_each_run(), view.live.measured, remaining_time(view)) {
        (false, Nanos::ZERO, _) => elapsed,
        (false, measured, _) => format!("{} of the guest's time, {elapsed}", span(measured)),
        (true, _, Some(left)) => format!("{elapsed}, {} left", clock(left)),
        (true, _, None) => elapsed,
    }
}

/// Time to the planned end. `None` if only an interrupt ends the run.
fn remaining_time(view: &LiveView) -> Option<Nanos> {
    let by_time = view.plan.until.duration_ns.map(|duration| duration - view.live.measured);
    let by_cycles = view.plan.until.cycles.and_then(|cycles| time_for_cycles(view, cycles));
    let left = [by_time, by_cycles].into_iter().flatten().min()?;
    Some(left.max(Nanos::ZERO))
}

/// The slowest thread determines when all have their cycles.
fn time_for_cycles(view: &LiveView, cycles: u64) -> Option<Nanos> {
    let wanted = |done: u64| i64::try_from(cycles.saturating_sub(done)).unwrap_or(i64::MAX);
    let threads = view.live.threads.iter();
    let times =
        threads.filter_map(|thread| Some(thread.setup.period_ns? * wanted(thread.total.count)));
    times.max().or_else(|| Some(view.plan.method.period()? * wanted(0)))
}

/// Formats a duration as `4:05` or `1:00:00`.
pub fn clock(time: Nanos) -> String {
    let seconds = time.0.max(0) / 1_000_000_000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// The table of threads, in at most `room` lines.
fn threads(view: &LiveView, width: usize, room: usize) -> Vec<Line> {
    let threads = &view.live.threads;
    if threads.is_empty() || room == 0 {
        return Vec::new();
    }
    // Two lines are the table's head; one counts the threads that do not fit.
    let rows = room.saturating_sub(2);
    if threads.len() <= rows {
        return table(view, threads.iter().collect(), width);
    }
    let shown = largest(threads, rows.saturating_sub(1));
    let text = format!("{} more threads with smaller maxima", threads.len() - shown.len());
    let mut lines = table(view, shown, width);
    lines.truncate(room - 1);
    lines.push(Line::painted(Colour::Dim, cut(&text, width)));
    lines
}

fn table(view: &LiveView, threads: Vec<&LiveThread>, width: usize) -> Vec<Line> {
    table_lines(&fitting(columns(view, &threads), width), threads.len())
}

/// A thread's name in the program, or its number.
fn name(thread: &LiveThread) -> String {
    thread.name.clone().unwrap_or_else(|| thread.setup.thread.to_string())
}

/// The threads with the largest maxima, in the order of their numbers so that rows do not move.
fn largest(threads: &[LiveThread], room: usize) -> Vec<&LiveThread> {
    let max = |thread: &LiveThread| (thread.total.count > 0).then_some(thread.total.max_ns);
    let mut shown: Vec<&LiveThread> = threads.iter().collect();
    shown.sort_by_key(|thread| std::cmp::Reverse(max(thread)));
    shown.truncate(room);
    shown.sort_by_key(|thread| thread.setup.thread);
    shown
}

fn columns(view: &LiveView, threads: &[&LiveThread]) -> Vec<LiveColumn> {
    let words = |head, cell: &dyn Fn(&LiveThread) -> String| {
        LiveColumn::new(head, threads.iter().map(|thread| cell(thread)))
    };
    let figure = |id, cell: &dyn Fn(&LiveThread) -> String| {
        LiveColumn::figure(id, threads.iter().map(|thread| cell(thread)))
    };
    let overruns = match view.plan.method.records() {
        Recorded::Gap => words("noise %", &|thread| {
            format!("{:.3}", 100.0 * noise(view, std::slice::from_ref(thread)))
        }),
        _ => figure("overruns", &|thread| match view.plan.method.has_releases() {
            true => grouped(thread.total.overruns),
            false => "not defined".to_string(),
        }),
    };
    let mut columns = vec![
        words("thread", &name),
        figure("cpu", &|thread| thread.setup.cpu.map_or("-".into(), |cpu| cpu.to_string())),
        figure("cycles", &|thread| grouped(thread.total.count)).headed(of_plan(view.plan).cycles),
        overruns,
    ];
    if view.plan.method.attach().is_some() {
        let period = |thread: &LiveThread| {
            thread.setup.period_ns.map_or("irregular".to_string(), |period| period.to_string())
        };
        columns.insert(1, figure("policy", &|thread| thread.setup.policy.clone()));
        columns.insert(2, words("every", &period));
    }
    if view.plan.until.deadline_ns.is_some() || view.plan.method.attach().is_some() {
        columns.push(figure("misses", &|thread| grouped(thread.total.misses)));
    }
    columns.extend(latency_columns(threads));
    columns.push(sparks(view, threads));
    columns
}

fn latency_columns(threads: &[&LiveThread]) -> Vec<LiveColumn> {
    let float = |time: Nanos| time.0 as f64;
    let counted = |thread: &&LiveThread| thread.total.count > 0;
    let extreme = |id, of: fn(&LiveThread) -> Nanos| {
        let values = threads.iter().map(|t| counted(t).then(|| float(of(t))));
        LiveColumn::latencies(id, values)
    };
    let tails: Vec<Option<Quantiles>> = threads.iter().map(|t| quantiles(&t.total)).collect();
    let quantile = |id, of: fn(&Quantiles) -> Option<Nanos>| {
        let values = tails.iter().map(|tail| tail.as_ref().and_then(of).map(bin_edge).map(float));
        LiveColumn::latencies(id, values)
    };
    vec![
        extreme("min_ns", |thread| thread.total.min_ns),
        LiveColumn::latencies("mean_ns", threads.iter().map(|thread| thread.total.mean_ns())),
        quantile("p99_ns", |tail| tail.p99_ns),
        quantile("p99_99_ns", |tail| tail.p99_99_ns),
        extreme("max_ns", |thread| thread.total.max_ns),
    ]
}

/// The maxima of the last minute on one scale; for a thread that has ended, the reason.
fn sparks(view: &LiveView, threads: &[&LiveThread]) -> LiveColumn {
    let recent = view.live.threads.iter().flat_map(|thread| &thread.recent_max);
    let largest = recent.copied().max().unwrap_or_default();
    let cells = threads.iter().map(|thread| match thread.ended {
        None | Some(EndReason::Finished) => spark(thread, largest),
        Some(reason) => reason.to_string(),
    });
    LiveColumn::sparks(cells)
}

fn foot(view: &LiveView, width: usize) -> [Line; FOOT_LINES] {
    let findings = &view.live.findings;
    let newest = match (findings.len(), findings.last()) {
        (_, None) => "No findings".to_string(),
        (1, Some(finding)) => format!("1 finding: {}", escape_controls(&finding.text())),
        (count, Some(finding)) => {
            format!("{count} findings, newest: {}", escape_controls(&finding.text()))
        }
    };
    let weight = if findings.is_empty() { Colour::Dim } else { Colour::Bold };
    [
        Line::default(),
        Line::painted(weight, cut(&newest, width)),
        Line::painted(Colour::Dim, cut("Ctrl-C ends and stores the run", width)),
    ]
}
