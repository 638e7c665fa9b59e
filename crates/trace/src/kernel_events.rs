//! Events of the flight recorder, decoded by field names so that kernels of many years are read
//! alike.

use crate::format::{Field, Format};
use crate::names::unnamed_function;
use crate::page::{Event, Layout};
use latlab_model::flight::{PageRange, TraceFormats};
use std::collections::{BTreeMap, HashMap};

/// The pages of one CPU around a spike.
pub struct CpuTrace<'a> {
    /// The pages that belong to it.
    pub range: PageRange,
    /// Those that are present, in order, with their numbers.
    pub pages: Vec<(u32, &'a [u8])>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EventKind {
    /// A thread was put on the CPU.
    Switch {
        /// The outgoing thread.
        from: Task,
        /// How it left.
        left: Left,
        /// The incoming thread.
        to: Task,
    },
    /// A thread is woken.
    Waking(Task),
    /// The thread on the CPU starts another one.
    Fork(Task),
    /// A timer was started.
    TimerStart { timer: u64, expires: i64 },
    /// A timer calls its function.
    TimerExpire { timer: u64, function: u64 },
    /// The function has returned.
    TimerExit,
    /// An interrupt, a softirq or a tasklet begins.
    Enter(Interruption),
    /// The last one of this kind ends.
    Exit(Level),
    /// The interruption calls this function; `None` when it has returned.
    Calls(Option<u64>),
    /// A CPU's frequency changes, in kHz.
    Frequency { cpu: u32, khz: u64 },
    /// A worker begins this function.
    Work(u64),
    /// A worker has ended it.
    WorkEnd,
    /// A non-maskable interrupt has ended.
    Nmi {
        /// Its duration in nanoseconds.
        length: i64,
        /// The function that it called.
        function: u64,
    },
    /// A page fault.
    PageFault,
    /// The kernel printed a line.
    Printk,
    /// A step of CPU hot-plug begins or ends.
    Hotplug { begins: bool },
    /// The CPU enters this idle state; `None` when it leaves it.
    Idle(Option<i64>),
    /// Events were lost before this one.
    Lost,
    /// Anything else: it shows that the CPU ran.
    Other,
}

/// How a thread left its CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    /// Still runnable.
    Ready,
    /// Sleeping until something wakes it.
    Asleep,
    /// Waiting for a disk, a lock or memory; signals do not wake it.
    Uninterruptible,
    /// Stopped by a signal.
    Stopped,
    /// Stopped by a tracer.
    Traced,
}

impl Left {
    /// Decodes `prev_state`. Its low bits are the same in all kernels; the mark of a preempted
    /// thread is above them, in a different place in each.
    pub(crate) fn of(state: i64) -> Left {
        match state & 0xff {
            0 => Left::Ready,
            state if state & 4 != 0 => Left::Stopped,
            state if state & 8 != 0 => Left::Traced,
            state if state & 2 != 0 => Left::Uninterruptible,
            _ => Left::Asleep,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    pub id: i32,
    pub name: String,
    /// Its kernel priority.
    pub priority: Option<i32>,
}

/// The nesting level of an interruption: each level interrupts those below it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    Softirq,
    /// A tasklet in a softirq.
    Tasklet,
    /// A hardware interrupt.
    Interrupt,
    /// A device's handler in an interrupt.
    Handler,
}

/// What interrupts a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interruption {
    pub level: Level,
    pub name: String,
    /// The function it calls, if known at the beginning.
    pub function: Option<u64>,
}

/// One event with the thread that every event names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moment {
    /// Time on the clock of the trace.
    pub at: i64,
    /// The thread that was on the CPU.
    pub thread: i32,
    pub kind: EventKind,
}

/// The softirqs by number.
const SOFTIRQS: [&str; 10] =
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];
/// The state of `cpu_idle` when a CPU leaves idle.
const NOT_IDLE: i64 = 0xffff_ffff;

/// Reads the pages of a run.
pub struct EventReader {
    layout: Layout,
    kinds: HashMap<u16, Kind>,
    functions: BTreeMap<u64, String>,
}

/// Decoder of an event number.
struct Kind {
    event: String,
    format: Format,
}

impl EventReader {
    /// Parses the formats; the error names the one that cannot be parsed.
    pub fn new(formats: &TraceFormats) -> Result<EventReader, String> {
        let layout = Layout::parse(&formats.header_page)
            .ok_or_else(|| "the layout of the pages is unknown".to_string())?;
        let kinds = formats.events.iter().map(|one| {
            let format = Format::parse(&one.format)
                .map_err(|error| format!("the format of {}: {error}", one.event))?;
            Ok((format.id, Kind { event: one.event.clone(), format }))
        });
        let functions = formats.functions.iter().map(|one| (one.address, one.name.clone()));
        Ok(EventReader {
            layout,
            kinds: kinds.collect::<Result<_, String>>()?,
            functions: functions.collect(),
        })
    }

    /// The name of a function, or a placeholder until the stream delivers it.
    pub fn function(&self, address: u64) -> String {
        self.functions.get(&address).cloned().unwrap_or_else(|| unnamed_function(address))
    }

