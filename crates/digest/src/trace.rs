//! The recorded trace of a run: its rows, and the breakdown of the latencies.

use crate::rows::TraceRow;
use latlab_model::Nanos;
use latlab_model::breakdown::Breakdown;
use latlab_model::run::ThreadSetup;
use latlab_model::samples::Sample;
use latlab_model::trace::{
    PackedTrace, ThreadEvent, ThreadEventKind, TraceLoss, TraceRowKind, TraceWindow,
    UnreadableTrace,
};
use latlab_trace::Matcher;

/// Takes the frames of the trace and the samples in order.
pub struct TraceDigest {
    matcher: Matcher,
    /// The window that may continue in the next frame.
    window: Option<TraceWindow>,
}

impl TraceDigest {
    pub fn new(threads: &[ThreadSetup]) -> TraceDigest {
        TraceDigest { matcher: Matcher::new(threads), window: None }
    }

    /// Adds latencies of a thread, in order of their releases.
    pub fn push_samples(&mut self, thread: u32, samples: &[Sample]) {
        self.matcher.push_samples(thread, samples);
    }

    /// Adds the next frame; returns its rows, by time for each thread.
    pub fn push(&mut self, frame: &PackedTrace) -> Result<Vec<TraceRow>, UnreadableTrace> {
        let stretch = frame.unpack()?;
        self.matcher.push_trace(&stretch);
        let mut rows = Vec::new();
        for window in &stretch.windows {
            match &mut self.window {
                Some(last) if last.to_ns == window.from_ns && last.on == window.on => {
                    last.to_ns = window.to_ns;
                }
                _ => {
                    rows.extend(self.end_window());
                    let kind = if window.on { TraceRowKind::On } else { TraceRowKind::Off };
                    rows.push(TraceRow::of_all(window.from_ns, kind));
                    self.window = Some(*window);
                }
            }
        }
        rows.extend(stretch.losses.iter().map(loss_row));
        for (thread, events) in &stretch.threads {
            rows.extend(events.iter().map(|event| event_row(*thread, event)));
        }
        Ok(rows)
    }

    /// The row that is only known when the stream has ended.
    pub fn end_window(&mut self) -> Option<TraceRow> {
        let last = self.window.take()?;
        Some(TraceRow::of_all(last.to_ns, TraceRowKind::Unknown))
    }

    /// The breakdown since the last call.
    pub fn breakdown(&mut self) -> Vec<Breakdown> {
        let mut all = Vec::new();
        self.matcher.flush(|breakdown| {
            all.push(breakdown.clone());
            true
        });
        all
    }

    /// The breakdown of all that was left, when nothing more will come.
    pub fn last_breakdown(&mut self) -> Vec<Breakdown> {
        self.matcher.finish();
        self.breakdown()
    }
}

impl TraceRow {
    /// A row that concerns all threads.
    fn of_all(time_ns: Nanos, kind: TraceRowKind) -> TraceRow {
        TraceRow { time_ns, kind, thread: None, cpu: None, release_ns: None, lost: None }
    }
}

fn loss_row(loss: &TraceLoss) -> TraceRow {
    let row = TraceRow::of_all(loss.at_ns, TraceRowKind::Lost);
    TraceRow { cpu: Some(loss.cpu), lost: Some(loss.count), ..row }
}

fn event_row(thread: u32, event: &ThreadEvent) -> TraceRow {
    let (kind, release_ns) = match event.kind {
        ThreadEventKind::Armed { release_ns } => (TraceRowKind::Armed, Some(release_ns)),
        ThreadEventKind::Expired => (TraceRowKind::Expired, None),
        ThreadEventKind::SwitchedIn => (TraceRowKind::SwitchedIn, None),
    };
    let row = TraceRow::of_all(event.at_ns, kind);
    TraceRow { thread: Some(thread), cpu: Some(event.cpu), release_ns, ..row }
}
