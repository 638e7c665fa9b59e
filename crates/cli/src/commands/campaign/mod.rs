//! `latlab run SHEET` and `latlab run --resume`: campaigns.

mod missing_programs;
mod progress;
mod systemd_unit;

use crate::commands::run::connector;
use crate::documents::{CampaignResult, DryRun};
use crate::exit::{EXIT_CANNOT_MEASURE, EXIT_FAIL, EXIT_NO_ANSWER, ExitError, heaviest_code};
use crate::flags::run::RunArgs;
use crate::flags::sheet::{NOT_DETACHED, SheetArgs};
use crate::flags::test_results::TestResultArgs;
use crate::flags::{Common, Format};
use crate::leftovers::restore;
use crate::output::{
    escape_lines, print, print_json, print_text, sanitize_document, style, warn, width,
};
use crate::sheet::{Overrides, SheetFile, usable_cpus};
use crate::store::{finish_leftovers, lab_folder, open_store, recover};
use crate::targets::boards_of;
use anyhow::Context;
use clap::ArgMatches;
use clap::parser::ValueSource;
use latlab_conduct::campaign::{CampaignEnd, CampaignRequest, run_campaign};
use latlab_conduct::link::Connector;
use latlab_conduct::{StopFlag, Timing};
use latlab_model::Target;
use latlab_model::campaign::Campaign;
use latlab_model::options::{OPTIONS, PlanOption};
use latlab_model::run::VerdictWord;
use latlab_model::shell::{self, Line};
use latlab_report::campaign::CampaignRow;
use latlab_report::campaign::{CampaignTable, test_suite};
use latlab_store::{CampaignFolder, CampaignProgress, CellState, Store};
use latlab_sys::process::uname;
use progress::ProgressPrinter;
use std::collections::BTreeSet;
use std::io::{Write, stderr};
use std::process::ExitCode;

/// `latlab run` with a sheet or `--resume`; `given` tells flags on the command line from defaults.
pub fn run_sheet(args: &RunArgs, given: &ArgMatches) -> anyhow::Result<ExitCode> {
    refuse_other_flags(given)?;
    args.results.check(args.common.format == Format::Json)?;
    let RunArgs { sheet, common, results, quiet, keep_going, measure } = args;
    let (quiet, keep_going, console) = (*quiet, *keep_going, measure.guest.console);
    begin_or_resume(&CampaignArgs { sheet, common, results, quiet, keep_going, console })
}

/// What `latlab run` and other commands pass to a campaign.
pub struct CampaignArgs<'a> {
    pub sheet: &'a SheetArgs,
    /// The folder of runs and the output format.
    pub common: &'a Common,
    pub results: &'a TestResultArgs,
    /// Print no progress.
    pub quiet: bool,
    /// Go on when the terminal is closed.
    pub keep_going: bool,
    /// Print the kernel messages of guests.
    pub console: bool,
}

