//! GPIO lines, through version 2 of the kernel's character device interface.

use crate::{Errno, checked};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::time::Duration;

/// `_IOWR(0xb4, 0x07, struct gpio_v2_line_request)`, the same on all supported processors.
const GET_LINE: u32 = 0xc250_b407;
/// `_IOWR(0xb4, 0x0f, struct gpio_v2_line_values)`.
const SET_VALUES: u32 = 0xc010_b40f;
const FLAG_INPUT: u64 = 1 << 2;
const FLAG_OUTPUT: u64 = 1 << 3;
const FLAG_EDGE_RISING: u64 = 1 << 4;

/// `struct gpio_v2_line_config_attribute`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Attribute {
    id: u32,
    padding: u32,
    value: u64,
    mask: u64,
}

/// `struct gpio_v2_line_request`, including the configuration.
#[repr(C)]
struct Request {
    offsets: [u32; 64],
    consumer: [u8; 32],
    flags: u64,
    attribute_count: u32,
    config_padding: [u32; 5],
    attributes: [Attribute; 10],
    line_count: u32,
    event_buffer_size: u32,
    padding: [u32; 5],
    descriptor: i32,
}

/// `struct gpio_v2_line_values`.
#[repr(C)]
struct Values {
    bits: u64,
    mask: u64,
}

// The sizes encoded in the ioctl numbers.
const _: () = assert!(size_of::<Request>() == 592 && size_of::<Values>() == 16);

/// Size of `struct gpio_v2_line_event`, which begins with its time.
const EVENT_BYTES: usize = 48;

/// An output line.
#[derive(Debug)]
pub struct OutputLine(OwnedFd);

impl OutputLine {
    /// Requests a line of a chip, such as `/dev/gpiochip0`, and drives it low.
    pub fn request(chip: &Path, offset: u32) -> io::Result<OutputLine> {
        request(chip, offset, FLAG_OUTPUT).map(OutputLine)
    }

    /// Drives the line high or low.
    #[inline]
    pub fn set(&self, high: bool) -> Result<(), Errno> {
        let mut values = Values { bits: high.into(), mask: 1 };
        // SAFETY: the line is open, and the kernel reads and writes a record of the size in the
        // ioctl number.
        let done = unsafe { libc::ioctl(self.0.as_raw_fd(), SET_VALUES as _, &raw mut values) };
        checked(done.into()).map(drop)
    }
}

/// An input line whose rising edges the kernel reports.
#[derive(Debug)]
pub struct EdgeLine(OwnedFd);

impl EdgeLine {
    /// Requests a line of a chip as an input.
    pub fn request(chip: &Path, offset: u32) -> io::Result<EdgeLine> {
        request(chip, offset, FLAG_INPUT | FLAG_EDGE_RISING).map(EdgeLine)
    }

    /// Sleeps until an edge; returns the kernel's time stamp on CLOCK_MONOTONIC.
    #[inline]
    pub fn wait(&self) -> Result<i64, Errno> {
        let mut event = [0_u8; EVENT_BYTES];
        match rustix::io::read(&self.0, &mut event)? {
            EVENT_BYTES => {
                let [a, b, c, d, e, f, g, h, ..] = event;
                Ok(i64::from_ne_bytes([a, b, c, d, e, f, g, h]))
            }
            _ => Err(Errno::IO),
        }
    }

    /// As [`EdgeLine::wait`], but no longer than this; `None` if no edge came.
    pub fn wait_for(&self, longest: Duration) -> Result<Option<i64>, Errno> {
        let longest =
            Timespec { tv_sec: longest.as_secs() as _, tv_nsec: longest.subsec_nanos() as _ };
        let mut polled = [PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::IN)];
        match poll(&mut polled, Some(&longest))? {
            0 => Ok(None),
            _ => self.wait().map(Some),
        }
    }
}

fn request(chip: &Path, offset: u32, flags: u64) -> io::Result<OwnedFd> {
    let file: File = OpenOptions::new().read(true).write(true).open(chip)?;
    let no_attribute = Attribute { id: 0, padding: 0, value: 0, mask: 0 };
    let mut request = Request {
        offsets: [0; 64],
        consumer: [0; 32],
        flags,
        attribute_count: 0,
        config_padding: [0; 5],
        attributes: [no_attribute; 10],
        line_count: 1,
        event_buffer_size: 0,
        padding: [0; 5],
        descriptor: -1,
    };
    request.offsets[0] = offset;
    request.consumer[..6].copy_from_slice(b"latlab");
    // SAFETY: the chip is open, and the kernel reads and writes a record of the size in the ioctl
    // number.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), GET_LINE as _, &raw mut request) };
    checked(done.into())?;
    // SAFETY: the kernel has just opened this descriptor, so it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(request.descriptor) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_chip_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(OutputLine::request(file.path(), 0).is_err());
        let missing = EdgeLine::request(Path::new("/dev/gpiochip999"), 0).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
