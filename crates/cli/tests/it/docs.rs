//! Links and flags named in the documentation exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders without documentation of the project.
const NOT_OURS: &[&str] = &["target", "dist", "runs", "node_modules", ".git", ".venv"];

/// Invariant (documents): Documents name no link, flag or finding that does not exist.
#[test]
fn every_relative_link_leads_somewhere() {
    let mut broken = Vec::new();
    for page in pages() {
        let folder = page.path.parent().expect("a page has a folder");
        for link in links(&page.text) {
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let path = if file.is_empty() { page.path.clone() } else { folder.join(file) };
            if !path.exists() {
                broken.push(format!("{} links to {link}, which is not there", page.name));
            } else if !anchor.is_empty() && path.extension().is_some_and(|kind| kind == "md") {
                let text = fs::read_to_string(&path).expect("a page can be read");
                if !anchors(&text).iter().any(|known| known == anchor) {
                    broken.push(format!("{} links to {link}: no such heading", page.name));
                }
            }
        }
    }
    report(broken);
}

/// Invariant (documents): Nothing installs latlab from a package index, on which the name is not ours.
#[test]
fn python_is_installed_from_a_clone_or_a_wheel() {
    let endings = ["md", "py", "rs", "ipynb", "1"];
    let mut broken = Vec::new();
    for path in endings.iter().flat_map(|ending| files(&root(), ending)) {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let named = text.split("pip install ").skip(1);
        let of_index =
            named.filter(|rest| rest.trim_start_matches(['\'', '"']).starts_with("latlab"));
        broken.extend(of_index.map(|_| format!("{} names a package index", path.display())));
    }
    report(broken);
}

/// Invariant (documents): Each guide stands in the questions of the documentation and in the contents of the book.
#[test]
fn every_guide_is_listed() {
    let pages = pages();
    let mut missing = Vec::new();
    for list in ["docs/README.md", "packaging/book/SUMMARY.md"] {
        let text = &pages.iter().find(|page| page.name == list).expect("the list is there").text;
        for guide in pages.iter().filter(|page| is_guide(&page.name)) {
            let Some(name) = guide.name.strip_prefix("docs/guide/") else { continue };
            if !links(text).any(|link| {
                link.split('#').next().is_some_and(|file| file.ends_with(&format!("guide/{name}")))
            }) {
                missing.push(format!("{list} does not name docs/guide/{name}"));
            }
        }
    }
    report(missing);
}

/// Invariant (documents): Documents name no link, flag or finding that does not exist.
#[test]
fn every_flag_that_the_guides_name_exists() {
    let flags = flags();
    let mut broken = Vec::new();
    let mut named = 0;
    for page in pages().iter().filter(|page| is_guide(&page.name)) {
        for call in calls(&page.text) {
            named += 1;
            let Some(known) = flags.get(call.command) else {
                broken.push(format!("{}: there is no `latlab {}`", page.name, call.command));
                continue;
            };
            for flag in call.flags.iter().filter(|flag| !is_known(known, flag)) {
                let command = call.command;
                broken.push(format!("{}: `latlab {command}` has no {flag}", page.name));
            }
        }
        for flag in lone_flags(&page.text) {
            named += 1;
            if !flags.values().any(|known| known.contains(flag)) {
                broken.push(format!("{}: no command of latlab has {flag}", page.name));
            }
        }
    }
    assert!(named > 50, "the guides name no more than {named} commands and flags?");
    report(broken);
}

/// Whether a command has this flag; for `-p90`, whether it has `-p`.
fn is_known(known: &BTreeSet<String>, flag: &str) -> bool {
    let letter = flag.get(..2).filter(|letter| *letter != "--");
    known.contains(flag) || letter.is_some_and(|letter| known.contains(letter))
}

/// A call of latlab on a page.
#[derive(Debug, PartialEq)]
struct Call<'a> {
    command: &'a str,
    flags: Vec<&'a str>,
}

/// Every `latlab COMMAND …` in the code of a page, up to a shell operator.
fn calls(page: &str) -> Vec<Call<'_>> {
    let mut found = Vec::new();
    for line in code(page) {
        for (at, _) in line.match_indices("latlab ") {
            let begins = line[..at].chars().next_back().is_none_or(|c| " '/(\"".contains(c));
            let rest = &line[at + "latlab ".len()..];
            let end = rest.find(['|', '>', '<', ';', '&', '#', ')', '`']).unwrap_or(rest.len());
            let mut words = rest[..end].split_whitespace();
            let Some(command) = words.next().filter(|word| begins && is_command(word)) else {
                continue;
            };
            let words = words.map(|word| word.trim_matches(['\'', '"', ',', '.']));
            let flags = words
                .filter(|word| is_flag(word))
                .map(|word| word.split_once('=').map_or(word, |(flag, _)| flag));
            found.push(Call { command, flags: flags.collect() });
        }
    }
    found
}

/// Flags that a page names without a command, such as `--samples`.
fn lone_flags(page: &str) -> Vec<&str> {
    let spans = prose(page).into_iter().flat_map(|text| text.split('`').skip(1).step_by(2));
    let flags = spans.filter(|span| span.starts_with("--"));
    flags.map(|span| span.split([' ', '=', '[']).next().unwrap_or(span)).collect()
}

