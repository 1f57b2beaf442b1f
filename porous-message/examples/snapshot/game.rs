//! The two sides on a simulated network: the loops of a server and of a client, and their connection.

use core::time::Duration;

use porous_message::{read, write};
use porous_proto::congestion::{Advisor, BinaryMode};
use porous_proto::{
    Channel, ChannelId, Config, Event, Integrity, Mode, Outcome, Peer, PeerStats, Priority,
    SendOptions,
};
use porous_sim::{LinkConfig, Pair, Seed};

use crate::client::Client;
use crate::part::Unusable;
use crate::report::Figures;
use crate::server::Server;
use crate::witness::Witness;
use crate::world::World;

/// Sixty ticks are a second.
const TICK: Duration = Duration::from_micros(16_667);
pub(crate) const TICKS: u32 = 60;

/// The time to live of a packet. One that waits for longer has newer ones behind it.
const PATIENCE: Duration = Duration::from_millis(100);

/// The most parts of a snapshot. Groups that do not fit go with the next one.
const MOST_PARTS: usize = 8;

const CLIENT: u32 = Pair::A;
const SERVER: u32 = Pair::B;

/// The channel of snapshots, and of refusals back.
const SNAPSHOTS: u8 = 0;

/// The settings of a game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) seed: Seed,
    /// The links from the client to the server, and back.
    pub(crate) links: [LinkConfig; 2],
    /// Snapshots a second, while the network is good and while it is bad.
    pub(crate) rates: [u32; 2],
    /// The share of lost frames from which on it is bad, in hundredths of a percent.
    pub(crate) loss: u16,
    /// One in this many parts that arrive is never seen by the client, as if it had been dropped for a
    /// newer one. Its receipt says nevertheless that it was delivered. If 0, the client sees all.
    pub(crate) unseen: u64,
}

/// A server and its client.
#[derive(Debug)]
pub(crate) struct Game {
    pub(crate) pair: Pair,
    pub(crate) settings: Settings,
    world: World,
    server: Server,
    client: Client,
    advisor: Advisor,
    pub(crate) mode: BinaryMode,
    tick: u32,
    last_snapshot: u32,
    /// The most parts of a snapshot at present.
    parts: usize,
    pub(crate) witness: Witness,
    figures: Figures,
}

impl Game {
    /// A game whose two sides are connected, and have sent nothing.
    pub(crate) fn new(settings: Settings) -> Self {
        // On an ordered channel a part that comes late is dropped, and its receipt says that it came.
        // An old part is still good to refer to.
        let snapshots = Channel::new(Priority::Low).unordered();
        // A bit that is changed on the way would spread to all states that refer to this one.
        let client = Config::client().integrity(Integrity::Crc32c);
        let client = client.channel(ChannelId(SNAPSHOTS), snapshots);
        let client = client.expect("there is a channel 0");
        let [up, down] = settings.links;
        let mut pair = Pair::new(settings.seed, up, client, Config::new());
        pair.world.network_mut().set_link(SERVER, CLIENT, down);
        pair.connect_to_listener();
        let [good, bad] = settings.rates;
        Self {
            pair,
            settings,
            world: World::new(settings.seed),
            server: Server::new(),
            client: Client::new(),
            advisor: Advisor::new()
                .packets(good, bad)
                .highest_loss(settings.loss),
            mode: BinaryMode::Good,
            tick: 0,
            last_snapshot: 0,
            parts: MOST_PARTS,
            witness: Witness::default(),
            figures: Figures::default(),
        }
    }

    /// Plays for this many seconds.
    pub(crate) fn play(&mut self, seconds: u32) {
        for _ in 0..seconds * TICKS {
            self.world.step();
            self.tick();
        }
    }

    /// The counts so far.
    pub(crate) fn figures(&self) -> Figures {
        Figures {
            complete: self.witness.complete(),
            link: self.pair.world.network().link_stats(SERVER, CLIENT),
            ..self.figures
        }
    }

