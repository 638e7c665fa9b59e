//! Guests in virtual time: real kernels in QEMU, the same to the last bit.
//!
//! A guest brings its job with it and only sends: what a host says to it while it runs would
//! arrive at an instant of the host's.

mod archive;
mod arguments;
mod cache;
mod config;
mod devicetree;
mod emulator;
mod error;
mod fault;
mod fetch;
mod guest;
mod host_cpu;
mod kernel;
mod machine;
mod program;
mod unpacked;

pub use cache::{Cache, Unpacked};
pub use config::{GuestConfig, LEAST_MEMORY};
pub use error::{Error, Result};
pub use guest::{Guest, Identity};
pub use host_cpu::HostCpus;
pub use kernel::{Debian, Image, Kernel, kernels};
pub use machine::{MACHINES, Machine};
