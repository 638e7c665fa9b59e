//! Inputs of which a careless reader makes a false pass, or figures of something else, a file for each
//! kind. None is a file of anybody; all are what the tools, shells and log collectors make.

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
