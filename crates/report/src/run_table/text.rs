//! The runs side by side as text: the answer, the table, and the differing settings.

use super::figure::latency_change;
use super::{MEANING, RunTable};
use crate::document::style::{Colour, Style};
use crate::document::table::{Cell, Column, Table, wrapped};
use crate::document::{Section, escaped, to_markdown, to_terminal};
use crate::figures::{Counts, Figure, Place, columns_with};
use crate::run_with_bins::{RunWithBins, title};
use crate::sections::respond;

impl RunTable<'_> {
    /// The answer, the table of the runs, and the differing settings, in `width` columns.
    pub fn text(&self, width: usize, style: Style) -> String {
        let paragraph = |text: String| format!("{}\n", wrapped(&text, width, 0));
        let (headline, more) = self.lines();
        let mut text = style.paint(Colour::Bold, &wrapped(&headline, width, 0)) + "\n";
        text += &more.into_iter().map(paragraph).collect::<String>();
        text += &format!("{}\n\n", style.paint(Colour::Dim, &wrapped(&self.title(), width, 0)));
        text + &to_terminal(&[self.table(), self.differing()], width, style)
    }

    /// As `text`, in GitHub Markdown.
    pub fn markdown(&self) -> String {
        let (headline, more) = self.lines();
        let lines = more.into_iter().map(|line| format!("{}\n\n", escaped(&line)));
        let tables = to_markdown(&[self.table(), self.differing()]);
        format!("**{}**\n\n{}{tables}", escaped(&headline), lines.collect::<String>())
    }

    /// The answer, and the remarks after it.
    pub(crate) fn lines(&self) -> (String, Vec<String>) {
        let mut answer = self.answer();
        let headline = answer.remove(0);
        answer.extend(self.judgements.iter().cloned());
        answer.extend(self.misses());
        (headline, answer)
    }

    /// What all runs share: machine and kernel.
    pub(crate) fn title(&self) -> String {
        let runs: Vec<RunWithBins> =
            self.runs.iter().map(|run| RunWithBins { run, bins: &[] }).collect();
        title(&runs)
    }

    pub(crate) fn table(&self) -> Section {
        let section = Section::new("runs", "Runs").without_title();
        if let Some(columns) = respond::columns(&self.runs) {
            return section.table(Table::new(respond::MEANING, columns)).text(MEANING);
        }
        let all: Vec<Counts> = self.runs.iter().map(|run| Counts::of_run(run)).collect();
        let baseline = all.first().filter(|_| self.is_of_one_kind());
        let change = |figure: &Figure, at: usize| {
            latency_change(figure, &all[at], baseline.filter(|_| at > 0)?)
        };
        let names = (1..)
            .zip(&self.names)
            .map(|(number, name)| Cell::from(name.clone()).link(Some(format!("#run-{number}"))));
        let mut columns = vec![Column::new("run", 0, names).left()];
        columns.extend(columns_with(Place::Runs, &all, &change));
        section.table(Table::new("Runs side by side", columns).stacked()).text(MEANING)
    }

    pub(crate) fn differing(&self) -> Section {
        let settings = self.settings();
        let section = Section::new("settings", "Settings that differ");
        if settings.is_empty() {
            return section.without_title().text("All settings are the same.");
        }
        let names = settings.iter().map(|one| one.name.to_string());
        let runs = self.names.iter().enumerate().map(|(at, name)| {
            Column::new(name, 0, settings.iter().map(|one| one.values[at].clone())).left()
        });
        let columns =
            std::iter::once(Column::new("setting", 0, names).left()).chain(runs).collect();
        let caption =
            "Requested settings, and facts of the machine, that are not the same in all runs";
        section.table(Table::new(caption, columns).stacked())
    }
}
