//! The doctor's findings about the machine of a run.

use super::item;
use crate::document::{Block, On, Section, severities};
use latlab_model::Run;
use latlab_model::doctor::Diagnosis;
use latlab_model::run::Severity;
use latlab_model::shell;

/// The findings that matter, and all others.
pub(crate) fn weighty(run: &Run) -> (Vec<&Diagnosis>, Vec<&Diagnosis>) {
    run.doctor.iter().flatten().partition(|one| one.severity > Severity::Info)
}

/// The findings that matter with reasons and remedies; text output says where to read those.
pub fn section(run: &Run) -> Option<Section> {
    let (weighty, others) = weighty(run);
    if weighty.is_empty() && others.is_empty() {
        return None;
    }
    let all = run.doctor.iter().flatten().map(|one| one.severity);
    let mut section =
        Section::new("doctor", "Diagnoses of this machine").sum(Some(severities(all)));
    if weighty.is_empty() {
        section = section.on(On::Page);
    } else {
        section = section.items(weighty.into_iter().map(|one| item(one, true)).collect());
    }
    if !others.is_empty() {
        let title = format!("{} of severity info", others.len());
        let others = vec![Block::Items(others.into_iter().map(|one| item(one, true)).collect())];
        section = section.add(On::Page, Block::Folded(title, others));
    }
    let all = format!("Reasons and remedies: `{}`.", shell::latlab("doctor", &run.id));
    Some(section.add(On::Terminal, Block::Text(all)))
}
