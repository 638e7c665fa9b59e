//! Waveforms of Tektronix oscilloscopes (ISF): a text of keys, then the raw samples.

use crate::SECOND_PS;
use crate::capture::LevelCapture;
use crate::capture::{Channel, Head, Kind, Point, Source};
use crate::csv::{fewer_than_stated, volts_of};
use crate::error::ParseError;
use crate::losses::Loss;
use std::io::{BufRead, Read};

/// A longer head is damage.
const LONGEST_HEAD: usize = 1 << 16;
/// Samples read per call.
const AT_ONCE: usize = 4096;
const CURVE: &[u8] = b"CURV";

/// Whether a file begins as a waveform does.
pub fn is_one(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&start[..start.len().min(512)]).to_ascii_uppercase();
    text.starts_with(":WFMP") || text.starts_with("BYT_N") || text.starts_with(":CURV")
}

/// Opens a waveform; a file holds one channel, named by the oscilloscope.
pub fn open(
    mut source: impl BufRead + 'static,
    file_name: &str,
) -> Result<LevelCapture, ParseError> {
    let keys = Keys(head(&mut source)?);
    let domain = keys.text(&["DOMAIN"]).unwrap_or_default();
    let unit = keys.text(&["XUNIT", "XUN"]).unwrap_or_else(|| "s".to_string());
    if domain.eq_ignore_ascii_case("FREQUENCY") || unit.eq_ignore_ascii_case("Hz") {
        return Err(ParseError::whole("this waveform is a spectrum and has no times"));
    }
    if !keys.text(&["ENCDG", "ENC"]).is_some_and(|it| it.to_ascii_uppercase().starts_with("BIN")) {
        return Err(ParseError::whole(
            "expected a waveform with ENCDG BINARY: save it that way, or as CSV",
        ));
    }
    let format = Format::parse(&keys)?;
    let step = keys.number(&["XINCR", "XIN"])?;
    if !(step > 0.0 && step * SECOND_PS as f64 >= 0.5) {
        return Err(ParseError::whole(format!(
            "expected an XINCR above half a picosecond, found {step}"
        )));
    }
    let first = keys.optional(&["PT_OFF", "PT_O"]).unwrap_or(0.0);
    let zero = keys.optional(&["XZERO", "XZE"]).unwrap_or(0.0);
    let scale = Scale {
        start: zero - first * step,
        step,
        factor: keys.number(&["YMULT", "YMU"])?,
        offset: keys.optional(&["YOFF", "YOF"]).unwrap_or(0.0),
        zero: keys.optional(&["YZERO", "YZE"]).unwrap_or(0.0),
    };
    let bytes = length(&mut source)?;
    let name = keys.text(&["WFID", "WFI"]).and_then(|id| channel(&id));
    let name = name.unwrap_or_else(|| file_name.to_string());
    let head = Head {
        format: "Tektronix ISF",
        channels: vec![channel_of(name, &keys)],
        resolution_ps: Some((step * SECOND_PS as f64).round().max(1.0) as i64),
        is_sample_time: true,
        ..Head::default()
    };
    let width = format.width as u64;
    let stated =
        keys.optional(&["NR_PT", "NR_P"]).filter(|count| *count >= 0.0).map(|it| it as u64);
    let source = Samples {
        source,
        format,
        scale,
        sample: 0,
        left: bytes / width,
        stated: (bytes / width).max(stated.unwrap_or(0)),
        rest: (bytes % width) as usize,
        reached: None,
        cut: None,
    };
    Ok(LevelCapture { head, source: Box::new(source) })
}

