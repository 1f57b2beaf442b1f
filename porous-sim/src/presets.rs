//! Networks of real players, in numbers.

use core::time::Duration;

use crate::{LinkConfig, Queue};

/// A network between a player and a server, both ways.
///
/// | | one way | jitter | loss | rate up, down | queue |
/// |---|---|---|---|---|---|
/// | [`Lan`](Self::Lan) | 0.25 ms | 50 us | none | 1 Gbit/s | 5 ms |
/// | [`HomeWifi`](Self::HomeWifi) | 12 ms | 6 ms | 0.1 %, and bursts of 3 in 300 that lose half | 20, 50 Mbit/s | 50 ms |
/// | [`Lte`](Self::Lte) | 35 ms | 12 ms | 0.2 % | 8, 30 Mbit/s | 200 ms |
/// | [`Transatlantic`](Self::Transatlantic) | 45 ms | 1 ms | 0.05 % | 50, 100 Mbit/s | CoDel |
/// | [`Satellite`](Self::Satellite) | 300 ms | 8 ms | 0.5 % | 3, 25 Mbit/s | 500 ms |
/// | [`Terrible`](Self::Terrible) | 120 ms | 60 ms, which reorders | 5 %, and bursts of 5 in 50 that lose nine of ten | 0.5, 1 Mbit/s | 300 ms |
///
/// The jitter of the wireless presets is that of a radio that repeats lost frames; the rates are the
/// share of one player. `Terrible` also duplicates 3 %, holds back 5 %, flips bits in 1 % and truncates
/// 0.2 %: no network is like that, and a protocol that bears it bears all. Flipped and truncated
/// datagrams count as lost by UDP's checksum, unless [`udp_checksum`](LinkConfig::udp_checksum) is off:
/// then `Terrible` changes the packets of a game without
/// [`Integrity::Crc32c`](porous_proto::Integrity).
///
/// ```
/// use porous_proto::Config;
/// use porous_sim::{Pair, Preset, Seed};
///
/// let [up, down] = Preset::Lte.links();
/// let mut pair = Pair::new(Seed::new(1), up, Config::client(), Config::new());
/// pair.world.network_mut().set_link(Pair::B, Pair::A, down);
/// pair.connect_to_listener();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preset {
    /// A cable between two rooms.
    Lan,
    /// A console on the wireless network of a home with a good line.
    HomeWifi,
    /// A phone in a town.
    Lte,
    /// A good line to a server on the other side of the Atlantic.
    Transatlantic,
    /// A geostationary satellite.
    Satellite,
    /// All faults at once.
    Terrible,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 6] = [
        Self::Lan,
        Self::HomeWifi,
        Self::Lte,
        Self::Transatlantic,
        Self::Satellite,
        Self::Terrible,
    ];

    /// The links from the player to the server, and back.
    ///
    /// ```
    /// use porous_sim::Preset;
    ///
    /// let [up, down] = Preset::HomeWifi.links();
    /// assert_ne!(up, down);
    /// ```
    #[must_use]
    pub const fn links(self) -> [LinkConfig; 2] {
        let (both, [up, down]) = match self {
            Self::Lan => (lan(), [1_000_000, 1_000_000]),
            Self::HomeWifi => (home_wifi(), [20_000, 50_000]),
            Self::Lte => (lte(), [8000, 30_000]),
            Self::Transatlantic => (transatlantic(), [50_000, 100_000]),
            Self::Satellite => (satellite(), [3000, 25_000]),
            Self::Terrible => (terrible(), [500, 1000]),
        };
        [both.rate(up * 1000), both.rate(down * 1000)]
    }
}

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// A line with this delay, jitter, and longest wait in the queue.
const fn line(delay: Duration, jitter: Duration, queue: Duration) -> LinkConfig {
    let line = LinkConfig::new().delay(delay).jitter(jitter);
    line.queue(Queue::Time(queue))
}

const fn lan() -> LinkConfig {
    let us = Duration::from_micros;
    line(us(250), us(50), ms(5))
}

const fn home_wifi() -> LinkConfig {
    line(ms(12), ms(6), ms(50))
        .loss(0.1)
        .burst_loss(0.33, 33.0, 50.0)
}

const fn lte() -> LinkConfig {
    line(ms(35), ms(12), ms(200)).loss(0.2)
}

const fn transatlantic() -> LinkConfig {
    // The time of the queue is replaced: CoDel has times of its own.
    line(ms(45), ms(1), ms(0)).loss(0.05).queue(Queue::CODEL)
}

const fn satellite() -> LinkConfig {
    line(ms(300), ms(8), ms(500)).loss(0.5)
}

const fn terrible() -> LinkConfig {
    line(ms(120), ms(60), ms(300))
        .jitter_reorders(true)
        .loss(5.0)
        .burst_loss(2.0, 20.0, 90.0)
        .duplicate(3.0)
        .reorder(5.0)
        .corrupt(1.0)
        .truncate(0.2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Link, Pair, Seed};
    use porous_proto::{Config, Instant, Mode};

    /// The share of 50,000 datagrams, one each 20 ms, that is lost, in hundredths of a percent.
    fn loss(preset: Preset) -> u64 {
        let [up, _] = preset.links();
        let mut link = Link::new(up, Seed::new(1));
        for n in 0..50_000 {
            let now = Instant::from_micros(n * 20_000);
            link.send(now, [0; 200]);
            while link.receive(now).is_some() {}
        }
        link.stats().lost * 10_000 / 50_000
    }

    #[test]
    fn they_lose_what_their_numbers_say() {
        // In a burst for 1 % of the time, in which half is lost: half a percent more.
        let expected = [0..=0, 45..=75, 12..=28, 2..=9, 40..=60, 1150..=1400];
        for (preset, expected) in Preset::ALL.into_iter().zip(expected) {
            let loss = loss(preset);
            assert!(expected.contains(&loss), "{preset:?}: {loss}");
        }
    }

    /// With default settings of a channel and a host, which do not detect damage themselves.
    #[test]
    fn no_preset_changes_what_a_game_says() {
        for preset in Preset::ALL {
            for seed in (1..=4).map(Seed::new) {
                let [up, down] = preset.links();
                let mut pair = Pair::new(seed, up, Config::client(), Config::new());
                pair.world.network_mut().set_link(Pair::B, Pair::A, down);
                pair.connect_to_listener();
                let said = |n: u16| vec![n.to_le_bytes()[0]; 1000];
                let packets = (0..500).map(|n| (0, Mode::Reliable, said(n)));
                let heard = pair.exchange(Pair::A, packets, Duration::from_secs(600));
                let heard: Vec<_> = heard.iter().map(|it| &it.payload[..]).collect();
                let all: Vec<_> = (0..500).map(said).collect();
                assert_eq!(heard, all, "{preset:?}, {seed}");
            }
        }
    }
}
