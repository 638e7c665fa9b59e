//! `latlab plot`: draws stored runs.

pub mod args;

use crate::output::{print_bytes, print_text, warn, write_into, write_whole};
use crate::store::{open_store, recover};
use anyhow::{Context, bail};
use args::{Picture, PictureFormat, PlotArgs};
use latlab_model::Nanos;
use latlab_report::stored::LoadedCampaign;
use latlab_report::{Kind, time, units};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub fn plot(args: &PlotArgs) -> anyhow::Result<ExitCode> {
    let format = args.picture_format()?;
    if args.fold.is_some_and(|fold| fold <= Nanos::ZERO) {
        bail!("--fold must be more than 0");
    }
    if args.fold.is_some() && args.kind != Picture::Phase {
        bail!("--fold requires --kind phase");
    }
    let store = open_store(args.out.as_deref());
    recover(&store);
    let campaign = match &args.runs[..] {
        [one] => store
            .find_campaign(one)?
            .map(|folder| LoadedCampaign::read(&folder).map(|shown| (folder, shown))),
        _ => None,
    };
    let campaign = campaign.transpose()?;
    let folders: Vec<PathBuf> = match &campaign {
        Some((_, shown)) => shown.folders(),
        None => args.runs.iter().map(|run| store.find(run)).collect::<Result<_, _>>()?,
    };
    let svg = match args.kind {
        Picture::Latencies(Kind::Latency) if let Some((_, shown)) = &campaign => {
            shown.multiples(&args.options())
        }
        Picture::Latencies(kind) => latencies(args, kind, &folders)?,
        Picture::OverTime(kind) => over_time(args, kind, &folders)?,
        Picture::Phase => phase(args, &folders)?,
    };
    let picture = encoded(&svg, format, args.scale)?;
    let folder = campaign.as_ref().map(|(folder, _)| folder.path());
    let folder = folder.or(folders.first().map(PathBuf::as_path)).unwrap_or(Path::new("."));
    let path = match &args.output {
        Some(path) if path.as_os_str() == "-" => {
            print_bytes(&picture)?;
            return Ok(ExitCode::SUCCESS);
        }
        Some(path) => {
            write_whole(path, &picture)?;
            path.clone()
        }
        None => {
            write_into(folder, &format!("{}.{}", args.kind.as_str(), format.extension()), &picture)?
        }
    };
    print_text(&format!("{}\n", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn latencies(args: &PlotArgs, kind: Kind, folders: &[PathBuf]) -> anyhow::Result<String> {
    if args.window.is_some() {
        bail!(
            "--window does not apply to --kind {}; use flow, heatmap or telemetry",
            kind.as_str()
        );
    }
    Ok(latlab_report::stored::latencies(folders, kind, &args.options())?)
}

fn phase(args: &PlotArgs, folders: &[PathBuf]) -> anyhow::Result<String> {
    let [folder] = folders else { bail!("--kind phase draws a single run") };
    let drawn = latlab_report::stored::against_phase(folder, args.fold, &args.options())?;
    drawn.context("--kind phase needs --fold: this run has no marker")
}

fn over_time(args: &PlotArgs, kind: time::Kind, folders: &[PathBuf]) -> anyhow::Result<String> {
    let [folder] = folders else {
        bail!("--kind {} draws a single run", kind.as_str());
    };
    if args.range.is_some() {
        bail!("--range does not apply to --kind {}", kind.as_str());
    }
    let drawn =
        latlab_report::stored::over_time(folder, kind, args.window.as_ref(), &args.time_options())?;
    if let Some(about) = drawn.too_many {
        let about = units::grouped(about);
        warn(format!("about {about} samples are too many for a chart: drawing intervals"));
    }
    Ok(drawn.svg)
}

fn encoded(svg: &str, format: PictureFormat, scale: f32) -> anyhow::Result<Vec<u8>> {
    match format {
        PictureFormat::Svg => Ok((latlab_report::standalone(svg) + "\n").into_bytes()),
        PictureFormat::Png => Ok(latlab_report::png(svg, scale)?),
    }
}
