//! What the hosts of each conversation are told to do, and what the network does to their datagrams.
//!
//! A script belongs to its file: a script that was recorded is never changed, and a new one gets a new name.

use core::net::SocketAddr;
use core::time::Duration;

use porous_crypto::RustCrypto;
use porous_proto::seal::{
    Claims, Credentials, Provider, Psk, SecretKey, Security, Suite, Token, TokenKey,
};
use porous_proto::{
    Channel, ChannelId, Config, Disconnect, Integrity, Listen, Mode, Policy, Priority, SendOptions,
};
use porous_sim::Seed;

pub(crate) const CLIENT: usize = 0;
pub(crate) const SERVER: usize = 1;

/// When tokens are made, in Unix seconds.
pub(crate) const TOKEN_TIME: u64 = 1_800_000_000;

const APPLICATION: u64 = 0x706f_726f_7573;
const MS: Duration = Duration::from_millis(1);

/// Where the hosts are at first.
pub(crate) fn places() -> [SocketAddr; 2] {
    [
        ([192, 0, 2, 1], 49152).into(),
        ([192, 0, 2, 2], 4000).into(),
    ]
}

/// How a host is made.
pub(crate) struct Setup {
    pub(crate) config: Config,
    pub(crate) security: Option<Security>,
}

/// What a host is told, or what befalls it.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Listen(Listen),
    Connect(SocketAddr, &'static [u8]),
    ConnectSealed(SocketAddr, fn() -> Credentials),
    Accept,
    Refuse(&'static [u8]),
    Send(u8, SendOptions, Vec<u8>),
    ReceiveRate(u32),
    Disconnect(Disconnect),
    /// The program is killed and started again.
    Restart,
    /// A router gives the host another address.
    Move(SocketAddr),
}

/// What the network does to this datagram of a host, which are counted from 0.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    Lost,
    /// It takes this time more, in milliseconds.
    Late(u64),
    /// A router marks it with CE, if it can be marked.
    Marked,
}

/// A conversation of two hosts, each 20 ms from the other.
pub(crate) struct Script {
    /// Also that of its file, and the seed of all that is drawn.
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) hosts: [fn() -> Setup; 2],
    /// When, in milliseconds, which host does what.
    pub(crate) acts: Vec<(u64, usize, Act)>,
    /// Of which host, which datagram.
    pub(crate) fates: &'static [(usize, usize, Fate)],
    /// When all is over, in microseconds.
    pub(crate) until: u64,
}

/// With requests of 512 bytes, so that the files are small, and three channels.
fn config() -> Config {
    let config = Config::new()
        .application_id(APPLICATION)
        .request_size(512)
        .unwrap();
    config
        .channels(&[Priority::High, Priority::Low, Priority::Low])
        .unwrap()
}

fn plain() -> Setup {
    Setup {
        config: config(),
        security: None,
    }
}

fn paper() -> Setup {
    Setup {
        config: config().policy(Policy::Paper),
        security: None,
    }
}

fn checks_all() -> Setup {
    Setup {
        config: config()
            .integrity(Integrity::Crc32c)
            .connection_id_len(8)
            .unwrap(),
        security: None,
    }
}

/// With packet ids of three bytes.
fn wide() -> Setup {
    Setup {
        config: config().windows(4096, 65_536).unwrap(),
        security: None,
    }
}

/// The same without connection ids of its own.
fn wide_client() -> Setup {
    let wide = wide();
    Setup {
        config: wide.config.connection_id_len(0).unwrap(),
        ..wide
    }
}

/// With windows so small that sentinels are needed.
fn narrow() -> Setup {
    let config = config().windows(16, 16).unwrap();
    let unordered = Channel::new(Priority::Low).unordered();
    Setup {
        config: config.channel(ChannelId(2), unordered).unwrap(),
        security: None,
    }
}

fn follows() -> Setup {
    Setup {
        config: config().roaming(true),
        security: None,
    }
}

fn psk() -> Psk {
    Psk::from_bytes([9; 32])
}

