"""The structs of porous.h. Fields have the types of C when the program runs, and those of Python for type checkers."""

import ctypes
from typing import TYPE_CHECKING, Dict, List, Optional, Tuple, Type, TypeVar

if TYPE_CHECKING:
    I32 = int
    U8 = int
    U16 = int
    U32 = int
    U64 = int
    Pointer = Optional[int]
    Bytes4 = ctypes.Array[ctypes.c_uint8]
    Bytes5 = ctypes.Array[ctypes.c_uint8]
    Bytes6 = ctypes.Array[ctypes.c_uint8]
    Bytes7 = ctypes.Array[ctypes.c_uint8]
    Bytes15 = ctypes.Array[ctypes.c_uint8]
    Bytes16 = ctypes.Array[ctypes.c_uint8]
    Bytes24 = ctypes.Array[ctypes.c_uint8]
    Bytes32 = ctypes.Array[ctypes.c_uint8]
    Bytes64 = ctypes.Array[ctypes.c_uint8]
    Bytes65 = ctypes.Array[ctypes.c_uint8]
    Bytes255 = ctypes.Array[ctypes.c_uint8]
    Numbers4 = ctypes.Array[ctypes.c_uint64]
    Numbers16 = ctypes.Array[ctypes.c_uint64]
    Numbers32 = ctypes.Array[ctypes.c_uint64]
else:
    I32 = ctypes.c_int32
    U8, U16, U32, U64 = ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64
    Pointer = ctypes.c_void_p
    Bytes4, Bytes5, Bytes6, Bytes7 = (U8 * n for n in (4, 5, 6, 7))
    Bytes15, Bytes16, Bytes24 = (U8 * n for n in (15, 16, 24))
    Bytes32, Bytes64, Bytes65, Bytes255 = (U8 * n for n in (32, 64, 65, 255))
    Numbers4, Numbers16, Numbers32 = U64 * 4, U64 * 16, U64 * 32

_S = TypeVar("_S", bound="Struct")

#: The structs by their names in C.
STRUCTS: Dict[str, Type["Struct"]] = {}


class Struct(ctypes.Structure):
    """A struct that prints its fields."""

    def __repr__(self) -> str:
        fields = (f"{name}={_shown(getattr(self, name))}" for name in self._names())
        return f"{type(self).__name__}({', '.join(fields)})"

    @classmethod
    def _names(cls) -> List[str]:
        return [name for name, _ in cls._fields_ if name not in ("size", "reserved")]  # type: ignore[misc]

    @classmethod
    def sized(cls: Type[_S]) -> _S:
        """One that says its own size, as structs that may grow have to."""
        made = cls()
        made.size = ctypes.sizeof(cls)
        return made


def _shown(value: object) -> str:
    return repr(list(value)) if isinstance(value, ctypes.Array) else repr(value)


def struct(name: str):
    """A decorator that makes fields of the annotations of a class."""

    def made(cls: Type[_S]) -> Type[_S]:
        fields: List[Tuple[str, type]] = list(cls.__annotations__.items())
        cls._fields_ = fields
        STRUCTS[name] = cls
        return cls

    return made


@struct("porous_address")
class RawAddress(Struct):
    kind: U8
    len: U8
    port: U16
    scope: U32
    bytes: Bytes24


@struct("porous_channel")
class RawChannel(Struct):
    priority: U8
    unordered: U8
    weight: U8
    reserved: U8
    rate: U32


@struct("porous_config")
class RawConfig(Struct):
    size: U32
    preset: U8
    policy: U8
    congestion: U8
    integrity: U8
    channels: Pointer
    application_id: U64
    host_receive_budget: U64
    connect_timeout_us: U64
    timeout_us: U64
    disconnect_timeout_us: U64
    keepalive_us: U64
    unreliable_age_us: U64
    channel_count: U32
    max_peers: U32
    max_peers_per_source: U32
    max_packet: U32
    receive_budget: U32
    send_budget: U32
    frame_window: U32
    packet_window: U32
    send_rate: U32
    receive_rate: U32
    host_send_rate: U32
    replies_per_address: U32
    replies: U32
    congestion_rate: U32
    congestion_rate_bad: U32
    max_datagram: U16
    request_size: U16
    path_mtu: U16
    connection_id_len: U8
    ecn: U8
    roaming: U8
    suites: Bytes4
    reserved: Bytes7


@struct("porous_transmit")
class RawTransmit(Struct):
    to: RawAddress
    len: U64
    ecn: U8
    dont_fragment: U8
    to_stranger: U8
    reserved: Bytes5


@struct("porous_connection_ids")
class RawConnectionIds(Struct):
    size: U32
    kind: U8
    shard: U8
    bits: U8
    rotation: U8
    server_id: Bytes15
    server_id_len: U8
    key: Bytes16
    has_key: U8
    reserved: Bytes7


