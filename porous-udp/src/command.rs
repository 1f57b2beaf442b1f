//! The verbs of a host as values, which can be kept, queued or sent to a thread.

use core::fmt;
use core::net::SocketAddr;
use core::time::Duration;

#[cfg(feature = "seal")]
use porous_proto::seal::{Credentials, Security};
use porous_proto::{
    AnswerError, Bytes, ChannelId, ConnectError, ConnectionIds, ConnectionIdsError, Disconnect,
    Listen, ListenError, PeerId, RefusalData, SendError, SendOptions, UnknownPeer,
};

use crate::bound::Bound;
use crate::{SuffixError, SystemSocket};

/// What an application tells a host: each variant does what the method of its name does. A program that
/// has a thread for its network sends commands to the thread, and
/// [`Endpoint::execute`](crate::Endpoint::execute) carries them out.
///
/// ```
/// use porous_udp::{Endpoint, bind, prelude::*};
/// use porous_udp::{Command, Executed};
///
/// let mut host = Endpoint::new(bind("127.0.0.1:0")?, Config::client())?;
/// let to = "127.0.0.1:4000".parse()?;
/// let connect = Command::Connect { to: [to].into(), greeting: (*b"name=Ada").into() };
/// let executed = host.execute(connect)?;
/// assert!(matches!(executed, Executed::Connecting { address, .. } if address == to));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Command {
    /// To say whether strangers may connect.
    Listen(Listen),
    /// To begin to connect, as `connect_with` does.
    Connect {
        /// The addresses at which the remote host may be, at most 8.
        to: Box<[SocketAddr]>,
        /// Up to 255 bytes for the application of the remote host.
        greeting: Box<[u8]>,
    },
    /// To begin to make a sealed connection, as `connect_sealed` does.
    #[cfg(feature = "seal")]
    ConnectSealed {
        /// The addresses at which the remote host may be, at most 8.
        to: Box<[SocketAddr]>,
        /// What this host shows, and the key that it expects.
        with: Box<Credentials>,
    },
    /// To say how the host seals.
    #[cfg(feature = "seal")]
    SetSecurity(Box<Security>),
    /// To accept the request of a peer.
    Accept(PeerId),
    /// To refuse the request of a peer.
    Refuse {
        /// The peer that asked.
        peer: PeerId,
        /// Up to 64 bytes for the application of the peer.
        data: RefusalData,
    },
    /// To queue a packet.
    Send(Outgoing),
    /// To cancel packets that were not delivered yet.
    Cancel {
        /// The peer to which the packets were sent.
        peer: PeerId,
        /// The channel of the packets.
        channel: ChannelId,
        /// The receipt with which the packets were sent.
        token: u64,
    },
    /// To end a connection.
    Disconnect {
        /// The peer.
        peer: PeerId,
        /// When the peer is told, and with which reason.
        how: Disconnect,
    },
    /// To prepare the end of a server: to refuse newcomers, and to end each connection when all that was sent on it
    /// has been delivered.
    Drain {
        /// The number that peers are told.
        reason: u32,
        /// How long the connections go on at most.
        deadline: Duration,
    },
    /// To change the cap of a channel to a peer.
    SetChannelRate {
        /// The peer.
        peer: PeerId,
        /// The channel.
        channel: ChannelId,
        /// The most that is sent on the channel, in bytes a second.
        bytes_a_second: u32,
    },
    /// To change the most that is sent to a peer.
    SetSendRate {
        /// The peer.
        peer: PeerId,
        /// The most that is sent to the peer, in bytes a second.
        bytes_a_second: u32,
    },
    /// To change the most that a peer is asked to send.
    SetReceiveRate {
        /// The peer.
        peer: PeerId,
        /// The most that the peer may send, in bytes a second.
        bytes_a_second: u32,
    },
    /// To change the most that is sent to all peers together.
    SetHostSendRate {
        /// The most that is sent to all peers together, in bytes a second.
        bytes_a_second: u32,
    },
    /// To change how the ids of new connections are made.
    SetConnectionIds(ConnectionIds),
    /// To say what stands behind the end of each datagram to an address.
    SetSuffix {
        /// The address of the proxy that removes the suffix.
        to: SocketAddr,
        /// Up to 32 bytes; none for no suffix.
        suffix: Box<[u8]>,
    },
}

