//! Sessions of sigrok (`.sr`): an archive with a small text that describes the samples.

use crate::SECOND_PS;
use crate::capture::LevelCapture;
use crate::capture::{Channel, Head, Kind, Point, Source};
use crate::error::ParseError;
use crate::losses::Loss;
use crate::merge::{Merged, Part};
use crate::stretches::{InTurn, Stretches};
use crate::zip::{Archive, Member, MemberReader, cannot_unpack};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Bytes of samples read per call.
const CHUNK: usize = 1 << 16;
/// Bytes of an analog sample.
const FLOAT: usize = 4;
/// A wider sample would have more channels than can be named.
const WIDEST: usize = 64;
/// Points returned per call.
const AT_ONCE: usize = 1 << 14;

/// The description of the first device.
struct Session {
    /// By name, as written.
    keys: BTreeMap<String, String>,
    devices: usize,
}

/// Opens a session.
pub fn open(path: &Path) -> Result<LevelCapture, ParseError> {
    let archive = Archive::open(path)?;
    let version = archive.text("version")?.unwrap_or_default();
    if archive.member("version").is_none() {
        return Err(ParseError::whole(
            "the ZIP archive is no sigrok session: unpack it, and give the files in it",
        ));
    }
    if !matches!(version.trim(), "1" | "2") {
        let version = version.trim().chars().take(8).collect::<String>();
        let what = format!("expected version 1 or 2 of a sigrok session, found '{version}'");
        return Err(ParseError::member("version", what));
    }
    let text = archive.text("metadata")?;
    let session = Session::read(&text.ok_or_else(|| ParseError::whole("no metadata"))?);
    let clock = Clock::new(session.samplerate()?);
    let mut head =
        Head { format: "sigrok session", resolution_ps: Some(clock.at(1)?), ..Head::default() };
    head.is_sample_time = true;
    if session.devices > 1 {
        let more = session.devices - 1;
        head.notes.push(format!("{more} further devices of the session were not read."));
    }
    let mut sources = Vec::new();
    let step_ps = head.resolution_ps;
    if let Some((logic, channels, missing)) = session.logic(&archive, clock)? {
        head.missing_chunks.extend(missing);
        let source = Box::new(InTurn::new(logic, channels.len()));
        let name = Some("the logic channels".to_string());
        sources.push(Part { source, first_channel: 0, name, step_ps });
        head.channels.extend(channels);
    }
    for (name, stretches) in session.analog(&archive)? {
        head.missing_chunks.extend(stretches.missing);
        let parts = stretches.all.into_iter().map(|(members, first)| {
            Analog::new(archive.clone(), members, clock, first / FLOAT as u64)
        });
        let source = Box::new(InTurn::new(parts.collect(), 1));
        let first_channel = head.channels.len();
        sources.push(Part { source, first_channel, name: Some(name.clone()), step_ps });
        head.channels.push(Channel::new(name, Kind::Sampled));
    }
    head.losses.extend(session.unknown_member(&archive, &head).map(Loss::missing));
    if sources.is_empty() {
        return Err(ParseError::whole("the session has no samples"));
    }
    Ok(LevelCapture { head, source: Box::new(Merged::new(sources)) })
}

impl Session {
    fn read(text: &str) -> Session {
        let (mut keys, mut devices) = (BTreeMap::new(), 0);
        for line in text.lines().map(str::trim) {
            if line.starts_with("[device") {
                devices += 1;
            } else if let (1, Some((key, value))) = (devices, line.split_once('=')) {
                keys.insert(key.trim().to_string(), value.trim().to_string());
            }
        }
        Session { keys, devices }
    }

    fn samplerate(&self) -> Result<u64, ParseError> {
        let text = self.keys.get("samplerate").ok_or_else(|| {
            ParseError::member(
                "metadata",
                "the session has no samplerate, so there are no times: add a line such as \
                 'samplerate = 24 MHz' to its device",
            )
        })?;
        hertz(text).ok_or_else(|| {
            ParseError::member(
                "metadata",
                format!("expected a samplerate like 24 MHz, found '{text}'"),
            )
        })
    }

    /// The logic channels, if any: the bit of each is its number.
    fn logic(&self, archive: &Archive, clock: Clock) -> Result<Option<LogicParts>, ParseError> {
        let Some(file) = self.keys.get("capturefile") else { return Ok(None) };
        if !self.keys.keys().any(|key| key.starts_with("probe")) {
            return Ok(None);
        }
        let stretches = Stretches::find(archive, file)?;
        let unit = self.keys.get("unitsize").and_then(|size| size.parse().ok()).unwrap_or(0);
        if !(1..=WIDEST).contains(&unit) {
            return Err(ParseError::member(
                "metadata",
                format!("expected a unitsize of 1 to {WIDEST}"),
            ));
        }
        if stretches.all.is_empty() {
            return Err(ParseError::member(file, "the samples are missing"));
        }
        let mut bits = Vec::new();
        let mut channels = Vec::new();
        for (key, name) in &self.keys {
            let number = key.strip_prefix("probe").and_then(|number| number.parse::<usize>().ok());
            if let Some(bit) = number.filter(|number| (1..=unit * 8).contains(number)) {
                bits.push((bit - 1, name.clone()));
            }
        }
        bits.sort();
        channels.extend(bits.iter().map(|(_, name)| Channel::new(name, Kind::Logic)));
        let bits: Vec<usize> = bits.into_iter().map(|(bit, _)| bit).collect();
        let parts = stretches.all.into_iter().map(|(members, first)| {
            Logic::new(archive.clone(), members, clock, unit, bits.clone(), first / unit as u64)
        });
        Ok(Some((parts.collect(), channels, stretches.missing)))
    }

