//! The ring buffers of the flight recorder: a private trace instance with the events that explain a
//! late thread. Pages of selected CPUs around a moment are copied from it.

use crate::trace::page_layout;
use latlab_model::flight::{EventDescription, PageRange, TraceFormats};
use latlab_sys::files::Root;
use latlab_sys::tracefs::{Instance, Pipe, Tracefs};
use latlab_sys::undo::Changes;
use latlab_trace::{Field, Format, Layout};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::Range;

/// Events to record, if the kernel has them. Without the first ones nothing can be explained.
const NEEDED: [&str; 2] = ["sched/sched_switch", "sched/sched_waking"];
const EVENTS: [&str; 24] = [
    "sched/sched_process_fork",
    "timer/hrtimer_start",
    "timer/hrtimer_expire_entry",
    "timer/hrtimer_expire_exit",
    "timer/timer_expire_entry",
    "timer/timer_expire_exit",
    "irq/irq_handler_entry",
    "irq/irq_handler_exit",
    "irq/softirq_entry",
    "irq/softirq_exit",
    "irq/tasklet_entry",
    "irq/tasklet_exit",
    "power/cpu_idle",
    "power/cpu_frequency",
    "workqueue/workqueue_execute_start",
    "workqueue/workqueue_execute_end",
    "nmi/nmi_handler",
    "ipi/ipi_entry",
    "ipi/ipi_exit",
    "csd/csd_function_entry",
    "csd/csd_function_exit",
    "printk/console",
    "cpuhp/cpuhp_enter",
    "cpuhp/cpuhp_exit",
];
/// x86 interrupts without a number, each as `NAME_entry` and `NAME_exit`.
const VECTORS: [&str; 9] = [
    "local_timer",
    "reschedule",
    "call_function",
    "call_function_single",
    "irq_work",
    "x86_platform_ipi",
    "thermal_apic",
    "error_apic",
    "spurious_apic",
];
/// Page faults come in bursts; they are recorded if the kernel has these events.
const FAULTS: [&str; 2] = ["exceptions/page_fault_user", "exceptions/page_fault_kernel"];

/// Size of each CPU's ring buffer in KiB: about 100 ms of a busy CPU.
const LARGEST_RING: u64 = 4096;
const SMALLEST_RING: u64 = 64;
/// All ring buffers take at most this fraction of the memory.
const MEMORY_PART: u64 = 64;
/// Pages kept per CPU, since the kernel drops a page once it is read.
const REMEMBERED: usize = 1024;
/// Pages to read before yielding to other threads.
const AT_ONCE: usize = 16;

/// The ring buffers, switched off until they are opened.
pub struct FlightBuffer {
    instance: Instance,
    layout: Layout,
    /// Position of the thread number in every event.
    thread: Field,
    /// The format of the pages.
    pub formats: TraceFormats,
    cpus: HashMap<u32, CpuPages>,
}

struct ReadPage {
    begin: i64,
    bytes: Vec<u8>,
    is_sent: bool,
}

/// The pages of one CPU.
struct CpuPages {
    pipe: Pipe,
    /// The most recently read pages, by time.
    recent: VecDeque<ReadPage>,
    /// Number of the next page.
    next: u32,
}

impl FlightBuffer {
    /// Creates the trace, switched off; the error says what is missing and what to do.
    pub fn prepare(root: &Root, changes: &mut Changes) -> Result<FlightBuffer, String> {
        let tracefs = Tracefs::find(root)?;
        let layout = page_layout(&tracefs)?;
        let header_page = tracefs.read("events/header_page").unwrap_or_default();
        let names = NEEDED.into_iter().chain(EVENTS).chain(FAULTS).map(str::to_string);
        let vectors = VECTORS
            .iter()
            .flat_map(|vector| ["entry", "exit"].map(|end| format!("irq_vectors/{vector}_{end}")));
        let mut events = Vec::new();
        for event in names.chain(vectors) {
            match tracefs.read(&format!("events/{event}/format")) {
                Ok(format) => events.push(EventDescription { event, format }),
                Err(error) if NEEDED.contains(&event.as_str()) => {
                    return Err(format!("this kernel has no tracepoint {event}: {error}"));
                }
                Err(_) => {}
            }
        }
        let instance = tracefs.instance(changes)?;
        // The field is the same in all events.
        let format =
            events.first().and_then(|one: &EventDescription| Format::parse(&one.format).ok());
        let thread = format.and_then(|format| format.field("common_pid"));
        let thread = thread.ok_or("the events of this kernel have no field common_pid")?;
        let formats = TraceFormats { header_page, events, ..TraceFormats::default() };
        Ok(FlightBuffer { instance, layout, thread, formats, cpus: HashMap::new() })
    }

