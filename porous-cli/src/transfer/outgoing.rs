//! A file on its way, at the sender.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use porous_std::{Bytes, SendError};
use sha2::{Digest, Sha256};

use super::message::{Hash, Message};
use super::name::is_safe;

/// Bytes of the file in a packet: a few dozen datagrams.
const PIECE: u64 = 32 << 10;

/// Bytes that are hashed at once.
const HASHED: usize = 1 << 20;

/// The file, and how much of it the host has taken.
#[derive(Debug)]
pub(crate) struct Outgoing {
    file: File,
    pub(crate) name: String,
    pub(crate) len: u64,
    pub(crate) hash: Hash,
    /// Bytes that the host has taken on this connection, and those before them.
    pub(crate) at: u64,
    /// A packet for which the host had no room: one piece, so that memory does not depend on the file.
    waiting: Option<Bytes>,
}

impl Outgoing {
    /// Opens a file, and checks that it has a name that receivers take.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        let cannot = |error: io::Error| format!("cannot read {}: {error}", path.display());
        // To open a pipe would wait for a program that writes to it.
        let data = path.metadata().map_err(cannot)?;
        if !data.is_file() {
            return Err(format!(
                "cannot read {}: not a regular file",
                path.display()
            ));
        }
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(name) = name.filter(|name| is_safe(name)) else {
            return Err(format!(
                "no receiver takes the name of {}: rename it, without a dot at its ends and \
                 without signs that mean something",
                path.display()
            ));
        };
        Ok(Self {
            file: File::open(path).map_err(cannot)?,
            name: name.to_owned(),
            len: data.len(),
            hash: [0; 32],
            at: 0,
            waiting: None,
        })
    }

    /// Hashes the file. `on_piece` gets the bytes that were hashed until now, and returns false to end.
    pub(crate) fn take_hash(&mut self, mut on_piece: impl FnMut(u64) -> bool) -> io::Result<bool> {
        let mut hasher = Sha256::new();
        let mut piece = vec![0; HASHED];
        let mut len = 0;
        loop {
            let read = self.file.read(&mut piece)?;
            if read == 0 {
                break;
            }
            hasher.update(&piece[..read]);
            len += read as u64;
            if !on_piece(len) {
                return Ok(false);
            }
        }
        self.len = len;
        self.hash.copy_from_slice(&hasher.finalize());
        Ok(true)
    }

    /// What is offered to the receiver.
    pub(crate) fn offer(&self) -> Message<'_> {
        Message::Offer {
            len: self.len,
            hash: self.hash,
            name: &self.name,
        }
    }

    /// Begins at an offset, of which the receiver says that it has all before. Returns false if the file has no
    /// such offset.
    pub(crate) fn begin(&mut self, offset: u64) -> io::Result<bool> {
        self.waiting = None;
        self.at = offset;
        self.file.seek(SeekFrom::Start(offset))?;
        Ok(offset <= self.len)
    }

    /// Sends pieces while the host has room.
    pub(crate) fn send(
        &mut self,
        mut send: impl FnMut(Bytes) -> Result<(), SendError>,
    ) -> io::Result<()> {
        while self.at < self.len {
            let len = PIECE.min(self.len - self.at);
            let packet = match self.waiting.take() {
                Some(packet) => packet,
                None => self.piece(usize::try_from(len).unwrap_or(0))?,
            };
            match send(packet.clone()) {
                Ok(()) => self.at += len,
                // Without room, or the connection has ended, which an event tells.
                Err(_) => {
                    self.waiting = Some(packet);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn piece(&mut self, len: usize) -> io::Result<Bytes> {
        let mut piece = vec![0; len];
        let read = self.file.read_exact(&mut piece);
        read.map_err(|error| {
            if error.kind() == io::ErrorKind::UnexpectedEof {
                io::Error::new(error.kind(), "it has become shorter: send it again")
            } else {
                error
            }
        })?;
        Ok(Message::Data(&piece).to_bytes().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outgoing(test: &str, len: u32) -> Outgoing {
        let path = std::env::temp_dir().join(format!("porous-{}-{test}", std::process::id()));
        let bytes: Vec<u8> = (0..len).map(|n| n.to_le_bytes()[1]).collect();
        std::fs::write(&path, bytes).unwrap();
        let mut outgoing = Outgoing::open(&path).unwrap();
        assert!(outgoing.take_hash(|_| true).unwrap());
        assert!(outgoing.begin(0).unwrap());
        std::fs::remove_file(path).unwrap();
        outgoing
    }

    fn bytes(packets: &[Bytes]) -> Vec<u8> {
        let data = packets.iter().map(|packet| match Message::parse(packet) {
            Some(Message::Data(bytes)) => bytes,
            other => panic!("{other:?}"),
        });
        data.collect::<Vec<_>>().concat()
    }

    #[test]
    fn full_means_that_one_piece_waits() {
        let mut outgoing = outgoing("full", 100_000);
        let (mut packets, mut room) = (Vec::new(), 2);
        for _ in 0..10 {
            let send = |packet| {
                room -= 1;
                if room < 0 {
                    return Err(SendError::Full);
                }
                packets.push(packet);
                Ok(())
            };
            outgoing.send(send).unwrap();
            room = 1;
        }
        assert_eq!(packets.len(), 4);
        let sent = bytes(&packets);
        assert_eq!(Sha256::digest(&sent)[..], outgoing.hash);
        assert_eq!((outgoing.at, outgoing.len), (100_000, 100_000));
    }

    #[test]
    fn a_new_connection_begins_where_the_receiver_says() {
        let mut outgoing = outgoing("begins", 100_000);
        outgoing.send(|_| Err(SendError::Full)).unwrap();
        assert!(outgoing.begin(99_990).unwrap());
        let mut packets = Vec::new();
        let send = |packet| {
            packets.push(packet);
            Ok(())
        };
        outgoing.send(send).unwrap();
        let expected: Vec<u8> = (99_990..100_000_u32).map(|n| n.to_le_bytes()[1]).collect();
        assert_eq!(bytes(&packets), expected);
        assert!(!outgoing.begin(100_001).unwrap());
    }

    #[test]
    fn what_is_no_file_or_has_no_good_name_is_not_sent() {
        for path in ["/", "no/such/file", "/etc/.pwd.lock"] {
            assert!(Outgoing::open(Path::new(path)).is_err(), "{path}");
        }
    }
}
