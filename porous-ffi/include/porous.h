/* porous: packets over UDP for games and other things that happen now.
 *
 * A host is one socket and all peers behind it. There are two kinds: porous_udp_bind makes one with a UDP socket of
 * its own, porous_core_new one without input and output, whose datagrams and time the program carries. Functions
 * that begin with porous_udp_ or porous_core_ are for one kind, and all others for both.
 *
 * What holds for every function:
 *
 * - It returns 0 (done, or nothing is there), a positive number (one is there, or a count) or a negative
 *   POROUS_ERR_. Beside those that a function lists, each may answer POROUS_ERR_NULL, POROUS_ERR_BUSY,
 *   POROUS_ERR_PANIC, POROUS_ERR_VERSION, POROUS_ERR_KIND and POROUS_ERR_VALUE. After an error nothing has changed,
 *   unless it says so.
 * - A struct that begins with `size` may grow in later versions: set it up by its _init function, or set it to 0 and
 *   its size to sizeof. The library reads and writes no more than that. All other structs never change. Fields that
 *   are called reserved are 0.
 * - A pointer is never NULL, unless it says so, but NULL does no harm: it is answered with POROUS_ERR_NULL. Data of
 *   length 0 may be NULL, and so may buffers and arrays of length 0. Other pointers point to as much memory as the
 *   function needs, and are aligned as their types demand.
 * - The library keeps nothing of a pointer after the call, unless it says so. Texts are UTF-8 and end with a 0.
 * - One thread at a time uses a host; it may be another one later. Different hosts know nothing of each other. A
 *   call into a host that is in a call is answered with POROUS_ERR_BUSY.
 * - Times are microseconds, sizes bytes, rates bytes a second. A name of a peer is never 0.
 * - Without memory the process ends.
 *
 * This file is written from the library's code by `POROUS_BLESS=1 cargo test -p porous-ffi --test header`. */

#ifndef POROUS_H
#define POROUS_H

#include <stddef.h>
#include <stdint.h>

#define POROUS_VERSION_MAJOR 0
#define POROUS_VERSION_MINOR 1
#define POROUS_VERSION_PATCH 0

#if defined(_WIN32) && defined(POROUS_SHARED)
#define POROUS_API __declspec(dllimport)
#else
#define POROUS_API
#endif

/* A library may be built without sockets, without sealing, without the standard library of Rust (and then without
 * sockets), or with memory of the program's own, and then lacks some functions or has more. A program that defines
 * these names sees those of its library. */
#ifndef POROUS_WITHOUT_STD
#define POROUS_WITH_STD
#endif
#if !defined(POROUS_WITHOUT_UDP) && !defined(POROUS_WITHOUT_STD)
#define POROUS_WITH_UDP
#endif
#ifndef POROUS_WITHOUT_SEAL
#define POROUS_WITH_SEAL
#endif
#ifdef POROUS_HOOKS
#define POROUS_WITH_HOOKS
#endif

/** The number of this interface, for porous_check_abi. It changes when a program has to be compiled anew. */
#define POROUS_ABI 1

/** Done; or nothing is there. */
#define POROUS_OK 0

/** A pointer is NULL that must not be. */
#define POROUS_ERR_NULL (-1)
/** The host is in a call: of another thread, or of this one, which has called back. Nothing was done. */
#define POROUS_ERR_BUSY (-2)

/**
 * A bug of porous was caught. The host answers nothing else from now on: free it, and report what
 * porous_on_panic told.
 */
#define POROUS_ERR_PANIC (-3)

/**
 * A struct is smaller than any version of it, or larger than the library knows and not 0 there; or the header
 * is of another version.
 */
#define POROUS_ERR_VERSION (-4)
/** A number that means nothing where it stands, a length that no memory has, or a reserved byte that is not 0. */
#define POROUS_ERR_VALUE (-5)
/** A porous_udp_ function for a host without a socket, or a porous_core_ function for one with a socket. */
#define POROUS_ERR_KIND (-6)
/** The buffer is too small. What was to be put there is kept. */
#define POROUS_ERR_SMALL (-7)
/** A text is not UTF-8. */
#define POROUS_ERR_UTF8 (-8)
/** A text is no address, or a name has none; or an address is of a kind that has no place here. */
#define POROUS_ERR_ADDRESS (-9)

/**
 * The system refused: porous_io_error_text tells more. Of porous_udp_step, porous_udp_transmit and
 * porous_udp_wait: the socket is of no more use, so make a new host.
 */
#define POROUS_ERR_IO (-10)
/** This build of the library cannot do it. */
#define POROUS_ERR_UNSUPPORTED (-11)
/** The library has an error that this version of the interface has no number for. */
#define POROUS_ERR_OTHER (-12)
/** As POROUS_ERR_IO: another program has the port. */
#define POROUS_ERR_IN_USE (-13)
/** As POROUS_ERR_IO: the machine does not have the address. */
#define POROUS_ERR_NOT_AVAILABLE (-14)
/** As POROUS_ERR_IO: the system does not allow it. */
#define POROUS_ERR_NOT_PERMITTED (-15)
/** There is no such peer, or it has ended. A new connection has a new peer. */
#define POROUS_ERR_UNKNOWN_PEER (-20)
/** The peer is not connected yet: wait for POROUS_EVENT_CONNECTED. */
#define POROUS_ERR_NOT_CONNECTED (-21)
/** The peer is being disconnected: send before porous_disconnect. */
#define POROUS_ERR_DISCONNECTING (-22)
/** The connection has fewer channels. */
#define POROUS_ERR_UNKNOWN_CHANNEL (-23)
/** The packet is larger than both hosts agreed on: see max_packet of porous_peer_stats. */
#define POROUS_ERR_TOO_LARGE (-24)
/** The send budget of the peer has no room for the packet: wait for POROUS_EVENT_WRITABLE. */
#define POROUS_ERR_FULL (-25)
/** There is a peer at this address: use it, or disconnect it first. */
#define POROUS_ERR_ALREADY_CONNECTED (-30)
/** No free connection id was found: configure longer ones. */
#define POROUS_ERR_OUT_OF_CONNECTION_IDS (-31)
/** No address was given to connect to. */
#define POROUS_ERR_NO_ADDRESS (-32)
/** More than 8 different addresses were given. */
#define POROUS_ERR_TOO_MANY_ADDRESSES (-33)
/** The peer does not wait for an answer: answer each POROUS_EVENT_REQUEST once. */
#define POROUS_ERR_NOT_ASKED (-34)
/** A greeting has more than 255 bytes or does not fit request_size, a refusal more than 64, a suffix more than 32. */
#define POROUS_ERR_TOO_LONG (-35)
/** The host is configured as a client, or without connection ids: it cannot listen. */
#define POROUS_ERR_CANNOT_LISTEN (-36)
/** The host cannot seal: its configuration names no suite. */
#define POROUS_ERR_NOT_SEALED (-37)
/** This is no public key of a server. */
#define POROUS_ERR_SERVER_KEY (-38)
/** The socket does not speak this family of addresses. */
#define POROUS_ERR_ADDRESS_FAMILY (-40)
/** Nobody can be at port 0. */
#define POROUS_ERR_ADDRESS_PORT_ZERO (-41)
/** [::] and 0.0.0.0 are where a listener is bound, not where it is. */
#define POROUS_ERR_ADDRESS_UNSPECIFIED (-42)
/** A broadcast or multicast address belongs to no single host. */
#define POROUS_ERR_ADDRESS_BROADCAST (-43)
/** The address is the host's own. */
#define POROUS_ERR_ADDRESS_ITSELF (-44)
/** A configuration has more than 255 channels. */
#define POROUS_ERR_CONFIG_CHANNELS (-50)
/** A configuration has a setting for a channel that it does not have. */
#define POROUS_ERR_CONFIG_UNKNOWN_CHANNEL (-51)
/** A size of datagrams is not 512 to 65,507 bytes. */
#define POROUS_ERR_CONFIG_MAX_DATAGRAM (-52)
/** request_size is not 512 to 1200 bytes. */
#define POROUS_ERR_CONFIG_REQUEST_SIZE (-53)
/** A window is no power of two from 16 to 65,536. */
#define POROUS_ERR_CONFIG_WINDOW (-54)
/** receive_budget is not at least 64 bytes more than max_packet. */
#define POROUS_ERR_CONFIG_RECEIVE_BUDGET (-55)
/** A connection id has more than 20 bytes. */
#define POROUS_ERR_CONFIG_CONNECTION_ID_LEN (-56)
/** A limit of replies is more than 1,000,000 a second. */
#define POROUS_ERR_CONFIG_REPLY_LIMIT (-57)
/** A suite is named twice. */
#define POROUS_ERR_CONFIG_SUITES (-58)
/** A value is zero that must not be. */
#define POROUS_ERR_CONFIG_ZERO (-59)
/** The connection ids of this host have no bytes: there is nothing to make. */
#define POROUS_ERR_IDS_NO_BYTES (-60)
/** The connection ids of this host are too short for what they are to tell. */
#define POROUS_ERR_IDS_TOO_SHORT (-61)
/** The bits of a shard are none, or more than 8. */
#define POROUS_ERR_IDS_SHARD_BITS (-62)
/** A shard does not fit its bits. */
#define POROUS_ERR_IDS_SHARD (-63)
/** The number of a QUIC-LB configuration is above 6. */
#define POROUS_ERR_IDS_ROTATION (-64)
/** The QUIC-LB id of a server has no bytes, or more than 15. */
#define POROUS_ERR_IDS_SERVER_ID (-65)
/** A host has 2 key pairs, 4 psks and 4 token keys at most. */
#define POROUS_ERR_SECURITY_TOO_MANY (-70)
/** A suite has no such secret key: generate another one. */
#define POROUS_ERR_SECURITY_WEAK (-71)
/** A token names 4 servers at most. */
#define POROUS_ERR_CLAIMS_AUDIENCES (-72)
/** The user data of a token have more than 255 bytes. */
#define POROUS_ERR_CLAIMS_USER_DATA (-73)
/** A ticket has more than 32 addresses. */
#define POROUS_ERR_TICKET_SERVERS (-74)
/** The text of a ticket is not base64. */
#define POROUS_ERR_TICKET_BASE64 (-75)
/** A ticket was made by a later version. */
#define POROUS_ERR_TICKET_VERSION (-76)
/** This is no ticket, or no token. */
#define POROUS_ERR_TICKET_MALFORMED (-77)
/** The queue to the network thread is full: poll, and try again in the next turn. */
#define POROUS_ERR_THREAD_FULL (-80)
/** The network thread has ended, or was closed: make a new one. */
#define POROUS_ERR_THREAD_ENDED (-81)

/** No address: what zeroed memory is. */
#define POROUS_ADDRESS_NONE 0
/** An address of IPv4: 4 bytes, a port, and scope 0. */
#define POROUS_ADDRESS_IPV4 4
/** An address of IPv6: 16 bytes and a port; a scope where the address is link-local. */
#define POROUS_ADDRESS_IPV6 6
/** An address of the program's own, for hosts without a socket: 0 to 24 bytes that say where the other host is. */
#define POROUS_ADDRESS_OWN 255

/** What we recommend: for servers, and for hosts that do both. */
#define POROUS_PRESET_DEFAULT 0
/** For a host that only connects: connection ids of 2 bytes, and it cannot listen. */
#define POROUS_PRESET_CLIENT 1
/** The paper's rules and windows. */
#define POROUS_PRESET_PAPER 2
/** For a microcontroller: a few dozen kilobytes. */
#define POROUS_PRESET_EMBEDDED 3

/** Our own rules: the paper's, improved. */
#define POROUS_POLICY_MODERN 1
/** The paper's rules, as printed. */
#define POROUS_POLICY_PAPER 2

