//! `latlab respond`: the time from an edge on one pin to the answer on another.

pub mod args;
mod channels;
pub mod documents;
mod gpio;
mod linux;
mod logic;
mod machine;
mod oscilloscope;
mod published;
mod scope_commands;

use crate::exit::{EXIT_USAGE, ExitError, error_code, exit_code};
use crate::flags::Format;
use crate::output::{print_json, print_text, sanitize_run, style, warn, width, write_whole};
use crate::render::run_text;
use crate::store::{open_store, recover};
use args::{RespondArgs, Simulated, of_machine};
use documents::Responded;
use latlab_capture::CaptureQuery;
use latlab_conduct::StopFlag;
use latlab_conduct::respond::simulate::{
    Firmware, FirmwareFile, SimulateError, Simulation, simulate,
};
use latlab_conduct::respond::{
    Answering, RespondFailure, ResponseRequest, record_responses as record,
};
use latlab_model::nanos::duration;
use latlab_model::plan::Method;
use latlab_model::respond::{Respond, Wires};
use latlab_model::run::EndReason;
use latlab_model::shell::Line;
use latlab_model::{Plan, Run};
use latlab_report::stored::LoadedRun;
use latlab_report::{PairedRuns, compared_responders};
use latlab_store::{Finished, Store, new_id};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A run to measure from captures.
struct CapturePart {
    name: String,
    paths: Vec<PathBuf>,
    query: CaptureQuery,
    simulated: Option<SimulatedPart>,
    captured: Option<CapturedPart>,
    seed: Option<u64>,
    answering: Answering,
}

struct SimulatedPart {
    /// For people to read.
    description: String,
    /// Edges fall on multiples of this time.
    cycle_ps: i64,
}

/// A capture that latlab made itself.
struct CapturedPart {
    /// The command that captured it.
    command: String,
    ended: EndReason,
}

pub fn respond(args: &RespondArgs) -> anyhow::Result<ExitCode> {
    args.check().map_err(ExitError::usage)?;
    let args = &args.with_defaults().map_err(ExitError::usage)?;
    if args.look {
        return channels::list_channels(args);
    }
    let store = open_store(args.runs.common.out.as_deref());
    recover(&store);
    let stop = StopFlag::on_signals(false)?;
    let (mut finished, mut unread) = (Vec::new(), 0);
    let done = match args.simulate {
        None if !args.from.is_empty() => {
            let captures = args.captures();
            let is_batch = captures.len() > 1;
            captures.into_iter().try_for_each(|paths| {
                match record_part(args, &store, capture_part(args, paths), stop) {
                    Ok(run) => finished.push(run),
                    // A bad file does not stop a batch.
                    Err(error) if is_batch && error_code(&error) == EXIT_USAGE => {
                        unread += 1;
                        warn(error);
                    }
                    Err(error) => return Err(error),
                }
                Ok(())
            })
        }
        Some(Simulated::Published) => published::commands(args)
            .iter()
            .try_for_each(|one| record_one(one, &store, stop).map(|run| finished.push(run))),
        _ => record_one(args, &store, stop).map(|run| finished.push(run)),
    };
    let page = args.page.as_ref().filter(|_| !finished.is_empty());
    page.map_or(Ok(()), |path| write_page(path, &finished))?;
    print_end(args, &finished)?;
    done?;
    if unread > 0 {
        let what = if unread == 1 {
            "1 file was not read".into()
        } else {
            format!("{unread} files were not read")
        };
        return Err(ExitError::usage(what).into());
    }
    let worst = finished.iter().map(|one| exit_code(&one.run)).max().unwrap_or(0);
    Ok(ExitCode::from(worst))
}

/// Measures a single run.
fn record_one(args: &RespondArgs, store: &Store, stop: &StopFlag) -> anyhow::Result<Finished> {
    match (args.simulate, &args.scope, &args.logic, &args.gpio) {
        (.., Some(stimulus)) => gpio::record_wire(args, stimulus, store, stop),
        (Some(Simulated::Linux(name)), ..) => linux::record(args, name, store, stop),
        (Some(Simulated::Uno(sketch)), ..) => {
            record_simulation(args, Firmware::Sketch(sketch, args.lto), store, stop)
        }
        (Some(Simulated::Avr), ..) => record_simulation(args, own_firmware(args), store, stop),
        (_, Some(scope), ..) => oscilloscope::record_scope(args, scope, store, stop),
        (_, _, Some(driver), _) => logic::record_logic(args, driver, store, stop),
        (Some(Simulated::Published) | None, None, None, None) => {
            Err(ExitError::usage("a capture, a simulation or an instrument is needed").into())
        }
    }
}

