//! Datagrams of the protocol with arbitrary fields, as they are drawn. `Target` fills in what only the
//! target knows: nonces, connection ids and the ids of frames.

use bolero::TypeGenerator;
use bolero::generator::{OneOfExt as _, ValueGenerator, produce};

/// A remote place: whose address, connection or nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TypeGenerator)]
pub enum Place {
    /// Connected, with a check that covers the head.
    Plain,
    /// Connected, with a check that covers all bytes.
    Sealed,
    /// The host tries to connect there.
    Attempt,
    /// Was connected, and has left.
    Gone,
    /// Connected, and never sends anything wrong.
    Friend,
    /// Not known to the host.
    Stranger,
}

/// One step of a run.
#[derive(Clone, Debug, TypeGenerator)]
pub enum Step {
    /// A datagram of the protocol comes.
    Form(Sender, Form),
    /// A datagram of the protocol with one byte changed: the byte's place, and the bits to flip.
    Damaged(Sender, Form, u16, u8),
    /// Another event.
    Event(Event),
}

/// The sender of a datagram: more often one whose datagrams can change something.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub enum Sender {
    /// From the peer whose heads are checked.
    Plain,
    /// From the peer all of whose bytes are checked.
    Sealed,
    /// From any place.
    Any(Place),
}

impl Sender {
    /// The place of this sender.
    #[must_use]
    pub const fn place(self) -> Place {
        match self {
            Self::Plain => Place::Plain,
            Self::Sealed => Place::Sealed,
            Self::Any(place) => place,
        }
    }
}

