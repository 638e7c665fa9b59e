//! Decodes just enough of x86-64 and arm64 to follow calls, disabled interrupts and disabled
//! preemption.

use super::records::Block;

/// How a block ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// Anything else: falls through, and may fault.
    Goes,
    /// Jumps, with or without a condition; taken never to fault.
    Jumps,
    /// Calls, returning to this address.
    Calls(u64),
    /// Returns from a call.
    Returns,
    /// Returns from an interrupt, an exception or a system call.
    Leaves,
    /// Makes a system call.
    Asks,
    /// Sleeps until an interrupt.
    Sleeps,
}

/// What an instruction changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Disables interrupts.
    InterruptsOff,
    /// Enables interrupts.
    InterruptsOn,
    /// Saves the interrupt state.
    InterruptsSaved,
    /// Restores the interrupt state saved last.
    InterruptsRestored,
    /// Adds this to the preemption count.
    Preemption(i64),
}

/// A processor, and where the kernel keeps its preemption count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// x86-64, with the offset in the per-CPU data.
    X86 {
        /// `None` if it is not known.
        preempt_count: Option<u64>,
    },
    /// arm64, with the offset in the thread.
    Arm {
        /// `None` if it is not known.
        preempt_count: Option<u64>,
    },
}

impl Code {
    /// For the processor with this name in `uname -m`.
    pub fn new(architecture: &str, preempt_count: Option<u64>) -> Code {
        match architecture {
            "aarch64" => Code::Arm { preempt_count },
            _ => Code::X86 { preempt_count },
        }
    }

    /// How a block ends of which this many instructions were executed.
    pub fn flow(self, block: &Block, executed: usize) -> Flow {
        let Some((at, bytes)) = instructions(block).take(executed).last() else {
            return Flow::Goes;
        };
        let next = at + bytes.len() as u64;
        match self {
            Code::X86 { .. } => x86_flow(bytes, next),
            Code::Arm { .. } => word(bytes).map_or(Flow::Goes, |word| arm_flow(word, next)),
        }
    }

    /// The effects of a block's executed instructions, each with the index of its instruction.
    pub fn effects(self, block: &Block, executed: usize) -> Vec<(u64, Effect)> {
        let mut effects = Vec::new();
        let numbered = (0..).zip(instructions(block).take(executed));
        match self {
            Code::X86 { preempt_count } => {
                effects.extend(numbered.filter_map(|(number, (at, bytes))| {
                    let next = at + bytes.len() as u64;
                    x86_effect(bytes, next, preempt_count).map(|effect| (number, effect))
                }));
            }
            Code::Arm { preempt_count } => {
                let mut added = None;
                for (number, (_, bytes)) in numbered {
                    let Some(word) = word(bytes) else { continue };
                    let effect = arm_effect(word, preempt_count, &mut added);
                    effects.extend(effect.map(|effect| (number, effect)));
                }
            }
        }
        effects
    }
}

fn instructions(block: &Block) -> impl Iterator<Item = (u64, &[u8])> {
    let mut from = 0;
    block.sizes.iter().map(move |size| {
        let (at, to) = (from, from + usize::from(*size));
        from = to;
        (block.address + at as u64, &block.bytes[at..to])
    })
}

fn word(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?))
}

fn x86_flow(bytes: &[u8], next: u64) -> Flow {
    // Prefixes without meaning for jumps: notrack, bnd, and padding.
    let bare = bytes.iter().position(|byte| ![0x3e, 0xf2, 0x2e, 0x66].contains(byte));
    let bytes = &bytes[bare.unwrap_or(0)..];
    match bytes {
        [0xe8, ..] => Flow::Calls(next),
        [0xff, more, ..] | [0x40..=0x4f, 0xff, more, ..] => match more >> 3 & 7 {
            2 => Flow::Calls(next),
            4 => Flow::Jumps,
            _ => Flow::Goes,
        },
        [0xe9 | 0xeb, ..] | [0x70..=0x7f, _] | [0x0f, 0x80..=0x8f, ..] => Flow::Jumps,
        [0xc3 | 0xc2, ..] | [0xf3, 0xc3] => Flow::Returns,
        [0xcf] | [0x48, 0xcf] | [0x48, 0x0f, 0x07] | [0x0f, 0x07] => Flow::Leaves,
        [0x0f, 0x05] | [0xcd, ..] | [0x0f, 0x34] => Flow::Asks,
        [0xf4] => Flow::Sleeps,
        _ => Flow::Goes,
    }
}

