//! What is known of peers, channels and hosts.

#[cfg(feature = "seal")]
use porous_proto::seal::TokenRefusal;
use porous_proto::{
    ChannelId, HostStats, ModeCounts, Peer, PeerState, PeerStats, ReceiveProgress, SendProgress,
};

use crate::host::{enter, porous_host, porous_peer};
use crate::sized::{sized, write_sized, zeroed};
use crate::status::{POROUS_ERR_UNKNOWN_CHANNEL, POROUS_OK, check, porous_status};
use crate::time::micros;

/// The handshake is under way.
pub const POROUS_STATE_CONNECTING: u32 = 1;
/// Packets can be sent and received.
pub const POROUS_STATE_CONNECTED: u32 = 2;
/// This host has asked to disconnect.
pub const POROUS_STATE_DISCONNECTING: u32 = 3;
/// The connection is over, and late datagrams are answered.
pub const POROUS_STATE_DISCONNECTED: u32 = 4;
/// The connection is over, and the peer is deleted soon.
pub const POROUS_STATE_ZOMBIE: u32 = 5;

/// Counts by the mode of packets: of packets, or of the bytes in them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct porous_mode_counts {
    /// Of unreliable packets.
    pub unreliable: u64,
    /// Of reliable packets.
    pub reliable: u64,
    /// Of passive packets.
    pub passive: u64,
}

/// What is known of the connection to a peer. Counts only grow, unless it is said.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct porous_peer_stats {
    /// sizeof(porous_peer_stats).
    pub size: u32,
    /// One of POROUS_STATE_.
    pub state: u32,
    /// The number of channels of the connection, 0 while connecting.
    pub channels: u32,
    /// The largest packet that both hosts agreed on, in bytes; 0 while connecting.
    pub max_packet: u32,
    /// The largest packet that leaves in one datagram now, in bytes; 0 while connecting.
    pub max_unfragmented: u32,
    /// The largest datagram that is sent now, in bytes; 0 while connecting.
    pub path_mtu: u32,
    /// The timeout of the remote host; UINT64_MAX if it is not known.
    pub remote_timeout_us: u64,
    /// The smoothed round-trip time, 200 ms until it was measured.
    pub rtt_us: u64,
    /// How far round trips are from the smoothed one.
    pub rtt_variance_us: u64,
    /// The shortest round trip of the last 5 to 10 s; 0 before the first.
    pub rtt_minimum_us: u64,
    /// How much a round trip differs from the one before, smoothed.
    pub jitter_us: u64,
    /// After what time without an acknowledgement is sent again.
    pub resend_timeout_us: u64,
    /// Datagrams sent.
    pub datagrams_sent: u64,
    /// Datagrams received and taken.
    pub datagrams_received: u64,
    /// Bytes in the datagrams sent.
    pub bytes_sent: u64,
    /// Bytes in the datagrams received.
    pub bytes_received: u64,
    /// Frames with data: packets, or parts of them. Frames with nothing but what hosts tell each other are in none of
    /// these counts.
    pub frames_sent: u64,
    /// Of those, the ones that were taken for lost.
    pub frames_lost: u64,
    /// Of those, the ones that were acknowledged all the same.
    pub frames_spurious: u64,
    /// Of the frames sent, the ones that routers have marked instead of dropping them.
    pub frames_marked: u64,
    /// Frames of the remote host, without duplicates.
    pub frames_received: u64,
    /// Frames of the remote host that did not come. Fewer when one comes late.
    pub frames_missing: u64,
    /// Packets that were sent.
    pub packets_sent: porous_mode_counts,
    /// Bytes in them.
    pub packet_bytes_sent: porous_mode_counts,
    /// Packets that the program has received.
    pub packets_received: porous_mode_counts,
    /// Bytes in them.
    pub packet_bytes_received: porous_mode_counts,
    /// Pings and path challenges that came so soon after an answer that they got none.
    pub answers_withheld: u64,
    /// Packets that were not sent, or not again, as their time was over.
    pub packets_expired: u64,
    /// Packets that were not sent, or not again, as a newer one with the same key took their place.
    pub packets_replaced: u64,
    /// Packets that were not sent, or not again, as they were cancelled.
    pub packets_cancelled: u64,
    /// Unreliable packets that came in part and were given up.
    pub packets_incomplete: u64,
    /// Unreliable packets that had come, and made room for others.
    pub packets_evicted: u64,
    /// Bytes sent that are neither acknowledged nor taken for lost.
    pub flight: u32,
    /// The congestion window, in bytes.
    pub window: u32,
    /// Bytes of packets that wait to be sent or acknowledged, 64 more for each packet.
    pub queued_bytes: u32,
    /// Bytes a second in the datagrams sent, over the last second or so.
    pub send_rate: u32,
    /// Bytes a second in the datagrams received, over the same time.
    pub receive_rate: u32,
    /// The share of our frames that was lost in the last 5 to 10 s, 0 to 10,000.
    pub loss_sent: u16,
    /// The share of the remote host's frames that was lost, 0 to 10,000.
    pub loss_received: u16,
    /// How good the connection is, 0 to 100; 0 while there is none.
    pub quality: u8,
    /// 1 if data is sent as ECN-capable now.
    pub ecn: u8,
    /// 0.
    pub reserved: [u8; 6],
}

