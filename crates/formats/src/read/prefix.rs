//! Strips what logs put before each line: times, names, levels and quote marks, in any form shared
//! by the lines of a file. The formats never see it.

use std::borrow::Cow;

/// Most parts of a prefix.
const MOST_PARTS: usize = 6;
/// Least share of the non-empty lines that must have the prefix: the others are what the terminal
/// showed before the log began and after it ended.
const LEAST_SHARE: (usize, usize) = (1, 2);

/// The months, as C prints them.
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const ZONES: [&str; 12] =
    ["UTC", "GMT", "CET", "CEST", "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT"];
const LEVELS: [&str; 7] = ["TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR"];

/// A part of a prefix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    /// `2024-05-01`, also with the time after a `T`.
    Date,
    /// `12:00:00.123`.
    Clock,
    /// `May 01 12:00:00`, also with weekday and year; also the prefixes of RFC 5424 and Android.
    Syslog,
    /// `1714564800.123456` or `12.345678`.
    Seconds,
    /// `[   12.345678]`, `[2024-05-01T12:00:00Z]`, `[pod/name]`.
    Brackets,
    /// `<6>`, the kernel's log levels.
    KernelLevel,
    /// `INFO`, `INFO:` or `- INFO -`.
    Level,
    /// `stdout F` of containers, `01O` of GitLab.
    Stream,
    /// `name[88]:`, also after a host name.
    Service,
    /// `name |`.
    Column,
    /// `>` or `|` of a quoted text.
    Quote,
    /// `# ` before every line, as in TAP.
    Comment,
    /// A line number and a tab or a colon.
    Number,
}

/// The form of what precedes each line.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Prefix {
    parts: Vec<Part>,
}

impl Prefix {
    /// Possible prefixes of the lines of a head, shortest first; the first is the empty prefix.
    pub fn candidates(head: &[u8]) -> Vec<Prefix> {
        let lines: Vec<Vec<(Part, usize)>> = head
            .split(|byte| *byte == b'\n')
            .map(without_escapes)
            .filter(|line| !line.trim_ascii().is_empty())
            .map(|line| parts(&line))
            .collect();
        let least = (lines.len() * LEAST_SHARE.0).div_ceil(LEAST_SHARE.1).max(1);
        let mut found = vec![Prefix::default()];
        for depth in 0..MOST_PARTS {
            let parts = &found[depth].parts;
            let matching = || lines.iter().filter(|line| has(line, parts));
            let of = |part: Part| matching().filter(|line| is_at(line, depth, part)).count();
            let mut next: Vec<(usize, Part)> = Vec::new();
            for line in matching() {
                if let Some((part, _)) = line.get(depth)
                    && !next.iter().any(|known| known.1 == *part)
                {
                    next.push((of(*part), *part));
                }
            }
            let most = next.into_iter().max_by_key(|one| one.0);
            let Some((_, part)) = most.filter(|(count, part)| match part {
                // If only some lines begin with it, it is data: the footer of cyclictest.
                Part::Comment => *count == lines.len(),
                _ => *count >= least,
            }) else {
                break;
            };
            let mut parts = parts.clone();
            parts.push(part);
            found.push(Prefix { parts });
        }
        found
    }

    /// Whether there is nothing to strip.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The text after the prefix; the whole line if it has a different one.
    pub fn strip<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        let mut end = 0;
        let mut is_comment = true;
        for part in &self.parts {
            match part_at(&line[end..], is_comment) {
                Some((found, length)) if found == *part => end += length,
                _ => return line,
            }
            is_comment &= *part == Part::Comment;
        }
        &line[end..]
    }

    /// The head of a file as the formats see it.
    pub fn strip_all(&self, head: &[u8]) -> Vec<u8> {
        let mut stripped = Vec::with_capacity(head.len());
        for line in head.split_inclusive(|byte| *byte == b'\n') {
            stripped.extend_from_slice(self.strip(&without_escapes(line)));
        }
        stripped
    }
}

fn has(line: &[(Part, usize)], parts: &[Part]) -> bool {
    line.len() >= parts.len() && parts.iter().zip(line).all(|(part, one)| *part == one.0)
}

fn is_at(line: &[(Part, usize)], depth: usize, part: Part) -> bool {
    line.get(depth).is_some_and(|one| one.0 == part)
}

