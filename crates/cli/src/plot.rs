//! `latlab plot`: pictures of stored runs.

pub mod args;

use crate::load::{fill, load};
use crate::output::{harmless, print, print_bytes, write_whole};
use crate::runs::{recover, store_in};
use anyhow::bail;
use args::{Picture, PictureFormat, PlotArgs};
use latlab_model::{Run, ThreadBins};
use latlab_report::time::{self, TimeData};
use latlab_report::{Kind, Measured};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

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
    let picture = encoded(svg, format)?;
    let own = || {
        let name = format!("{}.{}", args.kind.word(), format.extension());
        folders.first().map(|folder| folder.join(name)).unwrap_or_default()
    };
    written(&args.output.clone().unwrap_or_else(own), &picture)
}

fn latencies(args: &PlotArgs, kind: Kind, folders: &[PathBuf]) -> anyhow::Result<String> {
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
    let mut data = TimeData::new(&run, latlab_store::tables::coarse_edges(), None);
    fill(folder, &run, &mut [&mut data])?;
    Ok(kind.draw(&harmless(&run)?, &data, &args.time_options()))
}

/// The bytes of the file.
fn encoded(svg: String, format: PictureFormat) -> anyhow::Result<Vec<u8>> {
    match format {
        PictureFormat::Svg => Ok((svg + "\n").into_bytes()),
        // Here `latlab_report::png(&svg)` makes the bytes as soon as there is such a function.
        PictureFormat::Png => {
            bail!("this latlab writes no PNG yet (`encoded` in plot.rs): use -o FILE.svg")
        }
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