/// What is known of a channel to a peer, as far as it is sent on.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct porous_channel_stats {
    /// sizeof(porous_channel_stats).
    pub size: u32,
    /// Packets of which nothing was sent yet.
    pub waiting: u32,
    /// How long a packet waits before its first byte is sent, smoothed.
    pub queue_time_us: u64,
    /// The longest such time of the last 2.5 to 5 s.
    pub queue_time_longest_us: u64,
}

/// What is known of a host, over all its peers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct porous_host_stats {
    /// sizeof(porous_host_stats).
    pub size: u32,
    /// 0.
    pub reserved: u32,
    /// Datagrams that have come.
    pub datagrams_received: u64,
    /// Bytes in them.
    pub bytes_received: u64,
    /// Datagrams sent.
    pub datagrams_sent: u64,
    /// Bytes in them.
    pub bytes_sent: u64,
    /// Connections accepted from others, established or not.
    pub accepted: u64,
    /// Connections established.
    pub connected: u64,
    /// Requests that were refused because of max_peers_per_source.
    pub source_full: u64,
    /// Datagrams that were ignored, by cause: ignored[n] for the cause with the number n, as porous_core_input
    /// returns it. 1 no datagram of the protocol, 2 of an unknown connection, 3 from a wrong address, 4 with an
    /// unknown nonce, 5 the host does not listen, 6 too short a request, 7 answered without keeping state, 8 too
    /// many answers, 9 came before, 10 too old, 11 a wrong acknowledgement, 12 a wrong message, 13 over the budget,
    /// 14 of no use in this state, 15 too far ahead, 16 too much work, 17 not sealed by the remote host.
    pub ignored: [u64; 32],
    /// Clients that were refused for their token, by cause: 0 it is none, 1 of another version or suite, 2 no such
    /// key, 3 the host does not know the time, 4 expired, 5 it lasts too long, 6 forged, 7 for other servers, 8 for
    /// another address, 9 used, 10 no room to remember that it was used.
    pub tokens_refused: [u64; 16],
    /// Datagrams that the system refused to send; of a host on a socket, as the next four.
    pub send_lost: u64,
    /// Attempts to send that found no room.
    pub send_delayed: u64,
    /// Errors that were reported in place of a datagram.
    pub receive_errors: u64,
    /// Answers to strangers that were not sent, so that they take no room of peers.
    pub answers_withheld: u64,
    /// Requests that were refused while more came than the program takes in: see porous_core_backlog.
    pub overloaded: u64,
}

/// How far a packet has come.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct porous_progress {
    /// sizeof(porous_progress).
    pub size: u32,
    /// The length of the packet, in bytes.
    pub len: u32,
    /// Of one that is sent: bytes that have left, or are next to leave. Of one that comes: 0.
    pub sent: u32,
    /// Of one that is sent: bytes that were acknowledged. Of one that comes: bytes that have come.
    pub arrived: u32,
}

const _: () = assert!(size_of::<porous_peer_stats>() == 328);
const _: () = assert!(size_of::<porous_channel_stats>() == 24);
const _: () = assert!(size_of::<porous_host_stats>() == 488);
const _: () = assert!(size_of::<porous_progress>() == 16);
sized!(porous_peer_stats, 328);
sized!(porous_channel_stats, 24);
sized!(porous_host_stats, 480);
sized!(porous_progress, 16);

impl From<ModeCounts> for porous_mode_counts {
    fn from(counts: ModeCounts) -> Self {
        Self {
            unreliable: counts.unreliable,
            reliable: counts.reliable,
            passive: counts.passive,
        }
    }
}

