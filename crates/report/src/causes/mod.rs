//! The only place with the words for causes of large latencies; `latlab-model` has codes and
//! numbers.

mod evidence;
mod facts;
mod kinds;
mod remedy;
mod sentence;
mod threads;

pub use evidence::{detail, reason};
pub use kinds::{Cases, CauseWords, words};
pub use remedy::remedy;
pub(crate) use sentence::clause;
pub use sentence::{cause_words, sentence};
pub use threads::priority_of;
pub(crate) use threads::{measured_policy, process_of, realtime, urgency_of};

use latlab_model::Run;
use latlab_model::explanation::{
    BlamePart, RunCause, RunExplanation, SpikeBlame, Unexplained, UnexplainedReason,
};

/// The explanation from the flight recorder with its words filled in, as a command prints it.
pub fn rendered(run: &Run) -> Option<RunExplanation> {
    let explanation = run.explanation.as_ref()?;
    let cause = |one: &RunCause| RunCause {
        realtime: realtime(one.kernel_priority),
        remedy: Some(remedy(one, measured_policy(run))),
        ..one.clone()
    };
    let unexplained = |one: &Unexplained| Unexplained { why: Some(why(one).to_string()), ..*one };
    Some(RunExplanation {
        causes: explanation.causes.iter().map(cause).collect(),
        unexplained: explanation.unexplained.iter().map(unexplained).collect(),
        largest: explanation.largest.iter().map(spike).collect(),
        ..explanation.clone()
    })
}

/// One spike with its words filled in.
pub fn spike(blame: &SpikeBlame) -> SpikeBlame {
    SpikeBlame {
        parts: blame.parts.iter().map(part).collect(),
        longest: blame.longest.as_ref().map(part),
        sentence: Some(sentence(blame)),
        gap: blame.reason.map(|one| reason(one).to_string()),
        ..blame.clone()
    }
}

fn part(part: &BlamePart) -> BlamePart {
    BlamePart { detail: detail(part), ..part.clone() }
}

/// Why spikes are not explained.
pub(crate) fn why(unexplained: &Unexplained) -> &'static str {
    reason(unexplained.reason.unwrap_or(UnexplainedReason::CauseUnknown))
}
