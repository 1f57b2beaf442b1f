"""What is given to hosts, and what they give."""

import ctypes
from dataclasses import dataclass, fields
from typing import Callable, Dict, NamedTuple, Optional, Sequence, Tuple, Union

from ._enums import (
    OFF,
    ON,
    AddressKind,
    Congestion,
    Ecn,
    EventType,
    Ids,
    Integrity,
    Mode,
    Outcome,
    Policy,
    Preset,
    Reason,
    Suite,
    known,
)
from ._errors import checked
from ._library import library
from ._structs import RawAddress, RawChannel, RawConfig, RawConnectionIds, RawEvent, RawSendOptions

#: Bytes to be sent: bytes, bytearray, memoryview and what else has a buffer.
BytesLike = Union[bytes, bytearray, memoryview]

_FOREVER = 2**64 - 1


def microseconds(seconds: float) -> int:
    """Seconds as porous.h has them; infinity is for ever."""
    if seconds == float("inf"):
        return _FOREVER
    return max(0, min(round(seconds * 1_000_000), _FOREVER - 1))


def seconds(microseconds: int) -> Optional[float]:
    """Microseconds of porous.h in seconds; None for never."""
    return None if microseconds == _FOREVER else microseconds / 1_000_000


def bytes_of(data: BytesLike) -> bytes:
    """The bytes of a buffer; they are copied unless they are `bytes`."""
    return data if isinstance(data, bytes) else bytes(memoryview(data))


