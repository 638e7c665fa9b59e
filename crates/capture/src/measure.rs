//! From the wires of a capture to the time that each response took.

use crate::SECOND_PS;
use crate::capture::Capture;
use crate::capture_survey::{CaptureSurvey, survey};
use crate::edges::EdgeKind;
use crate::error::{Error, ParseError};
use crate::figures::DelayFigures;
use crate::grid::TimeGrid;
use crate::list::{List, Value};
use crate::losses::Loss;
use crate::marks::Mark;
use crate::matcher::EdgeMatcher;
use crate::open::open_joined;
use crate::pairing::{Counts, Response, ResponseClass};
use crate::query::CaptureQuery;
use crate::query::ChannelSelection;
use crate::wires::WireLevels;
use std::path::{Path, PathBuf};

/// Number of impossible values that are listed.
const MOST_NAMED: usize = 5;
/// In a list each reading counts as one second, as its time is not known.
const READING_PS: i64 = SECOND_PS;

/// The result for a capture.
#[derive(Clone, PartialEq, Debug)]
pub struct CaptureResult {
    /// Name of the format.
    pub format: &'static str,
    /// The stimulus channel; `None` for a list.
    pub stimulus: Option<String>,
    /// The response channel; `None` for a list.
    pub response: Option<String>,
    /// What became of stimuli and responses.
    pub counts: Counts,
    /// Statistics of the answered ones.
    pub figures: DelayFigures,
    /// Resolution of all times.
    pub resolution_ps: Option<i64>,
    /// Whether the times of the stimuli are known.
    pub is_timed: bool,
    /// From the first to the last value.
    pub length_ps: i64,
    /// Median delay from a response to the next stimulus, if that looks more likely.
    pub swapped_ps: Option<f64>,
    /// The results for the marker, if there is one.
    pub mark: Option<Mark>,
    /// Number and value of the first few impossible readings.
    pub impossible: Vec<(u64, i64)>,
    /// Whether the first row of a list was not a sample.
    pub first_row_left_out: bool,
    /// The levels of the channels, in the order stimulus, response, marker.
    pub wires: Vec<WireLevels>,
    /// Names of missing parts of the file.
    pub missing_chunks: Vec<String>,
    /// Further remarks, one sentence each.
    pub notes: Vec<String>,
    /// Unreadable or missing parts that may have held a sample or an edge.
    pub losses: Vec<Loss>,
}

/// A surveyed capture, in which the query can be measured.
pub struct Preparation {
    paths: Vec<PathBuf>,
    query: CaptureQuery,
    look: Look,
}

/// The result of the first pass.
enum Look {
    List { resolution_ps: Option<i64> },
    Points { survey: Box<CaptureSurvey>, selection: ChannelSelection },
}

impl Preparation {
    /// Reads captures once, for their levels and the step of their times.
    pub fn new(paths: &[PathBuf], query: &CaptureQuery) -> Result<Preparation, Error> {
        let file = &paths[0];
        let in_file = |error: ParseError| error.in_file(file);
        let look = match open_joined(paths, query.unit)? {
            Capture::List(mut list) => {
                let mut grid = TimeGrid::default();
                while let Some(reading) = list.next_reading().map_err(in_file)? {
                    if let Value::Delay(delay) = reading.value {
                        grid.add_distance(delay);
                    }
                }
                check_losses(list.losses().iter()).map_err(in_file)?;
                let unit = list.resolution_ps();
                let resolution_ps = unit.map(|unit| grid.step_ps(unit).unwrap_or(unit));
                Look::List { resolution_ps }
            }
            Capture::Points(opened) => {
                let selection = ChannelSelection::resolve(&opened.head, query).map_err(in_file)?;
                drop(opened);
                let survey = survey(paths)?.ok_or_else(|| changed(file))?;
                let asked = survey.losses.iter().filter(|loss| loss.concerns(&selection.all()));
                check_losses(asked).map_err(in_file)?;
                Look::Points { survey: Box::new(survey), selection }
            }
        };
        Ok(Preparation { paths: paths.to_vec(), query: query.clone(), look })
    }

    /// Resolution of all times.
    pub fn resolution_ps(&self) -> Option<i64> {
        match &self.look {
            Look::List { resolution_ps } => *resolution_ps,
            Look::Points { survey, .. } => survey.head.resolution_ps,
        }
    }

