//! Marks a wake-up in the instruction stream, so that a replay of a guest finds it.
//!
//! The loop stores its last latency anyway. It uses an instruction that no compiler emits and that
//! the plugin of `replay/` recognises by its bytes, and stores the release as well: one more
//! instruction on x86-64, none on arm64, which stores both at once.

/// The last wake-up of a thread, within one page so that the plugin sees it whole.
#[derive(Clone, Copy, Default, Debug)]
#[repr(C, align(16))]
pub struct MarkedWake {
    release: i64,
    /// How late it was.
    pub latency: i64,
}

impl MarkedWake {
    /// Stores the wake-up of a thread that was due at `release`, marked for a replay.
    #[inline(always)]
    pub fn mark(&mut self, release: i64, latency: i64) {
        #[cfg(target_arch = "x86_64")]
        {
            self.release = release;
            // SAFETY: the store is to `latency`; the prefixes before it have no effect.
            unsafe {
                std::arch::asm!(
                    ".byte 0x2e, 0x2e, 0x2e",
                    "mov qword ptr [{wake} + 8], {latency}",
                    wake = in(reg) &raw mut *self,
                    latency = in(reg) latency,
                    options(nostack, preserves_flags),
                );
            }
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the store is to both members.
        unsafe {
            std::arch::asm!(
                "stnp {release}, {latency}, [{wake}]",
                wake = in(reg) &raw mut *self,
                release = in(reg) release,
                latency = in(reg) latency,
                options(nostack, preserves_flags),
            );
        }
        // No replay on other processors.
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        {
            (self.release, self.latency) = (release, latency);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_stores_what_it_is_of() {
        let mut wake = MarkedWake::default();
        wake.mark(7, -3);
        assert_eq!((wake.release, wake.latency), (7, -3));
    }

    /// The bytes of the mark, as `replay/plugin.c` has them.
    #[test]
    fn the_mark_stands_in_the_instructions_as_the_plugin_looks_for_it() {
        #[inline(never)]
        fn marked(wake: &mut MarkedWake, release: i64) {
            wake.mark(release, 1);
        }
        let mut wake = MarkedWake::default();
        marked(&mut wake, 7);
        assert_eq!(wake.latency, 1);
        // SAFETY: a function is at least this long, or others follow it.
        let code = unsafe { std::slice::from_raw_parts(marked as *const u8, 128) };
        let is_mark = |bytes: &[u8]| match std::env::consts::ARCH {
            "x86_64" => bytes[..3] == [0x2e; 3] && bytes[3] & 0xf8 == 0x48 && bytes[4] == 0x89,
            "aarch64" => bytes[3] == 0xa8 && bytes[2] == 0 && bytes[1] & 0x80 == 0,
            _ => true,
        };
        assert!(code.windows(8).any(is_mark), "{code:x?}");
    }
}
