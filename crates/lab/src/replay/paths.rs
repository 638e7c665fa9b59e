//! Call paths: each is a function within another path, so that equal paths have one number.

use super::symbols::Symbols;

/// Number of a path.
pub type PathId = u32;

/// A step of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    User,
    /// A kernel function, by number.
    Function(usize),
    /// The kernel, in no known function.
    Unknown,
}

/// How a step was entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// By a call or a jump.
    Call,
    SystemCall,
    Interrupt,
    Exception,
}

struct Node {
    parent: Option<PathId>,
    step: Step,
    entry: Entry,
    /// The most recently requested step within it.
    first: Option<PathId>,
    /// The step requested before it within the same path.
    next: Option<PathId>,
}

/// All paths seen.
#[derive(Default)]
pub struct Paths {
    nodes: Vec<Node>,
    /// The most recently requested outermost step.
    first: Option<PathId>,
}

impl Paths {
    /// The number of a step within a path. It is requested at each call, and mostly for the same
    /// step as before: a short list with the most recent first is faster than a table.
    pub fn within(&mut self, parent: Option<PathId>, step: Step, entry: Entry) -> PathId {
        let front = *self.first_within(parent);
        let (mut before, mut at) = (None, front);
        while let Some(found) = at {
            let node = &self.nodes[found as usize];
            let next = node.next;
            if node.step == step && node.entry == entry {
                if let Some(before) = before {
                    self.node(before).next = next;
                    self.node(found).next = front;
                    *self.first_within(parent) = Some(found);
                }
                return found;
            }
            (before, at) = (at, next);
        }
        let made = self.nodes.len() as PathId;
        self.nodes.push(Node { parent, step, entry, first: None, next: front });
        *self.first_within(parent) = Some(made);
        made
    }

    fn node(&mut self, path: PathId) -> &mut Node {
        &mut self.nodes[path as usize]
    }

    fn first_within(&mut self, parent: Option<PathId>) -> &mut Option<PathId> {
        match parent {
            Some(parent) => &mut self.nodes[parent as usize].first,
            None => &mut self.first,
        }
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

    /// The path without its last step.
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

    /// The innermost step with this name.
    pub fn find(&self, path: PathId, symbols: &Symbols, name: &str) -> Option<PathId> {
        self.up(path).find(|step| self.name(*step, symbols) == name)
    }

    /// Whether it is in a program.
    pub fn is_user(&self, path: PathId) -> bool {
        self.step(path) == Step::User
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_paths_have_one_number_in_whatever_order_they_are_met() {
        let mut paths = Paths::default();
        let steps = [Step::User, Step::Unknown, Step::Function(1), Step::Function(2)];
        let outer = steps.map(|step| paths.within(None, step, Entry::Call));
        let inner = steps.map(|step| paths.within(Some(outer[2]), step, Entry::Call));
        let mut all = [outer, inner].concat();
        for order in [[3, 0, 2, 1], [1, 1, 0, 3], [2, 3, 0, 1]] {
            for at in order {
                assert_eq!(paths.within(None, steps[at], Entry::Call), outer[at]);
                assert_eq!(paths.within(Some(outer[2]), steps[at], Entry::Call), inner[at]);
            }
        }
        all.push(paths.within(None, Step::User, Entry::Interrupt));
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 9);
        assert_eq!(paths.down(inner[3]), [outer[2], inner[3]]);
    }
}
