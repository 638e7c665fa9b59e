//! The conductor with agents that follow a script.

mod campaign;
mod process;
mod run;
mod scripted;
