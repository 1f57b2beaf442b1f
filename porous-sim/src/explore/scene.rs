//! The scenes: what the applications of two or three hosts do, while each order of the datagrams between them is
//! tried.

use alloc::format;
use alloc::string::String;
use core::fmt;

use porous_proto::seal::{Credentials, Psk, Security, Suite};
use porous_proto::{Config, ConfigError, Integrity, Mode, Policy, Priority};

use super::provider::Remembering;

/// The number of the psk that all hosts of a sealed scene have.
const NUMBER: u32 = 7;

/// A packet that an application sends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub(super) channel: u8,
    pub(super) mode: Mode,
    /// Bytes of the packet.
    pub(super) len: usize,
}

const fn word(channel: u8, mode: Mode, len: usize) -> Word {
    Word { channel, mode, len }
}

/// One packet of each mode, as short as they are in most games.
const GREETING: &[Word] = &[
    word(0, Mode::Reliable, 20),
    word(0, Mode::Unreliable, 20),
    word(1, Mode::Passive, 20),
];

/// One reliable packet: what a scene says that is about something else.
const HELLO: &[Word] = &[word(0, Mode::Reliable, 20)];

/// More packets than a window of 16 has room for, each in a datagram of its own.
const BURST: &[Word] = &[word(0, Mode::Reliable, 400); 24];

/// More short packets than a window of 16 has room for: several to a datagram.
const CROWD: &[Word] = &[word(0, Mode::Reliable, 30); 36];

/// Unreliable and passive packets, of which those that are lost leave sentinels, up to the end of a window of 16;
/// and reliable ones that depend on what was before.
const MIXED: &[Word] = &{
    let mut words = [word(0, Mode::Unreliable, 200); 24];
    words[3] = word(0, Mode::Passive, 200);
    words[5] = word(0, Mode::Reliable, 200);
    words[11] = word(0, Mode::Passive, 200);
    words[16] = word(0, Mode::Reliable, 200);
    words[17] = word(0, Mode::Passive, 200);
    words[23] = word(0, Mode::Reliable, 200);
    words
};

/// Packets of several datagrams each, in all modes. The channels of the first two take turns by fragment, and nothing
/// follows there, so that what has come of these two in part is given up when their time is over.
const LARGE: &[Word] = &[
    word(0, Mode::Unreliable, 1300),
    word(2, Mode::Unreliable, 1300),
    word(1, Mode::Passive, 1300),
    word(1, Mode::Reliable, 1300),
    word(1, Mode::Unreliable, 1300),
    word(1, Mode::Reliable, 20),
];

/// Something that an application does, or a time for which nobody does anything.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// A host connects to the one that answers first of these hosts, and does so again if that ends, until it leaves.
    Dial(u32, &'static [u32]),
    /// A host sends packets to all its peers.
    Say(u32, &'static [Word]),
    /// Some milliseconds go by.
    Pause(u64),
    /// The network is good, until all is as it should be.
    Settle,
    /// The program of a host ends, and starts again at once. It dials what it dialed before.
    Restart(u32),
    /// A host has another address from now on. Nothing arrives at the one before.
    Move(u32),
    /// A host says goodbye to all its peers: once all is delivered, or at once.
    Leave(u32, Parting),
}

/// How a host says goodbye.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parting {
    Flush,
    Now,
}

/// A scene without its kind.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) name: &'static str,
    what: &'static str,
    /// The hosts are numbered from 1 to this, and so are their addresses.
    pub(super) hosts: u32,
    pub(super) listens: &'static [u32],
    /// True if the applications of listeners are asked about each newcomer, and let it in.
    pub(super) asks: bool,
    /// True if two addresses of one host differ by the port alone.
    pub(super) is_port: bool,
    first_id: u64,
    /// What each host says to each peer once they are connected.
    pub(super) greeting: &'static [Word],
    /// The choices begin after the last [`Step::Settle`], or with the first step.
    pub(super) steps: &'static [Step],
}

const PLAY: Script = Script {
    name: "",
    what: "",
    hosts: 2,
    listens: &[2],
    asks: false,
    is_port: false,
    first_id: 0,
    greeting: HELLO,
    steps: &[],
};

