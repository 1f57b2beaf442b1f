//! Sealed connections.

use porous_tokio::prelude::*;
use porous_tokio::seal::{Provider, SecretKey};
use porous_tokio::{Client, ConnectFailed, Server};

use crate::runtimes::{address, in_both};

fn sealing(config: Config) -> Config {
    config.sealed(&[Suite::CHACHA_POLY]).unwrap()
}

#[test]
fn a_client_that_knows_the_key_of_the_server_connects() {
    in_both(|| async {
        let secret = SecretKey::from_bytes([7; 32]);
        let public = RustCrypto.public_key(Suite::CHACHA_POLY, &secret).unwrap();
        let security = Security::new(&RustCrypto).identity(&secret).unwrap();
        let builder = Server::builder(sealing(Config::new())).security(security);
        let server = builder.bind("127.0.0.1:0").await.unwrap();
        let to = [address(&server)];

        let client = Client::bind("127.0.0.1:0", sealing(Config::client()));
        let client = client.await.unwrap();
        let credentials = Credentials::new().server_key(public);
        let (there, here) = tokio::join!(client.connect_sealed(&to, &credentials), server.accept());
        let (there, here) = (there.unwrap(), here.unwrap());
        for end in [&there, &here] {
            assert!(end.peer(|peer| peer.secured().is_some()).unwrap());
        }
        there.send(0, "secret", Mode::Reliable).unwrap();
        assert_eq!(here.recv().await.unwrap().payload, "secret");
    });
}

/// Between the bind and a later call, a client could be let in that must not be.
#[test]
fn a_server_that_demands_a_proof_lets_nobody_in_without_one() {
    in_both(|| async {
        let security = Security::new(&RustCrypto).require_proof();
        let builder = Server::builder(sealing(Config::new())).security(security);
        let server = builder.bind("127.0.0.1:0").await.unwrap();
        let to = [address(&server)];
        let config = sealing(Config::client());
        let config = config.connect_timeout(core::time::Duration::from_millis(500));
        let client = Client::bind("127.0.0.1:0", config.unwrap()).await.unwrap();
        let failed = client.connect_sealed(&to, &Credentials::new()).await;
        assert!(matches!(failed, Err(ConnectFailed::Ended { .. })));
        assert!(client.connect(&to).await.is_err(), "nor a plain one");
        assert_eq!(server.host(|host| host.peers().count()), 0);
    });
}
