//! Latencies over time: rows of a run merged into the columns of a plot.
//!
//! A row and a column are the same type, so that columns can be merged again. Merging keeps the
//! smallest, the largest and every count.

use latlab_model::Nanos;
use latlab_model::nanos::SECOND;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

/// The latencies of an interval of time.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Span {
    /// First release, inclusive.
    pub from: Nanos,
    /// End, exclusive.
    pub to: Nanos,
    pub count: u64,
    /// Overruns.
    pub overruns: u64,
    /// Deadline misses; 0 without a deadline.
    pub misses: u64,
    pub min: Option<Nanos>,
    /// For merged rows, their mean weighted by count.
    pub median: Option<f64>,
    /// For merged rows, the largest.
    pub p99_9: Option<Nanos>,
    /// Whether [`Span::p99_9`] is only an upper limit: the maximum of too few latencies.
    pub p99_9_is_limit: bool,
    pub max: Option<Nanos>,
}

impl Span {
    /// With too few latencies for p99.9, takes the maximum as its upper limit, so that the worst
    /// time is not the one without a value.
    pub fn with_limit(self) -> Span {
        match (self.p99_9, self.max) {
            (None, Some(max)) => Span { p99_9: Some(max), p99_9_is_limit: true, ..self },
            _ => self,
        }
    }

    pub fn join(&mut self, other: &Span) {
        self.median = match (self.median, other.median) {
            (Some(one), Some(two)) => {
                let share = other.count as f64 / (self.count as f64 + other.count as f64);
                Some(one + (two - one) * share)
            }
            (one, two) => one.or(two),
        };
        self.from = self.from.min(other.from);
        self.to = self.to.max(other.to);
        self.count = self.count.saturating_add(other.count);
        self.overruns = self.overruns.saturating_add(other.overruns);
        self.misses = self.misses.saturating_add(other.misses);
        self.min = self.min.into_iter().chain(other.min).min();
        let is_limit = |one: &Span, two: &Span| one.p99_9_is_limit && one.p99_9 >= two.p99_9;
        self.p99_9_is_limit = is_limit(self, other) || is_limit(other, self);
        // `None` is less than any latency.
        self.p99_9 = self.p99_9.max(other.p99_9);
        self.max = self.max.max(other.max);
    }
}

/// The intervals of all threads together, as a comparison of runs needs them.
#[derive(Clone, Debug)]
pub struct JoinedIntervals {
    length: Nanos,
    first: Option<Nanos>,
    spans: BTreeMap<i64, Span>,
}

impl JoinedIntervals {
    /// `length` is that of the run's intervals.
    pub fn new(length: Nanos) -> JoinedIntervals {
        JoinedIntervals { length: length.max(Nanos(1)), first: None, spans: BTreeMap::new() }
    }

    /// Adds an interval of a thread.
    pub fn push(&mut self, span: &Span) {
        let first = *self.first.get_or_insert(span.from);
        // Threads start slightly apart.
        let since = span.from - first + Nanos(self.length.0 / 2);
        match self.spans.entry(since.0.div_euclid(self.length.0)) {
            Entry::Vacant(free) => {
                free.insert(*span);
            }
            Entry::Occupied(mut known) => known.get_mut().join(span),
        }
    }

    /// All of them, in order of time.
    pub fn finish(self) -> Vec<Span> {
        self.spans.into_values().collect()
    }
}

/// Equal parts of a stretch of time, at most as many as requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid {
    from: Nanos,
    step: Nanos,
    len: usize,
}

impl Grid {
    /// Parts hold whole intervals of this length, so that all hold the same number.
    pub fn new(whole: &Range<Nanos>, most: usize, interval: Nanos) -> Grid {
        let length = (whole.end - whole.start).0.max(1) as u64;
        let step = length.div_ceil(most.max(1) as u64);
        let interval = interval.0.max(1) as u64;
        let step = step.div_ceil(interval) * interval;
        let len = length.div_ceil(step) as usize;
        Grid { from: whole.start, step: Nanos(step as i64), len }
    }

