//! A TrueType font with fewer characters, for the program and again for each picture.
//!
//! Only what outlines need is kept: no hints, no kerning, no ligatures. So a text is exactly as
//! wide as its characters together, in every browser and in a PNG.

use std::collections::{BTreeMap, BTreeSet};

/// The names that a copy of a font has to keep: copyright, family, style, whole name, licence.
const NAMES: [u16; 6] = [0, 1, 2, 4, 6, 13];
/// Flags of a part of a composite glyph: its arguments have two bytes each.
const WORDS: u16 = 1;
/// It has one scale.
const SCALE: u16 = 8;
/// Another part follows.
const MORE: u16 = 0x20;
/// It has two scales.
const TWO_SCALES: u16 = 0x40;
/// It has a matrix of four.
const MATRIX: u16 = 0x80;
/// Hints follow the last part.
const HINTS: u16 = 0x100;

/// A font whose tables are at hand.
pub struct Font<'a> {
    tables: BTreeMap<&'a [u8], &'a [u8]>,
    /// The glyph of each character.
    glyphs: BTreeMap<u16, u16>,
}

impl<'a> Font<'a> {
    /// The font in these bytes; none where they hold no TrueType font.
    pub fn parse(bytes: &'a [u8]) -> Option<Font<'a>> {
        let mut tables = BTreeMap::new();
        for index in 0..usize::from(u16_at(bytes, 4)?) {
            let entry = bytes.get(12 + 16 * index..28 + 16 * index)?;
            let from = u32_at(entry, 8)? as usize;
            let end = from.checked_add(u32_at(entry, 12)? as usize)?;
            tables.insert(&entry[..4], bytes.get(from..end)?);
        }
        let glyphs = characters(tables.get(&b"cmap"[..])?)?;
        Some(Font { tables, glyphs })
    }

    /// How wide a character is, in parts of the font's size; none where the font has it not.
    pub fn advance(&self, character: char) -> Option<f64> {
        let glyph = self.glyphs.get(&u16::try_from(u32::from(character)).ok()?)?;
        let units = u16_at(self.table(b"head"), 18)?;
        Some(f64::from(self.metrics(*glyph).0) / f64::from(units))
    }

    /// The font with these characters only, as far as it has them.
    pub fn subset(&self, characters: impl Iterator<Item = char>) -> Vec<u8> {
        let wanted = characters.filter_map(|c| u16::try_from(u32::from(c)).ok());
        let wanted: BTreeSet<u16> = wanted.filter(|c| self.glyphs.contains_key(c)).collect();
        let glyphs = self.kept(&wanted);
        let (outlines, places) = self.outlines(&glyphs);
        let count = (glyphs.len() as u16).to_be_bytes();
        let metrics = glyphs.iter().flat_map(|glyph| {
            let (advance, bearing) = self.metrics(*glyph);
            [advance, bearing].map(u16::to_be_bytes).concat()
        });
        let nameless = [&[0, 3, 0, 0][..], &[0; 28]].concat();
        font(&[
            (b"OS/2", self.table(b"OS/2").to_vec()),
            (b"cmap", character_map(&wanted)),
            (b"glyf", outlines),
            (b"head", patched(self.table(b"head"), &[(8, &[0; 4]), (50, &[0, 1])])),
            (b"hhea", patched(self.table(b"hhea"), &[(34, &count)])),
            (b"hmtx", metrics.collect()),
            (b"loca", places),
            (b"maxp", patched(self.table(b"maxp"), &[(4, &count)])),
            (b"name", self.names()),
            (b"post", nameless),
        ])
    }

    /// Glyphs to keep, in their new order: that of nothing, those of the characters, and then
    /// those that they are composed of.
    fn kept(&self, characters: &BTreeSet<u16>) -> Vec<u16> {
        let mut kept = vec![0];
        kept.extend(characters.iter().map(|c| self.glyphs[c]));
        let mut next = 0;
        while let Some(&glyph) = kept.get(next) {
            for (at, _) in parts(self.outline(glyph)) {
                let part = u16_at(self.outline(glyph), at).unwrap_or(0);
                if !kept.contains(&part) {
                    kept.push(part);
                }
            }
            next += 1;
        }
        kept
    }

    /// The outlines one after the other, and where each begins.
    fn outlines(&self, kept: &[u16]) -> (Vec<u8>, Vec<u8>) {
        let (mut outlines, mut places) = (Vec::new(), vec![0; 4]);
        for glyph in kept {
            outlines.extend(unhinted(self.outline(*glyph), kept));
            outlines.resize(outlines.len().next_multiple_of(4), 0);
            places.extend((outlines.len() as u32).to_be_bytes());
        }
        (outlines, places)
    }

    fn table(&self, name: &[u8]) -> &'a [u8] {
        self.tables.get(name).copied().unwrap_or_default()
    }