    /// Opens the buffers of all CPUs, and enables the events for when it is switched on.
    pub fn open(&mut self, root: &Root, cpus: &[u32]) -> Result<(), String> {
        let most = memory_kib(root) / MEMORY_PART / cpus.len().max(1) as u64;
        let ring = most.clamp(SMALLEST_RING, LARGEST_RING);
        self.instance.set("buffer_size_kb", &ring.to_string())?;
        self.formats.ring_kib = ring as u32;
        let mut refused = None;
        self.formats.events.retain(|one| {
            let set = self.instance.set(&format!("events/{}/enable", one.event), "1");
            let is_set = set.is_ok();
            if NEEDED.contains(&one.event.as_str()) {
                refused = refused.take().or(set.err());
            }
            is_set
        });
        if let Some(refused) = refused {
            return Err(refused);
        }
        for &cpu in cpus {
            let pipe = self.instance.pipe(cpu, self.layout.page)?;
            self.cpus.insert(cpu, CpuPages { pipe, recent: VecDeque::new(), next: 0 });
        }
        Ok(())
    }

    pub fn switch(&self, on: bool) {
        let _ = self.instance.set("tracing_on", if on { "1" } else { "0" });
    }

    /// Reads the pages of a CPU up to this time, calling `pause` now and then.
    pub fn read(&mut self, cpu: u32, to: i64, pause: impl Fn()) {
        if let Some(pages) = self.cpus.get_mut(&cpu) {
            pages.read_until(to, &self.layout, pause);
        }
    }

    /// Finds the pages that hold the events of a CPU between these times.
    pub fn range(&self, cpu: u32, from: i64, to: i64) -> Option<PageRange> {
        let pages = self.cpus.get(&cpu)?;
        let (recent, oldest) = (&pages.recent, pages.oldest());
        // The last page that begins before `from` may hold events after it.
        let first = recent.partition_point(|page| page.begin <= from).saturating_sub(1);
        let end = recent.partition_point(|page| page.begin <= to);
        Some(PageRange { cpu, first: oldest + first as u32, end: oldest + end.max(first) as u32 })
    }

    /// Threads that ran in a range between these times.
    pub fn threads(&self, range: &PageRange, from: i64, to: i64) -> BTreeSet<i32> {
        let pages = self.inside(range).flat_map(|(_, page)| self.layout.events(&page.bytes));
        let events = pages.filter(|event| (from..=to).contains(&(event.at as i64)));
        events.filter_map(|event| Some(self.thread.read(event.data)? as i32)).collect()
    }

    /// The remembered pages of a range, with their numbers.
    fn inside(&self, range: &PageRange) -> impl Iterator<Item = (u32, &ReadPage)> {
        let pages = self.cpus.get(&range.cpu);
        let recent = pages.into_iter().flat_map(|pages| (pages.oldest()..).zip(&pages.recent));
        let range = range.first..range.end;
        recent.filter(move |(number, _)| range.contains(number))
    }

    /// The unsent pages of a range, with their numbers.
    pub fn unsent(&self, range: &PageRange) -> impl Iterator<Item = (u32, &[u8])> {
        let unsent = self.inside(range).filter(|(_, page)| !page.is_sent);
        unsent.map(|(number, page)| (number, page.bytes.as_slice()))
    }

    pub fn mark_sent(&mut self, cpu: u32, numbers: Range<u32>) {
        let Some(pages) = self.cpus.get_mut(&cpu) else { return };
        let oldest = pages.oldest();
        for (_, page) in (oldest..).zip(&mut pages.recent).filter(|(at, _)| numbers.contains(at)) {
            page.is_sent = true;
        }
    }
}

impl CpuPages {
    fn oldest(&self) -> u32 {
        self.next - self.recent.len() as u32
    }

    fn read_until(&mut self, to: i64, layout: &Layout, pause: impl Fn()) {
        let mut read = 0;
        while self.recent.back().is_none_or(|page| page.begin <= to) {
            if read % AT_ONCE == 0 {
                pause();
            }
            read += 1;
            let Some(page) = self.pipe.next_page() else { return };
            let filled = layout.filled(page);
            let Some(begin) = layout.begin(page) else { continue };
            if self.recent.len() == REMEMBERED {
                self.recent.pop_front();
            }
            let bytes = page[..filled].to_vec();
            self.recent.push_back(ReadPage { begin: begin as i64, bytes, is_sent: false });
            self.next += 1;
        }
    }
}

/// The machine's memory in KiB; a small value if it cannot be read.
fn memory_kib(root: &Root) -> u64 {
    let text = root.read("proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    total.and_then(|value| value.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
