//! Inputs that a careless reader would falsely pass, or misread, one file per kind. None is a real
//! user's file; all are what the tools, shells and log collectors produce.

mod censored;
mod columns;
mod cut;
mod damaged;
mod damaged_tools;
mod good;
mod keys;
mod mixed;
mod numbers;
pub mod prefixes;
mod several;
mod statements;
mod statements_of_tools;
mod texts;
mod tools;
mod values;
