//! The agent as the first process of a guest: sets up the machine, serves the job in the initramfs
//! over the port to the host, and powers off.

use crate::layout::SplitMix;
use crate::session::serve;
use latlab_sys::boot::{bring_up, load_module, mount, power_off, seed_random_generator};
use latlab_sys::child::{ChildExit, wait_for_any};
use latlab_sys::clock::{Clock, sleep_until};
use latlab_sys::terminal::make_raw;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// The first bytes of the stream, as the host would have sent them.
const JOB: &str = "/lab/job";
/// Random seed for the guest, in hexadecimal.
const SEED: &str = "/lab/seed";
/// Modules in load order, one path with parameters per line.
const MODULES: &str = "/lab/modules";
/// If present, send the kernel's addresses instead of serving a job.
const ADDRESSES: &str = "/lab/addresses";
/// The addresses, and the types of the objects there.
const ADDRESS_FILES: [&str; 2] = ["/proc/kallsyms", "/sys/kernel/btf/vmlinux"];
/// Names the port for the stream, if it is not the default one.
const PORT: &str = "/lab/port";
const USUAL_PORT: &str = "/dev/vport0p1";
/// How long the kernel may take to create the port.
const PORT_WITHIN: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(1);
/// Time since boot, in nanoseconds, after which a PC has settled on a clock source; a board is also
/// measured no sooner.
const SETTLED: i64 = 4_000_000_000;
/// Time for the kernel to print; a PREEMPT_RT kernel prints from its own threads.
const PRINTED_WITHIN: Duration = Duration::from_millis(200);

/// File systems, in mount order.
const MOUNTS: [(&str, &str); 8] = [
    ("proc", "/proc"),
    ("sysfs", "/sys"),
    ("devtmpfs", "/dev"),
    ("tmpfs", "/dev/shm"),
    ("tmpfs", "/tmp"),
    ("tmpfs", "/run"),
    ("tracefs", "/sys/kernel/tracing"),
    ("debugfs", "/sys/kernel/debug"),
];

/// Argument that makes this program the first process.
pub const BOOT: &str = "boot";
/// Argument with which the first process starts the measuring one.
pub const WORKER: &str = "serve-the-job";

/// Runs as the first process; returns only if the machine cannot be powered off.
pub fn boot() -> Result<(), String> {
    if let Err(text) = measure() {
        log(&text);
        thread::sleep(PRINTED_WITHIN);
    }
    power_off().map(|_| ()).map_err(|error| format!("cannot power off: {error}"))
}

/// Runs the measurement in another process, so that this one can reap what it leaves behind.
fn measure() -> Result<(), String> {
    for (kind, at) in MOUNTS {
        mount(kind, Path::new(at)).map_err(|error| format!("cannot mount {kind}: {error}"))?;
    }
    seed_random()?;
    // In virtual time this sleep takes no time.
    let _ = sleep_until(Clock::Monotonic, SETTLED);
    let modules = fs::read_to_string(MODULES).unwrap_or_default();
    for line in modules.lines() {
        let (path, parameters) = line.split_once(' ').unwrap_or((line, ""));
        load_module(Path::new(path), parameters)
            .map_err(|error| format!("cannot load {path}: {error}"))?;
    }
    bring_up("lo").map_err(|error| format!("cannot bring lo up: {error}"))?;
    fs::create_dir_all("/run/lock").map_err(|error| format!("cannot make /run/lock: {error}"))?;
    let console =
        || OpenOptions::new().write(true).open("/dev/console").map_or(Stdio::null(), Stdio::from);
    let mut worker = Command::new("/init");
    worker.arg(WORKER).stdin(Stdio::null()).stdout(console()).stderr(console());
    worker.env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin").env("HOME", "/tmp");
    let worker = worker.spawn().map_err(|error| format!("cannot start the worker: {error}"))?;
    while let Some(ended) = wait_for_any() {
        match ended {
            ChildExit { pid, .. } if pid != worker.id() => {}
            ChildExit { code: Some(0), .. } => return Ok(()),
            ChildExit { code, signal, .. } => {
                return Err(format!("the worker ended with code {code:?}, signal {signal:?}"));
            }
        }
    }
    Ok(())
}

/// Seeds the random generator. A board's is ready before its programs start; a guest has no entropy
/// source, so the kernel would rehash its pool each time a number is needed.
fn seed_random() -> Result<(), String> {
    let text = fs::read_to_string(SEED).map_err(|error| format!("{SEED}: {error}"))?;
    let seed = u64::from_str_radix(text.trim(), 16).map_err(|error| format!("{SEED}: {error}"))?;
    let mut random = SplitMix(seed);
    let seeded = seed_random_generator(std::array::from_fn(|_| random.next()));
    seeded.map_err(|error| format!("cannot seed the random generator: {error}"))
}

/// Serves the job over the port.
pub fn work() -> Result<(), String> {
    let mut port = open_port()?;
    if Path::new(ADDRESSES).exists() {
        return ADDRESS_FILES.into_iter().try_for_each(|path| {
            let file = File::open(path).and_then(|mut file| io::copy(&mut file, &mut port));
            file.map(|_| ()).map_err(|error| format!("{path}: {error}"))
        });
    }
    let job = File::open(JOB).map_err(|error| format!("{JOB}: {error}"))?;
    serve(job.chain(Silence), port)
}

/// Input after the job: a host that says nothing and stays connected.
struct Silence;

impl Read for Silence {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        loop {
            thread::park();
        }
    }
}

fn open_port() -> Result<File, String> {
    let name = fs::read_to_string(PORT).unwrap_or_else(|_| USUAL_PORT.to_string());
    let mut waited = Duration::ZERO;
    loop {
        match OpenOptions::new().write(true).open(&name) {
            Ok(port) => {
                // A terminal in cooked mode would change bytes.
                make_raw(&port);
                return Ok(port);
            }
            Err(_) if waited < PORT_WITHIN => {
                thread::sleep(LOOK);
                waited += LOOK;
            }
            Err(error) => return Err(format!("{name}: {error}; are its modules in {MODULES}?")),
        }
    }
}

fn log(text: &str) {
    // The kernel log reaches the console even if no program can open that; no other reader exists
    // here.
    if let Ok(mut kernel) = OpenOptions::new().write(true).open("/dev/kmsg") {
        let _ = kernel.write_all(format!("<3>latlab-agent: {text}\n").as_bytes());
    }
}
