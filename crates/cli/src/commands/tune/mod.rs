//! `latlab tune`: which settings of this machine help.

pub mod apply;
pub mod args;
mod own_settings;

use crate::commands::attach::watch_briefly;
use crate::commands::campaign::{RunMaker, make_runs};
use crate::commands::run::own_program;
use crate::commands::tuned::{confirmation, keep, of_search, result};
use crate::exit::{EXIT_NO_ANSWER, ExitError};
use crate::flags::Format;
use crate::output::{print_json, print_text, sanitize_document, style, warn, width};
use crate::sheet::usable_cpus;
use crate::store::{open_store, recover};
use anyhow::Context;
use args::TuneArgs;
use latlab_conduct::StopFlag;
use latlab_conduct::campaign::CampaignEnd;
use latlab_conduct::tune::{Planner, SEARCHING, Search, figures, rate};
use latlab_model::plan::IdleStates;
use latlab_model::shell::{self, Line};
use latlab_model::tune::{Candidate, LeftOut, SettingWord, TunePlan, TuneResult};
use latlab_model::{CpuSet, Nanos, Plan, Target};
use latlab_store::{CampaignFolder, CampaignProgress, Store};
use latlab_sys::files::Root;
use latlab_sys::tune_claim::TuneClaim;
use latlab_sys::undo::{Changes, single_spaced};
use std::io::{Write, stderr};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::time::Instant;

/// Time of a search without `--for`.
const USUAL_TIME: Nanos = Nanos(3_600_000_000_000);
/// Pairs between two lines that say how far the search is.
const PAIRS_A_LINE: usize = 10;

pub fn tune(args: &TuneArgs) -> anyhow::Result<ExitCode> {
    let store = open_store(args.common.out.as_deref());
    let root = Root::default();
    if args.status {
        return apply::status(&root, args.common.format);
    }
    if args.undo {
        return apply::undo(&root);
    }
    if let Some(spec) = &args.apply {
        let folder = find(&store, spec)?;
        let result = result(&store, &folder)?;
        let tune = folder.campaign.tune.as_ref();
        let measured = tune.and_then(|tune| tune.measured.clone()).unwrap_or_default();
        let online: CpuSet = root.read_as("sys/devices/system/cpu/online").unwrap_or_default();
        return apply::apply(&root, &result, &online.without(&measured), args.yes);
    }
    let _alone = match (args.dry_run, TuneClaim::take(&root)?) {
        (_, Ok(claim)) => Some(claim),
        (true, Err(_)) => None,
        (false, Err(holder)) => {
            let text =
                format!("{holder} searches for settings of this machine: wait until it ends");
            return Err(ExitError::cannot_measure(text).into());
        }
    };
    recover(&store);
    let folder = match &args.resume {
        Some(spec) => find(&store, spec)?,
        None => match begin(args, &store, &root)? {
            Some(folder) => folder,
            None => return Ok(ExitCode::SUCCESS),
        },
    };
    let is_whole = search(args, &folder)? && confirm(args, &store, &folder)?;
    let result = result(&store, &folder)?;
    keep(&folder, &result)?;
    print_result(args, &folder, &result)?;
    if !is_whole {
        warn(format_args!("the search was cut short; continue with `{}`", again(&folder)));
    }
    let is_answered = is_whole && result.with(SettingWord::Undecided).next().is_none();
    Ok(if is_answered { ExitCode::SUCCESS } else { ExitCode::from(EXIT_NO_ANSWER) })
}

