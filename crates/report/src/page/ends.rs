//! How the threads fared.

use super::tables::scrolling;
use super::words::{count, dash};
use latlab_model::Run;
use latlab_model::run::{ThreadEnd, ThreadRun};
use maud::{Markup, html};

/// What the threads said when they ended, to be unfolded.
pub fn thread_ends(run: &Run) -> Markup {
    if run.threads.iter().all(|thread| thread.end.is_none()) {
        return html! {};
    }
    let names = [
        "Thread",
        "Ended",
        "Page faults",
        "Put off its CPU",
        "Slept",
        "Spikes lost",
        "Intervals grown",
    ];
    let table = html! {
        table {
            caption { "Counted after the first release; page faults and being put off the CPU should be zero" }
            thead { tr { @for name in names { th scope="col" { (name) } } } }
            tbody { @for thread in &run.threads { (thread_end(thread)) } }
        }
    };
    html! {
        details {
            summary { "How the threads fared" }
            (scrolling("How the threads fared", false, table))
        }
    }
}

fn thread_end(thread: &ThreadRun) -> Markup {
    let cell = |of: fn(&ThreadEnd) -> u64| dash(thread.end.as_ref().map(of).map(count));
    html! {
        tr {
            th scope="row" { (thread.setup.thread) }
            td { (thread.end.as_ref().map_or("no word", |end| end.reason.word())) }
            td { (cell(|end| end.page_faults)) }
            td { (cell(|end| end.involuntary_switches)) }
            td { (cell(|end| end.voluntary_switches)) }
            td { (cell(|end| end.spikes_lost)) }
            td { (cell(|end| end.intervals_grown)) }
        }
    }
}