fn x86_effect(bytes: &[u8], next: u64, preempt_count: Option<u64>) -> Option<Effect> {
    let place = |rest: &[u8], from: u64| {
        let relative = word(rest)? as i32;
        (Some(from.wrapping_add(relative as u64)) == preempt_count).then_some(())
    };
    match bytes {
        [0xfa] => Some(Effect::InterruptsOff),
        [0xfb] => Some(Effect::InterruptsOn),
        // pushf and popf.
        [0x9c] => Some(Effect::InterruptsSaved),
        [0x9d] => Some(Effect::InterruptsRestored),
        // After the gs prefix: inc, dec, add, sub; relative to the next instruction, or absolute.
        [0x65, 0xff, 0x05, rest @ ..] => place(rest, next).map(|()| Effect::Preemption(1)),
        [0x65, 0xff, 0x0d, rest @ ..] => place(rest, next).map(|()| Effect::Preemption(-1)),
        [0x65, 0xff, 0x04, 0x25, rest @ ..] => place(rest, 0).map(|()| Effect::Preemption(1)),
        [0x65, 0xff, 0x0c, 0x25, rest @ ..] => place(rest, 0).map(|()| Effect::Preemption(-1)),
        [0x65, code @ (0x81 | 0x83), more @ (0x05 | 0x2d), rest @ ..] => {
            place(rest, next)?;
            let by = match code {
                0x81 => i64::from(word(rest.get(4..)?)? as i32),
                _ => i64::from(*rest.get(4)? as i8),
            };
            Some(Effect::Preemption(if *more == 0x05 { by } else { -by }))
        }
        _ => None,
    }
}

fn arm_flow(word: u32, next: u64) -> Flow {
    match word {
        _ if word & 0xfc00_0000 == 0x9400_0000 || word & 0xffff_fc1f == 0xd63f_0000 => {
            Flow::Calls(next)
        }
        _ if word & 0xffff_fc1f == 0xd65f_0000 || matches!(word, 0xd65f_0bff | 0xd65f_0fff) => {
            Flow::Returns
        }
        0xd69f_03e0 => Flow::Leaves,
        _ if word & 0xffe0_001f == 0xd400_0001 => Flow::Asks,
        0xd503_207f => Flow::Sleeps,
        _ if word & 0xfc00_0000 == 0x1400_0000
            || word & 0xff00_0010 == 0x5400_0000
            || word & 0x7e00_0000 == 0x3400_0000
            || word & 0x7e00_0000 == 0x3600_0000
            || word & 0xffff_fc1f == 0xd61f_0000 =>
        {
            Flow::Jumps
        }
        _ => Flow::Goes,
    }
}

