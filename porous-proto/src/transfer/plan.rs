//! The next frame, planned before a byte of it is written (Figure 5): what it contains, and how long it is.

use arrayvec::ArrayVec;

use super::Report;
use super::congestion_control::Loan;
use super::queue::{Content, Kind};
use super::store::{List, Outgoing, Store};
use crate::config::Priority;
use crate::event::Ecn;
use crate::frame::{
    Context, Control, FrameWriter, Header, Ids, Layout, Length, MAX_MESSAGES, MIN_PADDING, Message,
    Packet,
};
use crate::source::MessageBytes;
use crate::wire::NoRoom;

/// A datagram that was written, and what its IP header has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// Bytes of the datagram, from the beginning of the buffer.
    pub(crate) len: usize,
    pub(crate) ecn: Ecn,
    /// True if the datagram must arrive whole or not at all, since not every path carries its length.
    pub(crate) dont_fragment: bool,
    /// False if nothing more is to be sent now.
    pub(crate) more: bool,
}

impl Written {
    /// A datagram that every path carries, without a mark. Others may follow.
    pub(crate) const fn plain(len: usize) -> Self {
        Self {
            len,
            ecn: Ecn::NotEct,
            dont_fragment: false,
            more: true,
        }
    }
}

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Carries what is due.
    Ordinary,
    /// Tries whether the path carries its length: `padding` zeros, in bytes, follow its only message.
    MtuProbe { padding: usize },
    /// Goes to another address than the others, and says only what concerns that path.
    Aside,
}

