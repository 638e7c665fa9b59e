//! The latency picture of this field: how many latencies were how large, a line a thread.
//!
//! Counts are logarithmic, so that one late wake-up among a hundred million is seen. Nothing
//! is cut: what does not fit on the axis is drawn as a mass beside it, with its count in words.

use crate::sentence;
use crate::svg::{
    Anchor, FONT, GRID, INK, MUTED, PAPER, Pen, line, lines, n, printable, text as label,
};
use crate::units::{Scale, grouped, percent, span};
use latlab_model::histogram::FINE_WIDTH;
use latlab_model::run::ThreadRun;
use latlab_model::{Bin, Nanos, Run, ThreadBins};
use maud::{Markup, html};

/// The axis of latencies.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Axis {
    /// Whatever shows this run best.
    #[default]
    Auto,
    /// Linear from zero to here, which makes pictures comparable.
    LinearTo(Nanos),
    /// Logarithmic.
    Log,
}

/// How the picture is made.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// Width of the picture; its height follows from what it holds.
    pub width: u32,
    /// Height of the plotted area.
    pub plot_height: u32,
    /// The axis of latencies.
    pub axis: Axis,
    /// Prefix of the ids in the picture; two pictures in one page need two.
    pub id: String,
}

impl Default for Options {
    fn default() -> Options {
        Options { width: 960, plot_height: 400, axis: Axis::Auto, id: "latency".to_string() }
    }
}

/// More lines than this cannot be told apart: the others are drawn grey.
const NAMED_LINES: usize = 12;
/// Of more lines, this many with the largest maxima keep a colour and a name.
const NAMED_OF_MANY: usize = 8;
/// About the least width of a drawn bin.
const CELL_PIXELS: f64 = 2.0;
/// A maximum of more times p99.9 would squeeze the body of a linear axis into a corner.
const LINEAR_UP_TO: f64 = 5.0;
/// Counts below this are under the lower edge, so that a count of one is seen.
const LOWEST_COUNT: f64 = 0.8;

/// The picture as one SVG element, for a page or on its own.
pub fn latency_picture(run: &Run, bins: &[ThreadBins], options: &Options) -> String {
    let series = all_series(run, bins);
    let axis =
        HorizontalAxis::choose(&series, options.axis, f64::from(options.width.max(280)) - 100.0);
    let layout = Layout::new(run, &series, &axis, options);
    let drawn: Vec<Drawn> = series.iter().map(|series| Drawn::new(series, &axis)).collect();
    let counts = VerticalAxis::for_largest(drawn.iter().map(Drawn::largest).max().unwrap_or(0));
    let picture = Picture { run, series: &series, drawn, axis, counts, layout, options };
    picture.render().into_string()
}

/// One line of the picture.
struct Series<'a> {
    thread: u32,
    cpu: Option<u32>,
    bins: &'a [Bin],
    count: u64,
    max: Option<Nanos>,
}

/// The lines, the one with the largest maximum first.
fn all_series<'a>(run: &Run, bins: &'a [ThreadBins]) -> Vec<Series<'a>> {
    let known = |thread: u32| run.threads.iter().find(|known| known.setup.thread == thread);
    let without_bins = run
        .threads
        .iter()
        .filter(|thread| bins.iter().all(|bins| bins.thread != thread.setup.thread));
    let mut series: Vec<Series> = bins
        .iter()
        .map(|bins| Series::new(bins.thread, known(bins.thread), &bins.bins))
        .chain(without_bins.map(|thread| Series::new(thread.setup.thread, Some(thread), &[])))
        .collect();
    series.sort_by_key(|series| (std::cmp::Reverse(series.max), series.thread));
    series
}

