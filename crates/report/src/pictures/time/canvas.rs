//! The canvas of a chart over time; parts are stacked from top to bottom.

use super::TimeOptions;
use super::axis::TimeAxis;
use super::data::TimeData;
use crate::facts;
use crate::pictures::deadline::Frame;
use crate::pictures::svg::{
    Anchor, FONT, GRID, INK, MUTED, PAPER, TEXT_SIZE, TITLE_SIZE, line, lines, n, printable, text,
};
use crate::sentence;
use crate::units::span;
use latlab_model::Run;
use maud::{Markup, html};

/// Font size of keys and of numbers next to strips.
pub const SMALL: f64 = 12.0;
/// Estimated character width at that size, without knowing the font.
const SMALL_WIDTH: f64 = 6.7;

/// A part of the canvas with a scale.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TimeArea {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl TimeArea {
    /// Vertical coordinate of a fraction of the height, from the bottom.
    pub fn y(&self, share: f64) -> f64 {
        self.bottom - share * (self.bottom - self.top)
    }

    pub fn frame(&self) -> Frame {
        Frame { left: self.left, right: self.right, top: self.top, bottom: self.bottom }
    }

    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }
}

/// An entry of a key: a sample and its text.
pub struct Key {
    pub look: KeyStyle,
    pub words: String,
}

pub enum KeyStyle {
    Line(String),
    Patch(String),
    /// Text without a sample.
    Plain,
}

/// The picture so far.
pub struct Canvas<'a> {
    pub axis: TimeAxis,
    pub width: f64,
    /// Top of the next part.
    pub y: f64,
    parts: Vec<Markup>,
    options: &'a TimeOptions,
}

