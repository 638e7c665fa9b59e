//! `latlab explain`: the cause of each spike.

pub mod args;
#[cfg_attr(not(feature = "guests"), path = "replay/absent.rs")]
pub mod replay;

use crate::documents::Explained;
use crate::output::{print_json, print_text, sanitize_run, style, width, write_new, write_stdout};
use crate::store::{open_store, recover};
use anyhow::bail;
use args::{ExplainArgs, ExplainFormat};
use latlab_conduct::guests::why_no_replay;
use latlab_model::Run;
use latlab_model::explanation::SpikeBlame;
use latlab_model::sanitize::sanitize_document;
use latlab_report::stored::{Spikes, spike_blames};
use latlab_report::{Style, causes_text, timeline};
use latlab_sys::terminal;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// Prints the causes of a run's spikes, and some spikes from release to wake-up.
pub fn explain(args: &ExplainArgs) -> anyhow::Result<ExitCode> {
    let store = open_store(args.out.as_deref());
    recover(&store);
    let folder = store.find(&args.run)?;
    let run = latlab_store::read_run(&folder)?;
    if args.replay {
        return replay::explain_by_replay(args, &folder, &run);
    }
    let wanted = args.spike.map_or(Spikes::Largest(args.top), Spikes::Number);
    let Some(blames) = spike_blames(&folder, &run, wanted)? else {
        let replay = if why_no_replay(&run).is_none() { ", or use --replay" } else { "" };
        bail!("run {} has no recorded events: measure with `latlab run --explain`{replay}", run.id);
    };
    if let (Some(number), true) = (args.spike, blames.is_empty()) {
        bail!("run {} has no recorded spike {number}", run.id);
    }
    let output = args.output.as_deref().filter(|path| *path != Path::new("-"));
    match (args.format, output) {
        (ExplainFormat::Json, None) => print_json(&Explained::new(&run, &blames))?,
        (ExplainFormat::Text, None) => {
            print_text(&text(&sanitize_run(&run)?, args, &blames, style())?)?
        }
        (ExplainFormat::Perfetto, None) if terminal::stdout_is_terminal() => {
            bail!(
                "a Perfetto trace is binary and is not written to a terminal: name a file with -o"
            )
        }
        (ExplainFormat::Perfetto, None) => drop(write_stdout(|out| perfetto(&run, &blames, out))?),
        (format, Some(path)) => write_new(path, |out| match format {
            ExplainFormat::Json => {
                Ok(serde_json::to_writer_pretty(out, &Explained::new(&run, &blames))?)
            }
            ExplainFormat::Text => Ok(out.write_all(
                text(&sanitize_run(&run)?, args, &blames, Style::default())?.as_bytes(),
            )?),
            ExplainFormat::Perfetto => perfetto(&run, &blames, out),
        })?,
    }
    Ok(ExitCode::SUCCESS)
}

fn perfetto(run: &Run, blames: &[SpikeBlame], out: &mut (dyn Write + Send)) -> anyhow::Result<()> {
    Ok(latlab_formats::write::write_explained(
        &sanitize_run(run)?,
        &sanitize_document(&blames.to_vec())?,
        out,
    )?)
}

fn text(
    run: &Run,
    args: &ExplainArgs,
    blames: &[SpikeBlame],
    style: Style,
) -> anyhow::Result<String> {
    let mut parts = Vec::new();
    if args.spike.is_none() {
        parts.push(causes_text(run, width(), style));
    }
    for blame in blames {
        parts.push(timeline(&sanitize_document(blame)?, run, width(), style));
    }
    Ok(parts.join("\n"))
}
