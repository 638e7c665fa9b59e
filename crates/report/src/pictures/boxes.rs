//! Box plots: a row for each run, or for each thread of a single run. The box holds the middle
//! half, the line in it is the median. The whiskers extend to the minimum and the observed maximum,
//! which matters most for real time.

use crate::pictures::area::{Area, BELOW, NAME_ACROSS, Sides};
use crate::pictures::axis::{LatencyAxis, PooledLatencies};
use crate::pictures::curve::{Curve, OpenStretch, highest, latencies, of_runs, open_stretch};
use crate::pictures::deadline::DeadlineMark;
use crate::pictures::options::Options;
use crate::pictures::picture::{FIRST_LINE, Heading, MARGIN, Picture};
use crate::pictures::svg::{
    Anchor, INK, MUTED, Pen, TEXT_SIZE, hatched, line, lines, n, outlined, text,
};
use crate::run_with_bins::{RunWithBins, conditions, terms, title};
use crate::units::{bin_edge, four_digits};
use latlab_model::{Nanos, Run};
use latlab_stats::quantile_of_rows;
use maud::{Markup, html};

const ROW: f64 = 48.0;
const BOX: f64 = 16.0;
const LINE: f64 = 18.0;

struct FiveNumbers {
    min: Nanos,
    quarter: Option<Nanos>,
    median: Option<Nanos>,
    three_quarters: Option<Nanos>,
    max: Nanos,
    /// Where the unknown quartiles may lie.
    open: Option<OpenStretch>,
}

impl FiveNumbers {
    fn new(series: &Curve) -> Option<FiveNumbers> {
        let (min, max) = series.min.zip(series.max)?;
        let rows = series.rows();
        let quantile = |share| quantile_of_rows(&rows, share, (min, max));
        let [quarter, median, three_quarters] = [250_000, 500_000, 750_000].map(quantile);
        Some(FiveNumbers { min, quarter, median, three_quarters, max, open: series.open })
    }

    /// Replaces the median by the exact one from the run's samples; bins only give quartiles.
    fn with_median_of(self, run: &Run) -> FiveNumbers {
        let known = run.responses().and_then(|responses| responses.figures.median_ns);
        let quarters = self.quarter.zip(self.three_quarters);
        let exact = known.zip(quarters);
        let exact = exact.map(|(it, (low, high))| Nanos(it.round() as i64).clamp(low, high));
        FiveNumbers { median: exact.or(self.median), ..self }
    }

    fn words(&self) -> String {
        let open = self.open.map(|open| format!("above {}", open.from)).unwrap_or_default();
        let said = |value: Option<Nanos>| {
            value.map_or_else(|| open.clone(), |value| four_digits(bin_edge(value).min(self.max)))
        };
        format!(
            "{} to {}, half of them {} to {}, median {}",
            four_digits(self.min),
            four_digits(self.max),
            said(self.quarter),
            said(self.three_quarters),
            said(self.median)
        )
    }
}