impl<'a> Series<'a> {
    fn new(thread: u32, known: Option<&ThreadRun>, bins: &'a [Bin]) -> Series<'a> {
        let summed = known.and_then(|known| known.summary.max_ns);
        let max = summed.or_else(|| bins.last().map(|bin| bin.high_ns));
        Series {
            thread,
            cpu: known.and_then(|known| known.setup.cpu),
            bins,
            count: bins.iter().fold(0, |sum, bin| sum.saturating_add(bin.count)),
            max: max.filter(|_| !bins.is_empty()),
        }
    }

    fn name(&self) -> String {
        let cpu = self.cpu.map(|cpu| format!(", CPU {cpu}")).unwrap_or_default();
        let max = match self.max {
            Some(max) => format!("observed maximum {max}"),
            None => "no latencies".to_string(),
        };
        format!("thread {}{cpu}: {max}", self.thread)
    }
}

/// The latency axis: which part is drawn to scale, and how.
struct HorizontalAxis {
    log: bool,
    from: f64,
    to: f64,
    /// Edges of the drawn bins.
    edges: Vec<f64>,
    /// Their width: nanoseconds on a linear axis, a share of the latency on a logarithmic one.
    step: f64,
    below: u64,
    lowest: Nanos,
    beyond: u64,
    highest: Nanos,
}

impl HorizontalAxis {
    fn choose(series: &[Series], asked: Axis, pixels: f64) -> HorizontalAxis {
        let data = Pooled::of(series);
        let mut axis = match asked {
            Axis::LinearTo(end) => HorizontalAxis::linear(end.0.max(1) as f64, pixels),
            Axis::Log => HorizontalAxis::logarithmic(&data, pixels),
            Axis::Auto => HorizontalAxis::automatic(&data, pixels),
        };
        axis.count_outside(series);
        axis
    }

    /// Linear where the body of the data stays readable beside the maximum, else logarithmic: so
    /// every latency of the run is drawn to scale.
    fn automatic(data: &Pooled, pixels: f64) -> HorizontalAxis {
        match data.max <= LINEAR_UP_TO * data.p99_9 {
            true => HorizontalAxis::linear(data.max * 1.02, pixels),
            false => HorizontalAxis::logarithmic(data, pixels),
        }
    }

    fn linear(end: f64, pixels: f64) -> HorizontalAxis {
        let end = end.max(1000.0);
        let step = one_two_five(end / 8.0);
        let to = (end / step).ceil() * step;
        let cell = one_two_five(to * CELL_PIXELS / pixels).max(FINE_WIDTH as f64);
        let cells = (to / cell).round() as usize;
        let edges = (0..=cells).map(|index| index as f64 * cell).collect();
        HorizontalAxis::new(false, edges, cell)
    }

    fn logarithmic(data: &Pooled, pixels: f64) -> HorizontalAxis {
        let from = one_two_five_below(data.lowest_positive);
        let to = one_two_five((data.max * 1.02).max(from * 10.0));
        let ratio = (to / from).powf(CELL_PIXELS / pixels) - 1.0;
        let mut edges = vec![from];
        while let Some(edge) = edges.last().copied().filter(|edge| *edge < to) {
            edges.push(next_log_edge(edge, ratio).min(to));
        }
        HorizontalAxis::new(true, edges, ratio)
    }

    fn new(log: bool, edges: Vec<f64>, step: f64) -> HorizontalAxis {
        HorizontalAxis {
            log,
            from: edges.first().copied().unwrap_or(0.0),
            to: edges.last().copied().unwrap_or(1.0),
            edges,
            step,
            below: 0,
            lowest: Nanos::ZERO,
            beyond: 0,
            highest: Nanos::ZERO,
        }
    }

    fn count_outside(&mut self, series: &[Series]) {
        for bin in series.iter().flat_map(|series| series.bins) {
            if self.is_below(bin) {
                self.below = self.below.saturating_add(bin.count);
                self.lowest = self.lowest.min(bin.low_ns);
            } else if self.is_beyond(bin) {
                self.beyond = self.beyond.saturating_add(bin.count);
            }
        }
        let maxima = series.iter().filter_map(|series| series.max);
        self.highest = maxima.max().unwrap_or_default();
    }

    fn is_below(&self, bin: &Bin) -> bool {
        bin.low_ns < Nanos::ZERO
    }

    fn is_beyond(&self, bin: &Bin) -> bool {
        bin.low_ns.0 as f64 >= self.to
    }

    /// Where a latency lies, 0 at the left end of the axis and 1 at its right end.
    fn place(&self, latency: f64) -> f64 {
        let place = match self.log {
            true => (latency.max(self.from) / self.from).ln() / (self.to / self.from).ln(),
            false => (latency - self.from) / (self.to - self.from),
        };
        place.clamp(0.0, 1.0)
    }

    /// The drawn bin that holds a latency; the last one holds whatever is larger.
    fn cell(&self, latency: Nanos) -> usize {
        // A hair more than the edge, because an edge on the grid must not fall below it.
        let latency = latency.0 as f64 + 1e-3;
        self.edges.partition_point(|edge| *edge <= latency).saturating_sub(1)
    }

