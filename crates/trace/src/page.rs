//! A page of the ring buffer, as `trace_pipe_raw` delivers it: a time, a length, and events each
//! with the time since the previous one.

use crate::format::field;

/// Entry types that are not events, in the lowest bits of the first word.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
const KIND_BITS: u32 = 5;
/// Bits of a time in the first word; the rest is in the second.
const DELTA_BITS: u32 = 27;
/// A time stamp holds only these bits; the page's time has the others.
const STAMP_BITS: u32 = DELTA_BITS + 32;
/// Flag in the length word: events were lost before this page …
const LOST: u64 = 1 << 31;
/// … and their number follows the last event.
const LOST_IS_STORED: u64 = 1 << 30;
const LENGTH: u64 = (1 << 27) - 1;

/// The page layout of this kernel, from `events/header_page`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    length_at: usize,
    length_size: usize,
    data_at: usize,
    /// Size of a page in bytes.
    pub page: usize,
}

impl Layout {
    /// Parses `events/header_page`; `None` if it is not as expected.
    pub fn parse(text: &str) -> Option<Layout> {
        let find = |name: &str| {
            text.lines().filter_map(field).find(|(known, _)| known == name).map(|(_, field)| field)
        };
        let (length, data) = (find("commit")?, find("data")?);
        let sound = matches!(length.size, 4 | 8) && length.offset >= 8 && data.size <= 1 << 24;
        let layout = Layout {
            length_at: length.offset,
            length_size: length.size,
            data_at: data.offset,
            page: data.offset.checked_add(data.size)?,
        };
        (sound && length.offset + length.size <= data.offset).then_some(layout)
    }

    /// Start time of a page on the clock of the trace; `None` if it is not a page.
    pub fn begin(&self, page: &[u8]) -> Option<u64> {
        word(page, 0, 8)
    }

    /// Bytes in use of a page, including the count of lost events at the end.
    pub fn filled(&self, page: &[u8]) -> usize {
        let length = word(page, self.length_at, self.length_size).unwrap_or(0);
        let lost = if length & LOST_IS_STORED != 0 { self.length_size } else { 0 };
        (self.data_at + (length & LENGTH) as usize + lost).min(page.len())
    }

    /// The events of a page; of a damaged one, those before the damage.
    pub fn events<'a>(&self, page: &'a [u8]) -> Events<'a> {
        let none = Events { rest: &[], stamp: 0, lost: None };
        let Some(stamp) = word(page, 0, 8) else { return none };
        let Some(length) = word(page, self.length_at, self.length_size) else { return none };
        let data = page.get(self.data_at..).unwrap_or(&[]);
        let used = (length & LENGTH) as usize;
        let lost = (length & LOST != 0).then(|| match length & LOST_IS_STORED != 0 {
            true => word(data, used, self.length_size).unwrap_or(0),
            false => 0,
        });
        Events { rest: data.get(..used).unwrap_or(data), stamp, lost }
    }
}

fn word(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let mut wide = [0; 8];
    wide.get_mut(..size)?.copy_from_slice(bytes.get(at..at.checked_add(size)?)?);
    Some(u64::from_le_bytes(wide))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event<'a> {
    /// When it was written, on the clock of the trace.
    pub at: u64,
    /// Its kind: the `ID` of its format.
    pub id: u16,
    /// The event; field offsets count from here.
    pub data: &'a [u8],
}

/// The events of a page, in order.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    rest: &'a [u8],
    stamp: u64,
    /// Number of events lost before this page, 0 if unknown; `None` if there was no loss.
    pub lost: Option<u64>,
}