/** The paper's slow start and congestion avoidance. */
#define POROUS_CONGESTION_PAPER 1
/** Follows the delay of the queue on the path. */
#define POROUS_CONGESTION_LEAN 2
/** Half of the window after a loss, as TCP's NewReno. */
#define POROUS_CONGESTION_RENO 3
/** As TCP's CUBIC. */
#define POROUS_CONGESTION_CUBIC 4
/** Always congestion_rate: for controlled networks only. */
#define POROUS_CONGESTION_FIXED 5
/** congestion_rate in good conditions, congestion_rate_bad in bad ones: for controlled networks only. */
#define POROUS_CONGESTION_BINARY 6

/** The check at the end of a datagram covers its head. */
#define POROUS_INTEGRITY_HEADER 1
/** The check covers all of the datagram, by CRC-32C. */
#define POROUS_INTEGRITY_CRC32C 2

/** ChaCha20-Poly1305, for processors without instructions for AES. */
#define POROUS_SUITE_CHACHA_POLY 1
/** AES-256-GCM, for processors with instructions for it. */
#define POROUS_SUITE_AES_GCM 2

/** A switch of the configuration that is on. */
#define POROUS_ON 1

/** A switch of the configuration that is off. */
#define POROUS_OFF 2

/**
 * For connection_id_len: connection ids of 0 bytes. Such a host knows its peers by their addresses alone, and
 * cannot listen.
 */
#define POROUS_NO_CONNECTION_IDS 255

/** For path_mtu: larger datagrams than max_datagram are not searched for. */
#define POROUS_PATH_MTU_OFF 1

/** Not ECN-capable: bits 00 of the IP header. */
#define POROUS_ECN_NOT_ECT 0
/** ECT(1): bits 01. */
#define POROUS_ECN_ECT1 1
/** ECT(0): bits 10. */
#define POROUS_ECN_ECT0 2
/** Congestion was experienced: bits 11. */
#define POROUS_ECN_CE 3

/** No stranger is answered. */
#define POROUS_LISTEN_CLOSED 0
/** Every host may connect, up to max_peers. */
#define POROUS_LISTEN_OPEN 1
/** As POROUS_LISTEN_OPEN, but the program decides about each peer: see POROUS_EVENT_REQUEST. */
#define POROUS_LISTEN_ASK 2
/** Every stranger is refused as POROUS_REASON_REFUSED_FULL: of a server that is about to stop. */
#define POROUS_LISTEN_FULL 3

/** All bytes look random, as at first. */
#define POROUS_IDS_RANDOM 0
/** Random but for the low bits of the first byte, which tell which of several hosts on one port this is. */
#define POROUS_IDS_SHARDED 1
/** For a balancer that knows the servers by their QUIC-LB ids (draft-ietf-quic-load-balancers-21). */
#define POROUS_IDS_QUIC_LB 2

/** A host wants to connect, and this one asks: see POROUS_LISTEN_ASK. `address` is where it is. */
#define POROUS_EVENT_REQUEST 1
/** The connection is there, and packets can be sent. `address` is where the peer is. */
#define POROUS_EVENT_CONNECTED 2
/** Packets can be received. It comes once until the peer was read empty. */
#define POROUS_EVENT_READABLE 3
/** A send failed with POROUS_ERR_FULL, and there is room again for a packet like that one. */
#define POROUS_EVENT_WRITABLE 4

/**
 * What became of a packet with a receipt: `token`, `outcome`. Where the first word proves wrong, a second one
 * follows.
 */
#define POROUS_EVENT_RECEIPT 5
/** The peer has another address: it was at `from`, and is at `address`. */
#define POROUS_EVENT_MOVED 6
/** The path to the peer carries only datagrams of `datagram_bytes` now. */
#define POROUS_EVENT_PATH_NARROWED 7
/** Nothing is bound to the port of `address`, which this host connects to. The attempt goes on. */
#define POROUS_EVENT_PORT_CLOSED 8

/**
 * The peer has ended, or never came to be: `reason`, `undelivered`. The last event of a peer. Packets that have
 * come can still be received, for 30 s.
 */
#define POROUS_EVENT_DISCONNECTED 9

/** The remote application gets the packet, or has got it. */
#define POROUS_OUTCOME_DELIVERED 1

/**
 * It has come, and the remote application never gets it: a later one of its channel was received first, or it
 * made room for others.
 */
#define POROUS_OUTCOME_SKIPPED 2
/** It is not sent again, and will not arrive as far as this host knows. */
#define POROUS_OUTCOME_LOST 3
/** Its time to live, or unreliable_age_us, was over before it arrived. */
#define POROUS_OUTCOME_EXPIRED 4
/** It was cancelled, or replaced by one with the same key. */
#define POROUS_OUTCOME_CANCELLED 5

/** The remote application disconnected, and gave `code`. */
#define POROUS_REASON_BY_PEER 1
/** This host disconnected with `code`, and the remote host knows. */
#define POROUS_REASON_BY_US 2
/** This host disconnected, and the remote host may not know. */
#define POROUS_REASON_GOODBYE_UNANSWERED 3
/** This host connected, and nothing at all came back; or a peer that was let in has sent nothing. */
#define POROUS_REASON_NEVER_ANSWERED 4

/**
 * This host connected, and the remote host neither accepted nor refused in time; or the program left a
 * POROUS_EVENT_REQUEST without an answer.
 */
#define POROUS_REASON_UNFINISHED 5
/** Nothing valid came for timeout_us: the remote host or the path to it is gone. */
#define POROUS_REASON_SILENT 6
/** The remote host does not have this connection any more: it was started again. Connect again. */
#define POROUS_REASON_LOST_BY_PEER 7
/** The path no longer carries datagrams of 512 bytes. */
#define POROUS_REASON_PATH_TOO_NARROW 8
/** The remote host came back with a new connection, or a client with the same id of its token has another one. */
#define POROUS_REASON_RESTARTED 9
/** The system cannot send to any of the addresses. */
#define POROUS_REASON_UNREACHABLE 10
/** The connection was sealed, and too many datagrams came that were forged. Connect again. */
#define POROUS_REASON_TOO_MANY_FORGERIES 11
/** A bug in porous was caught and contained: please report it. */
#define POROUS_REASON_INTERNAL_ERROR 12
/** The remote host speaks other versions, from `oldest_version` to `newest_version`. */
#define POROUS_REASON_REFUSED_VERSION 20
/** The remote host is of another application, `application_id`. */
#define POROUS_REASON_REFUSED_INCOMPATIBLE 21
/** The remote host has as many peers as it allows, drains, or is overloaded. */
#define POROUS_REASON_REFUSED_FULL 22
/** The remote application does not want the connection, and says `data`; or this one has refused it. */
#define POROUS_REASON_REFUSED_APPLICATION 23
/** One of the two hosts demands a sealed connection, or a proof, and the other has none. */
#define POROUS_REASON_REFUSED_SECURITY 24
/** A reason that this version of the interface has no number for. */
#define POROUS_REASON_OTHER 99

/** Sent once: it may arrive. */
#define POROUS_UNRELIABLE 0

/** Repeated until it arrives, and the channel waits for it. */
#define POROUS_RELIABLE 1

/** Repeated until it arrives, but nobody waits for it. */
#define POROUS_PASSIVE 2

/** For `redundancy`: no copies, whatever gets lost. */
#define POROUS_NO_COPIES 255

/** The handshake is under way. */
#define POROUS_STATE_CONNECTING 1
/** Packets can be sent and received. */
#define POROUS_STATE_CONNECTED 2
/** This host has asked to disconnect. */
#define POROUS_STATE_DISCONNECTING 3
/** The connection is over, and late datagrams are answered. */
#define POROUS_STATE_DISCONNECTED 4
/** The connection is over, and the peer is deleted soon. */
#define POROUS_STATE_ZOMBIE 5

#if defined(POROUS_WITH_UDP)
/** An event: `event`. Never POROUS_EVENT_READABLE. */
#define POROUS_OUTPUT_EVENT 1
#endif

#if defined(POROUS_WITH_UDP)
/** A packet has come: `peer`, `packet`, `what`. */
#define POROUS_OUTPUT_PACKET 2
#endif

#if defined(POROUS_WITH_UDP)
/** An attempt to connect has begun: `peer`, and the first of the addresses in `address`. */
#define POROUS_OUTPUT_CONNECTING 3
#endif

#if defined(POROUS_WITH_UDP)
/** An attempt to connect did not begin: `status`, and the first of the addresses in `address`. */
#define POROUS_OUTPUT_NOT_CONNECTING 4
#endif

#if defined(POROUS_WITH_UDP)
/** The host cannot listen: `status`. */
#define POROUS_OUTPUT_NOT_LISTENING 5
#endif

#if defined(POROUS_WITH_UDP)
/** An answer to POROUS_EVENT_REQUEST came too late, or twice: `peer`, `status`. */
#define POROUS_OUTPUT_NOT_ANSWERED 6
#endif

#if defined(POROUS_WITH_UDP)
/**
 * A packet could not be sent and comes back: `peer`, `packet`, `what`, `status`. Send it again by
 * porous_thread_send_packet, or free it. After POROUS_ERR_FULL nothing is sent to the peer until
 * POROUS_EVENT_WRITABLE, and all packets that were sent after the first come back as well, in their order.
 */
#define POROUS_OUTPUT_UNSENT 7
#endif

#if defined(POROUS_WITH_UDP)
/** The answer to porous_thread_ask_stats: see porous_thread_stats. */
#define POROUS_OUTPUT_STATS 8
#endif

#if defined(POROUS_WITH_UDP)
/**
 * The answer to porous_thread_ask_peer_stats: see porous_thread_peer_stats. `peer`, and `is_known` 1 if the host has
 * the peer.
 */
#define POROUS_OUTPUT_PEER_STATS 9
#endif

#if defined(POROUS_WITH_UDP)
/** The answer to porous_thread_ask_send_progress: `peer`, `what.channel`, `receipt`, `progress` if `is_known` is 1. */
#define POROUS_OUTPUT_SEND_PROGRESS 10
#endif

#if defined(POROUS_WITH_UDP)
/** The answer to porous_thread_ask_receive_progress: `peer`, `what.channel`, `progress` if `is_known` is 1. */
#define POROUS_OUTPUT_RECEIVE_PROGRESS 11
#endif

#if defined(POROUS_WITH_UDP)
/** The thread has ended by itself, and with it all connections: `status`; porous_io_error_text says more. */
#define POROUS_OUTPUT_ENDED 12
#endif

#if defined(POROUS_WITH_UDP)
/** Datagrams to an address have the suffix that they had: `status`, and the address in `address`. */
#define POROUS_OUTPUT_NOT_SUFFIXED 13
#endif

#if defined(POROUS_WITH_UDP)
/** The ids of new connections are made as before: `status`. */
#define POROUS_OUTPUT_IDS_UNCHANGED 14
#endif

/**
 * Bytes to be sent. It belongs to the caller, and may be freed as soon as it was sent: hosts keep the bytes for
 * as long as they need them. Any thread may use it and free it.
 */
typedef struct porous_blob porous_blob;

/**
 * A host: without a socket, or on a UDP socket of its own. One thread at a time uses it; it may be another one
 * later.
 */
typedef struct porous_host porous_host;

/**
 * A packet that was received. It belongs to the caller, and stays when its host is freed. One thread at a time
 * uses it, of which any may free it.
 */
typedef struct porous_packet porous_packet;

#if defined(POROUS_WITH_UDP)
/**
 * A host on a socket in a thread of its own, which answers and acknowledges at once, however long the program's turns
 * are. The functions that begin with porous_thread_ queue commands and never block, but for porous_thread_close and
 * porous_thread_free. What becomes of a command is told by porous_thread_poll. One thread of the program at a time uses
 * it.
 */
typedef struct porous_thread porous_thread;
#endif

#if defined(POROUS_WITH_SEAL)
/**
 * A ticket: a token, its secret, the addresses of servers and their key. It is a secret until it was used. It
 * belongs to the caller, and one thread at a time uses it.
 */
typedef struct porous_ticket porous_ticket;
#endif

/**
 * The answer of a call: 0 if it is done or nothing is there, a positive number if one is there, or a count;
 * a negative POROUS_ERR_ number if nothing was done. The numbers keep their meaning in all versions.
 */