/// A packet to be sent, and where to: what [`Command::Send`] carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The peer to which the packet goes.
    pub peer: PeerId,
    /// The channel that it takes.
    pub channel: ChannelId,
    /// The bytes of the packet.
    pub payload: Bytes,
    /// The delivery mode, and whatever else a packet is sent with.
    pub options: SendOptions,
}

/// The result of a [`Command`] that the host carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Executed {
    /// The command was carried out, and has no result.
    Done,
    /// An attempt to connect has begun.
    Connecting {
        /// The peer, which is not connected yet.
        peer: PeerId,
        /// The first of the addresses that the command named.
        address: SocketAddr,
    },
    /// True if there were packets to cancel.
    Cancelled(bool),
}

/// Why a host did not carry a [`Command`] out. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandError {
    /// [`Command::Listen`] failed.
    Listen(ListenError),
    /// The command to connect failed.
    Connect {
        /// The first of the addresses that the command named, or `0.0.0.0:0` if it named none.
        address: SocketAddr,
        /// Why the attempt did not begin.
        error: ConnectError,
    },
    /// [`Command::Accept`] or [`Command::Refuse`] failed.
    Answer {
        /// The peer that asked.
        peer: PeerId,
        /// Why the peer was not answered.
        error: AnswerError,
    },
    /// [`Command::Send`] failed.
    Send {
        /// The packet, handed back.
        packet: Outgoing,
        /// Why the packet was not queued.
        error: SendError,
    },
    /// [`Command::Disconnect`] failed: there is no such peer.
    Disconnect(UnknownPeer),
    /// [`Command::SetChannelRate`], [`Command::SetSendRate`] or [`Command::SetReceiveRate`] failed.
    Rate(SendError),
    /// [`Command::SetConnectionIds`] failed.
    ConnectionIds(ConnectionIdsError),
    /// [`Command::SetSuffix`] failed.
    Suffix {
        /// The address that the command named.
        to: SocketAddr,
        /// Why its datagrams have the suffix that they had.
        error: SuffixError,
    },
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen(error) => error.fmt(f),
            Self::Connect { error, .. } => error.fmt(f),
            Self::Answer { error, .. } => error.fmt(f),
            Self::Send { error, .. } | Self::Rate(error) => error.fmt(f),
            Self::Disconnect(error) => error.fmt(f),
            Self::ConnectionIds(error) => error.fmt(f),
            Self::Suffix { error, .. } => error.fmt(f),
        }
    }
}

impl core::error::Error for CommandError {}

