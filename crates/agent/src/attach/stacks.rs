//! The stacks of the program's threads at their calls and page faults, each call site once. The
//! host finds the functions.

use latlab_model::call_site::{CallStack, CodeMapping};
use latlab_model::frame::Message;
use latlab_sys::files::Root;
use latlab_sys::tracefs::Tracefs;
use latlab_sys::user_stack::{STACK_BYTES, UserStack, UserStacks};
use latlab_trace::cycles::{Call, CallTable};
use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Most threads whose stacks are sampled, and call sites of each.
const MOST_THREADS: usize = 32;
const MOST_SITES: usize = 64;
/// Most samples of the call that ends a thread's cycle, once it is seen within a cycle too.
const MOST_OF_ACTIVATION: u32 = 4000;

/// Samples the stacks.
pub struct CallStacks {
    /// Number of the tracepoint.
    tracepoint: Option<u64>,
    calls: CallTable,
    threads: Vec<Watched>,
    /// Time, thread and site of each sample that is not matched with an event yet.
    samples: VecDeque<(i64, i32, u32)>,
    /// Stacks to send.
    pub found: Vec<Message>,
    sites: u32,
}

struct Watched {
    /// Its number among those that were found.
    thread: u32,
    id: i32,
    activation: Call,
    /// `None` if the kernel does not sample it.
    stacks: Option<UserStacks>,
    /// How many samples of the activation's call are still to be taken.
    of_activation: u32,
    code: Vec<CodeMapping>,
    /// The hash of each call site, and its number.
    known: Vec<(u64, u32)>,
    /// Where it waits for its releases.
    activation_site: Option<u32>,
}

impl CallStacks {
    pub fn new(tracefs: &Tracefs, calls: CallTable) -> CallStacks {
        let number = tracefs.read("events/raw_syscalls/sys_enter/id").ok();
        CallStacks {
            tracepoint: number.and_then(|number| number.trim().parse().ok()),
            calls,
            threads: Vec::new(),
            samples: VecDeque::new(),
            found: Vec::new(),
            sites: 0,
        }
    }

    /// Begins with a thread that waits for its releases in this call.
    pub fn watch(&mut self, thread: u32, id: i32, activation: Call) {
        if self.threads.len() >= MOST_THREADS {
            return;
        }
        let watched = Watched {
            thread,
            id,
            activation,
            stacks: self.open(id, Some(activation)),
            of_activation: MOST_OF_ACTIVATION,
            code: Vec::new(),
            known: Vec::new(),
            activation_site: None,
        };
        self.threads.push(watched);
    }

    /// Samples a thread. The kernel takes no second filter for one that is sampled already.
    fn open(&self, id: i32, without: Option<Call>) -> Option<UserStacks> {
        let holds = |call: Call| call.may_be_fault() && Some(call) != without;
        let numbers = self.calls.numbers(holds);
        let each: Vec<String> = numbers.iter().map(|number| format!("id == {number}")).collect();
        // A kernel that does not allow it leaves the call sites unknown.
        UserStacks::open(id, self.tracepoint?, &each.join(" || ")).ok()
    }

    /// Samples the call that ends its cycle too, since it is also made within one.
    pub fn watch_activation(&mut self, thread: u32) {
        let is_it = |one: &Watched| one.thread == thread && one.of_activation == MOST_OF_ACTIVATION;
        if let Some(at) = self.threads.iter().position(is_it) {
            self.watch_again(at, MOST_OF_ACTIVATION - 1);
        }
    }

    fn watch_again(&mut self, at: usize, of_activation: u32) {
        let Watched { id, activation, .. } = self.threads[at];
        let stacks = self.open(id, (of_activation == 0).then_some(activation));
        let watched = &mut self.threads[at];
        (watched.stacks, watched.of_activation) = (stacks, of_activation);
    }

