//! The hosts that the examples of the documentation begin with. Not part of the interface.
#![expect(clippy::unwrap_used, reason = "only examples call this")]

use core::convert::Infallible;

use rand_core::{TryCryptoRng, TryRng};

use crate::{Config, Ecn, Host, Instant, Listen, PeerId};

/// A generator of numbers that are good enough for examples, and for nothing else.
#[derive(Clone, Debug)]
pub struct ExampleRng(pub(crate) u64);

impl TryRng for ExampleRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let [a, b, c, d, ..] = self.try_next_u64()?.to_le_bytes();
        Ok(u32::from_le_bytes([a, b, c, d]))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        Ok(self.0 ^ self.0 >> 31)
    }

    fn try_fill_bytes(&mut self, dst: &mut [u8]) -> Result<(), Infallible> {
        for chunk in dst.chunks_mut(8) {
            chunk.copy_from_slice(&self.try_next_u64()?.to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

impl TryCryptoRng for ExampleRng {}

/// The generator of the examples.
#[must_use]
pub const fn example_rng() -> ExampleRng {
    ExampleRng(7)
}

/// Cryptography for examples, which protects nothing.
#[cfg(feature = "seal")]
#[must_use]
pub fn example_provider() -> &'static dyn crate::seal::Provider {
    &crate::seal::toy::Toy
}

/// A host with one connected peer at the address 2, and that peer.
#[must_use]
pub fn example_pair() -> (Host<ExampleRng, u32>, PeerId) {
    let mut a = Host::new(Config::new(), ExampleRng(1));
    let mut b = Host::new(Config::new(), ExampleRng(2));
    b.listen(Listen::Open).unwrap();
    let peer = a.connect(Instant::ZERO, 2).unwrap();
    // More rounds than a handshake takes.
    for _ in 0..4 {
        carry(&mut a, 1, &mut b);
        carry(&mut b, 2, &mut a);
    }
    (a, peer)
}

/// A host that was asked to let a peer in and has not answered, and that peer.
#[must_use]
pub fn example_request() -> (Host<ExampleRng, u32>, PeerId) {
    let mut a = Host::new(Config::new(), ExampleRng(1));
    let mut b = Host::new(Config::new(), ExampleRng(2));
    b.listen(Listen::Ask).unwrap();
    a.connect(Instant::ZERO, 2).unwrap();
    for _ in 0..2 {
        carry(&mut a, 1, &mut b);
        carry(&mut b, 2, &mut a);
    }
    let (peer, _) = b.peers().next().unwrap();
    (b, peer)
}

pub(crate) fn carry(
    from: &mut Host<ExampleRng, u32>,
    address: u32,
    to: &mut Host<ExampleRng, u32>,
) {
    let mut buf = [0; 1200];
    while let Some(transmit) = from.poll_transmit(Instant::ZERO, &mut buf) {
        to.handle_datagram(Instant::ZERO, address, Ecn::NotEct, transmit.datagram);
    }
}
