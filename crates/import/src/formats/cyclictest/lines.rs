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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_taken_out_also_where_they_are_cut_off() {
        assert_eq!(&without_escapes(b"\x1b[4AT: 0\x1b[K")[..], b"T: 0");
        assert_eq!(&without_escapes(b"a\x1b[")[..], b"a");
        assert_eq!(&without_escapes(b"a\x1b")[..], b"a");
    }
}
