//! Connecting, and the ends of connections in words.

use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use core::time::Duration;
use std::io;

use porous_std::proto::Refusal;
use porous_std::proto::seal::Credentials;
use porous_std::{Config, DisconnectReason, Event, PeerId, UdpHost};

use super::address::Place;
use crate::stop::Stop;

/// The longest sleep: a wish to stop is heard after it.
pub(crate) const NAP: Duration = Duration::from_millis(50);

/// Binds a host that connects: for both families of addresses, where the machine has both.
pub(crate) fn bind_client(config: Config) -> io::Result<UdpHost> {
    let any = [
        SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
    ];
    UdpHost::bind(&any[..], config)
}

/// A connection that was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) peer: PeerId,
    /// The address at which the other end has answered.
    pub(crate) address: SocketAddr,
}

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum NoLink {
    /// The user has asked to stop.
    Stopped,
    /// The other end may be there later.
    NotNow(String),
    /// It makes no sense to try again.
    Never(String),
}

/// Connects to the first of these addresses that answers: sealed, with credentials.
pub(crate) fn connect(
    host: &mut UdpHost,
    place: &Place,
    addresses: &[SocketAddr],
    credentials: Option<&Credentials>,
    stop: &Stop,
) -> Result<Link, NoLink> {
    let never = |why: &str| NoLink::Never(format!("cannot connect to {place}: {why}"));
    let begun = match credentials {
        Some(credentials) => host.connect_sealed(addresses, credentials),
        None => host.connect_any(addresses),
    };
    let wanted = begun.map_err(|error| never(&error.to_string()))?;
    let mut is_closed = false;
    loop {
        if stop.is_asked() {
            return Err(NoLink::Stopped);
        }
        host.wait(NAP).map_err(|error| never(&error.to_string()))?;
        while let Some(event) = host.poll_event() {
            match event {
                Event::Connected { peer, address } if peer == wanted => {
                    return Ok(Link { peer, address });
                }
                Event::PortClosed { peer, .. } if peer == wanted => is_closed = true,
                Event::Disconnected { peer, reason, .. } if peer == wanted => {
                    let text = format!("cannot connect to {place}: {}", why(reason, is_closed));
                    return Err(if is_final(reason) {
                        NoLink::Never(text)
                    } else {
                        NoLink::NotNow(text)
                    });
                }
                // Of connections before this one.
                Event::Connected { .. } | Event::Disconnected { .. } | _ => {}
            }
        }
    }
}

/// Whether the other end has said something that it will say again.
const fn is_final(reason: DisconnectReason) -> bool {
    matches!(
        reason,
        DisconnectReason::Refused(
            Refusal::Version { .. }
                | Refusal::Incompatible { .. }
                | Refusal::Application(_)
                | Refusal::Security
        ) | DisconnectReason::PathTooNarrow
            | DisconnectReason::InternalError
    )
}

/// Why a connection has ended, in words. `is_closed`: the machine has said that nothing is bound to the port.
pub(crate) const fn why(reason: DisconnectReason, is_closed: bool) -> &'static str {
    match reason {
        DisconnectReason::ByPeer(_) => "the other end has ended the connection",
        DisconnectReason::ByUs(_) => "this end has ended the connection",
        DisconnectReason::GoodbyeUnanswered => "the other end did not answer the goodbye",
        DisconnectReason::NeverAnswered if is_closed => "no program listens at this port",
        DisconnectReason::NeverAnswered => {
            "nothing answers: no program listens there, or something on the way lets nothing through"
        }
        DisconnectReason::Unfinished => "the other end was heard, but too much got lost",
        DisconnectReason::Silent => "the other end has fallen silent",
        DisconnectReason::LostByPeer => "the other end was started again",
        DisconnectReason::PathTooNarrow => "the path carries no datagrams of 512 bytes",
        DisconnectReason::Refused(refusal) => refused(refusal),
        DisconnectReason::Restarted => "the other end has connected anew",
        DisconnectReason::Unreachable => "this machine cannot send there",
        DisconnectReason::TooManyForgeries => "too many datagrams were forged",
        DisconnectReason::InternalError | _ => "a bug in porous was caught: please report it",
    }
}

const fn refused(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Version { .. } => "it speaks another version of the protocol",
        Refusal::Incompatible { .. } => {
            "another program listens there, or another command of this one"
        }
        Refusal::Full => "it has as many connections as it takes",
        Refusal::Security => {
            "it refuses the keys: give both ends the same --key, or a --token that it takes and \
             that is good for one more use"
        }
        Refusal::Application(_) | _ => "it refuses",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::address::place;
    use porous_std::Listen;
    use std::net::UdpSocket;

    #[test]
    fn all_addresses_of_a_name_are_tried() {
        let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut server = UdpHost::bind("127.0.0.1:0", Config::new()).unwrap();
        server.listen(Listen::Open).unwrap();
        let server = server.spawn().unwrap();
        let addresses = [silent.local_addr().unwrap(), server.local_addr()];
        let mut host = bind_client(Config::client()).unwrap();
        let name = place("localhost:1").unwrap();
        let link = connect(&mut host, &name, &addresses, None, &Stop::default());
        assert_eq!(link.unwrap().address, addresses[1]);
    }

    #[test]
    fn a_wish_to_stop_ends_an_attempt() {
        let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = silent.local_addr().unwrap();
        let mut host = bind_client(Config::client()).unwrap();
        let (name, stop) = (place("localhost:1").unwrap(), Stop::default());
        stop.ask();
        let link = connect(&mut host, &name, &[address], None, &stop);
        assert!(matches!(link, Err(NoLink::Stopped)), "{link:?}");
    }
}