impl<'a> Iterator for Events<'a> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        loop {
            let first = word(self.rest, 0, 4)? as u32;
            let (kind, delta) = (first & ((1 << KIND_BITS) - 1), u64::from(first >> KIND_BITS));
            let second = || word(self.rest, 4, 4);
            // Length of header and content, and where the content begins.
            let (length, from) = match kind {
                PADDING if delta == 0 => return self.end(),
                0 | PADDING => (4_u64.checked_add(second()?)?, 8),
                TIME_EXTEND | TIME_STAMP => (8, 8),
                words => (4 + 4 * u64::from(words), 4),
            };
            let length = length as usize;
            let Some(entry) = self.rest.get(..length).filter(|_| length >= from) else {
                return self.end();
            };
            let long = || Some(second()? << DELTA_BITS | delta);
            let stamp = match kind {
                TIME_STAMP => self.whole_stamp(long()?),
                TIME_EXTEND => self.stamp.checked_add(long()?),
                _ => self.stamp.checked_add(delta),
            };
            let Some(stamp) = stamp else { return self.end() };
            self.stamp = stamp;
            self.rest = &self.rest[length..];
            if kind < PADDING {
                let data = &entry[from..];
                let Some(id) = word(data, 0, 2) else { continue };
                return Some(Event { at: self.stamp, id: id as u16, data });
            }
        }
    }
}

impl<'a> Events<'a> {
    /// Completes a time stamp with the missing high bits: those of the previous time or one more,
    /// as time never goes back in a page.
    fn whole_stamp(&self, low: u64) -> Option<u64> {
        let stamp = self.stamp >> STAMP_BITS << STAMP_BITS | low;
        if stamp >= self.stamp { Some(stamp) } else { stamp.checked_add(1 << STAMP_BITS) }
    }

    fn end(&mut self) -> Option<Event<'a>> {
        self.rest = &[];
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADER: &str = "\
\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;
";

    fn layout() -> Layout {
        Layout::parse(HEADER).unwrap()
    }

    fn entry(kind: u32, delta: u32, rest: &[u8]) -> Vec<u8> {
        [&(kind | delta << KIND_BITS).to_le_bytes(), rest].concat()
    }

    /// A page of these entries; the lost count follows them.
    fn page(stamp: u64, entries: &[Vec<u8>], flags: u64, lost: &[u8]) -> Vec<u8> {
        let data = entries.concat();
        let length = data.len() as u64 | flags;
        let mut page = [&stamp.to_le_bytes(), &length.to_le_bytes(), &data[..], lost].concat();
        page.resize(4096, 0xaa);
        page
    }

    /// Time, kind and length of an event.
    type Known = (u64, u16, usize);

    /// Entries of every kind, each with the event that it encodes.
    fn entries() -> Vec<(Vec<u8>, Option<Known>)> {
        let long: Vec<u8> =
            [36_u32.to_le_bytes().to_vec(), [vec![7, 0], vec![9; 30]].concat()].concat();
        let extended = 1_003 + (2 << 27) + 1 + 10;
        let stamped = (3 << 27) + 7;
        vec![
            (entry(2, 0, &[5, 0, 1, 2, 3, 4, 5, 6]), Some((1_000, 5, 8))),
            (entry(PADDING, 3, &[&8_u32.to_le_bytes()[..], &[0; 4]].concat()), None),
            (entry(TIME_EXTEND, 1, &2_u32.to_le_bytes()), None),
            (entry(0, 10, &long), Some((extended, 7, 32))),
            (entry(TIME_STAMP, 7, &3_u32.to_le_bytes()), None),
            (entry(1, 1, &[6, 0, 0, 0]), Some((stamped + 1, 6, 4))),
            (entry(1, 0, &[6, 0, 0, 0]), Some((stamped + 1, 6, 4))),
            (entry(PADDING, 0, &[0; 40]), None),
        ]
    }

    fn sample() -> Vec<u8> {
        let entries: Vec<Vec<u8>> = entries().into_iter().map(|(bytes, _)| bytes).collect();
        page(1_000, &entries, 0, &[])
    }

    /// The events whose entries end within this many bytes of the page.
    fn events_within(bytes: usize) -> Vec<Known> {
        let ends = entries().into_iter().scan(16, |end, (bytes, event)| {
            *end += bytes.len();
            Some((*end, event))
        });
        ends.take_while(|(end, _)| *end <= bytes).filter_map(|(_, event)| event).collect()
    }

    fn read(page: &[u8]) -> Vec<Known> {
        layout().events(page).map(|e| (e.at, e.id, e.data.len())).collect()
    }

