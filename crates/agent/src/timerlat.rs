//! The instrument timerlat: the kernel's tracer measures with a thread of its own on each CPU, and
//! what it says goes the way of every latency, through the same loop and recorder.

use crate::layout::Layout;
use crate::legs::Ledger;
use crate::outbox::Outbox;
use crate::refusals::machine_refuses;
use latlab_measure::timer::{Timer, Wake};
use latlab_model::frame::{Message, Refusal};
use latlab_model::legs::CycleLegs;
use latlab_model::run::Setting;
use latlab_model::{CpuSet, Nanos, Plan};
use latlab_sys::Errno;
use latlab_sys::files::Root;
use latlab_sys::tracefs::{Instance, Pipe, Tracefs};
use latlab_sys::undo::Changes;
use latlab_trace::{Event, Field, Format, Layout as PageLayout};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

const TRACER: &str = "timerlat";
const FORMAT: &str = "events/ftrace/timerlat/format";
/// Values of the field `context`.
const IRQ: i64 = 0;
const THREAD: i64 = 1;
/// Room in the ring buffer of a CPU: some seconds, at the tracer's shortest period too.
const RING_KIB: &str = "2048";
/// Distance of two looks at a ring buffer.
const PASS: Duration = Duration::from_millis(20);
/// Looks for the activation after a late one.
const LOOKS_AHEAD: u32 = 5;
/// Distance of two frames of legs.
const FRAMES: Duration = Duration::from_secs(1);
/// The kernel's threads are there by then.
const STARTING: Duration = Duration::from_secs(1);

/// Sets the tracer up on the CPUs of the layout and starts it; a refusal says what is missing.
pub fn prepare(
    root: &Root,
    plan: &Plan,
    layout: &Layout,
    changes: &mut Changes,
    settings: &mut Vec<Setting>,
) -> Result<Vec<KernelTimer>, Refusal> {
    let cpus: Vec<u32> = layout.threads.iter().flatten().copied().collect();
    let timers = start(root, plan, &cpus, changes, settings);
    timers.map_err(|text| machine_refuses(format!("--instrument timerlat: {text}")))
}

fn start(
    root: &Root,
    plan: &Plan,
    cpus: &[u32],
    changes: &mut Changes,
    settings: &mut Vec<Setting>,
) -> Result<Vec<KernelTimer>, String> {
    let tracefs = Tracefs::find(root)?;
    if !tracefs.has_tracer(TRACER) {
        return Err("this kernel has no such tracer (CONFIG_TIMERLAT_TRACER): take --legs, which \
                    tells the same legs of the cyclic instrument by tracepoints"
            .to_string());
    }
    if cpus.is_empty() {
        return Err("its threads are pinned: take another --policy than deadline".to_string());
    }
    let fields = Arc::new(Fields::read(&tracefs)?);
    let measured: CpuSet = cpus.iter().copied().collect();
    let period_us = (plan.period_ns.0 / 1_000).to_string();
    for (file, value) in [
        ("osnoise/cpus", measured.to_string()),
        ("osnoise/timerlat_period_us", period_us),
        ("osnoise/stop_tracing_us", "0".to_string()),
        ("osnoise/stop_tracing_total_us", "0".to_string()),
        ("osnoise/print_stack", "0".to_string()),
    ] {
        let path = tracefs.path_of(file);
        match changes.set(&path, &value) {
            Ok(applied) => {
                settings.push(Setting { matters: true, ..Setting::new(&path, value, applied) });
            }
            // Not every kernel can print stacks, and one that cannot does not.
            Err(_) if file == "osnoise/print_stack" => {}
            Err(error) => return Err(format!("'{value}' cannot be written to {path}: {error}")),
        }
    }
    let instance = Arc::new(tracefs.instance(changes)?);
    instance.set("buffer_size_kb", RING_KIB)?;
    // Before anybody reads it: the kernel changes no tracer of a trace that is open.
    instance.set("current_tracer", TRACER)?;
    let pipes = cpus.iter().map(|&cpu| instance.pipe(cpu, fields.layout.page));
    let pipes = pipes.collect::<Result<Vec<Pipe>, String>>()?;
    instance.set("tracing_on", "1")?;
    let ids = thread_ids(root, cpus);
    let timer = |(pipe, thread): (Pipe, u32)| KernelTimer {
        thread_id: ids[thread as usize],
        pipe,
        fields: Arc::clone(&fields),
        series: Series::new(plan.period_ns.0 / 1_000 * 1_000),
        ready: VecDeque::new(),
        last: 0,
        ledger: Ledger::new(thread),
        outbox: None,
        frame_due: Instant::now() + FRAMES,
        counted_from: i64::MAX,
        _tracer: Running(Arc::clone(&instance)),
    };
    Ok(pipes.into_iter().zip(0..).map(timer).collect())
}