    /// Width and left side bearing; the last width counts for all glyphs behind it.
    fn metrics(&self, glyph: u16) -> (u16, u16) {
        let (table, glyph) = (self.table(b"hmtx"), usize::from(glyph));
        let widths = usize::from(u16_at(self.table(b"hhea"), 34).unwrap_or(1)).max(1);
        let advance = u16_at(table, 4 * glyph.min(widths - 1));
        let bearing = match glyph < widths {
            true => u16_at(table, 4 * glyph + 2),
            false => u16_at(table, 4 * widths + 2 * (glyph - widths)),
        };
        (advance.unwrap_or(0), bearing.unwrap_or(0))
    }

    fn outline(&self, glyph: u16) -> &'a [u8] {
        let (places, glyph) = (self.table(b"loca"), usize::from(glyph));
        let long = u16_at(self.table(b"head"), 50) == Some(1);
        let place = |index: usize| match long {
            true => u32_at(places, 4 * index).map(|place| place as usize),
            false => u16_at(places, 2 * index).map(|half| 2 * usize::from(half)),
        };
        let range = place(glyph).zip(place(glyph + 1));
        range.and_then(|(from, end)| self.table(b"glyf").get(from..end)).unwrap_or_default()
    }

    /// The names that have to be kept, in their short form.
    fn names(&self) -> Vec<u8> {
        let table = self.table(b"name");
        let strings = usize::from(u16_at(table, 4).unwrap_or(0));
        let records = table.get(6..).unwrap_or_default().chunks_exact(12);
        let records = records.take(u16_at(table, 2).unwrap_or(0).into());
        let field = |record: &[u8], index: usize| u16_at(record, 2 * index).unwrap_or(0);
        let short = |record: &&[u8]| field(record, 0) == 1 && NAMES.contains(&field(record, 3));
        let (mut kept, mut text) = (Vec::new(), Vec::new());
        for record in records.filter(short) {
            let from = strings + usize::from(field(record, 5));
            let words = table.get(from..from + usize::from(field(record, 4))).unwrap_or_default();
            kept.extend([&record[..10], &(text.len() as u16).to_be_bytes()].concat());
            text.extend(words);
        }
        let count = (kept.len() / 12) as u16;
        let head = [0, count, 6 + 12 * count].map(u16::to_be_bytes).concat();
        [head, kept, text].concat()
    }
}

/// The glyph of each character of the basic plane, by the table's part of format 4.
fn characters(table: &[u8]) -> Option<BTreeMap<u16, u16>> {
    let mut parts = (0..usize::from(u16_at(table, 2)?)).map(|index| 4 + 8 * index);
    let windows = parts.find(|at| u32_at(table, *at) == Some(0x0003_0001))?;
    let part = table.get(u32_at(table, windows + 4)? as usize..)?;
    if u16_at(part, 0)? != 4 {
        return None;
    }
    let double = usize::from(u16_at(part, 6)?);
    let mut glyphs = BTreeMap::new();
    for at in (0..double).step_by(2) {
        let (last, first) = (u16_at(part, 14 + at)?, u16_at(part, 16 + double + at)?);
        let delta = u16_at(part, 16 + 2 * double + at)?;
        let (place, offset) = (16 + 3 * double + at, u16_at(part, 16 + 3 * double + at)?);
        for character in (first..=last).filter(|character| *character != 0xffff) {
            let listed = place + usize::from(offset) + 2 * usize::from(character - first);
            let glyph = match offset {
                0 => character.wrapping_add(delta),
                _ => u16_at(part, listed).filter(|glyph| *glyph != 0)?.wrapping_add(delta),
            };
            glyphs.insert(character, glyph);
        }
    }
    Some(glyphs)
}

