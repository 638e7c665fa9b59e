//! A campaign as one page: the table, whose cells link to the pages of the runs, and the
//! distributions with kernels overlaid.

use super::comparisons::comparison_lines;
use super::format::length_of;
use super::multiples::RowLine;
use super::multiples::{Counted, can_be_overlaid, multiples, overlaid, pooled_rows, row_lines};
use super::sections::{NAMED_COMPARISONS, of_campaign};
use super::text::virtual_time;
use super::variants::headline;
use crate::campaign::{CampaignCell, CampaignRow, CampaignTable};
use crate::document::Section;
use crate::document::html::opened;
use crate::document::outline::{Outline, prose};
use crate::page::data::{ChartLine, chart_data};
use crate::page::document;
use crate::pictures::curve::Curve;
use crate::pictures::options::Options;
use crate::terms::{self, Terms};
use latlab_model::{Run, ThreadBins};
use maud::{Markup, PreEscaped, html};

/// Each chart is rendered in three widths; CSS shows the one that fits.
const WIDTHS: [(&str, u32); 3] = [("wide", 1120), ("middle", 700), ("narrow", 400)];

pub struct CampaignRun<'a> {
    pub run: &'a Run,
    pub bins: &'a [ThreadBins],
    /// Link to the run's page, relative to this one; `None` on a standalone page.
    pub page: Option<String>,
}

/// The whole page. `runs` are the runs that the table names, in any order.
pub fn campaign_page(table: &CampaignTable, runs: &[CampaignRun], latlab: &str) -> String {
    let title = format!("{}: {}", table.name, table.tally);
    let outline = Outline::page();
    let rows: Vec<Vec<Option<Counted>>> = table.rows.iter().map(|row| runs_of(row, runs)).collect();
    let headline = headline(table);
    let page_of = |id: &str| runs.iter().find(|one| one.run.id == id)?.page.clone();
    let pictures = distributions(table, &rows, terms::of_all(runs.iter().map(|one| one.run)));
    let pictures = Section::new("picture", "Distributions").html(pictures);
    let body = html! {
        main.campaign {
            header {
                p.kicker { "Campaign " (table.name) " · " (table.id) }
                (outline.headline(prose(headline.as_deref().unwrap_or(&table.name))))
                @for line in comparison_lines(table).iter().take(NAMED_COMPARISONS) { p.lead { (prose(line)) } }
                @if let Some(about) = &table.about { p.lead { (prose(about)) } }
                p { (table.tally) "." @if let Some(length) = length_of(table) { " " (prose(&length)) } }
                @if let Some(time) = virtual_time(table) { p { (prose(&time)) } }
            }
            (opened(&outline, &of_campaign(table, &page_of, Some(pictures))))
        }
        footer { p { "Made by latlab " (latlab) " from campaign " (table.id) "." } }
    };
    document(&title, &body)
}

/// The charts, and the data with which scripts replace the first one by a zoomable chart.
fn distributions(
    table: &CampaignTable,
    rows: &[Vec<Option<Counted>>],
    terms: &'static Terms,
) -> Markup {
    let many = terms.many;
    let overlaid = can_be_overlaid(table).then(|| html! {
        (in_widths("overlaid", |options| overlaid(table, rows, options)))
        figcaption {
            "Histogram of the " (many) " of rows that differ in target, kernel, board or setting, \
                                over each other, all repeats together."
            span.still { " Heights are logarithmic, on one scale for all." }
        }
    });
    let each = html! {
        (in_widths("multiples", |options| multiples(table, rows, options)))
        figcaption {
            "Histogram of the " (many) " in each row"
            span.still {
                ": one line for all repeats together, and thin ones for each. Heights are \
                 logarithmic, on one scale for all rows"
            }
            "."
        }
    };
    let (first, folded) = match overlaid {
        Some(overlaid) => (overlaid, Some(each)),
        None => (each, None),
    };
    html! {
        figure data-picture="rows" data-run="" data-many=(terms.many) data-axis=(terms.axis)
            data-size=(terms.size) { (first) }
        @if let Some(each) = folded {
            details { summary { "Each row alone, with its repeats" } figure { (each) } }
        }
        (chart_data(&chart_lines(table, rows)))
    }
}

/// Each row with its pooled counts; the rows of one group share a chart.
fn chart_lines<'a>(table: &CampaignTable, rows: &[Vec<Option<Counted>>]) -> Vec<ChartLine<'a>> {
    let is_overlaid = can_be_overlaid(table);
    let lines = row_lines(table).into_iter().zip(pooled_rows(table, rows));
    let line = |(row, (line, curve)): (&CampaignRow, (RowLine, Curve<'a>))| ChartLine {
        group: if is_overlaid { line.group } else { String::new() },
        pen: line.pen,
        deadline_ns: row.deadline_ns,
        curve,
    };
    table.rows.iter().zip(lines).map(line).collect()
}

fn in_widths(id: &str, picture: impl Fn(&Options) -> String) -> Markup {
    html! {
        div.still {
            @for (class, width) in WIDTHS {
                @let options = Options { width, id: format!("{id}-{class}"), ..Options::default() };
                div class=(class) { (PreEscaped(picture(&options))) }
            }
        }
    }
}

fn runs_of<'a>(row: &CampaignRow, runs: &[CampaignRun<'a>]) -> Vec<Option<Counted<'a>>> {
    let of_cell = |cell: &CampaignCell| {
        let id = cell.run.as_ref()?;
        runs.iter().find(|one| one.run.id == *id).map(|one| (one.run, one.bins))
    };
    row.cells.iter().map(of_cell).collect()
}
