//! Guests in virtual time: real kernels in QEMU, with the same result for the same seed.
//!
//! A guest carries its plan in its file system and only sends: anything that the host says arrives at
//! an instant of the host. Its stream goes into a file in memory, since a full pipe would change what
//! the guest does next. All threads of QEMU share one CPU of the host.
//!
//! `cache.rs` downloads packages with the host's apt, with a configuration of its own, and unpacks them
//! below the user's cache. `kernel.rs` and `program.rs` know which packages; a PC's kernel is taken out
//! of its compressed image, which halves the start. `devicetree.rs` changes the description of boards
//! whose serial ports are off. `guest.rs` puts agent, modules and loads into an archive (`archive.rs`, cpio: the same bytes
//! from the same files). `machine.rs` has the command line of QEMU that makes two runs the same.
//! `module.rs` builds kernel modules, for faults and pins, against the headers of the guest's kernel;
//! `responder.rs` builds what answers edges in a guest; `wire.rs` leads an edge from one line of a board's own
//! GPIO controller to another.

mod archive;
mod btf;
mod cache;
mod config;
mod decompress;
mod devicetree;
mod emulator;
mod error;
mod guest;
mod host_cpu;
mod kernel;
mod kernel_map;
mod machine;
mod module;
mod plugin;
mod program;
mod python;
mod replay;
mod responder;
mod wire;

pub use cache::{Cache, Package};
pub use config::{GuestConfig, LEAST_MEMORY};
pub use error::{Error, Result};
pub use guest::{GuestImage, Identity};
pub use host_cpu::HostCpus;
pub use kernel::{DebianKernel, Image, Kernel, kernels};
pub use kernel_map::KernelMap;
pub use machine::{EmulatedMachine, MACHINES};
pub use replay::Recording;
pub use responder::command as responder_command;
pub use wire::BoardWire;
