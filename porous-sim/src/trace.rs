//! The events of a network, as a digest and as text: two runs of one seed must not differ.

use alloc::format;
use alloc::string::String;
use core::fmt::{self, Debug};
use core::hash::{Hash, Hasher};

use porous_proto::Instant;

use crate::Fate;
use crate::hash::{Fnv, fnv};

/// What happened to a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Happening {
    Sent,
    Duplicated,
    Delivered,
    Lost,
    QueueFull,
    TooLarge,
    Cut,
    Damaged,
    BadChecksum,
}

/// The happening that is recorded when a datagram is sent.
impl From<Fate> for Happening {
    fn from(fate: Fate) -> Self {
        match fate {
            Fate::Carried { copy: None, .. } | Fate::BadChecksum { copy: None } => Self::Sent,
            Fate::Carried { copy: Some(_), .. } | Fate::BadChecksum { copy: Some(_) } => {
                Self::Duplicated
            }
            Fate::Lost => Self::Lost,
            Fate::QueueFull => Self::QueueFull,
            Fate::TooLarge => Self::TooLarge,
            Fate::Cut => Self::Cut,
        }
    }
}

/// The length and the hash of a datagram's bytes, for a trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Print {
    len: usize,
    hash: u64,
}

impl Print {
    pub(crate) const fn of(datagram: &[u8]) -> Self {
        Self {
            len: datagram.len(),
            hash: fnv(datagram),
        }
    }
}

impl Happening {
    /// The number that stands for the happening in a digest; never changed, so that recorded digests
    /// stay valid.
    const fn code(self) -> u8 {
        match self {
            Self::Sent => 1,
            Self::Duplicated => 2,
            Self::Delivered => 3,
            Self::Lost => 4,
            Self::QueueFull => 5,
            Self::TooLarge => 6,
            Self::Cut => 7,
            Self::Damaged => 8,
            Self::BadChecksum => 9,
        }
    }
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sent => "sent",
            Self::Duplicated => "duplicated",
            Self::Delivered => "delivered",
            Self::Lost => "lost",
            Self::QueueFull => "queue full",
            Self::TooLarge => "too large",
            Self::Cut => "cut",
            Self::Damaged => "damaged",
            Self::BadChecksum => "bad checksum",
        })
    }
}

/// A running digest of all that happened on a network, and on demand a text of a line for each happening:
/// time, sender, receiver, happening, length, hash of the bytes.
///
/// The digest is FNV-1a over all of these. Equal texts have equal digests, and different texts have
/// different digests but for an unlikely coincidence. With integers for addresses the digest is the same
/// on every machine; socket addresses of the standard library hash differently on big-endian machines.
///
/// ```
/// use porous_proto::Instant;
/// use porous_sim::{LinkConfig, Network, Seed};
///
/// let mut network = Network::new(Seed::new(1), LinkConfig::new()).with_text();
/// network.send(Instant::from_micros(1500), 1, 2, b"hi");
/// let expected = "0.001500s 1 -> 2 sent 2 B 08ba5f07b55ec3da\n";
/// assert_eq!(network.trace().text(), Some(expected));
/// ```
#[derive(Clone, Debug)]
pub struct Trace {
    digest: Fnv,
    text: Option<String>,
}

