//! Load definitions: the user's, and the built-in ones.

use crate::store::user_folder;
use latlab_digest::load::{BUILTIN_LOADS, Definition, name_of};
use latlab_model::load::Load;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The user's folders, then the built-in definitions.
pub struct Library {
    requested: Option<PathBuf>,
}

/// The file that defines each name. `None` if it is built in.
type LibraryFiles = BTreeMap<String, Option<PathBuf>>;

/// A load definition and its origin.
pub struct LibraryLoad {
    pub definition: Definition,
    /// The source of the definition.
    pub text: String,
    /// `None` if it is built in.
    pub file: Option<PathBuf>,
}

impl Library {
    /// Searches `asked` first, if it is given.
    pub fn new(asked: Option<PathBuf>) -> Library {
        Library { requested: asked }
    }

    pub fn requested_folder(&self) -> Option<String> {
        self.requested.as_ref().map(|folder| folder.display().to_string())
    }

    fn folders(&self) -> Vec<PathBuf> {
        let config = user_folder("XDG_CONFIG_HOME", ".config");
        let own = config.map(|config| config.join("latlab/loads"));
        self.requested
            .iter()
            .cloned()
            .chain(own)
            .chain([PathBuf::from("/etc/latlab/loads")])
            .collect()
    }

    /// The file of each name: the first folder that defines it wins.
    fn files(&self) -> Result<LibraryFiles, String> {
        let mut files = LibraryFiles::new();
        for folder in self.folders() {
            let entries = match std::fs::read_dir(&folder) {
                Ok(entries) => entries,
                // Only a folder that was named must exist.
                Err(error) if self.requested.as_ref() == Some(&folder) => {
                    return Err(format!("--loads {}: {error}", folder.display()));
                }
                Err(_) => continue,
            };
            let paths = entries.flatten().map(|entry| entry.path());
            for path in paths.filter(|path| path.extension() == Some(OsStr::new("toml"))) {
                if let Some(name) = path.file_stem().and_then(OsStr::to_str) {
                    files.entry(name.to_string()).or_insert(Some(path));
                }
            }
        }
        for (name, _) in BUILTIN_LOADS {
            files.entry(name.to_string()).or_insert(None);
        }
        Ok(files)
    }

    /// All definitions, sorted by name.
    pub fn all(&self) -> Result<Vec<LibraryLoad>, String> {
        self.files()?.into_iter().map(|(name, file)| read(&name, file)).collect()
    }

    /// Finds a definition; an error is one line.
    pub fn find(&self, name: &str) -> Result<LibraryLoad, String> {
        find_in(&self.files()?, name)
    }
}

/// The loads that the values of `--load` name. A folder named by the user is read even if no value
/// refers to it, so that a missing one is an error.
pub fn resolve(words: &[String], library: &Library) -> Result<Vec<Load>, String> {
    let files = library.files()?;
    let load = |words: &String| {
        let found = find_in(&files, name_of(words))?;
        latlab_digest::load::resolve(words, &found.definition, library.requested_folder())
            .map_err(|text| format!("--load {words}: {text}"))
    };
    words.iter().map(load).collect()
}

fn find_in(files: &LibraryFiles, name: &str) -> Result<LibraryLoad, String> {
    match files.get(name) {
        Some(file) => read(name, file.clone()),
        None => {
            let names: Vec<&str> = files.keys().map(String::as_str).collect();
            Err(format!("no load '{name}'; available: {} (see `latlab loads`)", names.join(", ")))
        }
    }
}

fn read(name: &str, file: Option<PathBuf>) -> Result<LibraryLoad, String> {
    let builtin = || BUILTIN_LOADS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
    let text = match &file {
        None => builtin().unwrap_or_default().to_string(),
        Some(path) => std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?,
    };
    let place = file.as_deref().unwrap_or(Path::new(name)).display().to_string();
    let definition = Definition::parse(name, &text)
        .map_err(|mistake| format!("{place}:{}: {}", mistake.line, mistake.text))?;
    Ok(LibraryLoad { definition, text, file })
}