    /// A member that belongs to no channel, whose name may be damaged.
    fn unknown_member(&self, archive: &Archive, head: &Head) -> Option<ParseError> {
        let logic = self.keys.get("capturefile").map(String::as_str);
        let analog = self.keys.keys().filter_map(|key| key.strip_prefix("analog"));
        let analog = analog.map(|number| format!("analog-1-{number}"));
        let known: Vec<String> = analog.chain(logic.map(str::to_string)).collect();
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_known = |name: &str| {
            let of_channel = |known: &String| {
                let rest = name.strip_prefix(&known[..]);
                rest.is_some_and(|rest| {
                    rest.is_empty() || rest.strip_prefix('-').is_some_and(is_number)
                })
            };
            matches!(name, "version" | "metadata") || known.iter().any(of_channel)
        };
        // Those of further devices are already reported.
        let mut members = archive.members.iter().filter(|_| head.notes.is_empty());
        let unknown = members.find(|member| !is_known(&member.name))?;
        Some(ParseError::member(&unknown.name, "a part of the session that belongs to no channel"))
    }

    /// The analog channels with their members.
    fn analog(&self, archive: &Archive) -> Result<Vec<(String, Stretches)>, ParseError> {
        let mut found = Vec::new();
        for (key, name) in &self.keys {
            let number = key.strip_prefix("analog").and_then(|number| number.parse::<u32>().ok());
            if let Some(number) = number {
                found.push((number, name.clone()));
            }
        }
        found.sort();
        let mut with_samples = Vec::new();
        for (number, name) in found {
            let stretches = Stretches::find(archive, &format!("analog-1-{number}"))?;
            if !stretches.all.is_empty() {
                with_samples.push((name, stretches));
            }
        }
        Ok(with_samples)
    }
}

/// The stretches of the logic channels, these channels, and what is missing.
type LogicParts = (Vec<Logic>, Vec<Channel>, Vec<String>);

/// `24 MHz`, `500000`, `1.5 GHz`, `100 MSa/s`, `1e6 Hz` as a number.
pub fn hertz(text: &str) -> Option<u64> {
    let text = text.trim();
    let is_of_number = |at: usize, byte: u8| {
        let before = at.checked_sub(1).map_or(b' ', |before| text.as_bytes()[before]);
        let follows =
            text.as_bytes().get(at + 1).is_some_and(|next| b"+-0123456789".contains(next));
        match byte {
            b'e' | b'E' => before.is_ascii_digit() && follows,
            b'+' | b'-' => at == 0 || before.eq_ignore_ascii_case(&b'e'),
            _ => byte.is_ascii_digit() || byte == b'.',
        }
    };
    let end = text.bytes().enumerate().position(|(at, byte)| !is_of_number(at, byte));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = unit.trim().to_ascii_lowercase();
    let per_second = ["samples/s", "sa/s", "sps", "s/s", "hz"];
    let prefix = per_second.iter().find_map(|end| unit.strip_suffix(end)).unwrap_or(&unit);
    let factor = match prefix {
        "" => 1e0,
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        _ => return None,
    };
    let rate = (number.parse::<f64>().ok()? * factor).round();
    (1.0..=1e12).contains(&rate).then_some(rate as u64)
}

/// Converts sample numbers to times.
#[derive(Clone, Copy)]
pub struct Clock {
    hertz: i128,
}

impl Clock {
    pub fn new(hertz: u64) -> Clock {
        Clock { hertz: i128::from(hertz.max(1)) }
    }

    pub fn at(self, sample: u64) -> Result<i64, ParseError> {
        let at = (i128::from(sample) * i128::from(SECOND_PS) + self.hertz / 2) / self.hertz;
        i64::try_from(at).map_err(|_| ParseError::whole("the capture is longer than 106 days"))
    }
}

/// Consecutive members as one stream of bytes.
struct Chained {
    archive: Archive,
    members: std::vec::IntoIter<Member>,
    now: Option<(String, MemberReader)>,
}

impl Chained {
    fn new(archive: Archive, members: Vec<Member>) -> Chained {
        Chained { archive, members: members.into_iter(), now: None }
    }

