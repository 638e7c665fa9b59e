//! An oscilloscope that latlab asks for the delay of each response.
//!
//! SCPI lines go over a TCP socket or to the kernel's USBTMC driver; both need no library. The
//! commands are data (`ScopeCommands`), since each maker uses different ones. Each reading goes to
//! the journal at once, so that a series that ends early is a valid run.

mod connection;
mod readings;
mod resource;

use super::stream::StreamBuilder;
use super::{Answering, AnsweringMachine, RespondFailure, figures, nanos};
use crate::StopFlag;
pub use connection::{Connection, InstrumentError};
use latlab_capture::{DelayFigures, NANO_PS, Response, ResponseClass, common_step};
use latlab_model::finding::{CaptureFinding, Finding, ImpossibleReading};
use latlab_model::respond::{Responses, Scope};
use latlab_model::run::{EndReason, Setting};
use latlab_model::{Nanos, Plan};
use latlab_store::{Finished, Store};
use readings::{Oscilloscope, ScopeReading};
pub use resource::Resource;
use std::time::{Duration, Instant};

/// A series fails after this many timeouts at the start.
const FIRST_TRIES: u64 = 5;
/// With fewer readings, a common step may be chance.
const ENOUGH_FOR_STEP: u64 = 20;
/// Impossible values that are listed.
const MOST_NAMED: usize = 5;
/// Interval of writing readings to the journal.
const KEEP_EVERY: Duration = Duration::from_millis(500);
/// Name of the instrument's own list in the run's folder.
const LIST: &str = "readings.txt";

pub struct ScopeRequest<'a> {
    /// The plan, with its oscilloscope part.
    pub plan: &'a Plan,
    pub scope: &'a Scope,
    pub oscilloscope: Connection<'a>,
    /// The generator that triggers each stimulus, if any.
    pub generator: Option<Connection<'a>>,
    /// Which instruments these are.
    pub settings: Vec<Setting>,
    /// An agent on the answering machine, if any.
    pub machine: Option<AnsweringMachine>,
    pub store: &'a Store,
    pub id: &'a str,
    /// Ends the series when set.
    pub stop: &'a StopFlag,
}

/// Takes the readings and stores them; `watch` gets their number.
pub fn record_readings(
    request: ScopeRequest<'_>,
    watch: impl FnMut(u64),
) -> Result<Finished, RespondFailure> {
    let ScopeRequest { plan, scope, oscilloscope, generator, settings, machine, store, id, stop } =
        request;
    let mut oscilloscope = Oscilloscope::set_up(oscilloscope, generator, &scope.commands, stop)?;
    // The series handles the stop flag itself.
    let never = StopFlag::new();
    let open = store.begin(id)?;
    let agent = machine.map(|machine| (machine, Instant::now()));
    let answering = Answering { settings, agent, ..Answering::default() };
    let mut recorder = StreamBuilder::begin(open, plan, answering, None, &never)?;
    let mut series = Series::default();
    let begun = Instant::now();
    let ended = take_readings(&mut oscilloscope, scope, &mut series, &mut recorder, watch)?;
    oscilloscope.halt();
    let length_ps = picoseconds_since(begun);
    let mut reason = EndReason::Finished;
    if let Some(error) = ended {
        if series.is_silent() {
            recorder.discard()?;
            return Err(error.into());
        }
        reason = EndReason::Interrupted;
        series.ended = (!matches!(error, InstrumentError::Interrupted)).then(|| error.to_string());
    }
    recorder.add_original(LIST, &mut series.list.as_bytes())?;
    let findings = series.findings(scope);
    recorder.finish(series.responses(), findings, length_ps, reason)
}

/// Takes readings until there are enough, or until something ends them.
fn take_readings(
    oscilloscope: &mut Oscilloscope<'_>,
    scope: &Scope,
    series: &mut Series,
    recorder: &mut StreamBuilder<'_>,
    mut watch: impl FnMut(u64),
) -> Result<Option<InstrumentError>, RespondFailure> {
    let (begun, mut kept) = (Instant::now(), Instant::now());
    while series.stimuli() < scope.count {
        let reading = match oscilloscope.read() {
            Ok(reading) => reading,
            Err(error) => return Ok(Some(error)),
        };
        let at_ps = picoseconds_since(begun);
        recorder.push(Response { at_ps, class: series.add(reading) })?;
        if kept.elapsed() > KEEP_EVERY {
            recorder.keep()?;
            kept = Instant::now();
        }
        watch(series.stimuli());
        if series.is_silent() && series.timed_out == FIRST_TRIES.min(scope.count) {
            let (resource, tries) = (scope.resource.clone(), series.timed_out);
            let timeout = Duration::from_nanos(scope.timeout_ns.0.unsigned_abs());
            return Ok(Some(InstrumentError::Nothing { resource, tries, timeout }));
        }
    }
    Ok(None)
}

