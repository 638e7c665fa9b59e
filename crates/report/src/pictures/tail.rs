//! The tail of latencies as bars: mean, quantiles and observed maximum, one bar for each run or
//! thread. The bar of a quantile with too few latencies is hollow, and a note gives the missing
//! number.

use crate::pictures::area::Tick;
use crate::pictures::area::{Area, Sides};
use crate::pictures::axis::{LatencyAxis, PooledLatencies};
use crate::pictures::bars::{Bar, Bars, GROUPS, SHARES, fill, hollow, patterns};
use crate::pictures::curve::{Curve, highest, latencies, open_stretch, threads, whole_runs};
use crate::pictures::deadline::DeadlineMark;
use crate::pictures::legend::{Entry, Legend};
use crate::pictures::options::Options;
use crate::pictures::picture::{FIRST_LINE, Heading, MARGIN, Picture};
use crate::pictures::svg::{
    Anchor, INK, MUTED, TEXT_SIZE, line, lines, n, outlined, text, text_width,
};
use crate::run_with_bins::{RunWithBins, conditions, terms, title};
use crate::terms::Terms;
use crate::units::{four_digits, grouped, short};
use latlab_model::Nanos;
use latlab_stats::latencies_needed;
use maud::{Markup, PreEscaped, html};

/// More threads than this share one bar; the CPU chart shows each of them.
const THREADS: usize = 6;
/// Limit of drawn runs.
const RUNS: usize = 12;
/// Font size of the values at the bars.
const VALUE: f64 = 11.0;
/// Fraction of a group's width that its bars take.
const FILLED: f64 = 0.84;
const LINE: f64 = 18.0;

pub fn draw(runs: &[RunWithBins], options: &Options) -> String {
    let (series, left_out) = bars_of(runs);
    Tail::new(runs, &series, left_out, options).render()
}

/// The threads of one run if there are few, else each run as a whole; and the number of runs left
/// out.
fn bars_of<'a>(runs: &[RunWithBins<'a>]) -> (Vec<Curve<'a>>, usize) {
    if let [one] = runs {
        let mut each = threads(one);
        if (1..=THREADS).contains(&each.len()) {
            each.sort_by_key(|series| series.thread);
            return (each, 0);
        }
        let mut whole = whole_runs(runs);
        whole.iter_mut().for_each(|one| one.name = format!("all {} threads", each.len()));
        return (whole, 0);
    }
    let mut all = whole_runs(runs);
    all.truncate(RUNS);
    (all, runs.len().saturating_sub(RUNS))
}

struct Tail<'a> {
    runs: &'a [RunWithBins<'a>],
    series: &'a [Curve<'a>],
    bars: Vec<Bars>,
    axis: LatencyAxis,
    area: Area,
    heading: Heading,
    legend: Legend,
    notes: Vec<String>,
    deadline: Option<DeadlineMark>,
    options: &'a Options,
}

