//! Rules of ARCHITECTURE.md that the compiler does not check.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Which workspace crates each crate may depend on. `latlab`, the program, may use all.
const MAY_USE: &[(&str, &[&str])] = &[
    ("latlab-model", &[]),
    ("latlab-sys", &[]),
    ("latlab-measure", &["latlab-sys", "latlab-model"]),
    ("latlab-trace", &["latlab-model"]),
    ("latlab-capture", &["latlab-model"]),
    ("latlab-formats", &["latlab-digest", "latlab-model", "latlab-report"]),
    ("latlab-agent", &["latlab-measure", "latlab-sys", "latlab-model", "latlab-trace"]),
    ("latlab-stats", &["latlab-model"]),
    ("latlab-doctor", &["latlab-model"]),
    ("latlab-digest", &["latlab-doctor", "latlab-model", "latlab-stats", "latlab-trace"]),
    ("latlab-store", &["latlab-digest", "latlab-model", "latlab-stats", "latlab-sys"]),
    ("latlab-lab", &["latlab-model"]),
    (
        "latlab-conduct",
        &[
            "latlab-capture",
            "latlab-lab",
            "latlab-model",
            "latlab-stats",
            "latlab-store",
            "latlab-sys",
        ],
    ),
    (
        "latlab-serve",
        &[
            "latlab-digest",
            "latlab-formats",
            "latlab-model",
            "latlab-report",
            "latlab-stats",
            "latlab-store",
        ],
    ),
    (
        "latlab-report",
        &["latlab-digest", "latlab-doctor", "latlab-model", "latlab-stats", "latlab-store"],
    ),
];

/// All dependencies that the measuring crate may have: no format, no logger, nothing that
/// allocates.
const MEASURE_MAY_USE: &[&str] = &["latlab-model", "latlab-sys", "rtrb"];

/// Generators of man pages, completions and schemas; their output is in the repository.
const GENERATORS: &[&str] = &["clap_complete", "clap_mangen", "schemars"];

/// Parts that can be left out of the program.
const PARTS: &[&str] = &["guests", "pins"];

/// Folders of code that reads no clock and no file.
const PURE: &[&str] = &[
    "model/src",
    "stats/src",
    "doctor/src",
    "report/src",
    "trace/src",
    "digest/src",
    "lab/src/replay",
];

/// Paths that a pure crate must not use.
const IMPURE: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::time::Instant",
    "std::time::SystemTime",
    "std::time::*",
    "std::time",
    "std::*",
];

/// The modules of the program, from the top: each may use only those below it. A command may use
/// only commands below it in this list.
const LAYERS: &[&str] = &[
    "main",
    "reference",
    "tips",
    "command_line",
    "commands::lab",
    "commands::tune",
    "commands::campaign",
    "commands::agent",
    "commands::repeat",
    "commands::attach",
    "commands::trend",
    "commands::watch",
    "commands::completions",
    "commands::cyclictest",
    "commands::doctor",
    "commands::explain",
    "commands::export",
    "commands::fleet",
    "commands::import",
    "commands::loads",
    "commands::plan",
    "commands::plot",
    "commands::report",
    "commands::respond",
    "commands::collect",
    "commands::run",
    "commands::runs",
    "commands::scenarios",
    "commands::serve",
    "commands::target",
    "commands::verify",
    "commands::tuned",
    "commands::compare",
    "commands::result_output",
    "sheet",
    "flags",
    "documents",
    "load_library",
    "targets",
    "progress",
    "render",
    "store",
    "leftovers",
    "browser",
    "exit",
    "output",
];

/// The file and function of the measuring loop, which must stay short enough to read at once.
const LOOP: (&str, &str) = ("crates/measure/src/cyclic.rs", "measure");
const LOOP_LINES: usize = 70;
const LOOP_FILE_LINES: usize = 250;

/// Invariant (purity): Crates depend on each other in one direction.
/// Invariant (agent): The agent has no crate that analyses, the conductor none that measures.
#[test]
fn crates_depend_in_one_direction() {
    let mut broken = Vec::new();
    for (name, uses) in dependencies() {
        if name == "latlab" {
            continue;
        }
        let Some((_, allowed)) = MAY_USE.iter().find(|(known, _)| *known == name) else {
            broken.push(format!("{name} has no line in MAY_USE: say there what it may depend on"));
            continue;
        };
        for other in uses.iter().filter(|other| other.starts_with("latlab")) {
            if !allowed.contains(&other.as_str()) {
                broken.push(format!(
                    "the Cargo.toml of {name} names {other}, but {name} may only use {allowed:?}"
                ));
            }
        }
    }
    report(broken);
}

