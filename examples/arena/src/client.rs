//! The client's game: it sends what its player wants, and shows the world as it was a moment ago.

use alloc::collections::{BTreeMap, VecDeque};

use porous_message::{read, write};

use crate::packet::{Inputs, REPEATED, Scores, Told};
use crate::playout::{PARTS, Playout};
use crate::snapshot::{self, LONGEST_AGE, NOBODY, Unusable};
use crate::world::{Bodies, Body, Happening, Input, Score};

/// Ticks for which snapshots are kept: twice as far back as one may refer, as one that comes late refers to ticks
/// that are older still.
const KEPT: u32 = 2 * LONGEST_AGE as u32;

/// The latest happenings that are kept to be shown.
const NEWS: usize = 8;

/// What a client counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Frames between two snapshots that were there.
    pub interpolated: u64,
    /// Frames for which the next snapshot was not there: everything stood still.
    pub held: u64,
    /// Snapshots that came before they had to be shown.
    pub in_time: u64,
    /// Snapshots that came later.
    pub late: u64,
    /// Snapshots that refer to a tick that the client does not have, or that no server writes.
    pub unusable: u64,
    /// Reliable packets.
    pub told: u64,
    /// Tables of scores.
    pub tables: u64,
}

/// A client of the game, without a network: packets go in, ticks pass, packets come out.
///
/// ```
/// use porous_arena::{Client, Input};
///
/// let mut client = Client::new();
/// let packet = client.step(Input::IDLE);
/// assert!(packet.len() < 20);
/// assert_eq!(client.you(), None); // nothing was heard yet
/// ```
#[derive(Clone, Debug, Default)]
pub struct Client {
    you: Option<u8>,
    tick: u32,
    inputs: VecDeque<Input>,
    lacks: Option<u32>,
    past: BTreeMap<u32, Bodies>,
    playout: Playout,
    scores: Option<Scores>,
    news: VecDeque<Happening>,
    figures: Figures,
}

impl Client {
    /// A client that has heard nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A tick passes, in which the player wants this. Returns the packet to be sent.
    pub fn step(&mut self, input: Input) -> Vec<u8> {
        self.tick += 1;
        self.inputs.push_back(input);
        while self.inputs.len() > REPEATED {
            self.inputs.pop_front();
        }
        if let Some(shown) = self.playout.advance(self.tick) {
            match self.around(shown) {
                [Some(_), Some(_)] => self.figures.interpolated += 1,
                [Some(_), None] => self.figures.held += 1,
                // The first snapshot is shown before its time.
                [None, _] => {}
            }
        }
        let mut packet = Inputs {
            newest: self.tick,
            inputs: self.inputs.iter().copied().collect(),
            lacks: self.lacks,
        };
        let mut buffer = [0; 32];
        let bytes = write(&mut packet, &mut buffer);
        bytes.map(|bytes| bytes.to_vec()).unwrap_or_default()
    }

    /// Takes in a snapshot. What no server sends changes nothing.
    pub fn receive_snapshot(&mut self, bytes: &[u8]) {
        match snapshot::read(bytes, |tick| self.past.get(&tick)) {
            Ok((tick, bodies)) => self.keep(tick, bodies),
            Err(unusable) => {
                self.figures.unusable += 1;
                if let Unusable::NoBase(tick) = unusable {
                    self.lacks = self.lacks.max(Some(tick));
                }
            }
        }
    }

    fn keep(&mut self, tick: u32, bodies: Bodies) {
        let is_late = self.playout.shown() > Some(i64::from(tick) * PARTS);
        *match is_late {
            true => &mut self.figures.late,
            false => &mut self.figures.in_time,
        } += 1;
        self.playout.heard(self.tick, tick);
        self.past.insert(tick, bodies);
        if self.lacks < Some(tick) {
            self.lacks = None;
        }
        let newest = self.past.keys().next_back().copied().unwrap_or(0);
        self.past = self.past.split_off(&newest.saturating_sub(KEPT));
    }

    /// Takes in what is told reliably.
    pub fn receive_told(&mut self, bytes: &[u8]) {
        let Ok(told) = read(bytes) else { return };
        self.figures.told += 1;
        match told {
            Told::You(number) => self.you = Some(number),
            Told::Happened(happening) => {
                self.news.push_back(happening);
                while self.news.len() > NEWS {
                    self.news.pop_front();
                }
            }
        }
    }

    /// Takes in a table of scores.
    pub fn receive_scores(&mut self, bytes: &[u8]) {
        if let Ok(scores) = read::<Scores>(bytes) {
            self.figures.tables += 1;
            self.scores = Some(scores);
        }
    }

    /// The number of this player; `None` before the server has told it.
    #[must_use]
    pub const fn you(&self) -> Option<u8> {
        self.you
    }

    /// What was counted.
    #[must_use]
    pub const fn figures(&self) -> Figures {
        self.figures
    }

    /// The latest table of scores.
    #[must_use]
    pub fn scores(&self) -> &[Score] {
        self.scores.as_ref().map_or(&[], |it| &it.scores)
    }

