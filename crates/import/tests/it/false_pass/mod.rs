//! Inputs of which a careless reader makes a false pass, or figures of something else, a file for each
//! kind. None is a file of anybody; all are what the tools, shells and log collectors make.

mod several;
mod texts;