/// Invariant (loop): The measuring crate uses model, sys and rtrb, and nothing else.
#[test]
fn the_measuring_crate_uses_next_to_nothing() {
    let dependencies = dependencies();
    let broken = dependencies["latlab-measure"]
        .iter()
        .filter(|other| !MEASURE_MAY_USE.contains(&other.as_str()))
        .map(|other| {
            format!(
                "crates/measure/Cargo.toml names {other}: the loop may only use {MEASURE_MAY_USE:?}"
            )
        });
    report(broken.collect());
}

/// Invariant (documents): The program carries no generator.
#[test]
fn the_program_carries_no_generator() {
    let metadata = metadata();
    let mut broken = Vec::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let name = package["name"].as_str().expect("a name");
        for used in package["dependencies"].as_array().expect("dependencies") {
            let other = used["name"].as_str().expect("a name");
            let generator = GENERATORS.contains(&other) && used["optional"] != true;
            let features = used["features"].as_array().expect("features");
            if used["kind"] != "dev" && (generator || features.contains(&"schema".into())) {
                broken.push(format!("{name} uses {other} with a generator: only its tests may"));
            }
        }
        for part in package["features"]["default"].as_array().into_iter().flatten() {
            let part = part.as_str().expect("a feature");
            if !PARTS.contains(&part) {
                broken.push(format!(
                    "{name} has the default feature {part}: the program would carry it"
                ));
            }
        }
    }
    report(broken);
}

/// Invariant (purity): Pure crates read no clock, file or environment.
#[test]
fn pure_crates_read_no_clock_and_no_file() {
    let mut broken = Vec::new();
    for name in PURE {
        let sources = sources(&root().join("crates").join(name));
        assert!(!sources.is_empty(), "crates/{name} holds no source");
        for source in sources.iter().filter(|source| !source.name.ends_with("/tests.rs")) {
            let code = without_tests(&code_only(&source.text));
            for path in paths_of(&code, "std") {
                if IMPURE.iter().any(|bad| is_or_is_under(&path, bad)) {
                    broken.push(format!(
                        "{} uses {path}: {name} reads no clock, no file and no \
                         environment, and starts nothing",
                        source.name
                    ));
                }
            }
        }
    }
    report(broken);
}

/// What the lower modules of `report` may use within it. Sections build on both, surfaces on
/// sections.
const REPORT_MAY_USE: &[(&str, &[&str])] = &[
    ("document", &["document", "units"]),
    ("figures", &["document", "facts", "figures", "units"]),
];
/// Surfaces of `report`, which sections must not use.
const SURFACES: &[&str] = &["page", "terminal", "campaign", "trend", "fleet", "stored"];

/// Invariant (purity): Documents and figures know nothing of what is built from them.
#[test]
fn report_is_built_from_documents_and_figures_up() {
    let mut broken = Vec::new();
    let used = |room: &str| -> Vec<(String, String)> {
        let sources = sources(&root().join("crates/report/src").join(room));
        assert!(!sources.is_empty(), "crates/report/src/{room} holds no source");
        let paths = |source: &Source| {
            let paths = paths_of(&code_only(&source.text), "crate");
            let room = |path: String| path.split("::").nth(1).unwrap_or_default().to_string();
            paths.into_iter().map(move |path| (source.name.clone(), room(path))).collect::<Vec<_>>()
        };
        sources.iter().flat_map(paths).collect()
    };
    for (room, allowed) in REPORT_MAY_USE {
        let others = used(room).into_iter().filter(|(_, other)| !allowed.contains(&other.as_str()));
        broken.extend(others.map(|(name, other)| format!("{name} uses {other}, not {allowed:?}")));
    }
    let above = used("sections").into_iter();
    let above = above.filter(|(_, other)| SURFACES.contains(&other.as_str()));
    broken.extend(above.map(|(name, other)| format!("{name}, a section, uses {other}")));
    report(broken);
}

