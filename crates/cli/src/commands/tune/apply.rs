//! Makes settings for good, shows them, and takes them back to the byte.
//!
//! What is read at boot is written to own files, and what they held before, with
//! the present values of the settings, to a file of state first: so that an undo knows all of it
//! from any moment on.

use crate::exit::{EXIT_FAIL, EXIT_NO_ANSWER, ExitError};
use crate::flags::Format;
use crate::output::{print_json, print_text, warn};
use anyhow::Context;
use latlab_model::CpuSet;
use latlab_model::plan::{KernelFile, Tuning};
use latlab_model::shell::Line;
use latlab_model::tune::{Candidate, TuneResult};
use latlab_sys::files::Root;
use latlab_sys::undo::{read_value, single_spaced, write_value};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdin};
use std::path::Path;
use std::process::ExitCode;

const STATE: &str = "var/lib/latlab/tune.json";
const SYSCTL: &str = "etc/sysctl.d/90-latlab-tune.conf";
const TMPFILES: &str = "etc/tmpfiles.d/latlab-tune.conf";
const UNIT: &str = "etc/systemd/system/latlab-tune.service";
const WANTED: &str = "etc/systemd/system/multi-user.target.wants/latlab-tune.service";
const WORKQUEUES: &str = "/sys/devices/virtual/workqueue/cpumask";
const HEAD: &str = "# Written by `latlab tune --apply`; `latlab tune --undo` takes it back.\n";

/// What was made for good.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Applied {
    /// Id of the search.
    pub search: String,
    /// Names of the settings.
    pub settings: Vec<String>,
    /// Files that are read at boot.
    pub files: Vec<WrittenFile>,
    /// Kernel files that hold the settings now.
    pub values: Vec<SetValue>,
}

/// A file that is read at boot.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WrittenFile {
    /// Path without the leading slash.
    pub path: String,
    /// Its content before; `None` if there was no such file.
    pub before: Option<String>,
    /// Its content; for a link its target.
    pub after: String,
    /// Whether it is a link.
    pub is_link: bool,
}

/// A kernel file with its setting.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SetValue {
    /// Its path.
    pub path: String,
    /// Its value before.
    pub before: String,
    /// Its value since.
    pub after: String,
}

/// `latlab tune --status --format json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TuneStatus {
    /// What was made for good; `null` if nothing was.
    pub applied: Option<Applied>,
    /// What no longer is as it was made, a line each.
    pub differs: Vec<String>,
}

