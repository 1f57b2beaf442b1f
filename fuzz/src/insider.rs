//! A peer of a sealed connection that is no host: it has the keys, and seals what no host would.

use bolero::TypeGenerator;
use bolero::generator::{OneOfExt as _, ValueGenerator, produce};
use porous_proto::hooks::doc::example_provider;
use porous_proto::hooks::sealing::{Form, Initiator, Kit, Responder, Setup, Terms};
use porous_proto::seal::{Credentials, Psk, Suite};
use porous_proto::{Disposition, Ecn, Host, Instant, PeerState};
use porous_sim::ChaCha8Rng;
use porous_tests::encoder::{self, Shape};
use porous_tests::remote::{Remote, nonce, request};

use crate::forms::{Frame, Step};

/// The host that the peer is connected to.
type Other = Host<ChaCha8Rng, u8>;

/// The nonce of which the next key is made.
const REKEY: u64 = u64::MAX;

/// Bytes of the connection ids of this peer, and of its host.
const ID_LEN: usize = 4;

/// One step of a run.
#[derive(Clone, Debug, TypeGenerator)]
pub enum Act {
    /// A step as of any peer: the frames of [`Place::Plain`](crate::forms::Place::Plain) are sealed.
    Step(Step),
    /// A step as of any peer: drawn more often.
    Step2(Step),
    /// A frame in which anything is sealed.
    Text(Text),
    /// A ping, of which nothing can be wrong but its frame id.
    Ping(Frame),
}

impl Act {
    /// What is sealed, unless it is a step's.
    pub(crate) fn text(&self) -> Option<Text> {
        match self {
            Self::Step(_) | Self::Step2(_) => None,
            Self::Text(text) => Some(text.clone()),
            Self::Ping(frame) => Some(Text {
                frame: *frame,
                width: 4,
                flags: 0,
                bytes: vec![0xC0, 1, 0, 0],
                tail: (0, None),
            }),
        }
    }
}

/// A frame in which anything is sealed.
#[derive(Clone, Debug, TypeGenerator)]
pub struct Text {
    /// The frame id.
    pub frame: Frame,
    /// The length of the frame id, in bytes.
    #[generator(1..5_u8)]
    pub width: u8,
    /// The bits A, N and R.
    #[generator(0..8_u8)]
    pub flags: u8,
    /// What is sealed.
    #[generator(produce::<Vec<u8>>().with().len(0..120_usize))]
    pub bytes: Vec<u8>,
    /// What follows it: a byte, and how often it comes.
    pub tail: (u8, Option<u8>),
}

/// A run of acts: most runs are short, so that there can be many.
pub fn run() -> impl ValueGenerator<Output = Vec<Act>> {
    let up_to = |acts: usize| produce::<Vec<Act>>().with().len(0..acts);
    [12, 12, 12, 12, 12, 12, 25, 200].map(up_to).one_of()
}

/// The key of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// The current one, as the frame says.
    Current,
    /// The current one in a frame that says another.
    Wrong,
    /// The next one, which is the current one from then on.
    Next,
}

/// The keys of a peer.
#[derive(Debug)]
pub(crate) struct Insider {
    /// Seals what it sends.
    key: [u8; 32],
    /// The phase bit.
    phase: bool,
}

/// What the suite of a peer can do.
///
/// # Panics
///
/// Never: the provider has the suite.
#[must_use]
pub fn kit() -> Kit {
    Kit::new(example_provider(), Suite::CHACHA_POLY).expect("the provider has it")
}

/// What message 1 says in the open.
#[must_use]
pub const fn terms(token: Option<Vec<u8>>) -> Terms {
    Terms {
        suite: Suite::CHACHA_POLY.number(),
        key_tag: None,
        psk: None,
        token,
    }
}

/// An offer of a host with one channel that seals.
#[must_use]
pub const fn offer() -> encoder::Offer {
    encoder::Offer {
        application: 0,
        channels: 1,
        datagram: 1200,
        packet: 1000,
        budget: 10_000,
        windows: [8, 8],
        rates: [u32::MAX; 2],
        integrity: 0,
        extensions: 0,
        path_mtu: None,
        sealed: &[1],
        timeout: None,
    }
}

/// A host that was given a cookie.
#[derive(Clone, Debug)]
pub struct Stranger {
    address: u8,
    /// Its nonce, and the cookie.
    nonces: [u64; 2],
    /// The body of its request.
    body: Vec<u8>,
    /// The request with the cookie.
    cookie: Vec<u8>,
}

impl Stranger {
    /// Asks a host that listens for a cookie.
    ///
    /// # Panics
    ///
    /// If it gets none.
    #[must_use]
    pub fn ask(host: &mut Other, now: Instant, address: u8, offer: &encoder::Offer) -> Self {
        let ours = 1000 + u64::from(address);
        let body = offer.body(&[address; ID_LEN]);
        host.handle_datagram(now, address, Ecn::NotEct, &request([ours, 0], &body));
        let cookie = next_to(host, now, address).expect("a cookie");
        assert_eq!(cookie[0], 0xC1);
        Self {
            address,
            nonces: [ours, nonce(&cookie)],
            body,
            cookie,
        }
    }

