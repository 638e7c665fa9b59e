//! What is shown while a run goes on.

pub mod console;
pub mod screen;
mod table;
#[cfg(test)]
mod tests;
pub mod view;