    /// Takes the samples so far.
    pub fn read(&mut self, root: &Root) {
        for at in 0..self.threads.len() {
            let CallStacks { threads, samples, found, sites, .. } = self;
            let watched = &mut threads[at];
            let Some(mut stacks) = watched.stacks.take() else { continue };
            let mut is_exhausted = false;
            stacks.read(|stack| {
                if watched.of_activation < MOST_OF_ACTIVATION && watched.of_activation > 0 {
                    watched.of_activation -= 1;
                    is_exhausted |= watched.of_activation == 0;
                }
                let (at, id) = (stack.at, watched.id);
                if let Some(site) = watched.site(root, stack, sites, found) {
                    // Those of other threads may be later.
                    let before = samples.iter().rposition(|sample| sample.0 <= at);
                    samples.insert(before.map_or(0, |before| before + 1), (at, id, site));
                }
            });
            watched.stacks = Some(stacks);
            if is_exhausted {
                self.watch_again(at, 0);
            }
        }
    }

    /// The next sample until this time: when, of which thread, and its site.
    pub fn next_until(&mut self, at: i64) -> Option<(i64, i32, u32)> {
        self.samples.front().filter(|sample| sample.0 <= at)?;
        self.samples.pop_front()
    }

    /// The site of a thread's wait for its releases, once the thread is found there.
    pub fn activation_site(&mut self, root: &Root, thread: u32) -> Option<u32> {
        let CallStacks { threads, calls, sites, found, .. } = self;
        let watched = threads.iter_mut().find(|one| one.thread == thread)?;
        if watched.activation_site.is_none() {
            let numbers = calls.numbers(|call| call == watched.activation);
            let stack = sleeping(root, watched.id, *numbers.first()?)?;
            watched.activation_site = watched.site(root, stack, sites, found);
        }
        watched.activation_site
    }
}

impl Watched {
    /// The number of the call site of a stack, which is to be sent if it is new.
    fn site(
        &mut self,
        root: &Root,
        stack: UserStack,
        sites: &mut u32,
        found: &mut Vec<Message>,
    ) -> Option<u32> {
        if !self.code.iter().any(|code| code.has(stack.instruction)) {
            let maps = root.read(format!("proc/{}/maps", self.id))?;
            self.code = maps.lines().filter_map(CodeMapping::of_line).collect();
        }
        // Variables on the stack differ each time, return addresses do not.
        let words = stack.stack.chunks_exact(8).filter_map(|word| word.try_into().ok());
        let words = words.map(u64::from_le_bytes).chain([stack.instruction, stack.link]);
        let (mut hash, mut code) = (0_u64, Vec::new());
        for word in words {
            let Some(to) = self.code.iter().find(|code| code.has(word)) else { continue };
            hash = (hash ^ word).wrapping_mul(0x100_0000_01b3).rotate_left(23);
            if !code.contains(to) {
                code.push(to.clone());
            }
        }
        if let Some((_, known)) = self.known.iter().find(|(known, _)| *known == hash) {
            return Some(*known);
        }
        if self.known.len() >= MOST_SITES {
            return None;
        }
        let site = *sites;
        self.known.push((hash, site));
        *sites += 1;
        let UserStack { instruction, pointer, frame, link, stack, .. } = stack;
        let stack = CallStack { site, instruction, pointer, frame, link, stack, code };
        found.push(Message::CallStack(stack));
        Some(site)
    }
}

/// The stack of a thread that sleeps in this call.
fn sleeping(root: &Root, id: i32, number: usize) -> Option<UserStack> {
    let path = format!("proc/{id}/syscall");
    let text = root.read(&path)?;
    let mut words = text.split_whitespace();
    if words.next()?.parse() != Ok(number) {
        return None;
    }
    let mut address =
        |skip| u64::from_str_radix(words.nth(skip)?.trim_start_matches("0x"), 16).ok();
    let (pointer, instruction) = (address(6)?, address(0)?);
    let mut stack = vec![0; STACK_BYTES];
    let memory = File::open(root.path(format!("proc/{id}/mem"))).ok()?;
    let length = memory.read_at(&mut stack, pointer).ok()?;
    stack.truncate(length);
    // Whether it has slept all the time.
    (root.read(&path)? == text).then_some(UserStack {
        at: 0,
        instruction,
        pointer,
        frame: 0,
        link: 0,
        stack,
    })
}
