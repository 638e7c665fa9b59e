//! Lines that are no data: control sequences of the live screen, and what the tools say besides.

use std::borrow::Cow;

/// What the tools of rt-tests say beside their data.
const REMARKS: &[&str] = &[
    "Max CPUs =",
    "Online CPUs =",
    "WARN",
    "INFO",
    "Using ",
    "using ",
    "Thread ",
    "spikes = ",
    "policy:",
    "interval:",
    "Tested at",
    "deadline thread",
    "main thread",
    "thread[",
    "SMI",
    "reported clock resolution",
    "measured clock resolution",
    "set to ",
    "running",
    "RT test",
    "rt-tests",
    "Creating ",
    "Running ",
];

/// Whether a line is a remark of the tool.
pub fn is_remark(line: &[u8]) -> bool {
    REMARKS.iter().any(|remark| line.starts_with(remark.as_bytes()))
}

/// The line without the sequences that steer a terminal.
pub fn without_escapes(line: &[u8]) -> Cow<'_, [u8]> {
    if !line.contains(&0x1b) {
        return Cow::Borrowed(line);
    }
    let mut plain = Vec::with_capacity(line.len());
    let mut bytes = line.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != 0x1b {
            plain.push(byte);
        } else if bytes.next_if_eq(&b'[').is_some() {
            while bytes.next().is_some_and(|byte| !byte.is_ascii_alphabetic()) {}
        }
    }
    Cow::Owned(plain)
}

/// Whether a line begins with a time of day as test systems put it in front: `2026-11-23T10:00:00`.
pub fn is_time(line: &[u8]) -> bool {
    let is = |at: usize, byte: u8| line.get(at) == Some(&byte);
    is(4, b'-') && is(7, b'-') && (is(10, b'T') || is(10, b' ')) && is(13, b':') && is(16, b':')
}

/// The line without what a log has put in front: a time, and all before the figures of a thread.
pub fn without_log_prefix(line: &[u8]) -> &[u8] {
    let mut line = line;
    if is_time(line) {
        // With a blank, the time of day is the second word.
        let from = if line[10] == b' ' { 11 } else { 0 };
        let end = line[from..].iter().position(|byte| *byte == b' ');
        line = end.map_or(&[][..], |end| line[from + end..].trim_ascii_start());
    }
    if line.first() == Some(&b'T') || line.first() == Some(&b'#') {
        return line;
    }
    let figures = memchr::memmem::find(line, b"T:").filter(|at| {
        line[at.saturating_sub(1)..].first().is_some_and(|byte| b" \t|]:".contains(byte))
            && [&b" C:"[..], b"Min:", b"Max:"]
                .iter()
                .all(|word| memchr::memmem::find(&line[*at..], word).is_some())
    });
    figures.map_or(line, |at| &line[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_log_puts_in_front_is_taken_off() {
        let figures = "T: 0 ( 7) P:95 I:1000 C: 5 Min: 2 Act: 3 Avg: 3 Max: 9";
        for prefix in [
            "",
            "Nov 23 10:00:00 board cyclictest[812]: ",
            "cyclictest-1  | ",
            "2026-11-23T10:00:00.123456Z ",
            "2026-11-23 10:00:00 ",
        ] {
            let line = format!("{prefix}{figures}");
            assert_eq!(without_log_prefix(line.as_bytes()), figures.as_bytes(), "{prefix}");
        }
        assert_eq!(without_log_prefix(b"2026-11-23T10:00:00.5 000003 000010"), b"000003 000010");
        assert_eq!(without_log_prefix(b"# T: 0 C: Min: Max:"), b"# T: 0 C: Min: Max:");
        assert_eq!(without_log_prefix(b"000003 000010"), b"000003 000010");
    }

    #[test]
    fn sequences_are_taken_out_also_where_they_are_cut_off() {
        assert_eq!(&without_escapes(b"\x1b[4AT: 0\x1b[K")[..], b"T: 0");
        assert_eq!(&without_escapes(b"a\x1b[")[..], b"a");
        assert_eq!(&without_escapes(b"a\x1b")[..], b"a");
    }
}