use Step::{Dial, Leave, Move, Pause, Restart, Say, Settle};

static SCRIPTS: &[Script] = &[
    Script {
        name: "handshake",
        what: "a host connects to a listener, and both speak at once",
        greeting: GREETING,
        steps: &[Dial(1, &[2])],
        ..PLAY
    },
    Script {
        name: "asked",
        what: "a listener's application is asked, and lets a host in",
        asks: true,
        steps: &[Dial(1, &[2])],
        ..PLAY
    },
    Script {
        name: "crossing",
        what: "two hosts connect to each other at the same time",
        listens: &[],
        greeting: GREETING,
        steps: &[Dial(1, &[2]), Dial(2, &[1])],
        ..PLAY
    },
    Script {
        name: "crossing-late",
        what: "the second host connects when the first request is about to arrive, and both listen",
        listens: &[1, 2],
        steps: &[Dial(1, &[2]), Pause(9), Dial(2, &[1])],
        ..PLAY
    },
    Script {
        name: "crowd",
        what: "two hosts connect to one at the same time",
        hosts: 3,
        listens: &[1],
        steps: &[Dial(2, &[1]), Dial(3, &[1])],
        ..PLAY
    },
    Script {
        name: "any",
        what: "a host connects to the one of two that answers first",
        hosts: 3,
        listens: &[2, 3],
        steps: &[Dial(1, &[2, 3])],
        ..PLAY
    },
    Script {
        name: "any-crossing",
        what: "one of two hosts that are tried at once connects as well",
        hosts: 3,
        listens: &[1, 3],
        steps: &[Dial(1, &[2, 3]), Dial(2, &[1])],
        ..PLAY
    },
    Script {
        name: "restart-client",
        what: "a client starts again, and connects from the same address",
        steps: &[
            Dial(1, &[2]),
            Settle,
            Say(1, HELLO),
            Say(2, HELLO),
            Pause(5),
            Restart(1),
        ],
        ..PLAY
    },
    Script {
        name: "restart-server",
        what: "a server starts again, and its client goes on sending",
        steps: &[Dial(1, &[2]), Settle, Restart(2), Say(1, HELLO)],
        ..PLAY
    },
    Script {
        name: "restart-dialing",
        what: "a client starts again in the middle of its handshake",
        steps: &[Dial(1, &[2]), Pause(25), Restart(1)],
        ..PLAY
    },
    Script {
        name: "roaming",
        what: "a client moves to another address, and both speak",
        steps: &[
            Dial(1, &[2]),
            Settle,
            Move(1),
            Say(1, GREETING),
            Say(2, HELLO),
        ],
        ..PLAY
    },
    Script {
        name: "rebinding",
        what: "a router gives a client another port, and another one soon after",
        is_port: true,
        steps: &[
            Dial(1, &[2]),
            Settle,
            Move(1),
            Say(1, HELLO),
            Pause(25),
            Move(1),
            Say(2, HELLO),
            Say(1, HELLO),
        ],
        ..PLAY
    },
    Script {
        name: "goodbye",
        what: "a host says goodbye once all is delivered",
        steps: &[
            Dial(1, &[2]),
            Settle,
            Say(1, GREETING),
            Say(2, HELLO),
            Leave(1, Parting::Flush),
        ],
        ..PLAY
    },
    Script {
        name: "goodbyes",
        what: "two hosts say goodbye to each other at the same time",
        steps: &[
            Dial(1, &[2]),
            Settle,
            Say(1, HELLO),
            Leave(1, Parting::Flush),
            Leave(2, Parting::Now),
        ],
        ..PLAY
    },
    Script {
        name: "rejoin",
        what: "a host says goodbye, and connects again at once",
        steps: &[Dial(1, &[2]), Settle, Leave(1, Parting::Now), Dial(1, &[2])],
        ..PLAY
    },
    Script {
        name: "window",
        what: "packets of a datagram each, beyond the end of a window of 16",
        steps: &[Dial(1, &[2]), Settle, Say(1, BURST)],
        ..PLAY
    },
    Script {
        name: "wrap",
        what: "short packets beyond the end of a window, where ids are about to pass 2^16",
        first_id: (1 << 16) - 8,
        steps: &[Dial(1, &[2]), Settle, Say(1, CROWD), Say(2, HELLO)],
        ..PLAY
    },
    Script {
        name: "sentinels",
        what: "packets of all modes that depend on each other, beyond the end of a window",
        steps: &[Dial(1, &[2]), Settle, Say(1, MIXED)],
        ..PLAY
    },
    Script {
        name: "fragments",
        what: "packets of several datagrams, in all modes",
        steps: &[Dial(1, &[2]), Settle, Say(1, LARGE)],
        ..PLAY
    },
];