/// How a command line in a text starts.
const COMMANDS: &[&str] = &[
    "latlab collect ",
    "latlab compare ",
    "latlab doctor ",
    "latlab explain ",
    "latlab export ",
    "latlab import ",
    "latlab lab ",
    "latlab list ",
    "latlab report ",
    "latlab respond ",
    "latlab run ",
    "latlab show ",
    "latlab target ",
    "latlab verify ",
    "`chrt ",
    "`cp ",
    "`echo ",
    "`rm ",
    "`sudo ",
    "`systemctl ",
    "`taskset ",
    "echo ",
    "sudo ",
];

/// Invariant (trust): A command is made of words that are quoted, and not of a text with gaps.
#[test]
fn no_command_is_a_text_with_gaps() {
    let mut broken = Vec::new();
    let crates = fs::read_dir(root().join("crates")).expect("the crates can be listed");
    for folder in crates.map(|entry| entry.expect("a folder can be read").path()) {
        for source in sources(&folder.join("src")) {
            for (line, command) in commands_with_gaps(&source.text) {
                broken.push(format!(
                    "{}:{line} puts text into a command: make it of a `shell::Line`: {command}",
                    source.name
                ));
            }
        }
    }
    report(broken);
}

/// Commands in the string literals of a source that have a `{}` gap, with their lines. Remedies of
/// findings and causes are exempt: each of their gaps is filled with a `shell::Line`.
fn commands_with_gaps(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let before = iter::once("").chain(source.lines());
    for (number, (line, before)) in source.lines().zip(before).enumerate() {
        let start = line.trim_start();
        let is_remedy = start.starts_with("remedy \"")
            || before.ends_with("remedy")
            || start.contains(": LineTemplate = \"");
        let is_checked = !is_remedy && !start.starts_with("//");
        for command in COMMANDS.iter().filter(|_| is_checked) {
            for (at, _) in line.match_indices(command) {
                let begins =
                    line[..at].ends_with(['"', '`', ' ', '(', '\n']) || command.starts_with('`');
                let rest = &line[at + command.len()..];
                let rest = rest.split(['`', '"', ';', ':']).next().unwrap_or_default();
                let rest = rest.replace("{file}", "").replace("{value}", "");
                if begins && rest.contains('{') {
                    found.push((number + 1, line.trim().to_string()));
                }
            }
        }
    }
    found
}

/// Invariant (purity): No module of the program uses one above it.
#[test]
fn no_module_of_the_program_uses_one_above_it() {
    let mut broken = Vec::new();
    for source in sources(&root().join("crates/cli/src")) {
        let own = module_of(&source.name);
        if own == "commands" {
            continue;
        }
        let Some(layer) = LAYERS.iter().position(|name| *name == own) else {
            broken.push(format!("{} belongs to no module in LAYERS", source.name));
            continue;
        };
        let code = code_only(&source.text);
        for path in paths_of(&code, "crate") {
            let path = path.trim_start_matches("crate::");
            let used = LAYERS.iter().position(|name| is_or_is_under(path, name));
            match used {
                Some(used) if used >= layer || layer == 0 => {}
                Some(_) => broken.push(format!("{} uses {path}, which is above it", source.name)),
                None => broken.push(format!("{} uses {path} of main.rs", source.name)),
            }
        }
        if code.contains("super::super::") {
            broken.push(format!("{} says super::super: begin the path with crate", source.name));
        }
    }
    report(broken);
}

/// The entry of `LAYERS` that a source file belongs to.
fn module_of(file: &str) -> String {
    let path = file.trim_start_matches("crates/cli/src/").trim_end_matches(".rs");
    let parts: Vec<&str> = path.split('/').filter(|part| *part != "mod").collect();
    let length = if parts[0] == "commands" { 2 } else { 1 };
    parts[..length.min(parts.len())].join("::")
}

/// Invariant (unsafe): Unsafe code is in sys only, each block with its reason.
#[test]
fn unsafe_code_lives_in_sys_only() {
    let mut broken = Vec::new();
    for source in sources(&root().join("crates")) {
        if source.name.starts_with("crates/sys/src/") {
            continue;
        }
        for at in words(&code_only(&source.text), "unsafe") {
            broken.push(format!(
                "{}:{} says unsafe: only crates/sys/src may",
                source.name,
                line_of(&source.text, at)
            ));
        }
    }
    report(broken);
}

