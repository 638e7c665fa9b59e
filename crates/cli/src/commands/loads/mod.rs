//! `latlab loads`: which loads there are, and what each takes.

pub mod args;
pub mod library;

use crate::documents::ListedLoad;
use crate::flags::Format;
use crate::output::{print, print_json, style, width};
use crate::{EXIT_USAGE, Exit};
use args::{LoadsArgs, LoadsCommand};
use latlab_load::name_of;
use latlab_model::load::Load;
use latlab_report::load_entry;
pub use library::Library;
use std::process::ExitCode;

/// Lists the loads, or shows one.
pub fn loads(args: &LoadsArgs) -> anyhow::Result<ExitCode> {
    let library = Library::new(args.loads.clone());
    let wrong = |text| Exit(EXIT_USAGE, text);
    match &args.command {
        Some(LoadsCommand::Show { name }) => {
            let found = library.find(name).map_err(wrong)?;
            match args.format {
                Format::Json => print_json(&ListedLoad::from(&found))?,
                Format::Text => print(&found.text)?,
            }
        }
        None => {
            let all = library.all().map_err(wrong)?;
            let listed: Vec<ListedLoad> = all.iter().map(ListedLoad::from).collect();
            match args.format {
                Format::Json => print_json(&listed)?,
                Format::Text => print(&list(&listed))?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The loads that the words of a user ask for.
pub fn resolve(words: &[String], library: &Library) -> Result<Vec<Load>, String> {
    let load = |words: &String| {
        let found = library.find(name_of(words))?;
        latlab_load::resolve(words, &found.definition, library.asked())
            .map_err(|text| format!("--load {words}: {text}"))
    };
    words.iter().map(load).collect()
}

/// A paragraph for each.
fn list(loads: &[ListedLoad]) -> String {
    let (width, style) = (width(), style());
    loads.iter().map(|load| load_entry(&load.entry(), width, style)).collect()
}