    fn ticks(&self, pixels: f64) -> Vec<(f64, String)> {
        match self.log {
            true => self.log_ticks(pixels),
            false => self.linear_ticks(pixels),
        }
    }

    fn linear_ticks(&self, pixels: f64) -> Vec<(f64, String)> {
        let wanted = (pixels / 90.0).clamp(3.0, 10.0);
        let step = one_two_five(self.to / wanted);
        let scale = self.scale();
        let count = (self.to / step + 1e-6).floor() as usize;
        (0..=count)
            .map(|index| index as f64 * step)
            .map(|at| (at, trimmed(scale.number_f64(at))))
            .collect()
    }

    fn log_ticks(&self, pixels: f64) -> Vec<(f64, String)> {
        let decades = (self.to / self.from).log10();
        let all: &[f64] = match pixels / decades {
            room if room > 170.0 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        // Few pixels for many decades: every second or third label has room.
        let every = (52.0 * decades / pixels).ceil().max(1.0) as i32;
        let first = self.from.log10().floor() as i32;
        let last = self.to.log10().ceil() as i32;
        (first..=last)
            .filter(|exponent| (exponent - first) % every == 0)
            .flat_map(|exponent| all.iter().map(move |digit| digit * 10f64.powi(exponent)))
            .filter(|at| *at >= self.from * 0.999 && *at <= self.to * 1.001)
            .map(|at| (at, decimal_time(at)))
            .collect()
    }

    fn scale(&self) -> Scale {
        Scale::of([Nanos(self.to as i64)])
    }

    fn title(&self) -> String {
        match self.log {
            true => "Latency, logarithmic".to_string(),
            false => format!("Latency in {}", self.scale().unit()),
        }
    }

    /// What one step of a line stands for.
    fn step_words(&self) -> String {
        match self.log {
            true => format!("steps of {}, 100 ns or more", percent(self.step)),
            false => format!("steps of {}", Nanos(self.step.round() as i64)),
        }
    }
}

/// The next edge of a logarithmic axis: a whole number of fine bins further, and never fewer
/// than before, because drawn bins of alternating width would look like a comb.
fn next_log_edge(edge: f64, ratio: f64) -> f64 {
    let fine = FINE_WIDTH as f64;
    match edge < fine {
        true => fine,
        false => edge + (edge * ratio / fine).round().max(1.0) * fine,
    }
}

/// What decides the axis, of all lines together.
struct Pooled {
    max: f64,
    lowest_positive: f64,
    p99_9: f64,
}

impl Pooled {
    fn of(series: &[Series]) -> Pooled {
        let mut bins: Vec<&Bin> = series.iter().flat_map(|series| series.bins).collect();
        bins.sort_by_key(|bin| bin.high_ns);
        let positive = bins.iter().map(|bin| match bin.low_ns {
            Nanos(..=0) => bin.high_ns.0 as f64 / 2.0,
            low => low.0 as f64,
        });
        let lowest_positive = positive.filter(|edge| *edge > 0.0).fold(f64::INFINITY, f64::min);
        let max = series.iter().filter_map(|series| series.max).max().unwrap_or_default();
        let max = (max.0 as f64).max(1.0);
        let p99_9 = quantile(&bins, 0.999).min(max);
        Pooled { max, lowest_positive: lowest_positive.min(max).max(1.0), p99_9 }
    }
}

/// Upper edge of the bin that holds this share of all latencies.
fn quantile(rising: &[&Bin], share: f64) -> f64 {
    let all: f64 = rising.iter().map(|bin| bin.count as f64).sum();
    let mut seen = 0.0;
    for bin in rising {
        seen += bin.count as f64;
        if seen >= share * all {
            return bin.high_ns.0 as f64;
        }
    }
    0.0
}

fn one_two_five(at_least: f64) -> f64 {
    let decade = 10f64.powf(at_least.max(1e-9).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * decade);
    steps.into_iter().find(|step| *step >= at_least * 0.999_999).unwrap_or(decade * 10.0)
}

fn one_two_five_below(at_most: f64) -> f64 {
    let decade = 10f64.powf(at_most.max(1.0).log10().floor());
    let steps = [5.0, 2.0, 1.0].map(|digit| digit * decade);
    steps.into_iter().find(|step| *step <= at_most * 1.000_001).unwrap_or(decade)
}

/// A time in decimal units, as the labels of a logarithmic axis need: `10 000 s`, not `2.778 h`.
fn decimal_time(nanos: f64) -> String {
    let (unit, scale) = match nanos {
        v if v < 999.0 => ("ns", 1.0),
        v if v < 999_000.0 => ("us", 1e3),
        v if v < 999_000_000.0 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    format!("{} {unit}", grouped((nanos / scale).round() as u64))
}

fn trimmed(number: String) -> String {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => number,
    }
}

/// The axis of counts: decades from below one up.
struct VerticalAxis {
    decades: i32,
}

impl VerticalAxis {
    fn for_largest(count: u64) -> VerticalAxis {
        let decades = (count.max(1) as f64 * 1.1).log10().ceil() as i32;
        VerticalAxis { decades: decades.max(1) }
    }