impl From<SendProgress> for porous_progress {
    fn from(known: SendProgress) -> Self {
        Self {
            len: known.len,
            sent: known.sent,
            arrived: known.acknowledged,
            ..zeroed()
        }
    }
}

impl From<ReceiveProgress> for porous_progress {
    fn from(known: ReceiveProgress) -> Self {
        Self {
            len: known.len,
            arrived: known.received,
            ..zeroed()
        }
    }
}

/// The number of a state.
const fn state(state: PeerState) -> u32 {
    match state {
        PeerState::Connecting => POROUS_STATE_CONNECTING,
        PeerState::Connected => POROUS_STATE_CONNECTED,
        PeerState::Disconnecting => POROUS_STATE_DISCONNECTING,
        PeerState::Disconnected => POROUS_STATE_DISCONNECTED,
        PeerState::Zombie => POROUS_STATE_ZOMBIE,
    }
}

/// A length in bytes, all of which are at most 32 bits long.
fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

impl From<&PeerStats> for porous_peer_stats {
    fn from(stats: &PeerStats) -> Self {
        Self {
            max_unfragmented: stats.max_unfragmented.into(),
            path_mtu: stats.path_mtu.into(),
            rtt_us: micros(stats.rtt),
            rtt_variance_us: micros(stats.rtt_variance),
            rtt_minimum_us: micros(stats.rtt_minimum),
            jitter_us: micros(stats.jitter),
            resend_timeout_us: micros(stats.resend_timeout),
            datagrams_sent: stats.datagrams_sent,
            datagrams_received: stats.datagrams_received,
            bytes_sent: stats.bytes_sent,
            bytes_received: stats.bytes_received,
            frames_sent: stats.frames_sent,
            frames_lost: stats.frames_lost,
            frames_spurious: stats.frames_spurious,
            frames_marked: stats.frames_marked,
            frames_received: stats.frames_received,
            frames_missing: stats.frames_missing,
            packets_sent: stats.packets_sent.into(),
            packet_bytes_sent: stats.packet_bytes_sent.into(),
            packets_received: stats.packets_received.into(),
            packet_bytes_received: stats.packet_bytes_received.into(),
            answers_withheld: stats.answers_withheld,
            packets_expired: stats.packets_expired,
            packets_replaced: stats.packets_replaced,
            packets_cancelled: stats.packets_cancelled,
            packets_incomplete: stats.packets_incomplete,
            packets_evicted: stats.packets_evicted,
            flight: stats.flight,
            window: stats.window,
            queued_bytes: stats.queued_bytes,
            send_rate: stats.send_rate,
            receive_rate: stats.receive_rate,
            loss_sent: stats.loss_sent,
            loss_received: stats.loss_received,
            quality: stats.quality,
            ecn: stats.ecn.into(),
            ..zeroed()
        }
    }
}

impl From<&Peer> for porous_peer_stats {
    fn from(peer: &Peer) -> Self {
        Self {
            state: state(peer.state()),
            channels: peer.channels().into(),
            max_packet: length(peer.max_packet()),
            remote_timeout_us: peer.remote_timeout().map_or(u64::MAX, micros),
            ..Self::from(&peer.stats())
        }
    }
}

impl From<&HostStats> for porous_host_stats {
    fn from(stats: &HostStats) -> Self {
        let mut all = Self {
            datagrams_received: stats.datagrams_received,
            bytes_received: stats.bytes_received,
            datagrams_sent: stats.datagrams_sent,
            bytes_sent: stats.bytes_sent,
            accepted: stats.accepted,
            connected: stats.connected,
            source_full: stats.source_full,
            overloaded: stats.overloaded,
            ..zeroed()
        };
        for (number, to) in (0..=u8::MAX).zip(&mut all.ignored) {
            *to = stats.ignored_by_number(number).unwrap_or(0);
        }
        #[cfg(feature = "seal")]
        for &cause in TokenRefusal::ALL {
            if let Some(to) = all.tokens_refused.get_mut(number_of(cause)) {
                *to = stats.tokens_refused(cause);
            }
        }
        all
    }
}

/// The number of a fault, which stays the same. One without a number is not counted here.
#[cfg(feature = "seal")]
const fn number_of(fault: TokenRefusal) -> usize {
    match fault {
        TokenRefusal::Malformed => 0,
        TokenRefusal::Version => 1,
        TokenRefusal::Key => 2,
        TokenRefusal::Time => 3,
        TokenRefusal::Expired => 4,
        TokenRefusal::Lifetime => 5,
        TokenRefusal::Forged => 6,
        TokenRefusal::Audience => 7,
        TokenRefusal::Ip => 8,
        TokenRefusal::Used => 9,
        TokenRefusal::Full => 10,
        _ => usize::MAX,
    }
}

