//! Any bytes before a router: it does not panic, and tells of each datagram that a host takes what it is.

use bolero::check;
use porous_fuzz::codec::{agreement, read};
use porous_proto::hooks::codec::Form;
use porous_proto::route::{
    Kind, QuicLbKey, ServerId, classify, quic_lb_rotation, quic_lb_server, shard,
};

/// The rotation of ids that name no server.
const UNROUTABLE: u8 = 7;

/// What the datagram is, if a host takes it.
fn as_read(datagram: &[u8], id_len: usize) -> Option<Result<Vec<u8>, ()>> {
    // The window, and no check: a router has none.
    let agreement = agreement([u8::try_from(id_len).expect("20 at most"), 0, 0]);
    let forms = read(datagram, &agreement).ok()?;
    Some(match forms.into_iter().next()? {
        Form::Short(short) => Ok(short.connection_id),
        // The agreement of connections that are not sealed has no other short form.
        Form::Acknowledge(_)
        | Form::Request(_)
        | Form::OtherVersion { .. }
        | Form::Refuse { .. }
        | Form::Disconnect(..)
        | Form::DisconnectAck(_)
        | Form::Reset(_)
        | Form::Sealed(_)
        | Form::SealedShort(_) => Err(()),
    })
}

/// The first byte of the input chooses the length of ids, the second the bits of a shard, the third the
/// length of servers' ids; each also out of its range. True if a host would take the datagram.
fn run(key: &QuicLbKey, input: &[u8]) -> bool {
    let Some((&[id_len, bits, server_len], datagram)) = input.split_first_chunk() else {
        return false;
    };
    let (id_len, server_len) = (usize::from(id_len % 24), usize::from(server_len % 24));
    let kind = classify(datagram, id_len);
    let taken = (id_len <= 20).then(|| as_read(datagram, id_len)).flatten();
    match (&taken, kind) {
        (Some(Ok(id)), Kind::Short { id: told }) => assert_eq!(id, told),
        (Some(Err(())), Kind::Long) | (None, _) => {}
        (Some(_), _) => panic!("{datagram:?} is no {kind:?}"),
    }
    check_shard(datagram, bits);
    if let Kind::Short { id } = kind {
        check_server(key, id, server_len);
    }
    // Bytes from elsewhere than a datagram do no harm either.
    check_server(key, datagram, server_len);
    taken.is_some()
}

fn check_shard(datagram: &[u8], bits: u8) {
    let told = shard(datagram, bits);
    let (Kind::Short { id: &[id] }, 1..=8) = (classify(datagram, 1), bits) else {
        assert_eq!(told, None);
        return;
    };
    assert_eq!(told.map(u16::from), Some(u16::from(id) % (1 << bits)));
}

fn check_server(key: &QuicLbKey, id: &[u8], server_len: usize) {
    let rotation = id.first().map(|first| first >> 5);
    assert_eq!(
        quic_lb_rotation(id),
        rotation.filter(|it| *it != UNROUTABLE)
    );
    let has_room = (server_len + 5..=20).contains(&id.len());
    let is_there = quic_lb_rotation(id).is_some() && (1..=15).contains(&server_len) && has_room;
    let plain = quic_lb_server(id, server_len);
    assert_eq!(plain.is_some(), is_there);
    if let Some(server) = plain {
        assert_eq!(server.as_bytes(), &id[1..=server_len]);
    }
    let encrypted = key.server(id, server_len);
    let length = encrypted
        .as_ref()
        .map(|server: &ServerId| server.as_bytes().len());
    assert_eq!(length, is_there.then_some(server_len));
}

#[test]
fn a_router_stands_any_bytes_and_routes_what_a_host_takes() {
    let key = QuicLbKey::new(&[7; 16]);
    check!()
        .with_max_len(600)
        .with_iterations(100_000)
        .for_each(|input: &[u8]| {
            run(&key, input);
        });
}

#[test]
fn the_target_routes_forms_that_a_host_takes() {
    let key = QuicLbKey::new(&[7; 16]);
    let short = [4, 2, 3, 0x40, 1, 2, 3, 4, 9];
    let reset = [4, 2, 3, 0xF2, 1, 2, 3, 4, 9];
    let other = [4, 2, 3, 0x80, 1, 2, 3, 4, 9];
    assert_eq!(
        [&short[..], &reset, &other].map(|input| run(&key, input)),
        [true, true, false]
    );
}
