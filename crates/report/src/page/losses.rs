//! What was lost, counted.

use super::tables::pairs;
use super::words::count;
use crate::page::place::Place;
use crate::sentence;
use latlab_model::Run;
use maud::{Markup, html};

/// The counters of what was lost.
pub fn losses(run: &Run, place: &Place) -> Markup {
    let counters = sentence::losses(run).map(|(what, number)| (what, count(number)));
    let content = html! {
        @match sentence::unknown_end(run) {
            Some(unknown) => p { (unknown) },
            None => @if run.losses.none() { p { "Nothing was lost: every counter below is zero." } },
        }
        div.counters { (pairs("Counters of what was lost", counters)) }
    };
    place.section("losses", "Losses", content)
}