/// Plans a search and begins its campaign. `None` if only the plan was asked for.
fn begin(args: &TuneArgs, store: &Store, root: &Root) -> anyhow::Result<Option<CampaignFolder>> {
    let now = jiff::Timestamp::now();
    let seed = now.as_nanosecond() as u64;
    let mut plan = args.plan(seed).map_err(ExitError::usage)?;
    if !matches!(plan.on.target, Target::Local) || plan.on.detached.is_some() {
        return Err(ExitError::usage("latlab tune changes settings of this machine only").into());
    }
    if plan.until.cycles.is_some() || plan.until.stop_above_ns.is_some() || plan.until.decided {
        let text =
            "--cycles, --stop-above and --until-decided end runs by what they measured: use --slot";
        return Err(ExitError::usage(text).into());
    }
    let time = plan.until.duration_ns.replace(args.slot).unwrap_or(USUAL_TIME);
    let cpus = usable_cpus();
    let (measured, rate) = match plan.method.attach() {
        None => (plan.who.cpus.clone(), rate(&plan, cpus)),
        Some(_) => look_at_program(&plan)?,
    };
    // Whether the program may idle as deeply as the machine does is its own matter.
    if plan.method.attach().is_none() && !args.measure.is_given("idle-states") {
        plan.on.idle_states = Some(IdleStates::System);
    }
    let (candidates, left_out) = settings(args, &plan, measured.clone(), root)?;
    if candidates.is_empty() {
        let text = "no setting is left to try: see --settings, --allow and --only";
        return Err(ExitError::usage(text).into());
    }
    let planner = Planner { plan: &plan, cpus, seed, begun: format!("{now:.0}") };
    let tune = TunePlan {
        confirms: None,
        candidates,
        left_out,
        tolerance: args.tolerance,
        figures: figures(&plan, rate),
        time_ns: time,
        measured,
    };
    let pairs = planner.pairs(time);
    if pairs == 0 {
        return Err(ExitError::usage("--for is too short for a single pair of runs").into());
    }
    if !args.quiet || args.dry_run {
        let shown = sanitize_document(&tune)?;
        let text = latlab_report::tune::before(&shown, pairs, args.slot, width(), style());
        match args.dry_run {
            true => print_text(&text)?,
            // Standard output is for the answer; standard error may be closed.
            false => drop(writeln!(stderr(), "{text}")),
        }
    }
    if args.dry_run {
        return Ok(None);
    }
    Ok(Some(store.begin_campaign(planner.search(tune), "")?))
}

/// Watches the program for a moment: on which CPUs its judged threads may run, and how many cycles they have each
/// second.
fn look_at_program(plan: &Plan) -> anyhow::Result<(Option<CpuSet>, f64)> {
    let mut plan = plan.clone();
    plan.until.duration_ns = None;
    plan.on.loads.clear();
    let run = watch_briefly(plan, StopFlag::on_signals(false)?)?;
    let threads = run.attached.iter().flat_map(|attached| &attached.threads);
    let judged: Vec<_> = threads.filter(|one| one.found.setup.is_some()).collect();
    let cycles: u64 = judged.iter().map(|one| one.report.cycles).sum();
    if cycles == 0 {
        let text =
            "no thread of the program had a cycle to judge: look at it with `latlab attach --list`";
        return Err(ExitError::cannot_measure(text).into());
    }
    let cpus = judged.iter().filter_map(|one| one.found.cpus.parse::<CpuSet>().ok());
    let cpus: CpuSet = cpus.flat_map(|cpus| cpus.iter().collect::<Vec<u32>>()).collect();
    let is_free = cpus.len() >= usable_cpus() as usize;
    let length = run.measured_ns.as_secs_f64();
    Ok(((!is_free).then_some(cpus), cycles as f64 / length))
}

