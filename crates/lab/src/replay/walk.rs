//! Turns the records of a window into stretches of time, each in one call path of one thread.
//!
//! Calls and returns are followed by return addresses, since a thread switch, an exception or a
//! jump into a thunk returns elsewhere than to the caller. What ran before the first record is
//! unknown: a function to which such a return leads becomes the outermost known one.

use super::code::{Code, Effect, Flow};
use super::paths::{Entry, PathId, Paths, Step};
use super::records::{Block, Record, RecordKind, RecordReader, Window};
use super::symbols::Symbols;
use std::collections::HashMap;
use std::rc::Rc;

/// A stretch in one path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// Instructions executed before it.
    pub from: u64,
    /// And at its end.
    pub to: u64,
    /// The thread; `None` if it is not known.
    pub task: Option<u32>,
    pub path: PathId,
}

/// A stretch with interrupts or preemption disabled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OffSpan {
    /// Instructions executed before it.
    pub from: u64,
    /// And at its end.
    pub to: u64,
    /// The path that disabled them.
    pub path: PathId,
    /// The path that enabled them again.
    pub end_path: PathId,
    pub task: Option<u32>,
}

/// A walked window; counts exclude instructions that were executed twice because of an exception.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Walked {
    /// Consecutive.
    pub stretches: Vec<Stretch>,
    /// When another thread got the CPU, and which.
    pub switches: Vec<(u64, u32)>,
    /// When a program read the clock, and which thread.
    pub reads: Vec<(u64, u32)>,
    /// When the CPU slept, for an unknown length of time.
    pub sleeps: Vec<u64>,
    pub interrupts_off: Vec<OffSpan>,
    /// By the kernel's count.
    pub preemption_off: Vec<OffSpan>,
}

impl Walked {
    /// Keeps the memory for the next window, which has a similar size.
    fn clear(&mut self) {
        self.stretches.clear();
        self.switches.clear();
        self.reads.clear();
        self.sleeps.clear();
        self.interrupts_off.clear();
        self.preemption_off.clear();
    }
}

#[derive(Clone, Copy)]
struct Frame {
    path: PathId,
    function: Option<usize>,
    returns_to: Option<u64>,
    entry: Entry,
    /// Whether interrupts were enabled on entry, and how many saved states of theirs there are.
    were_on: bool,
    saved: usize,
}

#[derive(Clone, Copy)]
struct Off {
    from: u64,
    path: PathId,
}

/// What is known of a block once and for all, since it may run a million times.
#[derive(Default)]
struct Facts {
    is_user: bool,
    /// The function that it lies in, and whether it is its beginning.
    function: Option<usize>,
    is_begin: bool,
    /// How the kernel is entered there: after a system call, and otherwise.
    entries: [Option<Entry>; 2],
    /// How it ends if all of it is executed.
    flow: Option<Flow>,
    effects: Vec<(u64, Effect)>,
}

/// Walks through windows, and keeps the call stacks of the threads.
pub struct Walker<'a> {
    code: Code,
    symbols: &'a Symbols,
    /// Whether a function is a thunk, by its number.
    thunks: Vec<bool>,
    /// All paths so far.
    pub paths: Paths,
    /// The path of a program.
    user: PathId,
    /// By block number.
    facts: Vec<Option<Rc<Facts>>>,
    calls: HashMap<u32, Vec<Frame>>,
    stack: Vec<Frame>,
    task: Option<u32>,
    interrupts_off: Option<Off>,
    saved: Vec<bool>,
    preemption: i64,
    preemption_off: Option<Off>,
    /// Instructions that were executed twice.
    twice: u64,
    /// The window that was walked last.
    pub walked: Walked,
    end: u64,
}

/// The last block that ran.
struct Ran<'b> {
    block: &'b Block,
    facts: Rc<Facts>,
    count: u64,
    repeats: u64,
}

