//! Commands that change kernel files, and restore their content.

use crate::facts::{Facts, cpu_in};
use latlab_model::CpuSet;
use latlab_model::shell::Line;

/// A file whose content should change.
#[derive(Clone)]
pub struct FileEdit<'a> {
    /// Its path in the snapshot.
    pub file: &'a str,
    /// Current content.
    pub from: &'a str,
    /// Desired content.
    pub to: &'a str,
}

impl<'a> FileEdit<'a> {
    /// Changes of the files of a pattern; files without a desired content are left alone.
    pub fn list(
        facts: &Facts<'a>,
        pattern: &str,
        wanted: impl Fn(&'a str, &'a str) -> Option<&'a str>,
    ) -> Vec<FileEdit<'a>> {
        let change = |(file, from)| wanted(file, from).map(|to| FileEdit { file, from, to });
        facts.snapshot.matching(pattern).into_iter().filter_map(change).collect()
    }
}

/// The commands that make changes to the files of a pattern, and those that undo them.
pub fn commands(facts: &Facts<'_>, pattern: &str, changes: &[FileEdit<'_>]) -> (Line, Line) {
    let write = |value: fn(&FileEdit<'_>) -> String| {
        let commands = group_files(changes, value).into_iter().map(|(value, files)| {
            let write = Line::new("echo").word(value).text("| tee");
            with_paths(write, facts, pattern, &files)
        });
        commands.reduce(|all, next| all.then("; ", &next)).unwrap_or_else(|| Line::new(""))
    };
    (write(|change| change.to.to_string()), write(|change| change.from.to_string()))
}

/// The line with the paths of files, or with the pattern itself if it matches exactly these.
pub fn with_paths(line: Line, facts: &Facts<'_>, pattern: &str, files: &[&str]) -> Line {
    // Elsewhere files come and go, and a pattern could match others than those that were seen.
    let may_shorten = pattern.contains("/cpu*/");
    if may_shorten && files.len() == facts.snapshot.matching(pattern).len() {
        return line.pattern(&format!("/{pattern}"));
    }
    line.words(files.iter().map(|file| format!("/{file}")))
}

/// The content of the files, with the CPUs: `ondemand (CPU 0-1), powersave (CPU 2-3)`.
pub fn values(changes: &[FileEdit<'_>]) -> String {
    let groups = group_files(changes, |change| change.from.to_string());
    let words = groups.into_iter().map(|(value, files)| {
        let cpus: CpuSet = files.into_iter().filter_map(cpu_in).collect();
        format!("{value} (CPU {cpus})")
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Groups the files by what the changes say, in order of first appearance.
fn group_files<'a>(
    changes: &[FileEdit<'a>],
    value: fn(&FileEdit<'_>) -> String,
) -> Vec<(String, Vec<&'a str>)> {
    let mut groups: Vec<(String, Vec<&'a str>)> = Vec::new();
    for change in changes {
        let value = value(change);
        match groups.iter_mut().find(|(known, _)| *known == value) {
            Some((_, files)) => files.push(change.file),
            None => groups.push((value, vec![change.file])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::Snapshot;
    use latlab_model::snapshot::Content;

    #[test]
    fn only_the_files_that_differ_are_written_and_each_gets_its_own_back() {
        let mut snapshot = Snapshot::default();
        for (cpu, text) in [(0, "a"), (1, "b"), (2, "c"), (3, "a")] {
            snapshot.files.insert(format!("a/cpu{cpu}/x"), Content::Text(text.into()));
        }
        let facts = Facts::new(&snapshot);
        let changes = FileEdit::list(&facts, "a/cpu*/x", |_, from| (from != "c").then_some("z"));
        let (make, undo) = commands(&facts, "a/cpu*/x", &changes);
        assert_eq!(make.as_str(), "echo z | tee /a/cpu0/x /a/cpu1/x /a/cpu3/x");
        assert_eq!(undo.as_str(), "echo a | tee /a/cpu0/x /a/cpu3/x; echo b | tee /a/cpu1/x");
        assert_eq!(values(&changes), "a (CPU 0,3), b (CPU 1)");
        let all = FileEdit::list(&facts, "a/cpu*/x", |_, _| Some("z"));
        assert_eq!(commands(&facts, "a/cpu*/x", &all).0.as_str(), "echo z | tee /a/cpu*/x");
    }
}
