//! Takes readings one by one: wait for the trigger, ask for the delay.

use super::connection::{Connection, InstrumentError};
use crate::StopFlag;
use latlab_model::respond::ScopeCommands;
use std::thread;
use std::time::{Duration, Instant};

/// Polling interval for the trigger.
const ASK_EVERY: Duration = Duration::from_millis(5);
/// Instruments return 9.9E37 or 9.91E37 for a value that they could not measure.
const NOT_MEASURED: f64 = 9.8e37;
/// The IEEE 488.2 command that triggers one pulse of a generator.
const TRIGGER: &str = "*TRG";
const PICOSECONDS: f64 = 1e12;

#[derive(Clone, PartialEq, Debug)]
pub enum ScopeReading {
    /// Picoseconds from stimulus to response, and the instrument's text.
    Delay(i64, String),
    /// It triggered but could not measure, with the instrument's text.
    Censored(String),
    /// It did not trigger, or did not answer, in time.
    TimedOut,
}

/// An oscilloscope that is asked for one delay after the other.
pub struct Oscilloscope<'a> {
    connection: Connection<'a>,
    generator: Option<Connection<'a>>,
    commands: ScopeCommands,
    stop: &'a StopFlag,
}

impl<'a> Oscilloscope<'a> {
    /// Sends the settings that all readings share.
    pub fn set_up(
        mut connection: Connection<'a>,
        generator: Option<Connection<'a>>,
        commands: &ScopeCommands,
        stop: &'a StopFlag,
    ) -> Result<Oscilloscope<'a>, InstrumentError> {
        commands.setup.iter().try_for_each(|command| connection.send(command))?;
        Ok(Oscilloscope { connection, generator, commands: commands.clone(), stop })
    }

    /// Takes the next reading. After a timeout the instrument is reopened, so that a late answer is
    /// not taken for another.
    pub fn read(&mut self) -> Result<ScopeReading, InstrumentError> {
        match self.try_read() {
            Err(InstrumentError::Silent { .. }) => {
                self.connection.reopen()?;
                Ok(ScopeReading::TimedOut)
            }
            other => other,
        }
    }

    fn try_read(&mut self) -> Result<ScopeReading, InstrumentError> {
        self.connection.send(&self.commands.arm)?;
        thread::sleep(Duration::from_millis(self.commands.settle_ms));
        if let Some(generator) = &mut self.generator {
            generator.send(TRIGGER)?;
        }
        let until = Instant::now() + self.connection.timeout();
        while !self.has_triggered()? {
            if self.stop.is_set() {
                return Err(InstrumentError::Interrupted);
            }
            if Instant::now() >= until {
                self.connection.send(&self.commands.halt)?;
                return Ok(ScopeReading::TimedOut);
            }
            thread::sleep(ASK_EVERY);
        }
        let answer = self.connection.ask(&self.commands.read)?;
        parse_reading(&answer).ok_or_else(|| {
            self.connection.wrong(&self.commands.read, &answer, "a number of seconds")
        })
    }

    fn has_triggered(&mut self) -> Result<bool, InstrumentError> {
        let ScopeCommands { state, state_mask, done, .. } = &self.commands;
        let mut answer = self.connection.ask(state)?;
        if let Some(mask) = state_mask {
            let bits = answer.parse::<f64>().ok().filter(|bits| (0.0..1e15).contains(bits));
            let bits =
                bits.ok_or_else(|| self.connection.wrong(state, &answer, "a whole number"))?;
            answer = (bits as u64 & mask).to_string();
        }
        let answer = answer.to_ascii_uppercase();
        Ok(done.iter().any(|done| answer.starts_with(&done.to_ascii_uppercase())))
    }

    /// Stops its acquisition.
    pub fn halt(mut self) {
        // The result no longer matters.
        let _ = self.connection.send(&self.commands.halt);
    }
}

/// The number in an answer, with an optional header or unit; `None` if there is none.
fn parse_reading(answer: &str) -> Option<ScopeReading> {
    let text = answer.rsplit([',', ' ']).next()?;
    // Some write asterisks or dashes in place of a value.
    if !text.is_empty() && text.chars().all(|c| c == '*' || c == '-') {
        return Some(ScopeReading::Censored(text.to_string()));
    }
    let number = text.trim_end_matches(['s', 'S']);
    let seconds: f64 = number.parse().ok()?;
    let picoseconds = (seconds * PICOSECONDS).round();
    match seconds.is_finite() && seconds.abs() < NOT_MEASURED && picoseconds.abs() < 9e18 {
        true => Some(ScopeReading::Delay(picoseconds as i64, number.to_string())),
        false => Some(ScopeReading::Censored(number.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_instruments_write_them() {
        let delay = |ps, text: &str| Some(ScopeReading::Delay(ps, text.to_string()));
        assert_eq!(parse_reading("9.0494E-06"), delay(9_049_400, "9.0494E-06"));
        assert_eq!(parse_reading("+1.25000000E-005"), delay(12_500_000, "+1.25000000E-005"));
        assert_eq!(parse_reading(":MEASUREMENT:IMMED:VALUE 48.0E-9"), delay(48_000, "48.0E-9"));
        assert_eq!(parse_reading("C1-C2:MEAD FRR,1.20E-05S"), delay(12_000_000, "1.20E-05"));
        assert_eq!(parse_reading("-2.0E-09"), delay(-2_000, "-2.0E-09"));
    }

    #[test]
    fn what_was_not_measured_is_no_number() {
        let censored = |text: &str| Some(ScopeReading::Censored(text.to_string()));
        assert_eq!(parse_reading("9.9E+37"), censored("9.9E+37"));
        assert_eq!(parse_reading("9.91E37"), censored("9.91E37"));
        assert_eq!(parse_reading("C1-C2:MEAD FRR,****"), censored("****"));
        assert_eq!(parse_reading("NAN"), censored("NAN"));
        assert_eq!(parse_reading(""), None);
        assert_eq!(parse_reading("measure error!"), None);
    }
}
