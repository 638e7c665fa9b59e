//! The functions of a kernel by address, from its own list.

/// What the compiler appends to the names of parts.
const PARTS: [&str; 5] = [".cold", ".part.", ".isra.", ".constprop.", ".llvm."];

/// Functions in the order of their addresses.
#[derive(Debug, Default)]
pub struct Symbols {
    /// Address and name.
    functions: Vec<(u64, String)>,
}

impl Symbols {
    /// From `/proc/kallsyms`.
    pub fn parse(text: &str) -> Symbols {
        let mut functions: Vec<(u64, String)> = text.lines().filter_map(function).collect();
        functions.sort_by(|a, b| a.0.cmp(&b.0).then(rank(&a.1).cmp(&rank(&b.1))));
        functions.dedup_by_key(|(address, _)| *address);
        // A part that the compiler has moved away belongs to its function.
        for (_, name) in &mut functions {
            let cut = PARTS.into_iter().filter_map(|part| name.find(part)).min();
            name.truncate(cut.unwrap_or(name.len()));
        }
        Symbols { functions }
    }

    /// The number of the function that an address lies in, and where in it.
    pub fn find(&self, address: u64) -> Option<(usize, u64)> {
        let after = self.functions.partition_point(|(begin, _)| *begin <= address);
        let number = after.checked_sub(1)?;
        Some((number, address - self.functions[number].0))
    }

    /// The name of a function.
    pub fn name(&self, number: usize) -> &str {
        &self.functions[number].1
    }
}

fn function(line: &str) -> Option<(u64, String)> {
    let mut words = line.split_whitespace();
    let (address, kind, name) = (words.next()?, words.next()?, words.next()?);
    let address = u64::from_str_radix(address, 16).ok()?;
    let is_code = matches!(kind, "t" | "T" | "w" | "W");
    // Marks of the compiler on arm64.
    (is_code && address >> 63 == 1 && !name.starts_with('$')).then(|| (address, name.to_string()))
}

/// Of several names in one place, the plainest.
fn rank(name: &str) -> (bool, bool, usize, String) {
    let is_mark = ["_start", "_end", "_begin", "_text"].iter().any(|end| name.ends_with(end));
    let is_alias = name.starts_with("__pfx_") || name.starts_with("__ia32_");
    (is_mark, is_alias, name.len(), name.to_string())
}
