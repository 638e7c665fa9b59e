//! The functions and lines of a program at which its threads were seen, from its files on this
//! machine.

mod program_file;
mod unwind;

use latlab_model::call_site::{CallFrame, CallStack, CodeMapping};
use program_file::ProgramFile;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Most functions of a call chain.
const MOST_FRAMES: usize = 24;

/// The call chain of each site. `begun` is when the run began, if the files are those of this
/// machine: what was built later is another program.
pub fn call_chains(
    stacks: &[CallStack],
    begun: Option<SystemTime>,
) -> BTreeMap<u32, Vec<CallFrame>> {
    // The start of a run is known to the second.
    let begun = begun.map(|begun| begun + Duration::from_secs(1));
    let mut files = Files { begun, read: HashMap::new() };
    stacks.iter().map(|stack| (stack.site, files.chain(stack))).collect()
}

struct Files {
    begun: Option<SystemTime>,
    /// `None` for a file that cannot be read or is a newer one.
    read: HashMap<String, Option<ProgramFile>>,
}

impl Files {
    fn chain(&mut self, stack: &CallStack) -> Vec<CallFrame> {
        let mut frames = Vec::new();
        let mut place = unwind::Place::of(stack);
        while frames.len() < MOST_FRAMES {
            let is_first = frames.is_empty();
            let at = place.instruction();
            let Some(code) = stack.code.iter().find(|code| code.has(at)) else { break };
            let Some(file) = self.file(code) else {
                // What its caller is, only its file could tell.
                frames.push(unknown(code, at - code.from + code.offset));
                break;
            };
            let address = file.address(code, at);
            // A return address is that of the next instruction.
            frames.extend(file.frames(&code.file, address, if is_first { 0 } else { 1 }));
            let Some(caller) = place.caller(stack, file, address, is_first) else { break };
            place = caller;
        }
        frames.truncate(MOST_FRAMES);
        frames
    }

    fn file(&mut self, code: &CodeMapping) -> Option<&ProgramFile> {
        let begun = self.begun?;
        if !self.read.contains_key(&code.file) {
            let path = Path::new(&code.file);
            let changed = path.metadata().and_then(|about| about.modified());
            let is_same = changed.is_ok_and(|changed| changed <= begun);
            let file = is_same.then(|| ProgramFile::read(path)).flatten();
            self.read.insert(code.file.clone(), file);
        }
        self.read.get(&code.file)?.as_ref()
    }
}

fn unknown(code: &CodeMapping, offset: u64) -> CallFrame {
    let module = code.file.clone();
    CallFrame { module, offset, function: None, file: None, line: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    static CALLED: AtomicU32 = AtomicU32::new(0);

    #[inline(never)]
    fn here() {
        CALLED.fetch_add(1, Ordering::Relaxed);
    }

    fn stack() -> CallStack {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let instruction = here as *const () as u64;
        CallStack {
            site: 7,
            instruction,
            pointer: 0x1000,
            frame: 0,
            link: 0,
            stack: vec![0; 64],
            code: maps.lines().filter_map(CodeMapping::of_line).collect(),
        }
    }

    #[test]
    fn a_function_is_found_in_its_file_if_that_has_not_changed_since() {
        here();
        let begun = SystemTime::now() + Duration::from_secs(60);
        let known = &call_chains(&[stack()], Some(begun))[&7];
        let function = known[0].function.as_deref().unwrap_or_default();
        assert!(function.contains("here"), "{known:?}");
        assert_eq!(known.len(), 1, "an empty stack has no caller");
        for begun in [None, Some(SystemTime::UNIX_EPOCH)] {
            let unknown = &call_chains(&[stack()], begun)[&7];
            assert_eq!((unknown[0].function.as_ref(), unknown.len()), (None, 1));
            assert!(unknown[0].module.starts_with('/'), "{unknown:?}");
        }
    }
}