    /// The events in the pages of a CPU, ordered by time. A missing page or lost events appear as
    /// `EventKind::Lost` at the next event.
    pub fn moments(&self, trace: &CpuTrace) -> Vec<Moment> {
        let (mut moments, mut at) = (Vec::new(), i64::MIN);
        let mut expected = trace.range.first;
        for (number, page) in &trace.pages {
            let events = self.layout.events(page);
            // What was lost before the first page is older than all of this.
            let mut lost =
                *number != expected || (*number > trace.range.first && events.lost.is_some());
            expected = number.saturating_add(1);
            for mut moment in events.filter_map(|event| self.moment(&event)) {
                // The clock may step back by some nanoseconds while it is adjusted.
                at = at.max(moment.at);
                moment.at = at;
                if std::mem::take(&mut lost) {
                    moments.push(Moment { kind: EventKind::Lost, ..moment.clone() });
                }
                moments.push(moment);
            }
        }
        moments
    }

    fn moment(&self, event: &Event) -> Option<Moment> {
        let kind = self.kinds.get(&event.id)?;
        let number = |name: &str| kind.format.field(name)?.read(event.data);
        Some(Moment {
            at: i64::try_from(event.at).ok()?,
            thread: number("common_pid")? as i32,
            kind: kind.classify(event.data).unwrap_or(EventKind::Other),
        })
    }
}

impl Kind {
    fn field(&self, name: &str) -> Option<Field> {
        self.format.field(name)
    }

    fn number(&self, name: &str, data: &[u8]) -> Option<i64> {
        self.field(name)?.read(data)
    }

    fn text(&self, name: &str, data: &[u8]) -> Option<String> {
        self.field(name)?.text(data)
    }

    fn task(&self, prefix: &str, data: &[u8]) -> Option<Task> {
        Some(Task {
            id: self.number(&format!("{prefix}pid"), data)? as i32,
            name: self.text(&format!("{prefix}comm"), data)?,
            priority: self.number(&format!("{prefix}prio"), data).map(|priority| priority as i32),
        })
    }

    fn classify(&self, data: &[u8]) -> Option<EventKind> {
        let (group, name) = self.event.split_once('/')?;
        let number = |name: &str| self.number(name, data);
        let function = |name: &str| number(name).map(|address| address as u64);
        let enter =
            |level, name: String| EventKind::Enter(Interruption { level, name, function: None });
        Some(match (group, name) {
            ("sched", "sched_switch") => EventKind::Switch {
                from: self.task("prev_", data)?,
                left: Left::of(number("prev_state")?),
                to: self.task("next_", data)?,
            },
            ("sched", "sched_waking") => EventKind::Waking(self.task("", data)?),
            ("sched", "sched_process_fork") => EventKind::Fork(Task {
                id: number("child_pid")? as i32,
                name: self.text("child_comm", data)?,
                priority: None,
            }),
            ("timer", "hrtimer_start") => EventKind::TimerStart {
                timer: number("hrtimer")? as u64,
                expires: number("softexpires")?,
            },
            ("timer", "hrtimer_expire_entry") => EventKind::TimerExpire {
                timer: number("hrtimer")? as u64,
                function: function("function").unwrap_or(0),
            },
            ("timer", "hrtimer_expire_exit") => EventKind::TimerExit,
            ("irq", "irq_handler_entry") => {
                let device = self.text("name", data).unwrap_or_default();
                enter(Level::Handler, format!("{} {device}", number("irq")?))
            }
            ("irq", "irq_handler_exit") => EventKind::Exit(Level::Handler),
            ("irq", "softirq_entry") => {
                let vector = number("vec")?;
                let known = SOFTIRQS.get(usize::try_from(vector).ok()?).copied();
                enter(Level::Softirq, known.map_or_else(|| vector.to_string(), str::to_string))
            }
            ("irq", "softirq_exit") => EventKind::Exit(Level::Softirq),
            ("irq", "tasklet_entry") => EventKind::Enter(Interruption {
                level: Level::Tasklet,
                name: "TASKLET".to_string(),
                function: function("func"),
            }),
            ("irq", "tasklet_exit") => EventKind::Exit(Level::Tasklet),
            ("timer", "timer_expire_entry") => EventKind::Calls(function("function")),
            ("csd", "csd_function_entry") => EventKind::Calls(function("func")),
            ("timer", "timer_expire_exit") | ("csd", "csd_function_exit") => EventKind::Calls(None),
            ("ipi", "ipi_entry") => enter(Level::Interrupt, "IPI".to_string()),
            ("ipi", "ipi_exit") => EventKind::Exit(Level::Interrupt),
            ("irq_vectors", name) => match name.strip_suffix("_entry") {
                Some(vector) => enter(Level::Interrupt, vector.replace('_', " ")),
                None => EventKind::Exit(Level::Interrupt),
            },
            ("workqueue", "workqueue_execute_start") => EventKind::Work(number("function")? as u64),
            ("workqueue", "workqueue_execute_end") => EventKind::WorkEnd,
            ("nmi", "nmi_handler") => EventKind::Nmi {
                length: number("delta_ns")?,
                function: function("handler").unwrap_or(0),
            },
            ("exceptions", _) => EventKind::PageFault,
            ("printk", _) => EventKind::Printk,
            ("cpuhp", name) => EventKind::Hotplug { begins: name != "cpuhp_exit" },
            ("power", "cpu_frequency") => EventKind::Frequency {
                cpu: u32::try_from(number("cpu_id")?).ok()?,
                khz: u64::try_from(number("state")?).ok()?,
            },
            ("power", "cpu_idle") => {
                EventKind::Idle(number("state").filter(|state| state & NOT_IDLE != NOT_IDLE))
            }
            _ => EventKind::Other,
        })
    }
}
