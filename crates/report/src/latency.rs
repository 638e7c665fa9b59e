//! The latency picture of this field: how many latencies were how large, a line a thread.
//!
//! Heights are logarithmic, so that one late wake-up among a hundred million is seen, and are
//! densities, so that no step of a line depends on how wide it happens to be. Nothing is cut: what does not fit on the axis is drawn as a mass beside it, with its count in words.

pub use crate::axis::Axis;
use crate::axis::{HorizontalAxis, Pooled, VerticalAxis};
use crate::bins::{Cells, Drawn, Outside, Step};
use crate::frame::{Contents, Frame, STRIP};
use crate::legend::{Entry, Legend};
use crate::sentence;
use crate::series::{Series, all_series, named, others};
use crate::svg::{
    Anchor, FONT, INK, MUTED, PAPER, Pen, TEXT_SIZE, TITLE_SIZE, line, n, printable, text as label,
};
use crate::units::grouped;
use latlab_model::{Nanos, Run, ThreadBins};
use maud::{Markup, html};

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

/// The picture as one SVG element, for a page or on its own.
pub fn latency_picture(run: &Run, bins: &[ThreadBins], options: &Options) -> String {
    Picture::new(run, &all_series(run, bins), options).render().into_string()
}

struct Picture<'a> {
    run: &'a Run,
    series: &'a [Series<'a>],
    drawn: Vec<Drawn>,
    cells: Cells,
    outside: Outside,
    frame: Frame,
    legend: Legend,
    options: &'a Options,
}

impl<'a> Picture<'a> {
    fn new(run: &'a Run, series: &'a [Series<'a>], options: &'a Options) -> Picture<'a> {
        let width = f64::from(options.width.max(280));
        let bins = || series.iter().flat_map(|series| series.bins);
        let max = series.iter().filter_map(|series| series.max).max();
        let axis = HorizontalAxis::choose(&Pooled::of(bins(), max), options.axis);
        let cells = Cells::new(&axis, width - 100.0);
        let outside = Outside::of(bins(), &axis);
        let drawn: Vec<Drawn> =
            series.iter().map(|series| Drawn::new(series.bins, &axis, &cells)).collect();
        let densities = drawn.iter().flat_map(|drawn| drawn.densities(&cells));
        let masses = [outside.below, outside.beyond].map(|count| count as f64);
        let contents = Contents {
            axis,
            densities: VerticalAxis::holding(densities.chain(masses)),
            title: &sentence::picture_title(run),
            conditions: &sentence::conditions(run),
            below: outside.below > 0,
            beyond: outside.beyond > 0,
        };
        let frame = Frame::new(width, f64::from(options.plot_height.max(80)), contents);
        let legend = Legend::new(entries(series), width);
        Picture { run, series, drawn, cells, outside, frame, legend, options }
    }
}

fn entries(series: &[Series]) -> Vec<Entry> {
    let entry = |(index, series): (usize, &Series)| Entry {
        pen: Pen::number(index),
        words: series.name(),
        marked: true,
    };
    let others = others(series).map(|words| Entry { pen: Pen::background(), words, marked: false });
    series.iter().take(named(series)).enumerate().map(entry).chain(others).collect()
}

/// The pen of a line; those without a name are drawn alike.
fn pen(index: usize, series: &[Series]) -> Pen {
    match index < named(series) {
        true => Pen::number(index),
        false => Pen::background(),
    }
}

