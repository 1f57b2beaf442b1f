//! The surroundings of a host that may follow its peers: its challenges, and the bytes that it may send
//! to addresses without a peer (`docs/wire.md`, "Roaming").

/// Peers that move, if the host follows them.
#[derive(Debug)]
pub struct Roaming {
    pub(crate) is_on: bool,
    /// The data of the newest challenge, whichever peer it was for.
    pub(crate) challenge: Option<[u8; 8]>,
    /// Times that a peer has moved.
    pub moves: u32,
    /// Bytes that the host may still send to each address.
    credit: [usize; 256],
    was_peer: [bool; 256],
}

impl Roaming {
    pub(crate) const fn new(is_on: bool) -> Self {
        Self {
            is_on,
            challenge: None,
            moves: 0,
            credit: [0; 256],
            was_peer: [false; 256],
        }
    }

    /// Keeps the challenge in a datagram that the host sends, if there is one.
    pub(crate) fn hear(&mut self, datagram: &[u8]) {
        let mut places = datagram.windows(10);
        let found = places.find(|place| place.starts_with(&[0xC0, 7]));
        let data = found.and_then(|place| place[2..].try_into().ok());
        self.challenge = data.or(self.challenge);
    }

    /// The remote that receives this datagram. A peer that has moved is recognised by its connection id,
    /// which is made of its first address.
    pub(crate) const fn whose(&self, to: u8, datagram: &[u8]) -> u8 {
        match *datagram {
            [0x40..=0x7F, id, ..] if self.is_on => id,
            _ => to,
        }
    }

    /// Checks that an address without a peer got no more bytes than the `len` that have just come from it;
    /// if peers are followed, no more than three times all bytes that ever came from it.
    pub(crate) fn assert_few(&mut self, to: u8, is_peer: bool, len: usize, sent: usize) {
        let credit = &mut self.credit[usize::from(to)];
        let most = if self.is_on { *credit + 3 * len } else { len };
        *credit = most.saturating_sub(sent);
        // A host that follows its peers may challenge a peer at its old address, too.
        let was_peer = &mut self.was_peer[usize::from(to)];
        *was_peer |= is_peer;
        let is_proved = is_peer || self.is_on && *was_peer;
        assert!(is_proved || sent <= most, "{sent} bytes for {most}");
    }
}
