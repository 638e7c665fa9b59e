//! Tests of the public interface: one program, a module per subject.

mod any_text;
mod cases;
mod catalogue;
mod commands;
mod golden;
mod words;
