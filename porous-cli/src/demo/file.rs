//! The file that is sent, and its transfer to a client.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use porous_std::{Bytes, SendError};
use sha2::{Digest, Sha256};

/// Bytes in a packet.
const PIECE: usize = 1000;

/// Bytes of the default file that are sent.
const DEFAULT_LEN: u64 = 1 << 20;

/// The longest file that can be sent, in bytes.
const LEN_MAX: u64 = 256 << 20;

/// The bytes that may wait at a peer before the file holds itself back: a file that filled the send
/// buffer would leave no room for the game.
const QUEUE_MAX: usize = 256 * 1024;

/// Reads the file to send, or the beginning of this program.
pub(crate) fn load(path: Option<&Path>) -> io::Result<Bytes> {
    let mut bytes = Vec::new();
    if let Some(path) = path {
        // To open a pipe would wait for a program that writes to it.
        if !path.metadata()?.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        File::open(path)?
            // One byte more than allowed tells a file that is too long.
            .take(LEN_MAX + 1)
            .read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LEN_MAX {
            return Err(io::Error::other("larger than 256 MiB"));
        }
    } else {
        let program = std::env::current_exe()?;
        File::open(program)?
            .take(DEFAULT_LEN)
            .read_to_end(&mut bytes)?;
    }
    Ok(bytes.into())
}

/// A file under way to one client.
#[derive(Debug)]
pub(crate) struct Transfer {
    file: Bytes,
    sent: usize,
    /// True if the host has no room, until it reports that it has.
    is_full: bool,
    received: usize,
    hash: Sha256,
}

impl Transfer {
    pub(crate) fn new(file: Bytes) -> Self {
        Self {
            file,
            sent: 0,
            is_full: false,
            received: 0,
            hash: Sha256::new(),
        }
    }

    /// Sends pieces while there is room. `queued` bytes wait at the host already.
    pub(crate) fn send(
        &mut self,
        mut queued: usize,
        mut send: impl FnMut(Bytes) -> Result<(), SendError>,
    ) {
        while self.sent < self.file.len() && !self.is_full && queued < QUEUE_MAX {
            let end = self.file.len().min(self.sent + PIECE);
            match send(self.file.slice(self.sent..end)) {
                Ok(()) => {
                    queued += end - self.sent;
                    self.sent = end;
                }
                Err(SendError::Full) => self.is_full = true,
                // The connection has ended, which an event reports.
                Err(_) => return,
            }
        }
    }

    /// Notes that the host has room again.
    pub(crate) const fn writable(&mut self) {
        self.is_full = false;
    }

    /// Takes the next piece at the far end.
    pub(crate) fn receive(&mut self, piece: &[u8]) {
        self.received += piece.len();
        self.hash.update(piece);
    }

    /// True if at least as many bytes have arrived as the file has.
    pub(crate) fn is_complete(&self) -> bool {
        self.received >= self.file.len()
    }

    /// True if the bytes that arrived are the file, whose hash is `expected`.
    pub(crate) fn is_right(&self, expected: &[u8]) -> bool {
        self.received == self.file.len() && self.hash.clone().finalize()[..] == *expected
    }
}

/// The SHA-256 of a file.
pub(crate) fn hash(file: &[u8]) -> Vec<u8> {
    Sha256::digest(file).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer() -> (Transfer, Vec<u8>) {
        let file: Vec<u8> = (0..2500_u32).map(|n| n.to_le_bytes()[0]).collect();
        (Transfer::new(file.clone().into()), hash(&file))
    }

    fn pieces(transfer: &mut Transfer) -> Vec<Bytes> {
        let mut pieces = Vec::new();
        transfer.send(0, |piece| {
            pieces.push(piece);
            Ok(())
        });
        pieces
    }

    #[test]
    fn a_file_in_order_is_right() {
        let (mut transfer, hash) = transfer();
        let pieces = pieces(&mut transfer);
        assert_eq!(
            pieces.iter().map(Bytes::len).collect::<Vec<_>>(),
            [1000, 1000, 500]
        );
        for piece in &pieces {
            assert!(!transfer.is_complete());
            transfer.receive(piece);
        }
        assert!(transfer.is_complete() && transfer.is_right(&hash));
        transfer.receive(&pieces[2]);
        assert!(!transfer.is_right(&hash), "a duplicate shows");
    }

    #[test]
    fn a_file_out_of_order_is_not() {
        let (mut transfer, hash) = transfer();
        for piece in pieces(&mut transfer).iter().rev() {
            transfer.receive(piece);
        }
        assert!(transfer.is_complete() && !transfer.is_right(&hash));
    }

    #[test]
    fn full_means_wait() {
        let (mut transfer, _) = transfer();
        transfer.send(QUEUE_MAX, |_| panic!("it holds itself back"));
        transfer.send(0, |_| Err(SendError::Full));
        transfer.send(0, |_| panic!("it waits"));
        transfer.writable();
        assert_eq!(pieces(&mut transfer).len(), 3);
    }

    #[test]
    fn an_empty_file_is_there_at_once() {
        let transfer = Transfer::new(Bytes::new());
        assert!(transfer.is_complete() && transfer.is_right(&hash(b"")));
    }

    #[test]
    fn the_default_is_this_program() {
        let file = load(None).unwrap();
        assert!(!file.is_empty() && file.len() as u64 <= DEFAULT_LEN);
        assert!(load(Some(Path::new("/"))).is_err());
    }
}