fn server_key() -> SecretKey {
    SecretKey::from_bytes([1; 32])
}

fn token_key() -> TokenKey {
    TokenKey::from_bytes([7; 32])
}

/// Seals with this suite, and goes on to the next key after 12 frames.
fn seals(config: Config, suite: Suite) -> Setup {
    let security = Security::new(&RustCrypto).rekey_after(12, Duration::from_secs(3600));
    let security = security.psk(5, psk()).unwrap();
    let security = security.token_key(3, token_key()).unwrap();
    Setup {
        config: config.sealed(&[suite]).unwrap(),
        security: Some(security.identity(&server_key()).unwrap()),
    }
}

fn sealed() -> Setup {
    seals(config(), Suite::CHACHA_POLY)
}

fn sealed_paper() -> Setup {
    seals(config().policy(Policy::Paper), Suite::AES_GCM)
}

fn with_key_and_psk() -> Credentials {
    let key = RustCrypto
        .public_key(Suite::CHACHA_POLY, &server_key())
        .unwrap();
    let credentials = Credentials::new().server_key(key).psk(5, psk());
    credentials.greeting(b"name=Ada").unwrap()
}

fn with_token() -> Credentials {
    let claims = Claims::new(APPLICATION, 42, TOKEN_TIME..TOKEN_TIME + 30);
    let claims = claims.key_number(3).suite(Suite::AES_GCM).single_use();
    let mut chance = Seed::new(1).stream("token", 0);
    let (token, psk) = Token::mint(&RustCrypto, &token_key(), &claims, &mut chance).unwrap();
    Credentials::new().token(token, psk)
}

fn listens() -> (u64, usize, Act) {
    (0, SERVER, Act::Listen(Listen::Open))
}

fn connects(greeting: &'static [u8]) -> (u64, usize, Act) {
    (1, CLIENT, Act::Connect(places()[SERVER], greeting))
}

fn connects_sealed(with: fn() -> Credentials) -> (u64, usize, Act) {
    (1, CLIENT, Act::ConnectSealed(places()[SERVER], with))
}

fn leaves(ms: u64, host: usize) -> (u64, usize, Act) {
    let deadline = Duration::from_secs(5);
    (
        ms,
        host,
        Act::Disconnect(Disconnect::Flush {
            reason: 7,
            deadline,
        }),
    )
}

fn send(
    ms: u64,
    host: usize,
    channel: u8,
    options: SendOptions,
    payload: &[u8],
) -> (u64, usize, Act) {
    (ms, host, Act::Send(channel, options, payload.to_vec()))
}

/// Both hosts send by each mode, now and then with a receipt, and the client leaves.
fn chat() -> Vec<(u64, usize, Act)> {
    let mut acts = Vec::new();
    for round in 0..6_u64 {
        let at = 150 + 40 * round;
        for host in [CLIENT, SERVER] {
            let text = |what: &str| format!("{what} {round} of {host}").into_bytes();
            let receipt = |mode| match round {
                1 | 4 => SendOptions::new(mode).receipt(10 * round + mode as u64),
                _ => SendOptions::new(mode),
            };
            acts.push(send(at, host, 0, receipt(Mode::Reliable), &text("event")));
            acts.push(send(
                at,
                host,
                1,
                receipt(Mode::Unreliable),
                &text("position"),
            ));
            acts.push(send(
                at + 11,
                host,
                2,
                receipt(Mode::Passive),
                &text("preview"),
            ));
            acts.push(send(
                at + 11,
                host,
                1,
                receipt(Mode::Reliable),
                &text("shot"),
            ));
        }
    }
    let short_lived = SendOptions::new(Mode::Passive).ttl(30 * MS).receipt(99);
    acts.push(send(353, CLIENT, 2, short_lived, b"too late"));
    acts.push((450, SERVER, Act::ReceiveRate(100_000)));
    acts.push(leaves(700, CLIENT));
    acts
}

