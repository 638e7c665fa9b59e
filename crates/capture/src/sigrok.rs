//! Sessions of sigrok (`.sr`): an archive with a small text that says what the samples are.

use crate::SECOND_PS;
use crate::capture::LevelCapture;
use crate::capture::{Channel, Head, Kind, Point, Source};
use crate::error::ParseError;
use crate::merge::Merged;
use crate::zip::{Archive, Member, MemberReader, cannot_unpack};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Bytes of a sample that are read at once.
const CHUNK: usize = 1 << 16;
/// Wider samples have no channels that anyone could name.
const WIDEST: usize = 64;
/// Points that are given away at once.
const AT_ONCE: usize = 1 << 14;

/// What the text says of the first device.
struct Session {
    /// By name, as they stand there.
    keys: BTreeMap<String, String>,
    devices: usize,
}

/// Opens a session.
pub fn open(path: &Path) -> Result<LevelCapture, ParseError> {
    let archive = Archive::open(path)?;
    let version = archive.text("version")?.unwrap_or_default();
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
    if session.devices > 1 {
        let more = session.devices - 1;
        head.notes.push(format!("{more} further devices of the session were not read."));
    }
    let mut sources: Vec<(Box<dyn Source>, usize)> = Vec::new();
    if let Some(logic) = session.logic(&archive, clock)? {
        head.channels.extend(logic.1);
        sources.push((Box::new(logic.0), 0));
    }
    for (name, members) in session.analog(&archive) {
        sources.push((Box::new(Analog::new(archive.clone(), members, clock)), head.channels.len()));
        head.channels.push(Channel { name, kind: Kind::Sampled });
    }
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

    /// The logic channels, where there are any: the bit of each is its number.
    fn logic(
        &self,
        archive: &Archive,
        clock: Clock,
    ) -> Result<Option<(Logic, Vec<Channel>)>, ParseError> {
        let Some(file) = self.keys.get("capturefile") else { return Ok(None) };
        if !self.keys.keys().any(|key| key.starts_with("probe")) {
            return Ok(None);
        }
        let members = numbered(archive, file);
        let unit = self.keys.get("unitsize").and_then(|size| size.parse().ok()).unwrap_or(0);
        if !(1..=WIDEST).contains(&unit) {
            return Err(ParseError::member(
                "metadata",
                format!("expected a unitsize of 1 to {WIDEST}"),
            ));
        }
        if members.is_empty() {
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
        channels
            .extend(bits.iter().map(|(_, name)| Channel { name: name.clone(), kind: Kind::Logic }));
        let bits = bits.into_iter().map(|(bit, _)| bit).collect();
        Ok(Some((Logic::new(archive.clone(), members, clock, unit, bits), channels)))
    }

    /// The analog channels with their members.
    fn analog(&self, archive: &Archive) -> Vec<(String, Vec<Member>)> {
        let mut found = Vec::new();
        for (key, name) in &self.keys {
            let number = key.strip_prefix("analog").and_then(|number| number.parse::<u32>().ok());
            if let Some(number) = number {
                found.push((number, name.clone()));
            }
        }
        found.sort();
        let with = |(number, name)| (name, numbered(archive, &format!("analog-1-{number}")));
        found.into_iter().map(with).filter(|(_, members)| !members.is_empty()).collect()
    }
}

/// The member of this name, or those of this name with a number, in the order of the numbers.
fn numbered(archive: &Archive, name: &str) -> Vec<Member> {
    if let Some(one) = archive.member(name) {
        return vec![one.clone()];
    }
    let number = |member: &Member| member.name.strip_prefix(name)?.strip_prefix('-')?.parse().ok();
    let mut all: Vec<(u64, Member)> =
        archive.members.iter().filter_map(|one| Some((number(one)?, one.clone()))).collect();
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, member)| member).collect()
}

/// `24 MHz`, `500000`, `1.5 GHz` as a number.
pub fn hertz(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let unit = text[end..].trim().to_ascii_lowercase();
    let factor = match unit.as_str() {
        "" | "hz" => 1e0,
        "khz" | "k" => 1e3,
        "mhz" | "m" => 1e6,
        "ghz" | "g" => 1e9,
        _ => return None,
    };
    let rate = (text[..end].parse::<f64>().ok()? * factor).round();
    (1.0..=1e12).contains(&rate).then_some(rate as u64)
}

/// The time of a sample by its number.
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

/// Members one after the other as one row of bytes.
struct Chained {
    archive: Archive,
    members: std::vec::IntoIter<Member>,
    now: Option<(String, MemberReader)>,
}

impl Chained {
    fn new(archive: Archive, members: Vec<Member>) -> Chained {
        Chained { archive, members: members.into_iter(), now: None }
    }

    /// As many whole units as there are, up to the length of the buffer.
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

/// Logic samples: a bit of each for each channel.
struct Logic {
    bytes: Chained,
    clock: Clock,
    unit: usize,
    bits: Vec<usize>,
    /// The sample before; none at the start.
    before: Vec<u8>,
    sample: u64,
    buffer: Vec<u8>,
    filled: usize,
    at: usize,
}

impl Logic {
    fn new(
        archive: Archive,
        members: Vec<Member>,
        clock: Clock,
        unit: usize,
        bits: Vec<usize>,
    ) -> Logic {
        let buffer = vec![0; CHUNK / unit * unit];
        let bytes = Chained::new(archive, members);
        Logic { bytes, clock, unit, bits, before: Vec::new(), sample: 0, buffer, filled: 0, at: 0 }
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

    /// How many of the next samples are the same as the one before them.
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
        }
        self.changes(points)?;
        Ok(true)
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
}

impl Analog {
    fn new(archive: Archive, members: Vec<Member>, clock: Clock) -> Analog {
        Analog { bytes: Chained::new(archive, members), clock, sample: 0, buffer: vec![0; CHUNK] }
    }
}

impl Source for Analog {
    fn read(&mut self, points: &mut Vec<Point>) -> Result<bool, ParseError> {
        let filled = self.bytes.fill(&mut self.buffer)?;
        for value in self.buffer[..filled].chunks_exact(4) {
            let value = f32::from_le_bytes([value[0], value[1], value[2], value[3]]);
            let at_ps = self.clock.at(self.sample)?;
            points.push(Point { at_ps, channel: 0, value: value.into() });
            self.sample += 1;
        }
        Ok(filled == self.buffer.len())
    }

    fn reached_ps(&self) -> Option<i64> {
        self.clock.at(self.sample.checked_sub(1)?).ok()
    }
}
