//! The next frame, planned before a byte of it is written (Figure 5): what it holds, and how long it
//! becomes.

use arrayvec::ArrayVec;
use bytes::Bytes;

use super::Report;
use super::queue::{Content, Kind};
use super::store::{List, Outgoing, Store};
use crate::config::Priority;
use crate::event::Ecn;
use crate::frame::{
    Check, Context, Control, FrameWriter, Header, Ids, Layout, MAX_MESSAGES, MIN_PADDING, Message,
};
use crate::wire::NoRoom;

/// A datagram that was written, and what its IP header is to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// It stands at the beginning of the buffer.
    pub(crate) len: usize,
    pub(crate) ecn: Ecn,
    /// Not every path carries so much: it must arrive whole or not at all.
    pub(crate) dont_fragment: bool,
}

impl Written {
    /// One of which nothing is known but its length.
    pub(crate) const fn plain(len: usize) -> Self {
        Self {
            len,
            ecn: Ecn::NotEct,
            dont_fragment: false,
        }
    }
}

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It carries what is due.
    Ordinary,
    /// It tries whether the path carries so much: this many zeros follow its only message.
    MtuProbe { padding: usize },
    /// It goes elsewhere than the others, and speaks of that path alone.
    Aside,
}

/// What the next frame holds.
pub(super) struct Plan {
    pub(super) purpose: Purpose,
    pub(super) header: Header,
    report: Option<Report>,
    /// Signalling that is made for this frame and not repeated: at most noop, ping, pong and path
    /// response.
    fresh: ArrayVec<Control, 4>,
    /// The other messages.
    pub(super) contents: List,
    pub(super) layout: Layout,
    pub(super) len: usize,
    pub(super) messages: usize,
    /// There are messages of packets in it, so that it is in flight.
    pub(super) has_data: bool,
    /// It only repeats what other frames carry.
    pub(super) is_repeat: bool,
}

impl Plan {
    /// A frame without messages.
    pub(super) fn new(header: Header, context: Context) -> Self {
        Self {
            purpose: Purpose::Ordinary,
            len: header.length(None) + context.tag,
            report: None,
            fresh: ArrayVec::new(),
            contents: List::EMPTY,
            has_data: false,
            is_repeat: false,
            header,
            layout: Layout::new(context),
            messages: 0,
        }
    }

    pub(super) const fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }

    /// Acknowledges what was received: the first that is put into a frame.
    pub(super) fn acknowledge(&mut self, report: Report) {
        self.len += report.block.length();
        self.report = Some(report);
    }

    /// Its bytes but for the acknowledgement.
    pub(super) fn len_beside_ack(&self) -> usize {
        let block = self.report.as_ref();
        self.len - block.map_or(0, |report| report.block.length())
    }

    /// Leaves the acknowledgement out, if it is all there is and a message of this length finds room
    /// without it. Whether it did.
    pub(super) fn gives_way(&mut self, message: usize, limit: usize) -> bool {
        let len = self.len_beside_ack();
        let gives_way = self.messages == 0 && self.report.is_some() && len + message <= limit;
        if gives_way {
            (self.report, self.len) = (None, len);
        }
        gives_way
    }

    /// Whether one more message of this length fits into a frame of `limit` bytes.
    pub(super) const fn fits(&self, len: usize, limit: usize) -> bool {
        self.len + len <= limit && !self.is_full()
    }

    /// Whether it has as many messages as a frame may have.
    pub(super) const fn is_full(&self) -> bool {
        self.messages >= MAX_MESSAGES
    }

    /// Adds a message of this length to the layout; its place in the contents is the caller's.
    pub(super) fn push<P: AsRef<[u8]>>(&mut self, message: &Message<P>, len: usize) {
        self.layout.push(message);
        self.len += len;
        self.messages += 1;
    }

    fn push_control(&mut self, control: Control) {
        let message = Message::<&[u8]>::Control(control);
        self.push(&message, self.layout.length(&message));
    }

    /// Adds signalling that is said once.
    pub(super) fn say(&mut self, control: Control) {
        self.push_control(control);
        self.fresh.push(control);
    }

    /// Adds signalling that is said anew if it is lost, as it is then.
    pub(super) fn say_latest(&mut self, store: &mut Store, control: Control) {
        self.push_control(control);
        let outgoing = Outgoing {
            message: Message::Control(control),
            priority: Priority::High,
            copies: 0,
            probed: false,
        };
        store.push(&mut self.contents, outgoing);
    }

    /// Turns a frame without messages into a probe of the MTU, of this length. False if that is too
    /// short for one.
    pub(super) fn pad_to(&mut self, size: usize) -> bool {
        let noop = Message::<&[u8]>::Control(Control::Noop);
        if size < self.len + self.layout.length(&noop) + MIN_PADDING {
            return false;
        }
        self.header.ack_now = true;
        self.say(Control::Noop);
        self.purpose = Purpose::MtuProbe {
            padding: size - self.len,
        };
        self.len = size;
        true
    }

    /// Whether there is a sentinel (4) in it.
    pub(super) fn has_sentinel(&self) -> bool {
        self.purpose == Purpose::Ordinary && self.fresh.contains(&Control::Noop)
    }

    /// What the frame is, if it has this length.
    pub(super) fn kind(&self, bytes: u32, store: &Store) -> Kind {
        if self.has_data {
            let content = if self.is_repeat {
                Content::Repeated
            } else if !store.has_reliable(&self.contents) {
                Content::Unreliable
            } else if self.header.ack_now {
                Content::Asking
            } else {
                Content::Reliable
            };
            Kind::Data { bytes, content }
        } else if self.has_sentinel() || !self.contents.is_empty() {
            Kind::Signal
        } else if self.purpose == Purpose::Aside {
            Kind::Aside
        } else if self.messages > 0 {
            Kind::Ping
        } else {
            Kind::Ack
        }
    }

    /// Writes the frame, and its check. The length.
    pub(super) fn write(
        &self,
        store: &Store,
        context: Context,
        check: &Check,
        buf: &mut [u8],
    ) -> Result<usize, NoRoom> {
        let block = self.report.as_ref().map(|report| &report.block);
        let mut writer = FrameWriter::new(buf, &self.header, block, context)?;
        let padding = match self.purpose {
            Purpose::MtuProbe { padding } => padding,
            Purpose::Ordinary | Purpose::Aside => 0,
        };
        let mut left = self.messages + usize::from(padding > 0);
        for control in &self.fresh {
            left -= 1;
            writer.message(&Message::<Bytes>::Control(*control), left == 0)?;
        }
        for outgoing in store.iter(&self.contents) {
            left -= 1;
            writer.message(&outgoing.message, left == 0)?;
        }
        if padding > 0 {
            writer.padding(padding)?;
        }
        let len = writer.finish();
        let ids = Ids {
            frame: self.header.id,
            acked: self.report.as_ref().map(|report| report.end - 1),
        };
        check.append(buf, len, ids)
    }
}