/// The kernel's threads, which are called `timerlat/CPU`.
fn thread_ids(root: &Root, cpus: &[u32]) -> Vec<Option<u32>> {
    let until = Instant::now() + STARTING;
    loop {
        let names = root.names("proc").unwrap_or_default();
        let all: Vec<(u32, String)> = names
            .iter()
            .filter_map(|name| Some((name.parse().ok()?, root.read(format!("proc/{name}/comm"))?)))
            .collect();
        let of = |cpu: &u32| {
            let wanted = format!("{TRACER}/{cpu}");
            all.iter().find(|(_, name)| *name == wanted).map(|(id, _)| *id)
        };
        let ids: Vec<Option<u32>> = cpus.iter().map(of).collect();
        if ids.iter().all(Option::is_some) || Instant::now() >= until {
            return ids;
        }
        std::thread::sleep(PASS);
    }
}

/// The tracer ends before its instance goes, which it would keep busy.
struct Running(Arc<Instance>);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.set("current_tracer", "nop");
    }
}

/// How the tracer's events lie.
struct Fields {
    layout: PageLayout,
    id: u16,
    sequence: Field,
    context: Field,
    latency: Field,
}

impl Fields {
    fn read(tracefs: &Tracefs) -> Result<Fields, String> {
        let unknown = |file: &str| {
            format!("{} is not as expected: another latlab may know it", tracefs.path_of(file))
        };
        let header = "events/header_page";
        let layout = tracefs.read(header).ok().and_then(|text| PageLayout::parse(&text));
        let format = tracefs.read(FORMAT).ok().and_then(|text| Format::parse(&text).ok());
        let format = format.ok_or_else(|| unknown(FORMAT))?;
        let field = |name| format.field(name).ok_or_else(|| unknown(FORMAT));
        Ok(Fields {
            layout: layout.ok_or_else(|| unknown(header))?,
            id: format.id,
            sequence: field("seqnum")?,
            context: field("context")?,
            latency: field("timer_latency")?,
        })
    }

    /// The number of the activation, where it was measured, and how late that was.
    fn event(&self, event: &Event) -> Option<(i64, i64, i64)> {
        let read = |field: Field| field.read(event.data);
        let own = event.id == self.id;
        own.then(|| Some((read(self.sequence)?, read(self.context)?, read(self.latency)?)))?
    }
}

/// One activation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Activation {
    release: i64,
    irq: Option<i64>,
    thread: i64,
}

/// What a CPU's events come to: activations with their releases. Pure.
struct Series {
    period: i64,
    /// The first release that was seen; all others are whole periods from it.
    origin: Option<i64>,
    /// Number and latency of the interrupt whose thread has not come.
    irq: Option<(i64, i64)>,
    last: Option<i64>,
    /// Activations that the numbers tell of and no event does.
    lost: u64,
}

impl Series {
    fn new(period: i64) -> Series {
        Series { period, origin: None, irq: None, last: None, lost: 0 }
    }

    /// Takes an event; the thread's completes an activation.
    fn take(&mut self, at: i64, sequence: i64, context: i64, latency: i64) -> Option<Activation> {
        match context {
            IRQ => self.irq = Some((sequence, latency)),
            THREAD => {
                if let Some(last) = self.last.replace(sequence) {
                    self.lost += (sequence - last - 1).max(0) as u64;
                }
                let irq = self.irq.take().filter(|(of, _)| *of == sequence);
                let irq = irq.map(|(_, latency)| latency);
                return Some(Activation {
                    release: self.release(at - latency),
                    irq,
                    thread: latency,
                });
            }
            _ => {}
        }
        None
    }

    /// The event is written a little after the clock was read, so that the release is the nearest
    /// one of the timer.
    fn release(&mut self, about: i64) -> i64 {
        let origin = *self.origin.get_or_insert(about);
        let periods = (about - origin + self.period / 2).div_euclid(self.period);
        origin + periods * self.period
    }
}

