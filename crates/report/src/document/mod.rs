//! A report independent of its output format: sections of text, tables, lists and charts. Only
//! `terminal.rs`, `html.rs` and `markdown.rs` render them. Nothing here knows what a run is.

pub mod html;
mod markdown;
pub mod outline;
pub mod style;
pub mod table;
mod terminal;

pub use html::folds;
pub use markdown::{escaped, to_markdown};
pub use terminal::to_terminal;

use crate::units::counted;
use latlab_model::run::Severity;
use latlab_model::shell::Line;
use maud::Markup;
use table::Table;

/// The outputs that show a part of a section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum On {
    /// Terminal, page and Markdown.
    All,
    /// Terminal and Markdown; the page shows it another way.
    Text,
    Terminal,
    Page,
    /// Page and Markdown; a terminal has no room for it.
    Document,
}

pub struct Section {
    name: &'static str,
    title: String,
    sum: Option<String>,
    on: On,
    has_title: bool,
    blocks: Vec<(On, Block)>,
}

pub enum Block {
    /// A paragraph, in which `backticks` mark code.
    Text(String),
    /// Independent sentences.
    Sentences(Vec<String>),
    Table(Table),
    Figures(Vec<KeyFigure>),
    Items(Vec<Item>),
    /// Findings with everything that is known of them.
    Diagnoses(Vec<Item>),
    Changes(Changes),
    /// Facts about one thing, under its name.
    List(String, Vec<String>),
    /// A command, to be copied.
    Command(Line),
    Chart(Chart),
    /// Lines of output.
    Output(String),
    /// Collapsed on a page and in Markdown.
    Folded(String, Vec<Block>),
}

/// A chart: SVG on a page, characters in a terminal.
#[derive(Default)]
pub struct Chart {
    pub html: Markup,
    pub characters: String,
}