/// The parts at the start of a line, and the end of each.
fn parts(line: &[u8]) -> Vec<(Part, usize)> {
    let mut found = Vec::new();
    let mut end = 0;
    while found.len() < MOST_PARTS {
        let is_comment = found.iter().all(|one: &(Part, usize)| one.0 == Part::Comment);
        let Some((part, length)) = part_at(&line[end..], is_comment) else { break };
        end += length;
        found.push((part, end));
    }
    found
}

/// The part at the start of a text, and its length with the blanks around it.
fn part_at(line: &[u8], may_be_comment: bool) -> Option<(Part, usize)> {
    let text = line.trim_ascii_start();
    let before = line.len() - text.len();
    // Blanks before a number belong to a column, unless a log has right-aligned its line numbers.
    let (part, rest) = match text.first()? {
        b'[' => (Part::Brackets, brackets(text)?),
        b'<' => rfc5424(text)
            .map(|rest| (Part::Syslog, rest))
            .or_else(|| kernel_level(text).map(|rest| (Part::KernelLevel, rest)))?,
        b'>' | b'|' => (Part::Quote, &text[1..]),
        b'#' if may_be_comment && ends(&text[1..]) => (Part::Comment, &text[1..]),
        b'-' if text.get(1) == Some(&b' ') => level(&text[2..]).map(|rest| (Part::Level, rest))?,
        _ => [
            (Part::Syslog, syslog as fn(&[u8]) -> Option<&[u8]>),
            (Part::Syslog, logcat),
            (Part::Date, date),
            (Part::Clock, clock),
            (Part::Stream, stream),
            (Part::Level, level),
            (Part::Seconds, seconds),
            (Part::Number, number),
            (Part::Column, column),
            (Part::Service, service),
        ]
        .into_iter()
        .find_map(|(part, read)| Some((part, read(text)?)))
        .or_else(|| Some((Part::Number, number_of_grep(text).filter(|_| before == 0)?)))?,
    };
    let rest = rest.trim_ascii_start_of_line();
    Some((part, before + text.len() - rest.len()))
}

/// Blanks and tabs, but not newlines.
trait TrimStartOfLine {
    fn trim_ascii_start_of_line(&self) -> &[u8];
}

impl TrimStartOfLine for [u8] {
    fn trim_ascii_start_of_line(&self) -> &[u8] {
        let from = self.iter().position(|byte| !matches!(byte, b' ' | b'\t'));
        &self[from.unwrap_or(self.len())..]
    }
}

/// Between `least` and `most` digits at the start of a text; returns the rest.
fn digits(text: &[u8], least: usize, most: usize) -> Option<&[u8]> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (least..=most).contains(&count).then(|| &text[count..])
}

/// The rest after one of these bytes.
fn behind<'a>(text: &'a [u8], bytes: &[u8]) -> Option<&'a [u8]> {
    text.split_first().filter(|(first, _)| bytes.contains(first)).map(|(_, rest)| rest)
}

/// Whether a part ends here.
fn ends(text: &[u8]) -> bool {
    text.first().is_none_or(|byte| byte.is_ascii_whitespace())
}

/// The rest after one of these words.
fn word<'a>(text: &'a [u8], words: &[&str]) -> Option<&'a [u8]> {
    let length = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (first, rest) = text.split_at(length);
    words.iter().any(|word| word.as_bytes().eq_ignore_ascii_case(first)).then_some(rest)
}

fn date(text: &[u8]) -> Option<&[u8]> {
    let text = word(text, &WEEKDAYS).map_or(text, TrimStartOfLine::trim_ascii_start_of_line);
    let mut rest = digits(text, 1, 4)?;
    let mark = [*rest.first()?];
    if !b"-/.".contains(&mark[0]) {
        return None;
    }
    rest = digits(behind(rest, &mark)?, 1, 2)?;
    rest = digits(behind(rest, &mark)?, 1, 4)?;
    match rest.first() {
        Some(b'T' | b'_') => clock(&rest[1..]),
        _ if ends(rest) => Some(rest),
        _ => None,
    }
}

