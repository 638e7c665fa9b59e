//! Figures as columns: the only place in which their numbers are rounded.

use super::{Counts, FIGURES, Figure, Place, SaidLatency, Value, Whole};
use crate::document::style::verdict_colour;
use crate::document::table::{Cell, Column};
use crate::units::{Scale, grouped, percent, percent_of, short, span, trimmed};
use latlab_model::{Nanos, Run};

/// Latencies further apart than this factor each get their own unit: in the unit of the largest,
/// the smallest would have no digits left.
const WIDE: f64 = 1_000.0;

/// The figures of a table, a row for each subject; figures that no subject has are left out.
pub fn columns(place: Place, subjects: &[Counts]) -> Vec<Column> {
    columns_with(place, subjects, &|_, _| None)
}

/// As `columns`, with notes below figures.
pub fn columns_with(place: Place, subjects: &[Counts], note: Note) -> Vec<Column> {
    let shown = FIGURES.iter().filter(|one| one.places.contains(&place));
    shown.filter_map(|one| one.column(place, subjects, note)).collect()
}

/// The note below a figure, by row.
pub type Note<'a> = &'a dyn Fn(&Figure, usize) -> Option<String>;

/// Heads of the list on the served page.
pub fn served_heads() -> Vec<&'static str> {
    served().map(|one| one.head).collect()
}

/// The figures of a run for those heads.
pub fn served_figures(run: &Run) -> Vec<String> {
    let of = Counts::of_run(run);
    served().map(|one| (one.get)(&of).map_or("–".to_string(), |value| in_words(&value))).collect()
}

fn served() -> impl Iterator<Item = &'static Figure> {
    FIGURES.iter().filter(|one| one.places.contains(&Place::Served))
}

/// A figure with three digits.
pub fn value(id: &str, of: &Counts) -> Option<String> {
    (super::figure(id).get)(of).map(|value| in_words(&value))
}

/// The share of a figure in its whole: 2.7 % of the deadline.
pub fn share(figure: &Figure, of: &Counts) -> Option<String> {
    match (figure.whole?, (figure.get)(of)?) {
        (Whole::Deadline, Value::Latency(latency)) => {
            let deadline = of.deadline_ns?.0 as f64;
            Some(latency.words(|ns| percent(ns / deadline)))
        }
        (Whole::Releases, Value::Count(count)) => percent_of(count, of.summary.releases),
        _ => None,
    }
}

impl Figure {
    /// `None` if no subject has it.
    fn column(&'static self, place: Place, subjects: &[Counts], note: Note) -> Option<Column> {
        let values: Vec<Option<Value>> = subjects.iter().map(self.get).collect();
        let is_nothing = |value: &Value| matches!(value, Value::InPlace(text) if text.is_empty());
        if !subjects.is_empty() && values.iter().flatten().all(is_nothing) {
            return None;
        }
        // For threads and stored runs every digit counts; next to other runs three read better.
        let is_exact = matches!(place, Place::Threads | Place::List);
        let scale = is_exact.then(|| common_scale(&values)).flatten();
        let has_share = match self.whole {
            Some(Whole::Releases) => !is_exact,
            Some(Whole::Deadline) => place == Place::Pooled && self.id == "max_ns",
            None => false,
        };
        let is_left = values
            .iter()
            .flatten()
            .any(|value| matches!(value, Value::Verdict(_) | Value::Words(_)));
        let cells = subjects.iter().zip(values).enumerate().map(|(at, (of, value))| {
            let is_some = has_share && value != Some(Value::Count(0));
            let share = share(self, of).filter(|_| is_some);
            cell(value, scale).note(share.or_else(|| note(self, at)))
        });
        let column = Column::new(self.head, self.rank, cells).about(self.about);
        let column = if is_left { column.left() } else { column };
        Some(column.unit(scale.map(Scale::unit).or(self.unit(subjects)).unwrap_or_default()))
    }

    /// The unit of figures that are not latencies.
    fn unit(&self, subjects: &[Counts]) -> Option<&'static str> {
        match subjects.iter().find_map(self.get)? {
            Value::Share(_) => Some("%"),
            Value::Moment(_) => Some("s"),
            _ => None,
        }
    }
}

/// The unit shared by all latencies of a column; `None` for other figures, and if they lie far
/// apart.
fn common_scale(values: &[Option<Value>]) -> Option<Scale> {
    let latencies: Vec<f64> = values
        .iter()
        .flatten()
        .filter_map(|value| match value {
            Value::Latency(SaidLatency { ns, .. }) => Some(*ns),
            _ => None,
        })
        .collect();
    let (largest, smallest) =
        latencies.iter().filter(|ns| **ns > 0.0).fold((0.0, f64::INFINITY), |(most, least), ns| {
            (f64::max(most, *ns), f64::min(least, *ns))
        });
    let is_wide = largest > WIDE * smallest;
    let times = latencies.iter().map(|ns| Nanos(*ns as i64));
    (!latencies.is_empty() && !is_wide).then(|| Scale::for_times(times))
}

fn cell(value: Option<Value>, scale: Option<Scale>) -> Cell {
    match (value, scale) {
        (None, _) => None.into(),
        (Some(Value::Latency(latency)), Some(scale)) => {
            latency.in_column(|ns| scale.number_f64(ns)).into()
        }
        (Some(Value::Latency(latency)), None) => latency.in_column(short).into(),
        (Some(Value::Verdict(word)), _) => {
            Cell::from(word.to_string()).badge(word.as_str(), verdict_colour(word))
        }
        (Some(Value::Moment(time)), _) => format!("{:.3}", time.as_secs_f64()).into(),
        // Three decimals.
        (Some(Value::Share(share)), _) => trimmed(format!("{:.3}", share * 100.0)).into(),
        (Some(value), _) => in_words(&value).into(),
    }
}

fn in_words(value: &Value) -> String {
    match value {
        Value::Count(count) => grouped(*count),
        Value::Latency(latency) => latency.short(),
        Value::Duration(time) => span(*time),
        Value::Moment(time) => span(*time),
        Value::Share(share) => percent(*share),
        Value::Verdict(word) => word.to_string(),
        Value::Words(words) | Value::InPlace(words) => words.clone(),
    }
}
