//! What is known around a host that may follow its peers: what it asks for, and what it may say to
//! those who are none (`docs/wire.md`, "Roaming").

/// Peers that move, if they are followed.
#[derive(Debug)]
pub struct Roaming {
    pub(crate) is_on: bool,
    /// What is to be echoed, whomever it was said to last.
    pub(crate) challenge: Option<[u8; 8]>,
    /// So often a peer has moved.
    pub moves: u32,
    /// Bytes that may still go to an address.
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

    /// The host says this to somebody.
    pub(crate) fn hear(&mut self, datagram: &[u8]) {
        let mut places = datagram.windows(10);
        let found = places.find(|place| place.starts_with(&[0xC0, 7]));
        let data = found.and_then(|place| place[2..].try_into().ok());
        self.challenge = data.or(self.challenge);
    }

    /// Which remote hears this: whoever has moved is known by its connection id, which is made of
    /// its first place.
    pub(crate) const fn whose(&self, to: u8, datagram: &[u8]) -> u8 {
        match *datagram {
            [0x40..=0x7F, id, ..] if self.is_on => id,
            _ => to,
        }
    }

    /// Whoever is no peer gets no more than came from there: what was sent for `len` bytes. If peers
    /// are followed, it is three times as much of all that came.
    pub(crate) fn assert_few(&mut self, to: u8, is_peer: bool, len: usize, sent: usize) {
        let credit = &mut self.credit[usize::from(to)];
        let most = if self.is_on { *credit + 3 * len } else { len };
        *credit = most.saturating_sub(sent);
        // Where a peer was it is looked for.
        let was_peer = &mut self.was_peer[usize::from(to)];
        *was_peer |= is_peer;
        let is_proved = is_peer || self.is_on && *was_peer;
        assert!(is_proved || sent <= most, "{sent} bytes for {most}");
    }
}