/// A time of day with optional decimals, AM or PM, and zone.
fn clock(text: &[u8]) -> Option<&[u8]> {
    let mut rest = bare_clock(text)?;
    if rest.first() == Some(&b'Z') {
        rest = &rest[1..];
    }
    if let Some(zone) = zone(rest) {
        rest = zone;
    }
    if let Some(more) = behind(rest, b" ")
        && let Some(more) =
            word(more, &["AM", "PM"]).or_else(|| word(more, &ZONES)).or_else(|| zone(more))
    {
        rest = more;
    }
    ends(rest).then_some(rest)
}

fn bare_clock(text: &[u8]) -> Option<&[u8]> {
    let mut rest = digits(text, 1, 3)?;
    rest = digits(behind(rest, b":")?, 2, 2)?;
    rest = digits(behind(rest, b":")?, 2, 2)?;
    Some(behind(rest, b".,").and_then(|rest| digits(rest, 1, 9)).unwrap_or(rest))
}

/// `+0200` or `+02:00`.
fn zone(text: &[u8]) -> Option<&[u8]> {
    let rest = digits(behind(text, b"+-")?, 2, 4)?;
    Some(behind(rest, b":").and_then(|rest| digits(rest, 2, 2)).unwrap_or(rest))
}

fn syslog(text: &[u8]) -> Option<&[u8]> {
    let mut rest = text;
    if let Some(more) = word(rest, &WEEKDAYS) {
        rest = more.trim_ascii_start_of_line();
    }
    rest = word(rest, &MONTHS)?.trim_ascii_start_of_line();
    rest = digits(rest, 1, 2)?.trim_ascii_start_of_line();
    if let Some(more) = digits(rest, 4, 4) {
        rest = more.trim_ascii_start_of_line();
    }
    rest = clock(rest)?;
    let year = digits(rest.trim_ascii_start_of_line(), 4, 4).filter(|rest| ends(rest));
    Some(year.unwrap_or(rest))
}

fn seconds(text: &[u8]) -> Option<&[u8]> {
    let rest = digits(text, 1, 10)?;
    let is_epoch = text.len() - rest.len() == 10;
    let rest = match behind(rest, b".") {
        Some(rest) => digits(rest, 3, 9)?,
        None if is_epoch => rest,
        None => return None,
    };
    let rest = behind(rest, b":").unwrap_or(rest);
    ends(rest).then_some(rest)
}

fn brackets(text: &[u8]) -> Option<&[u8]> {
    let end = text.iter().take(80).position(|byte| *byte == b']')?;
    let rest = &text[end + 1..];
    let rest = behind(rest, b":").unwrap_or(rest);
    // The kernel may print the thread after the time: `[ 12.345678][ T123]`.
    (ends(rest) || rest.starts_with(b"[")).then_some(rest)
}

fn kernel_level(text: &[u8]) -> Option<&[u8]> {
    behind(digits(&text[1..], 1, 3)?, b">")
}

fn level(text: &[u8]) -> Option<&[u8]> {
    let rest = word(text, &LEVELS)?;
    if let Some(rest) = rest.strip_prefix(b" - ") {
        return Some(rest);
    }
    let Some(rest) = rest.strip_prefix(b":") else { return ends(rest).then_some(rest) };
    // Python prints the logger between two colons.
    let logger = rest.iter().take_while(|byte| is_of_name(byte)).count();
    rest[logger..].strip_prefix(b":").or_else(|| ends(rest).then_some(rest))
}

/// `<14>1 2024-05-01T12:00:00Z host program 88 - - `, as in RFC 5424.
fn rfc5424(text: &[u8]) -> Option<&[u8]> {
    let mut rest = kernel_level(text)?.strip_prefix(b"1 ")?;
    for _ in 0..5 {
        let end = rest.iter().position(|byte| *byte == b' ').filter(|end| *end > 0)?;
        rest = &rest[end + 1..];
    }
    rest.strip_prefix(b"-").or_else(|| brackets(rest)).filter(|rest| ends(rest))
}

