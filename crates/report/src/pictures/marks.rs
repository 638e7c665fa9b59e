//! Marks on one latency axis, a row for each subject: a small table at a glance.

use crate::pictures::area::{Area, BELOW, NAME_ACROSS, Sides};
use crate::pictures::axis::{Axis, LatencyAxis, PooledLatencies};
use crate::pictures::legend::{Entry, Legend};
use crate::pictures::options::Options;
use crate::pictures::picture::{FIRST_LINE, Heading, MARGIN, Picture};
use crate::pictures::svg::{Anchor, GRID, INK, MUTED, Pen, TEXT_SIZE, line, text, text_width};
use crate::terms::LATENCY;
use latlab_model::{Bin, Nanos};
use maud::html;

/// Limit of drawn rows.
const MOST: usize = 120;
const ROW: f64 = 18.0;
const SMALL: f64 = 12.0;

pub struct MarkedRows {
    pub title: String,
    /// What each mark stands for.
    pub marks: Vec<String>,
    /// The name and the times of each row, one for each mark.
    pub rows: Vec<(String, Vec<Option<f64>>)>,
}

pub fn draw(of: &MarkedRows, options: &Options) -> String {
    let width = options.drawn_width();
    let rows = &of.rows[..of.rows.len().min(MOST)];
    let left_out = of.rows.len() - rows.len();
    let conditions = match left_out {
        0 => Vec::new(),
        some => vec![format!("The first {MOST} rows; {some} more are not drawn.")],
    };
    let heading = Heading::new(&of.title, &conditions, width);
    let top = if options.has_heading { FIRST_LINE + heading.height() } else { FIRST_LINE };
    let longest = rows.iter().map(|(name, _)| text_width(name, SMALL)).fold(0.0, f64::max);
    let left = (longest + 2.0 * MARGIN).min(width * 0.45);
    let height = ROW * rows.len().max(1) as f64;
    let area = Area::between(left, width - 34.0, top, height, Sides::default());
    let values = || rows.iter().flat_map(|(_, values)| values.iter().flatten().copied());
    let bins: Vec<Bin> = values()
        .map(|value| Nanos(value as i64))
        .map(|value| Bin { low_ns: value, high_ns: value, count: 1 })
        .collect();
    let max = bins.iter().map(|bin| bin.high_ns).max();
    let axis = LatencyAxis::choose(&PooledLatencies::from_bins(bins.iter(), max), Axis::default());
    let across = axis.ticks(area.width(), NAME_ACROSS);
    let entry = |(at, name): (usize, &String)| {
        Entry::line(Pen::number(at).solid(), name.clone()).with_mark()
    };
    let legend = Legend::new(of.marks.iter().enumerate().map(entry).collect(), width);
    let y = |at: usize| area.top + ROW * (at as f64 + 0.5);
    let picture = Picture {
        options,
        height: area.bottom + BELOW + legend.height() + 12.0,
        title: of.title.clone(),
        description: format!("{} rows, each with {}.", rows.len(), of.marks.join(", ")),
        latencies: 0,
    };
    picture.render(html! {
        @if options.has_heading { (heading.render(FIRST_LINE)) }
        (area.grid(&across, &[]))
        (area.names_below(&across, TEXT_SIZE))
        (area.axes())
        (text(area.middle().0, area.bottom + 42.0, Anchor::Middle, TEXT_SIZE, INK, &axis.title(&LATENCY)))
        @for (at, (name, values)) in rows.iter().enumerate() {
            (line((area.left, y(at)), (area.right, y(at)), GRID, 1.0))
            (text(left - 8.0, y(at) + 4.0, Anchor::End, SMALL, INK, &shortened(name, left - 16.0)))
            @for (mark, value) in values.iter().enumerate() {
                @if let Some(value) = value {
                    (Pen::number(mark).solid().mark(area.x(axis.place(*value)), y(at)))
                }
            }
        }
        @if rows.is_empty() {
            @let (x, y) = area.middle();
            (text(x, y, Anchor::Middle, TEXT_SIZE, MUTED, "No row: no run fits."))
        }
        (legend.render(area.bottom + BELOW + 8.0))
    })
}

/// The end of a name that is too long, as the end distinguishes it from others.
fn shortened(name: &str, room: f64) -> String {
    if text_width(name, SMALL) <= room {
        return name.to_string();
    }
    let mut rest = name.chars();
    while rest.next().is_some() {
        let words = format!("…{}", rest.as_str());
        if text_width(&words, SMALL) <= room {
            return words;
        }
    }
    String::new()
}
