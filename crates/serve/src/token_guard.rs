//! Limits wrong tokens by address: after some of them an address has to wait.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Different wrong tokens that an address may send in [`WINDOW`].
pub const MOST_GUESSES: usize = 10;
/// Time after its first wrong token until an address may guess again.
const WINDOW: Duration = Duration::from_secs(60);
/// Addresses that are tracked individually; all others share one entry.
const MOST_ADDRESSES: usize = 1024;
/// The entry of those others.
const OTHERS: IpAddr = IpAddr::V6(Ipv6Addr::UNSPECIFIED);

/// The wrong tokens of the last minute.
#[derive(Default)]
pub struct TokenGuard {
    hasher: RandomState,
    windows: Mutex<HashMap<IpAddr, Window>>,
}

struct Window {
    begun: Instant,
    /// Hashes of the different tokens sent: a browser that repeats an old cookie guesses nothing new.
    sent: Vec<u64>,
}

impl TokenGuard {
    /// How long tokens of this address are ignored; `None` if they are checked.
    pub fn wait(&self, client: IpAddr, now: Instant) -> Option<Duration> {
        let windows = self.windows();
        let window = windows.get(&entry(&windows, client))?;
        window.rest(now).filter(|_| window.sent.len() >= MOST_GUESSES)
    }

    /// Notes a wrong token; returns whether the address has to wait from now on.
    pub fn record(&self, client: IpAddr, token: &str, now: Instant) -> bool {
        let mut windows = self.windows();
        windows.retain(|_, window| window.rest(now).is_some());
        let entry = entry(&windows, client);
        let window =
            windows.entry(entry).or_insert_with(|| Window { begun: now, sent: Vec::new() });
        let guess = self.hasher.hash_one(token);
        if window.sent.contains(&guess) || window.sent.len() >= MOST_GUESSES {
            return false;
        }
        window.sent.push(guess);
        window.sent.len() == MOST_GUESSES
    }

    fn windows(&self) -> MutexGuard<'_, HashMap<IpAddr, Window>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Window {
    /// Time left; `None` if it is over.
    fn rest(&self, now: Instant) -> Option<Duration> {
        let rest = WINDOW.checked_sub(now.saturating_duration_since(self.begun));
        rest.filter(|rest| !rest.is_zero())
    }
}

/// Rate-limit key: the address, or the /64 for IPv6.
fn entry(windows: &HashMap<IpAddr, Window>, client: IpAddr) -> IpAddr {
    let own = match client.to_canonical() {
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
        }
        address => address,
    };
    match windows.contains_key(&own) || windows.len() < MOST_ADDRESSES {
        true => own,
        false => OTHERS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn ten_different_wrong_tokens_make_an_address_wait_and_no_other() {
        let (guard, now) = (TokenGuard::default(), Instant::now());
        let (guesser, other) = (address("2001:db8::7:1"), address("2001:db8:0:1::1"));
        for number in 1..=MOST_GUESSES {
            assert_eq!(guard.wait(guesser, now), None);
            let last = guard.record(guesser, &format!("guess {number}"), now);
            assert_eq!(last, number == MOST_GUESSES);
        }
        let later = now + Duration::from_secs(20);
        assert_eq!(guard.wait(address("2001:db8::9:9"), later), Some(Duration::from_secs(40)));
        assert_eq!(guard.wait(other, later), None);
        assert_eq!(guard.wait(guesser, now + WINDOW), None);
        assert!(!guard.record(guesser, "guess again", now + WINDOW), "a new minute begins");
    }

    #[test]
    fn an_old_cookie_is_one_guess_however_often_it_comes() {
        let (guard, now, client) = (TokenGuard::default(), Instant::now(), address("127.0.0.1"));
        assert!((0..1000).all(|_| !guard.record(client, "old", now)));
        assert_eq!(guard.wait(client, now), None);
    }

    #[test]
    fn many_addresses_take_no_more_memory_and_share_their_guesses() {
        let (guard, now) = (TokenGuard::default(), Instant::now());
        let client = |number: u32| IpAddr::from((0x0a00_0000 + number).to_be_bytes());
        for number in 0..4000 {
            guard.record(client(number), "x", now);
        }
        assert!(guard.windows().len() <= MOST_ADDRESSES + 1);
        let waits = |number: u32| guard.wait(client(number), now).is_some();
        assert!(!waits(3999), "one token is one guess");
        for number in 0..20 {
            guard.record(client(2000 + number), &number.to_string(), now);
        }
        assert!(waits(3999) && !waits(3));
    }
}