impl Trace {
    /// An empty trace that keeps the digest only.
    ///
    /// ```
    /// assert_eq!(porous_sim::Trace::new().text(), None);
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self {
            digest: Fnv::new(),
            text: None,
        }
    }

    /// Keeps the text as well, from now on; the text grows with every happening.
    ///
    /// ```
    /// use porous_sim::Trace;
    ///
    /// let mut trace = Trace::new();
    /// trace.keep_text();
    /// assert_eq!(trace.text(), Some(""));
    /// ```
    pub fn keep_text(&mut self) {
        self.text.get_or_insert_default();
    }

    /// Records what happened to a datagram.
    pub(crate) fn record<A: Hash + Debug>(
        &mut self,
        now: Instant,
        (from, to): (A, A),
        what: Happening,
        Print { len, hash }: Print,
    ) {
        self.digest.write_u64(now.as_micros());
        self.digest.write(&[what.code()]);
        self.digest.write_u64(Fnv::of(&from));
        self.digest.write_u64(Fnv::of(&to));
        self.digest.write_usize(len);
        self.digest.write_u64(hash);
        if let Some(text) = &mut self.text {
            text.push_str(&format!(
                "{now:?} {from:?} -> {to:?} {what} {len} B {hash:016x}\n"
            ));
        }
    }

    /// Records a note, for example on a step of the scenario, or on a packet that an application received.
    /// The note counts in the digest.
    ///
    /// ```
    /// use porous_proto::Instant;
    /// use porous_sim::Trace;
    ///
    /// let mut trace = Trace::new();
    /// trace.keep_text();
    /// trace.note(Instant::from_micros(2_000_000), "heal");
    /// assert_eq!(trace.text(), Some("2.000000s heal\n"));
    /// ```
    pub fn note(&mut self, now: Instant, note: &str) {
        self.digest.write_u64(now.as_micros());
        // No happening has the code 0. The length comes first, so that two notes never read as one.
        self.digest.write(&[0]);
        self.digest.write_usize(note.len());
        self.digest.write(note.as_bytes());
        if let Some(text) = &mut self.text {
            text.push_str(&format!("{now:?} {note}\n"));
        }
    }

    /// The digest of the trace so far.
    ///
    /// ```
    /// use porous_sim::Trace;
    ///
    /// let mut trace = Trace::new();
    /// assert_eq!(trace.digest(), Trace::new().digest());
    /// trace.note(porous_proto::Instant::ZERO, "start");
    /// assert_ne!(trace.digest(), Trace::new().digest());
    /// ```
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.digest.finish()
    }

    /// The text so far, if text is kept.
    ///
    /// ```
    /// use porous_proto::Instant;
    /// use porous_sim::Trace;
    ///
    /// let mut trace = Trace::new();
    /// trace.keep_text();
    /// trace.note(Instant::ZERO, "start");
    /// assert_eq!(trace.text().unwrap().lines().count(), 1);
    /// ```
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The first difference of two traces with text: the number of the line, from 1, and the line of
    /// each, or `None` in place of a line where a trace has ended. `None` if the texts are equal.
    ///
    /// ```
    /// use porous_proto::Instant;
    /// use porous_sim::Trace;
    ///
    /// let (mut a, mut b) = (Trace::new(), Trace::new());
    /// a.keep_text();
    /// b.keep_text();
    /// a.note(Instant::ZERO, "start");
    /// b.note(Instant::ZERO, "start");
    /// assert_eq!(a.first_difference(&b), None);
    /// b.note(Instant::ZERO, "more");
    /// assert_eq!(a.first_difference(&b), Some((2, None, Some("0.000000s more"))));
    /// ```
    #[must_use]
    pub fn first_difference<'a>(&'a self, other: &'a Self) -> Option<Difference<'a>> {
        let mut ours = self.text.as_deref().unwrap_or_default().lines();
        let mut theirs = other.text.as_deref().unwrap_or_default().lines();
        for number in 1.. {
            match (ours.next(), theirs.next()) {
                (None, None) => break,
                (a, b) if a == b => {}
                (a, b) => return Some((number, a, b)),
            }
        }
        None
    }
}

/// The number of a line, and the line in one trace and in the other.
pub type Difference<'a> = (usize, Option<&'a str>, Option<&'a str>);

impl Default for Trace {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(micros: u64, from: u32, to: u32, what: Happening, datagram: &[u8]) -> u64 {
        let mut trace = Trace::new();
        trace.record(
            Instant::from_micros(micros),
            (from, to),
            what,
            Print::of(datagram),
        );
        trace.digest()
    }

    #[test]
    fn everything_counts_in_the_digest() {
        let base = digest(1, 2, 3, Happening::Sent, b"a");
        assert_eq!(base, digest(1, 2, 3, Happening::Sent, b"a"));
        assert_ne!(base, digest(2, 2, 3, Happening::Sent, b"a"));
        assert_ne!(base, digest(1, 3, 2, Happening::Sent, b"a"));
        assert_ne!(base, digest(1, 2, 4, Happening::Sent, b"a"));
        assert_ne!(base, digest(1, 2, 3, Happening::Lost, b"a"));
        assert_ne!(base, digest(1, 2, 3, Happening::Sent, b"b"));
        assert_ne!(base, digest(1, 2, 3, Happening::Sent, b"aa"));
    }

    #[test]
    fn a_difference_is_found_where_it_is() {
        let (mut a, mut b) = (Trace::new(), Trace::new());
        for trace in [&mut a, &mut b] {
            trace.keep_text();
            trace.note(Instant::ZERO, "same");
        }
        a.note(Instant::ZERO, "left");
        b.note(Instant::ZERO, "right");
        let expected = (2, Some("0.000000s left"), Some("0.000000s right"));
        assert_eq!(a.first_difference(&b), Some(expected));
    }
}