@struct("porous_event")
class RawEvent(Struct):
    size: U32
    type: U32
    peer: U64
    address: RawAddress
    # `from` is a word of Python.
    from_: RawAddress
    token: U64
    application_id: U64
    outcome: U32
    reason: U32
    code: U32
    undelivered: U32
    oldest_version: U32
    newest_version: U32
    datagram_bytes: U32
    data_len: U32
    data: Bytes64


@struct("porous_send_options")
class RawSendOptions(Struct):
    size: U32
    mode: U8
    redundancy: U8
    has_receipt: U8
    has_key: U8
    ttl_us: U64
    receipt: U64
    key: U64


@struct("porous_received")
class RawReceived(Struct):
    channel: U8
    mode: U8
    reserved: Bytes6
    len: U64


@struct("porous_mode_counts")
class ModeCounts(Struct):
    """Counts by the mode of packets."""

    unreliable: U64
    reliable: U64
    passive: U64


@struct("porous_peer_stats")
class PeerStats(Struct):
    """What is known of the connection to a peer; each field is described in porous.h."""

    size: U32
    state: U32
    channels: U32
    max_packet: U32
    max_unfragmented: U32
    path_mtu: U32
    remote_timeout_us: U64
    rtt_us: U64
    rtt_variance_us: U64
    rtt_minimum_us: U64
    jitter_us: U64
    resend_timeout_us: U64
    datagrams_sent: U64
    datagrams_received: U64
    bytes_sent: U64
    bytes_received: U64
    frames_sent: U64
    frames_lost: U64
    frames_spurious: U64
    frames_marked: U64
    frames_received: U64
    frames_missing: U64
    packets_sent: ModeCounts
    packet_bytes_sent: ModeCounts
    packets_received: ModeCounts
    packet_bytes_received: ModeCounts
    answers_withheld: U64
    packets_expired: U64
    packets_replaced: U64
    packets_cancelled: U64
    packets_incomplete: U64
    packets_evicted: U64
    flight: U32
    window: U32
    queued_bytes: U32
    send_rate: U32
    receive_rate: U32
    loss_sent: U16
    loss_received: U16
    quality: U8
    ecn: U8
    reserved: Bytes6


@struct("porous_channel_stats")
class ChannelStats(Struct):
    """What is known of a channel to a peer, as far as it is sent on."""

    size: U32
    waiting: U32
    queue_time_us: U64
    queue_time_longest_us: U64


@struct("porous_host_stats")
class HostStats(Struct):
    """What is known of a host, over all its peers; each field is described in porous.h."""

    size: U32
    reserved: U32
    datagrams_received: U64
    bytes_received: U64
    datagrams_sent: U64
    bytes_sent: U64
    accepted: U64
    connected: U64
    source_full: U64
    ignored: Numbers32
    tokens_refused: Numbers16
    send_lost: U64
    send_delayed: U64
    receive_errors: U64
    answers_withheld: U64
    overloaded: U64


@struct("porous_progress")
class Progress(Struct):
    """How far a packet has come, in bytes."""

    size: U32
    len: U32
    sent: U32
    arrived: U32


@struct("porous_key")
class RawKey(Struct):
    number: U32
    bytes: Bytes32


@struct("porous_security")
class RawSecurity(Struct):
    size: U32
    allow_plain: U8
    require_proof: U8
    many_per_client: U8
    has_server_id: U8
    identities: Pointer
    psks: Pointer
    token_keys: Pointer
    server_id: U64
    max_token_lifetime_us: U64
    rekey_frames: U64
    rekey_time_us: U64
    used_tokens: U32
    identity_count: U32
    psk_count: U32
    token_key_count: U32


@struct("porous_credentials")
class RawCredentials(Struct):
    size: U32
    psk_number: U32
    ticket: Pointer
    server_key: Pointer
    psk: Pointer
    token: Pointer
    greeting: Pointer
    server_key_len: U32
    token_len: U32
    greeting_len: U32
    reserved: U32


@struct("porous_secured")
class RawSecured(Struct):
    size: U32
    suite: U8
    has_psk: U8
    has_client_id: U8
    server_key_len: U8
    client_id: U64
    psk_number: U32
    user_data_len: U32
    binding: Bytes32
    server_key: Bytes65
    user_data: Bytes255


@struct("porous_claims")
class RawClaims(Struct):
    size: U32
    key_number: U8
    suite: U8
    single_use: U8
    audience_count: U8
    application_id: U64
    client_id: U64
    created: U64
    expires: U64
    audiences: Numbers4
    ip: RawAddress
    user_data: Pointer
    user_data_len: U32
    reserved: U32


@struct("porous_output")
class RawOutput(Struct):
    size: U32
    type: U32
    peer: U64
    packet: Pointer
    what: RawReceived
    receipt: U64
    progress: Progress
    address: RawAddress
    status: I32
    is_known: U32
    event: RawEvent