impl<'a> Canvas<'a> {
    pub fn new(run: &Run, data: &TimeData, options: &'a TimeOptions, what: &str) -> Canvas<'a> {
        let width = f64::from(options.width.max(280));
        let axis = TimeAxis::new(66.0, width - 18.0, data.start, data.whole.clone());
        let mut canvas = Canvas { axis, width, y: 22.0, parts: Vec::new(), options };
        let title = format!("{what} of {}", sentence::machine_and_kernel(run));
        for words in lines(&title, width - 24.0, TITLE_SIZE * 1.25) {
            let words = text(12.0, canvas.y, Anchor::Start, TITLE_SIZE, INK, &words);
            canvas.draw(html! { g font-weight="600" { (words) } });
            canvas.y += 21.0;
        }
        for words in lines(&facts(run, data), width - 24.0, TEXT_SIZE) {
            canvas.draw(text(12.0, canvas.y, Anchor::Start, TEXT_SIZE, MUTED, &words));
            canvas.y += 18.0;
        }
        canvas.y -= 4.0;
        canvas
    }

    pub fn draw(&mut self, part: Markup) {
        self.parts.push(part);
    }

    /// Adds a part of this height, with the grid lines of the time axis.
    pub fn area(&mut self, height: f64) -> TimeArea {
        let (left, right, top) = (self.axis.left, self.axis.right, self.y);
        let area = TimeArea { left, right, top, bottom: top + height };
        self.y = area.bottom;
        for (x, _) in self.axis.ticks() {
            self.draw(line((x, area.top), (x, area.bottom), GRID, 1.0));
        }
        area
    }

    /// A line across an area with a number next to it.
    pub fn level(&mut self, area: &TimeArea, y: f64, words: &str) {
        self.draw(line((area.left, y), (area.right, y), GRID, 1.0));
        self.draw(text(area.left - 6.0, y + 4.0, Anchor::End, SMALL, INK, words));
    }

    pub fn frame(&mut self, area: &TimeArea) {
        self.draw(line((area.left, area.top), (area.left, area.bottom), INK, 1.0));
        self.draw(line((area.left, area.bottom), (area.right, area.bottom), INK, 1.0));
    }

    /// Labels and title of the time axis, below the last part.
    pub fn time_axis(&mut self) {
        let y = self.y;
        for (x, words) in self.axis.ticks() {
            self.draw(line((x, y), (x, y + 5.0), INK, 1.0));
            self.draw(text(x, y + 18.0, Anchor::Middle, SMALL, INK, &words));
        }
        let middle = (self.axis.left + self.axis.right) / 2.0;
        let title = self.axis.title();
        self.draw(text(middle, y + 36.0, Anchor::Middle, TEXT_SIZE, INK, &title));
        self.y += 44.0;
    }

    /// A bold title followed by a key, wrapped as needed.
    pub fn keys(&mut self, title: &str, keys: Vec<Key>) {
        self.y += 20.0;
        let title_width = title.chars().count() as f64 * SMALL_WIDTH * 1.1;
        if !title.is_empty() {
            let words = text(12.0, self.y, Anchor::Start, SMALL, INK, title);
            self.draw(html! { g font-weight="600" { (words) } });
        }
        let mut x = if title.is_empty() { 12.0 } else { 12.0 + title_width + 14.0 };
        for key in keys {
            let swatch = if matches!(key.look, KeyStyle::Plain) { 0.0 } else { 28.0 };
            let wide = key.words.chars().count() as f64 * SMALL_WIDTH + swatch;
            if x > 12.0 && x + wide > self.width - 8.0 {
                x = 12.0;
                self.y += 17.0;
            }
            self.draw(entry(x, self.y, swatch, &key));
            x += wide + 14.0;
        }
        self.y += 11.0;
    }

    /// Adds sentences, each starting on a new line.
    pub fn sentences(&mut self, sentences: &[String]) {
        for sentence in sentences {
            for words in lines(sentence, self.width - 24.0, SMALL) {
                self.y += 17.0;
                self.draw(text(12.0, self.y, Anchor::Start, SMALL, MUTED, &words));
            }
        }
    }

    /// Text in the middle of an empty area.
    pub fn empty_note(&mut self, area: &TimeArea, words: &str) {
        let middle = (area.left + area.right) / 2.0;
        self.draw(text(middle, area.y(0.5) + 4.0, Anchor::Middle, TEXT_SIZE, MUTED, words));
    }

    /// Completes the picture; the description is for screen readers.
    pub fn finish(self, kind: &str, title: &str, description: &str) -> String {
        let id = &self.options.id;
        let (title_id, description_id) = (format!("{id}-title"), format!("{id}-desc"));
        let height = self.y + 12.0;
        let picture = html! {
            svg xmlns="http://www.w3.org/2000/svg" width=(n(self.width)) height=(n(height))
                viewBox={ "0 0 " (n(self.width)) " " (n(height)) } role="img"
                aria-labelledby={ (title_id) " " (description_id) } font-family=(FONT)
                data-kind=(kind)
            {
                title id=(title_id) { (printable(title)) }
                desc id=(description_id) { (printable(description)) }
                rect width="100%" height="100%" style={ "fill:" (PAPER) } {}
                @for part in &self.parts { (part) }
            }
        };
        picture.into_string()
    }
}

fn entry(x: f64, y: f64, swatch: f64, key: &Key) -> Markup {
    let path = format!("M{} {}h22", n(x), n(y - 4.0));
    html! {
        @match &key.look {
            KeyStyle::Line(style) => { path d=(path) style=(style) {} }
            KeyStyle::Patch(style) => {
                rect x=(n(x)) y=(n(y - 9.0)) width="22" height="10" style=(style) {}
            }
            KeyStyle::Plain => {}
        }
        (text(x + swatch, y, Anchor::Start, SMALL, INK, &key.words))
    }
}

/// Time, amount of data and conditions.
fn facts(run: &Run, data: &TimeData) -> String {
    let started = facts::started(&run.started);
    let part = data.is_window().then(|| {
        let (from, to) = (data.whole.start - data.start, data.whole.end - data.start);
        let length = span(to - from);
        format!("; drawn: {length} from +{:.3} s on", from.as_secs_f64())
    });
    format!(
        "Started {started}, {}{}; {}",
        run.asked.name,
        part.unwrap_or_default(),
        sentence::conditions(run)
    )
}
