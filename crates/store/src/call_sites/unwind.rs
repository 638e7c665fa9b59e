//! From a function to its caller, by the unwind table of its file.

use super::program_file::ProgramFile;
use addr2line::gimli::{CfaRule, Register, RegisterRule, UnwindContext, UnwindSection};
use latlab_model::call_site::CallStack;

/// A function of a call chain: the registers that lead to its caller.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    instruction: u64,
    pointer: u64,
    frame: u64,
    link: u64,
}

/// Numbers of the stack pointer, the frame pointer and the return address in unwind tables.
#[derive(Clone, Copy)]
struct Registers {
    pointer: Register,
    frame: Register,
    returns: Register,
}

const REGISTERS: Option<Registers> = if cfg!(target_arch = "x86_64") {
    Some(Registers { pointer: Register(7), frame: Register(6), returns: Register(16) })
} else if cfg!(target_arch = "aarch64") {
    Some(Registers { pointer: Register(31), frame: Register(29), returns: Register(30) })
} else if cfg!(target_arch = "riscv64") {
    Some(Registers { pointer: Register(2), frame: Register(8), returns: Register(1) })
} else {
    None
};

/// Bits of an address; arm64 signs return addresses in those above.
const ADDRESS_BITS: u64 = (1 << 48) - 1;

impl Place {
    pub fn of(stack: &CallStack) -> Place {
        let CallStack { instruction, pointer, frame, link, .. } = *stack;
        Place { instruction, pointer, frame, link }
    }

    pub fn instruction(&self) -> u64 {
        self.instruction
    }

    /// The caller of the function at `address` in the file; `None` at the end of the chain or of
    /// what is known of the stack.
    pub fn caller(
        &self,
        stack: &CallStack,
        file: &ProgramFile,
        address: u64,
        is_first: bool,
    ) -> Option<Place> {
        let registers = REGISTERS?;
        let read = |at: u64| {
            let from = usize::try_from(at.checked_sub(stack.pointer)?).ok()?;
            let word = stack.stack.get(from..from.checked_add(8)?)?;
            Some(u64::from_le_bytes(word.try_into().ok()?))
        };
        let (table, bases) = file.unwind();
        let mut context = UnwindContext::new();
        let within = if is_first { address } else { address.checked_sub(1)? };
        let find = EhCie::cie_from_offset;
        let row = table.unwind_info_for_address(bases, &mut context, within, find).ok()?;
        let base = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                let from = match *register {
                    register if register == registers.pointer => self.pointer,
                    register if register == registers.frame => self.frame,
                    _ => return None,
                };
                from.checked_add_signed(*offset)?
            }
            CfaRule::Expression(_) => return None,
        };
        let saved = |register| match row.register(register) {
            Some(RegisterRule::Offset(offset)) => Some(read(base.checked_add_signed(offset)?)),
            _ => None,
        };
        let returns = match saved(registers.returns) {
            Some(read) => read?,
            // It is still in its register, in the function in which the thread is.
            None if is_first => self.link,
            None => return None,
        };
        let frame = saved(registers.frame).flatten().unwrap_or(self.frame);
        // Each caller's part of the stack lies above.
        let is_above = base > self.pointer || (is_first && base == self.pointer);
        is_above.then_some(Place {
            instruction: returns & ADDRESS_BITS,
            pointer: base,
            frame,
            link: 0,
        })
    }
}

type EhCie<'a> =
    addr2line::gimli::EhFrame<addr2line::gimli::EndianSlice<'a, addr2line::gimli::RunTimeEndian>>;
