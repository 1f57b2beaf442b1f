"""porous: packets over UDP for games and other things that happen now.

A Host is one socket and all peers behind it; a CoreHost has no socket, and the program carries its datagrams and its
time; an AsyncHost lives in an event loop of asyncio. Times are seconds, sizes bytes, rates bytes a second. What fails
raises an Error.

    with porous.Host(address="127.0.0.1:4000") as host:
        host.listen()
        while True:
            host.wait(0.1)
            for event in host.events():
                if isinstance(event, porous.Readable):
                    for packet in host.packets(event.peer):
                        host.send(event.peer, packet.data, packet.channel, packet.mode)
"""

import ctypes
from typing import Any, Callable, Optional

from . import _library
from ._enums import (
    ABI,
    NO_CONNECTION_IDS,
    NO_COPIES,
    OFF,
    ON,
    PATH_MTU_OFF,
    AddressKind,
    Congestion,
    Ecn,
    EventType,
    Ids,
    Integrity,
    Listen,
    Mode,
    Outcome,
    OutputType,
    Policy,
    Preset,
    Reason,
    State,
    Status,
    Suite,
)
from ._errors import (
    AddressError,
    BufferTooSmall,
    Closed,
    ConfigError,
    Error,
    Full,
    PeerError,
    SealError,
    SocketError,
    ValueOutOfRange,
)
from ._host import BaseHost, CoreHost, Host
from ._seal import Credentials, Secured, Security, Ticket, generate_key, public_key
from ._structs import ChannelStats, HostStats, ModeCounts, PeerStats, Progress
from ._values import (
    Address,
    Blob,
    BytesLike,
    Channel,
    Config,
    Connected,
    ConnectionIds,
    Disconnected,
    Event,
    Moved,
    Packet,
    PathNarrowed,
    PortClosed,
    Readable,
    Receipt,
    Received,
    Request,
    Transmit,
    Writable,
    resolve,
)
from .aio import AsyncHost

__all__ = [
    "ABI",
    "Address",
    "AddressError",
    "AddressKind",
    "AsyncHost",
    "BaseHost",
    "Blob",
    "BufferTooSmall",
    "BytesLike",
    "Channel",
    "ChannelStats",
    "Closed",
    "Config",
    "ConfigError",
    "Congestion",
    "Connected",
    "ConnectionIds",
    "CoreHost",
    "Credentials",
    "Disconnected",
    "Ecn",
    "Error",
    "Event",
    "EventType",
    "Full",
    "Host",
    "HostStats",
    "Ids",
    "Integrity",
    "Listen",
    "Mode",
    "ModeCounts",
    "Moved",
    "NO_CONNECTION_IDS",
    "NO_COPIES",
    "OFF",
    "ON",
    "Outcome",
    "OutputType",
    "PATH_MTU_OFF",
    "Packet",
    "PathNarrowed",
    "PeerError",
    "PeerStats",
    "Policy",
    "PortClosed",
    "Preset",
    "Progress",
    "Readable",
    "Reason",
    "Receipt",
    "Received",
    "Request",
    "SealError",
    "Secured",
    "Security",
    "SocketError",
    "State",
    "Status",
    "Suite",
    "Ticket",
    "Transmit",
    "ValueOutOfRange",
    "Writable",
    "generate_key",
    "on_panic",
    "public_key",
    "resolve",
    "version",
]

_told: Any = None


def version() -> str:
    """The version of the library."""
    number = _library.library.version()
    return f"{number >> 16}.{number >> 8 & 255}.{number & 255}"


def on_panic(told: Optional[Callable[[str], None]]) -> None:
    """Names the function that is told the text when a bug of porous was caught, in any thread. With None, the text
    goes to the standard error stream."""
    global _told
    call = _library.TOLD() if told is None else _library.TOLD(lambda _, text, size: told(_text(text, size)))
    _library.library.on_panic(call, None)
    # The one before is of use until the library has the new one.
    _told = call


def _text(text: int, size: int) -> str:
    return ctypes.string_at(text, size).decode(errors="replace")
