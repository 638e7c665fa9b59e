//! The table of runs for the terminal and as Markdown.

use super::{MEANING, RunRow, RunTable};
use crate::run_with_bins::{RunWithBins, title};
use crate::sections::respond;
use crate::terminal::style::{Colour, Style};
use crate::terminal::table::{Column, escaped, markdown, table, wrapped};
use crate::terminal::text::paint_verdict;

impl RunTable<'_> {
    /// The answer, the table of the runs, and the settings that differ, in `width` columns.
    pub fn text(&self, width: usize, style: Style) -> String {
        let paragraph = |text: String| format!("{}\n", wrapped(&text, width, 0));
        let (headline, more) = self.lines();
        let mut text = style.paint(Colour::Bold, &wrapped(&headline, width, 0)) + "\n";
        text += &more.into_iter().map(paragraph).collect::<String>();
        text += &self.misses().map(paragraph).unwrap_or_default();
        text += &format!("{}\n\n", style.paint(Colour::Dim, &wrapped(&self.title(), width, 0)));
        text += &table(self.columns(), width, style);
        text += &paragraph(MEANING.to_string());
        match self.setting_columns() {
            None => text += &format!("\n{}", paragraph("All settings are the same.".to_string())),
            Some(columns) => {
                text += &format!("\n{}", paragraph("Settings that differ:".to_string()));
                text += &table(columns, width, style);
            }
        }
        text
    }

    /// The same in the Markdown of GitHub.
    pub fn markdown(&self) -> String {
        let (headline, more) = self.lines();
        let lines = more.into_iter().chain(self.misses());
        let lines = lines.map(|line| format!("{}\n\n", escaped(&line)));
        let settings = match self.setting_columns() {
            None => "All settings are the same.\n".to_string(),
            Some(columns) => format!("Settings that differ:\n\n{}", markdown(&columns)),
        };
        format!(
            "**{}**\n\n{}{}\n{}\n\n{settings}",
            escaped(&headline),
            lines.collect::<String>(),
            markdown(&self.columns()),
            escaped(MEANING)
        )
    }

    /// The answer, and what follows it.
    pub(crate) fn lines(&self) -> (String, Vec<String>) {
        let mut answer = self.answer();
        let headline = answer.remove(0);
        answer.extend(self.judgements.iter().cloned());
        (headline, answer)
    }

    /// What is the same of all runs: machine and kernel.
    pub(crate) fn title(&self) -> String {
        let runs: Vec<RunWithBins> =
            self.runs.iter().map(|run| RunWithBins { run, bins: &[] }).collect();
        title(&runs)
    }

    fn columns(&self) -> Vec<Column> {
        if let Some(columns) = respond::columns(&self.runs) {
            return columns;
        }
        let rows = self.rows();
        let each = |cell: &dyn Fn(&RunRow) -> String| rows.iter().map(cell).collect::<Vec<_>>();
        let dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_string());
        let mut columns = vec![
            Column::new("run", 0, each(&|row| row.name.clone())).left(),
            Column::new("kernel", 0, each(&|row| row.kernel.clone())).left(),
            Column::new("load", 0, each(&|row| row.load.clone())).left(),
            Column::new("verdict", 0, each(&|row| row.verdict_text.clone()))
                .left()
                .coloured(paint_verdict),
            Column::new(
                "misses",
                1,
                each(&|row| match &row.misses {
                    None => "-".to_string(),
                    Some((count, None)) => count.clone(),
                    Some((count, Some(share))) => format!("{count} ({share})"),
                }),
            ),
        ];
        // The largest stays on every terminal, the median goes first.
        for (at, rank) in [0, 2, 5].into_iter().enumerate() {
            let Some(name) = rows.first().map(|row| row.figures[at].name) else { continue };
            let value = each(&|row| dash(row.figures[at].value.clone()));
            let change = each(&|row| dash(row.figures[at].change.clone()));
            columns.push(Column::new(name, rank, value));
            columns.push(Column::new("change", rank, change));
        }
        columns.push(Column::new("missed", 3, each(&|row| dash(row.missed.clone()))));
        columns.push(Column::new("cycles", 6, each(&|row| row.cycles.clone())));
        columns.push(Column::new("measured", 6, each(&|row| row.measured.clone())));
        columns.retain(|column| !column.is_void());
        columns
    }

    /// A row for each setting that differs; none where none does.
    fn setting_columns(&self) -> Option<Vec<Column>> {
        let settings = self.settings();
        if settings.is_empty() {
            return None;
        }
        let names = settings.iter().map(|one| one.name.to_string());
        let runs = self.names.iter().enumerate().map(|(at, name)| {
            Column::new(name, 0, settings.iter().map(|one| one.values[at].clone())).left()
        });
        Some(std::iter::once(Column::new("setting", 0, names).left()).chain(runs).collect())
    }
}