fn is_command(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn is_flag(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    word.len() > name.len() && name.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// The text outside code blocks.
fn prose(page: &str) -> Vec<&str> {
    page.split("\n```").step_by(2).collect()
}

/// Lines of code blocks, and code spans in the text.
fn code(page: &str) -> Vec<&str> {
    let blocks = page.split("\n```").skip(1).step_by(2).flat_map(str::lines);
    let spans = prose(page).into_iter().flat_map(|text| text.split('`').skip(1).step_by(2));
    blocks.chain(spans).collect()
}

/// Invariant (documents): The glossary names files and types that exist.
#[test]
fn the_glossary_names_what_is_there() {
    let page = fs::read_to_string(root().join("docs/glossary.md")).expect("the glossary");
    let mut broken = Vec::new();
    let mut named = 0;
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let cell = line.trim_end_matches([' ', '|']).rsplit(" | ").next().unwrap_or("");
        let parts: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
        let (paths, names): (Vec<&str>, Vec<&str>) =
            parts.into_iter().partition(|part| part.starts_with("crates/"));
        if paths.is_empty() {
            continue;
        }
        let mut code = String::new();
        for path in &paths {
            let full = root().join(path);
            let found = if full.is_dir() { files(&full, "rs") } else { vec![full] };
            for file in found {
                match fs::read_to_string(&file) {
                    Ok(text) => code += &text,
                    Err(_) => broken.push(format!("glossary.md: {path} is not there")),
                }
            }
        }
        let words: BTreeSet<&str> =
            code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        for name in names {
            named += 1;
            let last = name.rsplit("::").next().unwrap_or(name);
            if !words.contains(last) {
                broken.push(format!("glossary.md: {name} is not in {}", paths.join(", ")));
            }
        }
    }
    assert!(named > 30, "the glossary names only {named} things of the code");
    report(broken);
}

/// The anchors of a page's headings, as GitHub generates them.
fn anchors(page: &str) -> Vec<String> {
    let headings = prose(page).into_iter().flat_map(str::lines);
    let headings = headings.filter(|line| line.starts_with('#'));
    let kept = |c: char| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => c.to_lowercase().next(),
        _ => None,
    };
    headings
        .map(|line| line.trim_start_matches('#').trim().chars().filter_map(kept).collect())
        .collect()
}

/// The targets of `](…)`.
fn links(page: &str) -> impl Iterator<Item = &str> {
    page.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// `cyclictest` takes another tool's options and measures at once, unless help is asked for.
#[test]
fn the_help_of_every_command_has_two_ways() {
    let words = |words: [&str; 2]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_latlab"));
        String::from_utf8(program.args(words).output().expect("latlab can be started").stdout)
    };
    for name in ["run", "compare", "cyclictest", "lab"] {
        let help = words(["help", name]).expect("help is text");
        assert!(help.contains("Usage:") && help.contains("--"), "{name}: {help}");
        assert_eq!(help, words([name, "--help"]).expect("help is text"), "{name}");
    }
}

/// The flags in the help of every command and its subcommands.
fn flags() -> BTreeMap<String, BTreeSet<String>> {
    let help = |words: &[&str]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_latlab"));
        let output = program.args(words).arg("--help").output().expect("latlab can be started");
        String::from_utf8(output.stdout).expect("help is text")
    };
    let flags_of = |name: String| {
        let own = help(&[&name]);
        let below: String = commands(&own).iter().map(|below| help(&[&name, below])).collect();
        let all = own + &below;
        let words = all.split([' ', '\n', ',', '[', '=']).filter(|word| is_flag(word));
        let words = words.map(str::to_string).collect();
        (name, words)
    };
    let all = commands(&help(&[]));
    assert!(!all.is_empty(), "a list of commands");
    all.into_iter().map(flags_of).collect()
}

/// The commands listed in a help text.
fn commands(help: &str) -> Vec<String> {
    let Some((_, list)) = help.split_once("Commands:\n") else { return Vec::new() };
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").map(str::to_string).collect()
}

struct Page {
    path: PathBuf,
    name: String,
    text: String,
}

fn is_guide(name: &str) -> bool {
    name.starts_with("docs/") || matches!(name, "README.md" | "CHANGELOG.md")
}

/// All pages of the repository.
fn pages() -> Vec<Page> {
    let pages = files(&root(), "md").into_iter().map(|path| Page {
        name: path.strip_prefix(root()).expect("below the root").display().to_string(),
        text: fs::read_to_string(&path).expect("a page can be read"),
        path,
    });
    let pages: Vec<Page> = pages.collect();
    assert!(pages.iter().any(|page| page.name == "docs/guide/first-run.md"), "no guide");
    pages
}

/// All files below a folder with this extension.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.expect("a folder can be read").path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && !NOT_OURS.contains(&name.as_ref()) {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
    found
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository is above crates/cli")
}

fn report(broken: Vec<String>) {
    assert!(broken.is_empty(), "the documentation is not true:\n  {}", broken.join("\n  "));
}

#[test]
fn calls_are_found_where_they_are() {
    let page =
        "Say `--samples` or `latlab run -b 1us`.\n```sh\nsudo latlab show --x=1 | cat -n\n```\n";
    let expected = [("show", vec!["--x"]), ("run", vec!["-b"])];
    let expected = expected.map(|(command, flags)| Call { command, flags });
    assert_eq!(calls(page), expected);
    assert_eq!(lone_flags(page), ["--samples"]);
}
