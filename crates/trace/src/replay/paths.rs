//! Paths of calls: each is a function within another path, so that equal paths have one number.

use super::symbols::Symbols;
use std::collections::HashMap;

/// Number of a path.
pub type PathId = u32;

/// What a step of a path is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// A program.
    User,
    /// A function of the kernel, by its number.
    Function(usize),
    /// The kernel, in no function that is known.
    Unknown,
}

/// How the CPU came into a step from outside.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Entry {
    /// By a call, or a jump.
    Call,
    /// By a system call.
    SystemCall,
    /// By an interrupt.
    Interrupt,
    /// By an exception.
    Exception,
}

struct Node {
    parent: Option<PathId>,
    step: Step,
    entry: Entry,
}

/// All paths that were seen.
#[derive(Default)]
pub struct Paths {
    nodes: Vec<Node>,
    known: HashMap<(Option<PathId>, Step, Entry), PathId>,
}

impl Paths {
    /// The number of a step within a path.
    pub fn within(&mut self, parent: Option<PathId>, step: Step, entry: Entry) -> PathId {
        *self.known.entry((parent, step, entry)).or_insert_with(|| {
            self.nodes.push(Node { parent, step, entry });
            (self.nodes.len() - 1) as PathId
        })
    }

    /// Its steps from the innermost to the outermost.
    pub fn up(&self, path: PathId) -> impl Iterator<Item = PathId> {
        let mut next = Some(path);
        std::iter::from_fn(move || {
            let now = next?;
            next = self.nodes[now as usize].parent;
            Some(now)
        })
    }

    /// Its steps from the outermost to the innermost.
    pub fn down(&self, path: PathId) -> Vec<PathId> {
        let mut all: Vec<PathId> = self.up(path).collect();
        all.reverse();
        all
    }

    /// Its last step.
    pub fn step(&self, path: PathId) -> Step {
        self.nodes[path as usize].step
    }

    /// How its last step was entered.
    pub fn entry(&self, path: PathId) -> Entry {
        self.nodes[path as usize].entry
    }

    /// Without its last step.
    pub fn parent(&self, path: PathId) -> Option<PathId> {
        self.nodes[path as usize].parent
    }

    /// The name of its last step.
    pub fn name<'a>(&self, path: PathId, symbols: &'a Symbols) -> &'a str {
        match self.step(path) {
            Step::User => "the program",
            Step::Function(number) => symbols.name(number),
            Step::Unknown => "an unknown function",
        }
    }

    /// The innermost step of this name.
    pub fn find(&self, path: PathId, symbols: &Symbols, name: &str) -> Option<PathId> {
        self.up(path).find(|step| self.name(*step, symbols) == name)
    }

    /// Whether it is in a program.
    pub fn is_user(&self, path: PathId) -> bool {
        self.step(path) == Step::User
    }
}
