//! Guests in virtual time: real kernels in QEMU, the same to the last bit.
//!
//! A guest brings its job with it and only sends: what a host says to it while it runs would
//! arrive at an instant of the host's.

mod archive;
mod cache;
mod devicetree;
mod emulator;
mod error;
mod fault;
mod fetch;
mod guest;
mod kernel;
mod machine;
mod program;
mod seat;
mod target;
mod unpacked;
mod words;

pub use cache::{Cache, Unpacked};
pub use error::{Error, Result};
pub use guest::{Guest, Identity};
pub use kernel::{Debian, Image, Kernel, Own, kernels};
pub use machine::{MACHINES, Machine};
pub use seat::Seat;
pub use target::{LEAST_MEMORY, Target};
