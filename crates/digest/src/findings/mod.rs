//! Findings as they are gathered: sorted, and never more of a kind than anyone reads.

pub mod missed;
pub mod noise;
pub mod stream;

use latlab_model::run::Finding;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Findings of one kind that are kept; a clock that steps each second would else fill the run.
const MOST_OF_A_KIND: usize = 50;

/// All findings of a run.
#[derive(Default, Debug)]
pub struct Findings {
    kept: Vec<Finding>,
    of_kind: BTreeMap<String, usize>,
}

impl Findings {
    /// Adds one; beyond the limit of its kind it is only counted.
    pub fn push(&mut self, finding: Finding) {
        let seen = self.of_kind.entry(finding.code.clone()).or_insert(0);
        *seen += 1;
        if *seen <= MOST_OF_A_KIND {
            self.kept.push(finding);
            return;
        }
        // What a verdict rests on must not get lost among harmless ones of its kind.
        let same = |kept: &Finding| kept.code == finding.code && kept.invalidates;
        if finding.invalidates && !self.kept.iter().any(same) {
            self.kept.push(finding);
        }
    }

    /// Adds several.
    pub fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }

    /// Heaviest first, then by time.
    pub fn sorted(mut self) -> Vec<Finding> {
        for (code, seen) in self.of_kind {
            let more = seen.saturating_sub(MOST_OF_A_KIND);
            let last = self.kept.iter().rev().find(|kept| kept.code == code);
            if let (1.., Some(last)) = (more, last) {
                let text = format!("And {more} more findings of the kind '{code}'.");
                self.kept.push(Finding { text, at_ns: None, thread: None, ..last.clone() });
            }
        }
        self.kept.sort_by_key(|finding| {
            let Finding { severity, invalidates, at_ns, thread, .. } = finding;
            (Reverse(*severity), Reverse(*invalidates), *at_ns, *thread)
        });
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::Nanos;
    use latlab_model::run::Severity;

    #[test]
    fn heavy_ones_first_then_by_time() {
        let mut findings = Findings::default();
        findings.push(Finding::new("late", Severity::Warning, "").at(Nanos(9)));
        findings.push(Finding::new("info", Severity::Info, ""));
        findings.push(Finding::new("early", Severity::Warning, "").at(Nanos(2)));
        findings.push(Finding::new("error", Severity::Error, ""));
        findings.push(Finding::new("invalid", Severity::Error, "").at(Nanos(5)).invalidates());
        let codes: Vec<String> = findings.sorted().into_iter().map(|one| one.code).collect();
        assert_eq!(codes, ["invalid", "error", "early", "late", "info"]);
    }

    #[test]
    fn too_many_of_a_kind_are_counted() {
        let mut findings = Findings::default();
        for time in 0..1_000 {
            findings.push(Finding::new("step", Severity::Info, "").at(Nanos(time)));
        }
        findings.push(Finding::new("step", Severity::Error, "").invalidates());
        let sorted = findings.sorted();
        assert_eq!(sorted.len(), MOST_OF_A_KIND + 2);
        assert!(sorted.iter().any(|one| one.text.contains("951 more")));
        assert!(sorted.iter().any(|one| one.invalidates));
    }
}
