//! Value change dumps (VCD), as simulators and logic analysers write them.

use crate::SECOND_PS;
use crate::capture::LevelCapture;
use crate::capture::{Channel, Head, Kind, Point, Source};
use crate::error::ParseError;
use crate::lines::BYTE_ORDER_MARK;
use crate::losses::{Loss, LossKind, Lost, is_rare};
use crate::sigrok::hertz;
use std::collections::HashMap;
use std::io::BufRead;

/// A longer word is damage.
const LONGEST_WORD: usize = 1 << 16;
/// More variables than can be named.
const MOST_VARIABLES: usize = 1 << 16;
/// Points returned per call.
const AT_ONCE: usize = 4096;
const FEMTO: i128 = 1_000;

/// Opens a dump: reads its head, up to where the values begin.
pub fn open(mut text: impl BufRead + 'static) -> Result<LevelCapture, ParseError> {
    if text.fill_buf()?.starts_with(BYTE_ORDER_MARK) {
        text.consume(BYTE_ORDER_MARK.len());
    }
    let mut words = Tokens { source: text, line: 1, word: String::new(), has_end: true };
    let mut head = Declaration::default();
    loop {
        let Some(word) = words.next()? else {
            return Err(
                words.error("the header of the dump has no end: $enddefinitions is missing")
            );
        };
        match word {
            "$timescale" => head.timescale(&mut words)?,
            "$scope" => head.scope(&mut words)?,
            "$upscope" => {
                head.scopes.pop();
                words.skip()?;
            }
            "$var" => head.variable(&mut words)?,
            "$comment" => head.comment(&mut words)?,
            "$enddefinitions" => {
                words.skip()?;
                break;
            }
            word if word.starts_with('$') => words.skip()?,
            word => {
                let what = format!("expected the header of a VCD dump, found '{}'", short(word));
                return Err(words.error(what));
            }
        }
    }
    let Some(femtos) = head.femtos else {
        return Err(words.error("the dump has no $timescale, so there are no times"));
    };
    if head.channels.is_empty() {
        return Err(words.error("the dump declares no variables"));
    }
    let unit_ps = i64::try_from((femtos / FEMTO).max(1)).unwrap_or(i64::MAX);
    let Declaration { channels, ids, rate, .. } = head;
    let sample_ps = rate.map(|rate| SECOND_PS / rate as i64).filter(|step| *step >= unit_ps);
    let head = Head {
        format: "VCD",
        channels,
        resolution_ps: sample_ps.or(Some(unit_ps)),
        is_sample_time: sample_ps.is_some(),
        ..Head::default()
    };
    let channels = head.channels.len();
    let source = Changes {
        words,
        ids,
        femtos,
        now: None,
        start: None,
        is_time_known: true,
        told: 0,
        levels: head
            .channels
            .iter()
            .map(|one| (one.kind == Kind::Logic).then_some(f64::NAN))
            .collect(),
        is_in_block: false,
        read: 0,
        lost: Lost::default(),
        changes: vec![0; channels],
        repeated: vec![Lost::default(); channels],
        cut: None,
    };
    Ok(LevelCapture { head, source: Box::new(source) })
}

/// The declarations in the head of a dump.
#[derive(Default)]
struct Declaration {
    femtos: Option<i128>,
    /// The sample rate from a comment, in Hz.
    rate: Option<u64>,
    scopes: Vec<String>,
    channels: Vec<Channel>,
    /// The channels of each identifier: one signal may appear in several scopes.
    ids: HashMap<String, Vec<usize>>,
}

