//! The functions of a kernel by address, from its own list.

use std::collections::HashMap;

/// What the compiler appends to the names of parts.
const PARTS: [&str; 5] = [".cold", ".part.", ".isra.", ".constprop.", ".llvm."];

/// Functions in address order.
#[derive(Debug, Default)]
pub struct Symbols {
    /// Address, and the number of the name; parts of a function share its number.
    functions: Vec<(u64, usize)>,
    names: Vec<String>,
}

impl Symbols {
    /// Parses `/proc/kallsyms`.
    pub fn parse(text: &str) -> Symbols {
        let mut functions: Vec<(u64, &str)> = text.lines().filter_map(function).collect();
        functions.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| rank(a.1).cmp(&rank(b.1))));
        functions.dedup_by_key(|(address, _)| *address);
        let mut symbols = Symbols::default();
        let mut numbers = HashMap::new();
        for (address, name) in functions {
            // A part that the compiler has moved away belongs to its function.
            let cut = PARTS.into_iter().filter_map(|part| name.find(part)).min();
            let name = &name[..cut.unwrap_or(name.len())];
            let number = *numbers.entry(name).or_insert_with(|| {
                symbols.names.push(name.to_string());
                symbols.names.len() - 1
            });
            symbols.functions.push((address, number));
        }
        symbols
    }

    /// The number of the function that holds an address, and the offset in it. Functions with one
    /// name share a number.
    pub fn find(&self, address: u64) -> Option<(usize, u64)> {
        let after = self.functions.partition_point(|(begin, _)| *begin <= address);
        let (begin, number) = *self.functions.get(after.checked_sub(1)?)?;
        Some((number, address - begin))
    }

    pub fn name(&self, number: usize) -> &str {
        &self.names[number]
    }

    /// All names, in the order of their numbers.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

fn function(line: &str) -> Option<(u64, &str)> {
    let mut words = line.split_whitespace();
    let (address, kind, name) = (words.next()?, words.next()?, words.next()?);
    let address = u64::from_str_radix(address, 16).ok()?;
    let is_code = matches!(kind, "t" | "T" | "w" | "W");
    // `$` marks mapping symbols on arm64.
    (is_code && address >> 63 == 1 && !name.starts_with('$')).then_some((address, name))
}

/// Of several names for one address, the plainest.
fn rank(name: &str) -> (bool, bool, usize, &str) {
    let is_mark = ["_start", "_end", "_begin", "_text"].iter().any(|end| name.ends_with(end));
    let is_alias = name.starts_with("__pfx_") || name.starts_with("__ia32_");
    (is_mark, is_alias, name.len(), name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_found_by_its_plainest_name_and_its_parts_are_it() {
        let text = "ffffffff81000000 T _stext\nffffffff81000000 T a_text_start\n\
                    ffffffff81000100 t write.cold\nffffffff81000200 T write\n\
                    ffffffff81000200 T __ia32_write\nffffffff81000300 d data\n\
                    0000000000000000 A absolute\nffffffffc0000000 t inside\t[module]\n";
        let symbols = Symbols::parse(text);
        let found = |address| symbols.find(address).map(|(number, at)| (symbols.name(number), at));
        assert_eq!(found(0xffff_ffff_8100_0010), Some(("_stext", 0x10)));
        assert_eq!(found(0xffff_ffff_8100_0101), Some(("write", 1)));
        assert_eq!(found(0xffff_ffff_8100_0302), Some(("write", 0x102)));
        assert_eq!(found(0xffff_ffff_c000_0000), Some(("inside", 0)));
        assert_eq!(found(0xffff_0000_0000_0000), None);
        let number = |address| symbols.find(address).map(|(number, _)| number);
        assert_eq!(number(0xffff_ffff_8100_0101), number(0xffff_ffff_8100_0200));
    }
}