typedef int32_t porous_status;

/**
 * Where a host is. Two addresses are the same if all of their 32 bytes are.
 *
 * An IPv4-mapped address of IPv6 means the IPv4 address, and comes back as such. Of addresses of the program's
 * own, `port` and `scope` have the meaning that they have for those of IP: a peer that moves to another port
 * alone keeps what was measured of its path, and addresses of one scope belong to one owner, for
 * max_peers_per_source, unless it is 0.
 */
typedef struct porous_address {
  /** One of POROUS_ADDRESS_. */
  uint8_t kind;
  /** How many of `bytes` count: 4, 16, or up to 24 of an address of the program's own. */
  uint8_t len;
  /** The port, in the order of bytes of the processor. */
  uint16_t port;
  /** The scope id of an address of IPv6; the owner of an address of the program's own. */
  uint32_t scope;
  /** The address, in the order of bytes of the network; 0 behind `len`. */
  uint8_t bytes[24];
} porous_address;

/** The settings of one channel. All of them 0: an ordered channel of low priority. */
typedef struct porous_channel {
  /** 0 low, for bulk; 1 high: it leaves first. As far as this host sends. */
  uint8_t priority;
  /** 1: packets that this host receives are given as soon as they are complete. 0: in their order. */
  uint8_t unordered;
  /** The share of the channel while others of its priority have something to send; 0 counts as 1. */
  uint8_t weight;
  /** 0. */
  uint8_t reserved;
  /** The most that is sent on the channel to each peer, in bytes a second; 0: no limit. */
  uint32_t rate;
} porous_channel;

/**
 * The configuration of a host. Set it up by porous_config_init, and change what you like. 0 in any field means:
 * as the preset has it.
 */
typedef struct porous_config {
  /** sizeof(porous_config). */
  uint32_t size;
  /** One of POROUS_PRESET_. */
  uint8_t preset;
  /** One of POROUS_POLICY_: the rules where the paper can be improved. Other hosts need not have the same. */
  uint8_t policy;
  /** One of POROUS_CONGESTION_: what decides how many bytes may be in flight; 0: that of the policy. */
  uint8_t congestion;
  /** One of POROUS_INTEGRITY_. A connection has the stricter one of both hosts. */
  uint8_t integrity;
  /** The channels, channel_count of them; NULL: ordered ones of low priority. It is read during the call only. */
  const struct porous_channel *channels;
  /** Names the application and its version: hosts with different ones refuse each other. */
  uint64_t application_id;
  /** The most bytes that received packets of all peers together may take until they are received. */
  uint64_t host_receive_budget;
  /** For how long the host tries to connect, and for how long POROUS_EVENT_REQUEST waits for its answer. */
  uint64_t connect_timeout_us;
  /** The silence after which a connection ends. */
  uint64_t timeout_us;
  /** For how long a goodbye waits for its acknowledgement. */
  uint64_t disconnect_timeout_us;
  /** The silence after which a peer is sent a ping: a quarter of timeout_us, if that is less. */
  uint64_t keepalive_us;
  /** For how long an unreliable packet may wait to be sent; UINT64_MAX: for ever. */
  uint64_t unreliable_age_us;
  /** How many channels there are, 1 to 255. A connection has as many as the host with fewer. */
  uint32_t channel_count;
  /** The most peers that have connected to this host. */
  uint32_t max_peers;
  /** The most of them from one IP address; 0: a quarter of max_peers, and at least 16. */
  uint32_t max_peers_per_source;
  /** The largest packet to send or receive, in bytes. The smaller one of both hosts counts. */
  uint32_t max_packet;
  /**
   * The most bytes that received packets of one peer may take until they are received: at least 64 more than
   * max_packet.
   */
  uint32_t receive_budget;
  /** The most bytes of packets to one peer that may wait to be sent or acknowledged. */
  uint32_t send_budget;
  /** The most frames on their way to a peer: a power of two from 16 to 65,536. */
  uint32_t frame_window;
  /** The most packets of a channel on their way: a power of two from 16 to 65,536. */
  uint32_t packet_window;
  /** The most to send to one peer, in bytes a second; 0: no limit. */
  uint32_t send_rate;
  /** The most to receive from one peer, in bytes a second; 0: no limit. */
  uint32_t receive_rate;
  /** The most to send to all peers together, in bytes a second; 0: no limit. */
  uint32_t host_send_rate;
  /** The most answers a second to one address of a stranger, up to 1,000,000. */
  uint32_t replies_per_address;
  /** The most answers a second to all strangers, up to 1,000,000. */
  uint32_t replies;
  /** In bytes a second, for POROUS_CONGESTION_FIXED and POROUS_CONGESTION_BINARY. */
  uint32_t congestion_rate;
  /** In bytes a second, for POROUS_CONGESTION_BINARY. */
  uint32_t congestion_rate_bad;
  /** The longest datagram to send or receive, 512 to 65,507 bytes. */
  uint16_t max_datagram;
  /** The length of a connection request, 512 to 1200 bytes: less only for carriers of shorter datagrams. */
  uint16_t request_size;
  /**
   * Up to how many bytes longer datagrams are searched for, 512 to 65,507; 0: up to 1452 where the system
   * allows a search, and not at all without a socket; POROUS_PATH_MTU_OFF: not at all.
   */
  uint16_t path_mtu;
  /** The bytes of connection ids, 1 to 20, or POROUS_NO_CONNECTION_IDS. */
  uint8_t connection_id_len;
  /** POROUS_ON or POROUS_OFF: routers may mark datagrams instead of dropping them. */
  uint8_t ecn;
  /** POROUS_ON: peers are followed to other addresses. POROUS_OFF: they are not. 0: sealed ones are. */
  uint8_t roaming;
  /** The suites to seal with, the best first, each one of POROUS_SUITE_; all 0: the host does not seal. */
  uint8_t suites[4];
  /** 0. */
  uint8_t reserved[7];
} porous_config;

/** A datagram to be sent. This struct never changes. */
typedef struct porous_transmit {
  /** Where it goes. */
  struct porous_address to;
  /** Its bytes in the buffer. */
  uint64_t len;
  /** One of POROUS_ECN_, for its IP header: the two bits as they stand there. */
  uint8_t ecn;
  /** 1 if it must arrive whole or not at all: DF in the IP header. */
  uint8_t dont_fragment;
  /** 1 if it answers a sender that is no peer, whose address may be forged: let it wait for no room. */
  uint8_t to_stranger;
  /** 0. */
  uint8_t reserved[5];
} porous_transmit;

/** Names a peer of a host. Never 0, and not given to another peer before 4 billion others had its place. */
typedef uint64_t porous_peer;

/**
 * How a host makes the connection ids that remote hosts put in front of their datagrams to it, for what routes the
 * datagrams by them. All of them have the length connection_id_len of the configuration. Ids that a function of the
 * program's makes are not offered in C.
 */
typedef struct porous_connection_ids {
  /** sizeof(porous_connection_ids). */
  uint32_t size;
  /** One of POROUS_IDS_. What belongs to another kind is not looked at. */
  uint8_t kind;
  /** Of POROUS_IDS_SHARDED: the number of this host, from 0 on. */
  uint8_t shard;
  /** Of POROUS_IDS_SHARDED: the bits that tell the shard, 1 to 8. Ids have at least 2 bytes. */
  uint8_t bits;
  /** Of POROUS_IDS_QUIC_LB: the number of the balancer's configuration, 0 to 6. */
  uint8_t rotation;
  /** Of POROUS_IDS_QUIC_LB: by which id the balancer knows this server. */
  uint8_t server_id[15];
  /**
   * The length of `server_id`, 1 to 15. Ids have at least 5 bytes more. Give them 9 more, so that strangers do not
   * guess them.
   */
  uint8_t server_id_len;
  /** Of POROUS_IDS_QUIC_LB: the balancer's key, by which ids are encrypted. */
  uint8_t key[16];
  /** 1: `key` counts; 0: everybody sees which server a datagram is for. */
  uint8_t has_key;
  /** 0. */
  uint8_t reserved[7];
} porous_connection_ids;

/** What happened at a peer. A field that does not belong to the type of the event is 0. */
typedef struct porous_event {
  /** sizeof(porous_event). */
  uint32_t size;
  /** One of POROUS_EVENT_. Skip those that you do not know. */
  uint32_t type;
  /** The peer. */
  porous_peer peer;
  /** Where the peer is, for events with an address. */
  struct porous_address address;
  /** Where the peer was, of POROUS_EVENT_MOVED. */
  struct porous_address from;
  /** The receipt of the packet. */
  uint64_t token;
  /** The application of the host that refused as POROUS_REASON_REFUSED_INCOMPATIBLE. */
  uint64_t application_id;
  /** One of POROUS_OUTCOME_. */
  uint32_t outcome;
  /** One of POROUS_REASON_. Treat those that you do not know as an end like any other. */
  uint32_t reason;
  /** What the application gave that disconnected. */
  uint32_t code;
  /** The number of reliable and passive packets that were sent, and not acknowledged. */
  uint32_t undelivered;
  /** The oldest version that the host speaks that refused as POROUS_REASON_REFUSED_VERSION. */
  uint32_t oldest_version;
  /** The newest version that it speaks. */
  uint32_t newest_version;
  /** The longest datagram to the peer now, of POROUS_EVENT_PATH_NARROWED. */
  uint32_t datagram_bytes;
  /** The bytes of `data` that count. */
  uint32_t data_len;
  /** What the application said that refused. */
  uint8_t data[64];
} porous_event;

/** How a packet is sent. Set it up by porous_send_options_init. */
typedef struct porous_send_options {
  /** sizeof(porous_send_options). */
  uint32_t size;
  /** POROUS_UNRELIABLE, POROUS_RELIABLE or POROUS_PASSIVE. */
  uint8_t mode;
  /** Copies of the packet in later datagrams: 1 to 3, or POROUS_NO_COPIES; 0: as the host finds it useful. */
  uint8_t redundancy;
  /** 1: `receipt` counts. */
  uint8_t has_receipt;
  /** 1: `key` counts. */
  uint8_t has_key;
  /** The age at which the packet is of no more use; 0: none. */
  uint64_t ttl_us;
  /** POROUS_EVENT_RECEIPT with this token tells what became of the packet. */
  uint64_t receipt;
  /** Only the newest packet of a channel with this key is of use: it replaces the others. */
  uint64_t key;
} porous_send_options;

/** A packet that was received. This struct never changes. */
typedef struct porous_received {
  /** The channel that it was sent on. */
  uint8_t channel;
  /** POROUS_UNRELIABLE, POROUS_RELIABLE or POROUS_PASSIVE, as it was sent. */
  uint8_t mode;
  /** 0. */
  uint8_t reserved[6];
  /** Its length in bytes. */
  uint64_t len;
} porous_received;

/**
 * Called when the bytes of a blob are needed no more, with the pointer that porous_blob_wrap was given: by
 * whichever thread is the last to use them, perhaps within a call of the library, into which it must not call.
 */
typedef void (*porous_release)(void *user);

/** Counts by the mode of packets: of packets, or of the bytes in them. */
typedef struct porous_mode_counts {
  /** Of unreliable packets. */
  uint64_t unreliable;
  /** Of reliable packets. */
  uint64_t reliable;
  /** Of passive packets. */
  uint64_t passive;
} porous_mode_counts;