impl Command {
    pub(crate) fn execute<S: SystemSocket>(
        self,
        host: &mut Bound<S>,
    ) -> Result<Executed, CommandError> {
        match self {
            Self::Listen(policy) => host.listen(policy).map_err(CommandError::Listen)?,
            Self::Connect { to, greeting } => {
                return connecting(&to, host.connect_with(&to, &greeting));
            }
            #[cfg(feature = "seal")]
            Self::ConnectSealed { to, with } => {
                return connecting(&to, host.connect_sealed(&to, &with));
            }
            #[cfg(feature = "seal")]
            Self::SetSecurity(security) => host.set_security(*security),
            Self::Accept(peer) => {
                let error = |error| CommandError::Answer { peer, error };
                host.accept(peer).map_err(error)?;
            }
            Self::Refuse { peer, data } => {
                let error = |error| CommandError::Answer { peer, error };
                host.refuse(peer, data.as_bytes()).map_err(error)?;
            }
            Self::Send(packet) => {
                // Bytes share their memory, so the clone copies none of them, and the packet can be handed
                // back.
                let payload = packet.payload.clone();
                let sent = host.send(packet.peer, packet.channel, payload, packet.options);
                sent.map_err(|error| CommandError::Send { packet, error })?;
            }
            Self::Cancel {
                peer,
                channel,
                token,
            } => return Ok(Executed::Cancelled(host.cancel(peer, channel, token))),
            Self::Disconnect { peer, how } => host
                .disconnect(peer, how)
                .map_err(CommandError::Disconnect)?,
            Self::Drain { reason, deadline } => host.drain(reason, deadline),
            Self::SetChannelRate {
                peer,
                channel,
                bytes_a_second,
            } => host
                .set_channel_rate(peer, channel, bytes_a_second)
                .map_err(CommandError::Rate)?,
            Self::SetSendRate {
                peer,
                bytes_a_second,
            } => host
                .set_send_rate(peer, bytes_a_second)
                .map_err(CommandError::Rate)?,
            Self::SetReceiveRate {
                peer,
                bytes_a_second,
            } => host
                .set_receive_rate(peer, bytes_a_second)
                .map_err(CommandError::Rate)?,
            Self::SetHostSendRate { bytes_a_second } => host.set_host_send_rate(bytes_a_second),
            Self::SetConnectionIds(ids) => host
                .set_connection_ids(ids)
                .map_err(CommandError::ConnectionIds)?,
            Self::SetSuffix { to, suffix } => {
                let error = |error| CommandError::Suffix { to, error };
                host.set_suffix(to, &suffix).map_err(error)?;
            }
        }
        Ok(Executed::Done)
    }
}