    /// Reads whole units up to the length of the buffer.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, ParseError> {
        let mut filled = 0;
        while filled < buffer.len() {
            let Some((name, reader)) = &mut self.now else {
                let Some(next) = self.members.next() else { break };
                let reader = self.archive.reader(&next)?;
                self.now = Some((next.name, reader));
                continue;
            };
            match reader.read(&mut buffer[filled..]).map_err(|error| cannot_unpack(name, &error))? {
                0 => self.now = None,
                more => filled += more,
            }
        }
        Ok(filled)
    }
}

/// Reports a member that ends within a sample.
fn cut_sample(is_cut: bool) -> Option<Loss> {
    let error = || ParseError::whole("the samples end within one of them");
    is_cut.then(|| Loss::missing(error()))
}

/// Logic samples: one bit per channel.
struct Logic {
    bytes: Chained,
    clock: Clock,
    unit: usize,
    bits: Vec<usize>,
    /// The previous sample; empty at the start.
    before: Vec<u8>,
    sample: u64,
    buffer: Vec<u8>,
    filled: usize,
    at: usize,
    /// The last sample is truncated.
    is_cut: bool,
}

impl Logic {
    fn new(
        archive: Archive,
        members: Vec<Member>,
        clock: Clock,
        unit: usize,
        bits: Vec<usize>,
        sample: u64,
    ) -> Logic {
        let buffer = vec![0; CHUNK / unit * unit];
        let bytes = Chained::new(archive, members);
        let before = Vec::new();
        Logic { bytes, clock, unit, bits, before, sample, buffer, filled: 0, at: 0, is_cut: false }
    }

    fn changes(&mut self, points: &mut Vec<Point>) -> Result<(), ParseError> {
        let unit = self.unit;
        while points.len() < AT_ONCE {
            let alike = self.alike();
            self.sample += alike as u64;
            self.at += alike * unit;
            let Some(word) = self.buffer[..self.filled].get(self.at..self.at + unit) else { break };
            let at_ps = self.clock.at(self.sample)?;
            for (channel, &bit) in self.bits.iter().enumerate() {
                let level = |word: &[u8]| word[bit / 8] >> (bit % 8) & 1;
                let now = level(word);
                if self.before.is_empty() || level(&self.before) != now {
                    points.push(Point { at_ps, channel, value: now.into() });
                }
            }
            self.before.clear();
            self.before.extend_from_slice(word);
        }
        Ok(())
    }

    /// Number of following samples that equal the previous one.
    fn alike(&self) -> usize {
        let (rest, before) = (&self.buffer[self.at..self.filled], &self.before[..]);
        match before {
            [] => 0,
            [byte] => rest.iter().take_while(|next| *next == byte).count(),
            _ => rest.chunks_exact(self.unit).take_while(|next| *next == before).count(),
        }
    }
}

impl Source for Logic {
    fn read(&mut self, points: &mut Vec<Point>) -> Result<bool, ParseError> {
        if self.at + self.unit > self.filled {
            self.filled = self.bytes.fill(&mut self.buffer)?;
            self.at = 0;
            if self.filled == 0 {
                return Ok(false);
            }
            self.is_cut = !self.filled.is_multiple_of(self.unit);
        }
        self.changes(points)?;
        Ok(true)
    }

    fn losses(&self) -> Vec<Loss> {
        cut_sample(self.is_cut).into_iter().collect()
    }

    fn reached_ps(&self) -> Option<i64> {
        self.clock.at(self.sample.checked_sub(1)?).ok()
    }
}

/// Samples of one analog channel, 32-bit floats.
struct Analog {
    bytes: Chained,
    clock: Clock,
    sample: u64,
    buffer: Vec<u8>,
    /// The last sample is truncated.
    is_cut: bool,
}

impl Analog {
    fn new(archive: Archive, members: Vec<Member>, clock: Clock, sample: u64) -> Analog {
        let bytes = Chained::new(archive, members);
        Analog { bytes, clock, sample, buffer: vec![0; CHUNK], is_cut: false }
    }
}

impl Source for Analog {
    fn read(&mut self, points: &mut Vec<Point>) -> Result<bool, ParseError> {
        let filled = self.bytes.fill(&mut self.buffer)?;
        for value in self.buffer[..filled].chunks_exact(FLOAT) {
            let value = f32::from_le_bytes([value[0], value[1], value[2], value[3]]);
            let at_ps = self.clock.at(self.sample)?;
            points.push(Point { at_ps, channel: 0, value: value.into() });
            self.sample += 1;
        }
        self.is_cut = filled % FLOAT != 0;
        Ok(filled == self.buffer.len())
    }

    fn losses(&self) -> Vec<Loss> {
        cut_sample(self.is_cut).into_iter().collect()
    }

    fn reached_ps(&self) -> Option<i64> {
        self.clock.at(self.sample.checked_sub(1)?).ok()
    }
}
