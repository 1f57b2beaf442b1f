//! Predictions: what a message leaves out because the messages before it in the datagram predict it
//! (`docs/wire.md`, "Messages"; §3.2.3 for dependencies). Encoder and decoder share them.

use arrayvec::ArrayVec;

use crate::wire::varint_length;

use super::{Length, MAX_MESSAGES, Message, Mode, Packet};

/// What both hosts agreed on that decides how their short forms are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Context {
    /// The width of packet ids in bytes, 2 or 3.
    pub(crate) id_bytes: u8,
    /// N_Q: every dependency is below it.
    pub(crate) window: u32,
    /// Bytes of the check at the end.
    pub(crate) tag: usize,
}

impl Context {
    pub(super) const fn id_mask(&self) -> u32 {
        if self.id_bytes == 2 {
            0xFFFF
        } else {
            0xFF_FFFF
        }
    }
}

/// The last packet message of a channel in the datagram.
#[derive(Clone, Copy, Debug)]
struct Last {
    id: u32,
    dependency: u16,
    reliable: bool,
}

/// Predicts the next message of a datagram from those before it. Control messages neither use
/// predictions nor change them.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    context: Context,
    /// The channel of the packet message before; 0 at first.
    channel: u8,
    /// The length of the payload before; `None` at first.
    length: Option<usize>,
    /// For each channel one more than the index of its entry in `last`; 0 if it has none. 256 bytes instead
    /// of a search: a datagram may have 128 messages of 128 channels.
    places: [u8; 256],
    last: ArrayVec<Last, MAX_MESSAGES>,
}

impl Layout {
    pub(crate) const fn new(context: Context) -> Self {
        let last = ArrayVec::new_const();
        Self {
            context,
            channel: 0,
            length: None,
            places: [0; 256],
            last,
        }
    }

    pub(super) const fn context(&self) -> &Context {
        &self.context
    }

    /// The channel that is predicted for the next packet.
    pub(super) const fn channel(&self) -> u8 {
        self.channel
    }

    /// The length that is predicted for the next payload.
    pub(super) const fn payload(&self) -> Option<usize> {
        self.length
    }

    /// The id of the next packet on this channel; nothing is predicted for the first one.
    pub(super) fn id(&self, channel: u8) -> Option<u32> {
        let last = self.last(channel)?;
        Some(last.id.wrapping_add(1) & self.context.id_mask())
    }

    /// The dependency that is predicted for a packet with this id.
    pub(super) fn dependency(&self, channel: u8, mode: Mode, id: u32) -> u16 {
        // Right for a channel that carries reliable packets alone, and for one that carries none.
        let Some(last) = self.last(channel) else {
            return u16::from(mode == Mode::Reliable);
        };
        // A step back is a huge step forward here, beyond the window: it predicts no dependency.
        let step = id.wrapping_sub(last.id) & self.context.id_mask();
        let dependency = match (last.reliable, last.dependency) {
            _ if step == 0 => 0,
            // It depends on the packet before if that is reliable, else on what that depends on.
            (true, _) => step,
            (false, 0) => 0,
            (false, before) => u32::from(before).saturating_add(step),
        };
        // No window is larger than 2^16.
        let known = dependency < self.context.window;
        u16::try_from(dependency)
            .ok()
            .filter(|_| known)
            .unwrap_or(0)
    }

    fn last(&self, channel: u8) -> Option<&Last> {
        let place = *self.places.get(usize::from(channel))?;
        self.last.get(usize::from(place).checked_sub(1)?)
    }

    /// Notes a message, from which the next ones are predicted.
    pub(crate) fn push<P: Length>(&mut self, message: &Message<P>) {
        if let Message::Packet(packet) = message {
            self.push_packet(packet);
        }
    }

    pub(super) fn push_packet<P: Length>(&mut self, packet: &Packet<P>) {
        let Packet {
            channel,
            id,
            dependency,
            ..
        } = *packet;
        self.channel = channel;
        self.length = Some(packet.payload.length());
        let last = Last {
            id,
            dependency,
            reliable: packet.mode == Mode::Reliable,
        };
        // The newest message of each channel takes the place of the one before.
        let Some(place) = self.places.get_mut(usize::from(channel)) else {
            return;
        };
        if let Some(entry) = usize::from(*place)
            .checked_sub(1)
            .and_then(|i| self.last.get_mut(i))
        {
            *entry = last;
        } else if self.last.try_push(last).is_ok() {
            *place = u8::try_from(self.last.len()).unwrap_or(0);
        }
    }

