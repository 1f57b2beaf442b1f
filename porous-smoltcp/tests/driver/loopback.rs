//! Two hosts connect, exchange packets and disconnect, over each medium and protocol, on good devices and
//! on bad ones.

use porous_smoltcp::{Config, DisconnectReason, Ignored, Integrity, Malformed, Mode, Priority};
use smoltcp::phy::{FaultInjector, Medium};
use smoltcp::time::Duration;

use crate::net::{CLIENT, End, Net, PATHS, SERVER, Wire};

const MODES: [Mode; 3] = [Mode::Reliable, Mode::Passive, Mode::Unreliable];

/// Packets of each mode that each host sends.
const PACKETS: u16 = 60;

/// A channel for each mode.
fn configs() -> [Config; 2] {
    [Config::client(), Config::new()].map(|config| {
        let channels = [Priority::High, Priority::Low, Priority::Low];
        config.channels(&channels).unwrap()
    })
}

/// The packet with this number: every tenth is so long that it travels in fragments.
fn packet(number: u16) -> Vec<u8> {
    let len = if number % 10 == 9 {
        5000
    } else {
        usize::from(number)
    };
    let mut packet = number.to_be_bytes().to_vec();
    packet.resize(2 + len, number.to_be_bytes()[1]);
    packet
}

/// True if these packets are in their order, perhaps with gaps.
fn in_order(received: &[&[u8]]) -> bool {
    let number = |packet: &[u8]| u16::from_be_bytes([packet[0], packet[1]]);
    received
        .windows(2)
        .all(|two| number(two[0]) < number(two[1]))
        && received.iter().all(|bytes| *bytes == packet(number(bytes)))
}

/// Lets both hosts send packets of all modes, each mode on a channel of its own, three packets each 5 ms,
/// until all that must arrive have arrived. Late passive packets need not, since newer ones do not wait
/// for them.
fn exchange(net: &mut Net) {
    for number in 0..PACKETS {
        for end in [CLIENT, SERVER] {
            for (channel, mode) in (0..).zip(MODES) {
                net.send(end, channel, mode, packet(number));
            }
        }
        net.run_for(5);
    }
    let has_all = |end: &End| end.received(Mode::Reliable).len() == usize::from(PACKETS);
    net.run_until("all packets", 120, |net| net.ends.iter().all(has_all));
    net.run_for(1000);
    for end in &net.ends {
        for mode in MODES {
            assert!(in_order(&end.received(mode)), "{mode:?} {net}");
        }
    }
}

#[test]
fn over_a_good_device_everything_arrives_in_order() {
    for path in PATHS {
        let mut net = Net::connected(path, configs(), 16);
        exchange(&mut net);
        for end in &net.ends {
            for mode in MODES {
                let count = end.received(mode).len();
                assert_eq!(count, usize::from(PACKETS), "{mode:?} {net}");
            }
            assert_eq!(end.host.socket_stats().send_lost, 0, "{net}");
        }
        net.disconnect();
    }
}

#[test]
fn packets_that_the_device_drops_are_repeated() {
    for path in PATHS {
        let mut net = Net::new(path, configs(), 16);
        // The device drops both on the way in and on the way out.
        net.device.set_drop_chance(5);
        net.connect();
        exchange(&mut net);
        let unreliable = |end: &End| end.received(Mode::Unreliable).len();
        let arrived: usize = net.ends.iter().map(unreliable).sum();
        assert!(arrived < 2 * usize::from(PACKETS), "none dropped, {net}");
        net.disconnect();
    }
}

#[test]
fn smoltcp_drops_corrupted_datagrams_and_packets_are_repeated() {
    for path in PATHS {
        let mut net = Net::checksummed(path, configs(), 16);
        if path.medium == Medium::Ip {
            net.device.set_corrupt_chance(10);
        }
        // ARP has no checksum, and a host that learned a wrong address believes it for a minute.
        net.connect();
        net.device.set_corrupt_chance(10);
        exchange(&mut net);
        let [client, server] = net.ends.each_ref().map(|end| end.host.host().stats());
        let arrived = client.datagrams_received + server.datagrams_received;
        let sent = client.datagrams_sent + server.datagrams_sent;
        assert!(arrived < sent, "none corrupted, {net}");
        net.disconnect();
    }
}

#[test]
fn what_is_corrupt_when_it_reaches_the_host_is_repeated() {
    for path in PATHS {
        let configs = configs().map(|config| config.integrity(Integrity::Crc32c));
        let mut net = Net::connected(path, configs, 16);
        // The device says that UDP's checksum need not be verified. The check of the host guards only
        // the datagrams of an established connection.
        net.device.set_corrupt_chance(10);
        exchange(&mut net);
        let stats = net.ends[SERVER].host.host().stats();
        let broken = Ignored::Malformed(Malformed::Integrity);
        assert!(stats.ignored(broken) > 0, "none corrupted, {net}");
        net.device.set_corrupt_chance(0);
        net.disconnect();
    }
}

#[test]
fn a_device_with_a_limit_of_packets_is_used_within_it() {
    for path in PATHS {
        let mut net = Net::new(path, configs(), 16);
        net.device.set_max_rx_rate(20);
        net.device.set_bucket_interval(Duration::from_millis(20));
        net.connect();
        exchange(&mut net);
        net.disconnect();
    }
}

/// The most bytes that smoltcp puts before a datagram: Ethernet, IPv6 and UDP.
const HEADERS: usize = 14 + 40 + 8;

fn limited(device: &mut FaultInjector<Wire>, datagram: usize) {
    device.set_max_packet_size(datagram + HEADERS);
}

#[test]
fn a_device_that_only_just_carries_the_longest_datagram_is_enough() {
    for path in PATHS {
        let mut net = Net::new(path, configs(), 16);
        limited(&mut net.device, 1200);
        net.connect();
        exchange(&mut net);
        net.disconnect();
    }
}

#[test]
fn a_device_that_cannot_carry_a_request_lets_the_connection_time_out() {
    for path in PATHS {
        let mut net = Net::new(path, configs(), 16);
        limited(&mut net.device, 1200 - HEADERS);
        net.ask(net.endpoint(SERVER));
        net.run_until("the end", 20, |net| net.ends[CLIENT].ended.is_some());
        let ended = net.ends[CLIENT].ended;
        assert_eq!(ended, Some(DisconnectReason::NeverAnswered), "{net}");
        assert_eq!(net.ends[SERVER].host.host().stats().datagrams_received, 0);
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = || {
        let mut net = Net::new(PATHS[3], configs(), 16);
        net.device.set_drop_chance(5);
        net.connect();
        exchange(&mut net);
        let stats = net.ends.each_ref().map(|end| end.host.host().stats());
        (net.now, stats)
    };
    assert_eq!(run(), run());
}
