//! A program or library: its addresses, symbols, lines and unwind tables.

use addr2line::Loader;
use addr2line::gimli::{BaseAddresses, EhFrame, EndianSlice, RunTimeEndian};
use addr2line::{demangle_auto, gimli};
use latlab_model::call_site::{CallFrame, CodeMapping};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SymbolKind};
use std::borrow::Cow;
use std::path::Path;

/// Larger files are not read.
const MOST_BYTES: u64 = 2 << 30;

/// What is needed of a file.
pub struct ProgramFile {
    lines: Option<Loader>,
    /// Address, end and name of each function, by address.
    symbols: Vec<(u64, u64, String)>,
    /// Offset in the file, size and address of each segment.
    segments: Vec<(u64, u64, u64)>,
    unwind: Vec<u8>,
    bases: BaseAddresses,
    endian: RunTimeEndian,
}

impl ProgramFile {
    pub fn read(path: &Path) -> Option<ProgramFile> {
        let is_small = path.metadata().is_ok_and(|about| about.len() <= MOST_BYTES);
        let bytes = is_small.then(|| std::fs::read(path).ok()).flatten()?;
        let file = object::File::parse(&*bytes).ok()?;
        let segments = file.segments().map(|segment| {
            let (offset, size) = segment.file_range();
            (offset, size, segment.address())
        });
        let is_function = |symbol: &object::Symbol<'_, '_>| {
            symbol.kind() == SymbolKind::Text && symbol.size() > 0
        };
        let symbols = file.symbols().chain(file.dynamic_symbols()).filter(is_function);
        let mut symbols: Vec<(u64, u64, String)> = symbols
            .filter_map(|symbol| {
                let name = demangle_auto(Cow::Borrowed(symbol.name().ok()?), None).into_owned();
                Some((symbol.address(), symbol.address() + symbol.size(), name))
            })
            .collect();
        symbols.sort();
        let section = |name: &str| file.section_by_name(name);
        let mut bases = BaseAddresses::default();
        if let Some(unwind) = section(".eh_frame") {
            bases = bases.set_eh_frame(unwind.address());
        }
        if let Some(text) = section(".text") {
            bases = bases.set_text(text.address());
        }
        if let Some(table) = section(".got") {
            bases = bases.set_got(table.address());
        }
        let unwind = section(".eh_frame").and_then(|section| section.data().ok());
        let is_little = file.is_little_endian();
        Some(ProgramFile {
            lines: Loader::new(path).ok(),
            symbols,
            segments: segments.collect(),
            unwind: unwind.unwrap_or_default().to_vec(),
            bases,
            endian: if is_little { RunTimeEndian::Little } else { RunTimeEndian::Big },
        })
    }

    /// The address in the file of an address in the process.
    pub fn address(&self, code: &CodeMapping, at: u64) -> u64 {
        let offset = at - code.from + code.offset;
        let within = |(from, size, _): &&(u64, u64, u64)| (*from..from + size).contains(&offset);
        let segment = self.segments.iter().find(within);
        segment.map_or(offset, |(from, _, address)| offset - from + address)
    }

    /// Its unwind table, with the addresses to which that refers.
    pub fn unwind(&self) -> (EhFrame<EndianSlice<'_, RunTimeEndian>>, &BaseAddresses) {
        (EhFrame::from(EndianSlice::new(&self.unwind, self.endian)), &self.bases)
    }

    /// The functions at an address, those that are inlined first; `back` leads from it into the
    /// instruction.
    pub fn frames(&self, module: &str, address: u64, back: u64) -> Vec<CallFrame> {
        let probe = address - back.min(address);
        let frame = |function, file, line| CallFrame {
            module: module.to_string(),
            offset: address,
            function,
            file,
            line,
        };
        let mut found = Vec::new();
        let of_lines = self.lines.as_ref().and_then(|lines| lines.find_frames(probe).ok());
        if let Some(mut frames) = of_lines {
            while let Ok(Some(one)) = frames.next() {
                let name = one.function.as_ref().and_then(function_name);
                let (file, line) = one.location.map_or((None, None), |at| (at.file, at.line));
                found.push(frame(name, file.map(str::to_string), line));
            }
        }
        if found.is_empty() {
            found.push(frame(None, None, None));
        }
        // Without debug information only the symbol is known.
        if let Some(last) = found.last_mut().filter(|last| last.function.is_none()) {
            last.function = self.symbol(probe).map(str::to_string);
        }
        found
    }

    /// The name of the function that has this address, which a table without local functions may not
    /// have.
    fn symbol(&self, address: u64) -> Option<&str> {
        let after = self.symbols.partition_point(|(from, ..)| *from <= address);
        let (_, to, name) = self.symbols[..after].last()?;
        (address < *to).then_some(name)
    }
}

fn function_name(name: &addr2line::FunctionName<impl gimli::Reader>) -> Option<String> {
    name.demangle().ok().map(Cow::into_owned)
}
