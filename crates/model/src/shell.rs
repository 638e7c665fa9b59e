//! Lines that are safe to paste into a POSIX shell.

use crate::Nanos;
use crate::sanitize::is_hidden;
use crate::template::filled;
use serde::Serialize;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// First words of a command: programs used in remedies, and shell keywords.
#[rustfmt::skip]
const PROGRAMS: &[&str] = &[
    "adduser", "apt", "auditctl", "cat", "chmod", "chrt", "cpupower", "dmesg", "docker", "echo", "ethtool",
    "find", "for", "grep", "grubby", "journalctl", "latlab", "ls", "modprobe", "mount", "numactl", "pgrep",
    "printf", "ps", "renice", "rm", "rmmod", "sed", "setcap", "sh", "sudo", "swapoff", "swapon",
    "sysctl", "systemctl", "taskset", "tee", "timedatectl", "tuned-adm", "turbostat", "ulimit",
    "umount", "uname", "usermod", "vcgencmd",
];

/// Prefix and suffix of a word whose characters must not appear in a line.
const ESCAPED: (&str, &str) = ("\"$(printf '", "')\"");

/// A command, or a sentence that may contain commands. It is made of this program's own text and of
/// foreign words, which are always quoted. There is no other constructor, and none is read from a
/// file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line(String);

impl Line {
    /// Starts a line with this program's own text.
    pub fn new(text: &'static str) -> Line {
        Line(text.to_string())
    }

    /// Appends own text, after a blank.
    pub fn text(self, text: &'static str) -> Line {
        Line(format!("{} {text}", self.0))
    }

    /// Appends own text, without a blank.
    pub fn end(self, text: &'static str) -> Line {
        Line(self.0 + text)
    }

    /// Appends a quoted word, after a blank.
    pub fn word(self, word: impl AsRef<OsStr>) -> Line {
        Line(format!("{} {}", self.0, quoted(word.as_ref())))
    }

    /// Appends a time with its unit.
    pub fn time(self, time: Nanos) -> Line {
        Line(format!("{} {time}", self.0))
    }

    /// Appends several quoted words.
    pub fn words<W: AsRef<OsStr>>(self, words: impl IntoIterator<Item = W>) -> Line {
        words.into_iter().fold(self, Line::word)
    }

    /// Appends an option with its value, if there is one.
    pub fn option(self, name: &'static str, value: Option<impl AsRef<OsStr>>) -> Line {
        match value {
            Some(value) => self.text(name).word(value),
            None => self,
        }
    }

    /// Appends a flag of this program by its name.
    pub fn flag(self, name: &'static str) -> Line {
        Line(format!("{} --{name}", self.0))
    }

    /// Appends an option of this program by its name; the value may begin with a dash.
    pub fn named(self, name: &'static str, value: String) -> Line {
        match value.starts_with('-') {
            true => self.word(format!("--{name}={value}")),
            false => self.flag(name).word(value),
        }
    }

    /// Appends the operands, protected from being parsed as options.
    pub fn operands<W: AsRef<OsStr>>(self, words: impl IntoIterator<Item = W>) -> Line {
        let words: Vec<W> = words.into_iter().collect();
        let line = if words.iter().any(is_option) { self.text("--") } else { self };
        line.words(words)
    }

    /// Appends an operand, protected from being parsed as an option.
    pub fn operand(self, word: impl AsRef<OsStr>) -> Line {
        self.operands([word])
    }

    /// Appends a path whose `*` the shell expands.
    pub fn pattern(self, path: &str) -> Line {
        Line(format!("{} {}", self.0, pattern(path).0))
    }

    /// Appends another line after own text such as `; `.
    pub fn then(self, between: &'static str, next: &Line) -> Line {
        Line(self.0 + between + &next.0)
    }

    /// Fills the `{names}` of own text with lines.
    pub fn filled(template: &'static str, parts: &[(&str, Line)]) -> Line {
        Line(filled(template, |name| {
            let part = parts.iter().find(|(known, _)| *known == name);
            part.map(|(_, line)| line.0.clone())
        }))
    }