    /// At least 1.
    pub fn parts(&self) -> usize {
        self.len
    }

    /// The part at this time; the first or last one outside the range.
    pub fn part(&self, time: Nanos) -> usize {
        let place = (time - self.from).0.max(0) / self.step.0;
        (place as usize).min(self.len - 1)
    }

    pub fn range_of(&self, part: usize) -> Range<Nanos> {
        let from = self.from + self.step * part as i64;
        from..from + self.step
    }
}

/// Rows over time, merged into columns as they arrive.
#[derive(Clone, PartialEq, Debug)]
pub struct Columns {
    grid: Grid,
    spans: Vec<Option<Span>>,
}

impl Columns {
    pub fn new(grid: Grid) -> Columns {
        Columns { grid, spans: vec![None; grid.parts()] }
    }

    /// Adds a row to the column in which it begins.
    pub fn push(&mut self, row: &Span) {
        match &mut self.spans[self.grid.part(row.from)] {
            Some(span) => span.join(row),
            empty => *empty = Some(*row),
        }
    }

    /// The columns that hold rows, in order; each spans its rows.
    pub fn spans(&self) -> Vec<Span> {
        self.spans.iter().flatten().copied().collect()
    }
}

/// Adds the counts of a row, bin by bin. Here because this crate is optimised for speed: a day of
/// many CPUs has a billion of them.
#[inline(never)]
pub fn add_counts(sums: &mut [u64], counts: &[i32]) {
    for (sum, count) in sums.iter_mut().zip(counts) {
        *sum += u64::from((*count).max(0).unsigned_abs());
    }
}