/** What is known of the connection to a peer. Counts only grow, unless it is said. */
typedef struct porous_peer_stats {
  /** sizeof(porous_peer_stats). */
  uint32_t size;
  /** One of POROUS_STATE_. */
  uint32_t state;
  /** The number of channels of the connection, 0 while connecting. */
  uint32_t channels;
  /** The largest packet that both hosts agreed on, in bytes; 0 while connecting. */
  uint32_t max_packet;
  /** The largest packet that leaves in one datagram now, in bytes; 0 while connecting. */
  uint32_t max_unfragmented;
  /** The largest datagram that is sent now, in bytes; 0 while connecting. */
  uint32_t path_mtu;
  /** The timeout of the remote host; UINT64_MAX if it is not known. */
  uint64_t remote_timeout_us;
  /** The smoothed round-trip time, 200 ms until it was measured. */
  uint64_t rtt_us;
  /** How far round trips are from the smoothed one. */
  uint64_t rtt_variance_us;
  /** The shortest round trip of the last 5 to 10 s; 0 before the first. */
  uint64_t rtt_minimum_us;
  /** How much a round trip differs from the one before, smoothed. */
  uint64_t jitter_us;
  /** After what time without an acknowledgement is sent again. */
  uint64_t resend_timeout_us;
  /** Datagrams sent. */
  uint64_t datagrams_sent;
  /** Datagrams received and taken. */
  uint64_t datagrams_received;
  /** Bytes in the datagrams sent. */
  uint64_t bytes_sent;
  /** Bytes in the datagrams received. */
  uint64_t bytes_received;
  /**
   * Frames with data: packets, or parts of them. Frames with nothing but what hosts tell each other are in none of
   * these counts.
   */
  uint64_t frames_sent;
  /** Of those, the ones that were taken for lost. */
  uint64_t frames_lost;
  /** Of those, the ones that were acknowledged all the same. */
  uint64_t frames_spurious;
  /** Of the frames sent, the ones that routers have marked instead of dropping them. */
  uint64_t frames_marked;
  /** Frames of the remote host, without duplicates. */
  uint64_t frames_received;
  /** Frames of the remote host that did not come. Fewer when one comes late. */
  uint64_t frames_missing;
  /** Packets that were sent. */
  struct porous_mode_counts packets_sent;
  /** Bytes in them. */
  struct porous_mode_counts packet_bytes_sent;
  /** Packets that the program has received. */
  struct porous_mode_counts packets_received;
  /** Bytes in them. */
  struct porous_mode_counts packet_bytes_received;
  /** Pings and path challenges that came so soon after an answer that they got none. */
  uint64_t answers_withheld;
  /** Packets that were not sent, or not again, as their time was over. */
  uint64_t packets_expired;
  /** Packets that were not sent, or not again, as a newer one with the same key took their place. */
  uint64_t packets_replaced;
  /** Packets that were not sent, or not again, as they were cancelled. */
  uint64_t packets_cancelled;
  /** Unreliable packets that came in part and were given up. */
  uint64_t packets_incomplete;
  /** Unreliable packets that had come, and made room for others. */
  uint64_t packets_evicted;
  /** Bytes sent that are neither acknowledged nor taken for lost. */
  uint32_t flight;
  /** The congestion window, in bytes. */
  uint32_t window;
  /** Bytes of packets that wait to be sent or acknowledged, 64 more for each packet. */
  uint32_t queued_bytes;
  /** Bytes a second in the datagrams sent, over the last second or so. */
  uint32_t send_rate;
  /** Bytes a second in the datagrams received, over the same time. */
  uint32_t receive_rate;
  /** The share of our frames that was lost in the last 5 to 10 s, 0 to 10,000. */
  uint16_t loss_sent;
  /** The share of the remote host's frames that was lost, 0 to 10,000. */
  uint16_t loss_received;
  /** How good the connection is, 0 to 100; 0 while there is none. */
  uint8_t quality;
  /** 1 if data is sent as ECN-capable now. */
  uint8_t ecn;
  /** 0. */
  uint8_t reserved[6];
} porous_peer_stats;

/** What is known of a channel to a peer, as far as it is sent on. */
typedef struct porous_channel_stats {
  /** sizeof(porous_channel_stats). */
  uint32_t size;
  /** Packets of which nothing was sent yet. */
  uint32_t waiting;
  /** How long a packet waits before its first byte is sent, smoothed. */
  uint64_t queue_time_us;
  /** The longest such time of the last 2.5 to 5 s. */
  uint64_t queue_time_longest_us;
} porous_channel_stats;

/** What is known of a host, over all its peers. */
typedef struct porous_host_stats {
  /** sizeof(porous_host_stats). */
  uint32_t size;
  /** 0. */
  uint32_t reserved;
  /** Datagrams that have come. */
  uint64_t datagrams_received;
  /** Bytes in them. */
  uint64_t bytes_received;
  /** Datagrams sent. */
  uint64_t datagrams_sent;
  /** Bytes in them. */
  uint64_t bytes_sent;
  /** Connections accepted from others, established or not. */
  uint64_t accepted;
  /** Connections established. */
  uint64_t connected;
  /** Requests that were refused because of max_peers_per_source. */
  uint64_t source_full;
  /**
   * Datagrams that were ignored, by cause: ignored[n] for the cause with the number n, as porous_core_input
   * returns it. 1 no datagram of the protocol, 2 of an unknown connection, 3 from a wrong address, 4 with an
   * unknown nonce, 5 the host does not listen, 6 too short a request, 7 answered without keeping state, 8 too
   * many answers, 9 came before, 10 too old, 11 a wrong acknowledgement, 12 a wrong message, 13 over the budget,
   * 14 of no use in this state, 15 too far ahead, 16 too much work, 17 not sealed by the remote host.
   */
  uint64_t ignored[32];
  /**
   * Clients that were refused for their token, by cause: 0 it is none, 1 of another version or suite, 2 no such
   * key, 3 the host does not know the time, 4 expired, 5 it lasts too long, 6 forged, 7 for other servers, 8 for
   * another address, 9 used, 10 no room to remember that it was used.
   */
  uint64_t tokens_refused[16];
  /** Datagrams that the system refused to send; of a host on a socket, as the next four. */
  uint64_t send_lost;
  /** Attempts to send that found no room. */
  uint64_t send_delayed;
  /** Errors that were reported in place of a datagram. */
  uint64_t receive_errors;
  /** Answers to strangers that were not sent, so that they take no room of peers. */
  uint64_t answers_withheld;
  /** Requests that were refused while more came than the program takes in: see porous_core_backlog. */
  uint64_t overloaded;
} porous_host_stats;

/** How far a packet has come. */
typedef struct porous_progress {
  /** sizeof(porous_progress). */
  uint32_t size;
  /** The length of the packet, in bytes. */
  uint32_t len;
  /** Of one that is sent: bytes that have left, or are next to leave. Of one that comes: 0. */
  uint32_t sent;
  /** Of one that is sent: bytes that were acknowledged. Of one that comes: bytes that have come. */
  uint32_t arrived;
} porous_progress;

#if defined(POROUS_WITH_SEAL)
/** A secret of 32 bytes, and the number by which others name it. This struct never changes. */
typedef struct porous_key {
  /** The number: of a token key 0 to 255. */
  uint32_t number;
  /** The secret. */
  uint8_t bytes[32];
} porous_key;
#endif

#if defined(POROUS_WITH_SEAL)
/** How a host seals. All of it 0: it has no keys, lets in every client that seals, and none that does not. */
typedef struct porous_security {
  /** sizeof(porous_security). */
  uint32_t size;
  /** 1: hosts are let in as well that ask for a plain connection. */
  uint8_t allow_plain;
  /** 1: clients are refused that prove nothing by a psk or a token. */
  uint8_t require_proof;
  /** 1: a client, by the id in its token, may have several connections. 0: a new one takes the place of the old. */
  uint8_t many_per_client;
  /** 1: `server_id` counts. */
  uint8_t has_server_id;
  /** The secret keys that prove to clients that this is the server: identity_count times 32 bytes, 2 at most. */
  const uint8_t *identities;
  /** Secrets of clients that are let in: psk_count of them, 4 at most. */
  const struct porous_key *psks;
  /** Keys of the backends whose tokens are taken: token_key_count of them, 4 at most. */
  const struct porous_key *token_keys;
  /** Tokens are taken that name this server, and those that name none. */
  uint64_t server_id;
  /** Tokens are refused that expire later than this from now; 0: an hour. */
  uint64_t max_token_lifetime_us;
  /** After how many frames a connection goes on to the next key; 0: as many as is safe. */
  uint64_t rekey_frames;
  /** After what time it does so; 0: an hour. */
  uint64_t rekey_time_us;
  /** How many used tokens are remembered; 0: 16,384. */
  uint32_t used_tokens;
  /** The number of `identities`. */
  uint32_t identity_count;
  /** The number of `psks`. */
  uint32_t psk_count;
  /** The number of `token_keys`. */
  uint32_t token_key_count;
} porous_security;
#endif

#if defined(POROUS_WITH_SEAL)
/**
 * What a client brings to a sealed connection. All of it 0: it proves nothing and checks nothing. It is read during
 * the call only.
 */
typedef struct porous_credentials {
  /** sizeof(porous_credentials). */
  uint32_t size;
  /** The number by which the server knows `psk`, if there is no token. */
  uint32_t psk_number;
  /**
   * The ticket of a backend: its token, its secret and its key of the server. NULL: none. With a ticket `psk` and
   * `token` are NULL.
   */
  const struct porous_ticket *ticket;
  /** The public key of the server, server_key_len bytes: only that server can answer. NULL: that of the ticket. */
  const uint8_t *server_key;
  /** A secret of 32 bytes that the server has as well. NULL: none. */
  const uint8_t *psk;
  /** A token, token_len bytes, whose secret is `psk`. NULL: none. */
  const void *token;
  /** What the application of the server reads by porous_peer_greeting, greeting_len bytes, 255 at most. */
  const void *greeting;
  /** The length of `server_key`: 32. */
  uint32_t server_key_len;
  /** The length of `token`. */
  uint32_t token_len;
  /** The length of `greeting`. */
  uint32_t greeting_len;
  /** 0. */
  uint32_t reserved;
} porous_credentials;
#endif

#if defined(POROUS_WITH_SEAL)
/** What is proved of a sealed connection. */
typedef struct porous_secured {
  /** sizeof(porous_secured). */
  uint32_t size;
  /** One of POROUS_SUITE_. */
  uint8_t suite;
  /** 1: both hosts have the psk with the number `psk_number`. */
  uint8_t has_psk;
  /** 1: the client was let in by a token, with `client_id` and `user_data`. 0 at the client itself. */
  uint8_t has_client_id;
  /** The bytes of `server_key`; 0 if the client did not name a key. */
  uint8_t server_key_len;
  /** The client, as the backend names it. */
  uint64_t client_id;
  /** The number of the psk. */
  uint32_t psk_number;
  /** The bytes of `user_data`. */
  uint32_t user_data_len;
  /** Names this connection, and is no secret: both hosts have the same, and no other connection has it. */
  uint8_t binding[32];
  /** The key that the server has proved to have the secret of. */
  uint8_t server_key[65];
  /** What the backend has written into the token. */
  uint8_t user_data[255];
} porous_secured;
#endif

#if (defined(POROUS_WITH_SEAL) && defined(POROUS_WITH_STD))
/** What a backend says of a client in a token, and a game server believes. */
typedef struct porous_claims {
  /** sizeof(porous_claims). */
  uint32_t size;
  /** The number by which servers know the token key. */
  uint8_t key_number;
  /** One of POROUS_SUITE_, which seals the token; 0: POROUS_SUITE_CHACHA_POLY. */
  uint8_t suite;
  /** 1: a server takes the token once. */
  uint8_t single_use;
  /** The number of `audiences`, 0 to 4; 0: every server that has the key takes the token. */
  uint8_t audience_count;
  /** The application_id of the servers. */
  uint64_t application_id;
  /** The client. */
  uint64_t client_id;
  /** When the token was made, in seconds since 1970 in UTC. */
  uint64_t created;
  /** When it expires, in seconds since 1970 in UTC. */
  uint64_t expires;
  /** The servers that take the token, by their server_id. */
  uint64_t audiences[4];
  /** The token counts only from this address of IP, whatever the port. Kind 0: from everywhere. */
  struct porous_address ip;
  /** What the application of the server reads, user_data_len bytes, 255 at most. It is read during the call only. */
  const void *user_data;
  /** The length of `user_data`. */
  uint32_t user_data_len;
  /** 0. */
  uint32_t reserved;
} porous_claims;
#endif

