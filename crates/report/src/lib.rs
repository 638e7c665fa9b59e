//! Renders runs as SVG, HTML pages and terminal tables. Nothing here reads a clock, and only
//! [`stored`] reads folders, so the same run always yields the same bytes.

#![forbid(unsafe_code)]

pub mod campaign;
mod cause_share;
mod causes;
pub mod compare;
pub mod doctor;
mod document;
mod facts;
mod figures;
mod findings;
pub mod fleet;
pub mod page;
mod pictures;
mod png;
mod run_length;
mod run_table;
mod run_with_bins;
mod sanitize;
mod sections;
mod sentence;
pub mod stored;
mod summary;
mod terminal;
pub mod terms;
pub mod test_suite;
pub mod trend;
pub mod tune;
pub mod units;
mod verdict;

pub use causes::{
    Cases, CauseWords, cause_words, detail as part_detail, priority_of as thread_priority,
    reason as unexplained_reason, remedy as cause_remedy, rendered as rendered_explanation,
    sentence as spike_sentence, spike as rendered_spike, words as words_of_cause,
};
pub use doctor::{Detail, Subject, catalogue, comparison, examination};
pub use document::outline::with_breaks;
pub use document::style::{Colour, Style};
pub use document::table::{Column, Table, table, wrapped};
pub use document::{Section, to_terminal};
pub use facts::STORED_FILES;
pub use figures::{figure_head, served_figures, served_heads};
pub use findings::{FINDING_TOPICS, FindingTopic, FindingWords, InWords, Said, Worded, why_lost};
pub use page::{PageRun, is_interactive, live_script, live_style, page, page_top};
pub use pictures::axis::{Axis, Spacing};
pub use pictures::latency::latency_picture;
pub use pictures::options::Options;
pub use pictures::plot::{Kind, plot};
pub use pictures::{phase, time};
pub use png::{PngError, png, standalone};
pub use run_length::run_length;
pub use run_table::RunTable;
pub use run_with_bins::RunWithBins;
pub use sanitize::{sanitize_comparison, sanitize_run};
pub use sections::attach::list as attached_threads;
pub use sections::explanation::{text as causes_text, timeline};
pub use sections::load::{LoadEntry, load_entry};
pub use sections::pairs::PairedRuns;
pub use sections::responders::text as compared_responders;
pub use terminal::blocks::{Glyphs, PictureSize, histogram};
pub use terminal::list::{list, markdown_list};
pub use terminal::show::{markdown, show};
pub use terminal::summary::{summarise, summarise_in_lines};
pub use terminal::window::{window, window_markdown};
pub use verdict::{bursts_so_far, rendered, rendered_verdict, verdict_reason};
