//! What a seed draws before anything runs: the hosts, their configurations, and the length of the run.

use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::congestion::Congestion;
use porous_proto::{Channel, ChannelId, Config, ConfigError, Integrity, Policy, Priority};

use super::draw::Draw;
use super::sealing::Sealing;
use crate::Seed;

/// One host of a world.
#[derive(Clone, Debug)]
pub(super) struct Role {
    pub(super) config: Config,
    /// The channels that the host reads without an order.
    pub(super) unordered: Vec<u8>,
    /// True if the host lets others in.
    pub(super) listens: bool,
    /// True if the application is asked before another host is let in.
    pub(super) asks: bool,
    /// The hosts to which the host connects, again and again.
    pub(super) dials: Vec<usize>,
    /// The time that a way into its router stays open without a datagram out, if the host is behind one.
    pub(super) nat: Option<Duration>,
    /// True if the host follows peers whose routers forget.
    pub(super) roams: bool,
    /// The time from one tick of its program to the next, if the program ticks.
    pub(super) tick: Option<Duration>,
    pub(super) timeout: Duration,
    pub(super) send_budget: u64,
    /// The bytes that leave within a minute over a good line.
    pub(super) backlog: u64,
    /// The cap of its data to all peers at first, in bytes a second.
    pub(super) cap: u32,
    /// The greetings of its attempts to connect, in turn.
    pub(super) greetings: Vec<Vec<u8>>,
    /// How the host seals, if it does.
    pub(super) sealing: Option<Sealing>,
}

/// A world.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) roles: Vec<Role>,
    /// The length of the fault phase.
    pub(super) faults: Duration,
    /// True if links and strangers change bits.
    pub(super) corrupts: bool,
    /// True if packets are held against the model in the fault phase: no bits change, or a checksum guards
    /// them.
    pub(super) judged: bool,
    /// True if hosts send many large packets, at high rates.
    pub(super) heavy: bool,
}

impl Plan {
    /// # Errors
    ///
    /// None: all values are within their ranges.
    pub(super) fn new(seed: Seed, policy: Option<Policy>) -> Result<Self, ConfigError> {
        let mut draw = Draw::new(seed, "topology", 0);
        let hosts = draw.pick(&[2, 2, 2, 2, 3, 3, 4, 6]);
        let checksum = draw.often(70);
        let corrupts = draw.often(if checksum { 60 } else { 20 });
        let shape = draw.below(10);
        let heavy = draw.often(8);
        let minutes = draw.between(60, 120);
        // The connections of a seed last some six minutes together, however many they are.
        let connections = if shape < 2 {
            hosts * (hosts - 1) / 2
        } else {
            hosts - 1
        };
        let seconds = 360 * minutes / 60 / connections / if heavy { 6 } else { 1 };
        let first = match draw.below(3) {
            0 => 0,
            _ => (1 << draw.pick(&[16, 24, 31, 32])) - draw.log(1, 4096),
        };
        let common = Config::new().application_id(draw.below(3)).first_id(first);
        let integrity = |checksum| {
            if checksum {
                Integrity::Crc32c
            } else {
                Integrity::Header
            }
        };
        let mut roles = Vec::new();
        for index in 0..usize::try_from(hosts).unwrap_or(2) {
            let mut draw = Draw::new(seed, "host", index);
            // One host that asks for the checksum is enough; most connections are with the first.
            let config = memory(common.clone(), Draw::new(seed, "memory", index));
            let config = config.integrity(integrity(
                checksum && (shape < 2 || index == 0 || draw.often(50)),
            ));
            // All hosts are peers of each other, and listen, or the first is the server of all others.
            let (listens, dials) = match shape {
                0 | 1 => (index > 0 || shape == 0, (0..index).collect()),
                _ if index == 0 => (true, Vec::new()),
                _ => (draw.often(20), alloc::vec![0]),
            };
            let mut role = role(config, listens, checksum, heavy, &mut draw)?;
            role.dials = dials;
            control(&mut role, policy, hosts, |name| {
                Draw::new(seed, name, index)
            });
            // A stream of its own, too. Without a checksum a datagram to the host that was at an
            // address before would be taken by the one that is there now.
            role.roams = listens && checksum && Draw::new(seed, "roaming", index).often(50);
            role.config = role.config.roaming(role.roams);
            if shape == 1 {
                // They connect to each other, at the same time: neither needs to listen.
                role.dials = (0..usize::try_from(hosts).unwrap_or(2)).collect();
                role.dials.retain(|&other| other != index);
            }
            if shape < 2 || index == 0 {
                role.nat = None;
            }
            role.config = path(role.config, Draw::new(seed, "path", index))?;
            introduce(&mut role, shape, seed, index)?;
            roles.push(role);
        }
        Ok(Self {
            roles,
            faults: Duration::from_secs(seconds),
            corrupts,
            judged: checksum || !corrupts,
            heavy,
        })
    }
}