/// How the hosts of a scene speak with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// In plain, by the modern rules.
    Plain,
    /// In plain, by the rules of the paper.
    Paper,
    /// Sealed.
    Sealed,
}

/// What the applications of two or three hosts do, and how these hosts speak with each other.
///
/// ```
/// use porous_sim::explore::Scene;
///
/// let scene = Scene::named("handshake-sealed").unwrap();
/// assert_eq!(scene.to_string(), "handshake-sealed");
/// assert!(Scene::all().count() > 50);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    pub(super) script: &'static Script,
    pub(super) kind: Kind,
}

impl Scene {
    /// All scenes: each script in plain, in plain by the rules of the paper, and sealed.
    ///
    /// ```
    /// let names = porous_sim::explore::Scene::all().map(|scene| scene.to_string());
    /// assert!(names.collect::<Vec<_>>().contains(&"crossing-paper".to_string()));
    /// ```
    pub fn all() -> impl Iterator<Item = Self> {
        let kinds = [Kind::Plain, Kind::Paper, Kind::Sealed];
        let of = move |script| kinds.map(|kind| Self { script, kind });
        SCRIPTS.iter().flat_map(of)
    }

    /// The scene with this name.
    ///
    /// ```
    /// assert!(porous_sim::explore::Scene::named("none").is_none());
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|scene| format!("{scene}") == name)
    }

    /// What happens in the scene, in words.
    ///
    /// ```
    /// let scene = porous_sim::explore::Scene::named("any").unwrap();
    /// assert_eq!(scene.what(), "a host connects to the one of two that answers first");
    /// ```
    #[must_use]
    pub const fn what(&self) -> &'static str {
        self.script.what
    }

    /// How each host is configured: small windows and short packets, so that their edges are near.
    pub(super) fn config(&self) -> Result<Config, ConfigError> {
        let config = Config::new()
            .policy(match self.kind {
                Kind::Paper => Policy::Paper,
                Kind::Plain | Kind::Sealed => Policy::Modern,
            })
            .channels(&[Priority::High, Priority::Low, Priority::High])?
            .max_datagram(512)?
            .without_path_mtu_discovery()
            .windows(16, 16)?
            .receive_budget(4096, 8192)?
            .integrity(Integrity::Crc32c)
            .max_peers(8)
            .roaming(true)
            .first_id(self.script.first_id);
        match self.kind {
            Kind::Sealed => config.sealed(&[Suite::CHACHA_POLY]),
            Kind::Plain | Kind::Paper => Ok(config),
        }
    }

    /// What a host of a sealed scene seals by.
    pub(super) fn security(&self) -> Option<Security> {
        let security = || Security::new(Remembering::shared()).psk(NUMBER, psk());
        (self.kind == Kind::Sealed).then(|| security().expect("the first psk"))
    }

    /// What a host of a sealed scene shows.
    pub(super) fn credentials(&self) -> Option<Credentials> {
        let credentials = || Credentials::new().psk(NUMBER, psk());
        (self.kind == Kind::Sealed).then(credentials)
    }
}

fn psk() -> Psk {
    Psk::from_bytes([7; 32])
}

impl fmt::Display for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Plain => "",
            Kind::Paper => "-paper",
            Kind::Sealed => "-sealed",
        };
        let name: String = format!("{}{kind}", self.script.name);
        f.pad(&name)
    }
}
