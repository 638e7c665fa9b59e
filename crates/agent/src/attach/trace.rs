//! The kernel's trace of a program: a private instance that records only the events of its threads.

use crate::trace::{MergedPipes, expect_kernels_process_numbers, page_layout};
use latlab_model::CpuSet;
use latlab_sys::files::Root;
use latlab_sys::tracefs::{Instance, Tracefs};
use latlab_sys::undo::Changes;
use latlab_trace::Event;
use latlab_trace::cycles::{
    CallTable, NEEDED_EVENTS, PAGE_FAULTS, ProgramEvent, ProgramEventKind, ProgramEventReader,
    TimerUse,
};
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader};

/// Size of each CPU's ring buffer in KiB: enough for several reader passes of a program that makes
/// many calls.
const RING_KIB: std::ops::RangeInclusive<u64> = 256..=2048;
/// Size of all ring buffers together, in KiB.
const RINGS_KIB: u64 = 64 * 1024;
/// How often to list the threads again, to catch those that start meanwhile.
const LISTINGS: usize = 5;
/// The trace, switched off until the program is followed.
pub struct ProgramTrace {
    reader: ProgramEventReader,
    pipes: MergedPipes<ProgramEvent>,
    events: Vec<String>,
    /// Numbers of system calls that are not recorded.
    quick: Vec<usize>,
    instance: Instance,
}

impl ProgramTrace {
    /// Creates the trace; the error says what is missing and what to do.
    pub fn prepare(root: &Root, changes: &mut Changes) -> Result<ProgramTrace, String> {
        expect_kernels_process_numbers(root)?;
        let calls = CallTable::of(std::env::consts::ARCH).ok_or_else(|| {
            format!(
                "the system calls of {} are not known: attach works on x86-64, arm64 and riscv64",
                std::env::consts::ARCH
            )
        })?;
        let tracefs = Tracefs::find(root)?;
        let layout = page_layout(&tracefs)?;
        let mut formats = Vec::new();
        for event in NEEDED_EVENTS.into_iter().chain([PAGE_FAULTS]) {
            match tracefs.read(&format!("events/{event}/format")) {
                Ok(text) => formats.push((event.to_string(), text)),
                Err(_) if event == PAGE_FAULTS => {}
                Err(error) => {
                    return Err(format!("this kernel has no tracepoint {event}: {error}"));
                }
            }
        }
        let events = formats.iter().map(|(event, _)| event.clone()).collect();
        let quick = calls.quick_numbers();
        let reader = ProgramEventReader::new(&formats, calls, timer_functions(root)?)?;
        let instance = tracefs.instance(changes)?;
        Ok(ProgramTrace { reader, pipes: MergedPipes::new(layout), events, quick, instance })
    }

    /// Records these threads, and every thread they start, from now on.
    pub fn follow(
        &mut self,
        online: &CpuSet,
        mut threads: impl FnMut() -> BTreeSet<i32>,
    ) -> Result<BTreeSet<i32>, String> {
        let ring = RINGS_KIB / online.len().max(1) as u64;
        let ring = ring.clamp(*RING_KIB.start(), *RING_KIB.end());
        self.instance.set("buffer_size_kb", &ring.to_string())?;
        if !self.instance.has("options/event-fork") {
            return Err("this kernel cannot follow threads that a program starts \
                        (options/event-fork of tracefs): it needs Linux 4.7"
                .to_string());
        }
        self.instance.set("options/event-fork", "1")?;
        let mut listed = BTreeSet::new();
        for _ in 0..LISTINGS {
            let all = threads();
            if all.is_subset(&listed) {
                break;
            }
            listed.extend(all);
            // One write: the kernel takes as long for one number as for a thousand.
            let numbers: Vec<String> = listed.iter().map(i32::to_string).collect();
            self.instance.set("set_event_pid", &numbers.join(" "))?;
        }
        // An empty list would be no list: the kernel would record every thread of the machine.
        if listed.is_empty() {
            return Err("the program ended before it could be followed".to_string());
        }
        let read_back = self.instance.read("set_event_pid")?;
        let taken: BTreeSet<i32> =
            read_back.split_whitespace().filter_map(|number| number.parse().ok()).collect();
        // The kernel drops a thread that has ended from the list.
        if threads().intersection(&listed).any(|thread| !taken.contains(thread)) {
            return Err(
                "the kernel did not take the threads of the program into set_event_pid".to_string()
            );
        }
        let quick: Vec<String> = self.quick.iter().map(|call| format!("id != {call}")).collect();
        for event in &self.events {
            if event.starts_with("raw_syscalls/") {
                self.instance.set(&format!("events/{event}/filter"), &quick.join(" && "))?;
            }
            self.instance.set(&format!("events/{event}/enable"), "1")?;
        }
        self.pipes.open(&self.instance, online)?;
        self.instance.set("tracing_on", "1")?;
        Ok(listed)
    }

    /// Switches the trace off; its contents can still be read.
    pub fn stop(&self) {
        let _ = self.instance.set("tracing_on", "0");
    }

    /// Calls `on_event` for the events up to this time, in order.
    pub fn read(&mut self, until: i64, mut on_event: impl FnMut(&ProgramEvent)) {
        let ProgramTrace { reader, pipes, .. } = self;
        let decode = |cpu, event: &Event| reader.event(cpu, event);
        let lost = |count| ProgramEvent {
            at: 0,
            cpu: 0,
            thread: 0,
            in_interrupt: false,
            kind: ProgramEventKind::Lost(count),
        };
        pipes.read(until, decode, lost, |at, cpu, event| {
            on_event(&ProgramEvent { at, cpu, ..event });
        });
    }
}

/// Addresses of the functions that say what a timer is used for.
fn timer_functions(root: &Root) -> Result<HashMap<i64, TimerUse>, String> {
    let file = File::open(root.path("proc/kallsyms"))
        .map_err(|error| format!("cannot read /proc/kallsyms: {error}"))?;
    let mut functions = HashMap::new();
    for line in BufReader::with_capacity(1 << 16, file).lines().map_while(Result::ok) {
        let mut words = line.split_whitespace();
        let (Some(address), Some(_), Some(name)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        if let (Ok(address), Some(used_for)) =
            (u64::from_str_radix(address, 16), TimerUse::of(name))
        {
            functions.insert(address as i64, used_for);
        }
    }
    functions.remove(&0);
    match functions.is_empty() {
        false => Ok(functions),
        true => Err("/proc/kallsyms hides the addresses of the kernel's functions: use sudo, or \
                     set kernel.kptr_restrict=1"
            .to_string()),
    }
}
