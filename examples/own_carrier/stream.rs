//! Datagrams over a stream of bytes: a relay, a pipe or a serial line are no more than that. Here it is TCP.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

/// The longest datagram of this carrier, in bytes, as a carrier of one's own may have one: WebTransport, for
/// example.
pub(crate) const LONGEST: u16 = 1024;

/// The bytes of the length before each datagram.
const HEAD: usize = 2;

/// Bytes that may wait for a stream that is slower than the host. What is more gets lost: the host takes that for
/// congestion, which it is, and sends less. A longer queue would only make everything late.
const MOST_WAITING: usize = 32 * 1024;

/// A stream of bytes that carries datagrams, each behind its length.
pub(crate) struct Stream {
    bytes: TcpStream,
    outbox: Vec<u8>,
    inbox: Vec<u8>,
    ended: bool,
}

impl Stream {
    pub(crate) fn new(bytes: TcpStream) -> io::Result<Self> {
        bytes.set_nonblocking(true)?;
        // Or TCP waits for more bytes before it sends these.
        bytes.set_nodelay(true)?;
        Ok(Self {
            bytes,
            outbox: Vec::new(),
            inbox: Vec::new(),
            ended: false,
        })
    }

    /// Sends a datagram whole, or loses it whole.
    pub(crate) fn send(&mut self, datagram: &[u8]) {
        self.flush();
        let fits = self.outbox.len() + HEAD + datagram.len() <= MOST_WAITING;
        let len = u16::try_from(datagram.len()).ok();
        if let Some(len) = len.filter(|len| fits && *len <= LONGEST) {
            self.outbox.extend(len.to_be_bytes());
            self.outbox.extend(datagram);
            self.flush();
        }
    }

    /// Hands the stream as many of the waiting bytes as it takes.
    pub(crate) fn flush(&mut self) {
        while !self.outbox.is_empty() && !self.ended {
            match self.bytes.write(&self.outbox) {
                Ok(len) if len > 0 => drop(self.outbox.drain(..len)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => self.ended = true,
            }
        }
    }

    /// The length of the datagram whose beginning has arrived.
    fn next_len(&self) -> Option<usize> {
        let head = self.inbox.first_chunk::<HEAD>()?;
        Some(usize::from(u16::from_be_bytes(*head)))
    }

    /// Reads until a whole datagram is here. Returns true if one is.
    pub(crate) fn fill(&mut self) -> bool {
        loop {
            let missing = match self.next_len() {
                Some(len) if len > usize::from(LONGEST) => {
                    // No such datagram is ever sent: the other end speaks something else.
                    self.ended = true;
                    return false;
                }
                Some(len) => HEAD + len - self.inbox.len(),
                None => HEAD - self.inbox.len(),
            };
            if missing == 0 {
                return true;
            }
            let mut chunk = [0; HEAD + LONGEST as usize];
            match self.bytes.read(&mut chunk[..missing]) {
                Ok(len) if len > 0 => self.inbox.extend(&chunk[..len]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => {
                    self.ended = true;
                    return false;
                }
            }
        }
    }

    /// Moves the whole datagram that is here into the buffer, and returns its length.
    pub(crate) fn take(&mut self, buffer: &mut [u8]) -> usize {
        let datagram = &self.inbox[HEAD..];
        let len = datagram.len().min(buffer.len());
        buffer[..len].copy_from_slice(&datagram[..len]);
        self.inbox.clear();
        len
    }

    pub(crate) const fn has_ended(&self) -> bool {
        self.ended
    }
}
