//! Addresses for which smoltcp waits, and all later datagrams with it.

use porous_smoltcp::{Config, DisconnectReason, Mode};
use smoltcp::phy::Medium;
use smoltcp::wire::{IpAddress, IpVersion};

use crate::net::{CLIENT, Net, PATHS, SERVER};

fn configs() -> [Config; 2] {
    [Config::client(), Config::new()]
}

fn is_stuck(net: &Net) -> u64 {
    net.ends[CLIENT].host.socket_stats().send_stuck
}

#[test]
fn an_address_that_nobody_answers_for_silences_the_host_only_for_a_while() {
    for path in PATHS {
        let far = match path.version {
            IpVersion::Ipv4 => IpAddress::v4(192, 0, 2, 1),
            IpVersion::Ipv6 => IpAddress::v6(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
        };
        for wrong in [path.nobody(), far] {
            let mut net = Net::new(path, configs(), 4);
            net.ask((wrong, 7777).into());
            net.run_until("the end", 20, |net| net.ends[CLIENT].ended.is_some());
            let ended = net.ends[CLIENT].ended.take();
            assert_eq!(ended, Some(DisconnectReason::NeverAnswered), "{net}");
            // On other media smoltcp sends without asking for an address of the link.
            assert_eq!(is_stuck(&net) > 0, path.medium == Medium::Ethernet, "{net}");
            net.connect();
            let stuck = is_stuck(&net);
            net.run_for(20_000);
            assert_eq!(is_stuck(&net), stuck, "{net}");
            net.disconnect();
        }
    }
}

#[test]
fn a_connection_survives_an_address_that_nobody_answers_for() {
    for path in PATHS {
        let mut net = Net::connected(path, configs(), 4);
        net.run_for(2000);
        let server = net.ends[CLIENT].peer;
        let wrong = net.ask((path.nobody(), 7777).into());
        net.run_for(100);
        assert_eq!(net.ends[CLIENT].peer, server);
        for number in 0..20 {
            net.send(CLIENT, 0, Mode::Reliable, vec![number; 1000]);
        }
        let gone = |net: &Net| net.ends[CLIENT].ended.is_some();
        net.run_until("the end of the other", 20, gone);
        let done = |net: &Net| net.ends[SERVER].received.len() == 20;
        net.run_until("all packets", 10, done);
        assert!(net.ends[SERVER].ended.is_none(), "{net}");
        assert_ne!(Some(wrong), server);
    }
}

#[test]
fn a_neighbour_that_answers_the_second_question_loses_nothing() {
    for path in PATHS
        .into_iter()
        .filter(|path| path.medium == Medium::Ethernet)
    {
        let mut net = Net::new(path, configs(), 4);
        net.device.set_drop_chance(100);
        net.ask(net.endpoint(SERVER));
        net.run_for(500);
        net.device.set_drop_chance(0);
        net.run_for(1000);
        assert_eq!(is_stuck(&net), 0, "{net}");
        let received = net.ends[SERVER].host.host().stats().datagrams_received;
        assert!(received > 0, "{net}");
    }
}