    /// Reads them again, for the responses; the receiver of these may fail with its own error.
    pub fn measure<E: From<Error>>(
        self,
        mut each: impl FnMut(Response) -> Result<(), E>,
    ) -> Result<CaptureResult, E> {
        let Preparation { paths, query, look } = self;
        let file = &paths[0];
        let in_file = |error: ParseError| error.in_file(file);
        match (look, open_joined(&paths, query.unit)?) {
            (Look::List { resolution_ps }, Capture::List(list)) => {
                measure_list(*list, resolution_ps, |error| in_file(error).into(), each)
            }
            (Look::Points { survey, selection }, Capture::Points(opened)) => {
                let mut wires = EdgeMatcher::new(&survey, &selection, &query).map_err(in_file)?;
                let (mut source, mut points, mut goes_on) = (opened.source, Vec::new(), true);
                while goes_on {
                    goes_on = source.read(&mut points).map_err(in_file)?;
                    for point in points.drain(..) {
                        wires.push(point, &mut each)?;
                    }
                }
                wires.end(&mut each)?;
                let measured = wires.result(*survey, &selection);
                match measured.counts.stimuli {
                    0 => Err(in_file(nothing_to_answer(&measured, &query)).into()),
                    _ => Ok(measured),
                }
            }
            _ => Err(changed(file).into()),
        }
    }
}

fn changed(file: &Path) -> Error {
    ParseError::whole("the file changed while it was being read").in_file(file)
}

/// Both passes; the receiver of the responses may fail with its own error.
pub fn measure<E: From<Error>>(
    paths: &[PathBuf],
    query: &CaptureQuery,
    each: impl FnMut(Response) -> Result<(), E>,
) -> Result<CaptureResult, E> {
    Preparation::new(paths, query)?.measure(each)
}

/// Requires that nearly all of a file is readable.
fn check_losses<'a>(losses: impl IntoIterator<Item = &'a Loss>) -> Result<(), ParseError> {
    match losses.into_iter().find(|loss| loss.is_too_much()) {
        Some(loss) => Err(loss.first.clone()),
        None => Ok(()),
    }
}

/// Why a capture has no stimulus that could be judged.
fn nothing_to_answer(measured: &CaptureResult, query: &CaptureQuery) -> ParseError {
    let name = measured.stimulus.as_deref().unwrap_or_default();
    let edges = match query.edge {
        EdgeKind::Both => "edge".to_string(),
        edge => format!("{} edge", edge.as_str()),
    };
    ParseError::whole(match measured.counts.cut_off {
        0 => format!("the channel {name} has no {edges}, so there is no stimulus"),
        _ => format!(
            "the only {edges} of {name} has no response before the capture ends: give --window, \
             after which a response counts as missing"
        ),
    })
}

/// Measures a list, which has only delays.
fn measure_list<E>(
    mut list: List,
    resolution_ps: Option<i64>,
    error: impl Fn(ParseError) -> E,
    mut each: impl FnMut(Response) -> Result<(), E>,
) -> Result<CaptureResult, E> {
    let (mut counts, mut figures) = (Counts::default(), DelayFigures::default());
    let (mut impossible, mut first_row_left_out) = (Vec::new(), false);
    let mut at_ps = 0_i64;
    while let Some(reading) = list.next_reading().map_err(&error)? {
        let fate = match reading.value {
            Value::NotASample => {
                first_row_left_out = true;
                continue;
            }
            Value::Delay(delay) => {
                counts.answered += 1;
                figures.add(delay);
                ResponseClass::Answered(delay)
            }
            Value::NoResponse => {
                counts.missing += 1;
                ResponseClass::Missing
            }
            Value::Censored => {
                counts.censored += 1;
                ResponseClass::Unmeasured
            }
            Value::Impossible(value) => {
                counts.impossible += 1;
                if impossible.len() < MOST_NAMED {
                    impossible.push((reading.number, value));
                }
                ResponseClass::Unmeasured
            }
        };
        counts.stimuli += 1;
        each(Response { at_ps, class: fate })?;
        at_ps = at_ps.saturating_add(READING_PS);
    }
    if counts.stimuli == 0 {
        return Err(error(ParseError::whole("the list has no readings")));
    }
    Ok(CaptureResult {
        format: list.format(),
        stimulus: None,
        response: None,
        counts,
        figures,
        resolution_ps,
        is_timed: false,
        length_ps: at_ps,
        swapped_ps: None,
        mark: None,
        impossible,
        first_row_left_out,
        wires: Vec::new(),
        missing_chunks: Vec::new(),
        notes: Vec::new(),
        losses: list.losses(),
    })
}