/// What the line does to a chat. The first two datagrams of either host are those of the handshake.
const LOSSES: &[(usize, usize, Fate)] = &[
    (CLIENT, 4, Fate::Lost),
    (CLIENT, 6, Fate::Late(30)),
    (CLIENT, 9, Fate::Marked),
    (CLIENT, 13, Fate::Lost),
    // With the packet whose time is over before it comes again.
    (CLIENT, 25, Fate::Lost),
    (SERVER, 3, Fate::Lost),
    (SERVER, 5, Fate::Late(30)),
    (SERVER, 8, Fate::Marked),
    (SERVER, 14, Fate::Lost),
];

/// Packets of each mode that are longer than a datagram.
fn large() -> Vec<(u64, usize, Act)> {
    let bytes = |n: u8| -> Vec<u8> { (0..175).flat_map(|at| [at ^ n; 8]).collect() };
    let modes = [Mode::Reliable, Mode::Unreliable, Mode::Passive];
    let sends = (0..).zip(modes).map(|(channel, mode)| {
        let options = SendOptions::new(mode).receipt(channel.into());
        send(
            150 + u64::from(channel),
            CLIENT,
            channel,
            options,
            &bytes(channel),
        )
    });
    let back = send(160, SERVER, 1, SendOptions::new(Mode::Reliable), &bytes(9));
    sends.chain([back, leaves(500, SERVER)]).collect()
}

/// More packets on channels 1 and 2 than the windows hold, so that some leave both unseen.
fn stream() -> Vec<(u64, usize, Act)> {
    let rounds = 0..30_u8;
    let sends = rounds.flat_map(|round| {
        let at = 150 + 5 * u64::from(round);
        let unreliable = SendOptions::new(Mode::Unreliable);
        [1, 2].map(|channel| send(at, CLIENT, channel, unreliable, &[round]))
    });
    sends.chain([leaves(900, CLIENT)]).collect()
}

/// A stretch of the stream.
const GAP: &[(usize, usize, Fate)] = &[
    (CLIENT, 6, Fate::Lost),
    (CLIENT, 7, Fate::Lost),
    (CLIENT, 8, Fate::Lost),
    (CLIENT, 9, Fate::Lost),
    (CLIENT, 10, Fate::Lost),
    (CLIENT, 11, Fate::Lost),
    (CLIENT, 12, Fate::Lost),
    (CLIENT, 13, Fate::Lost),
];

/// A few packets each way, a move of the client in the middle, and an end by the server.
fn walk() -> Vec<(u64, usize, Act)> {
    let mut acts = vec![(300, CLIENT, Act::Move(([192, 0, 2, 9], 50_000).into()))];
    for round in 0..8_u8 {
        let at = 150 + 60 * u64::from(round);
        acts.push(send(
            at,
            CLIENT,
            0,
            SendOptions::new(Mode::Reliable),
            &[round],
        ));
        acts.push(send(
            at + 5,
            SERVER,
            0,
            SendOptions::new(Mode::Reliable),
            &[round],
        ));
    }
    acts.push(leaves(800, SERVER));
    acts
}

fn script(
    name: &'static str,
    about: &'static str,
    setup: fn() -> Setup,
    begin: (u64, usize, Act),
    acts: Vec<(u64, usize, Act)>,
) -> Script {
    Script {
        name,
        about,
        hosts: [setup, setup],
        acts: [vec![listens(), begin], acts].concat(),
        fates: &[],
        until: 3_000_000,
    }
}

impl Script {
    fn fates(self, fates: &'static [(usize, usize, Fate)]) -> Self {
        Self { fates, ..self }
    }
}

/// All conversations, in the order in which their acts take place.
pub(crate) fn scripts() -> Vec<Script> {
    let mut all = chats();
    all.extend(others());
    for script in &mut all {
        script.acts.sort_by_key(|(at, ..)| *at);
    }
    all
}

