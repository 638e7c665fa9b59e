//! What a run has changed of its machine, which whoever compares it must know.

use crate::terminal::table::wrapped;
use latlab_model::Run;
use latlab_model::run::Setting;

/// In one sentence; none where nothing was changed.
pub fn sentence(run: &Run) -> Option<String> {
    let changed = |setting: &Setting| {
        let Setting { what, applied, before, .. } = setting;
        let before = before.as_ref()?;
        let what = what.strip_prefix("tuning ").unwrap_or(what);
        Some(format!("{what}: {applied} (before: {before})"))
    };
    let all: Vec<String> = run.applied.settings.iter().filter_map(changed).collect();
    (!all.is_empty()).then(|| format!("Changed for the time of the run: {}.", all.join("; ")))
}

/// For the terminal.
pub fn text(run: &Run, width: usize) -> String {
    sentence(run).map(|text| wrapped(&text, width, 0) + "\n").unwrap_or_default()
}