/// Shows what would be written, asks, and writes it. Interrupts go to the `others`, the CPUs that the
/// search did not measure.
pub fn apply(
    root: &Root,
    result: &TuneResult,
    others: &CpuSet,
    yes: bool,
) -> anyhow::Result<ExitCode> {
    let chosen = result.chosen();
    if chosen.is_empty() {
        return Err(
            ExitError::usage(format!("no setting of {} is proven to help", result.id)).into()
        );
    }
    if let Some(applied) = read(root)? {
        let text = format!(
            "the settings of {} are made already: take them back with `latlab tune --undo` first",
            applied.search
        );
        return Err(ExitError::usage(text).into());
    }
    let planned = plan(root, result, &chosen, others)?;
    print_text(&difference(&planned))?;
    if !result.confirmed.as_ref().is_some_and(|fresh| fresh.helps()) {
        warn("fresh runs have not proven that these settings help together");
    }
    if !yes && !agrees()? {
        print_text("Nothing was written.\n")?;
        return Ok(ExitCode::from(EXIT_NO_ANSWER));
    }
    make(root, &planned)?;
    print_text(
        "Made for good. See `latlab tune --status`; take it back with `latlab tune --undo`.\n",
    )?;
    if planned.files.iter().any(|file| file.path == UNIT) {
        print_text(
            "From the next boot on, or now: systemctl daemon-reload; systemctl start latlab-tune\n",
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn agrees() -> anyhow::Result<bool> {
    if !stdin().is_terminal() {
        return Err(ExitError::usage(
            "standard input is no terminal, so nothing can be asked: add --yes",
        )
        .into());
    }
    // Standard error may be closed.
    let _ = write!(stderr(), "Write this? [y/N] ");
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    Ok(answer.trim().eq_ignore_ascii_case("y"))
}

fn plan(
    root: &Root,
    result: &TuneResult,
    chosen: &[&Candidate],
    others: &CpuSet,
) -> anyhow::Result<Applied> {
    let (mut sysctl, mut tmpfiles, mut values) = (String::new(), String::new(), Vec::new());
    let workqueues = chosen.iter().any(|one| one.tunings.contains(&Tuning::WorkqueuesAway));
    let workqueues =
        workqueues.then(|| KernelFile { path: WORKQUEUES.into(), value: others.to_mask() });
    for file in chosen.iter().flat_map(|one| &one.kernel_files).chain(&workqueues) {
        let before =
            read_value(root, &file.path).with_context(|| format!("cannot read {}", file.path))?;
        match file.path.strip_prefix("/proc/sys/") {
            // A name of a network interface may contain dots.
            Some(name) => sysctl += &format!("{name} = {}\n", file.value),
            None => tmpfiles += &format!("w {} - - - - {}\n", escaped(&file.path), file.value),
        }
        values.push(SetValue {
            path: file.path.clone(),
            before,
            after: single_spaced(&file.value),
        });
    }
    let commands = commands(chosen, others);
    let unit = (!commands.is_empty()).then(|| unit(&commands));
    let texts = [(SYSCTL, Some(sysctl)), (TMPFILES, Some(tmpfiles)), (UNIT, unit)];
    let texts = texts.into_iter().filter_map(|(path, text)| Some((path, text?)));
    let mut files = Vec::new();
    for (path, text) in texts.filter(|(_, text)| !text.is_empty()) {
        let before = content(root, path)?;
        let after = format!("{HEAD}{text}");
        files.push(WrittenFile { path: path.to_string(), before, after, is_link: false });
    }
    if files.iter().any(|file| file.path == UNIT) {
        let after = format!("/{UNIT}");
        files.push(WrittenFile { path: WANTED.to_string(), before: None, after, is_link: true });
    }
    let settings = chosen.iter().map(|one| one.name.clone()).collect();
    Ok(Applied { search: result.id.clone(), settings, files, values })
}

/// A path in a line of tmpfiles.d, where `%` and `\` have a meaning.
fn escaped(path: &str) -> String {
    path.replace('\\', "\\\\").replace('%', "%%")
}

/// What no file of sysctl.d or tmpfiles.d can hold, as commands of a shell in a unit, where `$` and
/// `\` are doubled. The command that holds the idle states comes last, as it never ends.
fn commands(chosen: &[&Candidate], others: &CpuSet) -> Vec<String> {
    let tunings = chosen.iter().flat_map(|one| &one.tunings);
    let away = tunings.filter(|tuning| **tuning == Tuning::IrqsAway).map(|_| {
        Line::new("for f in /proc/irq/*/smp_affinity_list; do echo")
            .word(others.to_string())
            .text(">$$f; done 2>/dev/null; echo")
            .word(others.to_mask())
            .text(">/proc/irq/default_smp_affinity")
            .to_string()
    });
    let limit = chosen.iter().any(|one| one.idle_states.is_some()).then(|| {
        "exec 3<>/dev/cpu_dma_latency; printf '\\\\0\\\\0\\\\0\\\\0' >&3; exec sleep infinity"
            .to_string()
    });
    away.chain(limit).collect()
}

fn unit(commands: &[String]) -> String {
    format!(
        "[Unit]\nDescription=Settings of latlab tune\n\n[Service]\nType=exec\nRemainAfterExit=yes\n\
         ExecStart=/bin/sh -c \"{}\"\n\n[Install]\nWantedBy=multi-user.target\n",
        commands.join("; ")
    )
}

fn content(root: &Root, path: &str) -> anyhow::Result<Option<String>> {
    match fs::read_to_string(root.path(path)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read /{path}")),
    }
}

/// What is written, as a diff.
fn difference(of: &Applied) -> String {
    let mut text = String::new();
    for file in &of.files {
        let from =
            file.before.as_ref().map_or("/dev/null".to_string(), |_| format!("/{}", file.path));
        text += &format!("--- {from}\n+++ /{}\n", file.path);
        let lines = |text: &str, sign: char| {
            text.lines().map(|line| format!("{sign}{line}\n")).collect::<String>()
        };
        text += &lines(file.before.as_deref().unwrap_or_default(), '-');
        text += &lines(&file.after, '+');
    }
    for SetValue { path, before, after } in &of.values {
        text += &format!("now: {path} {before} -> {after}\n");
    }
    text
}

fn make(root: &Root, planned: &Applied) -> anyhow::Result<()> {
    let state = serde_json::to_string_pretty(planned)? + "\n";
    write(root, STATE, &state)?;
    for file in &planned.files {
        match file.is_link {
            true => {
                let path = root.path(&file.path);
                create_parent(&path)?;
                std::os::unix::fs::symlink(&file.after, &path)
                    .with_context(|| format!("cannot link /{}", file.path))?;
            }
            false => write(root, &file.path, &file.after)?,
        }
    }
    for SetValue { path, after, .. } in &planned.values {
        set(root, path, after)?;
    }
    Ok(())
}

fn create_parent(path: &Path) -> anyhow::Result<()> {
    let parent = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))
}

/// Writes a file whole or not at all.
fn write(root: &Root, path: &str, text: &str) -> anyhow::Result<()> {
    let path = root.path(path);
    create_parent(&path)?;
    crate::output::write_whole(&path, text.as_bytes())
}

fn set(root: &Root, path: &str, value: &str) -> anyhow::Result<()> {
    write_value(root, path, value).with_context(|| format!("cannot set {path} to '{value}'"))
}

fn read(root: &Root) -> anyhow::Result<Option<Applied>> {
    let Some(text) = content(root, STATE)? else { return Ok(None) };
    Ok(Some(serde_json::from_str(&text).with_context(|| format!("/{STATE} is damaged"))?))
}

/// Prints what was made for good, and what is no longer so.
pub fn status(root: &Root, format: Format) -> anyhow::Result<ExitCode> {
    let applied = read(root)?;
    let differs = applied.as_ref().map(|applied| differences(root, applied)).unwrap_or_default();
    let code = if differs.is_empty() { 0 } else { EXIT_FAIL };
    match (format, &applied) {
        (Format::Json, _) => print_json(&TuneStatus { applied, differs })?,
        (Format::Text, None) => print_text("No settings were made for good.\n")?,
        (Format::Text, Some(applied)) => {
            let files = applied.files.iter().map(|file| format!("  /{}\n", file.path));
            let differs = differs.iter().map(|line| format!("  {line}\n"));
            let heading = if differs.len() > 0 { "Not so any more:\n" } else { "" };
            print_text(&format!(
                "Made for good, from {}: {}.\n{}{heading}{}",
                applied.search,
                applied.settings.join(", "),
                files.collect::<String>(),
                differs.collect::<String>()
            ))?;
        }
    }
    Ok(ExitCode::from(code))
}

fn differences(root: &Root, applied: &Applied) -> Vec<String> {
    let files = applied.files.iter().filter(|file| !file.is_link).filter_map(|file| {
        let now = content(root, &file.path).ok().flatten();
        (now.as_ref() != Some(&file.after)).then(|| format!("/{} was changed", file.path))
    });
    let values = applied.values.iter().filter_map(|SetValue { path, after, .. }| {
        let now = read_value(root, path).unwrap_or_else(|error| error.to_string());
        (now != *after).then(|| format!("{path} is '{now}' instead of '{after}'"))
    });
    files.chain(values).collect()
}

/// Takes everything back; what another program has changed since is left alone and named.
pub fn undo(root: &Root) -> anyhow::Result<ExitCode> {
    let Some(applied) = read(root)? else {
        print_text("No settings were made for good.\n")?;
        return Ok(ExitCode::SUCCESS);
    };
    let left = take_back(root, &applied)?;
    left.iter().for_each(warn);
    print_text(&format!("Took back {}.\n", applied.settings.join(", ")))?;
    Ok(ExitCode::from(if left.is_empty() { 0 } else { EXIT_FAIL }))
}

fn take_back(root: &Root, applied: &Applied) -> anyhow::Result<Vec<String>> {
    let mut left = Vec::new();
    for SetValue { path, before, after } in applied.values.iter().rev() {
        match read_value(root, path) {
            Ok(now) if now == *before => {}
            Ok(now) if now == *after => set(root, path, before)?,
            Ok(now) => left.push(format!("left {path} at '{now}', which another program has set")),
            // The device is gone, and its setting with it.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => left.push(format!("cannot read {path}: {error}")),
        }
    }
    for file in applied.files.iter().rev() {
        match &file.before {
            Some(before) => write(root, &file.path, before)?,
            None => match fs::remove_file(root.path(&file.path)) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(error).with_context(|| format!("cannot remove /{}", file.path));
                }
                _ => {}
            },
        }
    }
    fs::remove_file(root.path(STATE)).with_context(|| format!("cannot remove /{STATE}"))?;
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::plan::IdleStates;
    use latlab_model::tune::{SettingResult, SettingWord};
    use latlab_model::{CpuSet, Nanos};
    use std::collections::BTreeMap;

    fn machine() -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        for (path, text) in [
            ("proc/sys/vm/swappiness", "60\n"),
            ("sys/kernel/mm/x", "always [madvise] never\n"),
            (SYSCTL, "# mine\n"),
        ] {
            let path = root.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        (folder, root)
    }

    /// All files below a folder with their content.
    fn content_of(folder: &Path) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match fs::symlink_metadata(&path).unwrap().is_dir() {
                true => all.extend(content_of(&path)),
                false => {
                    let text = fs::read_to_string(&path).unwrap_or_else(|_| "link".to_string());
                    all.insert(path.display().to_string(), text);
                }
            }
        }
        all
    }

    fn result() -> TuneResult {
        let helps = |setting: Candidate| SettingResult {
            setting,
            word: SettingWord::Helps,
            effects: Vec::new(),
            more_ns: None,
        };
        let file = |text: &str| text.parse::<KernelFile>().unwrap();
        let named = |name: &str| Candidate { name: name.to_string(), ..Candidate::default() };
        let settings = [
            Candidate { kernel_files: vec![file("vm.swappiness=1")], ..named("swappiness") },
            Candidate { kernel_files: vec![file("/sys/kernel/mm/x=never")], ..named("thp") },
            Candidate { idle_states: Some(IdleStates::ExitWithin(Nanos::ZERO)), ..named("idle") },
        ];
        TuneResult {
            id: "search".to_string(),
            host: None,
            kernel: String::new(),
            tolerance: 0.1,
            pairs: 40,
            planned_pairs: 40,
            slot_ns: Nanos(1),
            is_decided: true,
            untouched: Vec::new(),
            untouched_runs: 0,
            settings: settings.into_iter().map(helps).collect(),
            joint: Vec::new(),
            left_out: Vec::new(),
            confirmed: None,
        }
    }

    /// Invariant (tune): What was made for good is taken back to the byte.
    #[test]
    fn what_was_made_for_good_is_taken_back_to_the_byte() {
        let (folder, root) = machine();
        let result = result();
        let planned = plan(&root, &result, &result.chosen(), &CpuSet::default()).unwrap();
        let shown = difference(&planned);
        for expected in ["-# mine\n", "+vm/swappiness = 1\n", "+w /sys/kernel/mm/x - - - - never\n"]
        {
            assert!(shown.contains(expected), "{shown}");
        }
        let before = content_of(folder.path());
        make(&root, &planned).unwrap();
        assert_eq!(fs::read_to_string(root.path("proc/sys/vm/swappiness")).unwrap(), "1\n");
        assert_eq!(differences(&root, &planned), Vec::<String>::new());
        let unit = fs::read_to_string(root.path(UNIT)).unwrap();
        assert!(unit.contains(r"printf '\\0\\0\\0\\0' >&3"), "{unit}");
        // The kernel shows the choice in brackets; a planted file cannot.
        fs::write(root.path("sys/kernel/mm/x"), "always madvise [never]\n").unwrap();
        let applied = read(&root).unwrap().unwrap();
        assert_eq!(take_back(&root, &applied).unwrap(), Vec::<String>::new());
        let mut expected = before;
        expected.insert(root.path("sys/kernel/mm/x").display().to_string(), "madvise\n".into());
        assert_eq!(content_of(folder.path()), expected);
        assert_eq!(read(&root).unwrap(), None);
    }

    #[test]
    fn what_another_program_has_set_since_is_left_alone() {
        let (_folder, root) = machine();
        let result = result();
        let planned = plan(&root, &result, &result.chosen(), &CpuSet::default()).unwrap();
        make(&root, &planned).unwrap();
        fs::write(root.path("proc/sys/vm/swappiness"), "30\n").unwrap();
        let left = take_back(&root, &planned).unwrap();
        assert_eq!(left, ["left /proc/sys/vm/swappiness at '30', which another program has set"]);
    }
}