/// `05-01 12:00:00.123 88 99 I tag: `, as on Android.
fn logcat(text: &[u8]) -> Option<&[u8]> {
    let mut rest = digits(behind(digits(text, 2, 2)?, b"-")?, 2, 2)?;
    rest = bare_clock(rest.strip_prefix(b" ")?)?;
    for _ in 0..2 {
        rest = digits(behind(rest, b" ")?.trim_ascii_start_of_line(), 1, 7)?;
    }
    rest = behind(behind(rest, b" ")?, b"VDIWEF")?;
    rest = behind(rest, b" ")?.trim_ascii_start_of_line();
    // The name of a program is padded.
    let tag = rest.iter().take_while(|byte| is_of_name(byte)).count();
    behind(rest[tag..].trim_ascii_start_of_line(), b":").filter(|rest| tag > 0 && ends(rest))
}

fn stream(text: &[u8]) -> Option<&[u8]> {
    if let Some(rest) = word(text, &["stdout", "stderr"]) {
        let rest = rest.strip_prefix(b" F").unwrap_or(rest);
        return ends(rest).then_some(rest);
    }
    let rest = behind(digits(text, 2, 2)?, b"OE")?;
    let rest = behind(rest, b"+").unwrap_or(rest);
    ends(rest).then_some(rest)
}

fn number(text: &[u8]) -> Option<&[u8]> {
    digits(text, 1, 7)?.strip_prefix(b"\t")
}

/// `12:`, directly before the line.
fn number_of_grep(text: &[u8]) -> Option<&[u8]> {
    digits(text, 1, 7)?.strip_prefix(b":")
}

/// The characters in the name of a program, a host or a container.
fn is_of_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._-/@()".contains(byte)
}

fn column(text: &[u8]) -> Option<&[u8]> {
    let length = text.iter().take_while(|byte| is_of_name(byte)).count();
    let (name, rest) = text.split_at(length);
    let rest = rest.trim_ascii_start_of_line().strip_prefix(b"|")?;
    (name.iter().any(u8::is_ascii_alphabetic) && ends(rest)).then_some(rest)
}

fn service(text: &[u8]) -> Option<&[u8]> {
    name_with_colon(text).or_else(|| {
        let host = text.iter().take_while(|byte| is_of_name(byte)).count();
        name_with_colon(text[host..].strip_prefix(b" ").filter(|_| host > 0)?)
    })
}

fn name_with_colon(text: &[u8]) -> Option<&[u8]> {
    let length = text.iter().take_while(|byte| is_of_name(byte)).count();
    let (name, mut rest) = text.split_at(length);
    if !name.iter().any(u8::is_ascii_alphabetic) {
        return None;
    }
    if let Some(process) = behind(rest, b"[") {
        rest = behind(digits(process, 1, 10)?, b"]")?;
    }
    let rest = behind(rest, b":")?;
    // `grep` prints the file name directly before the line.
    (ends(rest) || name.contains(&b'.')).then_some(rest)
}

/// Whether a line contains only a time.
pub fn is_time(line: &[u8]) -> bool {
    let rest = syslog(line)
        .or_else(|| clock(line))
        .or_else(|| clock(date(line)?.trim_ascii_start_of_line()));
    rest.is_some_and(|rest| rest.trim_ascii().is_empty())
}

