//! Flags that write a result as a test report, for continuous integration.

use crate::exit::ExitError;
use crate::output::{is_stdout, print, write_whole};
use clap::Args;
use latlab_model::shell::Line;
use latlab_report::test_suite::{TestSuite, not_measured};
use std::path::{Path, PathBuf};

const RESULTS: &str = "Results as tests";

/// Where the result is written as tests, beside what is printed.
#[derive(Args, Default, Debug)]
pub struct TestResultArgs {
    /// Write the result as JUnit XML as well, - for standard output instead of the text
    #[arg(long, value_name = "FILE", help_heading = RESULTS)]
    junit: Option<PathBuf>,
    /// Write the result as KTAP as well; without a file to standard output instead of the text
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "-", help_heading = RESULTS)]
    ktap: Option<PathBuf>,
    /// Write the result as lines for LAVA as well; without a file to standard output instead of the
    /// text
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "-", help_heading = RESULTS)]
    lava: Option<PathBuf>,
}

impl TestResultArgs {
    /// Refuses files that cannot be written, before anything is measured.
    pub fn check(&self, prints_json: bool) -> Result<(), ExitError> {
        let to_stdout = self.files().filter(|(_, path, _)| is_stdout(path)).count();
        if to_stdout + usize::from(prints_json) > 1 {
            return Err(ExitError::usage(
                "standard output takes one of --junit -, --ktap, --lava and --format json: name files \
                 for the others (--ktap=FILE)",
            ));
        }
        for (flag, path, _) in self.files().filter(|(_, path, _)| !is_stdout(path)) {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            if folder.is_some_and(|folder| !folder.is_dir()) || path.is_dir() {
                let path = path.display();
                return Err(ExitError::usage(format!(
                    "{flag} {path}: expected a file in a folder that exists"
                )));
            }
        }
        Ok(())
    }

    /// Refuses a detached run: its result is known only after `latlab collect`.
    pub fn refuse_detached(&self) -> Result<(), ExitError> {
        match self.files().next() {
            Some((flag, ..)) => {
                let format = flag.trim_start_matches('-');
                let later = Line::new("latlab export RUN --to").word(format);
                Err(ExitError::usage(format!(
                    "{flag} does not go with --detach: `{later}` writes it once the run is collected"
                )))
            }
            None => Ok(()),
        }
    }

    /// Whether the test report goes to standard output and replaces the text.
    pub fn replace_text(&self) -> bool {
        self.files().any(|(_, path, _)| is_stdout(path))
    }

    /// Writes the requested files.
    pub fn write(&self, suite: impl FnOnce() -> anyhow::Result<TestSuite>) -> anyhow::Result<()> {
        if self.files().next().is_none() {
            return Ok(());
        }
        let suite = suite()?;
        for (_, path, text) in self.files() {
            match is_stdout(path) {
                true => print(&text(&suite))?,
                false => write_whole(path, text(&suite).as_bytes())?,
            }
        }
        Ok(())
    }

    /// Passes on a measurement's result; a failure to measure is written as a failed test first.
    pub fn note_failure<T>(&self, name: &str, done: anyhow::Result<T>) -> anyhow::Result<T> {
        done.map_err(|error| match self.write(|| Ok(not_measured(name, &format!("{error:#}")))) {
            Ok(()) => error,
            Err(other) => error.context(format!("{other:#}")),
        })
    }

    /// The requested files, each with its flag and renderer.
    fn files(&self) -> impl Iterator<Item = (&'static str, &Path, fn(&TestSuite) -> String)> {
        type Text = fn(&TestSuite) -> String;
        let all: [(&'static str, &Option<PathBuf>, Text); 3] = [
            ("--junit", &self.junit, TestSuite::junit),
            ("--ktap", &self.ktap, TestSuite::ktap),
            ("--lava", &self.lava, TestSuite::lava),
        ];
        all.into_iter().filter_map(|(flag, path, text)| Some((flag, path.as_deref()?, text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::parse;

    #[test]
    fn standard_output_takes_one_result() {
        let args = |flags: &str| parse::<TestResultArgs>(flags.split_whitespace()).unwrap();
        assert!(args("--ktap --junit a.xml").check(false).is_ok());
        assert!(args("--ktap --junit a.xml").replace_text());
        assert!(args("--ktap --lava").check(false).is_err());
        assert!(args("--ktap=x --lava").check(false).is_ok());
        assert!(args("--junit -").check(true).is_err());
        assert!(!args("--junit a.xml --ktap=b").replace_text());
        assert!(args("--junit /nowhere/a.xml").check(false).is_err());
        assert!(args("--lava=/").check(false).is_err());
    }
}