/// A table of format 4 for characters whose glyphs have their order, from 1 on.
fn character_map(characters: &BTreeSet<u16>) -> Vec<u8> {
    let mut runs: Vec<(u16, u16, u16)> = Vec::new();
    for (&character, glyph) in characters.iter().zip(1u16..) {
        match runs.last_mut() {
            Some((_, last, _)) if *last + 1 == character => *last = character,
            _ => runs.push((character, character, glyph.wrapping_sub(character))),
        }
    }
    runs.push((0xffff, 0xffff, 1));
    let count = runs.len() as u16;
    let steps = count.ilog2() as u16;
    let search = 2u16 << steps;
    let length = 16 + 8 * count;
    let mut table = vec![0, 1, 3, 1, 0, 12, 4, length, 0];
    table.extend([2 * count, search, steps, 2 * count - search]);
    table.extend(runs.iter().map(|run| run.1).chain([0]));
    table.extend(runs.iter().map(|run| run.0));
    table.extend(runs.iter().map(|run| run.2));
    table.extend(runs.iter().map(|_| 0));
    table.into_iter().flat_map(u16::to_be_bytes).collect()
}

/// The parts of a composite glyph: where the number of each stands, and where the part ends.
fn parts(outline: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let composite = u16_at(outline, 0).is_some_and(|contours| contours >= 0x8000);
    let mut at = if composite { 10 } else { outline.len() };
    while let Some(flags) = u16_at(outline, at) {
        let scale = match flags {
            flags if flags & SCALE != 0 => 2,
            flags if flags & TWO_SCALES != 0 => 4,
            flags if flags & MATRIX != 0 => 8,
            _ => 0,
        };
        let end = at + 4 + if flags & WORDS != 0 { 4 } else { 2 } + scale;
        found.push((at + 2, end));
        at = if flags & MORE != 0 { end } else { outline.len() };
    }
    found
}

/// An outline without its hints, its parts by their new numbers.
fn unhinted(outline: &[u8], kept: &[u16]) -> Vec<u8> {
    let parts = parts(outline);
    let Some(&(_, end)) = parts.last() else { return simple_unhinted(outline) };
    let mut outline = outline.get(..end).unwrap_or_default().to_vec();
    for (at, _) in parts {
        let number = |old: u16| kept.iter().position(|glyph| *glyph == old).unwrap_or(0) as u16;
        let flags = u16_at(&outline, at - 2).unwrap_or(0) & !HINTS;
        let new = number(u16_at(&outline, at).unwrap_or(0));
        outline[at - 2..at + 2].copy_from_slice(&[flags, new].map(u16::to_be_bytes).concat());
    }
    outline
}

fn simple_unhinted(outline: &[u8]) -> Vec<u8> {
    let contours = usize::from(u16_at(outline, 0).unwrap_or(0));
    let ends = 10 + 2 * contours;
    let hints = usize::from(u16_at(outline, ends).unwrap_or(0));
    match (outline.get(..ends), outline.get(ends + 2 + hints..)) {
        (Some(head), Some(points)) => [head, &[0, 0], points].concat(),
        _ => outline.to_vec(),
    }
}

/// The tables, which come in the order of their names, as a font.
fn font(tables: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
    let count = tables.len() as u16;
    let steps = count.ilog2() as u16;
    let search = 16u16 << steps;
    let mut head = vec![0, 1, 0, 0];
    head.extend([count, search, steps, 16 * count - search].into_iter().flat_map(u16::to_be_bytes));
    let (mut body, mut head_at) = (Vec::new(), None);
    let start = head.len() + 16 * tables.len();
    for (name, table) in tables {
        if *name == b"head" {
            head_at = Some(start + body.len() + 8);
        }
        head.extend(*name);
        let entry = [sum(table), (start + body.len()) as u32, table.len() as u32];
        head.extend(entry.into_iter().flat_map(u32::to_be_bytes));
        body.extend(table);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    let mut font = [head, body].concat();
    let adjustment = 0xb1b0_afba_u32.wrapping_sub(sum(&font)).to_be_bytes();
    if let Some(place) = head_at.and_then(|at| font.get_mut(at..at + 4)) {
        place.copy_from_slice(&adjustment);
    }
    font
}

/// The sum of the words of a table, which is its checksum.
fn sum(bytes: &[u8]) -> u32 {
    let word = |chunk: &[u8]| (0..4).fold(0, |word, i| word << 8 | byte(chunk, i));
    bytes.chunks(4).map(word).fold(0, u32::wrapping_add)
}

fn byte(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at).copied().unwrap_or(0).into()
}

fn patched(table: &[u8], changes: &[(usize, &[u8])]) -> Vec<u8> {
    let mut table = table.to_vec();
    for (at, bytes) in changes {
        if let Some(place) = table.get_mut(*at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }
    table
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at.checked_add(2)?)?;
    bytes.try_into().ok().map(u16::from_be_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    bytes.try_into().ok().map(u32::from_be_bytes)
}