    /// Checks what holds for any bytes: times do not decrease, and all events follow one another
    /// within the bytes in use.
    fn expect_sound(page: &[u8]) -> Result<(), TestCaseError> {
        let filled = word(page, 8, 8).map_or(0, |length| (length & LENGTH) as usize);
        let end = page.len().min(16 + filled);
        let (mut at, mut before) = (0, 16);
        for event in layout().events(page) {
            let from = event.data.as_ptr() as usize - page.as_ptr() as usize;
            prop_assert!(event.at >= at, "{} comes after {at}", event.at);
            prop_assert!(from >= before + 4 && from + event.data.len() <= end);
            prop_assert!(event.data.len() >= 2 && word(event.data, 0, 2) == Some(event.id.into()));
            (at, before) = (event.at, from + event.data.len());
        }
        Ok(())
    }

    #[test]
    fn every_kind_of_entry_has_its_length_and_its_time() {
        assert_eq!(read(&sample()), events_within(4096));
        assert_eq!(events_within(4096).len(), 4);
        assert_eq!(layout().events(&sample()).lost, None);
    }

    #[test]
    fn a_time_stamp_has_the_upper_bits_of_the_page() {
        let high = 5 << STAMP_BITS;
        let of = |stamp: u64, low: u32| {
            let stamped = [entry(TIME_STAMP, low, &[0; 4]), entry(1, 0, &[6, 0, 0, 0])];
            read(&page(stamp, &stamped, 0, &[]))[0].0
        };
        assert_eq!(of(high + 6, 9), high + 9);
        assert_eq!(of(high + 12, 9), (6 << STAMP_BITS) + 9, "it began anew since");
    }

    #[test]
    fn what_was_lost_is_told() {
        let one = [entry(1, 5, &[6, 0, 0, 0])];
        let of = |flags, lost: &[u8]| layout().events(&page(9, &one, flags, lost)).lost;
        assert_eq!(of(LOST | LOST_IS_STORED, &77_u64.to_le_bytes()), Some(77));
        assert_eq!((of(LOST, &[]), of(0, &[])), (Some(0), None));
    }

    #[test]
    fn a_page_of_32_bits_has_a_shorter_header() {
        let header = HEADER.replace("offset:8;\tsize:8", "offset:8;\tsize:4");
        let layout =
            Layout::parse(&header.replace("offset:16;\tsize:4080", "offset:12;\tsize:4084"));
        assert_eq!(layout.unwrap().page, 4096);
        assert_eq!(Layout::parse("field: u64 timestamp; offset:0; size:8;"), None);
    }

    proptest! {
        /// Invariant (losses): A cut or damaged trace page gives the events before the damage, in order of time, and no more than its header can carry.
        #[test]
        fn a_cut_page_gives_what_stands_before_the_cut(cut in 0usize..300) {
            prop_assert_eq!(read(&sample()[..cut]), events_within(cut));
        }

        /// Invariant (losses): A cut or damaged trace page gives the events before the damage, in order of time, and no more than its header can carry.
        #[test]
        fn a_damaged_page_gives_what_stands_before_the_damage(at in 16usize..300, to: u8) {
            let mut damaged = sample();
            damaged[at] = to;
            let before = events_within(at);
            prop_assert_eq!(&read(&damaged)[..before.len()], &before[..]);
            expect_sound(&damaged)?;
        }

        #[test]
        fn a_damaged_header_makes_nothing_up(at in 0usize..16, to: u8) {
            let mut damaged = sample();
            damaged[at] = to;
            expect_sound(&damaged)?;
        }

        /// Invariant (losses): A cut or damaged trace page gives the events before the damage, in order of time, and no more than its header can carry.
        #[test]
        fn noise_gives_no_more_than_its_header_can_carry(
            bytes in proptest::collection::vec(any::<u8>(), 0..600), filled in 0u64..700,
        ) {
            expect_sound(&bytes)?;
            let mut with_length = bytes;
            if let Some(length) = with_length.get_mut(8..16) {
                length.copy_from_slice(&filled.to_le_bytes());
            }
            expect_sound(&with_length)?;
        }
    }
}