/// Sets the greetings of a host. In some worlds, makes all servers and most other hosts seal. Streams of their
/// own, as they came later.
fn introduce(role: &mut Role, shape: u64, seed: Seed, index: usize) -> Result<(), ConfigError> {
    role.greetings = greetings(Draw::new(seed, "greetings", index));
    let mut draw = Draw::new(seed, "seals", index);
    let is_sealed = Draw::new(seed, "sealed world", 0).often(30);
    // Where hosts connect to each other, all of them seal, and show the same.
    let is_server = shape < 2 || index == 0;
    if !is_sealed || !(is_server || draw.often(75)) {
        return Ok(());
    }
    let mut sealing = Sealing::draw(&mut draw, is_server);
    if shape == 1 {
        sealing = sealing.proving(Draw::new(seed, "sealed pairs", 0).often(50));
    }
    role.config = sealing.configure(role.config.clone())?;
    role.sealing = Some(sealing);
    Ok(())
}

/// Sets what all peers of a host together may make it keep: for some hosts, little.
fn memory(config: Config, mut draw: Draw) -> Config {
    if draw.often(30) {
        config.host_receive_budget(draw.log(100_000, 20_000_000))
    } else {
        config
    }
}

/// Sets what a host tries of its paths: marks of congestion, and datagrams that are longer than at first. A
/// stream of its own, as it came later.
fn path(config: Config, mut draw: Draw) -> Result<Config, ConfigError> {
    let longest = draw.pick(&[0, 0, 1452, 9000]);
    config.ecn(draw.often(70)).path_mtu_discovery(longest)
}

/// The congestion controller, and the least rate that it allows, in bytes a second. Those without any
/// control are for lines that have room: whose weather does not kill.
fn congestion(policy: Option<Policy>, draw: &mut Draw) -> (Congestion, u32) {
    if policy == Some(Policy::Paper) {
        return (Congestion::Paper, u32::MAX);
    }
    let rate = u32::try_from(draw.log(3000, 60_000)).unwrap_or(3000);
    let any = draw.pick(&Congestion::BUILT_IN);
    if let Congestion::Fixed { .. } = any {
        return (Congestion::Fixed { rate }, rate);
    }
    if let Congestion::Binary { .. } = any {
        let bad = (rate / 4).max(3000);
        return (Congestion::Binary { good: rate, bad }, bad);
    }
    (any, u32::MAX)
}

