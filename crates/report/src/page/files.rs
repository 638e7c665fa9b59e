//! How to repeat the run, and what it consists of.

use super::tables::scrolling;
use super::words::firm;
use crate::command::command;
use crate::page::place::Place;
use crate::units::bytes;
use latlab_model::Run;
use maud::{Markup, html};

/// The exact command.
pub fn repeat(run: &Run, place: &Place) -> Markup {
    place.section("repeat", "Repeat it", html! { pre { code { (command(&run.asked)) } } })
}

/// The files of the run with their checksums.
pub fn files(run: &Run) -> Markup {
    if run.files.is_empty() {
        return html! {};
    }
    let table = html! {
        table.words {
            caption { "SHA-256 of each file beside this page" }
            thead { tr { @for name in ["File", "Size", "SHA-256"] { th scope="col" { (name) } } } }
            tbody {
                @for (name, file) in &run.files {
                    tr { th scope="row" { (name) } td { (firm(&bytes(file.bytes))) } td { code { (file.sha256) } } }
                }
            }
        }
    };
    html! {
        details {
            summary { "Files of the run" }
            (scrolling("Files of the run", false, table))
        }
    }
}
