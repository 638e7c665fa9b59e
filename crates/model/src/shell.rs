//! Lines that may be pasted into a POSIX shell.

use crate::Nanos;
use crate::sanitize::is_hidden;
use serde::Serialize;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Programs by which something can be mended, and words of the shell.
#[rustfmt::skip]
const PROGRAMS: &[&str] = &[
    "adduser", "apt", "auditctl", "cat", "chmod", "chrt", "cpupower", "dmesg", "docker", "echo", "ethtool",
    "find", "for", "grep", "grubby", "journalctl", "latlab", "ls", "modprobe", "mount", "numactl", "pgrep",
    "printf", "ps", "renice", "rm", "rmmod", "sed", "setcap", "sh", "sudo", "swapoff", "swapon",
    "sysctl", "systemctl", "taskset", "tee", "timedatectl", "tuned-adm", "turbostat", "ulimit",
    "umount", "uname", "usermod", "vcgencmd",
];

/// What begins and ends a word with characters that a line must not show.
const ESCAPED: (&str, &str) = ("\"$(printf '", "')\"");

/// A command, or a sentence that may name commands: this program's own text, and words from elsewhere,
/// each of which is quoted. There is no other way to make one, and none is read from a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line(String);

impl Line {
    /// Begins with this program's own text.
    pub fn new(text: &'static str) -> Line {
        Line(text.to_string())
    }

    /// Goes on with own text, after a blank.
    pub fn text(self, text: &'static str) -> Line {
        Line(format!("{} {text}", self.0))
    }

    /// Goes on with own text, without a blank.
    pub fn end(self, text: &'static str) -> Line {
        Line(self.0 + text)
    }

    /// Adds a word, after a blank.
    pub fn word(self, word: impl AsRef<OsStr>) -> Line {
        Line(format!("{} {}", self.0, quoted(word.as_ref())))
    }

    /// Adds a time with its unit.
    pub fn time(self, time: Nanos) -> Line {
        Line(format!("{} {time}", self.0))
    }

    /// Adds several words.
    pub fn words<W: AsRef<OsStr>>(self, words: impl IntoIterator<Item = W>) -> Line {
        words.into_iter().fold(self, Line::word)
    }

    /// Adds an option with its value where there is one.
    pub fn option(self, name: &'static str, value: Option<impl AsRef<OsStr>>) -> Line {
        match value {
            Some(value) => self.text(name).word(value),
            None => self,
        }
    }

    /// Adds an option of this program that has no value, by its name.
    pub fn flag(self, name: &'static str) -> Line {
        Line(format!("{} --{name}", self.0))
    }

    /// Adds an option of this program by its name, with a value that may begin with a dash.
    pub fn named(self, name: &'static str, value: String) -> Line {
        match value.starts_with('-') {
            true => self.word(format!("--{name}={value}")),
            false => self.flag(name).word(value),
        }
    }

    /// Adds the last words, none of which may be taken for an option.
    pub fn operands<W: AsRef<OsStr>>(self, words: impl IntoIterator<Item = W>) -> Line {
        let words: Vec<W> = words.into_iter().collect();
        let is_option = |word: &W| word.as_ref().as_bytes().starts_with(b"-");
        let line = if words.iter().any(is_option) { self.text("--") } else { self };
        line.words(words)
    }

    /// Adds a last word, which may not be taken for an option.
    pub fn operand(self, word: impl AsRef<OsStr>) -> Line {
        self.operands([word])
    }

    /// Adds a path whose `*` the shell fills in.
    pub fn pattern(self, path: &str) -> Line {
        match path.split('*').all(|part| part.bytes().all(is_plain)) {
            true => Line(format!("{} {path}", self.0)),
            false => self.word(path),
        }
    }

    /// Goes on with another line after own text such as `; `.
    pub fn then(self, between: &'static str, next: &Line) -> Line {
        Line(self.0 + between + &next.0)
    }

    /// Own text with a path for `{file}`, a value for `{value}`.
    pub fn filled(template: &'static str, file: &str, value: &str) -> Line {
        let mut line = String::new();
        let mut rest = template;
        while let Some(at) = rest.find('{') {
            line += &rest[..at];
            rest = &rest[at..];
            // What was filled in is not looked at again.
            if let Some(behind) = rest.strip_prefix("{file}") {
                line += Line::new("").pattern(file).0.trim_start();
                rest = behind;
            } else if let Some(behind) = rest.strip_prefix("{value}") {
                line += &quoted(value.as_ref());
                rest = behind;
            } else {
                line.push('{');
                rest = &rest[1..];
            }
        }
        Line(line + rest)
    }

    /// A command of this program that was stored as text: its words are read as a shell reads
    /// them, and quoted again. `None` for what is no command of this program.
    pub fn reread(text: &str) -> Option<Line> {
        let words = split(text);
        let (program, rest) = words.split_first()?;
        (program == "latlab").then(|| Line::new("latlab").words(rest))
    }

    /// Whether it is a command to be copied, and not a sentence.
    pub fn is_command(&self) -> bool {
        let first = self.0.split_whitespace().next().unwrap_or_default();
        PROGRAMS.contains(&first) || first.starts_with('/')
    }

    /// As text.
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

/// The command of this program with a path or a name as its last word.
pub fn latlab(command: &'static str, operand: impl AsRef<Path>) -> Line {
    Line::new("latlab").text(command).operand(operand.as_ref())
}

/// What another program was started with, a word behind the other. It is told and is not advice.
pub fn words<W: AsRef<OsStr>>(words: &[W]) -> String {
    words.iter().map(|word| quoted(word.as_ref())).collect::<Vec<_>>().join(" ")
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_./:,=@%+".contains(&byte)
}

/// The word as a shell reads it back: as it is where that is harmless, else quoted. The quoted word
/// has no hidden character: it would do something on a terminal, or be lost on the way.
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

/// A word that `printf` writes, each byte that a line must not show as a number.
fn escaped(bytes: &[u8]) -> String {
    let mut format = String::new();
    let number =
        |bytes: &[u8]| bytes.iter().map(|byte| format!("\\{byte:03o}")).collect::<String>();
    for part in bytes.utf8_chunks() {
        for one in part.valid().chars() {
            // A shell of a person replaces `!`, and `printf` takes a `-` at its start for an option.
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

/// The words of a line of this program, without anything that a shell would do with them.
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
