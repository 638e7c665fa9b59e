//! `latlab run SHEET` and `latlab run --resume`: campaigns.

pub mod args;
mod missing;
mod progress;
mod scenarios;
pub mod shown;
mod unit;

use crate::command_line::Cli;
use crate::commands::run::{connector, refused};
use crate::documents::{CampaignResult, DryRun};
use crate::flags::run::RunArgs;
use crate::flags::{Common, Format};
use crate::leftovers::restore;
use crate::output::{print, print_json, style, visible, warn, width};
use crate::sheet::{Instead, Source};
use crate::store::{finish_leftovers, open_store, recover};
use crate::{EXIT_CANNOT_MEASURE, EXIT_FAIL, EXIT_NO_ANSWER, EXIT_USAGE, Exit};
use args::{BESIDE, SheetArgs};
use clap::CommandFactory;
use clap::parser::ValueSource;
use latlab_conduct::campaign::{CampaignEnd, CampaignRequest, run_campaign};
use latlab_conduct::{StopFlag, Timing};
use latlab_model::campaign::Campaign;
use latlab_model::run::VerdictWord;
use latlab_report::campaign::Table;
use latlab_store::{CampaignFolder, CellState, Store};
use latlab_sys::process::uname;
use progress::CampaignProgress;
pub use scenarios::scenarios;
use std::io::{Write, stderr};
use std::process::ExitCode;

/// A sheet, or the rest of one.
pub fn campaign(args: &RunArgs) -> anyhow::Result<ExitCode> {
    refuse_others(std::env::args_os())?;
    let RunArgs { sheet, common, quiet, keep_going, guest, .. } = args;
    let (quiet, keep_going, console) = (*quiet, *keep_going, guest.console);
    asked(&Asked { sheet, common, quiet, keep_going, console })
}

/// What is asked of a campaign, by whichever command.
pub struct Asked<'a> {
    /// Which sheet, and how.
    pub sheet: &'a SheetArgs,
    /// Where it lives and how it is printed.
    pub common: &'a Common,
    /// No progress.
    pub quiet: bool,
    /// Whether to go on when the terminal is closed.
    pub keep_going: bool,
    /// Whether to print what the kernels of guests say.
    pub console: bool,
}

