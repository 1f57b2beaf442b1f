//! What a client may send that no client of a game sends, and clients that seal.

use bevy::prelude::*;
use bevy_replicon::prelude::*;
use bevy_replicon_porous::{PorousChannelsExt, PorousClient};
use porous_std::{ChannelId, Config, Event, Listen, Mode, UdpHost};
use serde::{Deserialize, Serialize};

use crate::game::{Game, Number, channels, drain};

#[derive(Message, Serialize, Deserialize, Clone, Copy, Debug)]
struct Other;

#[derive(Message, Serialize, Deserialize, Clone, Copy, Debug)]
struct Third;

/// A host that is no game, once it is connected to the server of this one.
fn stranger(game: &mut Game, config: Config) -> (UdpHost, porous_std::PeerId) {
    let mut host = UdpHost::bind("127.0.0.1:0", config).expect("a socket");
    let peer = host.connect(game.address()).expect("the first");
    game.until("the stranger is connected", |_, _| {
        host.step().expect("a socket");
        matches!(host.poll_event(), Some(Event::Connected { .. }))
    });
    (host, peer)
}

#[test]
fn packets_on_channels_of_the_server_alone_are_ignored() {
    let mut game = Game::new(0.0, |app| {
        app.add_server_message::<Number>(Channel::Ordered)
            .add_client_message::<Number>(Channel::Ordered);
    });
    let counts = channels(&game.server);
    let (ours, theirs) = (
        counts.server_channels().len(),
        counts.client_channels().len(),
    );
    assert!(
        ours > theirs,
        "{ours} channels of the server, {theirs} of clients"
    );
    let config = channels(&game.client).client_config().expect("few");
    let (mut host, peer) = stranger(&mut game, config);
    let beyond = u8::try_from(theirs).expect("few");
    for channel in (0..=beyond).rev() {
        let garbage = vec![0xff; 100];
        let sent = host.send(peer, ChannelId(channel), garbage, Mode::Reliable);
        sent.expect("there is room");
    }
    game.until("all of it has arrived", |server, _| {
        host.step().expect("a socket");
        let queued = host.peer(peer).map(|peer| peer.queued_bytes());
        // It says nothing of the sort that replicon reads, and nothing of it comes to the game.
        assert_eq!(drain::<FromClient<Number>>(server).len(), 0);
        queued == Some(0)
    });
    let world = game.server.world_mut();
    assert_eq!(world.query::<&ConnectedClient>().iter(world).len(), 1);
}

/// The same from a server that is no game.
#[test]
fn packets_on_channels_of_the_clients_alone_are_ignored() {
    let mut game = Game::new(0.0, |app| {
        app.add_client_message::<Number>(Channel::Ordered)
            .add_client_message::<Other>(Channel::Ordered)
            .add_client_message::<Third>(Channel::Ordered);
    });
    let counts = channels(&game.client);
    let theirs = counts.server_channels().len();
    assert!(counts.client_channels().len() > theirs);
    let config = counts.client_config().expect("few");
    let channel = u8::try_from(theirs).expect("few");
    let server = channels(&game.server).server_config().expect("few");
    let mut host = UdpHost::bind("127.0.0.1:0", server).expect("a socket");
    host.listen(Listen::Open).expect("a server");
    let address = host.local_addr().expect("a socket");
    let client = PorousClient::connect(address, config).expect("a socket");
    game.client.insert_resource(client);
    let mut peer = None;
    game.until("the packet has arrived", |_, _| {
        host.step().expect("a socket");
        if let Some(Event::Connected { peer: it, .. }) = host.poll_event() {
            let sent = host.send(it, ChannelId(channel), vec![0xff; 9], Mode::Reliable);
            sent.expect("there is room");
            peer = Some(it);
        }
        let peer = peer.and_then(|peer| host.peer(peer));
        peer.is_some_and(|peer| peer.queued_bytes() == 0)
    });
    game.client.update();
    let client = game.client.world().resource::<PorousClient>();
    assert!(client.is_connected());
}

#[cfg(feature = "seal")]
#[test]
fn a_sealed_connection_carries_a_game() {
    use bevy_replicon_porous::PorousServer;
    use porous_std::seal::{Credentials, Suite};

    use crate::game::{LOSS, client_state, network};

    let mut game = Game::new(0.0, |app| {
        app.add_server_message::<Number>(Channel::Ordered);
    });
    let suites = [Suite::CHACHA_POLY];
    let config = channels(&game.server).server_config().expect("few");
    let config = config.sealed(&suites).expect("one suite");
    let mut host = UdpHost::bind("127.0.0.1:0", config).expect("a socket");
    host.listen(Listen::Open).expect("a server");
    let server = PorousServer::new(host).with_conditioner(network(LOSS, 1));
    game.server.insert_resource(server);

    let config = channels(&game.client).client_config().expect("few");
    let config = config.sealed(&suites).expect("one suite");
    let mut host = UdpHost::bind("127.0.0.1:0", config).expect("a socket");
    let peer = host.connect_sealed(&[game.address()], &Credentials::new());
    let client = PorousClient::new(host, peer.expect("an address"));
    let client = client.with_conditioner(network(LOSS, 2));
    game.client.insert_resource(client);
    game.until("the client is connected", |server, client| {
        let served = server.query::<&AuthorizedClient>().iter(server).len();
        served == 1 && client_state(client) == ClientState::Connected
    });
    game.tell(Number(5));
    game.until("the message has come", |_, client| {
        drain::<Number>(client) == [Number(5)]
    });
    let world = game.server.world_mut();
    let connected = world.query::<&ConnectedClient>().single(world);
    assert_eq!(connected.expect("one client").max_size, 1140);
}
