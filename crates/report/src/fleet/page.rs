//! An answer as one self-contained page.

use super::cells::{cell, head, is_text, marked_rows};
use super::series::{Series, all_series};
use super::text::{headline, newest, newest_step, runs, since};
use crate::page::document;
use crate::page::folds::{Fold, folds};
use crate::page::markup::{Outline, count, firm, plural, prose};
use crate::page::pictures::in_widths;
use crate::pictures::options::Options;
use crate::pictures::{marks, small_trends, trend};
use latlab_model::fleet::FleetAnswer;
use maud::{Markup, html};

/// Series with a step that have a picture of their own.
const MOST_PICTURES: usize = 24;
const HEIGHT: u32 = 200;

/// The whole page.
pub fn page(of: &FleetAnswer) -> String {
    match all_series(of) {
        Some(series) => page_of_series(&series),
        None => page_of_rows(of),
    }
}

fn page_of_series(all: &[Series]) -> String {
    let outline = Outline::page();
    let regressed: Vec<&Series> = all.iter().filter(|one| one.regression().is_some()).collect();
    let stepped = || all.iter().filter(|one| !one.trend.steps.is_empty()).take(MOST_PICTURES);
    let small: Vec<_> = all.iter().map(|one| (one.name(), &one.trend)).collect();
    let caption = format!(
        "p99.9 over time, a small picture for each board, scenario and kernel, each on its own scale from zero; those \
         that regressed come first. A point is the median of a day{}. Black lines are the levels, upright ones the \
         steps, red where the level is higher by 5 % or more.",
        if all.iter().any(|one| one.by_week) { ", of a long series that of a week" } else { "" }
    );
    let parts = [
        Fold::new(
            "steps",
            "Series with steps",
            html! {
                @for (number, one) in stepped().enumerate() { (own_picture(number, one, &outline)) }
            },
        ),
        Fold::new("series", "All series", series_table(all)),
    ];
    let class = if regressed.is_empty() { "pass" } else { "fail" };
    let body = html! {
        main.judged {
            header class={ "answer " (class) } {
                p.kicker { "p99.9 over time · " (count(all.len() as u64)) " series" }
                (outline.headline(prose(&headline(all))))
                @for one in regressed.iter().take(5) {
                    p { (one.name()) ": " (newest_step(one)) " since " (since(one)) }
                }
            }
            div.whole { (in_widths("all", &outline, &caption, &|options| {
                small_trends::draw(&small, &Options { has_heading: false, ..options.clone() })
            })) }
            (folds(&outline, &parts))
        }
        (made_by())
    };
    document(&headline(all), &body)
}

fn own_picture(number: usize, one: &Series, outline: &Outline) -> Markup {
    in_widths(&format!("series-{number}"), outline, &one.name(), &|options| {
        trend::draw(&one.trend, &Options { plot_height: HEIGHT, ..options.clone() })
    })
}

fn series_table(all: &[Series]) -> Markup {
    html! {
        div.box { table.stacked {
            caption { span { "All series" } }
            thead { tr {
                th scope="col" { "Board" } th scope="col" { "Scenario" } th scope="col" { "Kernel" }
                th.number scope="col" { "p99.9" } th scope="col" { "Newest step" } th scope="col" { "Since" }
                th.number scope="col" { "Steps" } th.number scope="col" { "Runs" }
            } }
            tbody { @for one in all { tr {
                th scope="row" { (one.board) }
                td data-head="Scenario" { (one.scenario) }
                td data-head="Kernel" { (one.kernel) }
                td.number data-head="p99.9" { (firm(&newest(one))) }
                td data-head="Newest step" { (newest_step(one)) }
                td data-head="Since" { (since(one)) }
                td.number data-head="Steps" { (one.trend.steps.len()) }
                td.number data-head="Runs" { (runs(one)) }
            } } }
        } }
    }
}

fn page_of_rows(of: &FleetAnswer) -> String {
    let outline = Outline::page();
    let rows = marked_rows(of);
    let title = format!("{}: {}", of.query, plural(of.rows.len(), "row"));
    let body = html! {
        main.judged {
            header.answer { p.kicker { "latlab fleet query" } (outline.headline(html! { (title) })) }
            div.whole { (in_widths("rows", &outline, "A line for each row, a mark for each of its times.", &|options| {
                marks::draw(&rows, &Options { has_heading: false, ..options.clone() })
            })) }
            div.box { table.stacked {
                caption { span { (of.query) } }
                thead { tr { @for (at, name) in of.columns.iter().enumerate() {
                    th.number[!is_text(of, at)] scope="col" { (head(name)) }
                } } }
                tbody { @for row in &of.rows { tr { @for (at, name) in of.columns.iter().enumerate() {
                    @let words = row.get(at).map_or("-".to_string(), |value| cell(name, value));
                    td.number[!is_text(of, at)] data-head=(head(name)) { (words) }
                } } } }
            } }
        }
        (made_by())
    };
    document(&title, &body)
}

fn made_by() -> Markup {
    html! { footer { p { "Made by latlab " (latlab_model::VERSION) "." } } }
}