#[cfg(feature = "udp")]
impl porous_host_stats {
    /// Adds what the socket has counted.
    pub(crate) const fn with_socket(mut self, stats: porous_std::SocketStats) -> Self {
        self.send_lost = stats.send_lost;
        self.send_delayed = stats.send_delayed;
        self.receive_errors = stats.receive_errors;
        self.answers_withheld = stats.answers_withheld;
        self
    }
}

/// Tells what is known of a peer. Set stats->size before.
///
/// Errors: POROUS_ERR_UNKNOWN_PEER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_peer_info(
    host: *const porous_host,
    peer: porous_peer,
    stats: *mut porous_peer_stats,
) -> porous_status {
    // SAFETY: a host and a struct with its size, as the header demands.
    unsafe {
        enter(host, |host| {
            write_sized(stats, host.peer(peer)?.into())?;
            Ok(POROUS_OK)
        })
    }
}

/// Tells what is known of a channel to a peer. Set stats->size before.
///
/// Errors: POROUS_ERR_UNKNOWN_PEER, POROUS_ERR_UNKNOWN_CHANNEL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_channel_info(
    host: *const porous_host,
    peer: porous_peer,
    channel: u8,
    stats: *mut porous_channel_stats,
) -> porous_status {
    // SAFETY: a host and a struct with its size, as the header demands.
    unsafe {
        enter(host, |host| {
            let peer = host.peer(peer)?;
            check(channel < peer.channels(), POROUS_ERR_UNKNOWN_CHANNEL)?;
            let known = peer.channel_stats(ChannelId(channel));
            let told = porous_channel_stats {
                waiting: known.waiting,
                queue_time_us: micros(known.queue_time),
                queue_time_longest_us: micros(known.queue_time_longest),
                ..zeroed()
            };
            write_sized(stats, told)?;
            Ok(POROUS_OK)
        })
    }
}

/// Tells what is known of a host. Set stats->size before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_host_info(
    host: *const porous_host,
    stats: *mut porous_host_stats,
) -> porous_status {
    // SAFETY: a host and a struct with its size, as the header demands.
    unsafe {
        enter(host, |host| {
            let told = porous_host_stats::from(&host.level.stats());
            #[cfg(feature = "udp")]
            let told = match host.level.udp() {
                Some(udp) => told.with_socket(udp.socket_stats()),
                None => told,
            };
            write_sized(stats, told)?;
            Ok(POROUS_OK)
        })
    }
}

/// Tells how far the packet with a receipt has come that is sent on a channel. Returns 1; 0 if its fate is known, or
/// there is no such packet. Set progress->size before.
///
/// Errors: POROUS_ERR_UNKNOWN_PEER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_send_progress(
    host: *const porous_host,
    peer: porous_peer,
    channel: u8,
    receipt: u64,
    progress: *mut porous_progress,
) -> porous_status {
    // SAFETY: a host and a struct with its size, as the header demands.
    unsafe {
        enter(host, |host| {
            let known = host.peer(peer)?.send_progress(ChannelId(channel), receipt);
            let told = known.map(porous_progress::from);
            write_sized(progress, told.unwrap_or_else(zeroed))?;
            Ok(told.is_some().into())
        })
    }
}

/// Tells how much of a packet has come that is received in part on a channel. Returns 1; 0 if there is none. Set
/// progress->size before.
///
/// Errors: POROUS_ERR_UNKNOWN_PEER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_receive_progress(
    host: *const porous_host,
    peer: porous_peer,
    channel: u8,
    progress: *mut porous_progress,
) -> porous_status {
    // SAFETY: a host and a struct with its size, as the header demands.
    unsafe {
        enter(host, |host| {
            let known = host.peer(peer)?.receive_progress(ChannelId(channel));
            let told = known.map(porous_progress::from);
            write_sized(progress, told.unwrap_or_else(zeroed))?;
            Ok(told.is_some().into())
        })
    }
}

/// Returns the state of a peer, one of POROUS_STATE_; 0 if the host has no such peer (any more).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_peer_state(
    host: *const porous_host,
    peer: porous_peer,
) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe {
        enter(host, |host| {
            let number = host.peer(peer).map_or(0, |peer| state(peer.state()));
            Ok(porous_status::try_from(number).unwrap_or(0))
        })
    }
}