/// What came of a command to connect to a host that may be at these addresses.
fn connecting(
    to: &[SocketAddr],
    attempt: Result<PeerId, ConnectError>,
) -> Result<Executed, CommandError> {
    // The error has to name an address even if the command named none.
    let nowhere = || SocketAddr::from(([0, 0, 0, 0], 0));
    let address = to.first().copied().unwrap_or_else(nowhere);
    match attempt {
        Ok(peer) => Ok(Executed::Connecting { peer, address }),
        Err(error) => Err(CommandError::Connect { address, error }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Endpoint, Mode, bind};

    #[test]
    fn a_command_that_is_refused_hands_back_what_it_was_about() {
        let config = Config::client().connection_id_len(0).unwrap();
        let mut host = Endpoint::new(bind("127.0.0.1:0").unwrap(), config).unwrap();
        let peer = PeerId::from_u64(u64::MAX).unwrap();
        let packet = Outgoing {
            peer,
            channel: ChannelId(0),
            payload: Bytes::from_static(b"hello"),
            options: Mode::Reliable.into(),
        };
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let connect = |to: &[SocketAddr]| Command::Connect {
            to: to.into(),
            greeting: Box::default(),
        };
        let bytes_a_second = 1;
        let mut error = |command| host.execute(command).unwrap_err();
        assert_eq!(
            error(Command::Listen(Listen::Open)),
            CommandError::Listen(ListenError::NotAllowed)
        );
        let refused = error(connect(&[nowhere]));
        assert!(matches!(refused, CommandError::Connect { address, .. } if address == nowhere));
        let refused = error(connect(&[]));
        assert!(matches!(refused, CommandError::Connect { address, .. } if address.port() == 0));
        let unanswered = CommandError::Answer {
            peer,
            error: AnswerError::UnknownPeer,
        };
        assert_eq!(error(Command::Accept(peer)), unanswered);
        let data = RefusalData::default();
        assert_eq!(error(Command::Refuse { peer, data }), unanswered);
        let unsent = CommandError::Send {
            packet: packet.clone(),
            error: SendError::UnknownPeer,
        };
        assert_eq!(error(Command::Send(packet)), unsent);
        let how = Disconnect::Now { reason: 0 };
        let gone = CommandError::Disconnect(UnknownPeer);
        assert_eq!(error(Command::Disconnect { peer, how }), gone);
        let unknown = CommandError::Rate(SendError::UnknownPeer);
        let channel = ChannelId(0);
        for rate in [
            Command::SetChannelRate {
                peer,
                channel,
                bytes_a_second,
            },
            Command::SetSendRate {
                peer,
                bytes_a_second,
            },
            Command::SetReceiveRate {
                peer,
                bytes_a_second,
            },
        ] {
            assert_eq!(error(rate), unknown);
        }
        assert_eq!(
            error(Command::SetConnectionIds(ConnectionIds::Custom(|_| {}))),
            CommandError::ConnectionIds(ConnectionIdsError::NoBytes)
        );
        assert_eq!(unknown.to_string(), SendError::UnknownPeer.to_string());
    }

    #[test]
    fn a_suffix_that_is_refused_hands_back_its_address() {
        let mut host = Endpoint::new(bind("127.0.0.1:0").unwrap(), Config::client()).unwrap();
        let to = SocketAddr::from(([127, 0, 0, 1], 7));
        let suffix = [0; 33].into();
        let refused = host.execute(Command::SetSuffix { to, suffix });
        let error = SuffixError::TooLong;
        assert_eq!(refused, Err(CommandError::Suffix { to, error }));
        let error = CommandError::Suffix { to, error };
        assert_eq!(error.to_string(), SuffixError::TooLong.to_string());
    }

    #[test]
    fn a_command_that_is_taken_says_what_came_of_it() {
        let mut host = Endpoint::new(bind("127.0.0.1:0").unwrap(), Config::new()).unwrap();
        let to = [1, 2].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let connect = Command::Connect {
            to: to.into(),
            greeting: Box::default(),
        };
        let Ok(Executed::Connecting { peer, address }) = host.execute(connect) else {
            panic!("it begins");
        };
        assert_eq!((address, host.address(peer)), (to[0], Some(to[0])));
        let cancel = Command::Cancel {
            peer,
            channel: ChannelId(0),
            token: 7,
        };
        assert_eq!(host.execute(cancel), Ok(Executed::Cancelled(false)));
        let rate = Command::SetHostSendRate { bytes_a_second: 1 };
        let suffix = Command::SetSuffix {
            to: SocketAddr::from(([127, 0, 0, 1], 3)),
            suffix: [7; 32].into(),
        };
        for done in [Command::Listen(Listen::Open), rate, suffix] {
            assert_eq!(host.execute(done), Ok(Executed::Done));
        }
        let how = Disconnect::Now { reason: 0 };
        let disconnect = Command::Disconnect { peer, how };
        assert_eq!(host.execute(disconnect), Ok(Executed::Done));
        let connect = Command::Connect {
            to: to.into(),
            greeting: Box::default(),
        };
        assert!(host.execute(connect).is_ok());
        let (reason, deadline) = (1, Duration::ZERO);
        let drain = Command::Drain { reason, deadline };
        assert_eq!(host.execute(drain), Ok(Executed::Done));
        assert!(host.peers().next().is_none());
    }

    #[cfg(feature = "seal")]
    #[test]
    fn commands_seal_as_the_methods_of_their_names_do() {
        use porous_proto::seal::Suite;

        use crate::RustCrypto;

        let config = Config::new().sealed(&[Suite::CHACHA_POLY]).unwrap();
        let mut host = Endpoint::new(bind("127.0.0.1:0").unwrap(), config).unwrap();
        let security = Box::new(Security::new(&RustCrypto));
        let said = host.execute(Command::SetSecurity(security));
        assert_eq!(said, Ok(Executed::Done));
        let connect = |port: u16| Command::ConnectSealed {
            to: [SocketAddr::from(([127, 0, 0, 1], port))].into(),
            with: Box::default(),
        };
        let Ok(Executed::Connecting { peer, address }) = host.execute(connect(7)) else {
            panic!("it begins");
        };
        assert_eq!(host.address(peer), Some(address));
        let refused = host.execute(connect(0)).unwrap_err();
        assert!(matches!(refused, CommandError::Connect { address, .. } if address.port() == 0));

        let mut plain = Endpoint::new(bind("127.0.0.1:0").unwrap(), Config::new()).unwrap();
        let error = ConnectError::NotSealed;
        let refused = plain.execute(connect(7)).unwrap_err();
        assert_eq!(refused, CommandError::Connect { address, error });
    }
}