#[test]
fn unsafe_code_says_why_it_is_sound() {
    let mut broken = Vec::new();
    for source in sources(&root().join("crates/sys/src")) {
        let code = code_only(&source.text);
        for at in words(&code, "unsafe") {
            let line = line_of(&source.text, at);
            let is_declaration = code[at + "unsafe".len()..].trim_start().starts_with("fn ");
            if !is_declaration && !has_safety_comment(&source.text, line) {
                broken.push(format!(
                    "{}:{line} has an unsafe block without a SAFETY: comment just before it",
                    source.name
                ));
            }
        }
    }
    report(broken);
}

/// Invariant (loop): The loop fits on one screen: 70 lines, in a file of 250.
#[test]
fn the_loop_can_be_read_in_one_sitting() {
    let (file, function) = LOOP;
    let text = fs::read_to_string(root().join(file)).unwrap_or_else(|error| {
        panic!("{file}, the home of the loop, cannot be read: {error}");
    });
    let code = without_tests(&code_only(&text));
    let lines = code.trim_end().lines().count();
    assert!(
        lines <= LOOP_FILE_LINES,
        "{file} has {lines} lines before its tests; {LOOP_FILE_LINES} is the limit"
    );
    let body = body_of(&code, function)
        .unwrap_or_else(|| panic!("{file} has no function {function}, which is the loop"));
    let lines = body.trim_matches('\n').lines().count();
    assert!(
        lines <= LOOP_LINES,
        "the function {function} of {file} has {lines} lines; {LOOP_LINES} is the limit"
    );
}

/// Invariant (unsafe): All crates have the lints of the workspace.
#[test]
fn every_crate_inherits_the_workspace_lints() {
    let workspace = fs::read_to_string(root().join("Cargo.toml")).expect("the workspace");
    // A crate can inherit only all lints of the workspace, and sys cannot deny unsafe code, so it
    // lists its lints itself.
    let of_sys: Vec<&str> = sections(&workspace, "workspace.lints.")
        .into_iter()
        .flat_map(str::lines)
        .filter(|line| line.contains(" = ") && !line.starts_with("unsafe_code"))
        .collect();
    let mut broken = Vec::new();
    for manifest in manifests() {
        let name = shown(&manifest);
        let text = fs::read_to_string(&manifest).expect("a manifest can be read");
        let lints = sections(&text, "lints").concat();
        if lints.lines().any(|line| line == "workspace = true") {
            continue;
        }
        if name != "crates/sys/Cargo.toml" {
            broken.push(format!("{name} does not inherit the lints: add [lints] workspace = true"));
            continue;
        }
        for line in of_sys.iter().filter(|line| !lints.lines().any(|own| own == **line)) {
            broken.push(format!("{name} lacks a lint of the workspace: {line}"));
        }
    }
    report(broken);
}

/// The bodies of a manifest's sections whose names start with `name`.
fn sections<'a>(manifest: &'a str, name: &str) -> Vec<&'a str> {
    manifest
        .split("\n[")
        .filter(|section| section.starts_with(name))
        .filter_map(|section| section.split_once('\n'))
        .map(|(_, body)| body)
        .collect()
}

#[test]
fn every_file_of_tests_is_part_of_its_program() {
    let mut broken = Vec::new();
    for manifest in manifests() {
        let folder = manifest.with_file_name("tests");
        let Ok(main) = fs::read_to_string(folder.join("it/main.rs")) else { continue };
        let named: Vec<&str> = main.lines().filter_map(|line| line.strip_prefix("mod ")).collect();
        for source in sources(&folder) {
            let below = source.name.split_once("/tests/").expect("a file of tests").1;
            let module = below.strip_prefix("it/").and_then(|path| path.split(['/', '.']).next());
            if !module.is_some_and(|module| {
                module == "main" || named.iter().any(|line| line.strip_suffix(';') == Some(module))
            }) {
                broken.push(format!(
                    "{} is never compiled: name it in tests/it/main.rs",
                    source.name
                ));
            }
        }
    }
    report(broken);
}