impl Declaration {
    fn timescale<R: BufRead>(&mut self, words: &mut Tokens<R>) -> Result<(), ParseError> {
        let text: String = words.until_end()?.concat();
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let unit: Option<i128> = match &text[end..] {
            "s" => Some(1_000_000_000_000_000),
            "ms" => Some(1_000_000_000_000),
            "us" => Some(1_000_000_000),
            "ns" => Some(1_000_000),
            "ps" => Some(1_000),
            "fs" => Some(1),
            _ => None,
        };
        let number = text[..end].parse::<i128>().ok().filter(|number| (1..=100).contains(number));
        self.femtos = unit.zip(number).map(|(unit, number)| unit * number);
        match self.femtos {
            Some(_) => Ok(()),
            None => {
                Err(words
                    .error(format!("expected a timescale like 1 ns, found '{}'", short(&text))))
            }
        }
    }

    /// `Acquisition with 8/8 channels at 24 MHz`, as sigrok writes it.
    fn comment<R: BufRead>(&mut self, words: &mut Tokens<R>) -> Result<(), ParseError> {
        let all = words.until_end()?;
        let hertz_of = |number: &str, unit: &str| {
            let is_rate = unit.trim_end_matches([',', '.', ';', ')']).to_ascii_lowercase();
            is_rate.ends_with("hz").then(|| hertz(&format!("{number} {is_rate}"))).flatten()
        };
        let apart = all.windows(2).find_map(|pair| hertz_of(&pair[0], &pair[1]));
        let joined = all.iter().find_map(|word| {
            let end = word.find(|c: char| c.is_ascii_alphabetic())?;
            hertz_of(&word[..end], &word[end..])
        });
        self.rate = self.rate.or(apart).or(joined);
        Ok(())
    }

    fn scope<R: BufRead>(&mut self, words: &mut Tokens<R>) -> Result<(), ParseError> {
        let all = words.until_end()?;
        self.scopes.push(all.get(1).cloned().unwrap_or_default());
        Ok(())
    }

    fn variable<R: BufRead>(&mut self, words: &mut Tokens<R>) -> Result<(), ParseError> {
        let all = words.until_end()?;
        let [kind, width, id, name, ..] = &all[..] else {
            return Err(words.error("expected '$var TYPE WIDTH ID NAME $end'"));
        };
        if self.channels.len() >= MOST_VARIABLES {
            return Err(words.error(format!("more than {MOST_VARIABLES} variables")));
        }
        // A bit of a bus is named with its index, a bus without its range.
        let bit = all.get(4).filter(|index| index.starts_with('[') && !index.contains(':'));
        let is_bit = width == "1" && !matches!(kind.as_str(), "real" | "integer" | "time");
        let kind = if is_bit { Kind::Logic } else { Kind::Held };
        let mut path = self.scopes.clone();
        path.push(name.clone() + bit.map_or("", String::as_str));
        self.ids.entry(id.clone()).or_default().push(self.channels.len());
        self.channels.push(Channel::new(path.join("."), kind));
        Ok(())
    }
}

/// The changes of a dump, in file order.
struct Changes<R> {
    words: Tokens<R>,
    ids: HashMap<String, Vec<usize>>,
    femtos: i128,
    now: Option<i64>,
    /// The first time.
    start: Option<i64>,
    /// Whether the last time could be read; changes at an unreadable time are lost.
    is_time_known: bool,
    /// Bytes of changes read since points were last returned.
    told: usize,
    /// The last level of each one-bit channel.
    levels: Vec<Option<f64>>,
    /// Within `$dumpvars` and the like, where values are repeated.
    is_in_block: bool,
    /// Number of times and changes.
    read: u64,
    lost: Lost,
    /// For each channel its changes, and those without effect.
    changes: Vec<u64>,
    repeated: Vec<Lost>,
    /// A file that ends within a word or a change.
    cut: Option<ParseError>,
}

impl<R: BufRead> Changes<R> {
    fn time(&mut self, word: &str) -> Result<i64, ParseError> {
        let time = word.parse::<i128>().ok().and_then(|time| time.checked_mul(self.femtos));
        let Some(time) = time.filter(|time| *time >= 0) else {
            return Err(self.words.error(format!("expected a time, found '#{}'", short(word))));
        };
        let at = i64::try_from((time + FEMTO / 2) / FEMTO)
            .map_err(|_| self.words.error("a time is later than 106 days"))?;
        match self.now.is_some_and(|now| at < now) {
            true => Err(self.words.error("a time is earlier than the one before it")),
            false => Ok(at),
        }
    }