fn chats() -> Vec<Script> {
    let hello = connects(b"hello");
    let mixed = script(
        "mixed",
        "a client by the paper's policy, and a server by ours",
        plain,
        connects(b""),
        chat(),
    );
    vec![
        script("plain", "a chat by all modes over a line with losses", plain, hello, chat()).fates(LOSSES),
        script("paper", "the same by the paper's policy", paper, connects(b""), chat()).fates(LOSSES),
        Script { hosts: [paper, plain], ..mixed }.fates(LOSSES),
        Script {
            hosts: [wide_client, wide],
            ..script("wide", "packet ids of three bytes, and a client with empty connection ids", wide, connects(b""), chat())
        },
        script(
            "sealed",
            "a chat that is sealed by suite 1, with the server's key, a psk and new keys on the way",
            sealed,
            connects_sealed(with_key_and_psk),
            chat(),
        )
        .fates(LOSSES),
        script(
            "sealed-paper",
            "a chat by the paper's policy that is sealed by suite 2, with a token",
            sealed_paper,
            connects_sealed(with_token),
            chat(),
        )
        .fates(LOSSES),
    ]
}

fn others() -> Vec<Script> {
    let one_lost: &[(usize, usize, Fate)] = &[(CLIENT, 4, Fate::Lost)];
    vec![
        script(
            "fragments",
            "packets in fragments, and a check of all bytes",
            checks_all,
            connects(b""),
            large(),
        )
        .fates(one_lost),
        script(
            "sealed-fragments",
            "packets in fragments, sealed",
            sealed,
            connects_sealed(with_key_and_psk),
            large(),
        )
        .fates(one_lost),
        script(
            "windows",
            "windows of 16 packets, of which many get lost",
            narrow,
            connects(b""),
            stream(),
        )
        .fates(GAP),
        script(
            "roaming",
            "a client that gets another address",
            follows,
            connects(b""),
            walk(),
        ),
        script(
            "sealed-roaming",
            "a client that gets another address, sealed",
            sealed,
            connects_sealed(with_key_and_psk),
            walk(),
        ),
        both_connect(),
        asked(),
        refused(),
        restarted(),
    ]
}

/// Two hosts that connect to each other, and neither of which listens.
fn both_connect() -> Script {
    let mut both = script(
        "both",
        "two hosts that connect to each other",
        plain,
        connects(b""),
        vec![],
    );
    both.acts = vec![
        connects(b"one"),
        (4, SERVER, Act::Connect(places()[CLIENT], b"other")),
        send(200, CLIENT, 0, SendOptions::new(Mode::Reliable), b"here"),
        send(200, SERVER, 0, SendOptions::new(Mode::Reliable), b"there"),
        (400, SERVER, Act::Disconnect(Disconnect::Now { reason: 3 })),
    ];
    both
}

fn asked() -> Script {
    let mut asked = script(
        "asked",
        "a server that is asked, and says yes",
        plain,
        connects(b"please"),
        vec![],
    );
    asked.acts = vec![
        (0, SERVER, Act::Listen(Listen::Ask)),
        connects(b"please"),
        (150, SERVER, Act::Accept),
        send(300, SERVER, 0, SendOptions::new(Mode::Reliable), b"welcome"),
        leaves(500, CLIENT),
    ];
    asked
}

fn refused() -> Script {
    let mut refused = script(
        "refused",
        "a server that is asked, and says no",
        plain,
        connects(b"please"),
        vec![],
    );
    refused.acts = vec![
        (0, SERVER, Act::Listen(Listen::Ask)),
        connects(b"please"),
        (150, SERVER, Act::Refuse(b"not today")),
    ];
    refused
}

/// A server whose program is killed and started again.
fn restarted() -> Script {
    let acts = vec![
        send(150, CLIENT, 0, SendOptions::new(Mode::Reliable), b"before"),
        (300, SERVER, Act::Restart),
        send(320, CLIENT, 0, SendOptions::new(Mode::Reliable), b"after"),
    ];
    script(
        "restarted",
        "a server that is started again, and has lost its connections",
        plain,
        connects(b""),
        acts,
    )
}