    /// Parses a command of this program that was stored as text, and quotes its words again. `None`
    /// if it is not a command of this program.
    pub fn reread(text: &str) -> Option<Line> {
        let words = split(text);
        let (program, rest) = words.split_first()?;
        (program == "latlab").then(|| Line::new("latlab").words(rest))
    }

    /// Whether it is a command to be copied rather than a sentence.
    pub fn is_command(&self) -> bool {
        let first = self.0.split_whitespace().next().unwrap_or_default();
        PROGRAMS.contains(&first) || first.starts_with('/')
    }

    /// The text of the line.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&'static str> for Line {
    fn from(text: &'static str) -> Line {
        Line::new(text)
    }
}

/// A line of one quoted word.
pub fn word(word: impl AsRef<OsStr>) -> Line {
    Line(quoted(word.as_ref()))
}

/// A line of one word, protected from being parsed as an option.
pub fn operand(word: impl AsRef<OsStr>) -> Line {
    let mark = if is_option(&word) { "-- " } else { "" };
    Line(format!("{mark}{}", quoted(word.as_ref())))
}

/// A line of one time with its unit.
pub fn time(time: Nanos) -> Line {
    Line(time.to_string())
}

/// A line of one path whose `*` the shell expands.
pub fn pattern(path: &str) -> Line {
    match path.split('*').all(|part| part.bytes().all(is_plain)) {
        true => Line(path.to_string()),
        false => word(path),
    }
}

/// A command of this program with a path or a name as its last word.
pub fn latlab(command: &'static str, operand: impl AsRef<Path>) -> Line {
    Line::new("latlab").text(command).operand(operand.as_ref())
}

/// The command line of another program, for information only.
pub fn words<W: AsRef<OsStr>>(words: &[W]) -> String {
    words.iter().map(|word| quoted(word.as_ref())).collect::<Vec<_>>().join(" ")
}

fn is_option(word: &impl AsRef<OsStr>) -> bool {
    word.as_ref().as_bytes().starts_with(b"-")
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_./:,=@%+".contains(&byte)
}

/// The word as a shell reads it back: unchanged if harmless, otherwise quoted. Quoting leaves no
/// hidden character, which could act on a terminal or get lost in copying.
fn quoted(word: &OsStr) -> String {
    let bytes = word.as_bytes();
    if !bytes.is_empty() && bytes.iter().all(|byte| is_plain(*byte)) {
        return bytes.iter().map(|byte| char::from(*byte)).collect();
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains(is_hidden) => format!("'{}'", text.replace('\'', r"'\''")),
        _ => escaped(bytes),
    }
}

/// A word written with `printf`, with each byte that a line must not show as a number.
fn escaped(bytes: &[u8]) -> String {
    let mut format = String::new();
    let number =
        |bytes: &[u8]| bytes.iter().map(|byte| format!("\\{byte:03o}")).collect::<String>();
    for part in bytes.utf8_chunks() {
        for one in part.valid().chars() {
            // Interactive shells expand `!`, and `printf` takes a leading `-` for an option.
            let is_safe =
                !is_hidden(one) && !"'\\%!".contains(one) && (one != '-' || !format.is_empty());
            let mut buffer = [0; 4];
            match is_safe {
                true => format.push(one),
                false => format += &number(one.encode_utf8(&mut buffer).as_bytes()),
            }
        }
        format += &number(part.invalid());
    }
    format!("{}{format}{}", ESCAPED.0, ESCAPED.1)
}

/// Splits a line into words without any expansion.
pub fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let behind = &rest[first.len_utf8()..];
        rest = behind;
        match first {
            ' ' => words.extend(word.take()),
            '\'' => {
                let (inside, after) = behind.split_once('\'').unwrap_or((behind, ""));
                word.get_or_insert_default().push_str(inside);
                rest = after;
            }
            '\\' => {
                let next = behind.chars().next();
                word.get_or_insert_default().extend(next);
                rest = &behind[next.map_or(0, char::len_utf8)..];
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}
