//! Loads: their definitions, and what their output and kernel counters prove.
//!
//! A [`Definition`] is read from a TOML file and, with the user's parameters, becomes a
//! [`latlab_model::load::Load`] that leaves nothing open: `definition.rs` reads it, `resolve.rs`
//! makes the arguments of each program. After the run `judge.rs` decides from what was recorded
//! whether the load ran all the time. A load that did not makes the run `invalid`.

mod builtin;
mod definition;
mod digest;
mod judge;
mod measured_time;
mod parameter;
mod rates;
mod record;
mod resolve;
mod template;
mod values;

pub use builtin::BUILTIN_LOADS;
pub use definition::{Definition, Mistake};
pub(crate) use digest::LoadDigest;
pub use measured_time::MeasuredTime;
pub use parameter::{Kind, Parameter, Value};
pub use rates::RateReader;
pub use record::LoadRecord;
pub use resolve::{name_of, resolve};
