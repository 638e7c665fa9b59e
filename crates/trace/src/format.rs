//! Parses event formats, as `events/*/*/format` of tracefs describes them.

/// The description lacks a part that every description has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseFormatError;

impl std::fmt::Display for ParseFormatError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("expected a tracefs format file with lines 'ID:' and 'field:'")
    }
}

impl std::error::Error for ParseFormatError {}

/// Position of a field in its event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    pub offset: usize,
    pub size: usize,
    pub signed: bool,
}

impl Field {
    /// Its value as an integer; `None` if the event is too short or the field is not an integer. An
    /// address keeps its bits, so a high one comes out negative.
    pub fn read(self, event: &[u8]) -> Option<i64> {
        let bytes = event.get(self.offset..self.offset.checked_add(self.size)?)?;
        let (mut wide, length) = ([0; 8], bytes.len());
        if !matches!(length, 1 | 2 | 4 | 8) {
            return None;
        }
        wide[..length].copy_from_slice(bytes);
        let unused = 64 - 8 * length as u32;
        let value = i64::from_le_bytes(wide) << unused;
        Some(if self.signed { value >> unused } else { ((value as u64) >> unused) as i64 })
    }

    /// Its text: a character array in the event, or one whose position the field holds.
    pub fn text(self, event: &[u8]) -> Option<String> {
        let bytes = match self.size {
            4 => {
                let place = self.read(event)? as u32;
                let (at, length) = ((place & 0xffff) as usize, (place >> 16) as usize);
                event.get(at..at.checked_add(length)?)?
            }
            size => event.get(self.offset..self.offset.checked_add(size)?)?,
        };
        let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or(bytes);
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}

/// One kind of event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Format {
    /// The number with which its events begin.
    pub id: u16,
    fields: Vec<(String, Field)>,
}

impl Format {
    /// Parses a `format` file; its `print fmt` line says nothing about the layout.
    pub fn parse(text: &str) -> Result<Format, ParseFormatError> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:")?.trim().parse().ok());
        let fields: Vec<_> = text.lines().filter_map(field).collect();
        match id {
            Some(id) if !fields.is_empty() => Ok(Format { id, fields }),
            _ => Err(ParseFormatError),
        }
    }

    pub fn field(&self, name: &str) -> Option<Field> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, field)| *field)
    }
}

/// Reads `field:TYPE NAME;  offset:N;  size:N;  signed:N;`, the last of which may be missing.
pub(crate) fn field(line: &str) -> Option<(String, Field)> {
    let mut parts = line.trim().strip_prefix("field:")?.split(';').map(str::trim);
    let declared = parts.next()?;
    // `__data_loc char[] name` gives the position of a text; `char name[16]` is one.
    let declared = declared.split_once("[] ").map_or(declared, |(_, name)| name);
    let declared = declared.split('[').next()?;
    let name = declared.rsplit([' ', '*']).next().filter(|name| !name.is_empty())?;
    let (mut offset, mut size, mut signed) = (None, None, false);
    for part in parts {
        match part.split_once(':') {
            Some(("offset", value)) => offset = value.parse().ok(),
            Some(("size", value)) => size = value.parse().ok(),
            Some(("signed", value)) => signed = value == "1",
            _ => {}
        }
    }
    Some((name.to_string(), Field { offset: offset?, size: size?, signed }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HRTIMER_START: &str = "\
name: hrtimer_start
ID: 460
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:void * hrtimer;\toffset:8;\tsize:8;\tsigned:0;
\tfield:s64 softexpires;\toffset:32;\tsize:8;\tsigned:1;
\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;
\tfield:__data_loc char[] name;\toffset:56;\tsize:4;\tsigned:0;

print fmt: \"hrtimer=%p\", REC->hrtimer
";

    #[test]
    fn fields_are_found_by_their_names() {
        let format = Format::parse(HRTIMER_START).unwrap();
        assert_eq!(format.id, 460);
        let known = format.field("softexpires").unwrap();
        assert_eq!(known, Field { offset: 32, size: 8, signed: true });
        assert_eq!(format.field("hrtimer").unwrap().offset, 8);
        assert_eq!(format.field("next_comm").unwrap().size, 16);
        assert_eq!(format.field("expires"), None);
        assert_eq!(Format::parse("name: x\n"), Err(ParseFormatError));
    }

    #[test]
    fn texts_are_arrays_or_lie_where_their_field_says() {
        let format = Format::parse(HRTIMER_START).unwrap();
        let mut event = [0; 70];
        event[40..45].copy_from_slice(b"bash\0");
        event[56..60].copy_from_slice(&(60_u32 | 5 << 16).to_le_bytes());
        event[60..65].copy_from_slice(b"eth0\0");
        let text = |name, event: &[u8]| format.field(name).unwrap().text(event);
        assert_eq!(text("next_comm", &event).as_deref(), Some("bash"));
        assert_eq!(text("name", &event).as_deref(), Some("eth0"));
        assert_eq!((text("name", &event[..64]), text("next_comm", &event[..50])), (None, None));
    }

    #[test]
    fn integers_of_every_width_come_with_their_sign() {
        let event = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        let read = |offset, size, signed| Field { offset, size, signed }.read(&event);
        assert_eq!((read(0, 1, true), read(0, 2, false)), (Some(-2), Some(0xfffe)));
        assert_eq!((read(0, 4, true), read(0, 8, false)), (Some(-2), Some(-2)));
        assert_eq!((read(8, 1, true), read(8, 4, true)), (Some(1), None));
        assert_eq!((read(0, 16, false), read(usize::MAX, 4, false)), (None, None));
    }

    proptest! {
        #[test]
        fn no_text_crashes_it(text in "[\\x00-\\x7f]{0,200}", cut in 0usize..400) {
            let _ = Format::parse(&text);
            let cut = cut.min(HRTIMER_START.len());
            let _ = Format::parse(&HRTIMER_START[..cut]);
        }
    }
}