    /// Bytes that the message would take next in the datagram, with others to follow. As the last one it
    /// takes up to 2 bytes less.
    pub(crate) fn length<P: Length>(&self, message: &Message<P>) -> usize {
        match message {
            Message::Packet(packet) => self.packet_length(packet),
            Message::Control(control) => control.length(&self.context),
        }
    }

    fn packet_length<P: Length>(&self, packet: &Packet<P>) -> usize {
        let payload = packet.payload.length();
        let channel = usize::from(packet.channel != self.channel);
        let id = match self.id(packet.channel) {
            Some(id) if id == packet.id => 0,
            _ => usize::from(self.context.id_bytes),
        };
        let predicted = self.dependency(packet.channel, packet.mode, packet.id);
        let dependency = if predicted == packet.dependency {
            0
        } else {
            varint_length(packet.dependency.into())
        };
        // As in `length_form`, for a message that is not the last.
        let length = match self.length {
            Some(length) if length == payload => 0,
            _ if payload <= 0xFF => 1,
            _ => 2,
        };
        let fragment = packet.fragment.map_or(0, |fragment| {
            varint_length(fragment.offset).saturating_add(varint_length(fragment.len()))
        });
        let receipt = usize::from(packet.receipt);
        let fields = [
            1, receipt, channel, id, dependency, length, fragment, payload,
        ];
        fields.into_iter().fold(0, usize::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Control;

    const CONTEXT: Context = Context {
        id_bytes: 2,
        window: 16,
        tag: 0,
    };

    fn packet(mode: Mode, id: u32, dependency: u16) -> Packet<&'static [u8]> {
        Packet {
            mode,
            channel: 3,
            id,
            dependency,
            fragment: None,
            receipt: false,
            payload: b"abc",
        }
    }

    /// The dependency predicted on channel 3 after one message.
    fn after(mode: Mode, id: u32, dependency: u16, next: u32) -> u16 {
        let mut layout = Layout::new(CONTEXT);
        layout.push_packet(&packet(mode, id, dependency));
        layout.dependency(3, Mode::Unreliable, next)
    }

    #[test]
    fn the_first_packet_of_a_channel_depends_on_its_predecessor_if_reliable() {
        let layout = Layout::new(CONTEXT);
        assert_eq!(layout.dependency(3, Mode::Reliable, 7), 1);
        assert_eq!(layout.dependency(3, Mode::Unreliable, 7), 0);
        assert_eq!(layout.dependency(3, Mode::Passive, 7), 0);
        assert_eq!(
            (layout.channel(), layout.payload(), layout.id(3)),
            (0, None, None)
        );
    }

    #[test]
    fn a_packet_after_a_reliable_one_depends_on_it() {
        assert_eq!(after(Mode::Reliable, 7, 2, 8), 1);
        assert_eq!(after(Mode::Reliable, 7, 2, 11), 4);
        assert_eq!(after(Mode::Reliable, 0xFFFF, 2, 1), 2, "ids wrap");
    }

    #[test]
    fn a_packet_after_another_depends_on_what_that_one_depends_on() {
        assert_eq!(after(Mode::Unreliable, 7, 2, 8), 3);
        assert_eq!(after(Mode::Passive, 7, 2, 9), 4);
        assert_eq!(after(Mode::Passive, 7, 0, 9), 0);
    }

    #[test]
    fn a_dependency_beyond_the_window_or_backwards_is_none() {
        assert_eq!(after(Mode::Reliable, 7, 1, 22), 15);
        assert_eq!(after(Mode::Reliable, 7, 1, 23), 0);
        assert_eq!(after(Mode::Passive, 7, 15, 8), 0);
        assert_eq!(after(Mode::Reliable, 7, 1, 7), 0);
        assert_eq!(after(Mode::Passive, 7, 3, 7), 0);
        assert_eq!(after(Mode::Reliable, 7, 1, 6), 0);
    }

    #[test]
    fn ids_channels_and_lengths_are_predicted_across_control() {
        let mut layout = Layout::new(CONTEXT);
        layout.push_packet(&packet(Mode::Passive, 0xFFFF, 0));
        layout.push::<&[u8]>(&Message::Control(Control::Ping(1)));
        assert_eq!(
            (layout.channel(), layout.payload(), layout.id(3)),
            (3, Some(3), Some(0))
        );
        assert_eq!(layout.id(4), None);
    }
}
