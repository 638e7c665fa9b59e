//! Plan to finished run: starts the agent, keeps the journal, feeds the live view.

pub mod live;
