//! A run in the terminal, and as Markdown for issues and wikis.

use crate::document::style::{Colour, Style};
use crate::document::table::wrapped;
use crate::document::{Block, Chart, On, Section, escaped, to_markdown, to_terminal};
use crate::facts;
use crate::sections::{self, answer};
use latlab_model::Run;

/// The full report on a run, in at most `width` columns (at least 80), with a text histogram or a
/// replacement for it.
pub fn show(run: &Run, picture: &str, width: usize, style: Style) -> String {
    let line = |colour, text: &str| style.paint(colour, &wrapped(text, width, 0)) + "\n";
    let kernel = Some(facts::kernel(run)).filter(|kernel| !kernel.is_empty());
    let kernel = kernel.map(|kernel| format!("; kernel {kernel}")).unwrap_or_default();
    let method = answer::method(run);
    let head = line(Colour::Bold, &answer::headline(run));
    let chart = Chart { characters: picture.to_string(), ..Chart::default() };
    let picture = (!picture.is_empty()).then(|| {
        Section::new("picture", "Picture").without_title().add(On::Terminal, Block::Chart(chart))
    });
    let sections = with_answer(run, Vec::from_iter(picture));
    let (answer, others) = sections.split_at(1);
    format!(
        "{head}{}{}\n{}",
        to_terminal(answer, width, style),
        line(Colour::Dim, &format!("{method}{kernel}")),
        to_terminal(others, width, style)
    )
}

/// The full report on a run in GitHub Markdown.
pub fn markdown(run: &Run) -> String {
    let made_by = format!("Measured with latlab {}, {}.", run.latlab, answer::method(run));
    let mut sections = with_answer(run, Vec::new());
    let last = sections.len() - 1;
    let made_by = Section::new("made-by", "Made by").without_title().text(made_by);
    sections.insert(last, made_by);
    format!("### {}\n\n{}", escaped(&answer::headline(run)), to_markdown(&sections))
}

fn with_answer(run: &Run, pictures: Vec<Section>) -> Vec<Section> {
    let all = sections::of_run(run, pictures);
    [answer::section(run)].into_iter().chain(all).chain([answer::repeat(run)]).collect()
}