/// Examples in documentation are not run (see `rust_tests` in scripts/steps.bash), nor are unit
/// tests in a crate that disables them.
#[test]
fn no_test_stands_where_none_is_run() {
    let mut broken = Vec::new();
    for manifest in manifests() {
        let text = fs::read_to_string(&manifest).expect("a manifest can be read");
        let runs_none = sections(&text, "lib").contains(&"test = false");
        let folder = manifest.parent().expect("a folder of a crate").join("src");
        for Source { name, text } in sources(&folder) {
            if runs_none && text.lines().any(|line| line.trim() == "#[test]") {
                broken.push(format!("{name} has a test that is never run: move it to tests/it"));
            }
            let is_example = |line: &str| {
                let line = line.trim_start();
                line.starts_with("/// ```") || line.starts_with("//! ```")
            };
            if text.lines().any(is_example) {
                broken.push(format!("{name} has an example that is never run: make a test of it"));
            }
        }
    }
    report(broken);
}

/// Invariant (documents): docs/dependencies.md lists every third-party crate as it is.
#[test]
fn dependencies_are_listed_as_they_are() {
    let page = fs::read_to_string(root().join("docs/dependencies.md")).expect("the table");
    let lock = fs::read_to_string(root().join("Cargo.lock")).expect("Cargo.lock");
    let (expected, listed) = (third_party(), listed_dependencies(&page));
    let mut broken = Vec::new();
    for (name, users) in &expected {
        let rows: Vec<&Listed> = listed.iter().filter(|row| row.name == *name).collect();
        let [row] = rows[..] else {
            broken
                .push(format!("docs/dependencies.md has {} rows for {name}, not one", rows.len()));
            continue;
        };
        let users = match users.is_empty() {
            true => "tests".to_string(),
            false => users.join(", "),
        };
        if row.users != users {
            broken.push(format!("{name} is used by {users}; the table says {}", row.users));
        }
        if !lock.contains(&format!("name = \"{name}\"\nversion = \"{}\"\n", row.version)) {
            broken.push(format!("Cargo.lock has another version of {name} than {}", row.version));
        }
    }
    for row in listed.iter().filter(|row| !expected.contains_key(row.name)) {
        broken.push(format!("docs/dependencies.md lists {}, which no crate uses", row.name));
    }
    report(broken);
}

/// Every third-party crate with the workspace crates that use it. Crates used only by tests are
/// left out.
fn third_party() -> BTreeMap<String, Vec<String>> {
    let metadata = metadata();
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let user = match package["name"].as_str().expect("a name") {
            "latlab" => "cli",
            name => name.trim_start_matches("latlab-"),
        };
        for used in package["dependencies"].as_array().expect("dependencies") {
            let name = used["name"].as_str().expect("a name");
            if name.starts_with("latlab") {
                continue;
            }
            let users = found.entry(name.to_string()).or_default();
            let is_for_tests = used["kind"] == "dev" || used["optional"] == true;
            if !is_for_tests && !users.iter().any(|known| known == user) {
                users.push(user.to_string());
                users.sort();
            }
        }
    }
    found
}

/// A row of docs/dependencies.md.
struct Listed<'a> {
    name: &'a str,
    version: &'a str,
    users: &'a str,
}

fn listed_dependencies(page: &str) -> Vec<Listed<'_>> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")).skip(1);
    let listed = rows.filter_map(|row| {
        let mut cells = row.split(" | ");
        Some(Listed { name: cells.next()?, version: cells.next()?, users: cells.next()? })
    });
    listed.collect()
}

fn report(broken: Vec<String>) {
    assert!(broken.is_empty(), "rules of ARCHITECTURE.md are broken:\n  {}", broken.join("\n  "));
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository is above crates/cli")
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

fn metadata() -> Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
}

/// The dependencies of each workspace crate, without dev-dependencies.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let name = |value: &Value| value["name"].as_str().expect("a name").to_string();
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    packages
        .iter()
        .map(|package| {
            let all = package["dependencies"].as_array().expect("dependencies");
            let used = all.iter().filter(|one| one["kind"] != "dev").map(name).collect();
            (name(package), used)
        })
        .collect()
}

fn manifests() -> Vec<PathBuf> {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    packages
        .iter()
        .map(|package| PathBuf::from(package["manifest_path"].as_str().expect("a path")))
        .collect()
}