/**
 * Called with the text of a caught bug, which is not ended by a 0, and has at most 1024 bytes.
 *
 * `user` is what porous_on_panic was given. `text` is gone after the call. It may be called by any thread, in
 * the middle of a call of the library: it must not unwind, and a call into the same host answers
 * POROUS_ERR_BUSY.
 */
typedef void (*porous_told)(void *user, const char *text, size_t len);

#if defined(POROUS_WITH_HOOKS)
/**
 * Gives memory of `size` bytes whose address is a multiple of `align`, a power of two, or NULL. Any thread may call
 * it, several at once.
 */
typedef void *(*porous_alloc)(void *user, size_t size, size_t align);
#endif

#if defined(POROUS_WITH_HOOKS)
/** Takes memory back that was given with this size and alignment. Any thread may call it, several at once. */
typedef void (*porous_dealloc)(void *user, void *memory, size_t size, size_t align);
#endif

#if defined(POROUS_WITH_UDP)
/** What a network thread tells. A field that does not belong to the type is 0. */
typedef struct porous_output {
  /** sizeof(porous_output). */
  uint32_t size;
  /** One of POROUS_OUTPUT_. Skip those that you do not know. */
  uint32_t type;
  /** The peer. */
  porous_peer peer;
  /** The packet, which belongs to the program from now on: free it by porous_packet_free. */
  struct porous_packet *packet;
  /** The channel, mode and length of the packet. */
  struct porous_received what;
  /** The receipt that was asked for. */
  uint64_t receipt;
  /** How far the packet has come. */
  struct porous_progress progress;
  /** An address that was given. */
  struct porous_address address;
  /** Why something was not done: a POROUS_ERR_. */
  porous_status status;
  /** 1 if there is what was asked for. */
  uint32_t is_known;
  /** The event. */
  struct porous_event event;
} porous_output;
#endif

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/** The version of the library: major * 65536 + minor * 256 + patch. */
POROUS_API uint32_t porous_version(void);

/**
 * Compares the header with the library: give POROUS_ABI. A program calls this first.
 *
 * Errors: POROUS_ERR_VERSION if the two do not fit, so that nothing else may be called.
 */
POROUS_API porous_status porous_check_abi(uint32_t abi);

/** What a status means and what to do, in English: a text that lives for ever. Never NULL. */
POROUS_API const char *porous_status_text(porous_status status);

/**
 * Reads an address with its port, as "192.0.2.1:4000" or "[2001:db8::1]:4000", with a scope as
 * "[fe80::1%3]:4000". It asks nobody: names are for porous_resolve.
 *
 * Errors: POROUS_ERR_ADDRESS, POROUS_ERR_UTF8.
 */
POROUS_API porous_status porous_address_parse(const char *address, struct porous_address *out);

/**
 * Writes an address of IP as text, with a 0 at its end, as porous_address_parse reads it. 64 bytes are always
 * enough. Returns the length of the text.
 *
 * Errors: POROUS_ERR_SMALL; POROUS_ERR_ADDRESS for an address of another kind.
 */
POROUS_API porous_status porous_address_format(const struct porous_address *address, char *text, size_t cap);

#if defined(POROUS_WITH_UDP)
/**
 * Asks the system for the addresses of a name with a port, as "example.org:4000". Blocks until there is an
 * answer, which can take many seconds. Writes at most `cap` addresses, and returns how many there are.
 *
 * Errors: POROUS_ERR_ADDRESS if the name has no address, or there is no port; POROUS_ERR_UTF8.
 */
POROUS_API porous_status porous_resolve(const char *name, struct porous_address *out, size_t cap);
#endif

/**
 * Sets a configuration up with the values of a preset, one of POROUS_PRESET_. `size` is
 * sizeof(porous_config).
 *
 * Errors: POROUS_ERR_VALUE for an unknown preset.
 */
POROUS_API porous_status porous_config_init(struct porous_config *config, size_t size, uint32_t preset);

/**
 * Says whether hosts can be made with a configuration, and which rule it breaks.
 *
 * Errors: POROUS_ERR_CONFIG_ and POROUS_ERR_VALUE; POROUS_ERR_UNSUPPORTED for suites, in a library that does not
 * seal.
 */
POROUS_API
porous_status porous_config_check(const struct porous_config *config);

/**
 * Frees a host. NULL is fine. A host on a socket tells each peer once that the connection ends, and does not
 * wait: porous_udp_close does. Packets and blobs stay. What a bug has broken is not freed.
 *
 * Errors: POROUS_ERR_BUSY, and nothing is freed, from a callback.
 */
POROUS_API porous_status porous_host_free(struct porous_host *host);

/**
 * Makes a host without a socket. Its time begins at 0.
 *
 * `seed` are 32 bytes of the system's secure generator, of which all keys of the host are made: nobody may know
 * them, and no two hosts may have the same. In a test they are what makes a run repeatable.
 *
 * Errors: those of porous_config_check; POROUS_ERR_VALUE if the seed is all 0, as a forgotten one is.
 */
POROUS_API
porous_status porous_core_new(const struct porous_config *config,
                              const uint8_t *seed,
                              struct porous_host **out);

/**
 * Says what time it is: `now` in microseconds, from any moment on. What follows happens at this time, so call it
 * at the begin of each turn. A time that runs backwards, or leaps, does no harm.
 */
POROUS_API
porous_status porous_core_time(struct porous_host *host,
                               uint64_t now);

/**
 * Takes in a datagram that has come. `ecn` is one of POROUS_ECN_, the two bits of its IP header, or 0 if they are
 * not known. `data` may be any bytes of any length.
 *
 * Returns 0 if a peer has taken it; otherwise why it was ignored, 1 to 17: see `ignored` of porous_host_stats.
 * Being ignored is no error of the program's.
 *
 * Errors: POROUS_ERR_ADDRESS, POROUS_ERR_VALUE.
 */
POROUS_API
porous_status porous_core_input(struct porous_host *host,
                                const struct porous_address *from,
                                uint32_t ecn,
                                const void *data,
                                size_t len);

/**
 * Writes the next datagram to be sent into `buffer`. Call it until it returns 0, after all input, commands and
 * porous_core_timeout.
 *
 * Returns 1 if there was one.
 *
 * Errors: POROUS_ERR_SMALL if `cap` is less than porous_core_buffer_size.
 */
POROUS_API
porous_status porous_core_output(struct porous_host *host,
                                 struct porous_transmit *transmit,
                                 void *buffer,
                                 size_t cap);

/**
 * Does what is due at the time of the host. Call it when porous_core_deadline says so, or in each turn, after the
 * datagrams that have come were taken in.
 */
POROUS_API
porous_status porous_core_timeout(struct porous_host *host);

/**
 * Tells the host whether the turn that began at its time has left datagrams behind that had come, for want of time:
 * `waits` is 1, or 0 if all were taken in. Call it at the end of each turn. If each turn of a second leaves some, the
 * host refuses those that want to connect as POROUS_REASON_REFUSED_FULL until a turn leaves none, and `overloaded` of
 * porous_host_stats counts them. Hosts on sockets know it by themselves.
 */
POROUS_API
porous_status porous_core_backlog(struct porous_host *host,
                                  uint32_t waits);

/**
 * Tells when porous_core_timeout is to be called next, in microseconds; UINT64_MAX if nothing is due by itself.
 * A time in the past means that datagrams wait to be sent.
 */
POROUS_API
porous_status porous_core_deadline(const struct porous_host *host,
                                   uint64_t *at);

/**
 * Tells how many bytes the buffer of porous_core_output needs, and one to receive datagrams into, which needs at
 * least 1200 as well.
 */
POROUS_API
porous_status porous_core_buffer_size(const struct porous_host *host,
                                      uint64_t *bytes);

/**
 * Tells the host that the system cannot send to an address: an attempt to connect tries it no more.
 *
 * Errors: POROUS_ERR_ADDRESS.
 */
POROUS_API porous_status porous_core_unreachable(struct porous_host *host, const struct porous_address *to);

/**
 * Tells the host that nothing is bound to the port of an address, as ICMP says; NULL if the system does not say
 * which address. An attempt to connect goes on, and POROUS_EVENT_PORT_CLOSED tells of it.
 *
 * Errors: POROUS_ERR_ADDRESS.
 */
POROUS_API
porous_status porous_core_port_closed(struct porous_host *host,
                                      const struct porous_address *at);

#if defined(POROUS_WITH_SEAL)
/**
 * Tells the host the time of day, by which it sees whether tokens have expired: `seconds` since 1970 in UTC. Tell
 * it once, and again now and then. Hosts on sockets know it by themselves.
 */
POROUS_API
porous_status porous_core_unix_time(struct porous_host *host,
                                    uint64_t seconds);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Makes a host on a new UDP socket. `address` is as "0.0.0.0:4000" or "[::]:4000", for all addresses of the
 * machine; with port 0 the system chooses one. A client binds to "[::]:0", or to "0.0.0.0:0" where there is no
 * IPv6. A name is looked up.
 *
 * Errors: those of porous_config_check; POROUS_ERR_ADDRESS, POROUS_ERR_UTF8; POROUS_ERR_IN_USE,
 * POROUS_ERR_NOT_AVAILABLE, POROUS_ERR_NOT_PERMITTED, POROUS_ERR_IO.
 */
POROUS_API
porous_status porous_udp_bind(const struct porous_config *config,
                              const char *address,
                              struct porous_host **out);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Makes `count` hosts on one port, each for a thread of its own: shards of one server, for more peers than one thread
 * can serve. `count` is a power of two from 1 to 128, and `out` has as many places. Each peer is one host's for good,
 * that to which its handshake came, and the hosts know nothing of each other. They make connection ids as
 * POROUS_IDS_SHARDED, in the order of `out`, by which the system finds the host of each datagram. The configuration is
 * that of each host, but for the answers to strangers, which they divide. Give each the same keys, if they seal.
 *
 * Free all of them or none: while one is missing, the system brings datagrams to the wrong host. Only Linux can do
 * this.
 *
 * Errors: those of porous_udp_bind; POROUS_ERR_UNSUPPORTED of other systems, and where this one does not allow it;
 * POROUS_ERR_VALUE for another count; POROUS_ERR_IDS_NO_BYTES and POROUS_ERR_IDS_TOO_SHORT. Then there is none of the
 * hosts, and nothing is written to `out`.
 */
POROUS_API
porous_status porous_udp_bind_shards(const struct porous_config *config,
                                     const char *address,
                                     uint32_t count,
                                     struct porous_host **out);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Makes a host on a socket of the program's: a file descriptor, or a SOCKET on Windows. It must be a UDP socket
 * that is bound and not connected. The host owns it from now on, also if this fails, unless the configuration is
 * wrong or a pointer is NULL.
 *
 * Errors: those of porous_config_check; POROUS_ERR_VALUE for a negative number; POROUS_ERR_IO.
 */
POROUS_API
porous_status porous_udp_adopt(const struct porous_config *config,
                               ptrdiff_t socket,
                               struct porous_host **out);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Takes in the datagrams that have come, does what is due, and sends what is to be sent. Never blocks. A game
 * calls it once in each turn.
 *
 * Errors: POROUS_ERR_IO if the socket is of no more use.
 */
POROUS_API porous_status porous_udp_step(struct porous_host *host);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Does what is due and sends what is to be sent, and takes nothing in: for the end of a turn that began with
 * porous_udp_step or porous_udp_wait. Never blocks.
 *
 * Errors: POROUS_ERR_IO if the socket is of no more use.
 */
POROUS_API porous_status porous_udp_transmit(struct porous_host *host);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Sends what waits, and sleeps until a datagram comes, something is due, or `at_most_us` is over. Then does what
 * porous_udp_step does. It may return early, and does not look at events that wait to be polled.
 *
 * Errors: POROUS_ERR_IO if the socket is of no more use.
 */