pub fn draw(runs: &[RunWithBins], options: &Options) -> String {
    let (series, terms) = (of_runs(runs), terms(runs));
    let mut boxes: Vec<Option<FiveNumbers>> = series.iter().map(FiveNumbers::new).collect();
    if boxes.len() == runs.len() {
        let known = boxes.into_iter().zip(runs);
        boxes = known.map(|(one, of)| Some(one?.with_median_of(of.run))).collect();
    }
    let deadline = DeadlineMark::of_runs(runs.iter().map(|one| one.run));
    let bins = series.iter().flat_map(|series| series.bins.iter());
    let data = PooledLatencies::from_bins(bins, highest(&series)).with(deadline);
    let axis = LatencyAxis::choose(&data, options.axis);
    let width = options.drawn_width();
    let heading = Heading::new(&format!("{}: boxes", title(runs)), &conditions(runs), width);
    let top = FIRST_LINE + heading.height() + 12.0;
    let area =
        Area::between(MARGIN, width - 34.0, top, ROW * series.len() as f64, Sides::default());
    let meaning = "A box holds the middle half, with a line at the median; its whiskers go from the \
                   minimum to the observed maximum. A whisker without an end goes on outside of the \
                   axis.";
    let open = open_stretch(&series)
        .map(|open| format!(" Hatched: {}, of unknown size.", open.words(terms)));
    let meaning = format!("{meaning}{}", open.unwrap_or_default());
    let notes = lines(&meaning, width - 2.0 * MARGIN, TEXT_SIZE);
    let words = series.iter().zip(&boxes).map(|(series, of)| {
        let of = of.as_ref().map_or(format!("no {}", terms.many), FiveNumbers::words);
        format!("{}: {of}", series.name)
    });
    let words: Vec<String> = words.collect();
    let picture = Picture {
        options,
        height: area.bottom + BELOW + notes.len() as f64 * LINE + 8.0,
        title: format!("{}: minimum, quarters and observed maximum as boxes", title(runs)),
        description: format!(
            "A box for each row, with the middle half, the median and both ends. {}.",
            words.join("; ")
        ),
        latencies: latencies(&series),
    };
    let across = axis.ticks(area.width(), NAME_ACROSS);
    picture.render(html! {
        (heading.render(FIRST_LINE))
        (area.grid(&across, &[]))
        @if let Some(deadline) = deadline {
            (deadline.across(&axis, area.frame()))
            (deadline.words_above(&axis, area.frame()))
        }
        (area.names_below(&across, TEXT_SIZE))
        (area.axes())
        (text(area.middle().0, area.bottom + 42.0, Anchor::Middle, TEXT_SIZE, INK, &axis.title(terms)))
        @for (row, (series, of)) in series.iter().zip(&boxes).enumerate() {
            @let top = area.top + ROW * row as f64;
            (outlined(area.left + 6.0, top + 16.0, Anchor::Start, TEXT_SIZE, &words[row]))
            @if let Some(of) = of { (one_box(series, of, &axis, &area, top + ROW - BOX - 6.0)) }
        }
        @for (index, words) in notes.iter().enumerate() {
            (text(MARGIN, area.bottom + BELOW + 8.0 + index as f64 * LINE, Anchor::Start, TEXT_SIZE, MUTED, words))
        }
        @if latencies(&series) == 0 { (area.empty_note(terms)) }
    })
}

fn one_box(series: &Curve, of: &FiveNumbers, axis: &LatencyAxis, area: &Area, top: f64) -> Markup {
    let x = |at: Nanos| area.x(axis.place(at.0 as f64));
    let is_drawn = |at: Nanos| (axis.from..=axis.to).contains(&(at.0 as f64));
    let (middle, bottom) = (top + BOX / 2.0, top + BOX);
    let colour = Pen::number(series.pen.unwrap_or(0)).colour;
    let end = |at: Nanos| line((x(at), top + 3.0), (x(at), bottom - 3.0), colour, 1.5);
    // The unknown part begins where the known latencies end.
    let known_to = of.open.map_or(of.max, |open| open.from);
    let (quarter, three_quarters) =
        (of.quarter.unwrap_or(known_to), of.three_quarters.unwrap_or(known_to));
    let median = of.median.map(|median| median.0.to_string());
    html! {
        g data-line=(series.key()) data-median-ns=[median] data-max-ns=(of.max.0) {
            (line((x(of.min), middle), (x(quarter), middle), colour, 1.5))
            @if of.three_quarters.is_some() {
                (line((x(three_quarters), middle), (x(of.max), middle), colour, 1.5))
            }
            @if let Some(open) = of.open { (hatched((x(open.from), top), (x(of.max), bottom), open.count)) }
            @for at in [of.min, of.max] { @if is_drawn(at) { (end(at)) } }
            rect x=(n(x(quarter))) y=(n(top)) height=(n(BOX))
                width=(n((x(three_quarters) - x(quarter)).max(1.0)))
                style={ "fill:" (colour) ";fill-opacity:.25;stroke:" (colour) } {}
            @if let Some(median) = of.median.filter(|median| is_drawn(*median)) {
                (line((x(median), top), (x(median), bottom), colour, 2.5))
            }
        }
    }
}
