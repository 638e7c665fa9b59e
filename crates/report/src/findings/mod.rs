//! The only place with the texts of findings; `latlab-model` has codes, parameters and severities.

mod attach;
mod capture;
mod conditions;
mod ends;
mod import;
mod journal;
mod kinds;
mod loads;
mod losses;
mod machine;
mod own_threads;
mod setup;

pub use kinds::{FindingWords, Said, Worded};

use latlab_model::Run;
use latlab_model::finding::{
    AttachFinding, CaptureFinding, ConditionFinding, EndFinding, Finding, FindingKind, FindingRow,
    ImportFinding, JournalFinding, LoadFinding, LossFinding, MachineFinding, MoreFindings,
    OwnThreadFinding, SetupFinding,
};
use latlab_model::run::EndReason;
use latlab_model::shell::Line;
use latlab_model::units::grouped;

/// The findings of one topic, as the reference lists them.
#[derive(Clone, Copy, Debug)]
pub struct FindingTopic {
    pub title: &'static str,
    /// The introduction to the topic, in Markdown.
    pub introduction: &'static str,
    /// Codes and severities.
    pub rows: &'static [FindingRow],
    pub words: &'static [FindingWords],
}

impl FindingTopic {
    const fn new(
        title: &'static str,
        introduction: &'static str,
        rows: &'static [FindingRow],
        words: &'static [FindingWords],
    ) -> FindingTopic {
        FindingTopic { title, introduction, rows, words }
    }

    pub fn entries(&self) -> impl Iterator<Item = (&'static FindingRow, &'static FindingWords)> {
        self.rows.iter().flat_map(|row| {
            self.words
                .iter()
                .filter(|words| words.variant == row.variant)
                .map(move |words| (row, words))
        })
    }
}

/// All findings, by topic.
pub const FINDING_TOPICS: &[FindingTopic] = &[
    FindingTopic::new("The machine", "", MachineFinding::ROWS, machine::WORDS),
    FindingTopic::new(
        "Captures",
        "These come from [`latlab respond`](../guide/respond.md).",
        CaptureFinding::ROWS,
        capture::WORDS,
    ),
    FindingTopic::new(
        "Imported files",
        "These come from [`latlab import`](../guide/import.md).",
        ImportFinding::ROWS,
        import::WORDS,
    ),
    FindingTopic::new(
        "The conditions",
        "These come from the [conditions](../guide/conditions.md) that latlab reads during every run. Each \
         names the time, the latencies of that time, and those of the rest of the run.",
        ConditionFinding::ROWS,
        conditions::WORDS,
    ),
    FindingTopic::new("Other runs, and settings", "", SetupFinding::ROWS, setup::WORDS),
    FindingTopic::new(
        "Loads",
        "These are about the programs of `--load`; see [loads](../guide/loads.md).",
        LoadFinding::ROWS,
        loads::WORDS,
    ),
    FindingTopic::new(
        "The threads of a program",
        "These come from [`latlab attach`](../guide/attach.md).",
        AttachFinding::ROWS,
        attach::WORDS,
    ),
    FindingTopic::new(
        "latlab's own threads",
        "These are about the threads of latlab that do not measure; see [what latlab costs \
         itself](../guide/own-threads.md).",
        OwnThreadFinding::ROWS,
        own_threads::WORDS,
    ),
    FindingTopic::new("The end of threads, agent and guest", "", EndFinding::ROWS, ends::WORDS),
    FindingTopic::new("Lost data", "", LossFinding::ROWS, losses::WORDS),
    FindingTopic::new("The journal", "", JournalFinding::ROWS, journal::WORDS),
];

pub trait InWords {
    /// What happened, and what to do about it.
    fn worded(&self) -> Worded;

    /// A copy with its texts filled in, as a command prints it.
    fn rendered(&self) -> Self;

    /// What happened, in sentences.
    fn text(&self) -> String {
        self.worded().text
    }

    /// What to do about it.
    fn remedy(&self) -> Option<Line> {
        self.worded().remedy
    }
}

impl InWords for Finding {
    fn worded(&self) -> Worded {
        match &self.kind {
            FindingKind::Machine(finding) => machine::worded(finding),
            FindingKind::Capture(finding) => capture::worded(finding),
            FindingKind::Import(finding) => import::worded(finding),
            FindingKind::Condition(finding) => conditions::worded(finding),
            FindingKind::Setup(finding) => setup::worded(finding),
            FindingKind::Load(finding) => loads::worded(finding),
            FindingKind::Attach(finding) => attach::worded(finding),
            FindingKind::OwnThread(finding) => own_threads::worded(finding),
            FindingKind::End(finding) => ends::worded(finding),
            FindingKind::Loss(finding) => losses::worded(finding),
            FindingKind::Journal(finding) => journal::worded(finding),
            FindingKind::More(MoreFindings { code, more, .. }) => without_remedy(format!(
                "There are {} more findings with the code '{code}'.",
                grouped(*more)
            )),
            FindingKind::Unknown(unknown) => without_remedy(format!(
                "The finding '{}' is unknown to this version.",
                unknown.code
            )),
        }
    }

    fn rendered(&self) -> Finding {
        let Worded { text, remedy } = self.worded();
        self.with_words(text, remedy)
    }
}

/// Used if no finding says why a run was lost.
pub(crate) const LOST: &str = "The agent, or the link to it, was lost.";

/// What cut off the stream of a lost run; `None` for any other run.
pub fn why_lost(run: &Run) -> Option<String> {
    let why = || run.lost_by().map_or(LOST.to_string(), InWords::text);
    (run.ended == EndReason::Lost).then(why)
}

fn without_remedy(text: String) -> Worded {
    Worded { text, remedy: None }
}
