//! `latlab plot`: pictures of stored runs.

pub mod args;

use crate::output::{harmless, print, print_bytes, warn, write_whole};
use crate::runs::{recover, store_in};
use anyhow::bail;
use args::{Picture, PictureFormat, PlotArgs};
use latlab_model::run::ThreadRun;
use latlab_model::{Nanos, Run, ThreadBins};
use latlab_report::time::{self, TimeData};
use latlab_report::{Kind, Measured, units};
use latlab_store::{Stretch, WindowSpec};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A window with more samples is drawn by intervals: nobody can tell so many dots apart.
const MOST_SAMPLES: u64 = 10_000_000;

/// `latlab plot`.
pub fn plot(args: &PlotArgs) -> anyhow::Result<ExitCode> {
    let format = args.picture_format();
    let store = store_in(args.out.as_deref());
    recover(&store);
    let folders: Vec<PathBuf> =
        args.runs.iter().map(|run| store.find(run)).collect::<Result<_, _>>()?;
    let svg = match args.kind {
        Picture::Latencies(kind) => latencies(args, kind, &folders)?,
        Picture::OverTime(kind) => over_time(args, kind, &folders)?,
    };
    let picture = encoded(&svg, format, args.scale)?;
    let own = || {
        let name = format!("{}.{}", args.kind.word(), format.extension());
        folders.first().map(|folder| folder.join(name)).unwrap_or_default()
    };
    written(&args.output.clone().unwrap_or_else(own), &picture)
}

fn latencies(args: &PlotArgs, kind: Kind, folders: &[PathBuf]) -> anyhow::Result<String> {
    if args.window.is_some() {
        bail!("--window goes with the pictures over time, not with --kind {}", kind.word());
    }
    let loaded: Vec<(Run, Vec<ThreadBins>)> =
        folders.iter().map(|folder| load(folder)).collect::<anyhow::Result<_>>()?;
    let runs: Vec<Measured> = loaded.iter().map(|(run, bins)| Measured { run, bins }).collect();
    Ok(latlab_report::plot(&runs, kind, &args.options()))
}

fn over_time(args: &PlotArgs, kind: time::Kind, folders: &[PathBuf]) -> anyhow::Result<String> {
    let [folder] = folders else {
        bail!("--kind {} draws one run: name one", kind.word());
    };
    if args.range.is_some() {
        bail!("--range goes with the pictures of latencies, not with --kind {}", kind.word());
    }
    let run = latlab_store::load(folder)?;
    let mut data = match &args.window {
        Some(window) => latencies_of_window(folder, &run, window)?,
        None => latencies_over_time(folder, &run, None)?,
    };
    for rows in latlab_store::telemetry(folder, &run)?.into_iter().flatten() {
        rows?.iter().for_each(|row| data.telemetry(&row.series, row.time_ns, row.value));
    }
    Ok(kind.draw(&harmless(&run)?, &data, &args.time_options()))
}

/// From the intervals and from the large latencies that are known with their release.
fn latencies_over_time(
    folder: &Path,
    run: &Run,
    within: Option<Range<Nanos>>,
) -> anyhow::Result<TimeData> {
    let mut data = TimeData::new(run, latlab_store::tables::coarse_edges(), within);
    for rows in latlab_store::intervals(folder, run)? {
        rows?.iter().for_each(|row| data.interval(row.thread, &row.span(), &row.coarse));
    }
    latlab_store::spikes(folder, run)?.iter().for_each(|row| data.spike(row.spike));
    Ok(data)
}

/// From the samples, where there are any and not too many to look at.
fn latencies_of_window(folder: &Path, run: &Run, window: &WindowSpec) -> anyhow::Result<TimeData> {
    if run.asked.samples {
        let stretch = Stretch::open(folder, run, window)?;
        let about = releases_in(run, &stretch.within());
        if about <= MOST_SAMPLES {
            return latencies_one_by_one(run, &stretch);
        }
        let many = units::grouped(about);
        warn(&format!("about {many} samples are more than a picture shows: drawn by intervals"));
        return latencies_over_time(folder, run, Some(stretch.within()));
    }
    let within = latlab_store::window(folder, run, window)?;
    latencies_over_time(folder, run, Some(within))
}

fn latencies_one_by_one(run: &Run, stretch: &Stretch) -> anyhow::Result<TimeData> {
    let edges = latlab_store::tables::coarse_edges();
    let mut data = TimeData::of_samples(run, edges, stretch.within());
    for piece in stretch.samples() {
        let piece = piece?;
        piece.samples.iter().for_each(|sample| data.sample(piece.thread, *sample));
    }
    Ok(data)
}

/// How many releases all threads have in a stretch of time.
fn releases_in(run: &Run, within: &Range<Nanos>) -> u64 {
    let length = (within.end - within.start).0;
    let of_thread = |one: &ThreadRun| (length / one.setup.period_ns.0.max(1)).unsigned_abs();
    run.threads.iter().map(of_thread).sum()
}

fn load(folder: &Path) -> anyhow::Result<(Run, Vec<ThreadBins>)> {
    let run = latlab_store::load(folder)?;
    let bins = latlab_store::histograms(folder, &run)?;
    Ok((harmless(&run)?, bins))
}

/// The bytes of the file.
fn encoded(svg: &str, format: PictureFormat, scale: f32) -> anyhow::Result<Vec<u8>> {
    match format {
        PictureFormat::Svg => Ok((latlab_report::alone(svg) + "\n").into_bytes()),
        PictureFormat::Png => Ok(latlab_report::png(svg, scale)?),
    }
}

fn written(path: &Path, picture: &[u8]) -> anyhow::Result<ExitCode> {
    match path.as_os_str() == "-" {
        true => print_bytes(picture)?,
        false => {
            write_whole(path, picture)?;
            print(&format!("{}\n", path.display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
