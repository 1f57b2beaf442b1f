//! Attempts to connect that fail.

use core::net::SocketAddr;
use core::time::Duration;

use porous_tokio::{
    BadAddress, Closed, Config, ConnectError, ConnectFailed, DisconnectReason, Server,
};

use crate::runtimes::{address, client, in_both, pair, server};

fn invalid(failed: &ConnectFailed) -> ConnectError {
    match failed {
        ConnectFailed::Invalid(error) => *error,
        ConnectFailed::Bind(_) | ConnectFailed::Ended { .. } | _ => panic!("{failed}"),
    }
}

#[test]
fn addresses_at_which_no_host_can_be_are_errors() {
    in_both(|| async {
        let client = client().await;
        let itself = client.local_addr().unwrap();
        let bad = ConnectError::BadAddress;
        for (to, error) in [
            (vec![], ConnectError::NoAddress),
            (vec![([127, 0, 0, 1], 0).into()], bad(BadAddress::PortZero)),
            (vec![([0, 0, 0, 0], 9).into()], bad(BadAddress::Unspecified)),
            (vec!["[::1]:9".parse().unwrap()], bad(BadAddress::Family)),
            (vec![itself], bad(BadAddress::Itself)),
        ] {
            let failed = client.connect(&to).await.unwrap_err();
            assert_eq!(invalid(&failed), error);
            assert_eq!(failed.to_string(), error.to_string());
        }
        let to = [([127, 0, 0, 1], 9).into()];
        let failed = client.connect_with(&to, &[0; 256]).await.unwrap_err();
        assert_eq!(invalid(&failed), ConnectError::TooLong);
        let to: Vec<SocketAddr> = (1..10).map(|port| ([127, 0, 0, 1], port).into()).collect();
        let failed = client.connect(&to).await.unwrap_err();
        assert_eq!(invalid(&failed), ConnectError::TooManyAddresses);
    });
}

#[test]
fn a_second_connection_to_the_same_host_is_an_error() {
    in_both(|| async {
        let server = server().await;
        let to = [address(&server)];
        let client = client().await;
        let _first = client.connect(&to).await.unwrap();
        let failed = client.connect(&to).await.unwrap_err();
        assert_eq!(invalid(&failed), ConnectError::AlreadyConnected);
    });
}

fn impatient() -> Config {
    let config = Config::client();
    config.connect_timeout(Duration::from_millis(300)).unwrap()
}

fn ended(failed: ConnectFailed) -> (Closed, bool) {
    match failed {
        ConnectFailed::Ended {
            closed,
            has_closed_port,
            ..
        } => (closed, has_closed_port),
        ConnectFailed::Bind(_) | ConnectFailed::Invalid(_) | _ => panic!("{failed}"),
    }
}

#[test]
fn an_address_that_does_not_answer_is_an_error_after_a_while() {
    in_both(|| async {
        let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = [silent.local_addr().unwrap()];
        let failed = porous_tokio::connect(&to, impatient()).await.unwrap_err();
        let text = failed.to_string();
        assert!(text.ends_with(": nothing answered"), "{text}");
        let (closed, has_closed_port) = ended(failed);
        let never = DisconnectReason::NeverAnswered;
        assert_eq!(closed.reason(), Some(never));
        assert!(!has_closed_port);
    });
}

/// Linux reports ICMP errors.
#[cfg(target_os = "linux")]
#[test]
fn a_closed_port_is_told_and_ends_no_attempt() {
    in_both(|| async {
        let gone = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = [gone.local_addr().unwrap()];
        drop(gone);
        let failed = porous_tokio::connect(&to, impatient()).await.unwrap_err();
        let text = failed.to_string();
        assert!(text.contains("does the server run?"), "{text}");
        let (closed, has_closed_port) = ended(failed);
        let never = DisconnectReason::NeverAnswered;
        assert_eq!(closed.reason(), Some(never));
        assert!(has_closed_port);
    });
}

#[test]
fn an_address_that_the_system_cannot_send_to_is_an_error_at_once() {
    in_both(|| async {
        // From the loopback interface there is no way to another machine (RFC 5737).
        let to = [([192, 0, 2, 1], 9).into()];
        let failed = client().await.connect(&to).await.unwrap_err();
        let unreachable = DisconnectReason::Unreachable;
        assert_eq!(ended(failed).0.reason(), Some(unreachable));
    });
}

#[test]
fn a_socket_that_cannot_be_bound_is_an_error() {
    in_both(|| async {
        let server = server().await;
        let (taken, config) = (address(&server), Config::new());
        let bound = Server::bind(taken, config).await;
        assert!(bound.unwrap_err().to_string().contains(&taken.to_string()));
        let nowhere = Server::bind("name.invalid:0", Config::new()).await;
        assert!(nowhere.is_err());
        // The first server is none the worse for it.
        pair(&server).await;
    });
}
