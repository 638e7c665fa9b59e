//! The lines of a picture: one for each measuring thread, the largest maximum first.

use latlab_model::run::ThreadRun;
use latlab_model::{Bin, Nanos, Run, ThreadBins};

/// More lines than this cannot be told apart: the others are drawn grey.
const NAMED_LINES: usize = 12;
/// Of more lines, this many with the largest maxima keep a colour and a name.
const NAMED_OF_MANY: usize = 8;

/// One line of the picture.
pub struct Series<'a> {
    pub thread: u32,
    pub cpu: Option<u32>,
    pub bins: &'a [Bin],
    pub count: u64,
    pub max: Option<Nanos>,
}

/// The lines, the one with the largest maximum first.
pub fn all_series<'a>(run: &Run, bins: &'a [ThreadBins]) -> Vec<Series<'a>> {
    let known = |thread: u32| run.threads.iter().find(|known| known.setup.thread == thread);
    let without_bins = run
        .threads
        .iter()
        .filter(|thread| bins.iter().all(|bins| bins.thread != thread.setup.thread));
    let mut series: Vec<Series> = bins
        .iter()
        .map(|bins| Series::new(bins.thread, known(bins.thread), &bins.bins))
        .chain(without_bins.map(|thread| Series::new(thread.setup.thread, Some(thread), &[])))
        .collect();
    series.sort_by_key(|series| (std::cmp::Reverse(series.max), series.thread));
    series
}

impl<'a> Series<'a> {
    fn new(thread: u32, known: Option<&ThreadRun>, bins: &'a [Bin]) -> Series<'a> {
        let summed = known.and_then(|known| known.summary.max_ns);
        let max = summed.or_else(|| bins.last().map(|bin| bin.high_ns));
        Series {
            thread,
            cpu: known.and_then(|known| known.setup.cpu),
            bins,
            count: bins.iter().fold(0, |sum, bin| sum.saturating_add(bin.count)),
            max: max.filter(|_| !bins.is_empty()),
        }
    }

    /// Its words in the legend.
    pub fn name(&self) -> String {
        let cpu = self.cpu.map(|cpu| format!(", CPU {cpu}")).unwrap_or_default();
        let max = match self.max {
            Some(max) => format!("observed maximum {}", max),
            None => "no latencies".to_string(),
        };
        format!("thread {}{cpu}: {max}", self.thread)
    }
}

/// How many of the lines have a colour and a name.
pub fn named(series: &[Series]) -> usize {
    if series.len() <= NAMED_LINES { series.len() } else { NAMED_OF_MANY }
}

/// What the legend says of the lines without a name.
pub fn others(series: &[Series]) -> Option<String> {
    let others = &series[named(series)..];
    let largest = others.first()?.max;
    let smallest = others.iter().filter_map(|series| series.max).min();
    let maxima = match smallest.zip(largest) {
        Some((smallest, largest)) => {
            format!(": maxima {} to {}", smallest, largest)
        }
        None => String::new(),
    };
    Some(format!("and {} more{maxima}", others.len()))
}