    /// Height above the lower edge, 0 to 1.
    fn place(&self, count: u64) -> f64 {
        let lowest = LOWEST_COUNT.log10();
        let place = ((count as f64).log10() - lowest) / (f64::from(self.decades) - lowest);
        place.clamp(0.0, 1.0)
    }

    fn ticks(&self) -> impl Iterator<Item = (u64, String)> + '_ {
        (0..=self.decades.min(19)).map(|exponent| {
            let text = match exponent {
                0..=4 => grouped(10u64.pow(exponent as u32)),
                _ => format!("10{}", superscript(exponent)),
            };
            (10u64.pow(exponent as u32), text)
        })
    }
}

fn superscript(number: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digits = number.to_string();
    digits.chars().filter_map(|c| DIGITS.get(c.to_digit(10)? as usize)).collect()
}

/// Where everything stands.
struct Layout {
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    columns: usize,
    column_width: f64,
    legend_top: f64,
    title: Vec<String>,
    conditions: Vec<String>,
}

const TITLE_SIZE: f64 = 16.0;
/// How much wider bold type is.
const BOLD: f64 = 1.25;
const TEXT_SIZE: f64 = 13.0;
const LEGEND_LINE: f64 = 20.0;
/// Room beside the axis for what lies outside of it.
const STRIP: f64 = 34.0;

impl Layout {
    fn new(run: &Run, series: &[Series], axis: &HorizontalAxis, options: &Options) -> Layout {
        let width = f64::from(options.width.max(280));
        let title = lines(&title(run), width - 24.0, TITLE_SIZE * BOLD);
        let conditions = lines(&conditions(run), width - 24.0, TEXT_SIZE);
        let top = 22.0 + title.len() as f64 * 21.0 + conditions.len() as f64 * 18.0 + 8.0;
        let bottom = top + f64::from(options.plot_height.max(80));
        let column_width = legend_width(series);
        let columns = ((width - 24.0) / column_width).max(1.0) as usize;
        let entries = legend_entries(series);
        let legend_top = bottom + 66.0;
        let rows = entries.div_ceil(columns);
        Layout {
            width,
            height: legend_top + rows as f64 * LEGEND_LINE + 4.0,
            left: 78.0 + if axis.below > 0 { STRIP } else { 0.0 },
            right: width - 34.0 - if axis.beyond > 0 { STRIP } else { 0.0 },
            top,
            bottom,
            columns,
            column_width,
            legend_top,
            title,
            conditions,
        }
    }

    fn pixels(&self) -> f64 {
        self.right - self.left
    }