struct Source {
    name: String,
    text: String,
}

/// All Rust files below a folder, sorted.
fn sources(folder: &Path) -> Vec<Source> {
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a folder can be read").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source can be read");
            found.push(Source { name: shown(&path), text });
        }
    }
    found
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// Whether the comment right above the statement that this line belongs to says SAFETY.
fn has_safety_comment(text: &str, line: usize) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_comment = |line: &str| line.starts_with("//");
    let ends_statement = |line: &str| line.is_empty() || line.ends_with([';', '{', '}']);
    let mut at = line - 1;
    while at > 0 && !is_comment(lines[at - 1]) && !ends_statement(lines[at - 1]) {
        at -= 1;
    }
    lines[..at].iter().rev().take_while(|line| is_comment(line)).any(|l| l.contains("SAFETY:"))
}

/// The source with the content of comments and literals replaced by blanks, byte for byte.
fn code_only(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = literal_or_comment(bytes, at);
        if end > at {
            for byte in &mut code[at..end] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
            at = end;
        } else if is_word(bytes[at]) {
            // Skip the whole word: the r of `for` does not start a raw string.
            at += bytes[at..].iter().take_while(|byte| is_word(**byte)).count();
        } else {
            at += 1;
        }
    }
    String::from_utf8(code).expect("whole literals were blanked")
}

/// The end of the comment or literal that starts here, or `at` if none does.
fn literal_or_comment(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let until = |pattern: &[u8], from: usize| {
        let found = rest[from..].windows(pattern.len()).position(|window| window == pattern);
        found.map_or(bytes.len(), |position| at + from + position + pattern.len())
    };
    if rest.starts_with(b"//") {
        return until(b"\n", 0).min(bytes.len());
    }
    if rest.starts_with(b"/*") {
        let (mut depth, mut end) = (0, 0);
        while end < rest.len() {
            match &rest[end..] {
                [b'/', b'*', ..] => (depth, end) = (depth + 1, end + 2),
                [b'*', b'/', ..] => (depth, end) = (depth - 1, end + 2),
                _ => end += 1,
            }
            if depth == 0 {
                break;
            }
        }
        return at + end;
    }
    let prefix = rest.iter().take_while(|byte| matches!(byte, b'b' | b'c' | b'r')).count();
    let raw = rest[..prefix].contains(&b'r');
    let hashes = match raw {
        true => rest[prefix..].iter().take_while(|byte| **byte == b'#').count(),
        false => 0,
    };
    let quote = prefix + hashes;
    match rest.get(quote) {
        Some(b'"') if raw && prefix <= 2 => {
            let close: Vec<u8> = b"\"".iter().copied().chain(vec![b'#'; hashes]).collect();
            until(&close, quote + 1)
        }
        Some(b'"') if prefix <= 1 => at + quoted(rest, quote, b'"'),
        // A lifetime has no closing quote after its first character.
        Some(b'\'') if prefix <= 1 && !raw => match &rest[quote + 1..] {
            [b'\\', ..] => at + quoted(rest, quote, b'\''),
            [first, ..] => {
                let close = quote + 1 + utf8_length(*first);
                if rest.get(close) == Some(&b'\'') { at + close + 1 } else { at }
            }
            [] => at,
        },
        _ => at,
    }
}

/// The end, after the quote that closes the one at `open`.
fn quoted(rest: &[u8], open: usize, quote: u8) -> usize {
    let mut end = open + 1;
    while end < rest.len() && rest[end] != quote {
        end += if rest[end] == b'\\' { 2 } else { 1 };
    }
    (end + 1).min(rest.len())
}

fn utf8_length(first: u8) -> usize {
    match first {
        0..0x80 => 1,
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The offsets of a word in code.
fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = code.as_bytes();
    code.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let after = bytes.get(at + word.len()).copied();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// The range between the first `{` at or after `from` and its closing `}`.
fn braces(code: &str, from: usize) -> Option<(usize, usize)> {
    let open = from + code[from..].find('{')?;
    let mut depth = 0;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((open + 1, at));
        }
    }
    None
}

