//! Guests in virtual time: real kernels in QEMU, with the same result for the same seed.
//!
//! A guest carries its plan in its file system and only sends: anything that the host sent would
//! arrive at a time that the host determines. Its stream goes into a file in memory, since a full
//! pipe would change what the guest does next. All threads of QEMU share one host CPU.
//!
//! `cache.rs` downloads packages with the host's apt, with a private configuration, and unpacks
//! them below the user's cache. `kernel.rs` and `program.rs` know which packages; a PC's kernel is
//! extracted from its compressed image, which halves the start. `devicetree.rs` edits the device
//! tree of boards whose serial ports are off. `guest.rs` puts agent, modules and loads into an
//! archive (`archive.rs`, cpio: the same bytes from the same files). `machine.rs` has the command
//! line of QEMU that makes two runs the same. `module.rs` builds kernel modules, for faults and
//! pins, against the headers of the guest's kernel; `responder.rs` builds what answers edges in a
//! guest; `wire.rs` carries an edge from one line of a board's own GPIO controller to another.
//!
//! `instruction_trace.rs` has a guest run again with a plugin that records what it executes, and `replay/` follows
//! the instructions.

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
mod instruction_trace;
mod kernel;
mod kernel_map;
mod machine;
mod module;
mod plugin;
mod program;
mod python;
pub mod replay;
mod responder;
mod wire;

pub use cache::{Cache, Package};
pub use config::GuestConfig;
pub use error::{Error, Result};
pub use guest::{GuestImage, Identity};
pub use host_cpu::HostCpus;
pub use instruction_trace::InstructionTrace;
pub use kernel::{DebianKernel, Image, Kernel, kernels};
pub use kernel_map::KernelMap;
pub use machine::{EmulatedMachine, MACHINES};
pub use responder::command as responder_command;
pub use wire::BoardWire;
