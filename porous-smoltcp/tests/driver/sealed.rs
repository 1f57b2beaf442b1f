//! Sealed connections: the program brings the cryptography and the time of day, the driver knows the IPs of
//! addresses.

use core::net::IpAddr;

use porous_crypto::RustCrypto;
use porous_smoltcp::seal::{Claims, Credentials, Security, Suite, Token, TokenKey, TokenRefusal};
use porous_smoltcp::{BadAddress, Config, ConnectError, DisconnectReason, Mode, Refusal, time};

use crate::net::{CLIENT, End, Net, PATHS, SERVER};

/// The Unix second at the beginning of each test.
const BEGIN: u64 = 1_800_000_000;

fn sealed(config: Config) -> Config {
    config.sealed(&[Suite::CHACHA_POLY]).unwrap()
}

/// Lets the client ask the server for a sealed connection.
fn ask(net: &mut Net, with: &Credentials) -> Result<(), ConnectError> {
    let (now, to) = (net.now, net.endpoint(SERVER));
    let nowhere = (to.addr, 0).into();
    let end = &mut net.ends[CLIENT];
    let socket = net.sockets.get(end.socket);
    let refused = end.host.connect_sealed(now, socket, &[nowhere], with);
    assert_eq!(refused, Err(ConnectError::BadAddress(BadAddress::PortZero)));
    end.host.connect_sealed(now, socket, &[nowhere, to], with)?;
    Ok(())
}

/// A token that is bound to this address, and its psk.
fn token(key: &TokenKey, ip: IpAddr, net: &Net) -> Credentials {
    let claims = Claims::new(0, 42, BEGIN..BEGIN + 30).ip(ip);
    let (token, psk) =
        Token::mint(&RustCrypto, key, &claims, &mut net.seed.stream("token", 0)).unwrap();
    Credentials::new().token(token, psk)
}

#[test]
fn a_client_with_a_token_is_let_in_from_its_address_and_from_no_other() {
    for path in PATHS {
        let configs = [Config::client(), Config::new()].map(sealed);
        let mut net = Net::new(path, configs, 16);
        assert_eq!(
            ask(&mut net, &Credentials::new()),
            Err(ConnectError::NotSealed),
            "no keys yet"
        );
        let key = TokenKey::from_bytes([7; 32]);
        let security = Security::new(&RustCrypto);
        net.ends[CLIENT]
            .host
            .host_mut()
            .set_security(security.clone());
        let security = security.token_key(0, key.clone()).unwrap();
        let now = time::to_porous(net.now);
        let server = net.ends[SERVER].host.host_mut();
        server.set_security(security.require_proof());
        server.set_unix_time(now, BEGIN);
        server.listen(porous_smoltcp::Listen::Open).unwrap();

        let elsewhere = token(&key, path.nobody().into(), &net);
        ask(&mut net, &elsewhere).unwrap();
        net.run_until("a refusal", 10, |net| net.ends[CLIENT].ended.is_some());
        let refused = DisconnectReason::Refused(Refusal::Security);
        assert_eq!(net.ends[CLIENT].ended.take(), Some(refused), "{net}");
        let stats = net.ends[SERVER].host.host().stats();
        assert!(stats.tokens_refused(TokenRefusal::Ip) > 0, "{net}");

        let here = token(&key, path.here().into(), &net);
        ask(&mut net, &here).unwrap();
        let both = |net: &Net| net.ends.iter().all(|end| end.peer.is_some());
        net.run_until("the connection", 10, both);
        net.send(CLIENT, 0, Mode::Reliable, b"there".to_vec());
        let has_one = |end: &End| end.received(Mode::Reliable) == [b"there"];
        net.run_until("the packet", 10, |net| has_one(&net.ends[SERVER]));
        let end = &net.ends[SERVER];
        let peer = end.host.host().peer(end.peer.unwrap()).unwrap();
        assert_eq!(peer.secured().unwrap().client_id(), Some(42));
        net.disconnect();
    }
}
