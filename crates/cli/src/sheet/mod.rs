//! Sheets: TOML files of scenarios that become the plan of a campaign.
//!
//! Each key of a scenario becomes an option on a command line, which is checked by the same code as
//! `latlab run`. All mistakes are collected with their places and reported together. Rows are
//! scenarios times matrix.

mod builtin;
mod errors;
pub mod head;
pub mod options;
mod published;
mod read;
mod rows;
mod run_order;
#[cfg(test)]
mod tests;
mod texts;

pub use builtin::BUILTIN_SHEETS;

use crate::flags::sheet::{Scale, Seeds};
use crate::targets::NamedTargets;
use errors::SheetErrors;
use head::MOST_REPEATS;
use latlab_model::campaign::{CAMPAIGN_VERSION, Campaign};
use latlab_sys::files::read_text;
use std::io::ErrorKind;
use std::path::Path;

/// A larger file is not a sheet, or is endless like /dev/zero.
const LARGEST: u64 = 1 << 20;

/// Limit of runs; more are taken for a mistake, and would exhaust memory before they are shown.
const MOST_RUNS: u64 = 100_000;

/// Settings on the command line that override the sheet.
#[derive(Default)]
pub struct Overrides {
    /// Replaces the duration or cycles of all scenarios.
    pub scale: Option<Scale>,
    /// Replaces the repeats.
    pub repeats: Option<u32>,
    /// Replaces the seeds, and the repeats with them.
    pub seeds: Option<Seeds>,
    /// The boards that each scenario is measured on. Empty if the sheet names the targets.
    pub boards: NamedTargets,
}

/// The text of a sheet and its names.
pub struct SheetFile {
    /// The file's name in error messages.
    pub file: String,
    /// The sheet's name, unless its text sets another.
    pub stem: String,
    pub text: String,
}

impl SheetFile {
    /// Opens a file, or a ready-made sheet by name; an error is one line.
    pub fn open(spec: &str) -> Result<SheetFile, String> {
        let path = Path::new(spec);
        let is_path = spec.ends_with(".toml") || spec.contains('/');
        if let Some(shipped) = builtin::find(spec).filter(|_| !is_path) {
            let (file, stem) = (format!("{spec}.toml"), spec.to_string());
            return Ok(SheetFile { file, stem, text: shipped.text.to_string() });
        }
        if !is_path && !path.is_file() {
            let names: Vec<&str> = BUILTIN_SHEETS.iter().map(|one| one.name).collect();
            let meant = match errors::nearest(spec, &names) {
                Some(name) => format!("did you mean '{name}'?"),
                None => format!(
                    "available: {}; to use a file, give its name with .toml",
                    names.join(", ")
                ),
            };
            return Err(format!("no ready-made sheet '{spec}'; {meant}"));
        }
        let text = read_text(path, LARGEST).map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                format!("no sheet {spec}; `latlab scenarios` lists those that need no file")
            }
            _ => format!("cannot read {spec}: {error}"),
        })?;
        let Some(text) = text else {
            return Err(format!("{spec} is not a sheet: it is larger than 1 MiB"));
        };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(SheetFile { file: spec.to_string(), stem, text })
    }

    /// The campaign that the sheet makes on a machine with `cpus` CPUs, without an id. The error
    /// has several lines: all mistakes in the sheet.
    pub fn campaign(
        &self,
        instead: &Overrides,
        now: jiff::Timestamp,
        cpus: u32,
    ) -> Result<Campaign, String> {
        let mut mistakes = SheetErrors::new(&self.file, &self.text);
        let sheet = read::read(&self.text, &self.stem, &mut mistakes);
        let rows = rows::rows(&sheet, instead, &mut mistakes);
        mistakes.into_result()?;
        let head = sheet.head;
        let seed = head.seed.unwrap_or(now.as_nanosecond() as u64);
        let seeds = instead.seeds;
        let asked = seeds.map(Seeds::count).or(instead.repeats);
        let repeats = asked.unwrap_or(head.repeats).clamp(1, MOST_REPEATS as u32);
        if rows.len() as u64 * u64::from(repeats) > MOST_RUNS {
            return Err(format!(
                "{}: {} rows with {repeats} repeats are more than {MOST_RUNS} runs: use fewer repeats\n",
                self.file,
                rows.len()
            ));
        }
        let mut runs = run_order::order_runs(&rows, head.order, repeats, seed);
        if let Some(seeds) = seeds {
            runs.iter_mut().for_each(|run| run.seed = seeds.seed_of_repeat(run.repeat));
        }
        Ok(Campaign {
            schema: CAMPAIGN_VERSION,
            latlab: latlab_model::VERSION.to_string(),
            id: String::new(),
            name: head.name,
            about: head.about,
            begun: format!("{now:.0}"),
            repeats,
            scale: instead.scale.as_ref().map(Scale::to_string),
            order: head.order,
            seed,
            retries: head.retries,
            cool_down: head.cool_down,
            cpus,
            runs,
            rows: rows.into_iter().map(|made| made.row).collect(),
            published: sheet.published,
            tune: None,
        })
    }
}

/// The number of CPUs that this process may use.
pub fn usable_cpus() -> u32 {
    latlab_sys::sched::affinity().map_or(1, |cpus| cpus.len() as u32)
}
