//! Collects findings: sorted, and limited per kind.

pub mod noise;
pub mod overruns;
pub mod responses;
pub mod stream;

use latlab_model::finding::VerdictEffect;
use latlab_model::run::Finding;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Most findings of one kind that are kept; otherwise a clock that is stepped every second would
/// fill the run.
const MOST_OF_A_KIND: usize = 50;

/// All findings of a run.
#[derive(Default, Debug)]
pub struct FindingList {
    kept: Vec<Finding>,
    of_kind: BTreeMap<String, usize>,
}

impl FindingList {
    /// Adds one; beyond the limit of its kind it is only counted.
    pub fn push(&mut self, finding: Finding) {
        let seen = self.of_kind.entry(finding.code().to_string()).or_insert(0);
        *seen += 1;
        if *seen <= MOST_OF_A_KIND {
            self.kept.push(finding);
            return;
        }
        // Findings that a verdict rests on must not get lost among harmless ones of their kind.
        let same =
            |kept: &Finding| kept.code() == finding.code() && kept.effect() == finding.effect();
        if finding.effect() != VerdictEffect::None && !self.kept.iter().any(same) {
            self.kept.push(finding);
        }
    }

    pub fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }

    /// Most severe first, then by time.
    pub fn sorted(mut self) -> Vec<Finding> {
        for (code, seen) in self.of_kind {
            let more = seen.saturating_sub(MOST_OF_A_KIND);
            let last = self.kept.iter().rev().find(|kept| kept.code() == code);
            if let (1.., Some(last)) = (more, last) {
                self.kept.push(last.and_more(more as u64));
            }
        }
        self.kept.sort_by_key(|finding| (Reverse(finding.weight()), finding.at_ns, finding.thread));
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::Nanos;
    use latlab_model::finding::{FindingKind, LossFinding, MachineFinding};

    fn clock_stepped(measured_with: bool) -> Finding {
        Finding::new(MachineFinding::ClockStepped { by_ns: Nanos(7), measured_with })
    }

    #[test]
    fn heavy_ones_first_then_by_time() {
        let mut findings = FindingList::default();
        findings.push(Finding::new(LossFinding::SpikesLost { count: 1 }).at(Nanos(9)));
        findings.push(Finding::new(LossFinding::IntervalsGrown { count: 1 }));
        findings.push(clock_stepped(false).at(Nanos(2)));
        let noticed_within_ns = Nanos(1);
        findings.push(Finding::new(MachineFinding::CpuOffline { cpu: 0, noticed_within_ns }));
        findings.push(Finding::new(MachineFinding::Suspended { length_ns: Nanos(1) }).at(Nanos(5)));
        let sorted = findings.sorted();
        let codes: Vec<&str> = sorted.iter().map(Finding::code).collect();
        let expected =
            ["suspended", "cpu-offline", "clock-stepped", "spikes-lost", "intervals-grown"];
        assert_eq!(codes, expected);
    }

    #[test]
    fn too_many_of_a_kind_are_counted() {
        let mut findings = FindingList::default();
        for time in 0..1_000 {
            findings.push(clock_stepped(false).at(Nanos(time)));
        }
        findings.push(clock_stepped(true));
        let sorted = findings.sorted();
        assert_eq!(sorted.len(), MOST_OF_A_KIND + 2);
        assert!(
            sorted
                .iter()
                .any(|one| matches!(&one.kind, FindingKind::More(more) if more.more == 951))
        );
        assert!(sorted.iter().any(Finding::invalidates));
    }
}
