//! The conductor with scripted agents.

mod campaign;
mod process;
mod run;
mod scripted;
