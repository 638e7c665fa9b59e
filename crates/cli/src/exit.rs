//! The exit codes of the program, and errors that carry one.

use latlab_conduct::Failure;
use latlab_model::Run;
use latlab_model::run::{EndReason, VerdictWord};
use latlab_report::InWords;
use std::io::{self, ErrorKind};

/// The verdict is `fail`, or `--stop-above` was reached.
pub const EXIT_FAIL: u8 = 1;
pub const EXIT_USAGE: u8 = 2;
/// Nothing could be measured, or a file could not be read or written: a permission, a kernel
/// feature or disk space is missing.
pub const EXIT_CANNOT_MEASURE: u8 = 3;
/// The verdict is `inconclusive` or `invalid`, although a deadline was given.
pub const EXIT_NO_ANSWER: u8 = 4;

/// An error with an exit code.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct ExitError {
    pub code: u8,
    /// One line for the user.
    pub text: String,
}

impl ExitError {
    pub fn usage(text: impl ToString) -> ExitError {
        ExitError { code: EXIT_USAGE, text: text.to_string() }
    }

    pub fn cannot_measure(text: impl ToString) -> ExitError {
        ExitError { code: EXIT_CANNOT_MEASURE, text: text.to_string() }
    }
}

impl From<Failure> for ExitError {
    fn from(failure: Failure) -> ExitError {
        match &failure {
            Failure::Refused(refusal) if refusal.plan_is_wrong => ExitError::usage(failure),
            Failure::Invalid(finding) => ExitError::cannot_measure(finding.text()),
            _ => ExitError::cannot_measure(failure),
        }
    }
}

/// The exit code of an error: the one it carries, else 2 if the input is wrong, else 3.
pub fn error_code(error: &anyhow::Error) -> u8 {
    if let Some(exit) = error.downcast_ref::<ExitError>() {
        return exit.code;
    }
    let of_store = match error.downcast_ref() {
        Some(latlab_store::Error::Io { error, .. }) => Some(error),
        _ => None,
    };
    let of_system = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>());
    match of_system.or(of_store) {
        Some(error) if !is_of_input(error.kind()) => EXIT_CANNOT_MEASURE,
        _ => EXIT_USAGE,
    }
}

/// Whether an error of this kind comes from a name or a content that the user gave.
fn is_of_input(kind: ErrorKind) -> bool {
    use ErrorKind::*;
    matches!(
        kind,
        NotFound
            | NotADirectory
            | IsADirectory
            | AlreadyExists
            | InvalidFilename
            | InvalidInput
            | InvalidData
            | UnexpectedEof
    )
}

pub fn exit_code(run: &Run) -> u8 {
    match run.verdict.as_ref().map(|verdict| verdict.word) {
        _ if run.ended == EndReason::StopAbove => EXIT_FAIL,
        None => match run.ended {
            EndReason::Finished | EndReason::Interrupted | EndReason::Decided => {
                // Without a deadline there is no verdict, but an invalid run still gives no answer.
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

/// The exit code of several runs or files. A deadline miss outweighs everything, then a file that
/// could not be read or a run that could not be measured, then a verdict that gives no answer.
pub fn heaviest_code(codes: impl IntoIterator<Item = u8>) -> u8 {
    let codes: Vec<u8> = codes.into_iter().collect();
    let by_weight = [EXIT_FAIL, EXIT_CANNOT_MEASURE, EXIT_USAGE, EXIT_NO_ANSWER];
    by_weight.into_iter().find(|code| codes.contains(code)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_missed_deadline_outweighs_what_cannot_be_read_and_that_a_missing_answer() {
        for (codes, heaviest) in [
            (&[][..], 0),
            (&[0, 4, 1], 1),
            (&[4, 2, 1], 1),
            (&[4, 2, 0], 2),
            (&[2, 3], 3),
            (&[0, 4], 4),
        ] {
            assert_eq!(heaviest_code(codes.iter().copied()), heaviest, "{codes:?}");
        }
    }

    #[test]
    fn a_mistake_is_2_and_a_machine_that_takes_nothing_is_3() {
        let of = |kind: ErrorKind| {
            let error: io::Result<()> = Err(kind.into());
            error_code(&error.context("cannot write x").unwrap_err())
        };
        let of_store = |kind: ErrorKind| {
            let (doing, path, error) = ("open", "x".into(), kind.into());
            error_code(&latlab_store::Error::Io { doing, path, error }.into())
        };
        for kind in [ErrorKind::StorageFull, ErrorKind::PermissionDenied, ErrorKind::Other] {
            assert_eq!((of(kind), of_store(kind)), (3, 3), "{kind}");
        }
        for kind in [ErrorKind::NotFound, ErrorKind::IsADirectory] {
            assert_eq!((of(kind), of_store(kind)), (2, 2), "{kind}");
        }
        assert_eq!(error_code(&anyhow::anyhow!("no such run")), 2);
        assert_eq!(error_code(&ExitError { code: 4, text: "x".into() }.into()), 4);
    }
}