    /// The latest that has happened, the oldest first.
    pub fn news(&self) -> impl Iterator<Item = &Happening> {
        self.news.iter()
    }

    /// The snapshots that are kept, by tick.
    #[must_use]
    pub const fn past(&self) -> &BTreeMap<u32, Bodies> {
        &self.past
    }

    /// The world as it is shown now: between the snapshots before and after the time that is shown, or as in the
    /// last one, if the next has not come.
    #[must_use]
    pub fn view(&self) -> Bodies {
        let Some(shown) = self.playout.shown() else {
            return NOBODY;
        };
        match self.around(shown) {
            [Some((from, before)), Some((to, after))] => {
                between(before, after, shown - from, to - from)
            }
            [Some((_, only)), None] | [None, Some((_, only))] => *only,
            [None, None] => NOBODY,
        }
    }

    /// The snapshots before (or at) and after a time, each with its own time.
    fn around(&self, shown: i64) -> [Option<(i64, &Bodies)>; 2] {
        let tick = u32::try_from(shown.div_euclid(PARTS)).unwrap_or(0);
        let timed = |(tick, bodies): (&u32, _)| (i64::from(*tick) * PARTS, bodies);
        let mut before = self.past.range(..=tick);
        let mut after = self.past.range(tick.saturating_add(1)..);
        [before.next_back().map(timed), after.next().map(timed)]
    }
}

/// The bodies `part` of the way from one snapshot to the next, of `whole`.
fn between(before: &Bodies, after: &Bodies, part: i64, whole: i64) -> Bodies {
    let mut shown = *before;
    for (body, after) in shown.iter_mut().zip(after) {
        match (body, after) {
            // Not across lives: nobody walks from where it fell to where it rises.
            (Some(body), Some(after)) if body.life == after.life => {
                body.at = place(body, after, part, whole);
            }
            // It comes or goes when the next snapshot is shown.
            _ => {}
        }
    }
    shown
}

fn place(before: &Body, after: &Body, part: i64, whole: i64) -> [i16; 2] {
    [0, 1].map(|axis| {
        let (from, to) = (i64::from(before.at[axis]), i64::from(after.at[axis]));
        let at = from + (to - from) * part / whole.max(1);
        i16::try_from(at).unwrap_or(before.at[axis])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::{Head, write};

    fn at(x: i16, life: u8) -> Bodies {
        let mut bodies = NOBODY;
        bodies[3] = Some(Body {
            at: [x, 100],
            walk: 0,
            aim: 0,
            health: 100,
            life,
        });
        bodies
    }

    fn full(tick: u32, bodies: &Bodies) -> Vec<u8> {
        write(Head::new(tick, None), bodies, &NOBODY).unwrap()
    }

    #[test]
    fn what_is_shown_lies_between_two_snapshots_and_stands_without_a_next_one() {
        let mut client = Client::new();
        assert_eq!(client.view(), NOBODY);
        client.receive_snapshot(&full(100, &at(0, 0)));
        client.receive_snapshot(&full(103, &at(48, 0)));
        client.receive_snapshot(&full(106, &at(1000, 1)));
        let mut xs = Vec::new();
        for _ in 0..20 {
            client.step(Input::IDLE);
            xs.push(client.view()[3].unwrap().at[0]);
        }
        let first = xs.iter().position(|x| *x > 0).unwrap();
        let shown = &xs[first..first + 7];
        let gaps: Vec<i16> = shown.windows(2).map(|pair| pair[1] - pair[0]).collect();
        // 16 steps a tick; it stands where it fell, and is where it rose.
        assert_eq!(gaps[..2], [16, 16], "{xs:?}");
        assert!(xs.iter().all(|x| (0..=48).contains(x) || *x == 1000));
        assert_eq!(xs[19], 1000);
        assert!(client.figures().held > 0 && client.figures().interpolated > 5);
    }

    #[test]
    fn a_client_says_what_it_lacks_until_it_is_sent_all() {
        let mut client = Client::new();
        let lacks = |client: &mut Client| read::<Inputs>(&client.step(Input::IDLE)).unwrap().lacks;
        let refers = write(Head::new(50, Some(45)), &at(9, 0), &at(0, 0)).unwrap();
        client.receive_snapshot(&refers);
        assert_eq!(lacks(&mut client), Some(50));
        assert_eq!(client.figures().unusable, 1);
        client.receive_snapshot(&full(53, &at(20, 0)));
        assert_eq!(lacks(&mut client), None);
        assert_eq!(client.past().len(), 1);
    }

    #[test]
    fn what_no_server_sends_changes_nothing() {
        let mut client = Client::new();
        for bytes in [&[][..], &[0xff; 7], &[0xff; 1100]] {
            client.receive_snapshot(bytes);
            client.receive_told(bytes);
            client.receive_scores(bytes);
        }
        assert_eq!((client.you(), client.past().len()), (None, 0));
        assert_eq!(client.figures().unusable, 3);
        assert_eq!(client.view(), NOBODY);
    }
}