/// `added` is the register that the previous instruction has set to a count plus or minus this.
fn arm_effect(
    word: u32,
    preempt_count: Option<u64>,
    added: &mut Option<(u32, i64)>,
) -> Option<Effect> {
    // msr daifset, msr daifclr, mrs xN daif, msr daif xN.
    match word {
        _ if word & 0xffff_f0ff == 0xd503_40df && word >> 9 & 1 == 1 => {
            return Some(Effect::InterruptsOff);
        }
        _ if word & 0xffff_f0ff == 0xd503_40ff && word >> 9 & 1 == 1 => {
            return Some(Effect::InterruptsOn);
        }
        _ if word & 0xffff_ffe0 == 0xd53b_4220 => return Some(Effect::InterruptsSaved),
        _ if word & 0xffff_ffe0 == 0xd51b_4220 => return Some(Effect::InterruptsRestored),
        _ => {}
    }
    // add or sub wN, wM, #number, which may be shifted by 12.
    if word & 0x7f80_0000 == 0x1100_0000 || word & 0x7f80_0000 == 0x5100_0000 {
        let number = i64::from(word >> 10 & 0xfff) << (12 * (word >> 22 & 1));
        let sign = if word & 0x4000_0000 == 0 { 1 } else { -1 };
        *added = (word >> 31 == 0).then_some((word & 31, sign * number));
        return None;
    }
    // str wN, [xM, #place].
    if word & 0xffc0_0000 == 0xb900_0000 {
        let place = u64::from(word >> 10 & 0xfff) * 4;
        let (register, by) = added.take()?;
        let fits = register == word & 31 && Some(place) == preempt_count;
        return fits.then_some(Effect::Preemption(by));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(parts: &[&[u8]]) -> Block {
        Block {
            address: 0x1000,
            sizes: parts.iter().map(|part| part.len() as u8).collect(),
            bytes: parts.concat(),
        }
    }

    #[test]
    fn calls_and_returns_of_a_pc_are_known() {
        let code = Code::X86 { preempt_count: Some(0x2000) };
        for (bytes, flow) in [
            (&[0xe8, 1, 2, 3, 4][..], Flow::Calls(0x1005)),
            (&[0xff, 0xd0], Flow::Calls(0x1002)),
            (&[0x41, 0xff, 0xd3], Flow::Calls(0x1003)),
            (&[0xff, 0xe0], Flow::Jumps),
            (&[0x3e, 0xff, 0xe0], Flow::Jumps),
            (&[0xc3], Flow::Returns),
            (&[0x48, 0xcf], Flow::Leaves),
            (&[0x48, 0x0f, 0x07], Flow::Leaves),
            (&[0x0f, 0x05], Flow::Asks),
            (&[0xf4], Flow::Sleeps),
            (&[0x75, 0x10], Flow::Jumps),
            (&[0x48, 0x89, 0xd8], Flow::Goes),
        ] {
            assert_eq!(code.flow(&block(&[bytes]), 1), flow, "{bytes:x?}");
        }
        let two = block(&[&[0x90], &[0xc3]]);
        assert_eq!((code.flow(&two, 1), code.flow(&two, 2)), (Flow::Goes, Flow::Returns));
    }

    #[test]
    fn what_a_pc_switches_off_is_known() {
        let code = Code::X86 { preempt_count: Some(0x2000) };
        let relative = |at: u32| (0x2000 - at).to_le_bytes();
        let inc = [&[0x65, 0xff, 0x05][..], &relative(0x1000 + 1 + 7)].concat();
        let other = [&[0x65, 0xff, 0x05][..], &relative(0x1000)].concat();
        let add = [&[0x65, 0x81, 0x05][..], &relative(0x100f + 11), &0x1_0000_u32.to_le_bytes()];
        let block = block(&[&[0xfa], &inc, &other, &add.concat(), &[0xfb]]);
        let expected = [
            (0, Effect::InterruptsOff),
            (1, Effect::Preemption(1)),
            (3, Effect::Preemption(0x1_0000)),
            (4, Effect::InterruptsOn),
        ];
        assert_eq!(code.effects(&block, 5), expected);
        assert_eq!(code.effects(&block, 1), expected[..1]);
    }

    #[test]
    fn the_same_of_arm64() {
        let code = Code::Arm { preempt_count: Some(8) };
        let words = |words: &[u32]| {
            let parts: Vec<[u8; 4]> = words.iter().map(|word| word.to_le_bytes()).collect();
            block(&parts.iter().map(|part| &part[..]).collect::<Vec<_>>())
        };
        for (word, flow) in [
            (0x9400_0001, Flow::Calls(0x1004)),
            (0xd63f_0020, Flow::Calls(0x1004)),
            (0xd65f_03c0, Flow::Returns),
            (0xd69f_03e0, Flow::Leaves),
            (0xd400_0001, Flow::Asks),
            (0xd503_207f, Flow::Sleeps),
            (0x1400_0001, Flow::Jumps),
            (0x5400_0060, Flow::Jumps),
            (0xb400_0060, Flow::Jumps),
            (0xf940_0000, Flow::Goes),
        ] {
            assert_eq!(code.flow(&words(&[word]), 1), flow, "{word:x}");
        }
        // mrs x1, daif; msr daifset, #3; add w2, w2, #1; str w2, [x0, #8]; msr daif, x1; daifclr.
        let all = [0xd53b_4221, 0xd503_43df, 0x1100_0442, 0xb900_0802, 0xd51b_4221, 0xd503_43ff];
        let effects: Vec<Effect> =
            code.effects(&words(&all), 6).into_iter().map(|(_, effect)| effect).collect();
        assert_eq!(
            effects,
            [
                Effect::InterruptsSaved,
                Effect::InterruptsOff,
                Effect::Preemption(1),
                Effect::InterruptsRestored,
                Effect::InterruptsOn,
            ]
        );
    }
}
