//! For latlab as the first process of a machine: file systems, modules, the loopback interface,
//! power-off.

use crate::checked;
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount as mount_at};
use rustix::system::{RebootCommand, finit_module, reboot};
use std::convert::Infallible;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::path::Path;

/// Mounts a file system without a device, and creates its mount point.
pub fn mount(kind: &str, at: &Path) -> io::Result<()> {
    std::fs::create_dir_all(at)?;
    Ok(mount_at(kind, at, kind, MountFlags::empty(), None::<&CStr>)?)
}

/// Loads a kernel module with parameters; succeeds if it is already loaded.
pub fn load_module(file: &Path, parameters: &str) -> io::Result<()> {
    let parameters = CString::new(parameters)?;
    match finit_module(File::open(file)?, &parameters, 0) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Brings a network interface up.
pub fn bring_up(interface: &str) -> io::Result<()> {
    let socket = rustix::net::socket(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        None,
    )?;
    // SAFETY: a record of plain numbers, for which all zeros are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes().take(libc::IFNAMSIZ - 1)) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    use std::os::fd::AsRawFd;
    // SAFETY: the socket is open, and the kernel reads a whole record of the expected type.
    let done =
        unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw mut request) };
    checked(done.into())?;
    Ok(())
}

/// Argument of RNDADDENTROPY: entropy credit, and the bytes.
#[repr(C)]
struct Entropy {
    bits: i32,
    bytes: i32,
    words: [u64; 8],
}

/// `_IOW('R', 3, int[2])`, the same on all supported processors.
const ADD_ENTROPY: u32 = 0x4008_5203;

/// Seeds the kernel's random generator with these words.
pub fn seed_random_generator(words: [u64; 8]) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let bytes = size_of_val(&words) as i32;
    let entropy = Entropy { bits: 8 * bytes, bytes, words };
    let device = File::options().write(true).open("/dev/random")?;
    // SAFETY: the device is open, and the kernel reads as many bytes as the record says it has.
    let done = unsafe { libc::ioctl(device.as_raw_fd(), ADD_ENTROPY as _, &raw const entropy) };
    checked(done.into())?;
    Ok(())
}

/// Powers the machine off.
pub fn power_off() -> io::Result<Infallible> {
    rustix::fs::sync();
    reboot(RebootCommand::PowerOff)?;
    Err(io::Error::other("the machine goes on"))
}
