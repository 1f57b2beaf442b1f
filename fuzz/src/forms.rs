//! Datagrams of the protocol with arbitrary fields, as they are drawn. `Target` fills in what only
//! it knows: nonces, connection ids and the ids of frames.

use bolero::TypeGenerator;
use bolero::generator::{OneOfExt as _, ValueGenerator, produce};

/// Whose address, connection or nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TypeGenerator)]
pub enum Place {
    /// Connected, with a check of the head.
    Plain,
    /// Connected, with a check of all bytes.
    Sealed,
    /// The host tries to connect there.
    Attempt,
    /// Was connected, and has left.
    Gone,
    /// Connected, and never sends anything wrong.
    Friend,
    /// Somebody else.
    Stranger,
}

/// What happens to the host.
#[derive(Clone, Debug, TypeGenerator)]
pub enum Step {
    /// A datagram of the protocol comes.
    Form(Sender, Form),
    /// The same, with a byte changed.
    Damaged(Sender, Form, u16, u8),
    /// Something else.
    Event(Event),
}

/// Where a datagram comes from: more often from somewhere where it can do something.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub enum Sender {
    /// From the peer whose heads are checked.
    Plain,
    /// From the peer all of whose bytes are checked.
    Sealed,
    /// From anywhere.
    Any(Place),
}

impl Sender {
    /// Where that is.
    #[must_use]
    pub const fn place(self) -> Place {
        match self {
            Self::Plain => Place::Plain,
            Self::Sealed => Place::Sealed,
            Self::Any(place) => place,
        }
    }
}

/// What happens besides.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub enum Event {
    /// Time passes, in milliseconds.
    Pass(u8),
    /// The application reads.
    Read,
    /// Strangers are answered from now on, or are not if this is 0.
    Listen(#[generator(0..4_u8)] u8),
    /// So many times eight requests of a stranger come before the driver comes to send: seldom more
    /// than a few, which cost much.
    Flood(#[generator(0..9_u8)] u8, u8),
}

/// A datagram.
#[derive(Clone, Debug, TypeGenerator)]
pub enum Form {
    /// A short form.
    Short(Short),
    /// Another: they are drawn more often.
    Short2(Short),
    /// A long form.
    Long(Long),
}

/// A long form, or two.
#[derive(Clone, Debug, TypeGenerator)]
pub enum Long {
    /// A request, and whether it is a listener's, padded, and of our version.
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
    /// The acknowledgement of one.
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
    /// What the host calls itself for this peer.
    Host(Place),
    /// What this peer calls itself.
    Peer(Place),
    /// The newest cookie.
    Cookie,
    /// A new one.
    Other(u64),
}

/// An offer: that of the host, but for one parameter.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub enum Offer {
    /// All as the host's.
    Same,
    /// As the host's.
    Same2,
    /// Another application.
    Application(u64),
    /// So many channels.
    Channels(u8),
    /// Shorter or longer datagrams.
    Datagram(u16),
    /// The longest packet, and the budget.
    Packet(u32, u32),
    /// Logarithms of windows.
    Windows(#[generator(0..20_u8)] u8, #[generator(0..20_u8)] u8),
    /// Bytes a second.
    Rates(u32, u32),
    /// What the check covers.
    Integrity(#[generator(0..3_u8)] u8),
    /// What nobody knows.
    Extensions(u32),
    /// Datagrams longer than others, if the path carries them.
    PathMtu(u16),
    /// Wants to be sealed, by one of these lists of suites: some make no sense.
    Sealed(#[generator(0..6_u8)] u8),
    /// Type 13: its timeout in milliseconds, 0 for a value that is refused.
    Timeout(u32),
    /// Type 14: the length of the greeting, in forms that may have one and in those that may not.
    Greeting(u8),
    /// What nobody knows: its type, some of which are known, and its length.
    Unknown(u8, u8),
}

/// A short form.
#[derive(Clone, Debug, TypeGenerator)]
pub struct Short {
    /// Whose connection id.
    pub to: Whose,
    /// Which frame.
    pub frame: Frame,
    /// The bytes of its id.
    #[generator(1..5_u8)]
    pub width: u8,
    /// N and R.
    pub flags: [bool; 2],
    /// An acknowledgement.
    pub ack: Option<Ack>,
    /// The messages.
    #[generator(produce::<Vec<Message>>().with().len(0..4_usize))]
    pub messages: Vec<Message>,
    /// 0: it gets no check.
    #[generator(0..32_u8)]
    pub check: u8,
}

/// Whose connection id.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub enum Whose {
    /// That of the sender.
    Own,
    /// That of the sender: drawn more often.
    Own2,
    /// That of the sender.
    Own3,
    /// That of another.
    Of(Place),
}

/// Which frame.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub enum Frame {
    /// The one after the newest.
    Next,
    /// The one after the newest: drawn more often.
    Next2,
    /// The one after the newest.
    Next3,
    /// Ahead.
    Ahead(#[generator(0..9_u8)] u8),
    /// Near the edge of the window, from where the peer does not go on.
    Far(#[generator(100..300_u16)] u16),
    /// Behind: it came before, or is late.
    Behind(#[generator(0..300_u16)] u16),
    /// Any, seldom: the next one if this is not a multiple of 16.
    Any(u32),
}

/// An acknowledgement.
#[derive(Clone, Debug, TypeGenerator)]
pub struct Ack {
    /// So many behind the newest frame of the host, or as many before it was sent.
    #[generator(-1..6_i8)]
    pub behind: i8,
    /// The map; where the last bits are set, all of it is.
    pub map: u32,
    /// The delay.
    pub delay: Option<u8>,
    /// A gap and a length.
    pub range: Option<(u8, u8)>,
    /// X.
    pub nonces: bool,
    /// What came with marks of congestion.
    pub marks: (bool, u32),
}

/// A message.
#[derive(Clone, Debug, TypeGenerator)]
pub enum Message {
    /// A packet and its length. Repeated here, so that it is drawn more often.
    Packet(Packet, u8),
    /// Another.
    Packet2(Packet, u8),
    /// Another.
    Packet3(Packet, u8),
    /// A fragment: where it begins and how long it is, that of its packet, and 0 for what cannot be.
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

/// What packets and fragments have in common.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub struct Packet {
    /// Unreliable, reliable, passive.
    #[generator(0..3_u8)]
    pub mode: u8,
    /// The host has three.
    #[generator(0..4_u8)]
    pub channel: u8,
    /// The id: some are beyond the window.
    #[generator(0..80_u8)]
    pub id: u8,
    /// The dependency.
    #[generator(0..4_u8)]
    pub dependency: u8,
}

/// A run: most are short, so that there can be many.
pub fn run() -> impl ValueGenerator<Output = Vec<Step>> {
    let up_to = |steps: usize| produce::<Vec<Step>>().with().len(0..steps);
    [12, 12, 12, 12, 12, 12, 25, 200].map(up_to).one_of()
}