fn picoseconds_since(begun: Instant) -> i64 {
    i64::try_from(begun.elapsed().as_nanos()).unwrap_or(i64::MAX).saturating_mul(NANO_PS)
}

/// The readings so far.
#[derive(Default)]
struct Series {
    figures: DelayFigures,
    censored: u64,
    timed_out: u64,
    impossible: Vec<ImpossibleReading>,
    impossible_count: u64,
    /// Greatest common divisor of all delays, in picoseconds.
    step_ps: i64,
    /// The readings as the instrument wrote them, in a list format that latlab can import.
    list: String,
    /// The instrument's error that ended it, if any.
    ended: Option<String>,
}

impl Series {
    fn stimuli(&self) -> u64 {
        self.figures.count() + self.censored + self.timed_out + self.impossible_count
    }

    /// Whether no reading gave a result.
    fn is_silent(&self) -> bool {
        self.stimuli() == self.timed_out
    }

    fn add(&mut self, reading: ScopeReading) -> ResponseClass {
        let number = self.stimuli();
        let (class, text) = match reading {
            ScopeReading::Delay(delay, text) if delay < 0 => {
                self.impossible_count += 1;
                if self.impossible.len() < MOST_NAMED {
                    let value_ns = Nanos(delay.div_euclid(NANO_PS));
                    self.impossible.push(ImpossibleReading { number, value_ns });
                }
                (ResponseClass::Unmeasured, text)
            }
            ScopeReading::Delay(delay, text) => {
                self.figures.add(delay);
                self.step_ps = common_step(self.step_ps, delay);
                (ResponseClass::Answered(delay), text)
            }
            ScopeReading::Censored(text) => {
                self.censored += 1;
                (
                    ResponseClass::Unmeasured,
                    if text.parse::<f64>().is_ok() { text } else { "nan".into() },
                )
            }
            ScopeReading::TimedOut => {
                self.timed_out += 1;
                (ResponseClass::Unmeasured, "nan".to_string())
            }
        };
        self.list += &format!("{number}\t{text}\n");
        class
    }

    /// Findings beyond the counts.
    fn findings(&self, scope: &Scope) -> Vec<Finding> {
        let ended = self.ended.clone().map(|why| CaptureFinding::InstrumentEnded {
            readings: self.stimuli(),
            asked: scope.count,
            why,
        });
        let impossible = (self.impossible_count > 0).then(|| CaptureFinding::ResponseImpossible {
            count: self.impossible_count,
            readings: self.impossible.clone(),
            first_meant_ns: None,
        });
        impossible.into_iter().chain(ended).map(Finding::new).collect()
    }

    fn responses(self) -> Responses {
        let is_enough = self.figures.count() >= ENOUGH_FOR_STEP && self.step_ps > 0;
        Responses {
            format: "oscilloscope".to_string(),
            stimuli: self.stimuli(),
            censored: self.censored,
            timed_out: self.timed_out,
            impossible: self.impossible_count,
            resolution_ns: is_enough.then(|| nanos(self.step_ps)),
            is_timed: true,
            figures: figures(self.figures),
            ..Responses::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reading_is_counted_as_what_it_is() {
        let mut series = Series::default();
        for text in ["9.0E-6", "9.5E-6"].into_iter().cycle().take(20) {
            let delay = (text.parse::<f64>().unwrap() * 1e12).round() as i64;
            series.add(ScopeReading::Delay(delay, text.to_string()));
        }
        series.add(ScopeReading::Censored("9.9E37".to_string()));
        series.add(ScopeReading::Censored("****".to_string()));
        series.add(ScopeReading::TimedOut);
        series.add(ScopeReading::Delay(-5_000, "-5E-9".to_string()));
        assert_eq!(series.stimuli(), 24);
        assert!(series.list.ends_with("20\t9.9E37\n21\tnan\n22\tnan\n23\t-5E-9\n"));
        let scope = Scope { count: 24, timeout_ns: Nanos(2_000_000_000), ..Scope::default() };
        let findings = series.findings(&scope);
        let codes: Vec<&str> = findings.iter().map(Finding::code).collect();
        assert_eq!(codes, ["response-impossible"]);
        let responses = series.responses();
        assert_eq!((responses.censored, responses.timed_out, responses.unmeasured()), (2, 1, 4));
        assert_eq!(responses.resolution_ns, Some(500.0));
        assert_eq!(responses.figures.max_ns, Some(9_500.0));
    }
}