impl<'a> Walker<'a> {
    pub fn new(code: Code, symbols: &'a Symbols) -> Walker<'a> {
        let mut paths = Paths::default();
        let user = paths.within(None, Step::User, Entry::Call);
        Walker {
            code,
            symbols,
            thunks: symbols.names().iter().map(|name| is_thunk(name)).collect(),
            paths,
            user,
            facts: Vec::new(),
            calls: HashMap::new(),
            stack: Vec::new(),
            task: None,
            interrupts_off: None,
            saved: Vec::new(),
            preemption: 0,
            preemption_off: None,
            twice: 0,
            walked: Walked::default(),
            end: 0,
        }
    }

    /// Walks through a window. Call stacks are kept if it follows the previous one.
    pub fn walk(&mut self, reader: &RecordReader<'_>, window: &Window) {
        let first = window.records.first().map_or(window.end, |record| record.count);
        if first < self.end || first > self.end + 64 {
            self.calls.clear();
            self.stack.clear();
            self.saved.clear();
            self.interrupts_off = None;
            self.preemption_off = None;
            self.preemption = 0;
            self.task = window.first_task;
        }
        self.twice = 0;
        self.walked.clear();
        for off in [&mut self.interrupts_off, &mut self.preemption_off].into_iter().flatten() {
            off.from = first;
        }
        let nothing = Block::default();
        let mut last: Option<Ran<'_>> = None;
        let mut switched = None;
        for Record { count, kind } in &window.records {
            match *kind {
                RecordKind::Switched(task) => switched = Some(task),
                RecordKind::ReadClock(task) => self.walked.reads.push((count - self.twice, task)),
                RecordKind::Ran { block, repeats } => {
                    let facts = self.facts(reader, block);
                    let block = reader.block(block).unwrap_or(&nothing);
                    self.step(last.as_ref(), switched.take(), *count, Some((block, &facts)));
                    last = Some(Ran { block, facts, count: *count, repeats: repeats.into() });
                }
            }
        }
        self.step(last.as_ref(), switched, window.end, None);
        self.end = window.end;
        let end = window.end - self.twice;
        let path = self.path();
        for (off, spans) in [
            (self.interrupts_off, &mut self.walked.interrupts_off),
            (self.preemption_off, &mut self.walked.preemption_off),
        ] {
            let task = self.task;
            spans.extend(off.map(|Off { from, path: by }| OffSpan {
                from,
                to: end,
                path: by,
                end_path: path,
                task,
            }));
        }
    }

    /// The last block has ended at this count, and the next one begins.
    fn step(
        &mut self,
        last: Option<&Ran<'_>>,
        switched: Option<u32>,
        count: u64,
        next: Option<(&Block, &Facts)>,
    ) {
        let (mut flow, mut from_user) = (Flow::Goes, true);
        let at = count - self.twice;
        if let Some(last) = last {
            let all = count - last.count;
            let executed = all.saturating_sub(last.repeats * last.block.sizes.len() as u64);
            let executed = usize::try_from(executed).unwrap_or(usize::MAX);
            let whole = executed == last.block.sizes.len();
            flow = match last.facts.flow.filter(|_| whole) {
                Some(flow) => flow,
                None => self.code.flow(last.block, executed),
            };
            from_user = last.facts.is_user;
            self.ran(last.count - self.twice, at);
            let began = at.saturating_sub(executed as u64);
            // The effects of an unfinished block come first.
            let done = last.facts.effects.iter().take_while(|(at, _)| *at < executed as u64);
            for (number, effect) in done.copied() {
                self.apply(began + number + 1, effect);
            }
            let cut = executed < last.block.sizes.len();
            let faults = next.is_some_and(|(_, next)| next.entry(flow) == Some(Entry::Exception))
                && (cut || flow == Flow::Goes);
            if faults {
                // It was counted, and is executed again.
                self.twice += 1;
            }
            if flow == Flow::Sleeps && !cut {
                self.walked.sleeps.push(at);
            }
        }
        let at = count - self.twice;
        if let Some(task) = switched {
            if let Some(before) = self.task {
                let calls = std::mem::take(&mut self.stack);
                self.calls.insert(before, calls);
            }
            self.stack = self.calls.remove(&task).unwrap_or_default();
            self.task = Some(task);
            self.walked.switches.push((at, task));
        }
        if let Some((block, facts)) = next {
            self.go(flow, last.is_none() || from_user, block.address, facts, at);
        }
    }

    /// What ran between two counts.
    fn ran(&mut self, from: u64, to: u64) {
        let (task, path) = (self.task, self.path());
        if to <= from {
            return;
        }
        match self.walked.stretches.last_mut() {
            Some(last) if last.task == task && last.path == path && last.to == from => last.to = to,
            _ => self.walked.stretches.push(Stretch { from, to, task, path }),
        }
    }

    fn path(&self) -> PathId {
        self.stack.last().map_or(self.user, |frame| frame.path)
    }

    fn apply(&mut self, at: u64, effect: Effect) {
        match effect {
            Effect::InterruptsOff => self.switch_off(at),
            Effect::InterruptsOn => self.switch_on(at),
            Effect::InterruptsSaved => self.saved.push(self.interrupts_off.is_none()),
            Effect::InterruptsRestored => match self.restored() {
                true => self.switch_on(at),
                false => self.switch_off(at),
            },
            Effect::Preemption(by) => {
                self.preemption = (self.preemption + by).max(0);
                self.note_preemption(at);
            }
        }
    }

    /// Whether interrupts are enabled after a restore. With more restores than saves since the
    /// kernel was entered, the state at entry applies.
    fn restored(&mut self) -> bool {
        let entered = self.stack.iter().rfind(|frame| frame.entry != Entry::Call);
        let saved_before = entered.map_or(0, |frame| frame.saved);
        if self.saved.len() > saved_before
            && let Some(was_on) = self.saved.pop()
        {
            return was_on;
        }
        match entered {
            Some(Frame { entry: Entry::Interrupt, .. }) => false,
            Some(Frame { entry: Entry::Exception, were_on, .. }) => *were_on,
            _ => true,
        }
    }

    fn switch_off(&mut self, at: u64) {
        let path = self.path();
        self.interrupts_off.get_or_insert(Off { from: at, path });
    }

    fn switch_on(&mut self, at: u64) {
        if let Some(Off { from, path }) = self.interrupts_off.take() {
            let (end_path, task) = (self.path(), self.task);
            self.walked.interrupts_off.push(OffSpan { from, to: at, path, end_path, task });
        }
    }

    fn note_preemption(&mut self, at: u64) {
        let path = self.path();
        match (self.preemption > 0, self.preemption_off) {
            (true, None) => self.preemption_off = Some(Off { from: at, path }),
            (false, Some(off)) => {
                let Off { from, path: by } = off;
                let task = self.task;
                let span = OffSpan { from, to: at, path: by, end_path: path, task };
                self.walked.preemption_off.push(span);
                self.preemption_off = None;
            }
            _ => {}
        }
    }

    fn facts(&mut self, reader: &RecordReader<'_>, number: u32) -> Rc<Facts> {
        let place = number as usize;
        if let Some(Some(facts)) = self.facts.get(place) {
            return Rc::clone(facts);
        }
        let Some(block) = reader.block(number) else {
            return Rc::new(Facts { is_user: true, ..Facts::default() });
        };
        let (length, address) = (block.sizes.len(), block.address);
        let function = self.symbols.find(address).filter(|_| !is_user(address));
        let facts = Rc::new(Facts {
            is_user: is_user(address),
            function: function.map(|(number, _)| number),
            is_begin: function.is_some_and(|(_, offset)| offset == 0),
            entries: [Flow::Goes, Flow::Asks]
                .map(|flow| function.and_then(|(number, offset)| self.entry(number, offset, flow))),
            flow: Some(self.code.flow(block, length)),
            effects: match is_user(address) {
                true => Vec::new(),
                false => self.code.effects(block, length),
            },
        });
        if self.facts.len() <= place {
            self.facts.resize(place + 1, None);
        }
        self.facts[place] = Some(Rc::clone(&facts));
        facts
    }

    /// Whether and how the kernel is entered at an offset in a function.
    fn entry(&self, function: usize, offset: u64, flow: Flow) -> Option<Entry> {
        let name = self.symbols.name(function);
        match self.code {
            Code::X86 { .. } if name == "irq_entries_start" => Some(Entry::Interrupt),
            Code::X86 { .. } if offset > 0 => None,
            Code::X86 { .. } => match name {
                "entry_SYSCALL_64" => Some(Entry::SystemCall),
                _ if name.starts_with("asm_exc_") => Some(Entry::Exception),
                _ if name.starts_with("asm_sysvec_") => Some(Entry::Interrupt),
                "asm_common_interrupt" | "asm_spurious_interrupt" => Some(Entry::Interrupt),
                _ => None,
            },
            // Each of the sixteen vectors has this size, and may branch to others.
            Code::Arm { .. } if name != "vectors" || !offset.is_multiple_of(0x80) => None,
            Code::Arm { .. } => match offset & 0x180 {
                0 if flow == Flow::Asks => Some(Entry::SystemCall),
                0 => Some(Entry::Exception),
                _ => Some(Entry::Interrupt),
            },
        }
    }

    /// The CPU continues at this address.
    fn go(&mut self, flow: Flow, from_user: bool, address: u64, facts: &Facts, at: u64) {
        if facts.is_user {
            if !from_user || !self.stack.is_empty() {
                self.leave_kernel(at);
            }
            return;
        }
        let (number, is_begin) = (facts.function, facts.is_begin);
        if let Some(entry) = facts.entry(flow) {
            let again = self.stack.last().is_some_and(|top| {
                top.entry == entry
                    && top.function.is_some_and(|one| self.symbols.name(one) == "irq_entries_start")
            });
            match again {
                true => self.rename(number),
                false => self.enter(entry, number, at),
            }
            return;
        }
        match flow {
            Flow::Leaves => {
                let last = self.stack.iter().rposition(|frame| frame.entry != Entry::Call);
                if let Some(entered) = last {
                    let Frame { were_on, saved, .. } = self.stack[entered];
                    self.stack.truncate(entered);
                    self.saved.truncate(saved);
                    match were_on {
                        true => self.switch_on(at),
                        false => self.switch_off(at),
                    }
                }
                if self.stack.is_empty() {
                    self.push(Entry::Call, number, None, true);
                }
            }
            // A call of the function's own next instructions only fills the return stack buffer.
            Flow::Calls(_) if !is_begin && self.is_on_top(number) => {}
            Flow::Calls(next) => self.push(Entry::Call, number, Some(next), true),
            Flow::Returns => self.go_back(address, number, is_begin),
            _ => self.jump(number),
        }
    }

    fn is_on_top(&self, function: Option<usize>) -> bool {
        self.stack.last().is_some_and(|top| top.function == function)
    }

    fn leave_kernel(&mut self, at: u64) {
        self.switch_on(at);
        self.saved.clear();
        self.preemption = 0;
        self.note_preemption(at);
        self.stack.clear();
    }

    fn enter(&mut self, entry: Entry, function: Option<usize>, at: u64) {
        if entry == Entry::Interrupt {
            // It could not have come: something not decoded enabled them.
            self.interrupts_off = None;
        }
        let were_on = self.interrupts_off.is_none();
        self.push(entry, function, None, were_on);
        self.switch_off(at);
    }

    fn push(
        &mut self,
        entry: Entry,
        function: Option<usize>,
        returns_to: Option<u64>,
        were_on: bool,
    ) {
        let parent = self.stack.last().map(|frame| frame.path);
        let path = self.path_of(parent, function, entry);
        let saved = self.saved.len();
        self.stack.push(Frame { path, function, returns_to, entry, were_on, saved });
    }

    fn path_of(&mut self, parent: Option<PathId>, function: Option<usize>, entry: Entry) -> PathId {
        let step = function.map_or(Step::Unknown, Step::Function);
        match (parent, function) {
            (Some(parent), Some(function)) if self.thunks[function] => parent,
            _ => self.paths.within(parent, step, entry),
        }
    }

    /// The innermost function has become another one.
    fn rename(&mut self, function: Option<usize>) {
        let Some(top) = self.stack.pop() else { return };
        let parent = self.stack.last().map(|frame| frame.path);
        let path = self.path_of(parent, function, top.entry);
        self.stack.push(Frame { path, function, ..top });
    }

    fn jump(&mut self, function: Option<usize>) {
        let Some(top) = self.stack.last().copied() else {
            return self.push(Entry::Call, function, None, true);
        };
        let is_same = top.function == function;
        let into_thunk = function.is_some_and(|function| self.thunks[function]);
        // Labels in the entry and exit code of the kernel are not functions.
        let is_label = top.entry != Entry::Call;
        if !(is_same || into_thunk || is_label) {
            self.rename(function);
        }
    }

    fn go_back(&mut self, address: u64, function: Option<usize>, is_begin: bool) {
        let inner = self.stack.iter().rposition(|frame| frame.entry != Entry::Call);
        let inner = inner.map_or(0, |entered| entered + 1);
        let fits = |frame: &Frame| frame.returns_to == Some(address);
        match self.stack[inner..].iter().rposition(fits) {
            Some(found) => {
                self.stack.truncate(inner + found);
                let is_other = self
                    .stack
                    .last()
                    .is_some_and(|top| top.entry == Entry::Call && top.function != function);
                if is_other {
                    self.rename(function);
                }
            }
            None if is_begin => self.jump(function),
            None => {
                self.stack.truncate(inner);
                if self.stack.last().is_none_or(|top| top.function != function) {
                    self.push(Entry::Call, function, None, true);
                }
            }
        }
    }
}

impl Facts {
    fn entry(&self, flow: Flow) -> Option<Entry> {
        self.entries[usize::from(flow == Flow::Asks)]
    }
}

fn is_user(address: u64) -> bool {
    address >> 63 == 0
}

/// Code that only jumps to where a register points.
fn is_thunk(name: &str) -> bool {
    name.starts_with("__x86_") || name.starts_with("srso_") || name.starts_with("__SCT__")
}