    fn plot_height(&self) -> f64 {
        self.bottom - self.top
    }
}

fn named(series: &[Series]) -> usize {
    if series.len() <= NAMED_LINES { series.len() } else { NAMED_OF_MANY }
}

fn legend_entries(series: &[Series]) -> usize {
    let named = named(series);
    named + usize::from(series.len() > named)
}

/// Room for the longest entry, as far as that can be told without the font.
fn legend_width(series: &[Series]) -> f64 {
    let named = series.iter().take(named(series)).map(|series| series.name().chars().count());
    let longest = named.chain(others(series).map(|words| words.chars().count())).max();
    longest.unwrap_or(0) as f64 * TEXT_SIZE * 0.56 + 62.0
}

fn others(series: &[Series]) -> Option<String> {
    let others = &series[named(series)..];
    let largest = others.first()?.max;
    let smallest = others.iter().filter_map(|series| series.max).min();
    let maxima = match smallest.zip(largest) {
        Some((smallest, largest)) => format!(": maxima {smallest} to {largest}"),
        None => String::new(),
    };
    Some(format!("and {} more{maxima}", others.len()))
}

fn title(run: &Run) -> String {
    format!("Latency of {} on {}", sentence::machine_name(run), sentence::kernel(run))
}

fn conditions(run: &Run) -> String {
    let threads = run.threads.len();
    format!(
        "{} cycles in {}, {threads} thread{}, period {}, {}; missed releases: {}",
        grouped(run.total.cycles),
        span(run.measured_ns),
        if threads == 1 { "" } else { "s" },
        run.asked.period_ns,
        run.asked.policy,
        run.total.missed.map_or_else(|| sentence::NOT_DEFINED.to_string(), grouped),
    )
}

/// One step of a line: drawn bins from `first` to before `end`, and their count.
struct Step {
    first: usize,
    end: usize,
    count: u64,
}

/// A line summed up for the pixels it has.
struct Drawn {
    steps: Vec<Step>,
    below: u64,
    beyond: u64,
}

impl Drawn {
    fn new(series: &Series, axis: &HorizontalAxis) -> Drawn {
        let cells = axis.edges.len().saturating_sub(1).max(1);
        let mut drawn = Drawn { steps: Vec::new(), below: 0, beyond: 0 };
        for bin in series.bins.iter().filter(|bin| bin.count > 0) {
            if axis.is_below(bin) {
                drawn.below = drawn.below.saturating_add(bin.count);
            } else if axis.is_beyond(bin) {
                drawn.beyond = drawn.beyond.saturating_add(bin.count);
            } else {
                let first = axis.cell(bin.low_ns).min(cells - 1);
                let end = axis.cell(bin.high_ns).clamp(first + 1, cells);
                drawn.add(Step { first, end, count: bin.count });
            }
        }
        drawn
    }

    /// Bins come in rising order, so only the last step can share drawn bins with a new one.
    fn add(&mut self, step: Step) {
        match self.steps.last_mut() {
            Some(last) if step.first < last.end => {
                last.end = last.end.max(step.end);
                last.count = last.count.saturating_add(step.count);
            }
            _ => self.steps.push(step),
        }
    }

    fn largest(&self) -> u64 {
        let steps = self.steps.iter().map(|step| step.count);
        steps.chain([self.below, self.beyond]).max().unwrap_or(0)
    }

    fn count(&self) -> u64 {
        self.steps.iter().fold(0, |sum, step| sum.saturating_add(step.count))
    }
}

struct Picture<'a> {
    run: &'a Run,
    series: &'a [Series<'a>],
    drawn: Vec<Drawn>,
    axis: HorizontalAxis,
    counts: VerticalAxis,
    layout: Layout,
    options: &'a Options,
}

