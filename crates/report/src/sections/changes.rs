//! What a run changed on its machine, which matters when it is compared.

use crate::document::Section;
use latlab_model::Run;
use latlab_model::run::Setting;

/// One sentence; `None` if nothing was changed.
pub fn section(run: &Run) -> Option<Section> {
    let changed = |setting: &Setting| {
        let Setting { what, applied, before, .. } = setting;
        let before = before.as_ref()?;
        let what = what.strip_prefix("tuning ").unwrap_or(what);
        Some(format!("{what}: {applied} (before: {before})"))
    };
    let all: Vec<String> = run.applied.settings.iter().filter_map(changed).collect();
    let text = format!("Changed for the time of the run: {}.", all.join("; "));
    (!all.is_empty())
        .then(|| Section::new("changes", "Changed for the run").without_title().text(text))
}
