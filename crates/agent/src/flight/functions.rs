//! Names of kernel functions whose addresses occur in recorded pages. Only exact function addresses
//! are looked up, so no page has to be parsed here.

use latlab_model::flight::KernelFunction;
use latlab_sys::files::Root;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};

/// Number of addresses kept; a run has some hundred functions, and more words that look like one.
const MOST: usize = 1 << 16;
/// No kernel function lies below this address.
const LOWEST: u64 = if usize::BITS == 64 { 0xffff_8000_0000_0000 } else { 0x8000_0000 };
/// Alignment of a word in a page.
const STEP: usize = 4;
const WORD: usize = size_of::<usize>();

/// Words that may be addresses of functions.
#[derive(Default)]
pub struct Addresses(BTreeSet<u64>);

impl Addresses {
    /// Collects the candidates in a page.
    pub fn add(&mut self, page: &[u8]) {
        for at in (0..page.len().saturating_sub(WORD - 1)).step_by(STEP) {
            let word: [u8; WORD] = std::array::from_fn(|byte| page[at + byte]);
            let word = usize::from_le_bytes(word) as u64;
            if word >= LOWEST && word != u64::MAX && self.0.len() < MOST {
                self.0.insert(word);
            }
        }
    }

    /// The candidates that are functions, with the names that the kernel lists.
    pub fn functions(&self, root: &Root) -> Vec<KernelFunction> {
        let Ok(file) = File::open(root.path("proc/kallsyms")) else { return Vec::new() };
        let mut lines = BufReader::with_capacity(1 << 16, file);
        let (mut found, mut line) = (Vec::new(), String::new());
        while !self.0.is_empty() && lines.read_line(&mut line).is_ok_and(|length| length > 0) {
            let mut words = line.split_whitespace();
            let address = words.next().and_then(|word| u64::from_str_radix(word, 16).ok());
            if let (Some(address), Some("t" | "T" | "w" | "W"), Some(name)) =
                (address.filter(|at| self.0.contains(at)), words.next(), words.next())
            {
                found.push(KernelFunction { address, name: name.to_string() });
            }
            line.clear();
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_stand_in_a_page_have_their_names() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("proc")).unwrap();
        let (known, other) = (LOWEST + 0x1230, LOWEST + 0x4560);
        let text =
            format!("{known:x} t vmstat_update\n{other:x} T other\n{:x} d data\n", known + 8);
        std::fs::write(folder.path().join("proc/kallsyms"), text).unwrap();
        let mut page = vec![0; 100];
        // Four-byte alignment, as in an event.
        page[12..12 + WORD].copy_from_slice(&known.to_le_bytes()[..WORD]);
        page[40..40 + WORD].copy_from_slice(&(known + 8).to_le_bytes()[..WORD]);
        let mut addresses = Addresses::default();
        addresses.add(&page);
        let expected = KernelFunction { address: known, name: "vmstat_update".to_string() };
        assert_eq!(addresses.functions(&Root::new(folder.path())), [expected]);
    }
}