POROUS_API
porous_status porous_udp_wait(struct porous_host *host,
                              uint64_t at_most_us);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Ends all connections, and waits until all peers know: mostly for a round trip, and at most for
 * disconnect_timeout_us behind `flush_at_most_us`. `code` is for the applications of the peers. With
 * `flush_at_most_us` 0 packets that wait are lost. Events and packets that come meanwhile are dropped, and nobody
 * is let in. Free the host afterwards.
 *
 * Errors: POROUS_ERR_IO if the socket is of no more use.
 */
POROUS_API
porous_status porous_udp_close(struct porous_host *host,
                               uint32_t code,
                               uint64_t flush_at_most_us);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Tells the address that the socket is bound to.
 *
 * Errors: POROUS_ERR_IO.
 */
POROUS_API porous_status porous_udp_address(const struct porous_host *host, struct porous_address *out);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Tells the file descriptor of the socket, or its SOCKET on Windows: to be watched by an event loop, and not to
 * be read, written or closed.
 */
POROUS_API
porous_status porous_udp_socket(const struct porous_host *host,
                                ptrdiff_t *out);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Tells in how many microseconds porous_udp_step is to be called, if no datagram comes before: 0 for now,
 * UINT64_MAX for never. For programs with an event loop of their own.
 */
POROUS_API porous_status porous_udp_deadline(const struct porous_host *host, uint64_t *from_now_us);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Returns 1 if the socket had no room for datagrams, so that an event loop waits for it to become writable as
 * well; 0 otherwise.
 */
POROUS_API porous_status porous_udp_is_blocked(const struct porous_host *host);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Puts a suffix of up to 32 bytes behind the end of each datagram to an address, those of the handshake included: a
 * token by which a proxy at the address, such as Quilkin, knows the server that the datagram is for. The proxy has to
 * remove it. Without bytes there is no suffix, as at first. Set it before you connect, each time with another token.
 *
 * Sizes of datagrams count what is sent, with the suffix: those of a connection through the proxy are shorter by its
 * length, in both directions, but not below 512 bytes. Requests alone get longer. Rates and statistics do not count
 * suffixes.
 *
 * Errors: POROUS_ERR_TOO_LONG; POROUS_ERR_ALREADY_CONNECTED while there is a peer at the address; POROUS_ERR_ADDRESS.
 */
POROUS_API
porous_status porous_udp_set_suffix(struct porous_host *host,
                                    const struct porous_address *to,
                                    const void *suffix,
                                    size_t len);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Sets how long one porous_udp_step takes datagrams in at most, and sends them: 8 ms unless this is called. The
 * rest waits for the next one.
 */
POROUS_API
porous_status porous_udp_set_time_limit(struct porous_host *host,
                                        uint64_t limit_us);
#endif

/**
 * Says whether strangers may connect: one of POROUS_LISTEN_. At first they may not.
 *
 * Errors: POROUS_ERR_CANNOT_LISTEN, POROUS_ERR_VALUE.
 */
POROUS_API porous_status porous_listen(struct porous_host *host, uint32_t policy);

/**
 * Begins to connect, and tells the new peer. POROUS_EVENT_CONNECTED or POROUS_EVENT_DISCONNECTED follows.
 *
 * Errors: POROUS_ERR_ALREADY_CONNECTED, POROUS_ERR_OUT_OF_CONNECTION_IDS, POROUS_ERR_ADDRESS, and, of a host on a
 * socket, POROUS_ERR_ADDRESS_ and more if nobody can be at the address.
 */
POROUS_API
porous_status porous_connect(struct porous_host *host,
                             const struct porous_address *to,
                             porous_peer *out);

/**
 * As porous_connect, to a host that may be at any of up to 8 addresses, which are tried at once, and with a
 * greeting of up to 255 bytes that its application reads by porous_peer_greeting before it accepts. A greeting of
 * a plain connection is not protected. NULL and 0: no greeting.
 *
 * Errors: those of porous_connect; POROUS_ERR_NO_ADDRESS, POROUS_ERR_TOO_MANY_ADDRESSES, POROUS_ERR_TOO_LONG.
 */
POROUS_API
porous_status porous_connect_any(struct porous_host *host,
                                 const struct porous_address *to,
                                 size_t to_count,
                                 const void *greeting,
                                 size_t greeting_len,
                                 porous_peer *out);

/**
 * Lets a peer in that asked by POROUS_EVENT_REQUEST. POROUS_EVENT_CONNECTED follows.
 *
 * Errors: POROUS_ERR_UNKNOWN_PEER if it came too late, POROUS_ERR_NOT_ASKED.
 */
POROUS_API porous_status porous_accept(struct porous_host *host, porous_peer peer);

/**
 * Turns a peer away that asked by POROUS_EVENT_REQUEST, with up to 64 bytes for its application.
 * POROUS_EVENT_DISCONNECTED follows.
 *
 * Errors: POROUS_ERR_UNKNOWN_PEER if it came too late, POROUS_ERR_NOT_ASKED, POROUS_ERR_TOO_LONG.
 */
POROUS_API
porous_status porous_refuse(struct porous_host *host,
                            porous_peer peer,
                            const void *data,
                            size_t len);

/**
 * Ends a connection: at once, if `flush_at_most_us` is 0, or when all that was sent has been delivered, within
 * that time. `code` is for the application of the peer. POROUS_EVENT_DISCONNECTED follows: go on until then.
 *
 * Errors: POROUS_ERR_UNKNOWN_PEER.
 */
POROUS_API
porous_status porous_disconnect(struct porous_host *host,
                                porous_peer peer,
                                uint32_t code,
                                uint64_t flush_at_most_us);

/** Ends all connections as porous_disconnect does, and lets no more strangers in. Go on until porous_is_empty. */
POROUS_API
porous_status porous_disconnect_all(struct porous_host *host,
                                    uint32_t code,
                                    uint64_t flush_at_most_us);

/**
 * Prepares the end of a server: hosts that want to connect are refused as full, also those that wait for an answer
 * to their request, so that they can try another server. Each connection ends when all that was sent on it has been
 * delivered, or `at_most_us` is over. `code` is for the applications of the peers. Nothing can be sent from now on.
 * Called again, it can shorten the time, and changes neither the code nor the time otherwise. Go on until
 * porous_is_empty.
 */
POROUS_API
porous_status porous_drain(struct porous_host *host,
                           uint32_t code,
                           uint64_t at_most_us);

/** Returns 1 if the host has no live peers, and nothing more to say to those that have ended; 0 otherwise. */
POROUS_API porous_status porous_is_empty(const struct porous_host *host);

/** Writes the names of the live peers, at most `cap`, and returns how many there are. */
POROUS_API porous_status porous_peers(const struct porous_host *host, porous_peer *out, size_t cap);

/**
 * Tells the address that datagrams to a peer go to.
 *
 * Errors: POROUS_ERR_UNKNOWN_PEER.
 */
POROUS_API
porous_status porous_peer_address(const struct porous_host *host,
                                  porous_peer peer,
                                  struct porous_address *out);

/**
 * Writes what the remote application said with its request to connect, and returns its length: at most 255 bytes,
 * 0 if it said nothing. It is there from POROUS_EVENT_REQUEST or POROUS_EVENT_CONNECTED on. In a plain connection
 * it proves nothing.
 *
 * Errors: POROUS_ERR_UNKNOWN_PEER, POROUS_ERR_SMALL.
 */
POROUS_API
porous_status porous_peer_greeting(const struct porous_host *host,
                                   porous_peer peer,
                                   void *buffer,
                                   size_t cap);

/**
 * Says how the ids of new connections are made. Connections that are there keep theirs.
 *
 * Errors: POROUS_ERR_IDS_; POROUS_ERR_VALUE for an unknown kind; POROUS_ERR_UNSUPPORTED for a key, in a library that
 * does not encrypt ids.
 */
POROUS_API
porous_status porous_set_connection_ids(struct porous_host *host,
                                        const struct porous_connection_ids *ids);

/**
 * Takes the next event. Returns 1 if there was one; call it until it returns 0. Set event->size before the
 * first call.
 */
POROUS_API porous_status porous_poll_event(struct porous_host *host, struct porous_event *event);

/**
 * Sets options up that have nothing but a mode. `size` is sizeof(porous_send_options).
 *
 * Errors: POROUS_ERR_VALUE for an unknown mode.
 */
POROUS_API
porous_status porous_send_options_init(struct porous_send_options *options,
                                       size_t size,
                                       uint32_t mode);

/**
 * Queues a packet, of which the bytes are copied. It leaves with the next output of the host. `mode` is
 * POROUS_UNRELIABLE, POROUS_RELIABLE or POROUS_PASSIVE.
 *
 * Errors: POROUS_ERR_FULL: go on when POROUS_EVENT_WRITABLE comes; POROUS_ERR_UNKNOWN_PEER,
 * POROUS_ERR_NOT_CONNECTED, POROUS_ERR_DISCONNECTING, POROUS_ERR_UNKNOWN_CHANNEL, POROUS_ERR_TOO_LARGE,
 * POROUS_ERR_VALUE.
 */
POROUS_API
porous_status porous_send(struct porous_host *host,
                          porous_peer peer,
                          uint8_t channel,
                          uint32_t mode,
                          const void *data,
                          size_t len);

/** As porous_send, with options. */
POROUS_API
porous_status porous_send_with(struct porous_host *host,
                               porous_peer peer,
                               uint8_t channel,
                               const void *data,
                               size_t len,
                               const struct porous_send_options *options);

/**
 * As porous_send_with, without a copy: the host shares the bytes of the blob until it needs them no more. The
 * caller keeps the blob, may send it to others, and frees it at any time.
 */
POROUS_API
porous_status porous_send_blob(struct porous_host *host,
                               porous_peer peer,
                               uint8_t channel,
                               const struct porous_blob *blob,
                               const struct porous_send_options *options);

/**
 * Cancels the packets of a channel that were sent with this receipt: nothing more of them is sent. Returns 1 if
 * there were any, 0 otherwise; POROUS_EVENT_RECEIPT tells what becomes of them.
 *
 * Errors: POROUS_ERR_UNKNOWN_PEER.
 */
POROUS_API
porous_status porous_cancel(struct porous_host *host,
                            porous_peer peer,
                            uint8_t channel,
                            uint64_t receipt);

/**
 * Changes the most that is sent to a peer, in bytes a second; 0: no limit.
 *
 * Errors: POROUS_ERR_UNKNOWN_PEER, POROUS_ERR_NOT_CONNECTED, POROUS_ERR_DISCONNECTING.
 */
POROUS_API
porous_status porous_set_send_rate(struct porous_host *host,
                                   porous_peer peer,
                                   uint32_t bytes_a_second);

/**
 * Changes the most that a peer is asked to send, in bytes a second; 0: no limit.
 *
 * Errors: as porous_set_send_rate.
 */
POROUS_API
porous_status porous_set_receive_rate(struct porous_host *host,
                                      porous_peer peer,
                                      uint32_t bytes_a_second);

/**
 * Changes the most that is sent on a channel to a peer, in bytes a second; 0: no limit.
 *
 * Errors: as porous_set_send_rate, and POROUS_ERR_UNKNOWN_CHANNEL.
 */
POROUS_API
porous_status porous_set_channel_rate(struct porous_host *host,
                                      porous_peer peer,
                                      uint8_t channel,
                                      uint32_t bytes_a_second);

/** Changes the most that is sent to all peers together, in bytes a second; 0: no limit. */
POROUS_API porous_status porous_set_host_send_rate(struct porous_host *host, uint32_t bytes_a_second);

/**
 * Takes the next packet from a peer, and copies it into `buffer`. Returns 1 if there was one; call it until it
 * returns 0. A peer that has ended, or never was, has none.
 *
 * Errors: POROUS_ERR_SMALL if the packet is longer than `cap`; it is kept, and what->len says how long it is.
 */
POROUS_API
porous_status porous_receive(struct porous_host *host,
                             porous_peer peer,
                             struct porous_received *what,
                             void *buffer,
                             size_t cap);

/** Takes the next packet from a peer without a copy. Returns 1 if there was one; free it by porous_packet_free. */
POROUS_API
porous_status porous_receive_packet(struct porous_host *host,
                                    porous_peer peer,
                                    struct porous_received *what,
                                    struct porous_packet **out);

