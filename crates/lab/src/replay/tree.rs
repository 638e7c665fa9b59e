//! What ran, as a tree over time.

use super::context::Contexts;
use super::paths::PathId;
use super::result::TreeRow;
use super::tell::Scale;
use super::walk::Stretch;
use latlab_model::Nanos;

/// Rows shorter than this fraction of the latency are left out.
const SMALLEST: u64 = 50;
/// A nested row that takes this share of its parent goes on the same line.
const SAME_LINE: f64 = 0.95;
/// Longer chains begin a new row.
const LONGEST_CHAIN: usize = 4;

/// A thread or a function while it had the CPU.
struct Branch {
    step: Option<PathId>,
    name: String,
    from: u64,
    to: u64,
    inner: Vec<Branch>,
}

/// The rows of what ran.
pub(super) fn tree(
    stretches: &[Stretch],
    scale: Scale,
    contexts: &Contexts<'_>,
    thread: &dyn Fn(Option<u32>) -> String,
) -> Vec<TreeRow> {
    let mut roots: Vec<(Option<u32>, Branch)> = Vec::new();
    for one in stretches {
        let goes_on =
            roots.last().is_some_and(|(task, root)| *task == one.task && root.to == one.from);
        if !goes_on {
            roots.push((one.task, branch(None, thread(one.task), one)));
        }
        let Some((_, root)) = roots.last_mut() else { continue };
        root.to = one.to;
        let mut at = root;
        for step in contexts.paths.down(one.path) {
            let is_open =
                at.inner.last().is_some_and(|last| last.step == Some(step) && last.to == one.from);
            if !is_open {
                let name = contexts.paths.name(step, contexts.symbols).to_string();
                at.inner.push(branch(Some(step), name, one));
            }
            let last = at.inner.len() - 1;
            at = &mut at.inner[last];
            at.to = one.to;
        }
    }
    let whole: u64 = stretches.iter().map(|one| one.to - one.from).sum();
    let mut rows = Vec::new();
    for (_, root) in &roots {
        add(root, 0, (whole / SMALLEST).max(1), scale, &mut rows);
    }
    rows
}

fn branch(step: Option<PathId>, name: String, one: &Stretch) -> Branch {
    Branch { step, name, from: one.from, to: one.to, inner: Vec::new() }
}

fn add(branch: &Branch, depth: u32, smallest: u64, scale: Scale, rows: &mut Vec<TreeRow>) {
    let length = |one: &Branch| one.to - one.from;
    if length(branch) < smallest {
        return;
    }
    let (mut names, mut last) = (vec![branch.name.as_str()], branch);
    // A thread has its own row.
    while branch.step.is_some() && names.len() < LONGEST_CHAIN {
        let same = |one: &&Branch| length(one) as f64 >= SAME_LINE * length(branch) as f64;
        let Some(inner) = last.inner.iter().find(same) else { break };
        names.push(&inner.name);
        last = inner;
    }
    rows.push(TreeRow {
        depth,
        from_ns: scale.time(branch.from),
        length_ns: Nanos(length(branch) as i64),
        name: names.join(" > "),
    });
    for inner in &last.inner {
        add(inner, depth + 1, smallest, scale, rows);
    }
}
