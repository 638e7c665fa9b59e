//! Loads: what their definitions mean, and what their output and the kernel say of them.
//!
//! A [`Definition`] is read from a TOML file and, with the words of the user, becomes a
//! [`latlab_model::load::Load`] that leaves nothing open. When the run is over, [`Gathered`] makes
//! of what was seen the evidence that the load ran, or the findings that it did not.

mod definition;
mod gathered;
mod judge;
mod parameter;
mod rates;
mod resolve;
mod shipped;
mod template;
mod values;
mod window;

pub use definition::{Definition, Mistake};
pub use gathered::Gathered;
pub use parameter::{Kind, Parameter, Value};
pub use rates::RateReader;
pub use resolve::{name_of, resolve};
pub use shipped::SHIPPED;
pub use window::Window;
