//! Where the records of a host go.

use core::{fmt, mem};
use std::io::{self, Write};

use crc::{CRC_32_ISCSI, Crc};

use crate::record::Record;

/// The first bytes of a trace. No text begins so, and a copy that took it for text shows.
pub(crate) const MAGIC: [u8; 8] = *b"\x93POROUS\n";

/// The version of the format (`docs/trace.md`, "Versions").
pub(crate) const VERSION: u16 = 1;

/// The most bytes of a record: a packet of 16 MiB, and its head.
pub(crate) const RECORD_MAX: usize = (16 << 20) + 1024;

/// Bytes that wait before they are written although no turn of the host has ended.
const BUFFER: usize = 64 << 10;

pub(crate) static CHECK: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);

/// What of a host a trace keeps.
///
/// ```
/// use porous_trace::Keep;
///
/// assert!(!Keep::default().payloads && !Keep::default().keys);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Keep {
    /// The payloads of packets. Without them zeros of the same lengths stand in.
    pub payloads: bool,
    /// Keys: those of a `Security` and of `Credentials`, those that encrypt connection ids, and what a host
    /// that seals has drawn, which opens all of its connections.
    pub keys: bool,
}

impl Keep {
    /// Neither payloads nor keys.
    ///
    /// ```
    /// let keep = porous_trace::Keep::nothing();
    /// # let _ = keep;
    /// ```
    #[must_use]
    pub const fn nothing() -> Self {
        Self {
            payloads: false,
            keys: false,
        }
    }

    /// Payloads, too.
    ///
    /// ```
    /// assert!(porous_trace::Keep::nothing().payloads().payloads);
    /// ```
    #[must_use]
    pub const fn payloads(mut self) -> Self {
        self.payloads = true;
        self
    }

    /// Keys, too, and with them payloads: a reader that has the keys of a connection can read it.
    ///
    /// ```
    /// use porous_trace::Keep;
    ///
    /// assert!(Keep::nothing().keys().keys && Keep::nothing().keys().payloads);
    /// ```
    #[must_use]
    pub const fn keys(mut self) -> Self {
        self.keys = true;
        self.payloads()
    }

    pub(crate) const fn flags(self) -> u8 {
        self.payloads as u8 | (self.keys as u8) << 1
    }

    pub(crate) const fn from_flags(flags: u8) -> Option<Self> {
        match flags {
            0 => Some(Self::nothing()),
            1 => Some(Self::nothing().payloads()),
            3 => Some(Self::nothing().keys()),
            _ => None,
        }
    }
}

/// What takes records, in their order: a file by [`Recorder::new`], or anything else.
pub trait Sink: Send + Sync {
    /// Takes a record.
    ///
    /// # Errors
    ///
    /// Any error ends the recording.
    fn put(&mut self, record: &Record) -> io::Result<()>;
}

/// Records a host: see [`TracedHost::record`](crate::TracedHost::record).
///
/// ```
/// use porous_trace::{Keep, Recorder};
///
/// let recorder = Recorder::new(std::io::sink(), Keep::nothing());
/// # let _ = recorder;
/// ```
pub struct Recorder {
    pub(crate) keep: Keep,
    sinks: Vec<Box<dyn Sink>>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("keep", &self.keep)
            .finish_non_exhaustive()
    }
}

impl Recorder {
    /// Writes a trace to `to`. It is written at the end of each turn of the host, so that a program that
    /// crashes leaves nearly all of it: `to` needs no buffer of its own.
    ///
    /// ```
    /// use porous_trace::{Keep, Recorder};
    ///
    /// let recorder = Recorder::new(std::io::sink(), Keep::nothing().payloads());
    /// # let _ = recorder;
    /// ```
    #[must_use]
    pub fn new(to: impl Write + Send + Sync + 'static, keep: Keep) -> Self {
        Self::to(Writer::new(to, keep), keep)
    }

    /// Gives records to a sink.
    ///
    /// ```
    /// use porous_trace::{Keep, Record, Recorder, Sink};
    ///
    /// struct Count(u64);
    ///
    /// impl Sink for Count {
    ///     fn put(&mut self, _: &Record) -> std::io::Result<()> {
    ///         self.0 += 1;
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let recorder = Recorder::to(Count(0), Keep::nothing());
    /// # let _ = recorder;
    /// ```
    #[must_use]
    pub fn to(sink: impl Sink + 'static, keep: Keep) -> Self {
        Self {
            keep,
            sinks: vec![Box::new(sink)],
        }
    }

    /// Gives them to another sink as well.
    ///
    /// ```
    /// use porous_trace::{Keep, Record, Recorder, Sink};
    ///
    /// struct Nowhere;
    ///
    /// impl Sink for Nowhere {
    ///     fn put(&mut self, _: &Record) -> std::io::Result<()> {
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let recorder = Recorder::new(std::io::sink(), Keep::nothing()).and_to(Nowhere);
    /// # let _ = recorder;
    /// ```
    #[must_use]
    pub fn and_to(mut self, sink: impl Sink + 'static) -> Self {
        self.sinks.push(Box::new(sink));
        self
    }

    pub(crate) fn put(&mut self, record: &Record) -> io::Result<()> {
        // All sinks get it, also after one has failed.
        let done = self.sinks.iter_mut().map(|sink| sink.put(record));
        done.fold(Ok(()), Result::and)
    }
}

/// Writes records to a file. What waits is written when it is dropped, also while the program panics.
struct Writer<W: Write> {
    to: W,
    buffer: Vec<u8>,
    record: Vec<u8>,
}

impl<W: Write> Writer<W> {
    fn new(to: W, keep: Keep) -> Self {
        let mut buffer = MAGIC.to_vec();
        buffer.extend(VERSION.to_le_bytes());
        buffer.extend([keep.flags(), 0]);
        Self {
            to,
            buffer,
            record: Vec::new(),
        }
    }
}

impl<W: Write> Drop for Writer<W> {
    fn drop(&mut self) {
        // Nobody is there to be told: a trace that is cut off shows it.
        let _written = self.to.write_all(&self.buffer);
    }
}

impl<W: Write + Send + Sync> Sink for Writer<W> {
    fn put(&mut self, record: &Record) -> io::Result<()> {
        self.record.clear();
        record.put(&mut self.record);
        if self.record.len() > RECORD_MAX {
            let text = format!(
                "a record of {} bytes is too long for a trace: record without payloads",
                self.record.len()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let length = u32::try_from(self.record.len()).unwrap_or(u32::MAX);
        self.buffer.extend(length.to_le_bytes());
        self.buffer.extend(&self.record);
        let check = CHECK.checksum(&self.record);
        self.buffer.extend(check.to_le_bytes());
        let ends_turn = matches!(record, Record::Idle { .. } | Record::End { .. });
        if ends_turn || self.buffer.len() >= BUFFER {
            // Taken first: what could not be written once is not written again.
            let mut buffer = mem::take(&mut self.buffer);
            self.to.write_all(&buffer)?;
            buffer.clear();
            self.buffer = buffer;
        }
        if matches!(record, Record::End { .. }) {
            self.to.flush()?;
        }
        Ok(())
    }
}
