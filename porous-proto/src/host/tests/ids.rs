//! Connection ids by which routers find the host.

use super::*;
use crate::frame::ConnectionId;
use crate::route::{QuicLb, quic_lb_rotation, quic_lb_server, shard};
use crate::{ConnectError, ConnectionIds, ConnectionIdsError};

/// A host with ids of this length, made so.
fn host_with(length: u8, ids: ConnectionIds) -> Host<ExampleRng, u32> {
    let config = Config::new().connection_id_len(length).unwrap();
    let mut host = Host::new(config, ExampleRng(2));
    host.set_connection_ids(ids).unwrap();
    host
}

/// The ids of this many new connections.
fn drawn(host: &mut Host<ExampleRng, u32>, count: u32) -> impl Iterator<Item = ConnectionId> {
    let first = 1000 + u32::try_from(host.all_peers().count()).unwrap();
    (first..first + count).map(|address| {
        let peer = host.connect(Instant::ZERO, address).unwrap();
        host.peer(peer).unwrap().connection_id()
    })
}

fn server(rotation: u8, id: &[u8]) -> ConnectionIds {
    ConnectionIds::QuicLb(QuicLb::new(rotation, id).unwrap())
}

#[test]
fn every_id_of_a_shard_tells_it() {
    for (length, bits, shard_of_host) in [(2, 3, 5), (3, 1, 0), (4, 2, 2), (8, 8, 200), (20, 7, 1)]
    {
        let ids = ConnectionIds::Sharded {
            shard: shard_of_host,
            bits,
        };
        let mut host = host_with(length, ids);
        for id in drawn(&mut host, 100) {
            let datagram = [&[0x40], id.as_bytes()].concat();
            assert_eq!(shard(&datagram, bits), Some(shard_of_host), "{id:?}");
            assert_eq!(id.len(), usize::from(length));
        }
        host.table.audit();
    }
}

#[test]
fn a_shard_whose_ids_are_all_in_use_has_none_left() {
    let mut host = host_with(2, ConnectionIds::Sharded { shard: 9, bits: 8 });
    let connect = |address| host.connect(Instant::ZERO, address);
    let taken = (1000..2000).map(connect).take_while(Result::is_ok).count();
    // 256 ids have this first byte. 64 draws find one of the last, more often than not.
    assert!((150..=256).contains(&taken), "{taken}");
    let error = (3000..3300).find_map(|address| host.connect(Instant::ZERO, address).err());
    assert_eq!(error, Some(ConnectError::OutOfConnectionIds));
}

#[test]
fn every_id_of_a_server_tells_it() {
    for (length, name) in [(6, &[7][..]), (12, &[1, 2, 3]), (20, &[9; 15])] {
        let mut host = host_with(length, server(3, name));
        for id in drawn(&mut host, 100) {
            let read = quic_lb_server(id.as_bytes(), name.len()).unwrap();
            assert_eq!(read.as_bytes(), name);
            assert_eq!(quic_lb_rotation(id.as_bytes()), Some(3));
        }
    }
}

#[cfg(feature = "quic-lb")]
#[test]
fn every_encrypted_id_tells_its_server_to_the_owner_of_the_key() {
    let key = crate::route::QuicLbKey::new(&[5; 16]);
    for length in [8, 17, 20] {
        let ids = QuicLb::new(0, &[1, 2, 3]).unwrap().encrypted([5; 16]);
        let mut host = host_with(length, ConnectionIds::QuicLb(ids));
        for id in drawn(&mut host, 100) {
            assert_eq!(key.server(id.as_bytes(), 3), Some(ids.server()));
        }
    }
}

/// The peers that are there keep theirs, and are found by them.
#[test]
fn new_ids_are_made_as_it_was_said_last() {
    let mut host = host_with(8, ConnectionIds::Random);
    let mut all = alloc::vec![drawn(&mut host, 1).next().unwrap()];
    let kinds = [
        ConnectionIds::Sharded { shard: 1, bits: 1 },
        server(0, &[7; 3]),
        ConnectionIds::Custom(|id| id[0] = 3),
        ConnectionIds::Random,
    ];
    for ids in kinds {
        host.set_connection_ids(ids).unwrap();
        all.extend(drawn(&mut host, 1));
        assert!(all.iter().all(|&id| host.table.has_connection_id(id)));
    }
    let firsts = [
        all[1].as_bytes()[0] & 1,
        all[2].as_bytes()[0],
        all[3].as_bytes()[0],
    ];
    assert_eq!(firsts, [1, 7, 3]);
    host.table.audit();
}

#[test]
fn ids_that_cannot_be_made_are_refused_and_change_nothing() {
    use ConnectionIdsError::{NoBytes, Shard, ShardBits, TooShort};
    let sharded = |shard, bits| ConnectionIds::Sharded { shard, bits };
    let custom = ConnectionIds::Custom(|_| unreachable!());
    let cases = [
        (4, sharded(0, 0), Err(ShardBits)),
        (4, sharded(0, 9), Err(ShardBits)),
        (4, sharded(4, 2), Err(Shard)),
        (4, sharded(3, 2), Ok(())),
        (4, sharded(255, 7), Err(Shard)),
        (4, sharded(255, 8), Ok(())),
        (0, sharded(1, 1), Err(NoBytes)),
        (1, sharded(1, 1), Err(TooShort)),
        (2, sharded(1, 1), Ok(())),
        (0, server(0, &[1]), Err(NoBytes)),
        (5, server(0, &[1]), Err(TooShort)),
        (6, server(0, &[1]), Ok(())),
        (19, server(6, &[1; 15]), Err(TooShort)),
        (20, server(6, &[1; 15]), Ok(())),
        (0, custom, Err(NoBytes)),
        (0, ConnectionIds::Random, Ok(())),
    ];
    for (length, ids, expected) in cases {
        let config = Config::new().connection_id_len(length).unwrap();
        let mut host = Host::<_, u32>::new(config, example_rng());
        let said = host.set_connection_ids(ids);
        assert_eq!(said, expected, "{length} {ids:?}");
        let is_random = matches!(host.connection_ids, ConnectionIds::Random);
        assert_eq!(
            is_random,
            said.is_err() || matches!(ids, ConnectionIds::Random)
        );
    }
}
