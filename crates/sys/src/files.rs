//! Kernel files below a root folder: `/` on a machine, a planted folder in a test.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// More than this of a kernel file is not read; none that we know is longer.
const LARGEST_FILE: u64 = 8 << 20;

/// The folder below which `proc`, `sys` and `dev` lie.
#[derive(Clone, Debug)]
pub struct Root(PathBuf);

impl Default for Root {
    fn default() -> Root {
        Root::new("/")
    }
}

impl Root {
    /// Kernel files lie below this folder.
    pub fn new(folder: impl Into<PathBuf>) -> Root {
        Root(folder.into())
    }

    /// Where a file lies, such as `proc/cpuinfo`.
    pub fn path(&self, file: impl AsRef<Path>) -> PathBuf {
        self.0.join(file)
    }

    /// A file's text without blanks around it and without NULs; `None` when it cannot be read.
    pub fn read(&self, file: impl AsRef<Path>) -> Option<String> {
        let mut bytes = Vec::new();
        File::open(self.path(file)).ok()?.take(LARGEST_FILE).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        Some(text.trim_matches(|c: char| c.is_whitespace() || c == '\0').to_string())
    }

    /// A file's text as a number or whatever else can be parsed.
    pub fn read_as<T: std::str::FromStr>(&self, file: impl AsRef<Path>) -> Option<T> {
        self.read(file)?.parse().ok()
    }

    /// Whether the file exists.
    pub fn has(&self, file: impl AsRef<Path>) -> bool {
        self.path(file).exists()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_below_the_root_only() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("proc")).unwrap();
        std::fs::write(folder.path().join("proc/number"), " 42\n").unwrap();
        std::fs::write(folder.path().join("proc/model"), "Board\0").unwrap();
        let root = Root::new(folder.path());
        assert_eq!(root.read_as::<u32>("proc/number"), Some(42));
        assert_eq!(root.read("proc/model").as_deref(), Some("Board"));
        assert_eq!(root.read("proc/cpuinfo"), None);
        assert_eq!(root.read("proc"), None, "a folder is not a file");
        assert!(root.has("proc") && !root.has("sys"));
    }
}
