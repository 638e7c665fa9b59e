//! Gets what a guest needs that is not here.

use crate::cache::Cache;
use crate::config::GuestConfig;
use crate::error::Result;
use crate::kernel::Kernel;
use crate::{emulator, program};

impl GuestConfig {
    /// Gets its kernel, where it is one of Debian's, and the programs that load such a machine;
    /// gives back where the kernel came from.
    pub fn fetch(&self, cache: &Cache) -> Result<String> {
        program::fetch(self.machine, cache)?;
        emulator::fetch(self, cache)?;
        if let Kernel::Debian(kernel) = &self.kernel {
            kernel.fetch(self.machine, cache)?;
        }
        Ok(self.kernel.image(self.machine, cache)?.origin)
    }
}
