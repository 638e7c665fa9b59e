//! Kernel messages of guests that have not been printed yet.

use crate::output::escape_controls;
use latlab_conduct::live::LiveRun;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The position in each console up to which it was printed.
#[derive(Default)]
pub struct Console {
    printed: BTreeMap<PathBuf, u64>,
}

impl Console {
    /// The new lines of a guest's console, each prefixed with its name.
    pub fn read_new(&mut self, name: impl Display, live: &LiveRun) -> String {
        let Some(path) = &live.console else { return String::new() };
        let printed = self.printed.entry(path.clone()).or_default();
        // The file may not exist yet. What cannot be read now is read later, or with the run.
        let said = read_from(path, *printed).unwrap_or_default();
        let whole = said.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        *printed += whole as u64;
        let said = String::from_utf8_lossy(&said[..whole]);
        said.lines()
            .map(|line| format!("{name} | {}\n", escape_controls(line.trim_end())))
            .collect()
    }
}

fn read_from(path: &Path, from: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut said = Vec::new();
    file.read_to_end(&mut said)?;
    Ok(said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn each_line_is_given_once_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("console.txt");
        let mut live = LiveRun::default();
        live.console = Some(path.clone());
        let mut console = Console::default();
        assert_eq!(console.read_new("a", &live), "");
        fs::write(&path, "one\r\ntwo\nthr").unwrap();
        assert_eq!(console.read_new("a", &live), "a | one\na | two\n");
        fs::write(&path, "one\r\ntwo\nthree\x1b[2J\n").unwrap();
        let last = console.read_new("a", &live);
        assert!(last.starts_with("a | three") && !last.contains('\x1b'), "{last:?}");
        assert_eq!(console.read_new("a", &live), "");
    }
}
