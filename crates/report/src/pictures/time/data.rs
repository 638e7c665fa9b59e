//! The data of charts over time, accumulated row by row in columns.

use super::cpu::Cpus;
use super::dots::Dots;
use super::heat::Heat;
use super::track::{Counter, Gauge, Track};
use latlab_model::frame::Spike;
use latlab_model::samples::Sample;
use latlab_model::sanitize::{escape_controls, is_hidden};
use latlab_model::telemetry::{Series, metric};
use latlab_model::{Nanos, Run};
use latlab_stats::Span;
use latlab_stats::span::{Columns, Grid};
use std::collections::BTreeMap;
use std::ops::Range;

/// Columns of time; a chart of 960 pixels has two pixels for each.
const COLUMNS: usize = 430;
/// Columns that a page carries, of all threads together. Five hours of four threads with an
/// interval each second are 72 000, and are not joined.
const ROWS: usize = 80_000;
/// Condition values that a page carries.
const VALUES: usize = 640_000;
/// Condition lines for each CPU: frequency, load, interrupts, stolen time.
const LINES_OF_A_CPU: usize = 4;
/// Condition lines for a machine: sensors and busy threads.
const OTHER_LINES: usize = 16;
/// The number of other threads whose CPU share is drawn, the busiest first.
const BUSIEST: usize = 8;

/// The rows of a run, or of a window of it, joined into columns as they are read. Rows of one
/// thread or series must come in time order, as in the tables.
#[derive(Clone, Debug)]
pub struct TimeData {
    pub(super) start: Nanos,
    pub(super) whole: Range<Nanos>,
    /// Columns of latencies; none is shorter than an interval.
    pub(super) grid: Grid,
    /// Columns of the conditions, which do not follow the intervals.
    pub(super) fine: Grid,
    pub(super) threads: BTreeMap<u32, Columns>,
    pub(super) heat: Heat,
    pub(super) gauges: BTreeMap<(String, String), Gauge>,
    pub(super) cpus: Cpus,
    pub(super) busiest: Vec<(String, Counter)>,
    /// Kernel threads that handle interrupts.
    pub(super) handlers: BTreeMap<String, Counter>,
    pub(super) spikes: Vec<Option<Spike>>,
    pub(super) dots: Dots,
    window: bool,
}

impl TimeData {
    /// Empty data for a run, or for a window of it on CLOCK_MONOTONIC. `edges` are the lower edges
    /// in nanoseconds of the bins that `coarse` counts.
    pub fn new(run: &Run, edges: &[i64], window: Option<Range<Nanos>>) -> TimeData {
        TimeData::with_rows_of(run.asked.keep.interval_ns, run, edges, window)
    }

    /// Empty data for a window that is drawn cycle by cycle: latencies come as samples, not as
    /// intervals.
    pub fn of_samples(run: &Run, edges: &[i64], window: Range<Nanos>) -> TimeData {
        let periods = run.threads.iter().filter_map(|one| one.setup.period_ns);
        TimeData::with_rows_of(periods.max().unwrap_or(Nanos(1)), run, edges, Some(window))
    }

    fn with_rows_of(
        length: Nanos,
        run: &Run,
        edges: &[i64],
        window: Option<Range<Nanos>>,
    ) -> TimeData {
        let whole = window.unwrap_or_else(|| whole(run));
        let whole = whole.start..whole.end.max(whole.start + Nanos(1));
        let grid = Grid::new(&whole, COLUMNS, length);
        let fine = Grid::new(&whole, COLUMNS, Nanos(1));
        TimeData::with(run, edges, whole, (grid, fine))
    }

    /// Empty data with as many columns as a page carries; for most runs each holds one interval.
    pub fn fine(run: &Run) -> TimeData {
        let whole = whole(run);
        let grid = Grid::new(&whole, ROWS / run.threads.len().max(1), run.asked.keep.interval_ns);
        let lines = LINES_OF_A_CPU * run.machine.cpus_online.len() + OTHER_LINES;
        let step = grid.range_of(0).end - grid.range_of(0).start;
        let fine = Grid::new(&whole, VALUES / lines, step);
        TimeData::with(run, &[], whole, (grid, fine))
    }

    fn with(run: &Run, edges: &[i64], whole: Range<Nanos>, (grid, fine): (Grid, Grid)) -> TimeData {
        let whole_run = self::whole(run);
        let busy = run.conditions.iter().flat_map(|conditions| &conditions.threads);
        let subject = |name: &str, id: u32| format!("{name}/{id}");
        let busy = busy.filter(|one| !is_handler(&one.name));
        let busiest =
            busy.take(BUSIEST).map(|one| (subject(&one.name, one.id), Counter::new(fine)));
        TimeData {
            start: whole_run.start,
            grid,
            fine,
            threads: BTreeMap::new(),
            heat: Heat::new(grid, edges),
            gauges: BTreeMap::new(),
            cpus: Cpus::new(fine),
            busiest: busiest.collect(),
            handlers: BTreeMap::new(),
            spikes: vec![None; grid.parts()],
            dots: Dots::new(&whole, run),
            window: whole != whole_run,
            whole,
        }
    }

    /// Whether only a part of the run is drawn.
    pub(super) fn is_window(&self) -> bool {
        self.window
    }