/// The code without its test modules.
fn without_tests(code: &str) -> String {
    let mut code = code.to_string();
    while let Some(start) = code.find("#[cfg(test)]") {
        let declaration = code[start..].find(';').map(|end| start + end);
        let end = match (braces(&code, start), declaration) {
            (Some((open, _)), Some(end)) if end < open => end + 1,
            (Some((_, close)), _) => close + 1,
            (None, Some(end)) => end + 1,
            (None, None) => code.len(),
        };
        code.replace_range(start..end, "");
    }
    code
}

fn body_of<'a>(code: &'a str, function: &str) -> Option<&'a str> {
    let declaration = |at: &usize| code[..*at].trim_end().ends_with("fn");
    let at = words(code, function).find(declaration)?;
    braces(code, at).map(|(start, end)| &code[start..end])
}

/// All paths that start with this word, with `use` groups expanded.
fn paths_of(code: &str, root: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for at in words(code, root) {
        let rest = &code[at + root.len()..];
        if let Some(tail) = rest.trim_start().strip_prefix("::") {
            write_out(root, tail, &mut paths);
        }
    }
    paths
}

/// Expands a tail such as `time::{Duration, Instant}` into paths.
fn write_out(head: &str, tail: &str, paths: &mut Vec<String>) {
    let tail = tail.trim_start();
    if tail.starts_with('{') {
        let Some((start, end)) = braces(tail, 0) else { return };
        for part in split_outside_braces(&tail[start..end]) {
            write_out(head, part, paths);
        }
        return;
    }
    let length = tail.bytes().take_while(|byte| is_word(*byte) || *byte == b'*').count();
    let path = match &tail[..length] {
        "" => return,
        "self" => head.to_string(),
        word => format!("{head}::{word}"),
    };
    match tail[length..].trim_start().strip_prefix("::") {
        Some(next) => write_out(&path, next, paths),
        None => paths.push(path),
    }
}

fn split_outside_braces(list: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts
}

/// Whether a path is a forbidden one or inside it. `std::time` itself is forbidden only if the
/// module is imported as a whole.
fn is_or_is_under(path: &str, bad: &str) -> bool {
    let inside = bad != "std::time" && path.starts_with(&format!("{bad}::"));
    path == bad || inside
}

mod scanner {
    use super::*;

    #[test]
    fn comments_and_literals_are_no_code() {
        let text = "a /* unsafe /* x */ */ b // unsafe\n\"unsafe \\\" {\" 'x' '\\'' 'é' &'a c r#\"unsafe\"#";
        let code = code_only(text);
        assert_eq!(code.len(), text.len());
        assert_eq!(words(&code, "unsafe").count(), 0);
        assert_eq!(code.split_whitespace().collect::<Vec<_>>(), ["a", "b", "&'a", "c"]);
        assert_eq!(code_only("for \"x\" b\"y\" br\"z\""), "for               ");
    }

    #[test]
    fn a_word_is_not_part_of_another() {
        assert_eq!(words("unsafe_code unsafe {", "unsafe").collect::<Vec<_>>(), [12]);
    }

    #[test]
    fn groups_are_written_out() {
        let code =
            "use std::{fmt, time::{Duration, Instant}}; std::fs::read; use std::env::{self};";
        assert_eq!(
            paths_of(code, "std"),
            ["std::fmt", "std::time::Duration", "std::time::Instant", "std::fs::read", "std::env"]
        );
        assert!(is_or_is_under("std::fs::read", "std::fs"));
        assert!(!is_or_is_under("std::time::Duration", "std::time"));
        assert!(!is_or_is_under("std::envelope", "std::env"));
    }

    #[test]
    fn test_modules_are_left_out() {
        let code =
            "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { } }\n#[cfg(test)]\nmod more;\nfn c() {}";
        let rest = without_tests(code);
        assert_eq!(rest.split_whitespace().collect::<String>(), "fna(){}fnc(){}");
        assert_eq!(
            body_of("fn measured() {} fn measure<T>() { x { } }", "measure"),
            Some(" x { } ")
        );
    }

    #[test]
    fn a_safety_comment_stands_above_its_statement() {
        let good = "// SAFETY: sound.\nlet x =\n    unsafe { f() };";
        let bad = "// SAFETY: sound.\nlet y = 1;\nlet x =\n    unsafe { f() };";
        assert!(has_safety_comment(good, 3));
        assert!(!has_safety_comment(bad, 4));
    }
}