    /// Message 1, and the request that brings the cookie back.
    ///
    /// # Panics
    ///
    /// If the token has more than 372 bytes, or none.
    #[must_use]
    pub fn message(&self, terms: &Terms, psk: Option<&Psk>) -> (Initiator, Vec<u8>) {
        let request = encoder::long(0xC0, encoder::VERSION, self.nonces, &self.body);
        let prologue = terms.prologue(&request, &self.cookie);
        let setup = Setup {
            kit: kit(),
            prologue: &prologue,
            psk,
        };
        let mut out = [0; 64];
        let started = Initiator::start(&setup, None, [self.address; 32], b"hello", &mut out);
        let (initiator, length) = started.expect("there is room");
        let form = Form::First {
            nonces: self.nonces,
            terms: terms.clone(),
            message: out[..length].to_vec(),
        };
        let mut datagram = [form.encode(), request].concat();
        datagram.resize(encoder::PADDED, 0);
        (initiator, datagram)
    }
}

impl Insider {
    /// Connects to a host that listens, as the document says.
    ///
    /// # Panics
    ///
    /// If the handshake does not go as the document says.
    pub(crate) fn connect(
        host: &mut Other,
        now: Instant,
        address: u8,
        offer: &encoder::Offer,
    ) -> (Remote, Self) {
        let stranger = Stranger::ask(host, now, address, offer);
        let (initiator, datagram) = stranger.message(&terms(None), None);
        let taken = host.handle_datagram(now, address, Ecn::NotEct, &datagram);
        assert!(matches!(taken, Disposition::Accepted(_)), "{taken:?}");
        let answer = next_to(host, now, address).expect("an acknowledgement");
        let second = Form::decode(&answer, ID_LEN);
        let Some(Ok((Form::Second { message, .. }, length))) = second else {
            panic!("{second:?}");
        };
        let mut said = [0; 64];
        let (keys, end) = initiator.finish(&message, &mut said).expect("it opens");
        assert_eq!((usize::from(said[0]), end), (ID_LEN, 1 + ID_LEN));
        let mut remote = Remote {
            address,
            nonces: stranger.nonces,
            connection_id: said[1..end].to_vec(),
            next: 0,
            newest: (0, 1),
            heard: alloc::collections::BTreeMap::new(),
            shape: Shape {
                id_bytes: if offer.windows[1] > 14 { 3 } else { 2 },
                window: 1 << offer.windows[1],
                check: None,
            },
        };
        remote.hear(&answer[length..]);
        let insider = Self {
            key: keys.keys[0],
            phase: false,
        };
        (remote, insider)
    }

    /// Seals a short form with this id, of which the first bytes stay in the open.
    pub(crate) fn seal(&mut self, mut form: Vec<u8>, head: usize, id: u64, key: Key) -> Vec<u8> {
        let aead = |key: [u8; 32]| example_provider().aead(Suite::CHACHA_POLY, &key);
        if key == Key::Next {
            let mut next = [0; 32];
            let _ = aead(self.key).seal(REKEY, &[], &mut next);
            (self.key, self.phase) = (next, !self.phase);
        }
        if self.phase != (key == Key::Wrong) {
            form[0] |= 8;
        }
        let (head, body) = form.split_at_mut(head);
        let tag = aead(self.key).seal(id, head, body);
        form.extend(tag);
        form
    }
}

/// Lets a host connect to a listener that seals these bytes in message 2. Gives the host's greeting of that
/// listener, if the host is connected then.
///
/// # Panics
///
/// If the host does not go on as the document says, or if it is connected in plain.
pub fn answer(
    host: &mut Other,
    address: u8,
    offer: &encoder::Offer,
    said: &[u8],
) -> Option<Vec<u8>> {
    let now = Instant::ZERO;
    let peer = host.connect_sealed(now, &[address], &Credentials::new());
    let peer = peer.expect("it can seal");
    let asks = next_to(host, now, address).expect("a request");
    let nonces = [2000, nonce(&asks)];
    let cookie = encoder::long(0xC1, encoder::VERSION, nonces, &offer.body(&[]));
    host.handle_datagram(now, address, Ecn::NotEct, &cookie);
    let proves = next_to(host, now, address).expect("message 1");
    let first = Form::decode(&proves, ID_LEN);
    let Some(Ok((Form::First { terms, message, .. }, length))) = first else {
        panic!("{first:?}");
    };
    let [_, low, high, ..] = proves[length..] else {
        panic!("a request follows");
    };
    let request = &proves[length..][..3 + usize::from(u16::from_le_bytes([low, high]))];
    let prologue = terms.prologue(request, &cookie);
    let setup = Setup {
        kit: kit(),
        prologue: &prologue,
        psk: None,
    };
    let mut out = [0; 400];
    let (responder, _) = Responder::open(&setup, None, &message, &mut out).expect("it opens");
    let replied = responder.reply([7; 32], said, &mut out);
    let (_, length) = replied.expect("there is room");
    let second = Form::Second {
        nonces,
        suite: terms.suite,
        message: out[..length].to_vec(),
    };
    host.handle_datagram(now, address, Ecn::NotEct, &second.encode());
    let _ = host.audit();
    let peer = host
        .peer(peer)
        .filter(|peer| peer.state() == PeerState::Connected)?;
    assert!(peer.secured().is_some());
    Some(peer.greeting().to_vec())
}

/// The next datagram to this address. Datagrams to other addresses are lost.
fn next_to(host: &mut Other, now: Instant, address: u8) -> Option<Vec<u8>> {
    let mut buf = [0; encoder::PADDED];
    loop {
        let transmit = host.poll_transmit(now, &mut buf)?;
        if transmit.to == address {
            return Some(transmit.datagram.to_vec());
        }
    }
}
