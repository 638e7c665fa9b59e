//! A guest by its name.

use crate::cache::{Cache, Unpacked};
use crate::error::Result;
use crate::kernel::Kernel;
use crate::machine::{MACHINES, Machine, machine};
use crate::program;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// A machine with a kernel: `lab:MACHINE/KERNEL`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// The machine.
    pub machine: &'static Machine,
    /// Its kernel.
    pub kernel: Kernel,
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "lab:{}/{}", self.machine.name, self.kernel)
    }
}

impl Target {
    /// Gets its kernel, and the programs that load such a machine.
    pub fn fetch(&self, cache: &Cache) -> Result<Unpacked> {
        program::fetch(self.machine, cache)?;
        self.kernel.fetch(self.machine, cache)
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Target, String> {
        let guest = text.strip_prefix("lab:").unwrap_or(text);
        let (name, kernel) = guest.split_once('/').ok_or_else(|| {
            format!("'{text}': expected lab:MACHINE/KERNEL, such as lab:x86-64/rt")
        })?;
        let machine = machine(name).ok_or_else(|| {
            let known: Vec<&str> = MACHINES.iter().map(|machine| machine.name).collect();
            format!("'{name}' is no machine of the lab: expected {}", known.join(", "))
        })?;
        Ok(Target { machine, kernel: kernel.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_written_as_they_are_read() {
        let target: Target = "lab:arm64/rt".parse().unwrap();
        assert_eq!(target.to_string(), "lab:arm64/rt-6.1");
        assert_eq!("arm64/rt-6.1".parse(), Ok(target));
        for (text, says) in [
            ("lab:x86-64", "expected lab:MACHINE/KERNEL"),
            ("lab:vax/rt", "expected x86-64, arm64, arm"),
            ("lab:arm64/5.4", "expected stock, rt, stock-6.1"),
        ] {
            let error = text.parse::<Target>().unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
