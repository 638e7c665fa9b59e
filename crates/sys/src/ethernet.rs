//! Interrupt coalescing of network cards, as `ethtool` shows it.

use crate::{Errno, checked};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

/// `SIOCETHTOOL`.
const ETHTOOL: u32 = 0x8946;
/// `ETHTOOL_GDRVINFO`.
const GET_DRIVER: u32 = 0x3;
/// `ETHTOOL_GCOALESCE`.
const GET_COALESCING: u32 = 0xe;

/// `struct ethtool_drvinfo`.
#[repr(C)]
struct DriverRecord {
    command: u32,
    driver: [u8; 32],
    rest: [u8; 160],
}

/// `struct ethtool_coalesce`.
#[repr(C)]
struct CoalescingRecord {
    command: u32,
    rx_usecs: u32,
    between: [u32; 8],
    adaptive_rx: u32,
    rest: [u32; 12],
}

// The sizes that the kernel copies.
const _: () = assert!(size_of::<DriverRecord>() == 196 && size_of::<CoalescingRecord>() == 92);

/// When a card raises an interrupt for received packets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coalescing {
    /// `igb`; empty if the kernel does not report it.
    pub driver: String,
    /// How long the card waits for more packets; some drivers give small numbers another meaning.
    pub rx_usecs: u32,
    /// Whether the driver adapts that time.
    pub adaptive_rx: bool,
}

/// The coalescing of a card such as `eth0`; needs no privileges. Fails if the card has none.
pub fn coalescing(card: &str) -> Result<Coalescing, Errno> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    let mut found = CoalescingRecord {
        command: GET_COALESCING,
        rx_usecs: 0,
        between: [0; 8],
        adaptive_rx: 0,
        rest: [0; 12],
    };
    request(&socket, card, &mut found)?;
    let mut about = DriverRecord { command: GET_DRIVER, driver: [0; 32], rest: [0; 160] };
    let driver = request(&socket, card, &mut about).map(|()| text(&about.driver));
    Ok(Coalescing {
        driver: driver.unwrap_or_default(),
        rx_usecs: found.rx_usecs,
        adaptive_rx: found.adaptive_rx != 0,
    })
}

/// A record that begins with the command by which the kernel fills it.
trait Record {}
impl Record for DriverRecord {}
impl Record for CoalescingRecord {}

fn request<R: Record>(socket: &OwnedFd, card: &str, record: &mut R) -> Result<(), Errno> {
    let mut name = [0; libc::IFNAMSIZ];
    // The kernel expects a terminating zero.
    if card.len() >= name.len() {
        return Err(Errno::NODEV);
    }
    for (to, from) in name.iter_mut().zip(card.bytes()) {
        *to = from as libc::c_char;
    }
    let data = std::ptr::from_mut(record).cast::<libc::c_char>();
    let mut asked =
        libc::ifreq { ifr_name: name, ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_data: data } };
    // SAFETY: the socket is open, and the record that the request points to has the layout and size
    // of its command and is ours until the call returns.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), ETHTOOL as _, &raw mut asked) };
    checked(done.into()).map(drop)
}

fn text(bytes: &[u8]) -> String {
    let until = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..until]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_card_has_no_coalescing() {
        assert_eq!(coalescing("lo"), Err(Errno::OPNOTSUPP));
        for name in ["", "no-such-card", "longer-than-any-name-of-a-card"] {
            assert_eq!(coalescing(name), Err(Errno::NODEV), "{name}");
        }
    }
}