@dataclass(frozen=True)
class Address:
    """Where a host is: an address of IP, or of the program's own. str() writes it as parse() reads it."""

    kind: AddressKind
    data: bytes
    port: int = 0
    scope: int = 0

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Reads "192.0.2.1:4000" or "[2001:db8::1]:4000". It asks nobody: names are for resolve()."""
        raw = RawAddress()
        checked(library.address_parse(text.encode(), raw))
        return cls.of_raw(raw)

    @classmethod
    def own(cls, data: BytesLike, port: int = 0, scope: int = 0) -> "Address":
        """An address for hosts without a socket, of up to 24 bytes."""
        return cls(AddressKind.OWN, bytes_of(data), port, scope)

    @classmethod
    def of_raw(cls, raw: RawAddress) -> "Address":
        return cls(AddressKind(raw.kind), bytes(raw.bytes[: raw.len]), raw.port, raw.scope)

    def raw(self) -> RawAddress:
        if len(self.data) > 24:
            raise ValueError("an address has 24 bytes at most")
        raw = RawAddress(self.kind, len(self.data), self.port, self.scope)
        raw.bytes[: len(self.data)] = list(self.data)
        return raw

    def __str__(self) -> str:
        if self.kind not in (AddressKind.IPV4, AddressKind.IPV6):
            return repr(self)
        text = ctypes.create_string_buffer(64)
        checked(library.address_format(self.raw(), text, len(text)))
        return text.value.decode()


def raw_address(address: Union[Address, str]) -> RawAddress:
    return (Address.parse(address) if isinstance(address, str) else address).raw()


def resolve(name: str) -> Sequence[Address]:
    """Asks the system for the addresses of a name with a port, as "example.org:4000". Blocks until it answers."""
    raw = (RawAddress * 32)()
    count = checked(library.resolve(name.encode(), raw, len(raw)))
    return [Address.of_raw(address) for address in raw[: min(count, len(raw))]]


@dataclass
class Channel:
    """The settings of one channel."""

    #: Packets of high priority leave first.
    high: bool = False
    #: Packets that this host receives are given as soon as they are complete.
    unordered: bool = False
    #: The share of the channel while others of its priority have something to send.
    weight: int = 1
    #: The most that is sent on it to each peer, in bytes a second; 0: no limit.
    rate: int = 0

    def raw(self) -> RawChannel:
        raw = RawChannel(self.high, self.unordered)
        set_number(raw, "weight", self.weight)
        set_number(raw, "rate", self.rate)
        return raw


@dataclass
class Config:
    """The configuration of a host. What is None is as the preset has it. porous.h describes each value; here,
    times are seconds, and switches are True or False."""

    preset: Preset = Preset.DEFAULT
    channels: Sequence[Channel] = ()
    policy: Optional[Policy] = None
    congestion: Optional[Congestion] = None
    integrity: Optional[Integrity] = None
    suites: Sequence[Suite] = ()
    ecn: Optional[bool] = None
    roaming: Optional[bool] = None
    connect_timeout: Optional[float] = None
    timeout: Optional[float] = None
    disconnect_timeout: Optional[float] = None
    keepalive: Optional[float] = None
    unreliable_age: Optional[float] = None
    channel_count: Optional[int] = None
    application_id: Optional[int] = None
    host_receive_budget: Optional[int] = None
    max_peers: Optional[int] = None
    max_peers_per_source: Optional[int] = None
    max_packet: Optional[int] = None
    receive_budget: Optional[int] = None
    send_budget: Optional[int] = None
    frame_window: Optional[int] = None
    packet_window: Optional[int] = None
    send_rate: Optional[int] = None
    receive_rate: Optional[int] = None
    host_send_rate: Optional[int] = None
    replies_per_address: Optional[int] = None
    replies: Optional[int] = None
    congestion_rate: Optional[int] = None
    congestion_rate_bad: Optional[int] = None
    max_datagram: Optional[int] = None
    request_size: Optional[int] = None
    path_mtu: Optional[int] = None
    connection_id_len: Optional[int] = None

    _TIMES = ("connect_timeout", "timeout", "disconnect_timeout", "keepalive", "unreliable_age")
    _SWITCHES = ("ecn", "roaming")
    _LISTS = ("channels", "suites", "preset")

    def check(self) -> None:
        """Raises ConfigError, with the rule that it breaks, unless hosts can be made with it."""
        checked(library.config_check(self.raw()))

    def raw(self) -> RawConfig:
        raw = RawConfig()
        checked(library.config_init(raw, ctypes.sizeof(raw), self.preset))
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None or field.name in self._LISTS:
                continue
            if field.name in self._TIMES:
                setattr(raw, field.name + "_us", microseconds(value))
            elif field.name in self._SWITCHES:
                setattr(raw, field.name, ON if value else OFF)
            else:
                set_number(raw, field.name, value)
        if self.channels:
            channels = (RawChannel * len(self.channels))(*(channel.raw() for channel in self.channels))
            raw.channels = ctypes.addressof(channels)
            raw.channel_count = len(channels)
            # The array lives as long as the struct that points to it.
            raw._channels = channels
        if len(self.suites) > len(raw.suites):
            raise ValueError("4 suites at most")
        raw.suites[: len(self.suites)] = list(self.suites)
        return raw


@dataclass(frozen=True)
class ConnectionIds:
    """How a host makes the ids of its connections, for what routes datagrams by them. Without anything they look
    random. All have the length Config.connection_id_len."""

    kind: Ids = Ids.RANDOM
    #: Of Ids.SHARDED: the number of this host on its port, and the bits that tell it, 1 to 8.
    shard: int = 0
    bits: int = 0
    #: Of Ids.QUIC_LB: the balancer's configuration, 0 to 6, and by which 1 to 15 bytes it knows this server.
    rotation: int = 0
    server_id: bytes = b""
    #: The balancer's key of 16 bytes, by which ids are encrypted.
    key: Optional[bytes] = None

    @classmethod
    def sharded(cls, shard: int, bits: int) -> "ConnectionIds":
        """For several hosts on one port."""
        return cls(Ids.SHARDED, shard, bits)

    @classmethod
    def quic_lb(cls, rotation: int, server_id: BytesLike, key: Optional[BytesLike] = None) -> "ConnectionIds":
        """For a balancer that knows the servers by their QUIC-LB ids."""
        return cls(
            Ids.QUIC_LB,
            rotation=rotation,
            server_id=bytes_of(server_id),
            key=None if key is None else bytes_of(key),
        )

    def raw(self) -> RawConnectionIds:
        if len(self.server_id) > 15:
            raise ValueError("the id of a server has 15 bytes at most")
        if self.key is not None and len(self.key) != 16:
            raise ValueError("a key has 16 bytes")
        raw = RawConnectionIds.sized()
        for name in ("kind", "shard", "bits", "rotation"):
            set_number(raw, name, getattr(self, name))
        raw.server_id[: len(self.server_id)] = list(self.server_id)
        raw.server_id_len = len(self.server_id)
        if self.key is not None:
            raw.key[:], raw.has_key = list(self.key), 1
        return raw


def set_number(raw: ctypes.Structure, name: str, value: int) -> None:
    """Sets a field; ctypes would cut a number that is too large for it."""
    setattr(raw, name, value)
    if getattr(raw, name) != value:
        raise ValueError(f"{name}: {value} is out of range")


def send_options(
    mode: Mode, ttl: Optional[float], receipt: Optional[int], key: Optional[int], redundancy: int
) -> RawSendOptions:
    options = RawSendOptions.sized()
    for name, value in (("mode", mode), ("redundancy", redundancy), ("receipt", receipt), ("key", key)):
        if value is not None:
            set_number(options, name, value)
    options.has_receipt, options.has_key = receipt is not None, key is not None
    if ttl is not None:
        # 0 means none.
        options.ttl_us = max(1, microseconds(ttl))
    return options


class Blob:
    """Bytes to be sent to several peers, which are copied once."""

    def __init__(self, data: BytesLike) -> None:
        self._blob = ctypes.c_void_p()
        data = bytes_of(data)
        self._len = len(data)
        checked(library.blob_copy(data, len(data), self._blob))

    def __len__(self) -> int:
        return self._len

    def __del__(self) -> None:
        if self._blob:
            library.blob_free(self._blob)


class Packet(NamedTuple):
    """A packet that was received."""

    data: bytes
    channel: int
    mode: Mode


class Received(NamedTuple):
    """Of a packet that was received into a buffer."""

    len: int
    channel: int
    mode: Mode


class Transmit(NamedTuple):
    """A datagram to be sent, of a host without a socket."""

    to: Address
    data: bytes
    ecn: Ecn
    #: It must arrive whole or not at all.
    dont_fragment: bool
    #: It answers a sender that is no peer: let it wait for no room.
    to_stranger: bool


class Request(NamedTuple):
    """A host wants to connect, and this one asks: accept() or refuse() it."""

    peer: int
    address: Address


class Connected(NamedTuple):
    """The connection is there, and packets can be sent."""

    peer: int
    address: Address


class Readable(NamedTuple):
    """Packets can be received. It comes once until the peer was read empty."""

    peer: int


class Writable(NamedTuple):
    """A send has raised Full, and there is room again for a packet like that one."""

    peer: int


class Receipt(NamedTuple):
    """What became of a packet with a receipt. Where the first word proves wrong, a second one follows."""

    peer: int
    token: int
    outcome: Union[Outcome, int]


class Moved(NamedTuple):
    """The peer has another address."""

    peer: int
    address: Address
    from_address: Address


class PathNarrowed(NamedTuple):
    """The path to the peer carries only datagrams of this size now."""

    peer: int
    datagram_bytes: int


class PortClosed(NamedTuple):
    """Nothing is bound to the port that this host connects to. The attempt goes on."""

    peer: int
    address: Address


class Disconnected(NamedTuple):
    """The peer has ended, or never came to be. Packets that have come can still be received, for 30 s."""

    peer: int
    reason: Union[Reason, int]
    #: What the application gave that disconnected.
    code: int
    #: Reliable and passive packets that were sent, and not acknowledged.
    undelivered: int
    #: What the application said that refused.
    data: bytes
    #: The application of the host that refused as REFUSED_INCOMPATIBLE.
    application_id: int
    #: What the host speaks that refused as REFUSED_VERSION.
    versions: Tuple[int, int]


Event = Union[
    Request, Connected, Readable, Writable, Receipt, Moved, PathNarrowed, PortClosed, Disconnected
]

_EVENTS: Dict[int, Callable[[RawEvent], Event]] = {
    EventType.REQUEST: lambda e: Request(e.peer, Address.of_raw(e.address)),
    EventType.CONNECTED: lambda e: Connected(e.peer, Address.of_raw(e.address)),
    EventType.READABLE: lambda e: Readable(e.peer),
    EventType.WRITABLE: lambda e: Writable(e.peer),
    EventType.RECEIPT: lambda e: Receipt(e.peer, e.token, known(Outcome, e.outcome)),
    EventType.MOVED: lambda e: Moved(e.peer, Address.of_raw(e.address), Address.of_raw(e.from_)),
    EventType.PATH_NARROWED: lambda e: PathNarrowed(e.peer, e.datagram_bytes),
    EventType.PORT_CLOSED: lambda e: PortClosed(e.peer, Address.of_raw(e.address)),
    EventType.DISCONNECTED: lambda e: Disconnected(
        e.peer,
        known(Reason, e.reason),
        e.code,
        e.undelivered,
        bytes(e.data[: e.data_len]),
        e.application_id,
        (e.oldest_version, e.newest_version),
    ),
}


def event_of(raw: RawEvent) -> Optional[Event]:
    """The event; None if a newer library tells of something that is not known here."""
    make = _EVENTS.get(raw.type)
    return make(raw) if make else None
