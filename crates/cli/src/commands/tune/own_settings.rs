//! Settings of the user's own, from a file: a table for each.

use latlab_model::plan::{KernelFile, Tuning};
use latlab_model::sanitize::plain_name;
use latlab_model::tune::Candidate;
use latlab_sys::files::{Root, read_text};
use latlab_sys::undo::read_value;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// A larger file is not one of settings.
const LARGEST: u64 = 1 << 20;

/// A table of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// Kernel files, as for `--set`.
    #[serde(default)]
    set: Vec<String>,
    /// Named settings, as for `--tune`.
    #[serde(default)]
    tune: Vec<String>,
    effect: Option<String>,
    cost: Option<String>,
    protects: Option<String>,
}

/// Reads the settings; an error is one line.
pub fn read(path: &Path, root: &Root) -> Result<Vec<Candidate>, String> {
    let file = path.display();
    let text = read_text(path, LARGEST).map_err(|error| format!("cannot read {file}: {error}"))?;
    let text = text.ok_or_else(|| format!("{file} is larger than 1 MiB"))?;
    parse(&text, root).map_err(|error| format!("{file}: {error}"))
}

fn parse(text: &str, root: &Root) -> Result<Vec<Candidate>, String> {
    let tables: BTreeMap<String, Table> = toml::from_str(text).map_err(|error| {
        let place = error.span().map(|span| 1 + text[..span.start].matches('\n').count());
        let place = place.map(|line| format!("line {line}: ")).unwrap_or_default();
        format!("{place}{}", error.message().replace('\n', " "))
    })?;
    tables.into_iter().map(|(name, table)| candidate(name, table, root)).collect()
}

fn candidate(name: String, table: Table, root: &Root) -> Result<Candidate, String> {
    let wrong = |error: String| format!("[{name}]: {error}");
    plain_name(&name).map_err(wrong)?;
    let files: Result<Vec<KernelFile>, String> = table.set.iter().map(|one| one.parse()).collect();
    let tunings: Result<Vec<Tuning>, String> = table.tune.iter().map(|one| one.parse()).collect();
    let (kernel_files, tunings) = (files.map_err(wrong)?, tunings.map_err(wrong)?);
    if kernel_files.is_empty() && tunings.is_empty() {
        return Err(wrong("it sets nothing: set = [\"FILE=VALUE\"]".to_string()));
    }
    let before = kernel_files.iter().map(|file| read_value(root, &file.path).ok()).collect();
    Ok(Candidate {
        name: name.clone(),
        kernel_files,
        tunings,
        idle_states: None,
        before,
        effect: table.effect.unwrap_or_default(),
        cost: table.cost,
        protects: table.protects,
        check: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_a_setting_and_a_mistake_is_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        let text =
            "[quiet]\nset = [\"kernel.printk=1 4 1 7\", \"/sys/a=2\"]\ncost = \"no messages\"\n";
        let found = parse(text, &root).unwrap();
        assert_eq!(found[0].writes(), ["/proc/sys/kernel/printk=1 4 1 7", "/sys/a=2"]);
        for (text, expected) in [
            ("[a]\n", "[a]: it sets nothing"),
            ("[a]\nset = [\"/etc/passwd=x\"]\n", "[a]: expected /sys/FILE=VALUE"),
            ("[a]\nsets = []\n", "line 2: unknown field `sets`"),
        ] {
            let error = parse(text, &root).unwrap_err();
            assert!(error.starts_with(expected) && !error.contains('\n'), "{error}");
        }
    }
}
