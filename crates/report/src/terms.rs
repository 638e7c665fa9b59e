//! What an instrument records, in words: one table for text, pages and charts.

use latlab_model::Run;
use latlab_model::plan::{JudgedTime, Plan, Recorded};

/// What figures in virtual time show.
pub(crate) const VIRTUAL_TIME_SHOWS: &str = "one instruction takes one nanosecond. The result shows \
                                      which kernel paths delay a thread and by how many \
                                      instructions, not the effects of a board's memory and buses";

#[derive(Debug)]
pub struct Terms {
    /// A recorded value.
    pub one: &'static str,
    /// Plural of `one`.
    pub many: &'static str,
    /// All recorded values, as a title.
    pub title: &'static str,
    /// `many` at the start of a sentence.
    pub titles: &'static str,
    /// Axis title.
    pub axis: &'static str,
    /// The size of one, as a noun.
    pub size: &'static str,
    /// What yields one value, such as a cycle.
    pub cycle: &'static str,
    /// Plural of `cycle`.
    pub cycles: &'static str,
    /// Comparative: `later`, `longer`.
    pub beyond: &'static str,
    /// Whether there are gaps among them, which occur only in a small part of the passes.
    pub has_gaps: bool,
}

/// The delay until a thread starts.
pub static LATENCY: Terms = Terms {
    one: "latency",
    many: "latencies",
    title: "Latency",
    titles: "Latencies",
    axis: "Latency",
    size: "latency",
    cycle: "cycle",
    cycles: "cycles",
    beyond: "later",
    has_gaps: false,
};

/// Time taken from a busy loop.
static GAP: Terms = Terms {
    one: "gap",
    many: "gaps",
    title: "Noise",
    titles: "Gaps",
    axis: "Length of gaps",
    size: "length",
    cycle: "gap",
    cycles: "gaps",
    beyond: "longer",
    has_gaps: true,
};

/// A cycle of a program's thread, from its release to its end.
static CYCLE: Terms = Terms {
    one: "response time",
    many: "response times",
    title: "Response time",
    titles: "Response times",
    axis: "Response time",
    size: "response time",
    cycle: "cycle",
    cycles: "cycles",
    beyond: "longer",
    has_gaps: false,
};

/// The response of one pin to another.
static RESPONSE: Terms = Terms {
    one: "response",
    many: "responses",
    title: "Response time",
    titles: "Responses",
    axis: "Response time",
    size: "response time",
    cycle: "response",
    cycles: "responses",
    beyond: "later",
    has_gaps: false,
};

/// Runs of both kinds together: time during which the thread did not have the CPU.
pub static MIXED: Terms = Terms {
    one: "latency or gap",
    many: "latencies and gaps",
    title: "Latency and noise",
    titles: "Latencies and gaps",
    axis: "Latency or length of gaps",
    size: "latency or length",
    cycle: "cycle or gap",
    cycles: "cycles and gaps",
    beyond: "larger",
    has_gaps: true,
};

/// The axis title.
pub fn along(is_logarithmic: bool, terms: &Terms) -> String {
    format!("{}{}", if is_logarithmic { "logarithmic " } else { "" }, terms.size)
}

pub fn of_plan(plan: &Plan) -> &'static Terms {
    if plan.method.attach().is_some_and(|attach| attach.judged == JudgedTime::Response) {
        return &CYCLE;
    }
    match plan.method.records() {
        Recorded::Latency => &LATENCY,
        Recorded::Gap => &GAP,
        Recorded::Response => &RESPONSE,
    }
}

pub fn of_run(run: &Run) -> &'static Terms {
    of_plan(&run.asked)
}

/// The words for several runs, which may be of two kinds.
pub fn of_all<'a>(runs: impl IntoIterator<Item = &'a Run>) -> &'static Terms {
    let mut all = runs.into_iter().map(of_run);
    let first = all.next().unwrap_or(&LATENCY);
    if all.all(|other| std::ptr::eq(first, other)) { first } else { &MIXED }
}
