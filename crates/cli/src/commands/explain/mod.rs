//! `latlab explain`: who held the thread off, spike by spike.

pub mod args;

use crate::documents::Explained;
use crate::output::{print_json, print_text, sanitize_run, style, width};
use crate::store::{open_store, recover};
use anyhow::bail;
use args::{ExplainArgs, ExplainFormat};
use latlab_model::Run;
use latlab_model::explanation::SpikeBlame;
use latlab_model::sanitize::sanitize_document;
use latlab_report::{causes_text, timeline};
use latlab_view::{Spikes, spike_blames};
use std::process::ExitCode;

/// The causes of the spikes of a run, and some spikes from release to wake-up.
pub fn explain(args: &ExplainArgs) -> anyhow::Result<ExitCode> {
    let store = open_store(args.out.as_deref());
    recover(&store);
    let folder = store.find(&args.run)?;
    let run = latlab_store::read_run(&folder)?;
    let wanted = args.spike.map_or(Spikes::Largest(args.top), Spikes::Number);
    let Some(blames) = spike_blames(&folder, &run, wanted)? else {
        bail!("run {} has no recorded events: measure with `latlab run --explain`", run.id);
    };
    if let (Some(number), true) = (args.spike, blames.is_empty()) {
        bail!("run {} has no recorded spike {number}", run.id);
    }
    match args.format {
        ExplainFormat::Json => print_json(&Explained::new(&run, &blames))?,
        ExplainFormat::Text => print_text(&text(&sanitize_run(&run)?, args, &blames)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn text(run: &Run, args: &ExplainArgs, blames: &[SpikeBlame]) -> anyhow::Result<String> {
    let mut parts = Vec::new();
    if args.spike.is_none() {
        parts.push(causes_text(run, width(), style()));
    }
    for blame in blames {
        parts.push(timeline(&sanitize_document(blame)?, run, width(), style()));
    }
    Ok(parts.join("\n"))
}
