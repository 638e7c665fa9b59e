//! The content of a file: threads with their histograms or figures, conditions, and what it leaves
//! open.

use latlab_model::finding::{Finding, ImportFinding};
use latlab_model::import::{Import, ImportFact, ListedGaps};
use latlab_model::machine::Machine;
use latlab_model::units::grouped;
use latlab_model::{Histogram, Nanos};

/// A thread with less than this share of another's time has not run all the time.
const LEAST_SHARE: (i128, i128) = (9, 10);
/// Share of cycles by which threads may differ, because one starts after the other.
const LEAST_OF_OTHERS: (i128, i128) = (1, 10);
const ALLOWED_LAG: i128 = 10;

/// One recording of a file; most files hold one.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Recording {
    /// Human-readable.
    pub format: &'static str,
    /// Which of several in one file this is: `irq`, `thread`.
    pub part: Option<String>,
    /// What the latencies are, human-readable.
    pub quantity: &'static str,
    /// The tool and its version.
    pub tool: Option<String>,
    /// The command line of the tool.
    pub command: Option<String>,
    /// When it was recorded, as the file states it.
    pub recorded: Option<String>,
    /// What the file says about the machine.
    pub machine: Machine,
    /// Length of the recording; zero if the file does not state it.
    pub length_ns: Nanos,
    /// The unit to which values are truncated.
    pub resolution_ns: Option<Nanos>,
    /// Set if it lists gaps, which were watched for during its length.
    pub gaps: Option<ListedGaps>,
    /// Each thread, or whatever else the file keeps apart.
    pub series: Vec<LatencySeries>,
    /// Further statements of the file.
    pub facts: Vec<ImportFact>,
    /// What it does not tell.
    pub findings: Vec<Finding>,
}

/// The latencies of one thread.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct LatencySeries {
    /// CPU that the thread ran on.
    pub cpu: Option<u32>,
    /// Scheduling, in the words of the file.
    pub policy: String,
    pub period_ns: Option<Nanos>,
    /// Counts, in the bins of the file.
    pub counts: Histogram,
    /// The same in consecutive slices of time; empty if the file has no order.
    pub slices: Vec<Histogram>,
    /// Whether the counts may lack latencies, because the file does not say how many lie beyond its
    /// last bin.
    pub may_lack_latencies: bool,
    /// A maximum stated by the file, which may be of a latency that is left out.
    pub stated_max_ns: Option<Nanos>,
}

impl LatencySeries {
    /// The largest latency known from the file.
    pub fn largest(&self) -> Nanos {
        let counted = if self.counts.count > 0 { self.counts.max_ns } else { Nanos::ZERO };
        self.stated_max_ns.map_or(counted, |stated| stated.max(counted))
    }
}

impl Recording {
    /// A recording of wake-up latencies in this format.
    pub fn new(format: &'static str) -> Recording {
        Recording { format, quantity: "wake-up latency", ..Recording::default() }
    }

    pub fn add(&mut self, finding: ImportFinding) {
        self.findings.push(Finding::new(finding));
    }

    /// Adds a finding about one thread.
    pub fn add_of(&mut self, thread: usize, finding: ImportFinding) {
        self.findings.push(Finding::new(finding).of_thread(thread as u32));
    }

    pub fn note(&mut self, note: impl Into<String>) {
        self.add(ImportFinding::ImportNote { note: note.into() });
    }

    /// Adds a statement of the file.
    pub fn fact(&mut self, name: &str, text: impl Into<String>) {
        self.facts.push(ImportFact { name: name.to_string(), text: text.into() });
    }

    /// The file mentions a latency of this size; if no data is as large, one is missing.
    pub fn has_at_least(&mut self, about: &str, latency: Nanos) {
        let largest = self.series.iter().enumerate().max_by_key(|one| one.1.largest());
        if let Some(thread) = largest.map(|one| one.0) {
            self.has_at_least_of(thread, about, latency);
        }
    }

    /// The same for a latency of a known thread.
    pub fn has_at_least_of(&mut self, thread: usize, about: &str, latency: Nanos) {
        let Some(series) = self.series.get_mut(thread) else { return };
        let counted = series.largest();
        if counted >= latency {
            return;
        }
        series.stated_max_ns = series.stated_max_ns.max(Some(latency));
        if series.counts.count > 0 {
            series.counts.max_ns = latency;
        }
        let (about, stated) = (about.to_string(), latency.to_string());
        let counted = format!("a maximum of {counted}");
        self.add_of(thread, ImportFinding::ImportContradiction { about, stated, counted });
    }

    /// Reports that something of the recording is missing.
    pub fn lacks(&mut self, missing: impl Into<String>) {
        self.add(ImportFinding::ImportIncomplete { missing: missing.into() });
    }

    /// Compares how long the threads ran, by their cycles and periods. If periods are unknown and
    /// may differ, only a thread with next to no cycles is reported.
    pub fn compare_cycles(&mut self, has_one_period: bool) {
        let ran: Vec<(usize, i128, Option<Nanos>)> = self
            .series
            .iter()
            .enumerate()
            .map(|(thread, one)| (thread, i128::from(one.counts.count), one.period_ns))
            .collect();
        let is_known = match ran.iter().any(|one| one.2.is_some()) {
            true => ran.iter().all(|one| one.2.is_some_and(|period| period > Nanos::ZERO)),
            false => has_one_period,
        };
        let period = |period: Option<Nanos>| match period.filter(|_| is_known) {
            Some(period) => i128::from(period.0),
            None => 1,
        };
        let longest = ran.iter().map(|one| one.1 * period(one.2)).max().unwrap_or(0);
        let (part, whole) = if is_known { LEAST_SHARE } else { LEAST_OF_OTHERS };
        for (thread, count, its_period) in ran {
            let due = longest / period(its_period);
            if count * whole < due * part && due - count > ALLOWED_LAG {
                let [count, due] =
                    [count, due].map(|it| grouped(it.try_into().unwrap_or(u64::MAX)));
                self.lacks(format!("thread {thread} has {count} of {due} cycles"));
            }
        }
    }

    /// Whether anything of the recording is missing or contradictory.
    pub fn is_incomplete(&self) -> bool {
        self.findings.iter().any(Finding::forbids_pass)
    }

    pub fn has_latencies(&self) -> bool {
        self.series.iter().any(|one| one.counts.count > 0)
    }

    /// Whether it has a result: a latency, or that no gap occurred in a time.
    pub fn has_result(&self) -> bool {
        self.has_latencies() || (self.gaps.is_some() && self.length_ns > Nanos::ZERO)
    }

    /// Whether only figures are known: no histogram and no samples.
    pub fn is_summary(&self) -> bool {
        let mut known = self.series.iter().filter(|one| one.counts.count > 0);
        self.has_latencies() && known.all(|one| one.counts.layout.is_unknown())
    }

    /// Latencies of all threads.
    pub fn count(&self) -> u64 {
        self.series.iter().fold(0, |sum: u64, one| sum.saturating_add(one.counts.count))
    }

    /// The origin of the run.
    pub fn import(&self, file: String, original: Option<String>) -> Import {
        Import {
            file,
            original,
            format: self.format.to_string(),
            quantity: self.quantity.to_string(),
            tool: self.tool.clone(),
            command: self.command.clone(),
            recorded: self.recorded.clone(),
            resolution_ns: self.resolution_ns,
            is_summary: self.is_summary(),
            gaps: self.gaps,
            facts: self.facts.clone(),
        }
    }
}
