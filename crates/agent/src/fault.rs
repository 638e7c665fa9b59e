//! Faults that a guest injects into itself, to show what they look like in a run.

use latlab_model::Nanos;
use latlab_model::fault::{Fault, InjectedFault};
use latlab_sys::boot::load_module;
use latlab_sys::clock::{Clock, set_realtime, sleep_until};
use latlab_sys::sched::{Scheduling, set_scheduling};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::net::UdpSocket;
use std::path::Path;
use std::thread;

/// Path of the kernel module that keeps interrupts off.
const IRQS_OFF: &str = "/lab/irqs_off.ko";
/// By default the kernel rate-limits messages from user space.
const LINES_LET_THROUGH: &str = "/proc/sys/kernel/printk_devkmsg";
/// Priority for a thread that only has to wake on time.
const ABOVE_ORDINARY: u32 = 2;
/// Size of a packet in bytes.
const PACKET: usize = 1400;

/// Injects the named fault, and keeps running as a load does.
pub fn inject(word: &str) -> Result<(), String> {
    let begun = Clock::Monotonic.now();
    let fault: Fault = word.parse()?;
    let failed = |error: io::Error| format!("cannot inject {}: {error}", fault.kind);
    let hogs = fault.kind == InjectedFault::FifoHog;
    // So that it gets its CPU on time under load.
    let first = Scheduling::Fifo(if hogs { fault.priority.into() } else { ABOVE_ORDINARY });
    set_scheduling(first).map_err(io::Error::from).map_err(failed)?;
    let at = begun + fault.at_ns.0;
    sleep_until(Clock::Monotonic, at).map_err(io::Error::from).map_err(failed)?;
    if !hogs {
        set_scheduling(Scheduling::Other).map_err(io::Error::from).map_err(failed)?;
    }
    run_fault(fault, at + fault.length_ns.0).map_err(failed)?;
    let _ = set_scheduling(Scheduling::Other);
    loop {
        thread::park();
    }
}

fn run_fault(fault: Fault, until: i64) -> io::Result<()> {
    match fault.kind {
        InjectedFault::IrqsOff => irqs_off(fault.length_ns),
        InjectedFault::PrintkStorm => printk_storm(until),
        InjectedFault::FifoHog => {
            while Clock::Monotonic.now() < until {
                std::hint::spin_loop();
            }
            Ok(())
        }
        InjectedFault::SoftirqFlood => softirq_flood(until),
        InjectedFault::ClockStep => {
            let time = Clock::Realtime.now() + fault.length_ns.0;
            set_realtime(time).map_err(io::Error::from)
        }
        InjectedFault::CpuOffline => {
            fs::write(format!("/sys/devices/system/cpu/cpu{}/online", fault.cpu), "0")
        }
        // The host injects this one.
        InjectedFault::HypervisorPause => Ok(()),
    }
}

/// The module works while it is loaded, then fails its init function so that it is not kept.
fn irqs_off(length: Nanos) -> io::Result<()> {
    match load_module(Path::new(IRQS_OFF), &format!("length_us={}", length.0 / 1000)) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
        other => other,
    }
}

fn printk_storm(until: i64) -> io::Result<()> {
    // The kernel accepts the word only with a newline.
    fs::write(LINES_LET_THROUGH, "on\n")?;
    let mut kernel = OpenOptions::new().write(true).open("/dev/kmsg")?;
    let mut number = 0;
    while Clock::Monotonic.now() < until {
        number += 1;
        // Level error, which the console prints even with `quiet`.
        kernel.write_all(format!("<3>latlab: line {number} of a storm\n").as_bytes())?;
    }
    Ok(())
}

/// The sender receives its own packets in softirqs; no process reads them, so most are dropped.
fn softirq_flood(until: i64) -> io::Result<()> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.connect(socket.local_addr()?)?;
    while Clock::Monotonic.now() < until {
        socket.send(&[0; PACKET])?;
    }
    Ok(())
}
