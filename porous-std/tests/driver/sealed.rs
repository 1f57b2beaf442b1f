//! Sealed connections over real sockets: what the driver adds is the cryptography, the time of day, and the IPs
//! of addresses.

use core::net::{Ipv4Addr, SocketAddr};

use porous_std::proto::seal::{
    Claims, Credentials, Provider, Psk, SecretKey, Security, Suite, Token, TokenKey, TokenRefusal,
};
use porous_std::{
    ChannelId, Config, ConnectError, DisconnectReason, Event, Listen, Mode, OsRng, Output, PeerId,
    Refusal, RustCrypto, UdpHost,
};

use crate::clock::unix_seconds;
use crate::hosts::{connected, until};
use crate::threads::{wait_connected, wait_for};

const APPLICATION: u64 = 0x7069_6e67;

fn config() -> Config {
    let config = Config::new().application_id(APPLICATION);
    let suites = [Suite::AES_GCM, Suite::CHACHA_POLY];
    config.sealed(&suites).unwrap()
}

fn host() -> UdpHost {
    UdpHost::bind("127.0.0.1:0", config()).unwrap()
}

fn server() -> UdpHost {
    let mut server = host();
    server.listen(Listen::Open).unwrap();
    server
}

/// Connects by a sealed connection. Returns the peer of each host.
fn connect(server: &mut UdpHost, client: &mut UdpHost, with: &Credentials) -> [PeerId; 2] {
    let to = server.local_addr().unwrap();
    let peer = client.connect_sealed(&[to], with).unwrap();
    assert_eq!(until(client, server, connected), (peer, to));
    let (other, _) = until(server, client, connected);
    [other, peer]
}

fn binding(host: &UdpHost, peer: PeerId) -> [u8; 32] {
    *host.peer(peer).unwrap().secured().unwrap().binding()
}

/// The system's generator, as drivers have it.
fn rng() -> OsRng {
    OsRng::default()
}

/// A token of client 42 that is bound to this address, and its psk.
fn token(key: &TokenKey, created: u64, ip: Ipv4Addr) -> Credentials {
    let claims = Claims::new(APPLICATION, 42, created..created + 20);
    let claims = claims.key_number(1).single_use().ip(ip.into());
    let (token, psk) = Token::mint(&RustCrypto, key, &claims, &mut rng()).unwrap();
    Credentials::new().token(token, psk)
}

fn ended(event: Event<SocketAddr>) -> Option<DisconnectReason> {
    let Event::Disconnected { reason, .. } = event else {
        return None;
    };
    Some(reason)
}

#[test]
fn one_word_in_the_configuration_seals() {
    let (mut server, mut client) = (server(), host());
    let [there, here] = connect(&mut server, &mut client, &Credentials::new());
    assert_eq!(binding(&server, there), binding(&client, here));
    let secured = client.peer(here).unwrap().secured().unwrap();
    assert_eq!(secured.suite(), Suite::AES_GCM);
    let sent = client.send(here, ChannelId(0), "there", Mode::Reliable);
    sent.unwrap();
    let readable = |event: Event<SocketAddr>| matches!(event, Event::Readable { .. }).then_some(());
    until(&mut server, &mut client, readable);
    assert_eq!(server.receive(there).unwrap().payload, "there");
}

#[test]
fn a_server_that_seals_takes_plain_clients_only_if_it_is_told_to() {
    let (mut server, mut client) = (server(), crate::hosts::client("127.0.0.1:0"));
    let to = server.local_addr().unwrap();
    let config = Config::new().application_id(APPLICATION);
    let mut plain = UdpHost::bind("127.0.0.1:0", config).unwrap();
    plain.connect(to).unwrap();
    let refused = DisconnectReason::Refused(Refusal::Security);
    assert_eq!(until(&mut plain, &mut server, ended), refused);
    server.set_security(Security::new(&RustCrypto).allow_plain());
    plain.connect(to).unwrap();
    until(&mut plain, &mut server, connected);
    let without = client.connect_sealed(&[to], &Credentials::new());
    assert_eq!(without, Err(ConnectError::NotSealed));
}

#[test]
fn the_driver_knows_the_time_of_day_and_the_ip_of_a_client() {
    let (mut server, mut client) = (server(), host());
    let (key, secret) = (
        TokenKey::generate(&mut rng()),
        SecretKey::generate(&mut rng()),
    );
    let security = Security::new(&RustCrypto).identity(&secret).unwrap();
    let security = security.token_key(1, key.clone()).unwrap();
    server.set_security(security.require_proof());
    let now = unix_seconds();
    let old = token(&key, now - 100, Ipv4Addr::LOCALHOST);
    let elsewhere = token(&key, now, Ipv4Addr::new(10, 0, 0, 1));
    let to = server.local_addr().unwrap();
    for wrong in [old, elsewhere] {
        client.connect_sealed(&[to], &wrong).unwrap();
        let reason = until(&mut client, &mut server, ended);
        assert_eq!(reason, DisconnectReason::Refused(Refusal::Security));
    }
    for cause in [TokenRefusal::Expired, TokenRefusal::Ip] {
        assert!(server.stats().tokens_refused(cause) > 0, "{cause:?}");
    }
    let told = server.stats().tokens_refused_by_name();
    let told: Vec<&str> = told.filter(|told| told.1 > 0).map(|told| told.0).collect();
    assert_eq!(told, ["expired", "ip"]);
    let public = RustCrypto.public_key(Suite::AES_GCM, &secret).unwrap();
    let right = token(&key, now, Ipv4Addr::LOCALHOST).server_key(public);
    let [there, _] = connect(&mut server, &mut client, &right);
    let secured = server.peer(there).unwrap().secured().unwrap();
    assert_eq!(secured.client_id(), Some(42));
}

#[test]
fn hosts_in_threads_seal_and_tell_what_was_proved() {
    let mut server = host().spawn().unwrap();
    let psk = Psk::generate(&mut rng());
    let security = Security::new(&RustCrypto).psk(7, psk.clone()).unwrap();
    server.set_security(security.require_proof()).unwrap();
    server.listen(Listen::Open).unwrap();
    let mut client = host().spawn().unwrap();
    let to = server.local_addr();
    let with = Credentials::new()
        .psk(7, psk)
        .greeting(b"name=Ada")
        .unwrap();
    client.connect_sealed(&[to], &with).unwrap();
    let (here, _) = wait_connected(&mut client);
    let (there, _) = wait_connected(&mut server);
    let [server_side, client_side] = [(&server, there), (&client, here)].map(|(host, peer)| {
        let secured = host.secured(peer).unwrap();
        (secured.psk(), *secured.binding())
    });
    assert_eq!(server_side, client_side);
    assert_eq!(server_side.0, Some(7));
    assert_eq!(server.greeting(there), b"name=Ada");
    let sent = server.send(there, ChannelId(0), "hello", Mode::Reliable);
    sent.unwrap();
    let packet = wait_for(&mut client, "the packet", |output| {
        let Output::Packet { packet, .. } = output else {
            return None;
        };
        Some(packet.payload.clone())
    });
    assert_eq!(packet, "hello");
}