/// The line without terminal escapes, and without the key that ended the tool.
pub fn without_escapes(line: &[u8]) -> Cow<'_, [u8]> {
    let line = line.strip_prefix(b"^C").unwrap_or(line);
    if memchr::memchr(0x1b, line).is_none() {
        return Cow::Borrowed(line);
    }
    let mut plain = Vec::with_capacity(line.len());
    let mut bytes = line.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != 0x1b {
            plain.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'[') => while bytes.next().is_some_and(|byte| !byte.is_ascii_alphabetic()) {},
            // A window title, up to a bell or `ESC \\`.
            Some(b']') => {
                while let Some(byte) = bytes.next() {
                    if byte == 0x07 || (byte == 0x1b && bytes.next_if_eq(&b'\\').is_some()) {
                        break;
                    }
                }
            }
            // A character set is selected by one more byte.
            Some(b'(' | b')') => drop(bytes.next()),
            // Sequences that clear the screen, as rtla sends, have one byte.
            Some(_) | None => {}
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: [&str; 4] = ["# Histogram", "000001 000010", "  12.5 T: x", "# Total: 000000010"];

    fn deepest(prefix: &str) -> Vec<String> {
        let head: String = TEXT.iter().map(|line| format!("{prefix}{line}\n")).collect();
        let prefixes = Prefix::candidates(head.as_bytes());
        let first = TEXT[0].as_bytes();
        let found = prefixes.iter().find(|one| {
            let line = without_escapes(head.lines().next().unwrap_or_default().as_bytes());
            one.strip(&line) == first
        });
        let found = found.unwrap_or_else(|| panic!("{prefix:?}: {prefixes:?}"));
        let stripped = found.strip_all(head.as_bytes());
        String::from_utf8(stripped).unwrap().lines().map(str::to_string).collect()
    }

    #[test]
    fn any_usual_prefix_is_taken_off() {
        for prefix in [
            "",
            "00:00:05  ",
            "12:00:00.123 ",
            "12:00:00 PM ",
            "2024-05-01T12:00:00.1234567Z ",
            "2024-05-01 12:00:00,123 INFO ",
            "2024-05-01 12:00:00 +0200 ",
            "2024-05-01T12:00:00.123456789+00:00 stdout F ",
            "2024-05-01T12:00:00.123456Z 01O ",
            "05/01/2024 12:00:00 ",
            "01.05.2024 12:00:00 ",
            "[2024-05-01T12:00:00.000Z] ",
            "[Wed May  1 12:00:00 2024] ",
            "[   12.345678] ",
            "<6>[   12.345678] ",
            "May 01 12:00:00 box svc[88]: ",
            "May  1 12:00:00.123456 box svc[88]: ",
            "Wed May  1 12:00:00 CEST 2024 ",
            "2024-05-01T12:00:00+0200 box svc[88]: ",
            "cyclictest-1  | ",
            "[pod/name/container] ",
            "> ",
            "> > ",
            ">> ",
            "| ",
            "# ",
            "INFO: ",
            "2024-05-01 - INFO - ",
            "1714564800.123456 ",
            "1714564800 ",
            "   12\t",
            "12:",
            "out.txt:",
            "out.txt:12:",
            "[   12.345678][  T123] ",
            "INFO:root:",
            "<14>1 2024-05-01T12:00:00.003Z box svc 88 - - ",
            "<14>1 2024-05-01T12:00:00.003Z box svc 88 - [x y=\"1\"] ",
            "05-01 12:00:00.123    88    99 I svc     : ",
            "\x1b[32m[box]\x1b[0m ",
        ] {
            let lines = deepest(prefix);
            assert_eq!(lines[1..2], TEXT[1..2], "{prefix:?}");
            assert_eq!(lines[3..], TEXT[3..], "{prefix:?}");
        }
    }

    #[test]
    fn lines_of_another_shape_stay_as_they_are() {
        let head = b"$ ./run\n12:00:00 # Histogram\n12:00:01 000001 000010\n12:00:02 x\n000001 7\n";
        let prefixes = Prefix::candidates(head);
        let clock = Prefix { parts: vec![Part::Clock] };
        assert_eq!(prefixes, [Prefix::default(), clock.clone()]);
        assert_eq!(clock.strip(b"000001 7"), b"000001 7");
        assert_eq!(clock.strip(b"12:00:02 x"), b"x");
    }

    #[test]
    fn what_is_data_of_most_formats_is_no_prefix() {
        for head in [
            "       0:       1:      39\n",
            "000003 000010\t000004\n",
            "0;4657.259056376;40\n",
            "latency_us\n12\n",
        ] {
            let prefixes = Prefix::candidates(head.repeat(9).as_bytes());
            assert_eq!(prefixes.len(), 1, "{head}: {prefixes:?}");
        }
    }

    #[test]
    fn sequences_are_taken_out_also_where_they_are_cut_off() {
        assert_eq!(&without_escapes(b"\x1b[4AT: 0\x1b[K")[..], b"T: 0");
        assert_eq!(&without_escapes(b"\x1bcCPU\x1b(B 0")[..], b"CPU 0");
        assert_eq!(&without_escapes(b"a\x1b[")[..], b"a");
        assert_eq!(&without_escapes(b"\x1b]0;root@box: ~\x07# x")[..], b"# x");
        assert_eq!(&without_escapes(b"\x1b]0;title\x1b\\x")[..], b"x");
        assert_eq!(&without_escapes(b"a\x1b")[..], b"a");
    }
}
