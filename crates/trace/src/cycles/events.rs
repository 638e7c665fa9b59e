//! The kernel events that reveal the cycles of a program, read from the pages of its trace.

use super::calls::{Call, CallTable};
use crate::format::{Field, Format};
use crate::kernel_events::Left;
use crate::page::Event;
use std::collections::HashMap;

/// Recorded events; without these no cycle can be determined.
pub const NEEDED_EVENTS: [&str; 8] = [
    "raw_syscalls/sys_enter",
    "raw_syscalls/sys_exit",
    "timer/hrtimer_start",
    "sched/sched_switch",
    "sched/sched_waking",
    "sched/sched_process_fork",
    "sched/sched_process_exec",
    "sched/sched_process_exit",
];
/// Recorded if the kernel has it.
pub const PAGE_FAULTS: &str = "exceptions/page_fault_user";

/// Flags of an event that was written by an interrupt or softirq.
const IN_INTERRUPT: i64 = 0x08 | 0x10;

/// What a high-resolution timer is used for, by its function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimerUse {
    /// Wakes the thread that started it: a sleep, or the time-out of a call.
    Sleep,
    /// Belongs to a timerfd, a POSIX timer or an interval timer.
    Own,
    /// Replenishes the runtime of a SCHED_DEADLINE thread, or of the kernel's fair server.
    Deadline,
}

impl TimerUse {
    /// By the name of the kernel function; `None` for the kernel's internal timers.
    pub fn of(function: &str) -> Option<TimerUse> {
        match function {
            "hrtimer_wakeup" => Some(TimerUse::Sleep),
            "timerfd_tmrproc" | "posix_timer_fn" | "it_real_fn" | "alarmtimer_fired"
            | "timerfd_alarmproc" => Some(TimerUse::Own),
            "dl_task_timer" => Some(TimerUse::Deadline),
            _ => None,
        }
    }
}

/// A thread as a switch shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seat {
    pub id: i32,
    /// Kernel priority: smaller is more urgent, -1 is SCHED_DEADLINE.
    pub priority: i32,
    /// Its name, padded with zeros.
    pub name: [u8; 16],
}