impl<'a> Tail<'a> {
    fn new(
        runs: &'a [RunWithBins<'a>],
        series: &'a [Curve<'a>],
        left_out: usize,
        options: &'a Options,
    ) -> Tail<'a> {
        let width = options.drawn_width();
        let bars: Vec<Bars> = series.iter().map(Bars::new).collect();
        let values = || bars.iter().flat_map(Bars::drawn).map(|(_, bar)| bar.value);
        let lowest = values().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
        let bins = series.iter().flat_map(|series| series.bins.iter());
        let deadline = DeadlineMark::of_runs(runs.iter().map(|one| one.run));
        let data = PooledLatencies::from_bins(bins, highest(series)).from(lowest * 0.7);
        let data = data.with(deadline);
        let axis = LatencyAxis::choose(&data, options.axis);
        let heading = Heading::new(&format!("{}: the tail", title(runs)), &conditions(runs), width);
        let slot = slot(width, series.len());
        // The tallest bar needs room for its value above it.
        let room = if slot.across { 18.0 } else { 62.0 };
        let top = FIRST_LINE + heading.height() + room;
        let area = Area::across(width, top, options.drawn_height(), Sides::default());
        let words = |one: &Curve| Entry::area(fill(&options.id, one.pen.unwrap_or(0)), one.words());
        let entries = series.iter().map(words).chain(deadline.map(|one| one.entry(axis.to)));
        let legend = Legend::new(entries.collect(), width);
        let mut notes: Vec<String> = hollow_words(series, &bars, terms(runs)).into_iter().collect();
        notes.extend(outside_words(&axis, &bars));
        let open = open_stretch(series).map(|open| open.words(terms(runs)));
        notes.extend(open.map(|words| {
            format!("{words} are of unknown size; a quantile among them has no bar.")
        }));
        notes.extend((left_out > 0).then(|| format!("{left_out} more runs are not drawn.")));
        let notes = notes.iter().flat_map(|one| lines(one, width - 2.0 * MARGIN, TEXT_SIZE));
        let notes = notes.collect();
        Tail { runs, series, bars, axis, area, heading, legend, notes, deadline, options }
    }

    fn render(&self) -> String {
        let area = &self.area;
        let slot = slot(self.options.drawn_width(), self.series.len());
        let below = area.bottom + if slot.names_across { 30.0 } else { 86.0 };
        let legend = below + self.notes.len() as f64 * LINE + 14.0;
        let up = self.axis.ticks(area.height(), 40.0);
        let picture = Picture {
            options: self.options,
            height: legend + self.legend.height() + 4.0,
            title: format!("{}: the tail", title(self.runs)),
            description: self.description(),
            latencies: latencies(self.series),
        };
        picture.render(html! {
            (PreEscaped(patterns(&self.options.id, self.series.iter().filter_map(|one| one.pen))))
            (self.heading.render(FIRST_LINE))
            (self.furniture(&up, &slot))
            @for (index, bars) in self.bars.iter().enumerate() {
                @for (group, bar) in bars.drawn() { (self.bar(index, group, bar, &slot)) }
            }
            @for (index, words) in self.notes.iter().enumerate() {
                @let y = below + 14.0 + index as f64 * LINE;
                (text(MARGIN, y, Anchor::Start, TEXT_SIZE, MUTED, words))
            }
            (self.legend.render(legend))
            @if latencies(self.series) == 0 { (area.empty_note(terms(self.runs))) }
        })
    }

    fn furniture(&self, up: &[Tick], slot: &Slot) -> Markup {
        let area = &self.area;
        html! {
            (area.grid(&[], up))
            @if let Some(deadline) = self.deadline {
                (deadline.upwards(self.axis.to, |at| self.axis.place(at), area.frame()))
            }
            (area.names_left(up, TEXT_SIZE))
            (area.axes())
            (area.title_left(&self.axis.title(terms(self.runs))))
            @for (group, name) in GROUPS.iter().enumerate() {
                @let x = area.left + (group as f64 + 0.5) * slot.group;
                @if slot.names_across {
                    (text(x, area.bottom + 20.0, Anchor::Middle, TEXT_SIZE, INK, name))
                } @else {
                    g transform={ "rotate(-90 " (n(x + 4.5)) " " (n(area.bottom + 8.0)) ")" } {
                        (text(x + 4.5, area.bottom + 8.0, Anchor::End, TEXT_SIZE, INK, name))
                    }
                }
            }
        }
    }

    fn bar(&self, index: usize, group: usize, bar: &Bar, slot: &Slot) -> Markup {
        let area = &self.area;
        let left = area.left
            + (group as f64 + (1.0 - FILLED) / 2.0) * slot.group
            + index as f64 * slot.width;
        let top = area.y(self.axis.place(bar.value)).min(area.bottom - 1.0);
        let pen = self.series[index].pen.unwrap_or(0);
        let (fill, state) = match bar.supported {
            true => (fill(&self.options.id, pen), "full"),
            false => (hollow(pen), "hollow"),
        };
        let middle = left + slot.width * 0.46;
        html! {
            rect x=(n(left)) y=(n(top)) width=(n(slot.width * 0.92)) height=(n(area.bottom - top))
                style=(fill) data-line=(self.series[index].key()) data-group=(GROUPS[group])
                data-ns=(n(bar.value)) data-state=(state) {}
            @if bar.value > self.axis.to {
                // The gap near the top shows that the bar is cut off.
                (line((left - 2.0, top + 7.0), (left + slot.width * 0.96, top + 3.0), INK, 1.0))
                (line((left - 2.0, top + 10.0), (left + slot.width * 0.96, top + 6.0), INK, 1.0))
            }
            @if slot.across {
                (outlined(middle, top - 5.0, Anchor::Middle, VALUE, &short(bar.value)))
            } @else if slot.width >= VALUE {
                g transform={ "rotate(-90 " (n(middle + 4.0)) " " (n(top - 5.0)) ")" } {
                    (outlined(middle + 4.0, top - 5.0, Anchor::Start, VALUE, &short(bar.value)))
                }
            }
        }
    }

    fn description(&self) -> String {
        let each = self.series.iter().zip(&self.bars).map(|(series, bars)| {
            let bars = bars.drawn().map(|(group, bar)| {
                let hollow = if bar.supported { "" } else { " (hollow)" };
                format!("{} {}{hollow}", GROUPS[group], short(bar.value))
            });
            let bars: Vec<String> = bars.collect();
            let bars = if bars.is_empty() {
                format!("no {}", terms(self.runs).many)
            } else {
                bars.join(", ")
            };
            format!("{}: {bars}", series.name)
        });
        format!(
            "Bars of the mean, of quantiles and of the observed maximum, {}. {}. {}. {}",
            if self.axis.log { "logarithmic" } else { "linear" },
            conditions(self.runs).join(". "),
            each.collect::<Vec<_>>().join("; "),
            self.notes.join(" "),
        )
    }
}

