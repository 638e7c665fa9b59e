//! `latlab plot`: pictures of stored runs.

pub mod args;

use crate::output::{harmless, print, print_bytes, write_whole};
use crate::runs::{recover, store_in};
use anyhow::bail;
use args::{PictureFormat, PlotArgs};
use latlab_model::{Run, ThreadBins};
use latlab_report::Measured;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// `latlab plot`.
pub fn plot(args: &PlotArgs) -> anyhow::Result<ExitCode> {
    let format = args.picture_format();
    let store = store_in(args.out.as_deref());
    recover(&store);
    let folders: Vec<PathBuf> =
        args.runs.iter().map(|run| store.find(run)).collect::<Result<_, _>>()?;
    let loaded: Vec<(Run, Vec<ThreadBins>)> =
        folders.iter().map(|folder| load(folder)).collect::<anyhow::Result<_>>()?;
    let runs: Vec<Measured> = loaded.iter().map(|(run, bins)| Measured { run, bins }).collect();
    let svg = latlab_report::plot(&runs, args.kind, &args.options());
    let picture = encoded(svg, format)?;
    let own = || {
        let name = format!("{}.{}", args.kind.word(), format.extension());
        folders.first().map(|folder| folder.join(name)).unwrap_or_default()
    };
    written(&args.output.clone().unwrap_or_else(own), &picture)
}

fn load(folder: &Path) -> anyhow::Result<(Run, Vec<ThreadBins>)> {
    let run = latlab_store::load(folder)?;
    let bins = latlab_store::histograms(folder, &run)?;
    Ok((harmless(&run)?, bins))
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