    fn holds(&self, from: Nanos, to: Nanos) -> bool {
        from < self.whole.end && to > self.whole.start
    }

    /// Adds an interval of a thread, with its counts between the coarse edges.
    pub fn interval(&mut self, thread: u32, row: &Span, coarse: &[i32]) {
        if self.holds(row.from, row.to) {
            let grid = self.grid;
            self.threads.entry(thread).or_insert_with(|| Columns::new(grid)).push(row);
            self.heat.add(row.from..row.to, coarse);
        }
    }

    /// Adds a latency with a known release.
    pub fn spike(&mut self, spike: Spike) {
        if self.holds(spike.release_ns, spike.release_ns + Nanos(1)) {
            let largest = &mut self.spikes[self.grid.part(spike.release_ns)];
            if largest.is_none_or(|known| known.latency_ns < spike.latency_ns) {
                *largest = Some(spike);
            }
        }
    }

    /// Adds a sample of a window that is drawn cycle by cycle.
    pub fn sample(&mut self, thread: u32, sample: Sample) {
        let Sample { release_ns, latency_ns, .. } = sample;
        if !self.holds(release_ns, release_ns + Nanos(1)) {
            return;
        }
        let overruns = self.dots.push(thread, sample);
        let stretch = release_ns..release_ns + self.dots.period(thread);
        let grid = self.grid;
        let columns = self.threads.entry(thread).or_insert_with(|| Columns::new(grid));
        overruns.iter().for_each(|overruns| columns.push(overruns));
        columns.push(&Span {
            from: stretch.start,
            to: stretch.end,
            count: 1,
            min: Some(latency_ns),
            max: Some(latency_ns),
            ..Span::default()
        });
        self.heat.add_one(stretch, latency_ns);
    }

    /// Adds a telemetry row; series that no chart shows are ignored.
    pub fn telemetry(&mut self, series: &Series, at: Nanos, value: Option<i64>) {
        match series.metric.as_str() {
            metric::TEMPERATURE | metric::FREQUENCY => self.gauge(series, at, value),
            metric::CPU_TIME => self.cpus.push(&series.subject, at, value),
            metric::THREAD_CPU if is_handler(&series.subject) => {
                let fine = self.fine;
                let handlers = self.handlers.entry(escape_controls(&series.subject));
                handlers.or_insert_with(|| Counter::new(fine)).push(at, value);
            }
            metric::THREAD_CPU => {
                let mut busiest = self.busiest.iter_mut();
                if let Some((_, one)) = busiest.find(|(name, _)| is_shown_as(name, &series.subject))
                {
                    one.push(at, value);
                }
            }
            _ => {}
        }
    }

    fn gauge(&mut self, series: &Series, at: Nanos, value: Option<i64>) {
        let key = (series.metric.clone(), escape_controls(&series.subject));
        let fine = self.fine;
        self.gauges.entry(key).or_insert_with(|| Gauge::new(fine)).push(at, value);
    }

    /// The tracks of a gauge by subject.
    pub(super) fn gauge_tracks(&self, metric: &str) -> Vec<(String, &Track)> {
        let known = self.gauges.iter().filter(|((name, _), _)| name == metric);
        let mut tracks: Vec<_> =
            known.map(|((_, subject), gauge)| (subject.clone(), gauge.track())).collect();
        tracks.sort_by_key(|(subject, _)| (number_in(subject), subject.clone()));
        tracks.into_iter().filter(|(_, track)| !track.is_empty()).collect()
    }

    pub(crate) fn thread_spans(&self) -> Vec<(u32, Vec<Span>)> {
        self.threads.iter().map(|(thread, columns)| (*thread, columns.spans())).collect()
    }

    /// The index of the latency column that contains a time.
    pub(crate) fn part(&self, time: Nanos) -> usize {
        self.grid.part(time)
    }

    /// Length of a latency column.
    pub(crate) fn step(&self) -> Nanos {
        self.grid.range_of(0).end - self.grid.range_of(0).start
    }

    /// Length of a conditions column.
    pub(crate) fn conditions_step(&self) -> Nanos {
        self.fine.range_of(0).end - self.fine.range_of(0).start
    }

    /// All threads pooled.
    pub(super) fn pooled(&self) -> Vec<Span> {
        let mut pooled = Columns::new(self.grid);
        for (_, spans) in self.thread_spans() {
            spans.iter().for_each(|span| pooled.push(span));
        }
        pooled.spans()
    }
}

/// Whether this is the name of a kernel thread for hard or soft interrupts.
fn is_handler(name: &str) -> bool {
    name.starts_with("irq/") || name.starts_with("ksoftirqd/")
}

/// From the first release to the end of the last interval.
fn whole(run: &Run) -> Range<Nanos> {
    let start = run.first_release().unwrap_or_default();
    start..start + run.measured_ns.max(Nanos(1))
}

/// Whether the sanitized run shows a table's subject by this name.
fn is_shown_as(name: &str, subject: &str) -> bool {
    name == subject || subject.contains(is_hidden) && name == escape_controls(subject)
}

/// Sort key that puts `cpu10` after `cpu9`.
pub(super) fn number_in(subject: &str) -> u32 {
    let digits = subject.chars().skip_while(|c| !c.is_ascii_digit());
    digits.take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0)
}