/// An event other than a datagram of the protocol.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub enum Event {
    /// Milliseconds pass.
    Pass(u8),
    /// The application reads.
    Read,
    /// The host listens from now on, unless this is 0.
    Listen(#[generator(0..4_u8)] u8),
    /// Before the driver sends, a stranger sends 8 times as many requests as the first number; seldom 8
    /// times as many as the second, since many requests take long.
    Flood(#[generator(0..9_u8)] u8, u8),
}

/// A datagram.
#[derive(Clone, Debug, TypeGenerator)]
pub enum Form {
    /// A short form.
    Short(Short),
    /// A short form: drawn more often.
    Short2(Short),
    /// A long form.
    Long(Long),
}

/// A long form, or two.
#[derive(Clone, Debug, TypeGenerator)]
pub enum Long {
    /// A request. The bools are true if it has a cookie, if it is padded, and if it is of our version.
    Request(Nonces, Offer, bool, bool, bool),
    /// An acknowledgement.
    Acknowledge(Nonces, Offer),
    /// An acknowledgement and a request.
    Both(Nonces, Offer),
    /// An acknowledgement and a short form.
    AcknowledgeShort(Nonces, Offer, Short),
    /// A refusal, and its reason.
    Refuse(Nonces, #[generator(0..6_u8)] u8),
    /// A disconnection, and its reason.
    Disconnect(Nonces, u32),
    /// The acknowledgement of a disconnection.
    DisconnectAck(Nonces),
    /// The answer to an unknown connection id.
    Reset(u64),
}

/// The nonces of the sender and of the receiver.
pub type Nonces = [Nonce; 2];

/// A nonce.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub enum Nonce {
    /// Not known.
    Zero,
    /// The host's own nonce for this peer.
    Host(Place),
    /// This peer's own nonce.
    Peer(Place),
    /// The newest cookie.
    Cookie,
    /// A new nonce.
    Other(u64),
}

/// The offer of the host, with one parameter changed.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub enum Offer {
    /// The host's offer.
    Same,
    /// The host's offer: drawn more often.
    Same2,
    /// Another application.
    Application(u64),
    /// Another number of channels.
    Channels(u8),
    /// Another length of datagrams, in bytes.
    Datagram(u16),
    /// The longest packet, and the receive budget, in bytes.
    Packet(u32, u32),
    /// Logarithms of the windows.
    Windows(#[generator(0..20_u8)] u8, #[generator(0..20_u8)] u8),
    /// The two rates, in bytes a second.
    Rates(u32, u32),
    /// The bytes that the check covers.
    Integrity(#[generator(0..3_u8)] u8),
    /// Bits of extensions that are not defined.
    Extensions(u32),
    /// The longest datagram if the path carries it, in bytes.
    PathMtu(u16),
    /// Asks for sealed datagrams, by one of several lists of suites. Some lists are invalid.
    Sealed(#[generator(0..6_u8)] u8),
    /// Type 13: a timeout in milliseconds; 0 is refused.
    Timeout(u32),
    /// Type 14: the length of the greeting in bytes, in forms that may have one and in those that may
    /// not.
    Greeting(u8),
    /// An unknown parameter: its type, which is sometimes a known one, and its length in bytes.
    Unknown(u8, u8),
}

/// A short form.
#[derive(Clone, Debug, TypeGenerator)]
pub struct Short {
    /// The owner of the connection id.
    pub to: Whose,
    /// The frame id.
    pub frame: Frame,
    /// The length of the frame id, in bytes.
    #[generator(1..5_u8)]
    pub width: u8,
    /// The bits N and R.
    pub flags: [bool; 2],
    /// The acknowledgement block.
    pub ack: Option<Ack>,
    /// The messages.
    #[generator(produce::<Vec<Message>>().with().len(0..4_usize))]
    pub messages: Vec<Message>,
    /// The frame gets no check if this is 0.
    #[generator(0..32_u8)]
    pub check: u8,
}

/// The owner of a connection id.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub enum Whose {
    /// The sender.
    Own,
    /// The sender: drawn more often.
    Own2,
    /// The sender, or the plain place if peers are followed.
    Own3,
    /// The remote at another place.
    Of(Place),
}

/// A frame id, relative to the newest.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub enum Frame {
    /// The one after the newest.
    Next,
    /// The one after the newest: drawn more often.
    Next2,
    /// The one after the newest.
    Next3,
    /// Ahead of the next one.
    Ahead(#[generator(0..9_u8)] u8),
    /// Near the edge of the window, beyond which the peer does not go.
    Far(#[generator(100..300_u16)] u16),
    /// Behind: the frame came before, or is late.
    Behind(#[generator(0..300_u16)] u16),
    /// This id if it is a multiple of 16; otherwise the one after the newest.
    Any(u32),
}

/// An acknowledgement block.
#[derive(Clone, Debug, TypeGenerator)]
pub struct Ack {
    /// How many frames before the host's newest one the newest acknowledged frame is. Negative for a frame
    /// that was not sent yet.
    #[generator(-1..6_i8)]
    pub behind: i8,
    /// The map; if its last bits are set, all of its bits are.
    pub map: u32,
    /// The delay of the acknowledgement.
    pub delay: Option<u8>,
    /// A gap and a length.
    pub range: Option<(u8, u8)>,
    /// The bit X.
    pub nonces: bool,
    /// The frames that came with congestion marks.
    pub marks: (bool, u32),
}

/// A message.
#[derive(Clone, Debug, TypeGenerator)]
pub enum Message {
    /// A packet and its length in bytes.
    Packet(Packet, u8),
    /// A packet: drawn more often.
    Packet2(Packet, u8),
    /// A packet: drawn more often.
    Packet3(Packet, u8),
    /// A fragment: its place and length, the pieces of its packet, and 0 for an impossible fragment.
    Fragment(
        Packet,
        u8,
        #[generator(2..6_u8)] u8,
        #[generator(0..16_u8)] u8,
    ),
    /// Control messages: subtype and fields.
    Signal(#[generator(0..13_u8)] u8, [u8; 8]),
    /// WINDOW, SENTINEL, TOMBSTONE: subtype, channel, id, dependency.
    Place(
        #[generator(3..6_u8)] u8,
        #[generator(0..4_u8)] u8,
        u8,
        #[generator(0..4_u8)] u8,
    ),
}

/// The fields that packets and fragments share.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub struct Packet {
    /// 0 to 2: unreliable, reliable, passive.
    #[generator(0..3_u8)]
    pub mode: u8,
    /// The channel: the host has three.
    #[generator(0..4_u8)]
    pub channel: u8,
    /// The id: some are beyond the window.
    #[generator(0..80_u8)]
    pub id: u8,
    /// The dependency.
    #[generator(0..4_u8)]
    pub dependency: u8,
}

/// A run of steps: most runs are short, so that there can be many.
pub fn run() -> impl ValueGenerator<Output = Vec<Step>> {
    let up_to = |steps: usize| produce::<Vec<Step>>().with().len(0..steps);
    [12, 12, 12, 12, 12, 12, 25, 200].map(up_to).one_of()
}