/// One thread of the kernel, read as a timer of the loop.
pub struct KernelTimer {
    /// The thread's number in the kernel.
    pub thread_id: Option<u32>,
    pipe: Pipe,
    fields: Arc<Fields>,
    series: Series,
    ready: VecDeque<Activation>,
    /// The release of the activation that was told last.
    last: i64,
    ledger: Ledger,
    outbox: Option<Outbox>,
    frame_due: Instant,
    counted_from: i64,
    _tracer: Running,
}

impl KernelTimer {
    /// Tells the legs to the stream.
    pub fn told_to(mut self, outbox: &Outbox) -> KernelTimer {
        self.outbox = Some(outbox.clone());
        self
    }

    /// Counts legs from this release on.
    pub fn counting_from(mut self, first: i64) -> KernelTimer {
        self.counted_from = first;
        self
    }

    /// Takes what the kernel has written since the last time.
    fn read(&mut self) {
        let KernelTimer { pipe, fields, series, ready, .. } = self;
        while let Some(page) = pipe.next_page() {
            for event in fields.layout.events(page) {
                let Some((sequence, context, latency)) = fields.event(&event) else { continue };
                ready.extend(series.take(event.at as i64, sequence, context, latency));
            }
        }
        self.ledger.events_lost(std::mem::take(&mut self.series.lost));
    }

    fn send(&mut self) {
        self.frame_due = Instant::now() + FRAMES;
        if let Some(outbox) = &self.outbox {
            self.ledger.send(|frame| outbox.offer(&Message::Legs(frame.clone())));
        }
    }
}

impl Timer for KernelTimer {
    /// Fails as if a signal had come while there is nothing, so that the loop looks around.
    fn wait(&mut self, release: i64) -> Result<Wake, Errno> {
        if self.ready.is_empty() {
            std::thread::sleep(PASS);
            self.read();
        }
        if Instant::now() >= self.frame_due {
            self.send();
        }
        // What was measured before the loop began is nobody's.
        while self.ready.front().is_some_and(|one| one.release < release - self.series.period / 2) {
            self.ready.pop_front();
        }
        let Some(Activation { release, irq, thread }) = self.ready.pop_front() else {
            return Err(Errno::INTR);
        };
        self.last = release;
        let legs = irq.map(|irq| CycleLegs {
            release_ns: Nanos(release),
            irq_ns: Nanos(irq),
            thread_ns: Nanos(thread),
        });
        if release >= self.counted_from {
            self.ledger.traced(Nanos(thread), legs);
        }
        Ok(Wake { due: release, at: release + thread })
    }

    /// As the kernel skipped: its next activation says it, which is waited for a little.
    fn passed(&mut self, latency: i64, period: i64) -> i64 {
        for _ in 0..LOOKS_AHEAD {
            if let Some(next) = self.ready.front() {
                return (next.release - self.last) / self.series.period - 1;
            }
            std::thread::sleep(PASS);
            self.read();
        }
        latency / period
    }
}

impl Drop for KernelTimer {
    fn drop(&mut self) {
        self.send();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activations_are_whole_periods_apart_and_what_is_missing_is_counted() {
        let mut series = Series::new(1_000_000);
        // As the kernel writes it: the interrupt's event, then the thread's, each a little late.
        let mut activation = |sequence, release: i64, irq, thread| {
            series.take(release + irq + 150, sequence, IRQ, irq);
            series.take(release + thread + 90 + sequence, sequence, THREAD, thread)
        };
        let first = activation(7, 0, 900, 4_000).unwrap();
        assert_eq!((first.irq, first.thread), (Some(900), 4_000));
        let next = activation(8, 1_000_000, 800, 5_000).unwrap();
        assert_eq!(next.release, first.release + 1_000_000);
        let skipped = activation(9, 4_000_000, 700, 5_000).unwrap();
        assert_eq!(skipped.release, first.release + 4_000_000);
        assert_eq!(series.lost, 0, "a release that was skipped is no lost event");
        series.take(0, 11, IRQ, 1);
        let alone = series.take(6_000_000, 12, THREAD, 4_000).unwrap();
        assert_eq!((alone.irq, series.lost), (None, 2));
        assert_eq!(series.take(7_000_000, 12, 2, 5_000), None, "the user leg is nobody's here");
    }
}