/// The settings to try: those of this machine and of the user's file that can be made and read back.
fn settings(
    args: &TuneArgs,
    plan: &Plan,
    measured: Option<CpuSet>,
    root: &Root,
) -> anyhow::Result<(Vec<Candidate>, Vec<LeftOut>)> {
    let mut agent = Command::new(own_program()?);
    agent.arg("agent");
    let snapshot = latlab_conduct::read_snapshot(agent).map_err(ExitError::from)?;
    let all: CpuSet = latlab_sys::sched::affinity()?.iter().copied().collect();
    let measured = measured.unwrap_or(all);
    let (mut tried, mut left_out) = latlab_doctor::candidates(&snapshot, &measured, &args.allow);
    if let Some(path) = &args.settings {
        let own = own_settings::read(path, root).map_err(ExitError::usage)?;
        for one in own {
            match one.unless_it_protects(&args.allow) {
                Err(left) => left_out.push(left),
                Ok(one) => {
                    // The user's own word counts more than the catalogue's.
                    tried.retain(|known| known.name != one.name && !known.writes_same(&one));
                    tried.push(one);
                }
            }
        }
    }
    let known = |name: &&String| {
        tried.iter().any(|one| one.name == **name) || left_out.iter().any(|one| one.name == **name)
    };
    let named = args.only.iter().chain(&args.without).chain(&args.allow);
    if let Some(unknown) = named.into_iter().find(|name| !known(name)) {
        let names: Vec<&str> = tried.iter().map(|one| one.name.as_str()).collect();
        let text = format!("no setting '{unknown}' to try; there are: {}", names.join(", "));
        return Err(ExitError::usage(text).into());
    }
    tried.retain(|one| args.only.is_empty() || args.only.contains(&one.name));
    tried.retain(|one| !args.without.contains(&one.name));
    // What --set and --tune hold during all runs cannot be switched.
    tried.retain(|one| {
        !one.kernel_files
            .iter()
            .any(|file| plan.on.kernel_files.iter().any(|held| held.path == file.path))
    });
    tried.retain(|one| {
        !one.tunings
            .iter()
            .any(|tuning| plan.on.tunings.iter().any(|held| held.name() == tuning.name()))
    });
    if args.measure.is_given("idle-states") || plan.method.attach().is_some() {
        tried.retain(|one| one.idle_states.is_none());
    }
    if !args.dry_run {
        let refused: Vec<LeftOut> = tried.iter().filter_map(|one| refusal(one, root)).collect();
        tried.retain(|one| !refused.iter().any(|left| left.name == one.name));
        left_out.extend(refused);
    }
    Ok((tried, left_out))
}

/// Makes a setting and puts it back; why it cannot be tried, if it cannot.
fn refusal(of: &Candidate, root: &Root) -> Option<LeftOut> {
    if of.kernel_files.is_empty() {
        return None;
    }
    let left_out = |reason: String| Some(LeftOut { name: of.name.clone(), reason });
    let mut changes = match Changes::begin(root) {
        Ok(changes) => changes,
        Err(error) => return left_out(format!("cannot change kernel files: {error}")),
    };
    for file in &of.kernel_files {
        match changes.set(&file.path, &file.value) {
            Ok(now) if now == single_spaced(&file.value) => {}
            Ok(now) => {
                return left_out(format!(
                    "{} becomes '{now}' instead of '{}'",
                    file.path, file.value
                ));
            }
            Err(error) => return left_out(format!("cannot set {}: {error}", file.path)),
        }
    }
    None
}

/// Makes the slots until all is decided or the time is over; whether it was not cut short.
fn search(args: &TuneArgs, folder: &CampaignFolder) -> anyhow::Result<bool> {
    let _lock = folder.lock()?;
    let campaign = &folder.campaign;
    let search = Search::new(campaign).context("it is not a search for settings")?;
    let limit = campaign.tune.as_ref().map_or(USUAL_TIME, |tune| tune.time_ns);
    let limit = limit.duration().mul_f64(SEARCHING);
    let (begun, search) = (Instant::now(), Mutex::new(search));
    let failure = Mutex::new(None);
    let is_enough = |progress: &CampaignProgress| {
        let Ok(mut search) = search.lock() else { return true };
        let before = search.pairs();
        if let Err(error) = search.update(progress) {
            if let Ok(mut failure) = failure.lock() {
                *failure = Some(error);
            }
            return true;
        }
        let pairs = search.pairs();
        if !args.quiet && pairs > before && pairs.is_multiple_of(PAIRS_A_LINE) {
            // Standard error may be closed.
            let _ = writeln!(stderr(), "after {pairs} pairs: {}", search.progress());
        }
        search.is_decided() || begun.elapsed() >= limit
    };
    let is_whole = make(args, folder, again(folder), &is_enough)?;
    match failure.into_inner() {
        Ok(Some(error)) => Err(error.into()),
        _ => Ok(is_whole),
    }
}

