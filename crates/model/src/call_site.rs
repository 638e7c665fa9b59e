//! Where in a program something happened.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The registers and the top of the stack of a thread that an agent sends; its call chain is found
/// on the host, by the files of the program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CallStack {
    /// Number of the call site in this run.
    pub site: u32,
    /// The instruction pointer.
    pub instruction: u64,
    /// The stack pointer, where `stack` begins.
    pub pointer: u64,
    /// The frame pointer; 0 if unknown.
    pub frame: u64,
    /// The return address, on machines that have a register for it.
    pub link: u64,
    /// Memory from the stack pointer on.
    pub stack: Vec<u8>,
    /// Executable mappings to which the instruction pointer or words of the stack point.
    pub code: Vec<CodeMapping>,
}

/// An executable mapping of a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CodeMapping {
    /// First address.
    pub from: u64,
    /// First address after it.
    pub to: u64,
    /// Position of the first byte in the file.
    pub offset: u64,
    /// The path of the file.
    pub file: String,
}

impl CodeMapping {
    /// Reads a line of `/proc/ID/maps`; `None` if it is not code of a file.
    pub fn of_line(line: &str) -> Option<CodeMapping> {
        // The path may contain spaces.
        let mut fields = line.splitn(6, ' ');
        let (from, to) = fields.next()?.split_once('-')?;
        let is_code = fields.next()?.contains('x');
        let number = |text| u64::from_str_radix(text, 16).ok();
        let offset = number(fields.next()?)?;
        let file = fields.nth(2)?.trim();
        let mapping =
            CodeMapping { from: number(from)?, to: number(to)?, offset, file: file.to_string() };
        (is_code && file.starts_with('/')).then_some(mapping)
    }

    /// Whether an address lies in it.
    pub fn has(&self, address: u64) -> bool {
        (self.from..self.to).contains(&address)
    }
}

/// A function of a call chain.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallFrame {
    /// Path of the program or library.
    pub module: String,
    /// Address in it, as its symbols and `addr2line` count; that after the call for a caller.
    pub offset: u64,
    /// Function; `None` without symbols.
    pub function: Option<String>,
    /// Source file; `None` without debug information.
    pub file: Option<String>,
    /// Line in it.
    pub line: Option<u32>,
}

/// C libraries and loaders, and their former parts.
const C_LIBRARIES: [&str; 7] =
    ["libc.so", "libc-", "ld-linux", "ld-musl", "libpthread", "librt.so", "librt-"];
/// Sources of languages and their libraries.
const LIBRARY_SOURCES: [&str; 3] = ["/usr/include/", "/usr/lib/", "/rustc/"];

impl CallFrame {
    /// Whether it belongs to a C library, or to code that the compiler brought.
    fn is_of_library(&self) -> bool {
        let name = self.module.rsplit('/').next().unwrap_or_default();
        C_LIBRARIES.iter().any(|library| name.starts_with(library))
            || self
                .file
                .as_deref()
                .is_some_and(|file| LIBRARY_SOURCES.iter().any(|folder| file.starts_with(folder)))
    }
}

impl fmt::Display for CallFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_string();
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{}:{line}", last(file))?,
            _ => write!(f, "{}+{:#x}", last(&self.module), self.offset)?,
        }
        self.function.as_ref().map_or(Ok(()), |function| write!(f, " ({function})"))
    }
}

/// A place in a program.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallSite {
    /// Its number in this run.
    pub site: u32,
    /// How often something was seen there.
    pub count: u64,
    /// The call chain, innermost function first; empty if it could not be found.
    pub frames: Vec<CallFrame>,
}

impl CallSite {
    /// The innermost function of the program itself, in words; if its line is unknown and it may be
    /// the C library's of a static program, its caller too. `None` if the chain ends before it.
    pub fn place(&self) -> Option<String> {
        let is_own = |frame: &&CallFrame| !frame.is_of_library();
        let first = self.frames.iter().find(is_own)?;
        if first.line.is_some() {
            return Some(first.to_string());
        }
        let with_line = |frame: &&CallFrame| is_own(frame) && frame.line.is_some();
        match (self.frames.iter().find(with_line), &self.frames[..]) {
            (Some(own), _) => Some(own.to_string()),
            (None, [innermost, caller, ..]) if innermost == first => {
                Some(format!("{innermost} from {caller}"))
            }
            _ => Some(first.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(module: &str, function: Option<&str>, at: Option<(&str, u32)>) -> CallFrame {
        CallFrame {
            module: module.to_string(),
            offset: 0x12a4,
            function: function.map(str::to_string),
            file: at.map(|(file, _)| file.to_string()),
            line: at.map(|(_, line)| line),
        }
    }

    #[test]
    fn code_is_read_from_maps() {
        let line = "7f10-7f20 r-xp 00001000 fe:00 99                         /opt/my app";
        let expected =
            CodeMapping { from: 0x7f10, to: 0x7f20, offset: 0x1000, file: "/opt/my app".into() };
        assert_eq!(CodeMapping::of_line(line), Some(expected));
        for other in ["7f10-7f20 rw-p 0 fe:00 99 /bin/x", "7f10-7f20 r-xp 0 00:00 0 [vdso]", "x"] {
            assert_eq!(CodeMapping::of_line(other), None, "{other}");
        }
    }

    #[test]
    fn the_place_is_the_innermost_of_the_program() {
        let libc = frame("/lib/libc.so.6", Some("write"), Some(("write.c", 26)));
        let wrapper = frame("/bin/control", Some("write"), Some(("/rustc/x/unix.rs", 9)));
        let step = frame("/bin/control", Some("step"), Some(("/src/control.c", 23)));
        let site = |frames: &[&CallFrame]| CallSite {
            frames: frames.iter().map(|frame| (*frame).clone()).collect(),
            ..CallSite::default()
        };
        let words = |frames: &[&CallFrame]| site(frames).place();
        assert_eq!(words(&[&libc, &wrapper, &step]).unwrap(), "control.c:23 (step)");
        let bare = frame("/bin/control", None, None);
        assert_eq!(words(&[&bare, &step]).unwrap(), "control.c:23 (step)", "a static program");
        assert_eq!(words(&[&libc, &bare]).unwrap(), "control+0x12a4");
        assert_eq!(words(&[&bare, &bare]).unwrap(), "control+0x12a4 from control+0x12a4");
        assert_eq!(words(&[&libc]), None);
    }
}
