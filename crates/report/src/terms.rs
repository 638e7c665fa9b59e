//! What an instrument records, in words: one table for text, pages and pictures.

use latlab_model::Run;
use latlab_model::plan::{JudgedTime, Plan, Recorded};

/// What figures in virtual time say, and what they do not.
pub(crate) const VIRTUAL_TIME_SHOWS: &str = "one instruction takes one nanosecond. The result shows \
                                      which kernel paths delay a thread and by how many \
                                      instructions, not the effects of a board's memory and buses";

/// The words of an instrument.
#[derive(Debug)]
pub struct Terms {
    /// One of what it records.
    pub one: &'static str,
    /// Several.
    pub many: &'static str,
    /// What they are together, as a title.
    pub title: &'static str,
    /// Several, at the start of a sentence.
    pub titles: &'static str,
    /// What an axis of them says.
    pub axis: &'static str,
    /// How large one is, as a noun.
    pub size: &'static str,
    /// Whatever gives one of them.
    pub cycle: &'static str,
    /// Several of these.
    pub cycles: &'static str,
    /// Larger than another: `later`, `longer`.
    pub beyond: &'static str,
    /// Whether gaps are among them, which stand for a small part of the passes only.
    pub has_gaps: bool,
}

/// A thread that begins late.
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

/// Time that is taken from a busy loop.
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

/// A pin that answers another one.
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

/// Runs of both beside each other: time that the CPU was not the thread's.
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

/// An axis of them in words.
pub fn along(is_logarithmic: bool, terms: &Terms) -> String {
    format!("{}{}", if is_logarithmic { "logarithmic " } else { "" }, terms.size)
}

/// The words for what this plan measures.
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

/// The words for a run.
pub fn of_run(run: &Run) -> &'static Terms {
    of_plan(&run.asked)
}

/// The words for several runs, which may be of two kinds.
pub fn of_all<'a>(runs: impl IntoIterator<Item = &'a Run>) -> &'static Terms {
    let mut all = runs.into_iter().map(of_run);
    let first = all.next().unwrap_or(&LATENCY);
    if all.all(|other| std::ptr::eq(first, other)) { first } else { &MIXED }
}
