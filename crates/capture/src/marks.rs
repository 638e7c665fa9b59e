//! Responses that coincide with a marker: a wire that is high during a possible disturbance.

use crate::figures::{DelayFigures, median_of};

/// The results for the marker.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Mark {
    /// Responses during which it was high.
    pub marked: DelayFigures,
    /// All others.
    pub others: DelayFigures,
    /// Time of its first rise, from the start of the capture.
    pub first_ps: Option<i64>,
    /// The period of its rises.
    pub period_ps: Option<f64>,
    /// Marked responses that took longer than any other.
    pub slower: u64,
}

/// The state of the marker.
#[derive(Default)]
pub struct MarkerStats {
    mark: Mark,
    /// When it last fell; the end of time while it is high.
    high_to: Option<i64>,
    last_rise: Option<i64>,
    distances: DelayFigures,
    /// Marked delays, to be compared with the largest of the others.
    delays: Vec<i64>,
}

impl MarkerStats {
    pub fn edge(&mut self, at_ps: i64, rising: bool, start_ps: i64) {
        if !rising {
            self.high_to = Some(at_ps);
            return;
        }
        self.high_to = Some(i64::MAX);
        self.mark.first_ps.get_or_insert(at_ps - start_ps);
        if let Some(last) = self.last_rise.replace(at_ps) {
            self.distances.add(at_ps - last);
        }
    }

    /// Counts a response; marked if the marker was high at some time after the stimulus.
    pub fn add_response(&mut self, stimulus_ps: i64, delay: i64) {
        if self.high_to.is_some_and(|to| to > stimulus_ps) {
            self.mark.marked.add(delay);
            // A delay that one of the others already exceeds cannot be slower than all.
            if self.mark.others.max_ps().is_none_or(|largest| delay > largest) {
                self.delays.push(delay);
            }
        } else {
            self.mark.others.add(delay);
        }
    }

    pub fn finish(self) -> Mark {
        let largest = self.mark.others.max_ps();
        let slower = self.delays.iter().filter(|delay| Some(**delay) > largest).count() as u64;
        let period_ps = self.distances.sorted().and_then(|rising| period(&rising));
        Mark { slower, period_ps, ..self.mark }
    }
}

/// The period of something that is sometimes late and sometimes left out: the total time divided by
/// the number of periods in it.
fn period(rising: &[i64]) -> Option<f64> {
    let median = median_of(rising).filter(|median| *median > 0.0)?;
    let periods: f64 = rising.iter().map(|distance| (*distance as f64 / median).round()).sum();
    let all: f64 = rising.iter().map(|distance| *distance as f64).sum();
    Some(all / periods.max(1.0))
}