/// Begins what is asked, or goes on with it.
pub fn asked(args: &Asked<'_>) -> anyhow::Result<ExitCode> {
    if args.sheet.print_unit {
        print(&unit::unit(&open_store(args.common))?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let store = open_store(args.common);
    let folder = match (&args.sheet.sheet, &args.sheet.resume) {
        (Some(sheet), _) => match begin(args, &store, sheet)? {
            Some(folder) => folder,
            None => return Ok(ExitCode::SUCCESS),
        },
        (None, spec) => unfinished(&store, spec.as_deref().unwrap_or("last"))?,
    };
    if args.sheet.dry_run {
        let left = left(&folder)?;
        return plan(args, &left).map(|()| ExitCode::SUCCESS);
    }
    go_on(args, &folder)
}

/// Options of a single run have their place in the sheet.
fn refuse_others(words: impl IntoIterator<Item = std::ffi::OsString>) -> anyhow::Result<()> {
    // It was parsed before, so it can be parsed.
    let Ok(matches) = Cli::command().try_get_matches_from(words) else { return Ok(()) };
    let Some(run) = matches.subcommand_matches("run") else { return Ok(()) };
    let program = Cli::command();
    let options = program.find_subcommand("run").into_iter().flat_map(clap::Command::get_arguments);
    let given = |arg: &&clap::Arg| {
        let id = arg.get_id().as_str();
        run.try_contains_id(id).unwrap_or(false)
            && run.value_source(id) == Some(ValueSource::CommandLine)
            && !BESIDE.contains(&id)
    };
    let names: Vec<String> =
        options.filter(given).filter_map(|arg| Some(format!("--{}", arg.get_long()?))).collect();
    match names.is_empty() {
        true => Ok(()),
        false => Err(Exit(
            EXIT_USAGE,
            format!(
                "{}: for a single run only; write it into the sheet, where it has the same name \
                 without the dashes",
                names.join(", ")
            ),
        )
        .into()),
    }
}

/// The folder of a new campaign; none where only its plan was asked for.
fn begin(args: &Asked<'_>, store: &Store, sheet: &str) -> anyhow::Result<Option<CampaignFolder>> {
    let wrong = |text| Exit(EXIT_USAGE, text);
    let source = Source::open(sheet).map_err(wrong)?;
    let SheetArgs { scale, repeats, seeds, .. } = args.sheet;
    let instead = Instead { scale: scale.clone(), repeats: *repeats, seeds: *seeds };
    let campaign = match source.campaign(&instead, jiff::Timestamp::now(), cpus()) {
        Ok(campaign) => campaign,
        Err(mistakes) => {
            for line in mistakes.lines() {
                // Nobody may be there to read it.
                let _ = writeln!(stderr(), "{}", visible(line));
            }
            return Err(Exit(EXIT_USAGE, format!("nothing was run: {sheet} has mistakes")).into());
        }
    };
    if args.sheet.dry_run && !args.sheet.skip_missing {
        plan(args, &campaign)?;
        missing::tell(&campaign);
        return Ok(None);
    }
    let campaign = missing::without(campaign, args.sheet.skip_missing)?;
    if args.sheet.dry_run {
        plan(args, &campaign)?;
        return Ok(None);
    }
    recover(store);
    Ok(Some(store.begin_campaign(campaign, &source.text)?))
}

/// Says what would be measured.
fn plan(args: &Asked<'_>, campaign: &Campaign) -> anyhow::Result<()> {
    match args.common.format {
        Format::Json => print_json(&DryRun::new(campaign)),
        Format::Text => print(&latlab_report::campaign::planned(campaign, width(), style())),
    }
}

/// The campaign with those runs only that a resume would make.
fn left(folder: &CampaignFolder) -> anyhow::Result<Campaign> {
    let tried = folder.tried()?.tried_anew();
    let mut campaign = folder.campaign.clone();
    campaign.runs.retain(|planned| {
        matches!(tried.standing(&folder.campaign, planned), CellState::Missing { .. })
    });
    Ok(campaign)
}

/// CPUs that this process may use.
fn cpus() -> u32 {
    latlab_sys::sched::affinity().map_or(1, |cpus| cpus.len() as u32)
}

/// The campaign to go on with.
fn unfinished(store: &Store, spec: &str) -> anyhow::Result<CampaignFolder> {
    let wrong = |text| anyhow::Error::from(Exit(EXIT_USAGE, text));
    if spec != "last" {
        return store.find_campaign(spec)?.ok_or_else(|| {
            wrong(format!(
                "no campaign '{spec}' in {}: `latlab list` names them",
                store.root().display()
            ))
        });
    }
    let mut failed = None;
    for (_, opened) in store.campaigns()? {
        let Ok(folder) = opened else { continue };
        let tally = folder.tried()?.tally(&folder.campaign);
        if tally.missing() > 0 {
            return Ok(folder);
        }
        // What failed may be tried again, but goes not before what was never tried.
        failed = failed.or((tally.failed > 0).then_some(folder));
    }
    failed.ok_or_else(|| wrong(format!("no campaign in {} is unfinished", store.root().display())))
}

/// Makes the runs that are missing, and shows the table.
fn go_on(args: &Asked<'_>, folder: &CampaignFolder) -> anyhow::Result<ExitCode> {
    let _lock = folder.lock()?;
    restore();
    finish_leftovers(folder.runs());
    let connector = connector()?;
    let release = uname().release;
    let mut progress = CampaignProgress::new(args.quiet, args.console, &folder.campaign);
    let request = CampaignRequest {
        folder,
        connect: &|plan| connector.connect(plan),
        side_by_side: cpus() as usize,
        release: &release,
        stop: StopFlag::on_signals(args.keep_going)?,
        timing: Timing::default(),
    };
    let ended = run_campaign(&request, |event| progress.take(event));
    drop(progress);
    let path = folder.path().display();
    let ended = ended.map_err(|failure| {
        let Exit(code, text) = refused(failure);
        Exit(code, format!("{text}; `latlab run --resume {path}` goes on"))
    })?;
    let table = latlab_view::campaign_table(folder)?;
    match args.common.format {
        Format::Json => print_json(&CampaignResult { path: path.to_string(), table: &table })?,
        Format::Text => print(&format!(
            "{}\nStored in {path}\nAs a page: latlab report {path}\n",
            latlab_report::campaign::show(&table, width(), style())
        ))?,
    }
    Ok(ExitCode::from(told(&ended, &table, &release, &path.to_string())))
}

/// Says what is left to do; the exit code.
fn told(ended: &CampaignEnd, table: &Table, release: &str, path: &str) -> u8 {
    match ended {
        CampaignEnd::Complete => {
            if table.tally.failed > 0 {
                warn(format_args!("`latlab run --resume {path}` tries what failed again"));
            }
            return exit_code(table);
        }
        CampaignEnd::Interrupted => {
            warn(format_args!(
                "ended before all runs were made: `latlab run --resume {path}` goes on"
            ));
        }
        CampaignEnd::Boot { kernel, runs } => warn(format_args!(
            "{runs} {} for a kernel '{kernel}', and this machine runs {release}: boot it, \
             then `latlab run --resume {path}` goes on (`latlab run --print-unit` has systemd do so)",
            if *runs == 1 { "run waits" } else { "runs wait" }
        )),
    }
    EXIT_NO_ANSWER
}

/// What the campaign says to a script: the heaviest of its rows.
fn exit_code(table: &Table) -> u8 {
    let has = |word| table.rows.iter().any(|row| row.verdict == Some(word));
    match () {
        () if has(VerdictWord::Fail) => EXIT_FAIL,
        () if table.tally.failed == table.tally.planned => EXIT_CANNOT_MEASURE,
        () if has(VerdictWord::Invalid) || has(VerdictWord::Inconclusive) => EXIT_NO_ANSWER,
        () if table.rows.iter().any(|row| row.cells.iter().any(|cell| cell.run.is_none())) => {
            EXIT_NO_ANSWER
        }
        () => 0,
    }
}
