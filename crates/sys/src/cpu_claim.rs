//! Which process measures which CPUs.

use crate::files::Root;
use crate::record::{FoundRecord, Record, Subject, records};
use std::io;

/// Claims CPUs against every other latlab of this user or root until dropped.
#[derive(Debug)]
pub struct CpuClaim {
    record: Record,
    /// Other processes that measure some of them.
    pub others: Vec<OtherClaim>,
}

/// CPUs that another process measures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OtherClaim {
    /// Those among the requested ones.
    pub cpus: Vec<u32>,
    /// The process, for people.
    pub holder: String,
    /// Whether it belongs to this user or root, whose claims exclude others. Other users' claims do
    /// not, or they could block everyone.
    pub is_trusted: bool,
}

impl CpuClaim {
    /// Claims these CPUs and lists the other claims on them. The caller drops it if one of those is
    /// trusted and sharing is not permitted.
    pub fn take(root: &Root, cpus: &[u32]) -> io::Result<CpuClaim> {
        let mut record = Record::new(root, Subject::Cpus)?;
        let _lock = record.lock_folder()?;
        // Before checking the others, so that of two simultaneous claims at least one sees the
        // other.
        record.write(&line(cpus))?;
        let others = records(root, Subject::Cpus)?
            .into_iter()
            .filter(|found| found.is_held && found.path != record.path());
        let others = others.filter_map(|found| other(&found, cpus, &record)).collect();
        Ok(CpuClaim { record, others })
    }
}

impl Drop for CpuClaim {
    fn drop(&mut self) {
        // A record that stays is not locked, and so claims nothing.
        let _ = self.record.remove();
    }
}

fn other(found: &FoundRecord, wanted: &[u32], own: &Record) -> Option<OtherClaim> {
    let cpus = parse(&found.content)?.into_iter().filter(|cpu| wanted.contains(cpu)).collect();
    let (holder, is_trusted) = (found.holder(own.origin()), found.is_trusted());
    Some(OtherClaim { cpus, holder, is_trusted }).filter(|claim| !claim.cpus.is_empty())
}

fn line(cpus: &[u32]) -> String {
    let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
    format!("cpus {}\n", cpus.join(" "))
}

fn parse(content: &str) -> Option<Vec<u32>> {
    let cpus = content.trim_end().strip_prefix("cpus ")?.split(' ');
    cpus.map(|cpu| cpu.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_claim_is_seen_as_long_as_it_lives() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("run")).unwrap();
        let root = Root::new(folder.path());
        let one = CpuClaim::take(&root, &[0, 2]).unwrap();
        assert!(one.others.is_empty());
        let two = CpuClaim::take(&root, &[1, 2, 3]).unwrap();
        assert_eq!(two.others.len(), 1);
        assert_eq!((two.others[0].cpus.as_slice(), two.others[0].is_trusted), (&[2][..], true));
        assert!(CpuClaim::take(&root, &[4]).unwrap().others.is_empty());
        // Killed: the record stays without a lock.
        let left = one.record.path().to_owned();
        let text = std::fs::read(&left).unwrap();
        drop((one, two));
        std::fs::write(&left, text).unwrap();
        assert!(CpuClaim::take(&root, &[2]).unwrap().others.is_empty());
    }
}