/// The text before the samples.
fn head(source: &mut impl BufRead) -> Result<String, ParseError> {
    let mut head: Vec<u8> = Vec::new();
    while !head.to_ascii_uppercase().ends_with(CURVE) {
        let mut byte = [0];
        if head.len() > LONGEST_HEAD || source.read(&mut byte)? == 0 {
            return Err(ParseError::whole("the waveform has no samples: CURVE is missing"));
        }
        head.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// The length before the samples: in `#44004` four digits give it in bytes.
fn length(source: &mut impl BufRead) -> Result<u64, ParseError> {
    let mut byte = [0];
    let mut next = |what: &str| match source.read(&mut byte)? {
        0 => Err(ParseError::whole(format!("the waveform is truncated: {what} is missing"))),
        _ => Ok(byte[0]),
    };
    for _ in 0..16 {
        if next("the length of its samples")? == b'#' {
            let digits = next("the length of its samples")?;
            let digits = char::from(digits).to_digit(10).filter(|digits| *digits > 0);
            let digits =
                digits.ok_or_else(|| ParseError::whole("expected '#' and a digit after CURVE"))?;
            let mut length = 0;
            for _ in 0..digits {
                let digit = char::from(next("the length of its samples")?).to_digit(10);
                let digit =
                    digit.ok_or_else(|| ParseError::whole("expected a length after CURVE"))?;
                length = length * 10 + u64::from(digit);
            }
            return Ok(length);
        }
    }
    Err(ParseError::whole("expected '#' after CURVE: the samples must be binary"))
}

/// The channel of a waveform with the unit of its values.
fn channel_of(name: String, keys: &Keys) -> Channel {
    let unit = keys.text(&["YUNIT", "YUN"]).unwrap_or_default();
    Channel { volts: volts_of(unit.trim_matches('"')), ..Channel::new(name, Kind::Sampled) }
}

/// `"Ch1, DC coupling, …"` as `Ch1`.
fn channel(id: &str) -> Option<String> {
    let name = id.trim_matches('"').split(',').next()?.trim();
    (!name.is_empty()).then(|| name.to_string())
}

/// The keys of the head with their values.
struct Keys(String);

impl Keys {
    fn text(&self, names: &[&str]) -> Option<String> {
        self.parts().into_iter().find_map(|(key, value)| {
            names.iter().any(|name| key.eq_ignore_ascii_case(name)).then_some(value)
        })
    }

    /// `:WFMPRE:BYT_NR 2;XINCR 1E-9` as pairs; within quotes a semicolon is part of a value.
    fn parts(&self) -> Vec<(&str, String)> {
        let mut quoted = false;
        let parts = self.0.split(move |c| {
            quoted ^= c == '"';
            c == ';' && !quoted
        });
        let mut pairs = Vec::new();
        for part in parts {
            let key_and_value = part.trim().split_once(char::is_whitespace);
            if let Some((key, value)) = key_and_value {
                let key = key.rsplit(':').next().unwrap_or(key);
                pairs.push((key, value.trim().to_string()));
            }
        }
        pairs
    }

    fn optional(&self, names: &[&str]) -> Option<f64> {
        self.text(names)?.parse().ok().filter(|number: &f64| number.is_finite())
    }

    fn number(&self, names: &[&str]) -> Result<f64, ParseError> {
        let missing = || ParseError::whole(format!("the waveform lacks its {}", names[0]));
        self.optional(names).ok_or_else(missing)
    }
}

/// Encoding of a sample.
struct Format {
    width: usize,
    is_float: bool,
    is_signed: bool,
    is_big: bool,
}

impl Format {
    fn parse(keys: &Keys) -> Result<Format, ParseError> {
        let width = keys.number(&["BYT_NR", "BYT_N"])? as usize;
        let is = |names: &[&str], word: &str| {
            keys.text(names).is_some_and(|value| value.eq_ignore_ascii_case(word))
        };
        let is_float = is(&["BN_FMT", "BN_F"], "FP");
        let is_signed = !is(&["BN_FMT", "BN_F"], "RP");
        let is_big = !is(&["BYT_OR", "BYT_O"], "LSB");
        match (width, is_float) {
            (1 | 2 | 4, false) | (4, true) => Ok(Format { width, is_float, is_signed, is_big }),
            _ => Err(ParseError::whole(format!(
                "expected samples of 1, 2 or 4 bytes, found {width}"
            ))),
        }
    }

    fn value(&self, bytes: &[u8]) -> f64 {
        let fold = |all: u32, byte: &u8| all << 8 | u32::from(*byte);
        let bits = match self.is_big {
            true => bytes.iter().fold(0, fold),
            false => bytes.iter().rev().fold(0, fold),
        };
        let unused = 32 - 8 * self.width as u32;
        match (self.is_float, self.is_signed) {
            (true, _) => f32::from_bits(bits).into(),
            (false, true) => f64::from(((bits << unused) as i32) >> unused),
            (false, false) => f64::from(bits),
        }
    }
}

/// Conversion to seconds and volts.
struct Scale {
    start: f64,
    step: f64,
    factor: f64,
    offset: f64,
    zero: f64,
}

/// The samples of a waveform.
struct Samples<R> {
    source: R,
    format: Format,
    scale: Scale,
    sample: u64,
    left: u64,
    /// Number of samples that the head states.
    stated: u64,
    /// Bytes after the last whole sample.
    rest: usize,
    reached: Option<i64>,
    cut: Option<ParseError>,
}

impl<R: BufRead> Samples<R> {
    /// Reads up to the capacity of this buffer.
    fn fill(&mut self, bytes: &mut Vec<u8>) -> Result<(), ParseError> {
        let wanted = bytes.len();
        bytes.clear();
        (&mut self.source).take(wanted as u64).read_to_end(bytes)?;
        Ok(())
    }

    /// Checks that nothing but a line end follows the samples.
    fn check_rest(&mut self) -> Result<(), ParseError> {
        let mut rest = Vec::new();
        (&mut self.source).take(LONGEST_HEAD as u64).read_to_end(&mut rest)?;
        if rest.windows(CURVE.len()).any(|it| it == CURVE) {
            return Err(ParseError::whole("the file has several waveforms: expected one per file"));
        }
        let more = rest.iter().skip(self.rest).filter(|byte| !b" \r\n;\0".contains(byte)).count();
        if more > 0 || self.rest > 0 {
            let what = "the file has more bytes than its samples, as it states them";
            self.cut.get_or_insert_with(|| ParseError::whole(what));
        }
        Ok(())
    }
}

impl<R: BufRead> Source for Samples<R> {
    fn read(&mut self, points: &mut Vec<Point>) -> Result<bool, ParseError> {
        let count = self.left.min(AT_ONCE as u64);
        let mut bytes = vec![0; count as usize * self.format.width];
        let wanted = bytes.len();
        self.fill(&mut bytes)?;
        let is_cut = bytes.len() < wanted;
        for bytes in bytes.chunks_exact(self.format.width) {
            let Scale { start, step, factor, offset, zero } = self.scale;
            let at_ps = ((start + step * self.sample as f64) * SECOND_PS as f64).round() as i64;
            let value = (self.format.value(bytes) - offset) * factor + zero;
            points.push(Point { at_ps, channel: 0, value });
            self.reached = Some(at_ps);
            self.sample += 1;
        }
        self.left -= count;
        if self.left == 0 && !is_cut {
            self.check_rest()?;
        }
        Ok(self.left > 0 && !is_cut)
    }

    fn losses(&self) -> Vec<Loss> {
        let cut = self.cut.clone().map(Loss::missing);
        cut.into_iter().chain(fewer_than_stated(self.sample, Some(self.stated))).collect()
    }

    fn reached_ps(&self) -> Option<i64> {
        self.reached
    }
}
