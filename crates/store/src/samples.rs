//! Reads an interval of `samples.parquet` without the rest of the file.
//!
//! Each row group is an interval of one thread, as its statistics tell. So groups outside the
//! interval are never read, and one group at a time is all the memory needed.

use crate::error::Result;
use crate::table::TableReader;
use latlab_digest::SampleRow;
use latlab_digest::window::SampleBlock;
use latlab_model::Nanos;
use latlab_model::run::StoredFile;
use latlab_model::samples::Sample;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

pub struct SampleReader {
    table: TableReader,
    groups: Vec<Group>,
}

/// Statistics of a row group.
struct Group {
    thread: u32,
    first: Nanos,
    last: Nanos,
    /// Release of the thread's next sample.
    next: Option<Nanos>,
}

impl SampleReader {
    /// Opens the table of this folder, which must have the stored size.
    pub fn open(folder: &Path, stored: &StoredFile) -> Result<SampleReader> {
        let table = TableReader::open_sized::<SampleRow>(folder, stored)?;
        let mut groups = (0..table.groups())
            .map(|group| read_group(&table, group))
            .collect::<Result<Vec<_>>>()?;
        let mut next = BTreeMap::new();
        for group in groups.iter_mut().rev() {
            group.next = next.insert(group.thread, group.first);
        }
        Ok(SampleReader { table, groups })
    }

    /// The releases of the first and of the last sample.
    pub fn span(&self) -> Option<(Nanos, Nanos)> {
        let first = self.groups.iter().map(|group| group.first).min()?;
        Some((first, self.groups.iter().map(|group| group.last).max()?))
    }

    /// The samples whose release is within the interval, in file order: for each thread, by time.
    pub fn stretch(&self, stretch: Range<Nanos>) -> impl Iterator<Item = Result<SampleBlock>> + '_ {
        let wanted = self.groups.iter().enumerate();
        let wanted = wanted.filter({
            let stretch = stretch.clone();
            move |(_, group)| group.touches(&stretch)
        });
        wanted.map(move |(index, group)| self.piece(index, group, &stretch))
    }

    fn piece(&self, index: usize, group: &Group, stretch: &Range<Nanos>) -> Result<SampleBlock> {
        let releases = self.table.longs(index, "release_ns")?;
        let from = releases.iter().position(|&at| at >= stretch.start.0).unwrap_or(releases.len());
        let to = releases.iter().rposition(|&at| at < stretch.end.0).map_or(0, |last| last + 1);
        // The previous group holds the preceding sample, unless this one does.
        let first = from.saturating_sub(1);
        let next = releases.get(to.max(from)).copied().map(Nanos).or(group.next);
        let latencies = self.table.longs(index, "latency_ns")?;
        let range = releases.iter().min().zip(releases.iter().max());
        if range != Some((&group.first.0, &group.last.0)) || latencies.len() != releases.len() {
            return Err(self.table.damaged(format!(
                "row group {index} differs from the file's \
                                                   footer"
            )));
        }
        let fine = self.table.longs_if_any(index, "latency_ps")?;
        let fine = fine.into_iter().chain(std::iter::repeat(None));
        let all = releases.iter().zip(&latencies).zip(fine);
        let mut samples = all.map(|((&release, &latency), fine)| match fine {
            Some(picoseconds) => Sample::fine(Nanos(release), picoseconds),
            None => Sample::new(Nanos(release), Nanos(latency)),
        });
        let before = (from > 0).then(|| samples.nth(first)).flatten();
        let samples = samples.take(to.saturating_sub(from)).collect();
        Ok(SampleBlock { thread: group.thread, before, samples, next })
    }
}

impl Group {
    /// Whether samples of the group are within the interval, or the overruns after its last.
    fn touches(&self, stretch: &Range<Nanos>) -> bool {
        let reaches_to = self.next.map_or(Nanos::MAX, |next| next.max(self.last));
        self.first < stretch.end && (self.last >= stretch.start || reaches_to > stretch.start)
    }
}

fn read_group(table: &TableReader, group: usize) -> Result<Group> {
    let (thread, last_thread) = table.range(group, "thread")?;
    let (first, last) = table.range(group, "release_ns")?;
    match u32::try_from(thread) {
        Ok(thread) if i64::from(thread) == last_thread => {
            Ok(Group { thread, first: Nanos(first), last: Nanos(last), next: None })
        }
        _ => Err(table.damaged("a row group has rows of several threads")),
    }
}
