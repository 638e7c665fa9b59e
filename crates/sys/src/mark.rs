//! A mark in the instructions of a wake-up, by which a replay of a guest finds it.
//!
//! The plugin of `replay/` knows the mark by its bytes: a store that no compiler makes, of the release
//! to the place before which the clock has been stored. It takes two or three instructions and touches
//! the stack alone.

use std::mem::MaybeUninit;

/// A thread that was due at `release` has woken, and the clock says `clock`.
#[inline(always)]
pub fn wake_up(release: i64, clock: i64) {
    // Both together lie at a multiple of their size.
    let mut pair = MaybeUninit::<u128>::uninit();
    let pair = pair.as_mut_ptr();
    #[cfg(target_arch = "x86_64")]
    // SAFETY: both stores are to `pair`. `mov [rdi], rax` behind three prefixes that mean nothing.
    unsafe {
        std::arch::asm!(
            "mov qword ptr [rdi + 8], {clock}",
            ".byte 0x2e, 0x2e, 0x2e, 0x48, 0x89, 0x07",
            clock = in(reg) clock,
            in("rax") release,
            in("rdi") pair,
            options(nostack, preserves_flags),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the store is to `pair`.
    unsafe {
        std::arch::asm!(
            "stnp x0, x2, [x1]",
            in("x0") release,
            in("x1") pair,
            in("x2") clock,
            options(nostack, preserves_flags),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = (pair, release, clock);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `replay/plugin.c` has it: the bytes of the mark.
    #[test]
    fn the_mark_stands_in_the_instructions_as_the_plugin_looks_for_it() {
        const MARK: &[u8] = match cfg!(target_arch = "x86_64") {
            true => &[0x2e, 0x2e, 0x2e, 0x48, 0x89, 0x07],
            false => &[0x20, 0x08, 0x00, 0xa8],
        };
        #[inline(never)]
        fn marked(release: i64) {
            wake_up(release, release + 1);
        }
        if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            marked(7);
            // SAFETY: a function is at least this long, or others follow it.
            let code = unsafe { std::slice::from_raw_parts(marked as *const u8, 64) };
            assert!(code.windows(MARK.len()).any(|bytes| bytes == MARK), "{code:x?}");
        }
    }
}