/// The policy, the congestion controller, and the cap of a host. Each has a stream of its own, as it
/// came later: the worlds of old seeds stayed what they were.
fn control(
    role: &mut Role,
    policy: Option<Policy>,
    hosts: u64,
    draw: impl Fn(&'static str) -> Draw,
) {
    let drawn = draw("policy").pick(&[Policy::Paper, Policy::Modern]);
    let mut draw = draw("rates");
    let (congestion, slowest) = congestion(policy, &mut draw);
    let config = role.config.clone().policy(policy.unwrap_or(drawn));
    role.config = config.congestion(congestion);
    role.backlog = role.backlog.min(20 * u64::from(slowest));
    if draw.often(20) {
        cap(role, hosts, &mut draw);
    }
}

/// A cap of a host's data, under which there is room for acknowledgements and twenty seconds' worth of
/// data.
fn cap(role: &mut Role, hosts: u64, draw: &mut Draw) {
    let cap = draw.log(5000 * hosts, 10_000_000);
    role.cap = u32::try_from(cap).unwrap_or(u32::MAX);
    role.config = role.config.clone().host_send_rate(role.cap);
    role.backlog = role.backlog.min(20 * cap / hosts);
}

fn priorities(draw: &mut Draw) -> Vec<Priority> {
    let channels = if draw.often(5) {
        draw.between(1, 255)
    } else {
        draw.between(1, 6)
    };
    let each = (0..channels).map(|_| draw.pick(&[Priority::Low, Priority::High]));
    each.collect()
}

fn role(
    config: Config,
    listens: bool,
    checksum: bool,
    heavy: bool,
    draw: &mut Draw,
) -> Result<Role, ConfigError> {
    let channels = priorities(draw);
    let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let (settings, slowest) = settings(&channels, draw);
    let mut config = config.channels(&channels)?;
    for (id, &channel) in (0..=u8::MAX).map(ChannelId).zip(&settings) {
        config = config.channel(id, channel)?;
    }
    let datagram = draw.pick(&[512, 1200, 1200, 1200, 1452, 4000]);
    let max_packet = number(draw.log(16, if heavy { 1 << 20 } else { 1 << 15 }));
    let spare = number(draw.log(64, 4 << 20));
    let most = if draw.often(30) { 16 } else { 10 };
    let windows: [u64; 2] = [1 << draw.between(4, most), 1 << draw.between(4, most)];
    // Without a checksum a connection id is what tells old datagrams from new ones.
    let shortest = if !checksum { 4 } else { u64::from(listens) };
    let connection_id = u8::try_from(draw.between(shortest, 20)).unwrap_or(20);
    let timeout = draw.millis(3000, 20_000);
    let send_budget = number(draw.log(256, 4 << 20));
    let mut config = config
        .max_datagram(datagram)?
        .receive_budget(max_packet, max_packet.saturating_add(spare))?
        .windows(number(windows[0]), number(windows[1]))?
        .connection_id_len(connection_id)?
        .send_budget(send_budget)?
        .timeout(timeout)?
        .connect_timeout(draw.millis(2000, 10_000))?
        .disconnect_timeout(draw.millis(1000, 5000))?
        .unreliable_age(draw.millis(50, 5000))?
        .max_peers(number(draw.between(6, 64)));
    // A round trip and the readers' delay are a second together: the bytes that the budget and the
    // window allow in that time, and twenty seconds at the rate limit.
    let rounds = 20 * u64::from(max_packet.saturating_add(spare));
    let mut backlog = rounds
        .min(30 * 64 * windows[1])
        .min(if heavy { 1 << 20 } else { 1 << 16 });
    if draw.often(30) {
        let limits = [draw.log(3000, 10_000_000), draw.log(3000, 10_000_000)];
        config = config.bandwidth(number(limits[0]), number(limits[1]))?;
        backlog = backlog.min(20 * limits[0]).min(20 * limits[1]);
    }
    backlog = backlog.min(20 * slowest);
    if draw.often(30) {
        config = config.reply_limits(number(draw.log(2, 1000)), number(draw.log(20, 20_000)))?;
    }
    let nat = draw.often(40).then(|| draw.millis(20_000, 120_000));
    let pause = |hertz| Duration::from_secs(1) / number(hertz);
    let tick = draw.often(40).then(|| pause(draw.between(10, 128)));
    Ok(Role {
        config,
        unordered: unordered(&settings),
        listens,
        asks: draw.often(20),
        dials: Vec::new(),
        nat,
        roams: false,
        tick,
        timeout,
        send_budget: send_budget.into(),
        backlog,
        cap: u32::MAX,
        greetings: Vec::new(),
        sealing: None,
    })
}

/// The greetings of a host: as often empty as of any length.
fn greetings(mut draw: Draw) -> Vec<Vec<u8>> {
    let each = (0..4).map(|_| {
        let len = if draw.often(50) { draw.log(1, 255) } else { 0 };
        draw.bytes(usize::try_from(len).unwrap_or(0))
    });
    each.collect()
}

/// Settings of channels: half of all hosts have weights, and caps of some channels; some channels are
/// read without an order. Also returns the lowest cap.
fn settings(priorities: &[Priority], draw: &mut Draw) -> (Vec<Channel>, u64) {
    let mut slowest = u64::from(u32::MAX);
    let shares = draw.often(50);
    let settings = priorities.iter().map(|&priority| {
        let mut channel = Channel::new(priority);
        if shares {
            channel = channel.weight(u8::try_from(draw.log(1, 255)).unwrap_or(1));
        }
        if shares && draw.often(10) {
            let rate = draw.log(3000, 1_000_000);
            slowest = slowest.min(rate);
            channel = channel.rate(u32::try_from(rate).unwrap_or(u32::MAX));
        }
        if draw.often(30) {
            channel = channel.unordered();
        }
        channel
    });
    (settings.collect(), slowest)
}

/// The numbers of the channels that are read without an order.
fn unordered(settings: &[Channel]) -> Vec<u8> {
    let numbers = (0..=u8::MAX).zip(settings);
    let unordered = numbers.filter(|(_, channel)| **channel == channel.unordered());
    unordered.map(|(number, _)| number).collect()
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use super::*;

    /// The configurations of the hosts of a hundred seeds, as text: a host does not tell its controller.
    fn configs(policy: Option<Policy>) -> Vec<String> {
        let roles = (0..100).flat_map(|seed| {
            let plan = Plan::new(Seed::new(seed), policy).expect("values within their ranges");
            plan.roles
        });
        roles.map(|role| format!("{:?}", role.config)).collect()
    }

    /// How the controller begins in the text of a configuration.
    fn chosen(congestion: Congestion) -> String {
        let text = format!("{congestion:?}");
        let kind = text.split(' ').next().unwrap_or_default();
        format!("congestion: Some({kind}")
    }

    #[test]
    fn hosts_have_each_controller_unless_all_follow_the_paper() {
        for policy in [None, Some(Policy::Modern)] {
            let configs = configs(policy);
            for congestion in Congestion::BUILT_IN {
                let text = chosen(congestion);
                let hosts = configs.iter().filter(|config| config.contains(&text));
                let percent = 100 * hosts.count() / configs.len();
                assert!(percent >= 8, "{text}: {percent} % of hosts, {policy:?}");
            }
        }
        let paper = chosen(Congestion::Paper);
        let configs = configs(Some(Policy::Paper));
        assert!(configs.iter().all(|config| config.contains(&paper)));
    }
}