/**
 * Writes the names of the peers of which packets can be received now, also of those that have ended, at most
 * `cap`, and returns how many there are: for a program that has missed POROUS_EVENT_READABLE.
 */
POROUS_API porous_status porous_readable(const struct porous_host *host, porous_peer *out, size_t cap);

/**
 * The bytes of a packet, and their number in `len`, which may be NULL. They stay as they are until the packet is
 * freed. NULL, and 0, of a packet that is NULL.
 */
POROUS_API
const void *porous_packet_data(const struct porous_packet *packet,
                               size_t *len);

/** Frees a packet. NULL is fine. */
POROUS_API void porous_packet_free(struct porous_packet *packet);

/**
 * Makes a blob with a copy of the bytes.
 *
 * Errors: POROUS_ERR_VALUE for a length that no memory has.
 */
POROUS_API porous_status porous_blob_copy(const void *data, size_t len, struct porous_blob **out);

/**
 * Makes a blob of memory of the program's, without a copy. The memory stays as it is until `release` is called
 * with `user`; for ever, if `release` is NULL. If this fails, it is not called.
 *
 * Errors: POROUS_ERR_VALUE for a length that no memory has.
 */
POROUS_API
porous_status porous_blob_wrap(const void *data,
                               size_t len,
                               porous_release release,
                               void *user,
                               struct porous_blob **out);

/** Frees a blob. NULL is fine. Packets that were sent with it are sent all the same. */
POROUS_API void porous_blob_free(struct porous_blob *blob);

/**
 * Tells what is known of a peer. Set stats->size before.
 *
 * Errors: POROUS_ERR_UNKNOWN_PEER.
 */
POROUS_API
porous_status porous_peer_info(const struct porous_host *host,
                               porous_peer peer,
                               struct porous_peer_stats *stats);

/**
 * Tells what is known of a channel to a peer. Set stats->size before.
 *
 * Errors: POROUS_ERR_UNKNOWN_PEER, POROUS_ERR_UNKNOWN_CHANNEL.
 */
POROUS_API
porous_status porous_channel_info(const struct porous_host *host,
                                  porous_peer peer,
                                  uint8_t channel,
                                  struct porous_channel_stats *stats);

/** Tells what is known of a host. Set stats->size before. */
POROUS_API porous_status porous_host_info(const struct porous_host *host, struct porous_host_stats *stats);

/**
 * Tells how far the packet with a receipt has come that is sent on a channel. Returns 1; 0 if its fate is known, or
 * there is no such packet. Set progress->size before.
 *
 * Errors: POROUS_ERR_UNKNOWN_PEER.
 */
POROUS_API
porous_status porous_send_progress(const struct porous_host *host,
                                   porous_peer peer,
                                   uint8_t channel,
                                   uint64_t receipt,
                                   struct porous_progress *progress);

/**
 * Tells how much of a packet has come that is received in part on a channel. Returns 1; 0 if there is none. Set
 * progress->size before.
 *
 * Errors: POROUS_ERR_UNKNOWN_PEER.
 */
POROUS_API
porous_status porous_receive_progress(const struct porous_host *host,
                                      porous_peer peer,
                                      uint8_t channel,
                                      struct porous_progress *progress);

/** Returns the state of a peer, one of POROUS_STATE_; 0 if the host has no such peer (any more). */
POROUS_API porous_status porous_peer_state(const struct porous_host *host, porous_peer peer);

#if defined(POROUS_WITH_SEAL)
/**
 * Says how a host seals, from now on: connections that are there keep their keys. The configuration of the host has
 * to name suites. Nothing is kept of the struct and its keys but copies.
 *
 * Errors: POROUS_ERR_SECURITY_TOO_MANY, POROUS_ERR_SECURITY_WEAK.
 */
POROUS_API
porous_status porous_set_security(struct porous_host *host,
                                  const struct porous_security *security);
#endif

#if (defined(POROUS_WITH_SEAL) && defined(POROUS_WITH_STD))
/**
 * Draws a secret of 32 bytes from the system's secure generator: the secret key of a server, a psk, a token key, or
 * the seed of porous_core_new.
 *
 * Errors: POROUS_ERR_IO if the system has no random numbers.
 */
POROUS_API
porous_status porous_key_generate(uint8_t *secret);
#endif

#if defined(POROUS_WITH_SEAL)
/**
 * Computes the public key of 32 bytes that belongs to a secret key of 32 bytes: clients know the server by it.
 *
 * Errors: POROUS_ERR_SECURITY_WEAK.
 */
POROUS_API
porous_status porous_public_key(const uint8_t *secret,
                                uint8_t *public_);
#endif

#if defined(POROUS_WITH_SEAL)
/**
 * As porous_connect_any, for a connection that no listener can read, and nobody can change. That the other end is
 * the server that is meant, and no attacker in between, follows from its key, a psk or a ticket in `with`. If the
 * remote host does not seal, the attempt ends as POROUS_REASON_REFUSED_SECURITY: no host falls back to a plain
 * connection. The configuration of the host has to name suites.
 *
 * Errors: those of porous_connect_any; POROUS_ERR_NOT_SEALED, POROUS_ERR_SERVER_KEY, POROUS_ERR_TICKET_MALFORMED
 * for a token that is none.
 */
POROUS_API
porous_status porous_connect_sealed(struct porous_host *host,
                                    const struct porous_address *to,
                                    size_t to_count,
                                    const struct porous_credentials *with,
                                    porous_peer *out);
#endif

#if defined(POROUS_WITH_SEAL)
/**
 * Tells what is proved of the connection to a peer, from POROUS_EVENT_REQUEST or POROUS_EVENT_CONNECTED on. Returns
 * 1 if it is sealed, 0 if it is plain. Set secured->size before.
 *
 * Errors: POROUS_ERR_UNKNOWN_PEER.
 */
POROUS_API
porous_status porous_peer_secured(const struct porous_host *host,
                                  porous_peer peer,
                                  struct porous_secured *secured);
#endif

#if defined(POROUS_WITH_SEAL)
/**
 * Makes a secret of 32 bytes that both hosts of a sealed connection have and nobody else, another one for each
 * label: a key for voice that goes another way, for instance.
 *
 * Errors: POROUS_ERR_UNKNOWN_PEER; POROUS_ERR_NOT_SEALED of a plain connection.
 */
POROUS_API
porous_status porous_peer_export(const struct porous_host *host,
                                 porous_peer peer,
                                 const void *label,
                                 size_t label_len,
                                 uint8_t *secret);
#endif

#if (defined(POROUS_WITH_SEAL) && defined(POROUS_WITH_STD))
/**
 * Makes a ticket, by the token key of 32 bytes that the servers have as well: a backend's work. It has no addresses
 * and no key of a server yet.
 *
 * Errors: POROUS_ERR_CLAIMS_USER_DATA, POROUS_ERR_ADDRESS, POROUS_ERR_VALUE; POROUS_ERR_IO if the system has no
 * random numbers.
 */
POROUS_API
porous_status porous_ticket_mint(const uint8_t *token_key,
                                 const struct porous_claims *claims,
                                 struct porous_ticket **out);
#endif

#if defined(POROUS_WITH_SEAL)
/**
 * Says where the servers are that take the ticket, 32 at most. Scopes are dropped, as they mean something on one
 * machine only.
 *
 * Errors: POROUS_ERR_TICKET_SERVERS, POROUS_ERR_ADDRESS.
 */
POROUS_API
porous_status porous_ticket_set_servers(struct porous_ticket *ticket,
                                        const struct porous_address *servers,
                                        size_t server_count);
#endif

#if defined(POROUS_WITH_SEAL)
/**
 * Says by which public key the servers are known: 32 bytes.
 *
 * Errors: POROUS_ERR_SERVER_KEY.
 */
POROUS_API
porous_status porous_ticket_set_server_key(struct porous_ticket *ticket,
                                           const uint8_t *key,
                                           size_t key_len);
#endif

#if defined(POROUS_WITH_SEAL)
/**
 * Reads a ticket from its text, as it is passed on in JSON.
 *
 * Errors: POROUS_ERR_TICKET_BASE64, POROUS_ERR_TICKET_VERSION, POROUS_ERR_TICKET_MALFORMED, POROUS_ERR_UTF8.
 */
POROUS_API porous_status porous_ticket_from_text(const char *text, struct porous_ticket **out);
#endif

#if defined(POROUS_WITH_SEAL)
/**
 * Reads a ticket from its bytes.
 *
 * Errors: POROUS_ERR_TICKET_VERSION, POROUS_ERR_TICKET_MALFORMED.
 */
POROUS_API porous_status porous_ticket_from_bytes(const void *data, size_t len, struct porous_ticket **out);
#endif

#if defined(POROUS_WITH_SEAL)
/**
 * Writes a ticket as text, with a 0 at its end, and returns the length of the text: less than 1500.
 *
 * Errors: POROUS_ERR_SMALL.
 */
POROUS_API porous_status porous_ticket_to_text(const struct porous_ticket *ticket, char *text, size_t cap);
#endif

#if defined(POROUS_WITH_SEAL)
/**
 * Writes a ticket as bytes, and returns their number: 1080 at most.
 *
 * Errors: POROUS_ERR_SMALL.
 */
POROUS_API porous_status porous_ticket_to_bytes(const struct porous_ticket *ticket, void *buffer, size_t cap);
#endif

#if defined(POROUS_WITH_SEAL)
/** Writes where the servers are, at most `cap` addresses, and returns how many there are. */
POROUS_API
porous_status porous_ticket_servers(const struct porous_ticket *ticket,
                                    struct porous_address *out,
                                    size_t cap);
#endif

#if defined(POROUS_WITH_SEAL)
/**
 * Writes the public key of the servers, and returns its length, 65 at most; 0 if the ticket has none.
 *
 * Errors: POROUS_ERR_SMALL.
 */
POROUS_API
porous_status porous_ticket_server_key(const struct porous_ticket *ticket,
                                       void *buffer,
                                       size_t cap);
#endif

#if defined(POROUS_WITH_SEAL)
/**
 * Writes the token, for porous_credentials, and returns its length, 400 at most.
 *
 * Errors: POROUS_ERR_SMALL.
 */
POROUS_API porous_status porous_ticket_token(const struct porous_ticket *ticket, void *buffer, size_t cap);
#endif

#if defined(POROUS_WITH_SEAL)
/** Writes the secret of the token, 32 bytes, for porous_credentials. */
POROUS_API porous_status porous_ticket_psk(const struct porous_ticket *ticket, uint8_t *psk);
#endif

#if defined(POROUS_WITH_SEAL)
/** Tells when the token expires, in seconds since 1970 in UTC. */
POROUS_API porous_status porous_ticket_expires(const struct porous_ticket *ticket, uint64_t *seconds);
#endif

#if defined(POROUS_WITH_SEAL)
/** Frees a ticket. NULL is fine. */
POROUS_API void porous_ticket_free(struct porous_ticket *ticket);
#endif

#if (defined(POROUS_WITH_STD) && (defined(POROUS_WITH_UDP) || defined(POROUS_WITH_SEAL)))
/**
 * Writes what the system said when the last call of this thread failed with POROUS_ERR_IO, POROUS_ERR_IN_USE,
 * POROUS_ERR_NOT_AVAILABLE or POROUS_ERR_NOT_PERMITTED, with a 0 at its end: empty if none did. Returns its length.
 *
 * Errors: POROUS_ERR_SMALL.
 */
POROUS_API
porous_status porous_io_error_text(char *text,
                                   size_t cap);
#endif

/**
 * Names the function that is told when a bug of porous was caught, with the place and the text, in any thread.
 * Without one, or with NULL, the text goes to the standard error stream. In a library without the standard library
 * of Rust the process ends when the function returns, and there is no stream.
 *
 * It holds for the whole process, and may be called at any time.
 */
POROUS_API
porous_status porous_on_panic(porous_told told,
                              void *user);