    /// Stops all movement. True if both sides have the same world within 40 s: ten are
    /// not enough for some seeds where every second packet is not seen.
    pub(crate) fn settle(&mut self) -> bool {
        (0..40 * TICKS).any(|_| {
            self.tick();
            self.is_same()
        })
    }

    fn is_same(&self) -> bool {
        let there = self.world.quantised();
        (0..).zip(there).all(|(index, group)| {
            let shown = self.client.shown(index);
            shown.is_some_and(|(_, shown)| *shown == group)
        })
    }

    /// Plays a tick of both sides.
    pub(crate) fn tick(&mut self) {
        self.tick += 1;
        self.figures.ticks += 1;
        if self.tick >= self.last_snapshot + self.interval() {
            self.last_snapshot = self.tick;
            self.send_snapshot();
        }
        self.pair.world.run_for(TICK);
        self.serve();
        self.show();
    }

    /// The number of ticks from one snapshot to the next: larger while the network is bad.
    fn interval(&mut self) -> u32 {
        let advice = self.advisor.update(&self.stats(), self.pair.world.now());
        self.mode = advice.mode;
        self.figures.bad_ticks += u32::from(advice.mode == BinaryMode::Bad);
        TICKS.div_ceil(advice.packets)
    }

    /// The server's statistics of its connection.
    pub(crate) fn stats(&self) -> PeerStats {
        let peer = self.pair.peer(SERVER);
        let peer = self.pair.world.host(SERVER).peer(peer);
        peer.map(Peer::stats).unwrap_or_default()
    }

    fn send_snapshot(&mut self) {
        self.parts = (self.parts + 1).min(MOST_PARTS);
        let world = self.world.quantised();
        let snapshot = self.server.snapshot(self.tick, &world, self.parts);
        let snapshot = snapshot.expect("the world is within its bounds");
        self.witness.sent(self.tick, &world, snapshot.parts.len());
        self.figures.count(&snapshot, &world);
        for (id, part) in snapshot.parts {
            let options = SendOptions::new(Mode::Unreliable).receipt(id);
            let sent = self
                .pair
                .send(SERVER, SNAPSHOTS, options.ttl(PATIENCE), part);
            sent.expect("what is old makes room");
        }
    }

    /// Lets the server take the receipts of its parts, and refusals.
    fn serve(&mut self) {
        while let Some(event) = self.pair.world.poll_event(SERVER) {
            let Event::Receipt { token, outcome, .. } = event else {
                continue;
            };
            match outcome {
                Outcome::Delivered => self.server.delivered(token),
                // More was sent than the network takes, so the next snapshots have fewer parts.
                Outcome::Expired => {
                    self.figures.expired += 1;
                    self.parts = (self.parts - 1).max(1);
                }
                Outcome::Lost | Outcome::Cancelled | _ => {}
            }
        }
        for packet in self.pair.receive_all(SERVER) {
            // Anyone can send a refusal; it costs us a few bytes.
            if let Ok(id) = read(&packet.payload) {
                self.server.refused(id);
            }
        }
    }

    /// Lets the client take the parts that have come.
    fn show(&mut self) {
        for packet in self.pair.receive_all(CLIENT) {
            self.figures.arrived += 1;
            if self.settings.unseen > 0 && self.figures.arrived % self.settings.unseen == 0 {
                continue;
            }
            match self.client.receive(&packet.payload) {
                Ok(part) => self.witness.shown(&part, &self.client),
                Err(Unusable::NoBaseline { mut id }) => {
                    self.figures.refused += 1;
                    let refusal = write(&mut id, &mut [0; 8]).expect("64 bits").to_vec();
                    // If the refusal gets lost, the next part that is refused repeats it.
                    let sent = self.pair.send(CLIENT, SNAPSHOTS, Mode::Unreliable, refusal);
                    sent.expect("few of them");
                }
                Err(Unusable::Malformed(_)) => self.witness.malformed += 1,
            }
        }
    }
}