/// Writes all runs into one page.
fn write_page(path: &Path, finished: &[Finished]) -> anyhow::Result<()> {
    let runs =
        finished.iter().map(|one| LoadedRun::read(&one.path)).collect::<Result<Vec<_>, _>>()?;
    write_whole(path, latlab_report::stored::page(&runs).as_bytes())
}

fn own_firmware(args: &RespondArgs) -> Firmware {
    Firmware::File(FirmwareFile {
        path: args.firmware.clone().unwrap_or_default(),
        mcu: args.mcu.to_ascii_lowercase(),
        clock: args.clock,
        pins: args.pins,
    })
}

fn record_simulation(
    args: &RespondArgs,
    firmware: Firmware,
    store: &Store,
    stop: &StopFlag,
) -> anyhow::Result<Finished> {
    let stimulus = args.stimuli().map_err(ExitError::usage)?;
    let order = Simulation {
        firmware,
        stimulus,
        edges: args.edges,
        seed: args.seed,
        keep: args.keep.clone(),
    };
    let made = simulate(&order, stop).map_err(|error| match error {
        SimulateError::Firmware(_) => ExitError::usage(error),
        _ => ExitError::cannot_measure(error),
    })?;
    let part = CapturePart {
        name: args.runs.name.clone().unwrap_or_else(|| order.name()),
        paths: vec![made.capture.clone()],
        query: made.query.clone(),
        simulated: Some(SimulatedPart {
            description: order.description(),
            cycle_ps: order.cycle_ps(),
        }),
        captured: None,
        seed: Some(args.seed),
        answering: Answering {
            machine: made.machine.clone(),
            settings: made.settings.clone(),
            agent: None,
        },
    };
    record_part(args, store, part, stop)
}

fn capture_part(args: &RespondArgs, paths: Vec<PathBuf>) -> CapturePart {
    let stem = paths[0].file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = args.runs.name.clone().or(stem).unwrap_or_else(|| "responder".to_string());
    let asked = args.query();
    CapturePart {
        name,
        paths,
        query: asked,
        simulated: None,
        captured: None,
        seed: None,
        answering: Answering::default(),
    }
}

fn record_part(
    args: &RespondArgs,
    store: &Store,
    part: CapturePart,
    stop: &StopFlag,
) -> anyhow::Result<Finished> {
    let plan = plan(args, &part)?;
    let id = new_id(jiff::Timestamp::now(), &part.name);
    let original = part.captured.is_some().then(|| part.paths[0].clone());
    let request = ResponseRequest {
        plan: &plan,
        paths: &part.paths,
        query: &part.query,
        resolution_ps: part.simulated.as_ref().map(|simulated| simulated.cycle_ps),
        answering: part.answering,
        original,
        ended: part.captured.map_or(EndReason::Finished, |captured| captured.ended),
        store,
        id: &id,
        stop,
    };
    Ok(record(request).map_err(exit_error)?)
}

fn exit_error(failure: RespondFailure) -> ExitError {
    match failure {
        RespondFailure::Capture(_) => ExitError::usage(failure),
        RespondFailure::Machine(failure) => ExitError::from(failure),
        _ => ExitError::cannot_measure(failure),
    }
}

fn plan(args: &RespondArgs, part: &CapturePart) -> Result<Plan, ExitError> {
    let asked = &part.query;
    let files = part.paths.iter().filter_map(|path| path.file_name());
    let wires = asked.stimulus.as_ref().zip(asked.response.as_ref());
    let wires = wires.map(|(stimulus, response)| Wires {
        stimulus: stimulus.clone(),
        response: response.clone(),
        marker: asked.marker.clone(),
        threshold: asked.threshold.to_string(),
        response_threshold: asked.response_threshold.map(|threshold| threshold.to_string()),
        hysteresis: asked.hysteresis.to_string(),
        edge: asked.edge.as_str().to_string(),
        response_edge: asked.response_edge.as_str().to_string(),
    });
    let respond = Respond {
        files: match part.simulated {
            Some(_) => Vec::new(),
            None => files.map(|name| name.to_string_lossy().into_owned()).collect(),
        },
        simulated: part.simulated.as_ref().map(|simulated| simulated.description.clone()),
        captured_by: part.captured.as_ref().map(|captured| captured.command.clone()),
        wires,
        quiet_ns: args.quiet,
        window_ns: args.window,
        ..Respond::default()
    };
    let mut plan = Plan::without_machine(part.name.clone(), Method::Respond(Box::new(respond)));
    plan.note = args.runs.note.clone();
    plan.seed = part.seed;
    plan.until.deadline_ns = args.runs.deadline;
    plan.keep.samples = true;
    let mut plan = machine::with_machine(plan, args)?;
    plan.command = Some(command(args, part, &plan));
    Ok(plan)
}