/// What the next frame contains.
pub(super) struct Plan {
    pub(super) purpose: Purpose,
    pub(super) header: Header,
    report: Option<Report>,
    /// Signalling that is made for this frame and not repeated if it is lost: at most noop, ping, pong and
    /// path response.
    fresh: ArrayVec<Control, 4>,
    /// All other messages, in the order in which they are written.
    pub(super) contents: List,
    pub(super) layout: Layout,
    pub(super) len: usize,
    pub(super) messages: usize,
    /// True if messages of packets are in it, so that the frame counts in the flight.
    pub(super) has_data: bool,
    /// True if it only repeats what other frames carry.
    pub(super) is_repeat: bool,
    pub(super) loan: Loan,
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
            loan: Loan::Untouched,
            header,
            layout: Layout::new(context),
            messages: 0,
        }
    }

    pub(super) const fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }

    /// Adds an acknowledgement. To be called first, as all else finds room beside it.
    pub(super) fn acknowledge(&mut self, report: Report) {
        self.len += report.block.length();
        self.report = Some(report);
    }

    /// Bytes of the frame without its acknowledgement.
    pub(super) fn len_beside_ack(&self) -> usize {
        let block = self.report.as_ref();
        self.len - block.map_or(0, |report| report.block.length())
    }

    /// Leaves the acknowledgement out if a message of `message` bytes finds room only without it. Returns
    /// whether it was left out.
    pub(super) fn gives_way(&mut self, message: usize, limit: usize) -> bool {
        let len = self.len_beside_ack();
        // A message that finds no room behind others ends the frame, and is the first of the next one.
        let gives_way = self.messages == 0 && self.report.is_some() && len + message <= limit;
        if gives_way {
            (self.report, self.len) = (None, len);
        }
        gives_way
    }

    /// Whether one more message of `len` bytes fits into a frame of `limit` bytes.
    pub(super) const fn fits(&self, len: usize, limit: usize) -> bool {
        self.len + len <= limit && !self.is_full()
    }

    /// Whether the frame has as many messages as a frame may have.
    pub(super) const fn is_full(&self) -> bool {
        self.messages >= MAX_MESSAGES
    }

    /// Adds a message of `len` bytes to the layout. The caller puts it into the contents.
    pub(super) fn push<P: Length>(&mut self, message: &Message<P>, len: usize) {
        self.layout.push(message);
        self.len += len;
        self.messages += 1;
    }

    /// A message of a packet was added. `within`: the most bytes of the frame within the window and the pace.
    pub(super) fn on_data(&mut self, priority: Priority, within: usize) {
        self.has_data = true;
        match priority {
            Priority::Low => self.loan = Loan::PaidBack,
            Priority::High if self.len > within => self.loan = Loan::Taken,
            Priority::High => {}
        }
    }

    fn push_control(&mut self, control: Control) {
        let message = Message::<&[u8]>::Control(control);
        self.push(&message, self.layout.length(&message));
    }

    /// Adds signalling that is not repeated if it is lost.
    pub(super) fn say(&mut self, control: Control) {
        self.push_control(control);
        self.fresh.push(control);
    }

    /// Adds signalling that is said anew if it is lost, with what it would say then.
    pub(super) fn say_latest(&mut self, store: &mut Store, control: Control) {
        self.push_control(control);
        let outgoing = Outgoing {
            message: Message::Control(control),
            priority: Priority::High,
            copies: 0,
            probed: false,
            is_view: false,
        };
        store.push(&mut self.contents, outgoing);
    }

    /// Turns a frame without messages into a probe of the MTU of `size` bytes. Returns false if that is too
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

    /// Whether a frame of signalling that is not repeated asks for an acknowledgement.
    fn is_eliciting(&self) -> bool {
        let asks = |&control: &Control| Message::<&[u8]>::Control(control).is_eliciting();
        self.header.ack_now || self.fresh.iter().any(asks)
    }

    /// Whether the frame carries a sentinel (4).
    pub(super) fn has_sentinel(&self) -> bool {
        // A probe of the MTU carries the same message, but stands for nothing that was dropped.
        self.purpose == Purpose::Ordinary && self.fresh.contains(&Control::Noop)
    }

    /// What the frame is for the transfer queue, if it has `bytes` bytes.
    #[inline]
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
            // Awaited, as it is said anew if it is lost.
            Kind::Signal
        } else if self.purpose == Purpose::Aside {
            Kind::Aside
        } else if self.is_eliciting() {
            Kind::Ping
        } else {
            Kind::Ack
        }
    }

    /// Writes the frame without its check. `kept`: the bytes of a fragment that the source keeps. Returns the
    /// length in bytes. An error if `buf` is too short.
    #[inline]
    pub(super) fn write<'s>(
        &self,
        store: &Store,
        kept: impl Fn(&Packet<MessageBytes>) -> Option<&'s [u8]>,
        context: Context,
        buf: &mut [u8],
    ) -> Result<usize, NoRoom> {
        let block = self.report.as_ref().map(|report| &report.block);
        let mut layout = Layout::new(context);
        let mut writer = FrameWriter::new(buf, &self.header, block, &mut layout)?;
        let padding = match self.purpose {
            Purpose::MtuProbe { padding } => padding,
            Purpose::Ordinary | Purpose::Aside => 0,
        };
        // The last message of a frame is written without its length, so that the writer has to know it.
        let mut left = self.messages + usize::from(padding > 0);
        for control in &self.fresh {
            left -= 1;
            writer.message(&Message::<&[u8]>::Control(*control), left == 0)?;
        }
        for outgoing in store.iter(&self.contents) {
            left -= 1;
            let message = match &outgoing.message {
                Message::Packet(packet) => Message::Packet(packet.with(match &packet.payload {
                    MessageBytes::Own(bytes) => &bytes[..],
                    MessageBytes::Kept(_) => kept(packet).ok_or(NoRoom)?,
                })),
                Message::Control(control) => Message::Control(*control),
            };
            writer.message(&message, left == 0)?;
        }
        if padding > 0 {
            writer.padding(padding)?;
        }
        Ok(writer.finish())
    }

    /// The whole ids in the frame, which its check covers although only low bytes of them are sent
    /// (`docs/deviations.md` P15).
    pub(super) fn ids(&self) -> Ids {
        Ids {
            frame: self.header.id,
            acked: self.report.as_ref().map(|report| report.end - 1),
        }
    }
}