struct Slot {
    /// Width of a group including its spacing.
    group: f64,
    /// Width of a bar including its spacing.
    width: f64,
    /// Whether the values are horizontal; else they are vertical.
    across: bool,
    /// Whether the names of the groups are horizontal.
    names_across: bool,
}

fn slot(width: f64, bars: usize) -> Slot {
    let area = Area::across(width, 0.0, 1.0, Sides::default());
    let group = area.width() / GROUPS.len() as f64;
    let width = group * FILLED / bars.max(1) as f64;
    Slot {
        group,
        width,
        across: width >= text_width("88.8 ms", VALUE),
        names_across: group >= text_width("99.9999 %", TEXT_SIZE) + 6.0,
    }
}

/// The hollow quantiles, the number of latencies they need, and the number there is.
fn hollow_words(series: &[Curve], bars: &[Bars], terms: &Terms) -> Option<String> {
    let hollow = |group: usize| bars.iter().any(|bars| bars.is_hollow(group));
    let needs = SHARES.iter().enumerate().filter(|(place, _)| hollow(place + 1));
    let needs = needs
        .map(|(_, (share, name))| format!("{name} needs {}", grouped(latencies_needed(*share))));
    let needs: Vec<String> = needs.collect();
    let lacking = series.iter().zip(bars);
    let lacking = lacking.filter(|(_, bars)| (0..GROUPS.len()).any(|group| bars.is_hollow(group)));
    let counts = || lacking.clone().map(|(series, _)| series.count);
    let there = match (counts().min()?, counts().max()?) {
        (few, most) if few == most => grouped(few),
        (few, most) => format!("{} to {}", grouped(few), grouped(most)),
    };
    Some(format!(
        "Hollow: too few {} for an upper limit of that quantile at 95 % confidence: {}; this chart \
         has {there}.",
        terms.many,
        needs.join(", "),
    ))
}

/// Describes what lies outside of the axis.
fn outside_words(axis: &LatencyAxis, bars: &[Bars]) -> Vec<String> {
    let values = || bars.iter().flat_map(Bars::drawn).map(|(_, bar)| bar.value);
    let bars = |count: usize| if count == 1 { "1 bar".into() } else { format!("{count} bars") };
    let beyond = values().filter(|value| *value > axis.to).count();
    let largest = four_digits(Nanos(values().fold(0.0, f64::max) as i64));
    let below = values().filter(|value| *value < axis.from).count();
    let beyond =
        (beyond > 0).then(|| format!("Beyond {}: {}, up to {largest}.", axis.end(), bars(beyond)));
    let below = (below > 0).then(|| format!("Below {}: {}.", Nanos(axis.from as i64), bars(below)));
    beyond.into_iter().chain(below).collect()
}
