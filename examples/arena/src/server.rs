//! The server's game: it moves the world from the inputs of the players, and makes the packets for them.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};

use porous_message::{read, write};
use porous_sim::Seed;

use crate::packet::{Inputs, Kind, Outgoing, Scores, Told};
use crate::snapshot::{self, Head, LONGEST_AGE, NOBODY};
use crate::world::{Bodies, Happening, Input, PLAYERS, TICKS, World};

/// Ticks between two snapshots: 20 a second.
pub const INTERVAL: u32 = 3;

/// The most inputs of a player that wait for their tick: 100 ms of jitter.
const WAITING: usize = 6;

/// What the server knows of a player.
#[derive(Clone, Debug)]
struct Seat {
    /// Inputs of ticks to come, and the number of the newest one that came.
    waiting: VecDeque<Input>,
    newest: u32,
    input: Input,
    /// The newest tick whose snapshot was delivered.
    base: Option<u32>,
    /// The last tick at which the client lacked a base: receipts of snapshots until then are not believed.
    doubted: Option<u32>,
    /// What it has to be told by the next reliable packet.
    untold: Vec<Told>,
}

/// The server of the game, without a network: packets go in, ticks pass, packets come out.
///
/// ```
/// use porous_arena::{Kind, Server};
/// use porous_sim::Seed;
///
/// let mut server = Server::new(Seed::new(1));
/// let player = server.enter().expect("the arena is empty");
/// let packets = server.step();
/// assert!(packets.iter().all(|packet| packet.to == player));
/// assert_eq!(packets[0].kind, Kind::Told);
/// ```
#[derive(Debug)]
pub struct Server {
    world: World,
    tick: u32,
    seats: BTreeMap<u8, Seat>,
    /// The bodies at the latest ticks: what snapshots refer to.
    past: BTreeMap<u32, Bodies>,
    told: u64,
}

impl Server {
    /// An empty arena.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self {
            world: World::new(seed),
            tick: 0,
            seats: BTreeMap::new(),
            past: BTreeMap::new(),
            told: 0,
        }
    }

    /// A player comes, and gets a number; `None` if the arena is full.
    pub fn enter(&mut self) -> Option<u8> {
        let taken: BTreeSet<u8> = self.seats.keys().copied().collect();
        let number = (0..).take(PLAYERS).find(|number| !taken.contains(number))?;
        self.world.enter(number);
        let seat = Seat {
            waiting: VecDeque::new(),
            newest: 0,
            input: Input::IDLE,
            base: None,
            doubted: None,
            untold: vec![Told::You(number)],
        };
        self.seats.insert(number, seat);
        Some(number)
    }

    /// A player goes.
    pub fn leave(&mut self, player: u8) {
        self.seats.remove(&player);
        self.world.leave(player);
    }

    /// Takes in what a player has sent. What no client sends changes nothing.
    pub fn receive(&mut self, player: u8, bytes: &[u8]) {
        let Some(seat) = self.seats.get_mut(&player) else {
            return;
        };
        let Ok(Inputs {
            newest,
            inputs,
            lacks,
        }) = read::<Inputs>(bytes)
        else {
            return;
        };
        // The oldest comes first; the client repeats those that may have been lost.
        let ticks = (0..=newest).rev().zip(inputs.iter().rev());
        let news: Vec<Input> = ticks
            .take_while(|(tick, _)| *tick > seat.newest)
            .map(|(_, input)| *input)
            .collect();
        seat.newest = seat.newest.max(newest);
        seat.waiting.extend(news.into_iter().rev());
        while seat.waiting.len() > WAITING {
            seat.waiting.pop_front();
        }
        // Not again for snapshots that were on their way meanwhile.
        if lacks.is_some_and(|tick| Some(tick) > seat.doubted) {
            (seat.base, seat.doubted) = (None, Some(self.tick));
        }
    }

    /// The snapshot with this [token](Kind::Snapshot) was delivered to a player.
    pub fn delivered(&mut self, player: u8, token: u64) {
        let tick = u32::try_from(token).ok();
        if let Some(seat) = self.seats.get_mut(&player).filter(|it| tick > it.doubted) {
            seat.base = seat.base.max(tick);
        }
    }

    /// A tick passes. Returns what is to be sent.
    pub fn step(&mut self) -> Vec<Outgoing> {
        self.tick += 1;
        for seat in self.seats.values_mut() {
            match seat.waiting.pop_front() {
                Some(input) => seat.input = input,
                // It probably goes on as before.
                None => seat.input.fire = false,
            }
        }
        let seats = &self.seats;
        let happened = self
            .world
            .step(|player| seats.get(&player).map_or(Input::IDLE, |seat| seat.input));
        self.past.insert(self.tick, self.world.bodies());
        let oldest = self.tick.saturating_sub(LONGEST_AGE.into());
        self.past = self.past.split_off(&oldest);
        let mut out = Vec::new();
        self.tell(&happened, &mut out);
        self.snapshots(&mut out);
        if self.tick % TICKS == 0 {
            self.scores(&mut out);
        }
        out
    }

    /// What has happened, for all: reliable, as it happens only once.
    fn tell(&mut self, happened: &[Happening], out: &mut Vec<Outgoing>) {
        for (&to, seat) in &mut self.seats {
            seat.untold
                .extend(happened.iter().map(|it| Told::Happened(*it)));
            for told in seat.untold.drain(..) {
                let (mut told, mut buffer) = (told, [0; 16]);
                // Each in a packet of its own: a few bytes, of which many share a datagram.
                if let Ok(bytes) = write(&mut told, &mut buffer) {
                    self.told += 1;
                    out.push(Outgoing::new(to, Kind::Told, bytes));
                }
            }
        }
    }

    /// The bodies, for the players whose turn it is: they take turns, so that ticks are alike.
    fn snapshots(&self, out: &mut Vec<Outgoing>) {
        let Some(bodies) = self.past.get(&self.tick) else {
            return;
        };
        for (&to, seat) in &self.seats {
            if (self.tick + u32::from(to)) % INTERVAL != 0 {
                continue;
            }
            let base = seat.base.filter(|tick| self.past.contains_key(tick));
            let head = Head::new(self.tick, base);
            let base = head.base().and_then(|tick| self.past.get(&tick));
            // A full arena fits, so there is no error.
            if let Ok(bytes) = snapshot::write(head, bodies, base.unwrap_or(&NOBODY)) {
                let kind = Kind::Snapshot {
                    token: self.tick.into(),
                };
                out.push(Outgoing::new(to, kind, &bytes));
            }
        }
    }

    /// The scores, once a second: passive, as the next table makes this one worthless.
    fn scores(&self, out: &mut Vec<Outgoing>) {
        let mut scores = Scores {
            tick: self.tick,
            scores: self.world.scores(),
        };
        let mut buffer = [0; 1024];
        if let Ok(bytes) = write(&mut scores, &mut buffer) {
            let to_all = self.seats.keys();
            out.extend(to_all.map(|&to| Outgoing::new(to, Kind::Scores, bytes)));
        }
    }

    /// The tick that was last.
    #[must_use]
    pub fn tick(&self) -> u32 {
        self.tick
    }

    /// The bodies at one of the latest 128 ticks.
    #[must_use]
    pub fn bodies_at(&self, tick: u32) -> Option<&Bodies> {
        self.past.get(&tick)
    }

    /// The scores of all players, by number.
    #[must_use]
    pub fn all_scores(&self) -> Vec<crate::Score> {
        self.world.scores()
    }

    /// Reliable packets that were made, for all players together.
    #[must_use]
    pub fn told(&self) -> u64 {
        self.told
    }
}