impl Picture<'_> {
    fn render(&self) -> Markup {
        let height = self.frame.legend_top() + self.legend.height() + 4.0;
        let (title, description) =
            (format!("{}-title", self.options.id), format!("{}-desc", self.options.id));
        let size = format!("0 0 {} {}", n(self.frame.width), n(height));
        html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox=(size)
                width=(n(self.frame.width)) height=(n(height)) role="img"
                aria-labelledby={ (title) " " (description) } font-family=(FONT)
                data-latencies=(self.all_latencies())
            {
                title id=(title) { (self.alternative_title()) }
                desc id=(description) { (self.alternative_text()) }
                rect width="100%" height="100%" style={ "fill:" (PAPER) } {}
                (self.frame.heading())
                (self.frame.grid())
                (self.frame.axes(&self.density_title()))
                (self.lines())
                (self.mass_beyond())
                (self.mass_below())
                (self.legend.render(self.frame.legend_top()))
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
            sentence::picture_title(self.run),
            grouped(self.all_latencies())
        ))
    }

    fn alternative_text(&self) -> String {
        let named = self.series[..named(self.series)].iter();
        let lines: Vec<String> = named.map(Series::name).chain(others(self.series)).collect();
        let outside = [self.beyond_words(), self.below_words()].into_iter().flatten();
        let outside: String = outside.map(|words| format!(" {}.", words.join(" "))).collect();
        printable(&format!(
            "Latencies per {}, logarithmic, over {}, one line for each measuring thread. {}. {}.{outside}",
            self.cells.unit_words(),
            if self.frame.axis.log { "logarithmic latency" } else { "latency" },
            sentence::conditions(self.run),
            lines.join("; "),
        ))
    }

    fn density_title(&self) -> String {
        format!("Latencies per {}", self.cells.unit_words())
    }

    /// Pixels of a unit of width: a density over so many is one latency.
    fn unit_pixels(&self) -> f64 {
        let whole = Step { first: 0, end: self.cells.len(), count: 0 };
        (self.frame.right - self.frame.left) / self.cells.width(&whole).max(1e-9)
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

    fn one_line(&self, index: usize, series: &Series) -> Markup {
        let drawn = &self.drawn[index];
        let max = series.max.map(|max| max.0.to_string()).unwrap_or_default();
        html! {
            path d=(self.path(drawn)) style=(pen(index, self.series).style())
                data-thread=(series.thread) data-count=(series.count) data-drawn=(drawn.count())
                data-unit=(format!("{:.6}", self.unit_pixels()))
                data-below=(drawn.below) data-beyond=(drawn.beyond) data-max-ns=(max) {}
        }
    }

    /// Up from the lower edge, along the steps, and down again wherever nothing was counted.
    fn path(&self, drawn: &Drawn) -> String {
        let x = |edge: usize| self.frame.x(self.cells.edge(edge));
        let mut path = String::new();
        let mut reached = None;
        for step in &drawn.steps {
            if reached != Some(step.first) {
                if reached.is_some() {
                    path += &format!("V{}", n(self.frame.bottom));
                }
                path += &format!("M{} {}", n(x(step.first)), n(self.frame.bottom));
            }
            path += &format!("V{}H{}", n(self.frame.y(step.density(&self.cells))), n(x(step.end)));
            reached = Some(step.end);
        }
        match reached {
            Some(_) => format!("{path}V{}", n(self.frame.bottom)),
            None => path,
        }
    }

    fn mark_of_maximum(&self, index: usize, series: &Series) -> Markup {
        let drawn = &self.drawn[index];
        let pen = pen(index, self.series);
        match (drawn.beyond, drawn.steps.last(), series.max) {
            (1.., _, _) => {
                pen.mark(self.frame.right + STRIP * 0.6, self.frame.y(drawn.beyond as f64))
            }
            (0, Some(last), Some(max)) => {
                pen.mark(self.frame.x(max.0 as f64), self.frame.y(last.density(&self.cells)))
            }
            _ => html! {},
        }
    }

    fn highest(&self) -> Nanos {
        let maxima = self.series.iter().filter_map(|series| series.max);
        maxima.max().unwrap_or_default()
    }

    fn beyond_words(&self) -> Option<Vec<String>> {
        let limit = Nanos(self.frame.axis.to as i64);
        (self.outside.beyond > 0).then(|| {
            vec![
                format!("{} beyond {}", grouped(self.outside.beyond), limit.to_string()),
                format!("up to {}", self.highest().to_string()),
            ]
        })
    }

    fn below_words(&self) -> Option<Vec<String>> {
        (self.outside.below > 0).then(|| {
            vec![
                format!("{} below zero", grouped(self.outside.below)),
                format!("down to {}", self.outside.lowest.to_string()),
            ]
        })
    }

    /// What lies beyond the axis: a bar of its own as high as its count, and words.
    fn mass_beyond(&self) -> Markup {
        let Some(words) = self.beyond_words() else { return html! {} };
        let (left, right) = (self.frame.right + STRIP * 0.28, self.frame.right + STRIP * 0.92);
        html! {
            (self.mass(left, right, self.outside.beyond))
            (self.note(self.frame.right - 6.0, Anchor::End, &words))
            (line((self.frame.right, self.frame.top), (self.frame.right, self.frame.bottom), MUTED, 1.0))
        }
    }

    fn mass_below(&self) -> Markup {
        let Some(words) = self.below_words() else { return html! {} };
        let (left, right) = (self.frame.left - STRIP * 0.82, self.frame.left - STRIP * 0.18);
        html! {
            (self.mass(left, right, self.outside.below))
            (self.note(self.frame.left + 6.0, Anchor::Start, &words))
        }
    }

    fn mass(&self, left: f64, right: f64, count: u64) -> Markup {
        let top = self.frame.y(count as f64);
        let style = format!("fill:{MUTED};fill-opacity:.25;stroke:{MUTED}");
        let bottom = self.frame.bottom;
        html! {
            rect x=(n(left)) y=(n(top)) width=(n(right - left)) height=(n(bottom - top))
                style=(style) {}
            (line((left, bottom), (right, bottom), INK, 1.2))
        }
    }

    fn note(&self, x: f64, anchor: Anchor, words: &[String]) -> Markup {
        html! {
            @for (index, words) in words.iter().enumerate() {
                (label(x, self.frame.top + 16.0 + index as f64 * 17.0, anchor, TEXT_SIZE, INK, words))
            }
        }
    }

    fn nothing(&self) -> Markup {
        let (x, y) = self.frame.middle();
        label(x, y, Anchor::Middle, TITLE_SIZE, MUTED, "No latency was recorded.")
    }
}
