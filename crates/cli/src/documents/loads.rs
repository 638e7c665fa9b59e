//! JSON output of commands about loads.

use crate::load_library::LibraryLoad;
use latlab_digest::load::Parameter;
use latlab_report::LoadEntry;
use serde::Serialize;
use std::collections::BTreeMap;

/// `latlab loads show --format json`: a load that can be asked for; without `show`, all of them.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListedLoad<'a> {
    /// Its name.
    name: &'a str,
    /// What it loads, in one line.
    about: &'a str,
    /// Its file; none of those that every latlab has.
    file: Option<String>,
    /// The programs that it needs.
    programs: Vec<&'a str>,
    /// Those of them that are not on this machine, or on the board that was asked for.
    missing: Vec<&'a str>,
    /// What can be chosen.
    parameters: Vec<ListedParameter<'a>>,
    /// The package that holds it, by the name of the system.
    packages: &'a BTreeMap<String, String>,
    /// The text of its definition.
    definition: &'a str,
}

/// A parameter of a load.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ListedParameter<'a> {
    /// Its name.
    name: &'a str,
    /// What it takes: count, bytes, percent, time or text.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Default value; `null` if the parameter is required.
    default: Option<String>,
    /// What it is, in a few words.
    about: &'a str,
}

impl<'a> ListedLoad<'a> {
    /// The programs that a load needs.
    pub fn programs_of(found: &'a LibraryLoad) -> Vec<&'a str> {
        let processes = found.definition.process.iter();
        let mut programs: Vec<&str> = processes.map(|one| one.program.as_str()).collect();
        programs.dedup();
        programs
    }

    /// `has` tells whether the machine has a program.
    pub fn new(found: &'a LibraryLoad, has: impl Fn(&str) -> bool) -> ListedLoad<'a> {
        let LibraryLoad { definition, text, file } = found;
        let programs = ListedLoad::programs_of(found);
        let missing = programs.iter().copied().filter(|name| !has(name));
        ListedLoad {
            name: &definition.name,
            about: &definition.about,
            file: file.as_ref().map(|path| path.display().to_string()),
            missing: missing.collect(),
            programs,
            parameters: definition.parameters.iter().map(ListedParameter::new).collect(),
            packages: &definition.packages,
            definition: text,
        }
    }
}

impl<'a> ListedParameter<'a> {
    fn new((name, parameter): (&'a String, &'a Parameter)) -> ListedParameter<'a> {
        let (kind, default) = (parameter.kind.as_str(), parameter.default_text());
        ListedParameter { name, kind, default, about: &parameter.about }
    }
}

impl ListedLoad<'_> {
    /// The same for the table on a terminal.
    pub fn entry(&self) -> LoadEntry {
        let written = |one: &ListedParameter| match one.default.as_deref() {
            Some("") => format!("{}=", one.name),
            Some(default) => format!("{}={default}", one.name),
            None => format!("{}=…", one.name),
        };
        let programs = match self.missing.as_slice() {
            [] => format!("installed: {}", self.programs.join(", ")),
            missing => format!("missing: {}", missing.join(", ")),
        };
        let file = self.file.as_ref().map(|file| format!("; from {file}")).unwrap_or_default();
        LoadEntry {
            name: self.name.to_string(),
            about: self.about.to_string(),
            parameters: self.parameters.iter().map(written).collect::<Vec<_>>().join(", "),
            place: format!("{programs}{file}"),
            is_here: self.missing.is_empty(),
        }
    }
}
