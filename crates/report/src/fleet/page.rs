//! An answer as one self-contained page.

use super::cells::marked_rows;
use super::series::{FleetSeries, all_series};
use super::text::{columns, headline, newest_step, series_columns, since};
use crate::document::outline::{Outline, count, prose};
use crate::document::table::{Table, markup};
use crate::document::{Section, folds};
use crate::fleet::FleetAnswer;
use crate::page::document;
use crate::page::pictures::in_widths;
use crate::pictures::options::Options;
use crate::pictures::{marks, small_trends, trend};
use crate::units::counted;
use maud::{Markup, html};

/// At most this many series with a step get their own chart.
const MOST_PICTURES: usize = 24;
const HEIGHT: u32 = 200;

pub fn page(of: &FleetAnswer) -> String {
    match all_series(of) {
        Some(series) => page_of_series(&series),
        None => page_of_rows(of),
    }
}

fn page_of_series(all: &[FleetSeries]) -> String {
    let outline = Outline::page();
    let regressed: Vec<&FleetSeries> =
        all.iter().filter(|one| one.regression().is_some()).collect();
    let stepped = || all.iter().filter(|one| !one.trend.steps.is_empty()).take(MOST_PICTURES);
    let small: Vec<_> = all.iter().map(|one| (one.name(), &one.trend)).collect();
    let caption = format!(
        "p99.9 over time, a small picture for each board, scenario and kernel, each on its own scale from zero; those \
         that regressed come first. A point is the median of a day{}. Black lines are the levels, upright ones the \
         steps, red where the level is higher by 5 % or more.",
        if all.iter().any(|one| one.by_week) { ", of a long series that of a week" } else { "" }
    );
    let parts = [
        Section::new("steps", "Series with steps").html(html! {
            @for (number, one) in stepped().enumerate() { (own_picture(number, one, &outline)) }
        }),
        Section::new("series", "All series")
            .table(Table::new("All series", series_columns(all)).stacked()),
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

fn own_picture(number: usize, one: &FleetSeries, outline: &Outline) -> Markup {
    in_widths(&format!("series-{number}"), outline, &one.name(), &|options| {
        trend::draw(&one.trend, &Options { plot_height: HEIGHT, ..options.clone() })
    })
}

fn page_of_rows(of: &FleetAnswer) -> String {
    let outline = Outline::page();
    let rows = marked_rows(of);
    let title = format!("{}: {}", of.query, counted(of.rows.len() as u64, "row", "rows"));
    let body = html! {
        main.judged {
            header.answer { p.kicker { "latlab fleet query" } (outline.headline(html! { (title) })) }
            div.whole { (in_widths("rows", &outline, "A line for each row, a mark for each of its times.", &|options| {
                marks::draw(&rows, &Options { has_heading: false, ..options.clone() })
            })) }
            (markup(&Table::new(of.query.as_str(), columns(of)).stacked()))
        }
        (made_by())
    };
    document(&title, &body)
}

fn made_by() -> Markup {
    html! { footer { p { "Made by latlab " (latlab_model::VERSION) "." } } }
}
