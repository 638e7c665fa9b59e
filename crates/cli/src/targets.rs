//! Named boards: a small file, with defaults for measurements that the command line overrides.

use crate::store::user_folder;
use latlab_model::nanos::duration;
use latlab_model::shell::Line;
use latlab_model::target::{BoardTarget, LabgridTarget};
use latlab_model::{CpuSet, Nanos, Target};
use latlab_sys::files::read_text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A board that has a name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NamedTarget {
    /// How it is reached.
    pub target: Target,
    /// CPUs to measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<CpuSet>,
    /// Its deadline.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "as_text")]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub deadline: Option<Nanos>,
    /// Loads that run beside each measurement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load: Vec<String>,
    /// Folder there for detached runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

/// (De)serializes durations as people write them.
mod as_text {
    use latlab_model::Nanos;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(time: &Option<Nanos>, to: S) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => to.collect_str(&latlab_model::nanos::duration(*time)),
            None => to.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Nanos>, D::Error> {
        String::deserialize(from)?.parse().map(Some).map_err(D::Error::custom)
    }
}

/// All named targets.
pub type NamedTargets = BTreeMap<String, NamedTarget>;

impl NamedTarget {
    /// The board; an error is one line.
    pub fn board(&self) -> Result<&BoardTarget, String> {
        let target = &self.target;
        let wrong = || format!("'{target}': expected ssh://[USER@]HOST[:PORT]");
        target.board().ok_or_else(wrong)
    }
}

/// Whether a text is valid as a board's name. The text of a target is not.
pub fn is_name(text: &str) -> bool {
    let is_known = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !text.is_empty()
        && text.len() <= 64
        && !text.starts_with(['-', '.'])
        && text != latlab_model::target::LOCAL
        && text.chars().all(is_known)
}

/// Finds a named target. `None` if the text is itself a target. An error is one line.
pub fn find(text: &str) -> Result<Option<NamedTarget>, String> {
    if !is_name(text) {
        return Ok(None);
    }
    let mut all = read()?;
    let found = all.remove(text);
    let known = || match all.is_empty() {
        true => "no board has a name yet".to_string(),
        false => format!("known: {}", all.keys().cloned().collect::<Vec<_>>().join(", ")),
    };
    found.map(Some).ok_or_else(|| {
        format!(
            "no target '{text}' ({}): add it with `{}`",
            known(),
            Line::new("latlab target add").word(text).text("ssh://HOST")
        )
    })
}

/// Reads all named targets; an error is one line.
pub fn read() -> Result<NamedTargets, String> {
    let Some(path) = path() else { return Ok(NamedTargets::new()) };
    match fs::read_to_string(&path) {
        Ok(text) => parse(&path, &text).map_err(|error| error + "; correct it or remove the file"),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(NamedTargets::new()),
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
    }
}

/// Size limit of a file of boards, in bytes.
const LONGEST: u64 = (1 << 20) - 1;

/// Reads the boards for a sheet from a file; an error is one line.
pub fn boards_of(path: &Path) -> Result<NamedTargets, String> {
    let shown = path.display();
    let expected = "expected [NAME] with target = \"ssh://HOST\" for each board";
    let text = read_text(path, LONGEST).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let Some(text) = text else {
        return Err(format!("{shown} has 1 MiB or more: {expected}"));
    };
    // Do not repeat what was expected if the message says it already.
    let told = |error: String| match error.contains("expected") {
        true => error,
        false => format!("{error}; {expected}"),
    };
    let boards = parse(path, &text).map_err(told)?;
    if boards.is_empty() {
        return Err(format!("{shown} has no board: {expected}"));
    }
    for (name, named) in &boards {
        let line = || {
            let is_head = |line: &str| line.trim_start().starts_with('[') && line.contains(name);
            text.lines().position(is_head).map_or(1, |line| line + 1)
        };
        if !is_name(name) {
            return Err(format!(
                "{shown}:{}: '{name}' is not a valid name of a board: {NAME}",
                line()
            ));
        }
        if named.target.is_this_machine() {
            let expected = "expected ssh://HOST, labgrid:PLACE or lab:MACHINE/KERNEL";
            return Err(format!("{shown}:{}: 'local': {expected}", line()));
        }
        let is_same = |one: &NamedTarget| {
            machine(&one.target) == machine(&named.target) && !may_repeat(&one.target)
        };
        let same = boards.iter().find(|(other, one)| *other < name && is_same(one));
        if let Some((other, _)) = same {
            let place = &named.target;
            return Err(format!("{shown}:{}: '{name}' is at {place}, as '{other}' is", line()));
        }
    }
    Ok(boards)
}

/// Whether several boards of a file may have this target: each of them then gets a different
/// machine.
fn may_repeat(target: &Target) -> bool {
    target.boots_for_each_run() || matches!(target, Target::Labgrid(LabgridTarget::Tags(_)))
}

/// The target reduced to what identifies the machine: without the user, and with the host in lower
/// case.
fn machine(target: &Target) -> Target {
    match target {
        Target::Board(board) => {
            let host = board.host.to_lowercase();
            Target::Board(BoardTarget { user: None, host, ..board.clone() })
        }
        other => other.clone(),
    }
}

/// The rule for names, for error messages.
const NAME: &str = "expected letters, digits, '-', '_' and '.'";

fn parse(path: &Path, text: &str) -> Result<NamedTargets, String> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| text[..span.start].matches('\n').count() + 1);
        let reason = error.message().lines().next().unwrap_or_default().to_string();
        format!("{}:{at}: {reason}", path.display())
    })
}

