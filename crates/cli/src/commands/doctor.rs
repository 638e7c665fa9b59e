//! `latlab doctor`: settings that cost latency, what has changed, and how to fix it.

pub mod args;
mod source;

use crate::commands::tuned::add_results;
use crate::exit::{EXIT_CANNOT_MEASURE, EXIT_FAIL, ExitError};
use crate::flags::Format;
use crate::leftovers::restore_command;
use crate::output::{print_json, print_text, style, width, write_whole};
use crate::store::{open_store, quarantine};
use args::DoctorArgs;
use latlab_conduct::StopFlag;
use latlab_doctor::{catalogue, compare, examination};
use latlab_model::Snapshot;
use latlab_model::doctor::{CheckEntry, Diagnosis};
use latlab_model::sanitize::sanitize_examination;
use latlab_model::target::BoardTarget;
use latlab_report::Detail;
use source::SnapshotSource;
use std::path::Path;
use std::process::ExitCode;

pub fn doctor(args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    if args.restore {
        return match &args.target {
            Some(board) => restore_board(board),
            None => restore_command(),
        };
    }
    if args.quarantine {
        let finished = quarantine(&open_store(args.common.out.as_deref()))?;
        return Ok(ExitCode::from(if finished { 0 } else { EXIT_CANNOT_MEASURE }));
    }
    if args.list {
        return list(args.common.format);
    }
    let source = SnapshotSource::open(args)?;
    if let Some(path) = &args.save {
        save(path, &source.snapshot)?;
        if path.as_os_str() == "-" {
            return Ok(ExitCode::SUCCESS);
        }
    }
    let hit = match &args.against {
        Some(name) => changes(args, &SnapshotSource::open_compared(args, name)?, &source)?,
        None => findings(args, &source)?,
    };
    Ok(ExitCode::from(if hit { EXIT_FAIL } else { 0 }))
}

/// Undoes what a killed agent left changed on a board, and prints each change.
fn restore_board(board: &BoardTarget) -> anyhow::Result<ExitCode> {
    let told = latlab_conduct::link::restore_board(board, StopFlag::on_signals(false)?);
    let told = told.map_err(ExitError::from)?;
    if told.is_empty() {
        print_text("Nothing to restore.\n")?;
    }
    told.iter().try_for_each(|line| print_text(&format!("{line}\n")))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the findings. Returns whether one of them is what `--fail-on` asks for.
fn findings(args: &DoctorArgs, source: &SnapshotSource) -> anyhow::Result<bool> {
    let mut found = examination(&source.snapshot);
    let all = found.findings.len();
    if source.is_here() {
        let store = open_store(args.common.out.as_deref());
        let (host, kernel) = (found.machine.hostname.clone(), found.machine.kernel.clone());
        add_results(&store, &mut found.findings, host.as_deref(), &kernel);
    }
    found.findings.retain(|finding| is_wanted(args, finding));
    match args.common.format {
        Format::Json => print_json(&found)?,
        Format::Text => {
            let left_out = all - found.findings.len();
            let found = sanitize_examination(&found)?;
            print_text(&latlab_report::examination(
                &found,
                source.subject(),
                left_out,
                detail(args),
            ))?;
        }
    }
    let weights = found.findings.iter().map(|finding| finding.severity);
    Ok(args.fail_on.is_some_and(|limit| weights.max().is_some_and(|weight| weight >= limit)))
}

/// Prints what changed. Returns whether that is what `--fail-on` asks for.
fn changes(
    args: &DoctorArgs,
    before: &SnapshotSource,
    after: &SnapshotSource,
) -> anyhow::Result<bool> {
    let mut compared = compare((&*before.name, &before.snapshot), (&*after.name, &after.snapshot));
    if let (Some(before), Some(after)) = (&before.conditions, &after.conditions) {
        compared.conditions = latlab_digest::conditions::compare(before, after);
    }
    compared.appeared.retain(|finding| is_wanted(args, finding));
    compared.gone.retain(|finding| is_wanted(args, finding));
    compared.weighed.retain(|weighed| is_wanted(args, &weighed.now));
    match args.common.format {
        Format::Json => print_json(&compared)?,
        Format::Text => {
            print_text(&latlab_report::comparison(
                &latlab_report::sanitize_comparison(&compared)?,
                detail(args),
            ))?;
        }
    }
    Ok(args.fail_on.is_some_and(|weight| compared.has_at_least(weight)))
}

fn is_wanted(args: &DoctorArgs, finding: &Diagnosis) -> bool {
    let named = |codes: &[String]| codes.contains(&finding.code);
    (args.only.is_empty() || named(&args.only)) && !named(&args.ignore)
}

fn detail(args: &DoctorArgs) -> Detail {
    Detail { width: width(), style: style(), verbose: args.verbose }
}

fn list(format: Format) -> anyhow::Result<ExitCode> {
    let entries: Vec<CheckEntry> = catalogue().map(|check| check.entry()).collect();
    match format {
        Format::Json => print_json(&entries)?,
        Format::Text => print_text(&latlab_report::catalogue(&entries, width(), style()))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn save(path: &Path, snapshot: &Snapshot) -> anyhow::Result<()> {
    match path.as_os_str() == "-" {
        true => print_json(snapshot),
        false => write_whole(path, (serde_json::to_string_pretty(snapshot)? + "\n").as_bytes()),
    }
}
