//! Lets only one search for settings run on a machine at a time.

use crate::files::Root;
use crate::record::{Record, Subject, records};
use std::io;

/// Held for the time of a search; ends with its process.
#[derive(Debug)]
pub struct TuneClaim {
    record: Record,
}

impl TuneClaim {
    /// Claims the machine; an error within names the process that has it.
    pub fn take(root: &Root) -> io::Result<Result<TuneClaim, String>> {
        let mut record = Record::new(root, Subject::Tune)?;
        let _lock = record.lock_folder()?;
        let held = records(root, Subject::Tune)?;
        let holder = held.into_iter().find(|found| found.is_held && found.is_trusted());
        if let Some(holder) = holder {
            return Ok(Err(holder.holder(record.origin())));
        }
        record.write("")?;
        Ok(Ok(TuneClaim { record }))
    }
}

impl Drop for TuneClaim {
    fn drop(&mut self) {
        // A record that stays is not locked, and so claims nothing.
        let _ = self.record.remove();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Invariant (tune): Two searches at once on a machine are refused.
    #[test]
    fn there_is_one_search_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("run")).unwrap();
        let root = Root::new(folder.path());
        let first = TuneClaim::take(&root).unwrap().unwrap();
        let holder = TuneClaim::take(&root).unwrap().unwrap_err();
        assert!(holder.contains(&std::process::id().to_string()), "{holder}");
        drop(first);
        assert!(TuneClaim::take(&root).unwrap().is_ok());
    }
}
