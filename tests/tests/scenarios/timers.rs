//! Why a host wants to be called.

use alloc::collections::BTreeMap;
use core::time::Duration;

use porous_proto::{ChannelId, Config, Disconnect, Mode, SendOptions, Timer};
use porous_sim::{Pair, World};
use porous_tests::{config, line, quiet_pair, seed};

const A: u32 = Pair::A;
const B: u32 = Pair::B;
const MS: Duration = Duration::from_millis(1);

/// How many milliseconds begin with each timer at A while this time passes.
fn watch(world: &mut World, time: Duration) -> BTreeMap<String, u32> {
    let mut seen = BTreeMap::new();
    for _ in 0..time.as_millis() {
        let host = world.host(A);
        let timer = host.timer();
        assert_eq!(
            timer.is_some(),
            host.poll_timeout().is_some(),
            "{}",
            world.seed()
        );
        if let Some((timer, peer)) = timer {
            assert!(peer.is_some() || timer == Timer::HostRate || timer == Timer::Transmit);
            *seen.entry(timer.to_string()).or_insert(0) += 1;
        }
        world.run_for(MS);
    }
    seen
}

fn assert_seen(world: &mut World, time: Duration, timers: &[Timer]) {
    let seen = watch(world, time);
    for timer in timers {
        let count = seen.get(&timer.to_string());
        assert!(count.is_some(), "{timer}: {seen:?}; {}", world.seed());
    }
}

#[test]
fn an_idle_peer_is_pinged_and_its_pings_are_acknowledged() {
    let mut pair = quiet_pair(seed(), line());
    let seen = watch(&mut pair.world, 5000 * MS);
    assert!(seen["ping"] > 3000, "{seen:?}; {}", seed());
}

/// The paper's policy knows one timer of frames (§3.1.5), the modern one has a second for what nothing came after.
#[test]
fn what_is_sent_waits_for_its_acknowledgement() {
    let mut pair = quiet_pair(seed(), line());
    pair.send(A, 0, Mode::Reliable, vec![1]).unwrap();
    let transmit = Some((Timer::Transmit, Some(pair.peer(A))));
    assert_eq!(pair.world.host(A).timer(), transmit);
    pair.world.network_mut().set_all(line().loss(100.0));
    let seen = watch(&mut pair.world, 3000 * MS);
    assert!(
        seen.contains_key("retransmission") || seen.contains_key("loss"),
        "{seen:?}; {}",
        seed()
    );
    assert_seen(&mut pair.world, 20_000 * MS, &[Timer::Silence]);
}

#[test]
fn lost_frames_and_packets_that_expire_have_timers() {
    let mut pair = quiet_pair(seed(), line());
    let world = &mut pair.world;
    world
        .network_mut()
        .set_all(line().loss(20.0).jitter(10 * MS));
    let mut seen = BTreeMap::new();
    for n in 0..200_u8 {
        let options = SendOptions::new(Mode::Unreliable).ttl(500 * MS);
        let host = world.host_mut(A);
        let (peer, _) = host.peers().next().expect("the server");
        host.send(peer, ChannelId(0), vec![n; 300], Mode::Reliable)
            .unwrap();
        host.send(peer, ChannelId(0), vec![n; 300], options)
            .unwrap();
        for (timer, count) in watch(world, 20 * MS) {
            *seen.entry(timer).or_insert(0) += count;
        }
    }
    for timer in [Timer::Loss, Timer::Channel] {
        let timer = timer.to_string();
        assert!(seen.contains_key(&timer), "{timer}: {seen:?}; {}", seed());
    }
}

#[test]
fn a_host_that_only_receives_owes_acknowledgements() {
    // Of the modern policy, which holds some back.
    let mut pair = Pair::new(seed(), line(), Config::client(), Config::new());
    pair.connect_to_listener();
    pair.world.run_for(1000 * MS);
    for n in 0..10 {
        pair.send(B, 0, Mode::Unreliable, vec![n]).unwrap();
        pair.world.run_for(3 * MS);
    }
    // Half of them are there: the first is acknowledged at once, those after it together.
    assert_seen(&mut pair.world, 20 * MS, &[Timer::Acknowledgement]);
}

#[test]
fn what_holds_data_back_is_told() {
    let slow = config::client().host_send_rate(20_000);
    let mut pair = Pair::new(seed(), line(), slow, config::new());
    pair.connect_to_listener();
    for _ in 0..20 {
        pair.send(A, 0, Mode::Reliable, vec![0; 5000]).unwrap();
    }
    assert_seen(&mut pair.world, 2000 * MS, &[Timer::HostRate]);
    let mut pair = quiet_pair(seed(), line());
    let peer = pair.peer(A);
    let host = pair.world.host_mut(A);
    host.set_channel_rate(peer, ChannelId(0), 20_000).unwrap();
    pair.send(A, 0, Mode::Reliable, vec![0; 50_000]).unwrap();
    assert_seen(&mut pair.world, 1000 * MS, &[Timer::Channel]);
}

#[test]
fn the_beginning_and_the_end_have_timers() {
    let mut pair = Pair::new(seed(), line(), config::client(), Config::new());
    let peer = pair.world.connect(A, B).unwrap();
    assert_seen(&mut pair.world, 3000 * MS, &[Timer::Handshake]);
    pair.world
        .disconnect(A, peer, Disconnect::Now { reason: 0 })
        .unwrap();

    let mut pair = quiet_pair(seed(), line());
    pair.world.network_mut().set_all(line().loss(100.0));
    pair.send(A, 0, Mode::Reliable, vec![1]).unwrap();
    let how = Disconnect::Flush {
        reason: 0,
        deadline: 1500 * MS,
    };
    let peer = pair.peer(A);
    pair.world.disconnect(A, peer, how).unwrap();
    assert_seen(&mut pair.world, 9000 * MS, &[Timer::Flush, Timer::Goodbye]);

    let mut pair = quiet_pair(seed(), line());
    let peer = pair.peer(B);
    let how = Disconnect::Now { reason: 0 };
    pair.world.disconnect(B, peer, how).unwrap();
    assert_seen(&mut pair.world, 1000 * MS, &[Timer::Deletion]);
}