/// The command that repeats this run.
fn command(args: &RespondArgs, part: &CapturePart, plan: &Plan) -> String {
    let mut line = match part.simulated.is_none() && args.logic.is_none() {
        true => Line::new("latlab respond --from").words(&part.paths),
        false => Line::new("latlab respond"),
    };
    let mut option = |flag, value: Option<String>| line = line.clone().option(flag, value);
    match &part.simulated {
        Some(_) => {
            option("--simulate", args.simulate.map(|simulated| simulated.as_str().to_string()));
            if let Some(firmware) = &args.firmware {
                option("--firmware", Some(firmware.display().to_string()));
                option("--mcu", Some(args.mcu.clone()));
                option("--clock", Some(format!("{}Hz", args.clock.hertz())));
                option("--pins", Some(args.pins.to_string()));
            }
            option("--stimulus", args.stimulus.clone());
            option("--edges", Some(args.edges.to_string()));
            option("--seed", Some(args.seed.to_string()));
        }
        None => {
            let asked = &part.query;
            if let Some(driver) = &args.logic {
                option("--logic", Some(driver.clone()));
                option("--samplerate", args.samplerate.clone());
                option("--for", Some(duration(args.duration)));
            }
            option("--stimulus", asked.stimulus.clone());
            option("--response", asked.response.clone());
            option("--marker", asked.marker.clone());
            if asked.stimulus.is_some() {
                option("--threshold", Some(asked.threshold.to_string()));
                let of_response = asked.response_threshold.map(|threshold| threshold.to_string());
                option("--response-threshold", of_response);
                option("--hysteresis", Some(asked.hysteresis.to_string()));
                option("--edge", Some(asked.edge.as_str().to_string()));
                option("--response-edge", Some(asked.response_edge.as_str().to_string()));
            }
            option("--unit", asked.unit.map(|unit| unit.as_str().to_string()));
            option("--quiet", args.quiet.map(duration));
            option("--window", args.window.map(duration));
        }
    }
    line = plan.with_options(machine::named(line, plan), |option| {
        of_machine(option) || option.name == "deadline"
    });
    if args.join && part.simulated.is_none() {
        line = line.text("--join");
    }
    if args.lto && part.simulated.is_some() {
        line = line.text("--lto");
    }
    if !args.sigrok_options.is_empty() {
        line = line.text("--").words(&args.sigrok_options);
    }
    line.to_string()
}

/// Prints the result: a single run in full, the figures of several side by side.
fn print_end(args: &RespondArgs, finished: &[Finished]) -> anyhow::Result<()> {
    if finished.is_empty() {
        return Ok(());
    }
    if args.runs.common.format == Format::Json {
        let series = series(finished)?;
        return print_json(&Responded::new(finished, &series));
    }
    let paths: Vec<String> = finished.iter().map(|one| one.path.display().to_string()).collect();
    let page = args.page.as_ref().map(|page| page.display().to_string());
    let report = || Line::new("latlab report").operands(finished.iter().map(|one| &one.path));
    let page = page.unwrap_or_else(|| report().to_string());
    if let ([Finished { run, path }], [shown_path]) = (finished, &paths[..]) {
        let text = run_text(path, run)?;
        return print_text(&format!("{text}\nStored in {shown_path}\nAs a page: {page}\n"));
    }
    let shown: Vec<Run> =
        finished.iter().map(|one| sanitize_run(&one.run)).collect::<Result<_, _>>()?;
    let all = series(finished)?;
    let all = all.iter().zip(&shown);
    let all: Vec<PairedRuns> =
        all.map(|((_, latencies), run)| PairedRuns { run, latencies }).collect();
    let text = compared_responders(&all, width(), style());
    let paths = paths.join("\n  ");
    print_text(&format!("{text}\nStored in:\n  {paths}\nAs one page: {page}\n"))
}

/// The response times of each run, in picoseconds and in order.
fn series(finished: &[Finished]) -> anyhow::Result<Vec<(&Run, Vec<i64>)>> {
    let latencies = |path: &Path, run: &Run| -> anyhow::Result<Vec<i64>> {
        let samples = latlab_report::stored::responses(path, run)?;
        Ok(samples.into_iter().map(|sample| sample.latency_ps()).collect())
    };
    finished.iter().map(|one| Ok((&one.run, latencies(&one.path, &one.run)?))).collect()
}