#if defined(POROUS_WITH_HOOKS)
/**
 * Names the functions that all memory of the library comes from and goes back to, in the whole process. Call it
 * before anything else. `user` is passed to both.
 *
 * Errors: POROUS_ERR_NULL if a function is NULL; POROUS_ERR_BUSY if the library has memory already.
 */
POROUS_API
porous_status porous_set_allocator(porous_alloc alloc,
                                   porous_dealloc dealloc,
                                   void *user);
#endif

#if defined(POROUS_WITH_HOOKS)
/** Tells how many bytes of memory the library has in the whole process, and the most that it has had. */
POROUS_API porous_status porous_memory(uint64_t *bytes, uint64_t *peak);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Makes a host as porous_udp_bind does, in a thread of its own.
 *
 * Errors: those of porous_udp_bind.
 */
POROUS_API
porous_status porous_thread_bind(const struct porous_config *config,
                                 const char *address,
                                 struct porous_thread **out);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Makes a host as porous_udp_adopt does, in a thread of its own.
 *
 * Errors: those of porous_udp_adopt.
 */
POROUS_API
porous_status porous_thread_adopt(const struct porous_config *config,
                                  ptrdiff_t socket,
                                  struct porous_thread **out);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Takes the next thing that the thread tells. Returns 1 if there was one; call it in each turn until it returns 0. Set
 * output->size before the first call. Outputs that are not taken wait, up to 1 MiB; beyond that the peers are held
 * back.
 */
POROUS_API
porous_status porous_thread_poll(struct porous_thread *thread,
                                 struct porous_output *output);
#endif

#if defined(POROUS_WITH_UDP)
/** Tells the address that the socket is bound to. */
POROUS_API
porous_status porous_thread_address(const struct porous_thread *thread,
                                    struct porous_address *out);
#endif

#if defined(POROUS_WITH_UDP)
/** Tells what the last POROUS_OUTPUT_STATS has told. Set stats->size before. */
POROUS_API
porous_status porous_thread_stats(const struct porous_thread *thread,
                                  struct porous_host_stats *stats);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Tells what the last POROUS_OUTPUT_PEER_STATS has told; all of it 0 if the host had no such peer. `state`, `channels`,
 * `max_packet` and `remote_timeout_us` are 0. Set stats->size before.
 */
POROUS_API
porous_status porous_thread_peer_stats(const struct porous_thread *thread,
                                       struct porous_peer_stats *stats);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Ends all connections and the thread, and waits for the end: see porous_udp_close. All that was sent before goes to
 * the host, and what comes meanwhile is lost. Free the thread afterwards.
 *
 * Errors: POROUS_ERR_IO if the thread had ended by itself; POROUS_ERR_THREAD_ENDED if it was closed before.
 */
POROUS_API
porous_status porous_thread_close(struct porous_thread *thread,
                                  uint32_t code,
                                  uint64_t flush_at_most_us);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Frees a thread. NULL is fine. One that was not closed is closed, at once and with code 0, for which this waits.
 *
 * Errors: POROUS_ERR_BUSY, and nothing is freed, from a callback.
 */
POROUS_API
porous_status porous_thread_free(struct porous_thread *thread);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Says whether strangers may connect: one of POROUS_LISTEN_. POROUS_OUTPUT_NOT_LISTENING tells if they never may.
 *
 * Errors, of this and all commands: POROUS_ERR_THREAD_FULL, POROUS_ERR_THREAD_ENDED.
 */
POROUS_API
porous_status porous_thread_listen(struct porous_thread *thread,
                                   uint32_t policy);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Begins to connect, as porous_connect_any does. POROUS_OUTPUT_CONNECTING names the peer, or
 * POROUS_OUTPUT_NOT_CONNECTING says why not.
 */
POROUS_API
porous_status porous_thread_connect(struct porous_thread *thread,
                                    const struct porous_address *to,
                                    size_t to_count,
                                    const void *greeting,
                                    size_t greeting_len);
#endif

#if (defined(POROUS_WITH_UDP) && defined(POROUS_WITH_SEAL))
/**
 * Begins to make a sealed connection, as porous_connect_sealed does. POROUS_OUTPUT_CONNECTING names the peer, or
 * POROUS_OUTPUT_NOT_CONNECTING says why not.
 */
POROUS_API
porous_status porous_thread_connect_sealed(struct porous_thread *thread,
                                           const struct porous_address *to,
                                           size_t to_count,
                                           const struct porous_credentials *with);
#endif

#if (defined(POROUS_WITH_UDP) && defined(POROUS_WITH_SEAL))
/**
 * Says how the host seals, as porous_set_security does.
 *
 * Errors: those of porous_set_security.
 */
POROUS_API
porous_status porous_thread_set_security(struct porous_thread *thread,
                                         const struct porous_security *security);
#endif

#if defined(POROUS_WITH_UDP)
/** Lets a peer in that asked by POROUS_EVENT_REQUEST. */
POROUS_API porous_status porous_thread_accept(struct porous_thread *thread, porous_peer peer);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Turns a peer away that asked by POROUS_EVENT_REQUEST, with up to 64 bytes for its application.
 *
 * Errors: POROUS_ERR_TOO_LONG.
 */
POROUS_API
porous_status porous_thread_refuse(struct porous_thread *thread,
                                   porous_peer peer,
                                   const void *data,
                                   size_t len);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Queues a packet, of which the bytes are copied, and wakes the thread to send it. What only the host can find brings
 * the packet back, by POROUS_OUTPUT_UNSENT.
 *
 * Errors: those of porous_send_with. After POROUS_ERR_FULL an earlier packet has come back.
 */
POROUS_API
porous_status porous_thread_send(struct porous_thread *thread,
                                 porous_peer peer,
                                 uint8_t channel,
                                 const void *data,
                                 size_t len,
                                 const struct porous_send_options *options);
#endif

#if defined(POROUS_WITH_UDP)
/** As porous_thread_send, without a copy: see porous_send_blob. */
POROUS_API
porous_status porous_thread_send_blob(struct porous_thread *thread,
                                      porous_peer peer,
                                      uint8_t channel,
                                      const struct porous_blob *blob,
                                      const struct porous_send_options *options);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Sends a packet again that has come back by POROUS_OUTPUT_UNSENT, as it was sent before and without a copy. The caller
 * keeps the packet, and frees it.
 *
 * Errors: those of porous_thread_send; POROUS_ERR_VALUE for a packet that was received.
 */
POROUS_API
porous_status porous_thread_send_packet(struct porous_thread *thread,
                                        porous_peer peer,
                                        uint8_t channel,
                                        const struct porous_packet *packet);
#endif

#if defined(POROUS_WITH_UDP)
/** Cancels the packets of a channel that were sent with this receipt. POROUS_EVENT_RECEIPT tells what becomes of them. */
POROUS_API
porous_status porous_thread_cancel(struct porous_thread *thread,
                                   porous_peer peer,
                                   uint8_t channel,
                                   uint64_t receipt);
#endif

#if defined(POROUS_WITH_UDP)
/** Ends a connection, as porous_disconnect does. POROUS_EVENT_DISCONNECTED follows. */
POROUS_API
porous_status porous_thread_disconnect(struct porous_thread *thread,
                                       porous_peer peer,
                                       uint32_t code,
                                       uint64_t flush_at_most_us);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Ends a server: newcomers are refused as POROUS_REASON_REFUSED_FULL, and each connection ends when all that was sent
 * on it was delivered, or `at_most_us` is over: see porous_drain. POROUS_EVENT_DISCONNECTED follows of each peer. Then
 * call porous_thread_close, which also waits for a drain that is under way, but drops what comes meanwhile.
 */
POROUS_API
porous_status porous_thread_drain(struct porous_thread *thread,
                                  uint32_t code,
                                  uint64_t at_most_us);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Puts a suffix behind the end of each datagram to an address, as porous_udp_set_suffix does.
 * POROUS_OUTPUT_NOT_SUFFIXED tells if it was too long, or too late.
 *
 * Errors: POROUS_ERR_ADDRESS.
 */
POROUS_API
porous_status porous_thread_set_suffix(struct porous_thread *thread,
                                       const struct porous_address *to,
                                       const void *suffix,
                                       size_t len);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Says how the ids of new connections are made, as porous_set_connection_ids does. POROUS_OUTPUT_IDS_UNCHANGED tells if
 * this host cannot make such ids.
 *
 * Errors: POROUS_ERR_IDS_ROTATION, POROUS_ERR_IDS_SERVER_ID, POROUS_ERR_VALUE, POROUS_ERR_UNSUPPORTED.
 */
POROUS_API
porous_status porous_thread_set_connection_ids(struct porous_thread *thread,
                                               const struct porous_connection_ids *ids);
#endif

#if defined(POROUS_WITH_UDP)
/** Asks for the counters of the host: POROUS_OUTPUT_STATS follows. */
POROUS_API porous_status porous_thread_ask_stats(struct porous_thread *thread);
#endif

#if defined(POROUS_WITH_UDP)
/** Asks for the counters and estimates of a peer: POROUS_OUTPUT_PEER_STATS follows. */
POROUS_API porous_status porous_thread_ask_peer_stats(struct porous_thread *thread, porous_peer peer);
#endif

#if defined(POROUS_WITH_UDP)
/** Asks how far the packet with a receipt has come: POROUS_OUTPUT_SEND_PROGRESS follows. */
POROUS_API
porous_status porous_thread_ask_send_progress(struct porous_thread *thread,
                                              porous_peer peer,
                                              uint8_t channel,
                                              uint64_t receipt);
#endif

#if defined(POROUS_WITH_UDP)
/** Asks how much of a packet has come on a channel: POROUS_OUTPUT_RECEIVE_PROGRESS follows. */
POROUS_API
porous_status porous_thread_ask_receive_progress(struct porous_thread *thread,
                                                 porous_peer peer,
                                                 uint8_t channel);
#endif

#if defined(POROUS_WITH_UDP)
/** Changes the most that is sent to a peer, in bytes a second; 0: no limit. */
POROUS_API
porous_status porous_thread_set_send_rate(struct porous_thread *thread,
                                          porous_peer peer,
                                          uint32_t bytes_a_second);
#endif

#if defined(POROUS_WITH_UDP)
/** Changes the most that a peer is asked to send, in bytes a second; 0: no limit. */
POROUS_API
porous_status porous_thread_set_receive_rate(struct porous_thread *thread,
                                             porous_peer peer,
                                             uint32_t bytes_a_second);
#endif

#if defined(POROUS_WITH_UDP)
/** Changes the most that is sent on a channel to a peer, in bytes a second; 0: no limit. */
POROUS_API
porous_status porous_thread_set_channel_rate(struct porous_thread *thread,
                                             porous_peer peer,
                                             uint8_t channel,
                                             uint32_t bytes_a_second);
#endif

#if defined(POROUS_WITH_UDP)
/** Changes the most that is sent to all peers together, in bytes a second; 0: no limit. */
POROUS_API
porous_status porous_thread_set_host_send_rate(struct porous_thread *thread,
                                               uint32_t bytes_a_second);
#endif

#if defined(POROUS_WITH_UDP)
/**
 * Writes what a remote application said with its request, and returns its length, 255 at most: from
 * POROUS_EVENT_REQUEST or POROUS_EVENT_CONNECTED until POROUS_EVENT_DISCONNECTED was taken. 0 of other peers.
 *
 * Errors: POROUS_ERR_SMALL.
 */
POROUS_API
porous_status porous_thread_greeting(const struct porous_thread *thread,
                                     porous_peer peer,
                                     void *buffer,
                                     size_t cap);
#endif

#if (defined(POROUS_WITH_UDP) && defined(POROUS_WITH_SEAL))
/**
 * Tells what is proved of a connection, as porous_peer_secured does. Returns 1 if it is sealed, 0 if it is plain, or
 * there is no such peer.
 */
POROUS_API
porous_status porous_thread_secured(const struct porous_thread *thread,
                                    porous_peer peer,
                                    struct porous_secured *secured);
#endif

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* POROUS_H */