    fn change(&mut self, value: f64, id: &str, points: &mut Vec<Point>) -> Result<(), ParseError> {
        let Changes { words, ids, levels, changes, repeated, .. } = self;
        let Some(channels) = ids.get(id) else {
            let what = format!("a value change of '{}', which was not declared", short(id));
            return Err(words.error(what));
        };
        if !self.is_time_known {
            return Err(words.error("the time of this change is unknown"));
        }
        // Values before the first time are the initial ones.
        let at_ps = self.now.unwrap_or(0);
        for &channel in channels {
            if let Some(level) = &mut levels[channel] {
                // A dump begins with all levels, some of them twice.
                if *level == value && !self.is_in_block && self.now != self.start {
                    repeated[channel].note(|| {
                        let what = "a change to the level that the channel had already: a change \
                                    before it may be missing";
                        words.error(what)
                    });
                }
                *level = value;
                changes[channel] += 1;
            }
            points.push(Point { at_ps, channel, value });
        }
        Ok(())
    }

    /// Reads the entry that begins with this word; the error is what was lost.
    fn entry(&mut self, word: &str, points: &mut Vec<Point>) -> Result<(), ParseError> {
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        match first {
            "#" => {
                let time = self.time(rest);
                self.is_time_known = time.is_ok();
                self.now = Some(time?);
                self.start = self.start.or(self.now);
                Ok(())
            }
            "0" | "1" | "x" | "X" | "z" | "Z" | "u" | "U" | "w" | "W" | "-" | "h" | "H" | "l"
            | "L" => self.change(bit(first), rest, points),
            "b" | "B" | "r" | "R" => {
                let value = match first {
                    "b" | "B" => vector(rest),
                    _ => rest.parse::<f64>().ok().filter(|number| !number.is_infinite()),
                };
                let Some(value) = value else {
                    let what = format!("expected a value, found '{}'", short(word));
                    return Err(self.words.error(what));
                };
                let Some(id) = self.words.next()?.map(str::to_string) else {
                    self.cut =
                        Some(self.words.error("the dump is truncated within a value change"));
                    return Ok(());
                };
                match self.words.has_end {
                    true => self.change(value, &id, points),
                    false => Ok(()),
                }
            }
            "s" | "S" => {
                // A string, a GTKWave extension, has no edges.
                self.words.next()?;
                Ok(())
            }
            "$" => match word {
                "$comment" | "$vcdclose" => self.words.skip(),
                "$dumpvars" | "$dumpall" | "$dumpon" | "$dumpoff" => {
                    self.is_in_block = true;
                    Ok(())
                }
                "$end" => {
                    self.is_in_block = false;
                    Ok(())
                }
                _ => Err(self.words.error(format!("an unknown section, '{}'", short(word)))),
            },
            _ => {
                let what = format!("expected a value change or a time, found '{}'", short(word));
                Err(self.words.error(what))
            }
        }
    }
}

impl<R: BufRead> Source for Changes<R> {
    fn read(&mut self, points: &mut Vec<Point>) -> Result<bool, ParseError> {
        self.told = 0;
        while points.len() < AT_ONCE && self.told < AT_ONCE {
            self.told += 1;
            if self.words.next()?.is_none() {
                return Ok(false);
            }
            let word = std::mem::take(&mut self.words.word);
            if self.words.has_end {
                self.read += 1;
                if let Err(error) = self.entry(&word, points) {
                    self.lost.note(|| error);
                }
            }
            if !self.words.has_end {
                let what = "the file ends without a line end, so that its last word may be cut; it \
                            does not count";
                self.cut.get_or_insert_with(|| self.words.error(what));
            }
            self.words.word = word;
        }
        Ok(true)
    }

