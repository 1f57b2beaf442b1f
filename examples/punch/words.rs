//! The packets between the players and the rendezvous, as text.

use core::net::SocketAddr;

/// The packet in which the rendezvous tells a player of a match.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Match {
    /// The secret of the two players. A stranger at one of the addresses does not know it.
    pub(crate) token: u64,
    /// The addresses at which the other player may be.
    pub(crate) addresses: Vec<SocketAddr>,
}

/// The most addresses that `connect_any` takes.
const ADDRESSES_MAX: usize = 8;

/// The addresses in a packet. Words that are no addresses are left out, and so are too many addresses.
pub(crate) fn read_addresses(packet: &[u8]) -> Vec<SocketAddr> {
    let text = core::str::from_utf8(packet).unwrap_or("");
    let addresses = text.split(' ').filter_map(|word| word.parse().ok());
    addresses.take(ADDRESSES_MAX).collect()
}

pub(crate) fn write_addresses(addresses: &[SocketAddr]) -> String {
    let words: Vec<String> = addresses.iter().map(SocketAddr::to_string).collect();
    words.join(" ")
}

impl Match {
    pub(crate) fn read(packet: &[u8]) -> Option<Self> {
        let text = core::str::from_utf8(packet).ok()?;
        let (token, addresses) = text.split_once(' ')?;
        Some(Self {
            token: token.parse().ok()?,
            addresses: read_addresses(addresses.as_bytes()),
        })
    }

    pub(crate) fn write(&self) -> String {
        format!("{} {}", self.token, write_addresses(&self.addresses))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let addresses = ["10.0.0.1:7".parse(), "[fe80::1%3]:9".parse()];
        let addresses = addresses.map(|address| address.expect("an address")).into();
        let said = Match {
            token: u64::MAX,
            addresses,
        };
        assert_eq!(Match::read(said.write().as_bytes()), Some(said));
    }

    #[test]
    fn nonsense_is_left_out() {
        assert_eq!(Match::read(b"\xFF 1.2.3.4:5"), None);
        assert_eq!(Match::read(b"x 1.2.3.4:5"), None);
        let many = "1.2.3.4:5 what ".repeat(20);
        assert_eq!(read_addresses(many.as_bytes()).len(), ADDRESSES_MAX);
    }
}