/// A finding with its severity.
pub struct Item {
    pub severity: Severity,
    pub text: String,
    pub code: String,
    /// The effect on the verdict, shown after the severity.
    pub effect: &'static str,
    /// Thread and time.
    pub place: Option<String>,
    /// Seconds since the first release; scripts of the page make it a link.
    pub since_start: Option<String>,
    pub remedy: Option<Line>,
    /// Details by label, which pages and diagnoses show.
    pub reasons: Vec<(&'static str, String)>,
    pub remedies: Vec<(&'static str, Line)>,
}

/// A main figure, which a page shows large.
pub struct KeyFigure {
    /// `p99.9`.
    pub name: &'static str,
    /// `719.8 us`.
    pub value: String,
    pub share: Option<String>,
    /// What it is a share of: `of the deadline`.
    pub whole: &'static str,
    /// The 95 % confidence interval, if known.
    pub interval: Option<String>,
    pub is_over: bool,
}

/// What differs between two sides.
pub struct Changes {
    /// What the rows are: `Setting`.
    what: &'static str,
    title: Option<String>,
    rows: Vec<Change>,
    /// This many rows are shown in text.
    shown: usize,
}

/// A value on two sides; `None` if a side does not have it.
pub struct Change {
    pub name: String,
    pub before: Option<String>,
    pub after: Option<String>,
    /// Stands for a missing value.
    pub none: &'static str,
    /// Whether the values are lines of a file, of which others are equal.
    pub is_partial: bool,
}

impl Changes {
    pub fn new(what: &'static str, rows: Vec<Change>) -> Changes {
        Changes { what, title: None, shown: rows.len(), rows }
    }

    pub fn titled(self, title: impl Into<String>) -> Changes {
        Changes { title: Some(title.into()), ..self }
    }

    /// Limits the rows of a text.
    pub fn first(self, shown: usize) -> Changes {
        Changes { shown: shown.min(self.rows.len()), ..self }
    }

    /// The title with the number of rows.
    fn heading(&self) -> Option<String> {
        self.title.as_ref().map(|title| format!("{title} ({})", self.rows.len()))
    }

    /// The rows of a text, and the number of the others.
    fn in_text(&self) -> (&[Change], usize) {
        (&self.rows[..self.shown], self.rows.len() - self.shown)
    }
}

impl Change {
    pub fn new(name: &str, before: Option<String>, after: Option<String>) -> Change {
        Change { name: name.to_string(), before, after, none: "none", is_partial: false }
    }

    /// A value in one line.
    fn words(&self, value: &Option<String>) -> String {
        match value.as_deref() {
            None => self.none.to_string(),
            Some("") => "(empty)".to_string(),
            Some(text) => text.to_string(),
        }
    }
}

impl Item {
    pub fn new(severity: Severity, text: String, code: String) -> Item {
        Item {
            severity,
            text,
            code,
            effect: "",
            place: None,
            since_start: None,
            remedy: None,
            reasons: Vec::new(),
            remedies: Vec::new(),
        }
    }
}

impl Section {
    /// `name` becomes the anchor on a page.
    pub fn new(name: &'static str, title: impl Into<String>) -> Section {
        let title = title.into();
        Section { name, title, sum: None, on: On::All, has_title: true, blocks: Vec::new() }
    }

    /// Adds a short summary behind the title.
    pub fn sum(self, words: Option<String>) -> Section {
        Section { sum: words, ..self }
    }

    /// Limits the section to these outputs.
    pub fn on(self, on: On) -> Section {
        Section { on, ..self }
    }

    /// Hides the title in text output.
    pub fn without_title(self) -> Section {
        Section { has_title: false, ..self }
    }

    pub fn add(mut self, on: On, block: Block) -> Section {
        self.blocks.push((on, block));
        self
    }

    pub fn text(self, text: impl Into<String>) -> Section {
        self.add(On::All, Block::Text(text.into()))
    }

    /// Adds sentences, if there are any.
    pub fn texts(self, all: impl IntoIterator<Item = String>) -> Section {
        self.texts_on(On::All, all)
    }

    pub fn texts_on(self, on: On, all: impl IntoIterator<Item = String>) -> Section {
        let all: Vec<String> = all.into_iter().collect();
        if all.is_empty() { self } else { self.add(on, Block::Sentences(all)) }
    }

    /// Adds lines of one kind, if there are any.
    pub fn list(self, lines: Vec<String>) -> Section {
        if lines.is_empty() {
            return self;
        }
        self.add(On::All, Block::List(String::new(), lines))
    }

    pub fn table(self, table: Table) -> Section {
        self.add(On::All, Block::Table(table))
    }

    pub fn items(self, items: Vec<Item>) -> Section {
        self.add(On::All, Block::Items(items))
    }

    /// Adds HTML that only the page shows.
    pub fn html(self, html: Markup) -> Section {
        self.add(On::Page, Block::Chart(Chart { html, characters: String::new() }))
    }

    /// `None` if the section is empty.
    pub fn or_nothing(self) -> Option<Section> {
        (!self.blocks.is_empty()).then_some(self)
    }

    fn blocks(&self, shows: impl Fn(On) -> bool) -> Vec<&Block> {
        match shows(self.on) {
            true => self.blocks.iter().filter(|(on, _)| shows(*on)).map(|(_, one)| one).collect(),
            false => Vec::new(),
        }
    }

    /// The title with its summary, for text output.
    fn heading(&self) -> Option<String> {
        let sum = self.sum.as_ref().map(|sum| format!(" ({sum})")).unwrap_or_default();
        self.has_title.then(|| format!("{}{sum}:", self.title))
    }
}

/// The number for each severity, the heaviest first.
pub fn severities(all: impl Iterator<Item = Severity>) -> String {
    let all: Vec<Severity> = all.collect();
    let many = |severity: Severity| {
        let count = all.iter().filter(|one| **one == severity).count() as u64;
        (count > 0).then(|| match severity {
            Severity::Error => counted(count, "error", "errors"),
            Severity::Warning => counted(count, "warning", "warnings"),
            Severity::Info => format!("{count} of severity info"),
        })
    };
    let heaviest_first = [Severity::Error, Severity::Warning, Severity::Info];
    let parts: Vec<String> = heaviest_first.into_iter().filter_map(many).collect();
    if parts.is_empty() { "none".to_string() } else { parts.join(", ") }
}
