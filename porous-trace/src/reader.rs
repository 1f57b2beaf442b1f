//! Traces, read from files that may hold anything.

use core::fmt;
use std::io::{self, Read};

use crate::field::Cursor;
use crate::record::Record;
use crate::recorder::{CHECK, Keep, MAGIC, RECORD_MAX, VERSION};

/// Why a trace, or the rest of it, cannot be read. Records are counted from 1 on.
#[derive(Debug)]
#[non_exhaustive]
pub enum TraceError {
    /// The system cannot read it.
    Io(io::Error),
    /// It does not begin as a trace does.
    NotATrace,
    /// It was written in another version of the format.
    Version(u16),
    /// It ends within a record.
    Cut {
        /// The record.
        record: u64,
    },
    /// The check of a record does not match.
    Damaged {
        /// The record.
        record: u64,
    },
    /// A record claims to be longer than any is.
    TooLong {
        /// The record.
        record: u64,
    },
    /// A record whose check matches has no meaning.
    Unknown {
        /// The record.
        record: u64,
        /// The number of its kind.
        kind: u8,
    },
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::NotATrace => f.write_str("this is no trace: it begins with other bytes"),
            Self::Version(version) => write!(
                f,
                "the trace has version {version} of the format, and this program reads version \
                 {VERSION}: use the program that has recorded it"
            ),
            Self::Cut { record } => write!(f, "the trace is cut off within record {record}"),
            Self::Damaged { record } => {
                write!(f, "record {record} is damaged: its check does not match")
            }
            Self::TooLong { record } => {
                write!(f, "record {record} is damaged: it is longer than any is")
            }
            Self::Unknown { record, kind } => {
                write!(f, "record {record} of kind {kind} makes no sense")
            }
        }
    }
}

impl core::error::Error for TraceError {}

/// A record, and its number from 1 on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The number.
    pub number: u64,
    /// The record.
    pub record: Record,
}

/// The records of a trace, in their order. After an error there are no more.
///
/// Whatever the bytes are, reading takes no more memory than the bytes of one record, of 16 MiB at most, and
/// what they say.
///
/// ```
/// use porous_proto::{Config, Listen};
/// # use porous_proto::hooks::doc::example_rng;
/// # use std::io::Write;
/// # use std::sync::{Arc, Mutex};
/// use porous_trace::{About, Keep, Recorder, Trace, TracedHost};
///
/// # #[derive(Clone, Default)]
/// # struct File(Arc<Mutex<Vec<u8>>>);
/// # impl Write for File {
/// #     fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
/// #         self.0.lock().unwrap().write(bytes)
/// #     }
/// #     fn flush(&mut self) -> std::io::Result<()> { Ok(()) }
/// # }
/// # let file = File::default();
/// let mut host = TracedHost::new(Config::new(), example_rng());
/// host.record(Recorder::new(file.clone(), Keep::nothing()), About::default(), example_rng())?;
/// host.listen(Listen::Open)?;
/// host.end_recording()?;
///
/// # let file = file.0.lock().unwrap().clone();
/// let mut names = Vec::new();
/// for entry in Trace::read(&file[..])? {
///     names.push(entry?.record.name());
/// }
/// assert_eq!(names, ["draws", "host", "listen", "end"]);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Trace<R> {
    from: R,
    keep: Keep,
    read: u64,
    is_over: bool,
}

impl<R: Read> Trace<R> {
    /// Reads the head of a trace.
    ///
    /// # Errors
    ///
    /// [`TraceError::NotATrace`], [`TraceError::Version`] or [`TraceError::Io`].
    ///
    /// ```
    /// use porous_trace::{Trace, TraceError};
    ///
    /// assert!(matches!(Trace::read(&b"garbage"[..]), Err(TraceError::NotATrace)));
    /// ```
    pub fn read(mut from: R) -> Result<Self, TraceError> {
        let mut head = [0; MAGIC.len() + 4];
        let length = fill(&mut from, &mut head).map_err(TraceError::Io)?;
        let (magic, rest) = head.split_at(MAGIC.len());
        let [low, high, flags, _] = rest.try_into().map_err(|_| TraceError::NotATrace)?;
        if length < head.len() || magic != MAGIC {
            return Err(TraceError::NotATrace);
        }
        let version = u16::from_le_bytes([low, high]);
        if version != VERSION {
            return Err(TraceError::Version(version));
        }
        Ok(Self {
            from,
            keep: Keep::from_flags(flags).ok_or(TraceError::NotATrace)?,
            read: 0,
            is_over: false,
        })
    }

    /// What the trace keeps.
    ///
    /// ```
    /// use porous_trace::{Keep, Trace};
    ///
    /// let empty = b"\x93POROUS\n\x01\x00\x00\x00";
    /// assert_eq!(Trace::read(&empty[..])?.keep(), Keep::nothing());
    /// # Ok::<(), porous_trace::TraceError>(())
    /// ```
    #[must_use]
    pub const fn keep(&self) -> Keep {
        self.keep
    }

    fn next_record(&mut self) -> Result<Option<Record>, TraceError> {
        let record = self.read + 1;
        let mut length = [0; 4];
        match fill(&mut self.from, &mut length).map_err(TraceError::Io)? {
            0 => return Ok(None),
            4 => {}
            _ => return Err(TraceError::Cut { record }),
        }
        let length = u32::from_le_bytes(length);
        if length as usize > RECORD_MAX {
            return Err(TraceError::TooLong { record });
        }
        // It grows with what is there, not with what the file claims.
        let mut bytes = Vec::new();
        let mut part = self.from.by_ref().take(u64::from(length) + 4);
        part.read_to_end(&mut bytes).map_err(TraceError::Io)?;
        if bytes.len() < length as usize + 4 {
            return Err(TraceError::Cut { record });
        }
        let (content, check) = bytes.split_at(length as usize);
        if CHECK.checksum(content).to_le_bytes() != check {
            return Err(TraceError::Damaged { record });
        }
        let kind = content.first().copied().unwrap_or_default();
        let known = Record::decode(Cursor(content));
        known.map(Some).ok_or(TraceError::Unknown { record, kind })
    }
}

/// Reads until `to` is full or there is no more. Returns the number of bytes.
fn fill(from: &mut impl Read, to: &mut [u8]) -> io::Result<usize> {
    let mut bytes = Vec::new();
    from.take(to.len() as u64).read_to_end(&mut bytes)?;
    for (to, byte) in to.iter_mut().zip(&bytes) {
        *to = *byte;
    }
    Ok(bytes.len())
}

impl<R: Read> Iterator for Trace<R> {
    type Item = Result<Entry, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        match self.next_record() {
            Ok(Some(record)) => {
                self.read += 1;
                let number = self.read;
                Some(Ok(Entry { number, record }))
            }
            Ok(None) => {
                self.is_over = true;
                None
            }
            Err(error) => {
                self.is_over = true;
                Some(Err(error))
            }
        }
    }
}