/// Replaces the stored targets, and returns the path of the file.
pub fn write(targets: &NamedTargets) -> Result<PathBuf, String> {
    let path = path().ok_or("no folder to store the name in: set HOME or XDG_CONFIG_HOME")?;
    let wrong = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder).map_err(wrong)?;
    let text = text_of(targets);
    // Write to a temporary file and rename it, so that the file is never incomplete.
    let new = path.with_extension(format!("toml.{}", std::process::id()));
    let written = fs::File::create(&new)
        .and_then(|mut file| {
            file.set_permissions(Permissions::from_mode(0o600))?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&new, &path));
    if written.is_err() {
        // Remove the incomplete file; failing to do so does no harm.
        let _ = fs::remove_file(&new);
    }
    written.map_err(wrong)?;
    Ok(path)
}

fn text_of(targets: &NamedTargets) -> String {
    // Every JSON string is also a TOML string.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let entry = |(name, named): (&String, &NamedTarget)| {
        let mut lines =
            format!("[{}]\ntarget = {}\n", quoted(name), quoted(&named.target.to_string()));
        let mut add = |key: &str, value: String| lines += &format!("{key} = {value}\n");
        if let Some(cpus) = &named.cpus {
            add("cpus", quoted(&cpus.to_string()));
        }
        if let Some(deadline) = named.deadline {
            add("deadline", quoted(&duration(deadline)));
        }
        if !named.load.is_empty() {
            let loads: Vec<String> = named.load.iter().map(|load| quoted(load)).collect();
            add("load", format!("[{}]", loads.join(", ")));
        }
        if let Some(folder) = &named.folder {
            add("folder", quoted(folder));
        }
        lines
    };
    targets.iter().map(entry).collect::<Vec<_>>().join("\n")
}

fn path() -> Option<PathBuf> {
    Some(user_folder("XDG_CONFIG_HOME", ".config")?.join("latlab/targets.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_reads_back_as_it_is_stored() {
        let pi = NamedTarget {
            target: "ssh://pi@board".parse().unwrap(),
            cpus: "1-3".parse().ok(),
            deadline: "1.500001ms".parse().ok(),
            load: vec!["hackbench,groups=2".into()],
            folder: Some("/mnt/data".into()),
        };
        let plain = NamedTarget {
            target: "ssh://other".parse().unwrap(),
            cpus: None,
            deadline: None,
            load: Vec::new(),
            folder: None,
        };
        let all: NamedTargets = [("pi".to_string(), pi), ("plain".to_string(), plain)].into();
        let text = text_of(&all);
        assert!(text.contains("[\"pi\"]\ntarget = \"ssh://pi@board\"\ncpus = \"1-3\"\n"), "{text}");
        assert_eq!(toml::from_str::<NamedTargets>(&text).unwrap(), all);
        assert!(
            toml::from_str::<NamedTargets>("[pi]\ntarget = \"ssh://pi\"\ncpu = \"1\"").is_err()
        );
    }

    #[test]
    fn the_file_of_a_sheets_boards_is_read_or_told_why_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("boards.toml");
        let read = |text: &str| {
            fs::write(&path, text).unwrap();
            boards_of(&path).map_err(|error| error.replace(&format!("{}", path.display()), "FILE"))
        };
        let two = "[a]\ntarget = \"ssh://a\"\ncpus = \"1\"\n[b]\ntarget = \"ssh://b\"\n";
        assert_eq!(read(two).unwrap().len(), 2);
        for many in ["lab:x86-64/rt", "labgrid:arch=arm64"] {
            let boards = ["a", "b"].map(|name| format!("[{name}]\ntarget = \"{many}\"\n")).concat();
            assert_eq!(read(&boards).unwrap().len(), 2);
        }
        for (wrong, told) in [
            ("", "FILE has no board: expected [NAME]"),
            ("[a]\n", "FILE:1: missing field"),
            ("\n[a]\ntarget = \"local\"\n", "FILE:2: 'local': expected ssh://"),
            (
                "[a]\ntarget = \"labgrid:x\"\n[b]\ntarget = \"labgrid:x\"\n",
                "FILE:3: 'b' is at labgrid:x, as 'a' is",
            ),
            (
                "[a]\ntarget = \"ssh://a\"\n[b]\ntarget = \"ssh://a\"\n",
                "FILE:3: 'b' is at ssh://a, as 'a' is",
            ),
            (
                "[a]\ntarget = \"ssh://a\"\n[b]\ntarget = \"ssh://root@A\"\n",
                "FILE:3: 'b' is at ssh://root@A, as 'a' is",
            ),
            ("[a]\ntarget = \"ssh://a\"\n[a]\ntarget = \"ssh://b\"\n", "FILE:3: duplicate key"),
            ("[a]\ntarget = \"ssh://a\"\nport = 22\n", "FILE:3: unknown field `port`"),
            (&"# much\n".repeat(1 << 18), "FILE has 1 MiB or more: expected [NAME]"),
            ("[\"a b\"]\ntarget = \"ssh://a\"\n", "FILE:1: 'a b' is not a valid name"),
        ] {
            let error = read(wrong).unwrap_err();
            assert!(error.starts_with(told) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn what_is_a_target_is_no_name() {
        for name in ["pi", "board-7.rack_2"] {
            assert!(is_name(name), "{name}");
        }
        for target in ["local", "ssh://pi", "arm64/rt", "lab:x", "-x", "", "a b", "../x"] {
            assert!(!is_name(target), "{target}");
        }
    }
}
