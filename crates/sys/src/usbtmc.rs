//! USB instruments, which the kernel's driver `usbtmc` presents as files.

use crate::checked;
use crate::files::Root;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `_IO(91, 2)`: discards pending input and output.
const CLEAR: u32 = 0x5b02;
/// `_IOW(91, 10, u32)`, the same on all supported processors: time-out in milliseconds.
const SET_TIMEOUT: u32 = 0x4004_5b0a;
/// The driver accepts no shorter time-out.
const SHORTEST_TIMEOUT: Duration = Duration::from_millis(100);
/// Where the driver's files are listed.
const CLASS: &str = "sys/class/usbmisc";

/// An open instrument.
#[derive(Debug)]
pub struct Usbtmc(File);

impl Usbtmc {
    /// Opens the file of an instrument, such as `/dev/usbtmc0`, with this time-out for answers.
    pub fn open(path: &Path, timeout: Duration) -> io::Result<Usbtmc> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let timeout = timeout.max(SHORTEST_TIMEOUT).as_millis().min(u32::MAX.into()) as u32;
        // SAFETY: the file is open, and the driver reads a number of the size in the ioctl number.
        let done = unsafe { libc::ioctl(file.as_raw_fd(), SET_TIMEOUT as _, &raw const timeout) };
        checked(done.into())?;
        Ok(Usbtmc(file))
    }

    /// Sends a message.
    pub fn send(&mut self, message: &[u8]) -> io::Result<()> {
        self.0.write_all(message)
    }

    /// Waits for a part of a message; one that does not fill the buffer is the last part.
    pub fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }

    /// Makes the instrument discard pending requests.
    pub fn clear(&self) -> io::Result<()> {
        // SAFETY: the file is open, and the call takes no argument.
        let done = unsafe { libc::ioctl(self.0.as_raw_fd(), CLEAR as _) };
        checked(done.into())?;
        Ok(())
    }
}

/// The file of the instrument with these numbers, and with this serial number if one is given.
pub fn find(root: &Root, vendor: u16, product: u16, serial: Option<&str>) -> Option<PathBuf> {
    let names = root.names(CLASS).unwrap_or_default();
    let name = names.into_iter().filter(|name| name.starts_with("usbtmc")).find(|name| {
        // The device is one interface of the instrument.
        let fact = |fact: &str| root.read(format!("{CLASS}/{name}/device/../{fact}"));
        let number = |name: &str| u16::from_str_radix(&fact(name)?, 16).ok();
        number("idVendor") == Some(vendor)
            && number("idProduct") == Some(product)
            && serial.is_none_or(|serial| fact("serial").as_deref() == Some(serial))
    })?;
    Some(root.path(format!("dev/{name}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    #[test]
    fn an_instrument_is_found_by_its_numbers() {
        let folder = tempfile::tempdir().unwrap();
        for (name, product, serial) in [("usbtmc0", "04ce", "A1"), ("usbtmc1", "04ce", "B2")] {
            let device = folder.path().join("sys/devices").join(name);
            create_dir_all(device.join("interface")).unwrap();
            create_dir_all(folder.path().join(CLASS).join(name)).unwrap();
            let interface = Path::new("/sys/devices").join(name).join("interface");
            let link = folder.path().join(CLASS).join(name).join("device");
            std::os::unix::fs::symlink(interface, link).unwrap();
            for (fact, text) in [("idVendor", "1ab1"), ("idProduct", product), ("serial", serial)] {
                write(device.join(fact), format!("{text}\n")).unwrap();
            }
        }
        let root = Root::new(folder.path());
        let found = |product, serial| {
            let path = find(&root, 0x1ab1, product, serial)?;
            Some(path.file_name()?.to_str()?.to_string())
        };
        assert_eq!(found(0x04ce, None).as_deref(), Some("usbtmc0"));
        assert_eq!(found(0x04ce, Some("B2")).as_deref(), Some("usbtmc1"));
        assert_eq!(found(0x04ce, Some("C3")), None);
        assert_eq!(found(0x0001, None), None);
    }

    #[test]
    fn a_file_that_is_no_instrument_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(Usbtmc::open(file.path(), Duration::from_secs(1)).is_err());
    }
}