/// Starts or resumes a campaign, and prints its table.
pub fn begin_or_resume(args: &CampaignArgs<'_>) -> anyhow::Result<ExitCode> {
    if args.sheet.print_unit {
        print(&systemd_unit::systemd_unit(&open_store(args.common.out.as_deref()))?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let store = open_store(args.common.out.as_deref());
    let folder = match (&args.sheet.sheet, &args.sheet.resume) {
        (Some(sheet), _) => match create(args, &store, sheet)? {
            Some(folder) => folder,
            None => return Ok(ExitCode::SUCCESS),
        },
        (None, spec) => find_unfinished(&store, spec.as_deref().unwrap_or("last"))?,
    };
    if args.sheet.dry_run {
        let left = remaining(&folder)?;
        return print_plan(args, &left).map(|()| ExitCode::SUCCESS);
    }
    resume(args, &folder)
}

/// Refuses flags of a single run: with a sheet, they belong in the sheet.
fn refuse_other_flags(given: &ArgMatches) -> Result<(), ExitError> {
    if given.get_flag("detach") {
        return Err(ExitError::usage(NOT_DETACHED));
    }
    let is_refused = |option: &&PlanOption| {
        given.value_source(option.name) == Some(ValueSource::CommandLine)
            // Allowed: guests of a sheet have consoles too.
            && option.name != "console"
    };
    let options = OPTIONS.iter().filter(|option| option.is_of_run());
    let names: Vec<String> =
        options.filter(is_refused).map(|option| format!("--{}", option.name)).collect();
    match names.is_empty() {
        true => Ok(()),
        false => Err(ExitError::usage(format!(
            "{}: only for a single run; set it in the sheet, under the same name without dashes",
            names.join(", ")
        ))),
    }
}

/// Creates the folder of a new campaign. `None` if only its plan was asked for.
fn create(
    args: &CampaignArgs<'_>,
    store: &Store,
    sheet: &str,
) -> anyhow::Result<Option<CampaignFolder>> {
    let source = SheetFile::open(sheet).map_err(ExitError::usage)?;
    let SheetArgs { scale, repeats, seeds, targets, .. } = args.sheet;
    let boards = targets.as_deref().map(boards_of).transpose().map_err(ExitError::usage)?;
    let (scale, boards) = (scale.clone(), boards.unwrap_or_default());
    let instead = Overrides { scale, repeats: *repeats, seeds: *seeds, boards };
    let campaign = match source.campaign(&instead, jiff::Timestamp::now(), usable_cpus()) {
        Ok(campaign) => campaign,
        Err(mistakes) => {
            for line in mistakes.lines() {
                // Standard error may be closed.
                let _ = writeln!(stderr(), "{}", escape_lines(line));
            }
            return Err(ExitError::usage(format!("nothing was run: {sheet} has errors")).into());
        }
    };
    if args.sheet.dry_run && !args.sheet.skip_missing {
        print_plan(args, &campaign)?;
        missing_programs::warn_missing(&campaign);
        return Ok(None);
    }
    let campaign = missing_programs::skip_missing(campaign, args.sheet.skip_missing)?;
    if args.sheet.dry_run {
        print_plan(args, &campaign)?;
        return Ok(None);
    }
    recover(store);
    Ok(Some(store.begin_campaign(campaign, &source.text)?))
}

fn print_plan(args: &CampaignArgs<'_>, campaign: &Campaign) -> anyhow::Result<()> {
    match args.common.format {
        Format::Json => print_json(&DryRun::new(campaign)),
        Format::Text => {
            let campaign = sanitize_document(campaign)?;
            print_text(&latlab_report::campaign::planned(&campaign, width(), style()))
        }
    }
}

/// The campaign reduced to the runs that a resume would make.
fn remaining(folder: &CampaignFolder) -> anyhow::Result<Campaign> {
    let tried = folder.progress()?.forget_failures();
    let mut campaign = folder.campaign.clone();
    campaign.runs.retain(|planned| {
        matches!(tried.cell_state(&folder.campaign, planned), CellState::Missing { .. })
    });
    Ok(campaign)
}

/// Finds the campaign to resume.
fn find_unfinished(store: &Store, spec: &str) -> anyhow::Result<CampaignFolder> {
    let wrong = |text: String| anyhow::Error::from(ExitError::usage(text));
    if spec != "last" {
        return store.find_campaign(spec)?.ok_or_else(|| {
            wrong(format!("no campaign '{spec}' in {}; see `latlab list`", store.root().display()))
        });
    }
    let mut failed = None;
    for (_, opened) in store.campaigns()? {
        let Ok(folder) = opened else { continue };
        let tried = folder.progress()?;
        if tried.counts(&folder.campaign).missing() > 0 {
            return Ok(folder);
        }
        // A failed campaign can be resumed, but one that was never tried comes first.
        if failed.is_none() && tried.can_be_resumed(&folder.campaign) {
            failed = Some(folder);
        }
    }
    failed.ok_or_else(|| wrong(format!("no campaign in {} is unfinished", store.root().display())))
}

/// How the missing runs of a campaign are made.
pub struct RunMaker<'a> {
    pub folder: &'a CampaignFolder,
    pub quiet: bool,
    /// Print the kernel messages of guests.
    pub console: bool,
    /// Go on when the terminal is closed.
    pub keep_going: bool,
    /// Number of boards that are measured at once.
    pub boards_at_once: usize,
    /// The command that goes on with the campaign.
    pub again: Line,
    /// Whether the runs so far suffice.
    pub is_enough: &'a (dyn Fn(&CampaignProgress) -> bool + Sync),
}

/// Makes the missing runs of a campaign, which the caller has locked.
pub fn make_runs(maker: RunMaker<'_>) -> anyhow::Result<CampaignEnd> {
    let RunMaker { folder, quiet, console, keep_going, boards_at_once, again, is_enough } = maker;
    restore();
    finish_leftovers(folder.runs());
    // Prompts of several connections at once would be mixed up.
    let may_ask = boards_at_once < 2 || count_of_boards(&folder.campaign) < 2;
    let connector = Connector { may_ask, ..connector()? };
    let release = uname().release;
    let mut progress = ProgressPrinter::new(quiet, console, &folder.campaign);
    let request = CampaignRequest {
        folder,
        connect: &|plan| connector.connect(plan),
        guests_at_once: boards_at_once.min(usable_cpus() as usize),
        boards_at_once,
        board_locks: lab_folder().join("boards"),
        release: &release,
        is_enough,
        stop: StopFlag::on_signals(keep_going)?,
        timing: Timing::default(),
    };
    let ended = run_campaign(&request, |event| progress.print_event(event));
    drop(progress);
    Ok(ended.map_err(|failure| {
        let ExitError { code, text } = ExitError::from(failure);
        ExitError { code, text: format!("{text}; continue with `{again}`") }
    })?)
}

/// Makes the missing runs, then prints the table.
fn resume(args: &CampaignArgs<'_>, folder: &CampaignFolder) -> anyhow::Result<ExitCode> {
    let _lock = folder.lock()?;
    let release = uname().release;
    let ended = make_runs(RunMaker {
        folder,
        quiet: args.quiet,
        console: args.console,
        keep_going: args.keep_going,
        boards_at_once: args.sheet.jobs as usize,
        again: resume_command(folder),
        is_enough: &|_| false,
    })?;
    let path = folder.path().display();
    let table = latlab_report::stored::campaign_table(folder)?;
    let printed = match args.common.format {
        _ if args.results.replace_text() => Ok(()),
        Format::Json => print_json(&CampaignResult { path: path.to_string(), table: &table }),
        Format::Text => print_text(&format!(
            "{}\nStored in {path}\nAs a page: {}\n",
            latlab_report::campaign::show(&sanitize_document(&table)?, width(), style()),
            shell::latlab("report", folder.path())
        )),
    };
    let tests = || Ok(test_suite(&sanitize_document(&table)?));
    printed
        .and_then(|()| args.results.write(tests))
        .with_context(|| format!("the campaign is stored in {path}"))?;
    print_remaining(&ended, folder, &release)?;
    Ok(ExitCode::from(exit_code(&ended, &table)))
}

fn count_of_boards(campaign: &Campaign) -> usize {
    let targets = campaign.rows.iter().map(|row| &row.plan.on.target);
    let boards = targets.filter(|target| target.is_behind_a_link());
    boards.map(Target::to_string).collect::<BTreeSet<String>>().len()
}

/// The command that resumes this campaign.
fn resume_command(folder: &CampaignFolder) -> Line {
    Line::new("latlab run --resume").word(folder.path())
}

/// Prints how many runs are left, and the command that makes them.
fn print_remaining(
    ended: &CampaignEnd,
    folder: &CampaignFolder,
    release: &str,
) -> anyhow::Result<()> {
    let again = resume_command(folder);
    match ended {
        CampaignEnd::Complete => {
            if folder.progress()?.can_be_resumed(&folder.campaign) {
                warn(format_args!("to retry failed runs: `{again}`"));
            }
        }
        CampaignEnd::Interrupted => {
            warn(format_args!("campaign incomplete; continue with `{again}`"))
        }
        CampaignEnd::Boot { kernel, runs } => warn(format_args!(
            "{runs} {} for a kernel '{kernel}', and this machine runs {release}: boot it, then \
             continue with `{again}` (`latlab run --print-unit` prints a \
             systemd unit for that)",
            if *runs == 1 { "run waits" } else { "runs wait" }
        )),
    }
    Ok(())
}

/// The exit code of a campaign: that of its worst row, once all runs are made.
fn exit_code(ended: &CampaignEnd, table: &CampaignTable) -> u8 {
    let of_row = |row: &CampaignRow| match row.verdict {
        Some(VerdictWord::Fail) => EXIT_FAIL,
        Some(VerdictWord::Invalid | VerdictWord::Inconclusive) => EXIT_NO_ANSWER,
        _ if row.cells.iter().any(|cell| cell.run.is_none()) => EXIT_NO_ANSWER,
        Some(VerdictWord::Pass) | None => 0,
    };
    let nothing = (table.tally.failed == table.tally.planned).then_some(EXIT_CANNOT_MEASURE);
    match ended {
        CampaignEnd::Interrupted | CampaignEnd::Boot { .. } => EXIT_NO_ANSWER,
        CampaignEnd::Complete => heaviest_code(table.rows.iter().map(of_row).chain(nothing)),
    }
}