    fn reached_ps(&self) -> Option<i64> {
        self.now
    }

    fn losses(&self) -> Vec<Loss> {
        let repeated = self.repeated.iter().zip(&self.changes).enumerate();
        let repeated = repeated.filter(|(_, (lost, changes))| is_rare(lost.count(), **changes));
        let repeated = repeated.filter_map(|(channel, (lost, changes))| {
            lost.loss(LossKind::Missing, Some(channel), *changes)
        });
        let lost = self.lost.loss(LossKind::Changes, None, self.read);
        lost.into_iter().chain(repeated).chain(self.cut.clone().map(Loss::missing)).collect()
    }
}

fn bit(word: &str) -> f64 {
    match word {
        "0" | "l" | "L" => 0.0,
        "1" | "h" | "H" => 1.0,
        _ => f64::NAN,
    }
}

/// A binary number; NaN if a bit is unknown.
fn vector(bits: &str) -> Option<f64> {
    if bits.is_empty() {
        return None;
    }
    bits.chars().try_fold(0.0, |value: f64, c| match c {
        '0' => Some(value * 2.0),
        '1' => Some(value * 2.0 + 1.0),
        'x' | 'X' | 'z' | 'Z' | 'u' | 'U' | 'w' | 'W' | '-' => Some(f64::NAN),
        _ => None,
    })
}

/// The beginning of a word, for an error.
fn short(word: &str) -> String {
    word.chars().take(24).collect()
}

/// Words between blanks, with their line numbers.
struct Tokens<R> {
    source: R,
    line: u64,
    word: String,
    /// Whether a blank follows the last word; the last one of a file may be truncated.
    has_end: bool,
}

impl<R: BufRead> Tokens<R> {
    fn error(&self, what: impl Into<String>) -> ParseError {
        ParseError::line(self.line, what)
    }

    fn next(&mut self) -> Result<Option<&str>, ParseError> {
        // Reuses the memory of the last word.
        let mut word = std::mem::take(&mut self.word).into_bytes();
        word.clear();
        self.has_end = false;
        loop {
            let there = self.source.fill_buf()?;
            if there.is_empty() {
                break;
            }
            let blanks = match word.is_empty() {
                true => there.iter().take_while(|byte| byte.is_ascii_whitespace()).count(),
                false => 0,
            };
            self.line += there[..blanks].iter().filter(|byte| **byte == b'\n').count() as u64;
            let end = there[blanks..].iter().position(u8::is_ascii_whitespace);
            let end = end.map_or(there.len(), |end| blanks + end);
            word.extend_from_slice(&there[blanks..end]);
            let is_whole = end < there.len();
            self.source.consume(end);
            if word.len() > LONGEST_WORD {
                return Err(ParseError::line(self.line, "a word is longer than 64 KiB"));
            }
            if is_whole && !word.is_empty() {
                self.has_end = true;
                break;
            }
        }
        if word.is_empty() {
            return Ok(None);
        }
        self.word = String::from_utf8(word)
            .map_err(|_| ParseError::line(self.line, "a word is not text"))?;
        Ok(Some(&self.word))
    }

    /// The words up to `$end`.
    fn until_end(&mut self) -> Result<Vec<String>, ParseError> {
        let mut all = Vec::new();
        let mut bytes = 0;
        loop {
            let Some(word) = self.next()? else {
                return Err(self.error("the dump is truncated: $end is missing"));
            };
            if word == "$end" {
                return Ok(all);
            }
            bytes += word.len();
            let word = word.to_string();
            if bytes > LONGEST_WORD {
                return Err(self.error("a declaration is longer than 64 KiB"));
            }
            all.push(word);
        }
    }

    /// Skips everything up to `$end`.
    fn skip(&mut self) -> Result<(), ParseError> {
        loop {
            match self.next()? {
                Some("$end") => return Ok(()),
                Some(_) => {}
                None => return Err(self.error("the dump is truncated: $end is missing")),
            }
        }
    }
}