impl Picture<'_> {
    fn render(&self) -> Markup {
        let layout = &self.layout;
        let (title, description) =
            (format!("{}-title", self.options.id), format!("{}-desc", self.options.id));
        let size = format!("0 0 {} {}", n(layout.width), n(layout.height));
        html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox=(size)
                width=(n(layout.width)) height=(n(layout.height)) role="img"
                aria-labelledby={ (title) " " (description) } font-family=(FONT)
                data-latencies=(self.all_latencies())
            {
                title id=(title) { (self.alternative_title()) }
                desc id=(description) { (self.alternative_text()) }
                rect width="100%" height="100%" style={ "fill:" (PAPER) } {}
                (self.heading())
                (self.grid())
                (self.axes())
                (self.lines())
                (self.mass_beyond())
                (self.mass_below())
                (self.legend())
                @if self.all_latencies() == 0 { (self.nothing()) }
            }
        }
    }

    fn all_latencies(&self) -> u64 {
        self.series.iter().fold(0, |sum, series| sum.saturating_add(series.count))
    }

    fn alternative_title(&self) -> String {
        printable(&format!(
            "{}: histogram of {} latencies",
            title(self.run),
            grouped(self.all_latencies())
        ))
    }

    fn alternative_text(&self) -> String {
        let named = self.series[..named(self.series)].iter();
        let lines: Vec<String> = named.map(Series::name).chain(others(self.series)).collect();
        let outside = [self.beyond_words(), self.below_words()].into_iter().flatten();
        let outside: String = outside.map(|words| format!(" {}.", words.join(" "))).collect();
        printable(&format!(
            "Logarithmic count over {}, one line for each measuring thread. {}. {}.{outside}",
            if self.axis.log { "logarithmic latency" } else { "latency" },
            conditions(self.run),
            lines.join("; "),
        ))
    }

    fn heading(&self) -> Markup {
        let title = self.layout.title.len() as f64 * 21.0;
        html! {
            g font-weight="600" {
                @for (index, words) in self.layout.title.iter().enumerate() {
                    (label(12.0, 22.0 + index as f64 * 21.0, Anchor::Start, TITLE_SIZE, INK, words))
                }
            }
            @for (index, words) in self.layout.conditions.iter().enumerate() {
                (label(12.0, 22.0 + title + index as f64 * 18.0, Anchor::Start, TEXT_SIZE, MUTED, words))
            }
        }
    }

    fn x(&self, latency: f64) -> f64 {
        self.layout.left + self.axis.place(latency) * self.layout.pixels()
    }

    fn y(&self, count: u64) -> f64 {
        self.layout.bottom - self.counts.place(count) * self.layout.plot_height()
    }

    fn grid(&self) -> Markup {
        let layout = &self.layout;
        html! {
            @for (count, words) in self.counts.ticks() {
                (line((layout.left, self.y(count)), (layout.right, self.y(count)), GRID, 1.0))
                (label(self.axis_left() - 8.0, self.y(count) + 4.5, Anchor::End, TEXT_SIZE, INK, &words))
            }
            @for (at, words) in self.axis.ticks(layout.pixels()) {
                (line((self.x(at), layout.top), (self.x(at), layout.bottom), GRID, 1.0))
                (line((self.x(at), layout.bottom), (self.x(at), layout.bottom + 5.0), INK, 1.0))
                (label(self.x(at), layout.bottom + 20.0, Anchor::Middle, TEXT_SIZE, INK, &words))
            }
        }
    }

    fn axis_left(&self) -> f64 {
        self.layout.left - if self.axis.below > 0 { STRIP } else { 0.0 }
    }

    fn axes(&self) -> Markup {
        let layout = &self.layout;
        let (left, bottom) = (self.axis_left(), layout.bottom);
        let middle = (layout.left + layout.right) / 2.0;
        let high = (layout.top + bottom) / 2.0;
        let turn = format!("rotate(-90 16 {})", n(high));
        html! {
            (line((left, layout.top), (left, bottom), INK, 1.2))
            (line((left, bottom), (layout.right, bottom), INK, 1.2))
            (label(middle, bottom + 42.0, Anchor::Middle, TEXT_SIZE, INK, &self.axis.title()))
            g transform=(turn) {
                (label(16.0, high, Anchor::Middle, TEXT_SIZE, INK, &self.count_title()))
            }
        }
    }

    /// The steps are named where the height of the picture has room for it.
    fn count_title(&self) -> String {
        let title = format!("Number of latencies ({})", self.axis.step_words());
        match lines(&title, self.layout.plot_height(), TEXT_SIZE).len() {
            1 => title,
            _ => "Number of latencies".to_string(),
        }
    }

    /// The line with the largest maximum comes last and so lies on top.
    fn lines(&self) -> Markup {
        html! {
            g stroke-linejoin="round" {
                @for (index, series) in self.series.iter().enumerate().rev() {
                    (self.one_line(index, series))
                }
            }
            @for (index, series) in self.series.iter().enumerate().take(named(self.series)).rev() {
                (self.mark_of_maximum(index, series))
            }
        }
    }

    fn pen(&self, index: usize) -> Pen {
        match index < named(self.series) {
            true => Pen::number(index),
            false => Pen::background(),
        }
    }

    fn one_line(&self, index: usize, series: &Series) -> Markup {
        let drawn = &self.drawn[index];
        let max = series.max.map(|max| max.0.to_string()).unwrap_or_default();
        html! {
            path d=(self.path(drawn)) style=(self.pen(index).style())
                data-thread=(series.thread) data-count=(series.count) data-drawn=(drawn.count())
                data-below=(drawn.below) data-beyond=(drawn.beyond) data-max-ns=(max) {}
        }
    }

    /// Up from the lower edge, along the steps, and down again wherever nothing was counted.
    fn path(&self, drawn: &Drawn) -> String {
        let x = |edge: usize| self.x(self.axis.edges.get(edge).copied().unwrap_or(self.axis.to));
        let mut path = String::new();
        let mut reached = None;
        for step in &drawn.steps {
            if reached != Some(step.first) {
                if reached.is_some() {
                    path += &format!("V{}", n(self.layout.bottom));
                }
                path += &format!("M{} {}", n(x(step.first)), n(self.layout.bottom));
            }
            path += &format!("V{}H{}", n(self.y(step.count)), n(x(step.end)));
            reached = Some(step.end);
        }
        match reached {
            Some(_) => format!("{path}V{}", n(self.layout.bottom)),
            None => path,
        }
    }

    fn mark_of_maximum(&self, index: usize, series: &Series) -> Markup {
        let drawn = &self.drawn[index];
        let pen = self.pen(index);
        match (drawn.beyond, drawn.steps.last(), series.max) {
            (1.., _, _) => pen.mark(self.layout.right + STRIP * 0.6, self.y(drawn.beyond)),
            (0, Some(last), Some(max)) => pen.mark(self.x(max.0 as f64), self.y(last.count)),
            _ => html! {},
        }
    }

    fn beyond_words(&self) -> Option<Vec<String>> {
        let limit = Nanos(self.axis.to as i64);
        (self.axis.beyond > 0).then(|| {
            vec![
                format!("{} beyond {limit}", grouped(self.axis.beyond)),
                format!("up to {}", self.axis.highest),
            ]
        })
    }

    fn below_words(&self) -> Option<Vec<String>> {
        (self.axis.below > 0).then(|| {
            vec![
                format!("{} below zero", grouped(self.axis.below)),
                format!("down to {}", self.axis.lowest),
            ]
        })
    }

    /// What lies beyond the axis: a bar of its own as high as its count, and words.
    fn mass_beyond(&self) -> Markup {
        let Some(words) = self.beyond_words() else { return html! {} };
        let (left, right) = (self.layout.right + STRIP * 0.28, self.layout.right + STRIP * 0.92);
        html! {
            (self.mass(left, right, self.axis.beyond))
            (self.note(self.layout.right - 6.0, Anchor::End, &words))
            (line((self.layout.right, self.layout.top), (self.layout.right, self.layout.bottom), MUTED, 1.0))
        }
    }

    fn mass_below(&self) -> Markup {
        let Some(words) = self.below_words() else { return html! {} };
        let (left, right) = (self.layout.left - STRIP * 0.82, self.layout.left - STRIP * 0.18);
        html! {
            (self.mass(left, right, self.axis.below))
            (self.note(self.layout.left + 6.0, Anchor::Start, &words))
        }
    }

    fn mass(&self, left: f64, right: f64, count: u64) -> Markup {
        let top = self.y(count);
        let style = format!("fill:{MUTED};fill-opacity:.25;stroke:{MUTED}");
        let bottom = self.layout.bottom;
        html! {
            rect x=(n(left)) y=(n(top)) width=(n(right - left)) height=(n(bottom - top))
                style=(style) {}
            (line((left, bottom), (right, bottom), INK, 1.2))
        }
    }

    fn note(&self, x: f64, anchor: Anchor, words: &[String]) -> Markup {
        html! {
            @for (index, words) in words.iter().enumerate() {
                (label(x, self.layout.top + 16.0 + index as f64 * 17.0, anchor, TEXT_SIZE, INK, words))
            }
        }
    }

    fn nothing(&self) -> Markup {
        let (x, y) = (
            (self.layout.left + self.layout.right) / 2.0,
            (self.layout.top + self.layout.bottom) / 2.0,
        );
        label(x, y, Anchor::Middle, TITLE_SIZE, MUTED, "No latency was recorded.")
    }

    fn legend(&self) -> Markup {
        html! {
            @for (index, series) in self.series.iter().enumerate().take(named(self.series)) {
                (self.entry(index, &self.pen(index), &series.name(), true))
            }
            @if let Some(words) = others(self.series) {
                (self.entry(named(self.series), &Pen::background(), &words, false))
            }
        }
    }

    /// Entries go down the columns, so that the largest maximum is at the upper left.
    fn entry(&self, index: usize, pen: &Pen, words: &str, marked: bool) -> Markup {
        let rows = legend_entries(self.series).div_ceil(self.layout.columns).max(1);
        let x = 12.0 + (index / rows) as f64 * self.layout.column_width;
        let y = self.layout.legend_top + (index % rows) as f64 * LEGEND_LINE;
        let swatch = format!("M{} {}h34", n(x), n(y));
        html! {
            path d=(swatch) style=(pen.style()) {}
            @if marked { (pen.mark(x + 17.0, y)) }
            (label(x + 42.0, y + 4.5, Anchor::Start, TEXT_SIZE, INK, words))
        }
    }
}
