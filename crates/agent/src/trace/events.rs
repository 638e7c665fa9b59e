//! The kernel's trace of the measuring threads: which events it records, and how they are read.

use super::pipes::MergedPipes;
use latlab_model::run::ThreadSetup;
use latlab_model::{CpuSet, Nanos};
use latlab_sys::files::Root;
use latlab_sys::tracefs::{Instance, Tracefs};
use latlab_sys::undo::Changes;
use latlab_trace::{Event, Field, Format, KernelEvent, Layout};

const HRTIMER_START: &str = "timer/hrtimer_start";
const HRTIMER_EXPIRE: &str = "timer/hrtimer_expire_entry";
const SCHED_SWITCH: &str = "sched/sched_switch";

/// Bytes per cycle in the ring buffer: three events, and some of other threads.
const CYCLE_BYTES: i64 = 200;
/// Size of a CPU's ring buffer in KiB.
const RING_KIB: std::ops::RangeInclusive<i64> = 256..=8192;

/// The fields that are read, and the numbers of their events.
struct Fields {
    start: u16,
    start_thread: Field,
    start_timer: Field,
    start_function: Field,
    start_release: Field,
    expire: u16,
    expire_timer: Field,
    switch: u16,
    switch_next: Field,
}

impl Fields {
    fn read(tracefs: &Tracefs) -> Result<Fields, String> {
        let format = |event: &str| {
            let file = format!("events/{event}/format");
            let text = tracefs.read(&file).map_err(|error| {
                format!("this kernel has no tracepoint {}: {error}", tracefs.path_of(&file))
            })?;
            Format::parse(&text).map_err(|error| format!("{}: {error}", tracefs.path_of(&file)))
        };
        let field = |format: &Format, name: &str| {
            format.field(name).ok_or_else(|| {
                format!(
                    "the event {} of this kernel has no field {name}: a newer latlab may support it",
                    format.id
                )
            })
        };
        let (start, expire, switch) =
            (format(HRTIMER_START)?, format(HRTIMER_EXPIRE)?, format(SCHED_SWITCH)?);
        Ok(Fields {
            start: start.id,
            start_thread: field(&start, "common_pid")?,
            start_timer: field(&start, "hrtimer")?,
            start_function: field(&start, "function")?,
            // The requested time; `expires` adds the thread's slack.
            start_release: field(&start, "softexpires")?,
            expire: expire.id,
            expire_timer: field(&expire, "hrtimer")?,
            switch: switch.id,
            switch_next: field(&switch, "next_pid")?,
        })
    }
}

/// A private trace instance.
pub struct KernelTrace {
    fields: Fields,
    pipes: MergedPipes<KernelEvent>,
    /// Whether other processes' timers are filtered out.
    filtered: bool,
    /// Last field, so that all readers are closed before it is removed.
    instance: Instance,
}

impl KernelTrace {
    /// Creates the trace, switched off.
    pub fn prepare(root: &Root, changes: &mut Changes) -> Result<KernelTrace, String> {
        let tracefs = Tracefs::find(root)?;
        let pipes = MergedPipes::new(page_layout(&tracefs)?);
        let fields = Fields::read(&tracefs)?;
        let instance = tracefs.instance(changes)?;
        Ok(KernelTrace { fields, pipes, filtered: false, instance })
    }

    /// Limits it to these threads, on these CPUs.
    pub fn set_filters(&mut self, threads: &[ThreadSetup], online: &CpuSet) -> Result<(), String> {
        let ids = || threads.iter().filter_map(|thread| thread.thread_id);
        let (low, high) = (ids().min().unwrap_or(0), ids().max().unwrap_or(0));
        // The kernel numbers threads in order, so two comparisons do; a list would cost each
        // context switch one comparison per thread.
        let among = |field: &str| format!("{field} >= {low} && {field} <= {high}");
        let set = |file: String, value: &str| self.instance.set(&file, value);
        set("buffer_size_kb".into(), &ring_kib(threads).to_string())?;
        for event in [HRTIMER_START, HRTIMER_EXPIRE, SCHED_SWITCH] {
            set(format!("events/{event}/enable"), "1")?;
        }
        set(format!("events/{HRTIMER_START}/filter"), &among("common_pid"))?;
        set(format!("events/{SCHED_SWITCH}/filter"), &among("next_pid"))?;
        // A timer may migrate to another CPU, and a thread may float.
        self.pipes.open(&self.instance, online)
    }

    /// Switches it on or off; the events show the state.
    pub fn switch(&self, on: bool) {
        let _ = self.instance.set("tracing_on", if on { "1" } else { "0" });
    }

    /// Calls `on_event` for everything up to this time, in order; younger events stay for the next
    /// call.
    pub fn read(&mut self, until: i64, on_event: impl FnMut(i64, u32, KernelEvent)) {
        let KernelTrace { fields, pipes, .. } = self;
        let decode = |_, event: &Event| fields.event(event.id, event.data);
        pipes.read(until, decode, KernelEvent::Lost, on_event);
    }

    /// Filters out other processes' timers once the function of ours is known; a kernel that cannot
    /// distinguish them records all.
    pub fn filter_timer_function(&mut self, function: i64) {
        if !std::mem::replace(&mut self.filtered, true) {
            let filter = format!("function == {function:#x}");
            let _ = self.instance.set(&format!("events/{HRTIMER_EXPIRE}/filter"), &filter);
        }
    }
}

impl Fields {
    fn event(&self, id: u16, data: &[u8]) -> Option<KernelEvent> {
        let thread_id = |field: Field| field.read(data).map(|id| id as i32);
        match id {
            id if id == self.start => Some(KernelEvent::Armed {
                thread_id: thread_id(self.start_thread)?,
                timer: self.start_timer.read(data)?,
                function: self.start_function.read(data)?,
                release: self.start_release.read(data)?,
            }),
            id if id == self.expire => {
                Some(KernelEvent::Expired { timer: self.expire_timer.read(data)? })
            }
            id if id == self.switch => {
                Some(KernelEvent::Switched { thread_id: thread_id(self.switch_next)? })
            }
            _ => None,
        }
    }
}

/// The page layout of this kernel's trace.
pub fn page_layout(tracefs: &Tracefs) -> Result<Layout, String> {
    let text = tracefs.read("events/header_page").unwrap_or_default();
    let file = tracefs.path_of("events/header_page");
    Layout::parse(&text)
        .ok_or_else(|| format!("{file} has an unknown format: a newer latlab may support it"))
}

/// Room for one second, so that the reader may be that late.
fn ring_kib(threads: &[ThreadSetup]) -> i64 {
    // Floating threads may all end up on one CPU.
    let on = |cpu: Option<u32>| threads.iter().filter(move |thread| thread.cpu == cpu);
    let each = |period: Nanos| 1_000_000_000 / period.0.max(1);
    let rate = |cpu| on(cpu).filter_map(|thread| thread.period_ns.map(each)).sum::<i64>();
    let busiest = threads.iter().map(|thread| rate(thread.cpu)).max().unwrap_or(0);
    (busiest.saturating_mul(CYCLE_BYTES) / 1024).clamp(*RING_KIB.start(), *RING_KIB.end())
}