/// Rows in order of time, merged to at most `most`.
pub fn downsampled(rows: &[Span], most: usize) -> Vec<Span> {
    let Some(first) = rows.iter().map(|row| row.from).min() else { return Vec::new() };
    if rows.len() <= most {
        return rows.to_vec();
    }
    let last = rows.iter().map(|row| row.to).max().unwrap_or(first);
    let mut columns = Columns::new(Grid::new(&(first..last.max(first + SECOND)), most, Nanos(1)));
    rows.iter().for_each(|row| columns.push(row));
    columns.spans()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    prop_compose! {
        fn row()(
            length in 1_i64..3_000_000_000,
            pause in prop_oneof![4 => Just(0_i64), 1 => 1_i64..20_000_000_000],
            count in 0_u64..2_000,
            overruns in prop_oneof![3 => Just(0_u64), 1 => 0_u64..500],
            mut some in prop::array::uniform4(-5_000_i64..40_000_000_000),
        ) -> (i64, i64, Span) {
            some.sort();
            let [min, median, p99_9, max] = some;
            let known = count > 0;
            (pause, length, Span {
                count,
                overruns,
                min: known.then_some(Nanos(min)),
                median: known.then_some(median as f64),
                p99_9: (count >= 1_000).then_some(Nanos(p99_9)),
                max: known.then_some(Nanos(max)),
                ..Span::default()
            })
        }
    }

    #[test]
    fn a_limit_of_the_quantile_is_the_largest_and_is_kept_where_it_decides() {
        let span = |count, p99_9: Option<i64>, max: i64| {
            let p99_9 = p99_9.map(Nanos);
            Span { count, p99_9, max: Some(Nanos(max)), ..Span::default() }.with_limit()
        };
        let (good, bad) = (span(1_003, Some(60), 90), span(999, None, 25_000));
        assert_eq!((good.p99_9, good.p99_9_is_limit), (Some(Nanos(60)), false));
        assert_eq!((bad.p99_9, bad.p99_9_is_limit), (Some(Nanos(25_000)), true));
        for (mut one, other) in [(good, bad), (bad, good)] {
            one.join(&other);
            assert_eq!((one.p99_9, one.p99_9_is_limit), (Some(Nanos(25_000)), true));
        }
        let mut most = good;
        most.join(&span(10, None, 50));
        assert_eq!((most.p99_9, most.p99_9_is_limit), (Some(Nanos(60)), false));
        assert_eq!(Span::default().with_limit(), Span::default(), "nothing has no limit");
    }

    fn laid_out(rows: Vec<(i64, i64, Span)>) -> Vec<Span> {
        let mut at = Nanos(5_000_000_000_123);
        let lay = |(pause, length, span): (i64, i64, Span)| {
            let from = at + Nanos(pause);
            at = from + Nanos(length);
            Span { from, to: at, ..span }
        };
        rows.into_iter().map(lay).collect()
    }

    fn sum(rows: &[Span], of: fn(&Span) -> u64) -> u64 {
        rows.iter().map(of).sum()
    }

    /// Gaps in time without rows.
    fn pauses(rows: &[Span]) -> Vec<(Nanos, Nanos)> {
        let pairs = rows.windows(2).filter(|pair| pair[1].from > pair[0].to);
        pairs.map(|pair| (pair[0].to, pair[1].from)).collect()
    }

    proptest! {
        /// Invariant (pictures): Joined columns keep every maximum and every overrun.
        #[test]
        fn columns_keep_every_maximum_and_every_missed_release(
            rows in prop::collection::vec(row(), 0..120),
            most in 1_usize..150,
        ) {
            let rows = laid_out(rows);
            let columns = downsampled(&rows, most);
            prop_assert!(columns.len() <= most);
            let max = |rows: &[Span]| rows.iter().filter_map(|row| row.max).max();
            let min = |rows: &[Span]| rows.iter().filter_map(|row| row.min).min();
            let p99_9 = |rows: &[Span]| rows.iter().filter_map(|row| row.p99_9).max();
            prop_assert_eq!(max(&columns), max(&rows));
            prop_assert_eq!(min(&columns), min(&rows));
            prop_assert_eq!(p99_9(&columns), p99_9(&rows));
            prop_assert_eq!(sum(&columns, |row| row.overruns), sum(&rows, |row| row.overruns));
            prop_assert_eq!(sum(&columns, |row| row.count), sum(&rows, |row| row.count));
        }

        /// Invariant (pictures): Joined columns keep every maximum and every overrun.
        #[test]
        fn columns_are_in_order_and_no_pause_is_made_up(
            rows in prop::collection::vec(row(), 1..120),
            most in 1_usize..150,
        ) {
            let rows = laid_out(rows);
            let columns = downsampled(&rows, most);
            prop_assert!(columns.windows(2).all(|pair| pair[0].to <= pair[1].from));
            prop_assert_eq!((columns[0].from, columns[columns.len() - 1].to),
                (rows[0].from, rows[rows.len() - 1].to));
            let known = pauses(&rows);
            prop_assert!(pauses(&columns).iter().all(|pause| known.contains(pause)));
        }

        #[test]
        fn a_maximum_stays_in_the_column_of_its_time(
            rows in prop::collection::vec(row(), 1..60),
            most in 1_usize..80,
        ) {
            let rows = laid_out(rows);
            for row in &rows {
                let within = |column: &&Span| column.from <= row.from && row.to <= column.to;
                let columns = downsampled(&rows, most);
                let column = columns.iter().find(within).unwrap();
                prop_assert!(column.max >= row.max && column.overruns >= row.overruns);
                let median = column.median.unwrap_or(0.0);
                let (low, high) = (column.min.unwrap_or_default(), column.max.unwrap_or_default());
                prop_assert!(median >= low.0 as f64 - 1e-3 && median <= high.0 as f64 + 1e-3);
            }
        }
    }

    #[test]
    fn columns_of_a_day_hold_the_same_number_of_seconds() {
        let day = Nanos(7)..Nanos(7) + SECOND * 86_400;
        let grid = Grid::new(&day, 425, SECOND);
        assert_eq!(grid.range_of(1), Nanos(7) + SECOND * 204..Nanos(7) + SECOND * 408);
        assert!(grid.parts() <= 425);
        assert_eq!((grid.part(Nanos(0)), grid.part(Nanos::MAX)), (0, grid.parts() - 1));
        assert_eq!(Grid::new(&(Nanos(5)..Nanos(5)), 0, SECOND).parts(), 1);
    }
}
