//! Guests in virtual time: real kernels in QEMU, the same to the last bit.
//!
//! A guest brings its job with it and only sends: what a host says to it while it runs would
//! arrive at an instant of the host's.

mod archive;
mod cache;
mod error;
mod guest;
mod kernel;
mod machine;
mod program;
mod target;
mod words;

pub use cache::{Cache, Unpacked};
pub use error::{Error, Result};
pub use guest::{Guest, Identity};
pub use kernel::{Image, Kernel, kernels};
pub use machine::{MACHINES, Machine};
pub use target::Target;
