//! The exit codes of the program, and errors that ask for one.

use latlab_conduct::Failure;
use latlab_model::Run;
use latlab_model::run::{EndReason, VerdictWord};

/// The verdict is `fail`, or `--stop-above` was reached.
pub const EXIT_FAIL: u8 = 1;
/// Wrong usage or input.
pub const EXIT_USAGE: u8 = 2;
/// Nothing could be measured.
pub const EXIT_CANNOT_MEASURE: u8 = 3;
/// The verdict is `inconclusive` or `invalid` where one was asked for.
pub const EXIT_NO_ANSWER: u8 = 4;

/// An error with the exit code that the program ends with.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct ExitError {
    /// The exit code.
    pub code: u8,
    /// What went wrong, in one line.
    pub text: String,
}

impl ExitError {
    /// Wrong usage or input.
    pub fn usage(text: impl ToString) -> ExitError {
        ExitError { code: EXIT_USAGE, text: text.to_string() }
    }

    /// Nothing could be measured.
    pub fn cannot_measure(text: impl ToString) -> ExitError {
        ExitError { code: EXIT_CANNOT_MEASURE, text: text.to_string() }
    }
}

impl From<Failure> for ExitError {
    fn from(failure: Failure) -> ExitError {
        match &failure {
            Failure::Refused(refusal) if refusal.plan_is_wrong => ExitError::usage(failure),
            _ => ExitError::cannot_measure(failure),
        }
    }
}

/// The exit code of a finished run.
pub fn exit_code(run: &Run) -> u8 {
    match run.verdict.as_ref().map(|verdict| verdict.word) {
        _ if run.ended == EndReason::StopAbove => EXIT_FAIL,
        None => match run.ended {
            EndReason::Finished | EndReason::Interrupted => {
                // A run without a deadline has no verdict, but an invalid one still gives no answer.
                let invalid = run.findings.iter().any(|finding| finding.invalidates());
                if invalid { EXIT_NO_ANSWER } else { 0 }
            }
            _ => EXIT_CANNOT_MEASURE,
        },
        Some(VerdictWord::Pass) => 0,
        Some(VerdictWord::Fail) => EXIT_FAIL,
        Some(VerdictWord::Inconclusive | VerdictWord::Invalid) => EXIT_NO_ANSWER,
    }
}