impl Seat {
    pub fn name(&self) -> String {
        let end = self.name.iter().position(|byte| *byte == 0).unwrap_or(self.name.len());
        String::from_utf8_lossy(&self.name[..end]).into_owned()
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ProgramEventKind {
    /// The thread enters a system call.
    Enter {
        call: Call,
        arguments: [u64; 6],
    },
    /// The thread returns from a system call.
    Exit {
        call: Call,
        result: i64,
    },
    TimerStart {
        timer: u64,
        used_for: TimerUse,
        /// Earliest expiry, on the timer's clock.
        expires: i64,
    },
    /// A CPU switches from one thread to another.
    Switch {
        from: Seat,
        left: Left,
        to: Seat,
    },
    Waking {
        woken: i32,
    },
    /// The thread starts another one.
    Fork {
        child: i32,
    },
    /// The thread has executed another program.
    Exec {
        /// Its previous number.
        before: i32,
    },
    End,
    PageFault,
    /// Events of this CPU were lost before this one.
    Lost(u64),
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ProgramEvent {
    /// Time on CLOCK_MONOTONIC.
    pub at: i64,
    pub cpu: u32,
    /// The thread that the CPU ran.
    pub thread: i32,
    /// Whether an interrupt wrote it.
    pub in_interrupt: bool,
    pub kind: ProgramEventKind,
}

/// Positions of the fields of one event, in the order of its kind.
struct Fields {
    kind: Kind,
    fields: Vec<Field>,
}

#[derive(Clone, Copy)]
enum Kind {
    Enter,
    Exit,
    TimerStart,
    Switch,
    Waking,
    Fork,
    Exec,
    End,
    PageFault,
}

/// Reads events from pages.
pub struct ProgramEventReader {
    thread: Field,
    flags: Field,
    by_id: HashMap<u16, Fields>,
    calls: CallTable,
    functions: HashMap<i64, TimerUse>,
}

impl ProgramEventReader {
    /// Takes the formats of the events by name, and the addresses of the functions that
    /// [`TimerUse::of`] knows; the error says what the kernel lacks.
    pub fn new(
        formats: &[(String, String)],
        calls: CallTable,
        functions: HashMap<i64, TimerUse>,
    ) -> Result<ProgramEventReader, String> {
        let (mut by_id, mut common) = (HashMap::new(), None);
        for (event, text) in formats {
            let format = Format::parse(text).map_err(|error| format!("{event}: {error}"))?;
            let field = |name: &str| {
                format.field(name).ok_or_else(|| {
                    format!(
                        "the event {event} of this kernel has no field {name}: a newer latlab may \
                         support it"
                    )
                })
            };
            common = Some((field("common_pid")?, field("common_flags")?));
            let (kind, names): (Kind, &[&str]) = match event.as_str() {
                "raw_syscalls/sys_enter" => (Kind::Enter, &["id", "args"]),
                "raw_syscalls/sys_exit" => (Kind::Exit, &["id", "ret"]),
                "timer/hrtimer_start" => {
                    (Kind::TimerStart, &["hrtimer", "function", "softexpires"])
                }
                "sched/sched_switch" => (
                    Kind::Switch,
                    &[
                        "prev_pid",
                        "prev_prio",
                        "prev_comm",
                        "prev_state",
                        "next_pid",
                        "next_prio",
                        "next_comm",
                    ],
                ),
                "sched/sched_waking" => (Kind::Waking, &["pid"]),
                "sched/sched_process_fork" => (Kind::Fork, &["child_pid"]),
                "sched/sched_process_exec" => (Kind::Exec, &["old_pid"]),
                "sched/sched_process_exit" => (Kind::End, &[]),
                PAGE_FAULTS => (Kind::PageFault, &[]),
                _ => continue,
            };
            let fields = names.iter().map(|name| field(name)).collect::<Result<_, _>>()?;
            by_id.insert(format.id, Fields { kind, fields });
        }
        let (thread, flags) = common.ok_or("no event is described")?;
        Ok(ProgramEventReader { thread, flags, by_id, calls, functions })
    }

    /// Decodes an event of a page; `None` for other kinds.
    pub fn event(&self, cpu: u32, event: &Event) -> Option<ProgramEvent> {
        let Fields { kind, fields } = self.by_id.get(&event.id)?;
        let data = event.data;
        let number = |at: usize| fields.get(at)?.read(data);
        let seat = |at: usize| {
            let name = fields[at + 2];
            let bytes = data.get(name.offset..name.offset.checked_add(name.size)?)?;
            Some(Seat {
                id: number(at)? as i32,
                priority: number(at + 1)? as i32,
                name: bytes.try_into().ok()?,
            })
        };
        let kind = match kind {
            Kind::Enter => ProgramEventKind::Enter {
                call: self.calls.call(number(0)?),
                arguments: arguments(fields[1], data)?,
            },
            Kind::Exit => {
                ProgramEventKind::Exit { call: self.calls.call(number(0)?), result: number(1)? }
            }
            Kind::TimerStart => ProgramEventKind::TimerStart {
                timer: number(0)? as u64,
                used_for: *self.functions.get(&number(1)?)?,
                expires: number(2)?,
            },
            Kind::Switch => {
                let left = Left::of(number(3)?);
                // The incoming thread's fields follow the outgoing one's state.
                ProgramEventKind::Switch { from: seat(0)?, left, to: seat(4)? }
            }
            Kind::Waking => ProgramEventKind::Waking { woken: number(0)? as i32 },
            Kind::Fork => ProgramEventKind::Fork { child: number(0)? as i32 },
            Kind::Exec => ProgramEventKind::Exec { before: number(0)? as i32 },
            Kind::End => ProgramEventKind::End,
            Kind::PageFault => ProgramEventKind::PageFault,
        };
        Some(ProgramEvent {
            at: i64::try_from(event.at).ok()?,
            cpu,
            thread: self.thread.read(data)? as i32,
            in_interrupt: self.flags.read(data)? & IN_INTERRUPT != 0,
            kind,
        })
    }
}

/// The six arguments of a call, each one kernel word wide.
fn arguments(field: Field, data: &[u8]) -> Option<[u64; 6]> {
    let size = field.size / 6;
    let mut all = [0; 6];
    for (at, argument) in all.iter_mut().enumerate() {
        let one = Field { offset: field.offset + at * size, size, signed: false };
        *argument = one.read(data)? as u64;
    }
    Some(all)
}
