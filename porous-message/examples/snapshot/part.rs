//! A part of a snapshot: as many groups as fit a datagram. It names the baseline of each group, and needs
//! no other part.

use porous_message::{Error, MeasureStream, ReadStream, Serialize, Stream, WriteStream};

use crate::history::{GROUPS, Group, History};

/// The longest part in bytes: with the bytes that porous adds, it fits a datagram of 1200 bytes.
pub(crate) const PART_BYTES: usize = 1100;

/// Ticks that a baseline may be older than its part, at most.
pub(crate) const LONGEST_AGE: u8 = 127;

/// Some groups at one tick.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) header: Header,
    /// The groups, one for each entry of the header.
    pub(crate) groups: Vec<Group>,
}

/// The beginning of a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    /// The id of the part, and the token of its receipt.
    pub(crate) id: u64,
    /// The tick at which the groups of the part were in these states.
    pub(crate) tick: u32,
    pub(crate) entries: Vec<Entry>,
}

/// A group that is in a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) index: u8,
    /// Ticks that the baseline is older than the part. If 0, the group is written whole.
    pub(crate) age: u8,
}

/// Why a part cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// The part refers to a baseline that this side does not have.
    NoBaseline { id: u64 },
    /// The part is one that no honest sender writes.
    Malformed(Error),
}

impl From<Error> for Unusable {
    fn from(error: Error) -> Self {
        Self::Malformed(error)
    }
}

impl Part {
    /// The most bits of a part without a group.
    pub(crate) const EMPTY_BITS: u64 = 80 + 32 + 7;

    /// The part as bytes. The history has all the baselines.
    pub(crate) fn write(&mut self, history: &History) -> Result<Vec<u8>, Error> {
        let mut buffer = [0; PART_BYTES];
        let mut stream = WriteStream::new(&mut buffer);
        self.header.serialize(&mut stream)?;
        self.serialize_groups(&mut stream, history)?;
        Ok(stream.finish().to_vec())
    }

    /// Reads a part of the other side, if this side has the baselines.
    pub(crate) fn read(data: &[u8], history: &History) -> Result<Self, Unusable> {
        let mut stream = ReadStream::new(data);
        let mut part = Self::default();
        part.header.serialize(&mut stream)?;
        let Header { id, tick, entries } = &part.header;
        let has_baseline =
            |entry: &Entry| entry.age == 0 || entry.baseline(*tick, history).is_some();
        if !entries.iter().all(has_baseline) {
            return Err(Unusable::NoBaseline { id: *id });
        }
        part.groups = vec![Group::blank(); entries.len()];
        part.serialize_groups(&mut stream, history)?;
        stream.finish()?;
        Ok(part)
    }

    fn serialize_groups<S: Stream>(
        &mut self,
        stream: &mut S,
        history: &History,
    ) -> Result<(), Error> {
        for (entry, group) in self.header.entries.iter().zip(&mut self.groups) {
            entry.serialize_group(stream, group, entry.baseline(self.header.tick, history))?;
        }
        Ok(())
    }
}

impl Serialize for Header {
    fn blank() -> Self {
        Self::default()
    }

    fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        stream.varint(&mut self.id)?;
        self.tick.serialize(stream)?;
        let mut before = Entry::NONE;
        stream.list(&mut self.entries, 1..=GROUPS, |entry, stream| {
            entry.serialize_after(stream, before)?;
            before = *entry;
            Ok(())
        })
    }
}

impl Serialize for Entry {
    fn blank() -> Self {
        Self::NONE
    }

    fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        self.serialize_after(stream, Self::NONE)
    }
}

impl Entry {
    /// The entry before the first one: before index 0.
    pub(crate) const NONE: Self = Self {
        index: u8::MAX,
        age: 0,
    };

    /// Usually the next group with the same age: two bits.
    fn serialize_after<S: Stream>(&mut self, stream: &mut S, before: Self) -> Result<(), Error> {
        stream.relative(&mut self.index, before.index)?;
        stream.delta(&mut self.age, before.age)?;
        match usize::from(self.index) < GROUPS && self.age <= LONGEST_AGE {
            true => Ok(()),
            false => Err(Error::OutOfRange),
        }
    }

    /// The state of the group from which the differences were taken.
    pub(crate) fn baseline<'h>(&self, tick: u32, history: &'h History) -> Option<&'h Group> {
        history.get(tick.checked_sub(self.age.into())?, self.index)
    }

    /// The objects: whole, or the difference of each from its expected state.
    fn serialize_group<S: Stream>(
        &self,
        stream: &mut S,
        group: &mut Group,
        baseline: Option<&Group>,
    ) -> Result<(), Error> {
        let Some(baseline) = baseline.filter(|_| self.age > 0) else {
            return group.serialize(stream);
        };
        let expected = baseline.iter().map(|body| body.later(self.age));
        for (body, expected) in group.iter_mut().zip(expected) {
            body.differences(stream, &expected)?;
        }
        Ok(())
    }

    /// The number of bits that the group adds to a part, after another entry.
    pub(crate) fn measure(
        mut self,
        before: Self,
        group: &mut Group,
        baseline: Option<&Group>,
    ) -> Result<u64, Error> {
        let mut stream = MeasureStream::new();
        self.serialize_after(&mut stream, before)?;
        self.serialize_group(&mut stream, group, baseline)?;
        Ok(stream.measured())
    }
}
