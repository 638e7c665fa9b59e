//! A page of the ring buffer, as `trace_pipe_raw` hands it out: a time, a length, and events each
//! with the time since the one before.

use crate::format::field;

/// Kinds of entries that are no events, in the lowest bits of their first word.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
const KIND_BITS: u32 = 5;
/// Bits of a time that stand in the first word; the rest is in the second.
const DELTA_BITS: u32 = 27;
/// A time stamp holds no more than these bits; the page's own time has the others.
const STAMP_BITS: u32 = DELTA_BITS + 32;
/// Of the word with the length: events were lost before this page …
const LOST: u64 = 1 << 31;
/// … and how many stands behind the last one.
const LOST_IS_STORED: u64 = 1 << 30;
const LENGTH: u64 = (1 << 27) - 1;

/// How a page of this kernel lies, as `events/header_page` says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    length_at: usize,
    length_size: usize,
    data_at: usize,
    /// Bytes of a page.
    pub page: usize,
}

impl Layout {
    /// Reads `events/header_page`; none where it is not as expected.
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

    /// The events of a page; of one that is damaged, those before the damage.
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

/// One event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event<'a> {
    /// When it was written, on the clock of the trace.
    pub at: u64,
    /// What kind it is: the `ID` of its format.
    pub id: u16,
    /// The event; offsets of fields count from here.
    pub data: &'a [u8],
}

/// The events of a page, in their order.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    rest: &'a [u8],
    stamp: u64,
    /// How many events were lost before this page, 0 where nobody knows; none where none was.
    pub lost: Option<u64>,
}

impl<'a> Iterator for Events<'a> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        loop {
            let first = word(self.rest, 0, 4)? as u32;
            let (kind, delta) = (first & ((1 << KIND_BITS) - 1), u64::from(first >> KIND_BITS));
            let second = || word(self.rest, 4, 4);
            // Header and content, and where the content begins.
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
            self.stamp = match kind {
                TIME_STAMP => self.stamp >> STAMP_BITS << STAMP_BITS | long()?,
                TIME_EXTEND => self.stamp.wrapping_add(long()?),
                _ => self.stamp.wrapping_add(delta),
            };
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

    /// A page of these entries; what is lost stands behind them.
    fn page(stamp: u64, entries: &[Vec<u8>], flags: u64, lost: &[u8]) -> Vec<u8> {
        let data = entries.concat();
        let length = data.len() as u64 | flags;
        let mut page = [&stamp.to_le_bytes(), &length.to_le_bytes(), &data[..], lost].concat();
        page.resize(4096, 0xaa);
        page
    }

    fn sample() -> Vec<u8> {
        let long: Vec<u8> =
            [36_u32.to_le_bytes().to_vec(), [vec![7, 0], vec![9; 30]].concat()].concat();
        page(
            1_000,
            &[
                entry(2, 0, &[5, 0, 1, 2, 3, 4, 5, 6]),
                entry(PADDING, 3, &[&8_u32.to_le_bytes()[..], &[0; 4]].concat()),
                entry(TIME_EXTEND, 1, &2_u32.to_le_bytes()),
                entry(0, 10, &long),
                entry(TIME_STAMP, 7, &1_u32.to_le_bytes()),
                entry(1, 1, &[6, 0, 0, 0]),
                entry(PADDING, 0, &[0; 40]),
            ],
            0,
            &[],
        )
    }

    #[test]
    fn every_kind_of_entry_has_its_length_and_its_time() {
        let page = sample();
        let events: Vec<_> = layout().events(&page).map(|e| (e.at, e.id, e.data.len())).collect();
        let extended = 1_003 + (2 << 27) + 1 + 10;
        assert_eq!(events, [(1_000, 5, 8), (extended, 7, 32), ((1 << 27) + 8, 6, 4)]);
        assert_eq!(layout().events(&page).lost, None);
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
        /// Invariant (losses): A cut or damaged trace page gives the events before the damage, and never a panic.
        #[test]
        fn a_cut_or_damaged_page_gives_what_stands_before(cut in 0usize..300, at in 0usize..300, to: u8) {
            let whole = sample();
            let _ = layout().events(&whole[..cut]).count();
            let mut damaged = whole;
            damaged[at] = to;
            prop_assert!(layout().events(&damaged).count() < 4096);
        }

        /// Invariant (losses): A cut or damaged trace page gives the events before the damage, and never a panic.
        #[test]
        fn noise_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            prop_assert!(layout().events(&bytes).count() <= bytes.len());
        }
    }
}
