//! The instrument timerlat: the kernel's tracer measures a thread on each CPU, one of ours if the
//! kernel supports that, else its own. Its latencies pass through the same loop and recorder as all
//! others.

mod activations;
mod fields;
mod timer;
mod user;

pub use timer::KernelTimer;

use crate::layout::Layout;
use crate::monitor::{Readback, SettingList};
use crate::refusals::machine_refuses;
use crate::timerlat::fields::Fields;
use crate::timerlat::timer::Sleeper;
use latlab_model::frame::Refusal;
use latlab_model::plan::Timerlat;
use latlab_model::run::Setting;
use latlab_model::{CpuSet, Nanos};
use latlab_sys::files::Root;
use latlab_sys::tracefs::{Instance, Pipe, Tracefs};
use latlab_sys::undo::{Changes, Kind};
use std::sync::Arc;
use std::time::{Duration, Instant};

const TRACER: &str = "timerlat";
/// It shares its settings with this tracer, so the kernel runs only one of them.
const OTHER_TRACER: &str = "osnoise";
/// Size of each CPU's ring buffer: some seconds even at the tracer's shortest period.
const RING_KIB: &str = "2048";
/// Time between two reads of a ring buffer.
const PASS: Duration = Duration::from_millis(20);
/// The kernel's threads have started within this time.
const STARTING: Duration = Duration::from_secs(1);

/// A world-readable list of the kernel's functions, longer than any other file.
const SYMBOLS: (&str, u64) = ("proc/kallsyms", 64 << 20);
/// A function that comes with the tracer.
const SYMBOL: &str = " timerlat_irq";
/// The message if the kernel lacks it.
const NO_TRACER: &str = "this kernel has no timerlat tracer (CONFIG_TIMERLAT_TRACER): use --breakdown, \
                         which measures the same breakdown with tracepoints";

/// Refuses a kernel without the tracer, before asking for privileges that would not help.
pub fn expect_tracer(root: &Root) -> Result<(), Refusal> {
    let (symbols, largest) = SYMBOLS;
    let symbols =
        || root.read_limited(symbols, largest).ok().flatten().filter(|all| !all.is_empty());
    let listed = Tracefs::find(root).ok().and_then(|tracefs| tracefs.has_tracer(TRACER).ok());
    // A kernel whose list has neither may still have it.
    let lacks = match listed {
        Some(listed) => !listed,
        None => symbols().is_some_and(|all| !all.contains(SYMBOL)),
    };
    if lacks { Err(refusal(NO_TRACER.to_string())) } else { Ok(()) }
}

fn refusal(text: String) -> Refusal {
    machine_refuses(format!("--instrument timerlat: {text}"))
}

/// Sets the tracer up on the CPUs of the layout and starts it; a refusal says what is missing.
pub fn prepare(
    root: &Root,
    asked: Timerlat,
    layout: &Layout,
    changes: &mut Changes,
    settings: &mut SettingList,
) -> Result<Vec<KernelTimer>, Refusal> {
    let cpus: Vec<u32> = layout.threads.iter().flatten().copied().collect();
    let timers = start(root, asked.period_ns, &cpus, changes, settings);
    timers.map_err(refusal)
}

fn start(
    root: &Root,
    period: Nanos,
    cpus: &[u32],
    changes: &mut Changes,
    settings: &mut SettingList,
) -> Result<Vec<KernelTimer>, String> {
    let tracefs = Tracefs::find(root)?;
    if cpus.is_empty() {
        return Err("its threads are pinned: --policy deadline is not possible".to_string());
    }
    // Before any setting: it would change another user's measurement, and mix up the threads.
    if let Some((file, tracer)) = tracefs.in_use(&[TRACER, OTHER_TRACER]) {
        return Err(format!(
            "{file} is '{tracer}', which shares its settings: wait for the other program (rtla?), \
             or stop it with `echo nop | sudo tee {file}`"
        ));
    }
    let fields = Arc::new(Fields::read(&tracefs)?);
    let measured: CpuSet = cpus.iter().copied().collect();
    let period_us = (period.0 / 1_000).to_string();
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
                let readback = Readback::file(&path, &value);
                let setting = Setting::new(&path, value, applied);
                settings.push_monitored(root, Setting { matters: true, ..setting }, readback);
            }
            // Not every kernel can print stacks; one that cannot has nothing to switch off.
            Err(_) if file == "osnoise/print_stack" => {}
            Err(error) => return Err(format!("cannot write '{value}' to {path}: {error}")),
        }
    }
    let in_user_space = cpus.iter().all(|&cpu| tracefs.has(&user::file(cpu)));
    if in_user_space {
        let (path, word) = (tracefs.path_of("osnoise/options"), "NO_OSNOISE_WORKLOAD");
        let applied = changes
            .set_flag(&path, word)
            .map_err(|error| format!("cannot write '{word}' to {path}: {error}"))?;
        let (kind, value) = (Kind::Flag, word.to_string());
        let readback = Readback::Kernel { kind, path: path.clone(), value };
        let setting = Setting::new(&path, word.into(), applied);
        settings.push_monitored(root, Setting { matters: true, ..setting }, readback);
    }
    let breakdown = if in_user_space { "IRQ, thread, user" } else { "IRQ, kernel thread" };
    settings.push(Setting::new("breakdown of timerlat", breakdown.into(), breakdown.into()));
    let instance = tracefs.instance(changes)?;
    instance.set("buffer_size_kb", RING_KIB)?;
    // Before the trace is opened: the kernel refuses to change the tracer of an open trace.
    instance.set("current_tracer", TRACER)?;
    let pipes = cpus.iter().map(|&cpu| instance.pipe(cpu, fields.layout.page));
    let pipes = pipes.collect::<Result<Vec<Pipe>, String>>()?;
    instance.set("tracing_on", "1")?;
    let sleepers: Vec<Sleeper> = match in_user_space {
        true => cpus.iter().map(|&cpu| Sleeper::ToStart(tracefs.clone(), cpu)).collect(),
        false => {
            let ids = thread_ids(root, cpus).into_iter();
            ids.map(|id| Sleeper::Kernel(id, None)).collect()
        }
    };
    let period = period.0 / 1_000 * 1_000;
    let tracer = Arc::new(RunningTracer(instance));
    let timer = |((pipe, sleeper), thread)| {
        KernelTimer::new(thread, period, sleeper, pipe, Arc::clone(&fields), Arc::clone(&tracer))
    };
    Ok(pipes.into_iter().zip(sleepers).zip(0..).map(timer).collect())
}

/// The kernel's threads, named `timerlat/CPU`.
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

/// Ends the tracer before its instance is removed, which it would keep busy.
pub struct RunningTracer(Instance);

impl Drop for RunningTracer {
    fn drop(&mut self) {
        let _ = self.0.set("current_tracer", "nop");
    }
}
