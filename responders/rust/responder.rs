//! Raises a line when another one has risen, like a real-time program: with locked memory, and at a higher
//! priority than all ordinary programs.

use std::ffi::{c_int, c_long, c_ulong, c_void};
use std::fs::File;
use std::io::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const PRIORITY: c_int = 90;

/// `struct gpio_v2_line_request` of <linux/gpio.h>.
#[repr(C)]
struct LineRequest {
    offsets: [u32; 64],
    consumer: [u8; 32],
    flags: u64,
    attributes: u32,
    padding: [u32; 5],
    attribute: [[u64; 3]; 10],
    lines: u32,
    event_buffer: u32,
    padding_too: [u32; 5],
    fd: c_int,
}

/// `struct gpio_v2_line_values`.
#[repr(C)]
struct LineValues {
    bits: u64,
    mask: u64,
}

const INPUT: u64 = 1 << 2;
const OUTPUT: u64 = 1 << 3;
const EDGE_RISING: u64 = 1 << 4;
/// Bytes of `struct gpio_v2_line_event`.
const EVENT: usize = 48;

/// The ioctl number of a request of the character device that reads and writes a structure.
const fn request<T>(number: c_ulong) -> c_ulong {
    3 << 30 | (size_of::<T>() as c_ulong) << 16 | 0xb4 << 8 | number
}
const GET_LINE: c_ulong = request::<LineRequest>(0x07);
const SET_VALUES: c_ulong = request::<LineValues>(0x0f);

const FIFO: c_int = 1;
const LOCK_ALL: c_int = 3;
#[cfg(target_arch = "x86_64")]
const SCHED_SETSCHEDULER: c_long = 144;
#[cfg(target_arch = "aarch64")]
const SCHED_SETSCHEDULER: c_long = 119;

unsafe extern "C" {
    fn ioctl(fd: c_int, request: c_ulong, ...) -> c_int;
    fn mlockall(flags: c_int) -> c_int;
    fn syscall(number: c_long, ...) -> c_long;
    fn read(fd: c_int, buffer: *mut c_void, length: usize) -> isize;
}

fn check(result: c_long) -> Result<()> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(()) }
}

fn request_line(chip: &File, offset: u32, flags: u64) -> Result<OwnedFd> {
    // SAFETY: all bytes zero is a request of nothing.
    let mut request: LineRequest = unsafe { std::mem::zeroed() };
    request.offsets[0] = offset;
    request.consumer[..9].copy_from_slice(b"responder");
    (request.flags, request.lines) = (flags, 1);
    // SAFETY: the request lives as long as the call.
    check(unsafe { ioctl(chip.as_raw_fd(), GET_LINE, &mut request) }.into())?;
    // SAFETY: the kernel has just opened it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(request.fd) })
}

fn set(line: &OwnedFd, value: u64) -> Result<()> {
    let values = LineValues { bits: value, mask: 1 };
    // SAFETY: the values live as long as the call.
    check(unsafe { ioctl(line.as_raw_fd(), SET_VALUES, &values) }.into())
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().collect();
    let [_, chip, input, output] = &words[..] else {
        eprintln!("usage: {} /dev/gpiochipN INPUT OUTPUT", words[0]);
        std::process::exit(2);
    };
    let number = |word: &str| word.parse().map_err(|_| Error::other(format!("no line: {word}")));
    let chip = File::open(chip)?;
    let input = request_line(&chip, number(input)?, INPUT | EDGE_RISING)?;
    let output = request_line(&chip, number(output)?, OUTPUT)?;
    // SAFETY: it takes no pointer.
    check(unsafe { mlockall(LOCK_ALL) }.into())?;
    // SAFETY: the priority lives as long as the call. musl's own function does nothing.
    check(unsafe { syscall(SCHED_SETSCHEDULER, 0, FIFO, &PRIORITY) })?;
    println!("ready");
    let mut event = [0_u64; EVENT / 8];
    loop {
        // SAFETY: the event has this length.
        let length = unsafe { read(input.as_raw_fd(), event.as_mut_ptr().cast(), EVENT) };
        check(length as c_long)?;
        set(&output, 1)?;
        set(&output, 0)?;
    }
}