/// Makes the runs of a search or of its confirmation until they are enough; whether they were not cut short.
fn make(
    args: &TuneArgs,
    folder: &CampaignFolder,
    again: Line,
    is_enough: &(dyn Fn(&CampaignProgress) -> bool + Sync),
) -> anyhow::Result<bool> {
    let ended = make_runs(RunMaker {
        folder,
        quiet: args.quiet,
        console: false,
        keep_going: args.keep_going,
        boards_at_once: 1,
        again,
        is_enough,
    })?;
    Ok(matches!(ended, CampaignEnd::Complete))
}

fn again(folder: &CampaignFolder) -> Line {
    Line::new("sudo latlab tune --resume").word(folder.path())
}

/// Measures the chosen settings against the untouched machine; whether it was not cut short.
fn confirm(args: &TuneArgs, store: &Store, folder: &CampaignFolder) -> anyhow::Result<bool> {
    let found = of_search(folder)?;
    let Some(tune) = &folder.campaign.tune else { return Ok(true) };
    let chosen: Vec<Candidate> = found.chosen().into_iter().cloned().collect();
    if chosen.is_empty() {
        return Ok(true);
    }
    let known = confirmation(store, &folder.campaign.id)?;
    let is_of_choice = |one: &CampaignFolder| {
        one.campaign.tune.as_ref().is_some_and(|tune| tune.candidates == chosen)
    };
    let fresh = match known.filter(is_of_choice) {
        Some(known) => known,
        None => {
            let plan = &folder.campaign.rows[0].plan;
            let now = jiff::Timestamp::now();
            let seed = now.as_nanosecond() as u64;
            let planner =
                Planner { plan, cpus: folder.campaign.cpus, seed, begun: format!("{now:.0}") };
            let campaign = planner.confirmation(TunePlan {
                confirms: Some(folder.campaign.id.clone()),
                candidates: chosen,
                left_out: Vec::new(),
                time_ns: Nanos((tune.time_ns.0 as f64 * (1.0 - SEARCHING)) as i64),
                ..tune.clone()
            });
            store.begin_campaign(campaign, "")?
        }
    };
    let _lock = fresh.lock()?;
    make(args, &fresh, again(folder), &|_| false)
}

/// The search that a name stands for; a confirmation stands for its search.
fn find(store: &Store, spec: &str) -> anyhow::Result<CampaignFolder> {
    let is_search = |folder: &CampaignFolder| folder.campaign.search().is_some();
    let found = match spec {
        "last" => {
            store.campaigns()?.into_iter().filter_map(|(_, folder)| folder.ok()).find(is_search)
        }
        name => store.find_campaign(name)?.filter(is_search),
    };
    let place = store.root().display();
    Ok(found.ok_or_else(|| match spec {
        "last" => ExitError::usage(format!("no search for settings in {place}: run `latlab tune`")),
        name => ExitError::usage(format!("'{name}' is no search for settings in {place}")),
    })?)
}

fn print_result(
    args: &TuneArgs,
    folder: &CampaignFolder,
    result: &TuneResult,
) -> anyhow::Result<()> {
    match args.common.format {
        Format::Json => print_json(result),
        Format::Text => {
            let shown = sanitize_document(result)?;
            let text = latlab_report::tune::show(&shown, width(), style());
            let page = shell::latlab("report", folder.path());
            let next = latlab_report::tune::next_step(&shown);
            let next = next.map(|line| format!("For good: {line}\n")).unwrap_or_default();
            print_text(&format!(
                "{text}\nStored in {}\nAs a page: {page}\n{next}",
                folder.path().display()
            ))
        }
    }
}
