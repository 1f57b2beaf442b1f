"""Hosts, on a socket of their own or without one."""

import ctypes
import os
from ctypes import byref
from typing import Iterator, List, Optional, Sequence, Type, TypeVar, Union

from ._enums import Ecn, Listen, Mode, State, Status
from ._errors import BufferTooSmall, checked
from ._library import library
from ._seal import Credentials, Secured, Security
from ._structs import (
    ChannelStats,
    HostStats,
    PeerStats,
    Progress,
    RawAddress,
    RawEvent,
    RawReceived,
    RawSecured,
    RawTransmit,
    Struct,
)
from ._values import (
    Address,
    Blob,
    BytesLike,
    Config,
    ConnectionIds,
    Event,
    Packet,
    Received,
    Transmit,
    bytes_of,
    event_of,
    microseconds,
    raw_address,
    seconds,
    send_options,
)

_H = TypeVar("_H", bound="BaseHost")
_S = TypeVar("_S", bound=Struct)


class BaseHost:
    """What both kinds of hosts can do. A peer is a number, which is never 0. One thread at a time uses a host."""

    def __init__(self) -> None:
        self._host = ctypes.c_void_p()
        self._event = RawEvent.sized()
        self._received = RawReceived()
        self._buffer = ctypes.create_string_buffer(4096)

    def close(self) -> None:
        """Frees the host. One on a socket tells each peer once that the connection ends. All calls raise Closed
        from now on, but for this one."""
        host, self._host = self._host, ctypes.c_void_p()
        checked(library.host_free(host))

    @property
    def closed(self) -> bool:
        return not self._host

    def __enter__(self: _H) -> _H:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_host", None):
            library.host_free(self._host)

    def _changed(self) -> None:
        """Called after each command that makes datagrams."""

    # Peers.

    def listen(self, policy: Listen = Listen.OPEN) -> None:
        """Says whether strangers may connect. At first they may not."""
        checked(library.listen(self._host, policy))

    def connect(self, to: Union[Address, str], greeting: BytesLike = b"") -> int:
        """Begins to connect, with a greeting of up to 255 bytes, and returns the peer. Connected or Disconnected
        follows."""
        return self.connect_any([to], greeting)

    def connect_any(self, to: Sequence[Union[Address, str]], greeting: BytesLike = b"") -> int:
        """As connect(), to a host that may be at any of up to 8 addresses, which are tried at once."""
        places = (RawAddress * len(to))(*map(raw_address, to))
        peer = ctypes.c_uint64()
        greeting = bytes_of(greeting)
        checked(library.connect_any(self._host, places, len(to), greeting, len(greeting), peer))
        self._changed()
        return peer.value

    def set_connection_ids(self, ids: ConnectionIds) -> None:
        """Says how the ids of new connections are made: connections that are there keep theirs."""
        checked(library.set_connection_ids(self._host, ids.raw()))

    def accept(self, peer: int) -> None:
        """Lets a peer in that asked by Request."""
        checked(library.accept(self._host, peer))
        self._changed()

    def refuse(self, peer: int, data: BytesLike = b"") -> None:
        """Turns a peer away that asked by Request, with up to 64 bytes for its application."""
        data = bytes_of(data)
        checked(library.refuse(self._host, peer, data, len(data)))
        self._changed()

    def disconnect(self, peer: int, code: int = 0, flush: float = 0) -> None:
        """Ends a connection at once, or when all was delivered, within `flush` seconds. Disconnected follows."""
        checked(library.disconnect(self._host, peer, code, microseconds(flush)))
        self._changed()

    def disconnect_all(self, code: int = 0, flush: float = 0) -> None:
        """Ends all connections, and lets no more strangers in. Go on until is_empty()."""
        checked(library.disconnect_all(self._host, code, microseconds(flush)))
        self._changed()

    def drain(self, code: int, at_most: float) -> None:
        """Ends a server: newcomers are refused as full, and each connection ends when all was delivered, or `at_most`
        seconds are over. Go on until is_empty()."""
        checked(library.drain(self._host, code, microseconds(at_most)))
        self._changed()

    def is_empty(self) -> bool:
        """Whether there are no live peers, and nothing more to say to those that have ended."""
        return bool(checked(library.is_empty(self._host)))

    def peers(self) -> List[int]:
        """The live peers."""
        return self._names(library.peers)

    def readable(self) -> List[int]:
        """The peers of which packets can be received now."""
        return self._names(library.readable)

    def _names(self, function) -> List[int]:
        count = checked(function(self._host, None, 0))
        names = (ctypes.c_uint64 * count)()
        checked(function(self._host, names, count))
        return list(names)

    def peer_state(self, peer: int) -> State:
        """How far a peer is; State.NONE if there is no such peer (any more)."""
        return State(checked(library.peer_state(self._host, peer)))

    def peer_address(self, peer: int) -> Address:
        """Where datagrams to a peer go."""
        raw = RawAddress()
        checked(library.peer_address(self._host, peer, raw))
        return Address.of_raw(raw)

    def peer_greeting(self, peer: int) -> bytes:
        """What the remote application said with its request. In a plain connection it proves nothing."""
        buffer = ctypes.create_string_buffer(255)
        length = checked(library.peer_greeting(self._host, peer, buffer, len(buffer)))
        return buffer.raw[:length]

    # Sealed connections. The configuration has to name suites.

    def set_security(self, security: Security) -> None:
        """Says how the host seals, from now on: connections that are there keep their keys."""
        checked(library.set_security(self._host, security.raw()))

    def connect_sealed(self, to: Union[Address, str, Sequence[Union[Address, str]]], with_: Credentials) -> int:
        """As connect_any(), for a connection that no listener can read, and nobody can change. Its key, a psk or a
        ticket proves the server; without one an attacker in between can be the other end."""
        to = [to] if isinstance(to, (Address, str)) else to
        places = (RawAddress * len(to))(*map(raw_address, to))
        peer = ctypes.c_uint64()
        checked(library.connect_sealed(self._host, places, len(to), with_.raw(), peer))
        self._changed()
        return peer.value

    def peer_secured(self, peer: int) -> Optional[Secured]:
        """What is proved of the connection; None if it is plain."""
        raw = RawSecured.sized()
        return Secured.of_raw(raw) if checked(library.peer_secured(self._host, peer, raw)) else None

    def peer_export(self, peer: int, label: BytesLike) -> bytes:
        """A secret of 32 bytes that both hosts of a sealed connection have and nobody else, another one for each
        label."""
        label = bytes_of(label)
        secret = ctypes.create_string_buffer(32)
        checked(library.peer_export(self._host, peer, label, len(label), secret))
        return secret.raw

    # Events.

    def poll_event(self) -> Optional[Event]:
        """The next event, if there is one."""
        while checked(library.poll_event(self._host, byref(self._event))):
            event = event_of(self._event)
            if event is not None:
                return event
        return None

    def events(self) -> Iterator[Event]:
        """The events, until none is there."""
        while True:
            event = self.poll_event()
            if event is None:
                return
            yield event

    # Packets.

    def send(
        self,
        peer: int,
        data: Union[BytesLike, Blob],
        channel: int = 0,
        mode: Mode = Mode.RELIABLE,
        *,
        ttl: Optional[float] = None,
        receipt: Optional[int] = None,
        key: Optional[int] = None,
        redundancy: int = 0,
    ) -> None:
        """Queues a packet, which leaves with the next step. Raises Full if there is no room: go on at Writable.

        `ttl` is the age in seconds at which it is of no more use; the event Receipt tells what became of the packet
        with this `receipt`; only the newest packet of a channel with this `key` is of use; `redundancy` copies, 1 to
        3 or NO_COPIES, go into later datagrams."""
        is_plain = ttl is None and receipt is None and key is None and not redundancy
        if isinstance(data, Blob):
            options = send_options(mode, ttl, receipt, key, redundancy)
            checked(library.send_blob(self._host, peer, channel, data._blob, byref(options)))
        elif is_plain:
            data = bytes_of(data)
            checked(library.send(self._host, peer, channel, mode, data, len(data)))
        else:
            data = bytes_of(data)
            options = send_options(mode, ttl, receipt, key, redundancy)
            checked(library.send_with(self._host, peer, channel, data, len(data), byref(options)))
        self._changed()

    def cancel(self, peer: int, channel: int, receipt: int) -> bool:
        """Cancels the packets of a channel with this receipt; whether there were any."""
        was_there = bool(checked(library.cancel(self._host, peer, channel, receipt)))
        self._changed()
        return was_there

    def receive(self, peer: int) -> Optional[Packet]:
        """The next packet from a peer, if there is one."""
        try:
            what = self.receive_into(peer, self._buffer)
        except BufferTooSmall as error:
            self._buffer = ctypes.create_string_buffer(error.needed)
            what = self.receive_into(peer, self._buffer)
        if what is None:
            return None
        return Packet(ctypes.string_at(self._buffer, what.len), what.channel, what.mode)

    def receive_into(self, peer: int, buffer: object) -> Optional[Received]:
        """Receives the next packet into a buffer that can be written to, as a bytearray. Raises BufferTooSmall if
        the packet is longer; it is kept."""
        if not isinstance(buffer, ctypes.Array):
            # No memory of no bytes has an address; a packet of no bytes fits all the same.
            view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
            buffer = (ctypes.c_char * len(view)).from_buffer(view) if len(view) else (ctypes.c_char * 0)()
        status = library.receive(self._host, peer, byref(self._received), buffer, ctypes.sizeof(buffer))
        if status == 0:
            return None
        what = self._received
        if status == Status.SMALL:
            error = BufferTooSmall(status)
            error.needed = what.len
            raise error
        checked(status)
        self._changed()  # there may be room again, of which the other end has to hear
        return Received(what.len, what.channel, Mode(what.mode))

    def packets(self, peer: int) -> Iterator[Packet]:
        """The packets from a peer, until none is there."""
        while True:
            packet = self.receive(peer)
            if packet is None:
                return
            yield packet

    # Rates, in bytes a second; 0: no limit.

    def set_send_rate(self, peer: int, rate: int) -> None:
        checked(library.set_send_rate(self._host, peer, rate))
        self._changed()

    def set_receive_rate(self, peer: int, rate: int) -> None:
        checked(library.set_receive_rate(self._host, peer, rate))
        self._changed()

    def set_channel_rate(self, peer: int, channel: int, rate: int) -> None:
        checked(library.set_channel_rate(self._host, peer, channel, rate))
        self._changed()

    def set_host_send_rate(self, rate: int) -> None:
        """Of all peers together."""
        checked(library.set_host_send_rate(self._host, rate))
        self._changed()

    # What is known.

    def _told(self, kind: Type[_S], function, *names: int) -> _S:
        stats = kind.sized()
        checked(function(self._host, *names, byref(stats)))
        return stats

    def _progress(self, function, *names: int) -> Optional[Progress]:
        progress = Progress.sized()
        return progress if checked(function(self._host, *names, byref(progress))) else None

    def peer_info(self, peer: int) -> PeerStats:
        return self._told(PeerStats, library.peer_info, peer)

    def channel_info(self, peer: int, channel: int) -> ChannelStats:
        return self._told(ChannelStats, library.channel_info, peer, channel)

    def host_info(self) -> HostStats:
        return self._told(HostStats, library.host_info)

    def send_progress(self, peer: int, channel: int, receipt: int) -> Optional[Progress]:
        """How far the packet with a receipt has come; None if its fate is known, or there is none."""
        return self._progress(library.send_progress, peer, channel, receipt)

    def receive_progress(self, peer: int, channel: int) -> Optional[Progress]:
        """How much of a packet has come that is received in part; None if there is none."""
        return self._progress(library.receive_progress, peer, channel)


class Host(BaseHost):
    """A host on a UDP socket of its own, at an address as "[::]:4000"; with port 0 the system chooses one."""

    def __init__(self, config: Optional[Config] = None, address: str = "0.0.0.0:0") -> None:
        super().__init__()
        raw = (config or Config()).raw()
        checked(library.udp_bind(raw, address.encode(), self._host))
        self._begin()

    def _begin(self) -> None:
        """The host has its socket."""

    @classmethod
    def adopt(cls: Type[_H], fileno: int, config: Optional[Config] = None) -> _H:
        """A host on a UDP socket of the program's, as socket.detach() gives it. The host owns it from now on."""
        host = cls.__new__(cls)
        BaseHost.__init__(host)
        checked(library.udp_adopt((config or Config()).raw(), fileno, host._host))
        host._begin()
        return host

    @classmethod
    def bind_shards(cls: Type[_H], count: int, config: Optional[Config] = None, address: str = "0.0.0.0:0") -> List[_H]:
        """Hosts on one port, each for a thread of its own: a power of two from 1 to 128. Close all of them or none. Only
        Linux can do this."""
        handles = (ctypes.c_void_p * max(count, 1))()
        checked(library.udp_bind_shards((config or Config()).raw(), address.encode(), count, handles))
        hosts = []
        for handle in handles:
            host = cls.__new__(cls)
            BaseHost.__init__(host)
            host._host.value = handle
            host._begin()
            hosts.append(host)
        return hosts

    def step(self) -> None:
        """Takes in what has come, does what is due, and sends. Never blocks."""
        checked(library.udp_step(self._host))

    def transmit(self) -> None:
        """Does what is due and sends, and takes nothing in. Never blocks."""
        checked(library.udp_transmit(self._host))

    def wait(self, at_most: float) -> None:
        """Sends, sleeps until something happens or `at_most` seconds are over, and does what step() does."""
        checked(library.udp_wait(self._host, microseconds(at_most)))

    def finish(self, code: int = 0, flush: float = 0) -> None:
        """Ends all connections, waits until all peers know, which is mostly for a round trip, and closes. Within
        `flush` seconds, all that was sent is delivered before."""
        checked(library.udp_close(self._host, code, microseconds(flush)))
        self.close()

    @property
    def address(self) -> Address:
        """Where the socket is bound."""
        raw = RawAddress()
        checked(library.udp_address(self._host, raw))
        return Address.of_raw(raw)

    def fileno(self) -> int:
        """The file descriptor, for an event loop to watch."""
        socket = ctypes.c_ssize_t()
        checked(library.udp_socket(self._host, socket))
        return socket.value

    def deadline(self) -> Optional[float]:
        """In how many seconds step() is to be called, if no datagram comes before; None for never."""
        from_now = ctypes.c_uint64()
        checked(library.udp_deadline(self._host, from_now))
        return seconds(from_now.value)

    def is_blocked(self) -> bool:
        """Whether an event loop waits for the socket to become writable as well."""
        return bool(checked(library.udp_is_blocked(self._host)))

    def set_time_limit(self, limit: float) -> None:
        """How many seconds one step takes datagrams in at most, and sends them."""
        checked(library.udp_set_time_limit(self._host, microseconds(limit)))

    def set_suffix(self, to: Union[Address, str], suffix: BytesLike) -> None:
        """Puts up to 32 bytes behind each datagram to a proxy, which knows the server by them and removes them: before
        connect(). Without bytes there is no suffix."""
        suffix = bytes_of(suffix)
        checked(library.udp_set_suffix(self._host, raw_address(to), suffix, len(suffix)))


class CoreHost(BaseHost):
    """A host without a socket: the program carries its datagrams and its time. Without a seed, the system's secure
    generator gives one; in a test, 32 bytes make a run repeatable."""

    def __init__(self, config: Optional[Config] = None, seed: Optional[bytes] = None) -> None:
        super().__init__()
        seed = os.urandom(32) if seed is None else seed
        if len(seed) != 32:
            raise ValueError("a seed has 32 bytes")
        checked(library.core_new((config or Config()).raw(), seed, self._host))

    def set_time(self, now: float) -> None:
        """What follows happens at this time, in seconds: call it at the begin of each turn."""
        checked(library.core_time(self._host, microseconds(now)))

    def input(self, address: Union[Address, str], data: BytesLike, ecn: Ecn = Ecn.NOT_ECT) -> int:
        """Takes in a datagram that has come. Returns 0 if a peer has taken it; otherwise why it was ignored, which
        is no error: a place in HostStats.ignored."""
        data = bytes_of(data)
        return checked(library.core_input(self._host, raw_address(address), ecn, data, len(data)))

    def output(self) -> Optional[Transmit]:
        """The next datagram to be sent, if there is one."""
        needed = self.buffer_size()
        if len(self._buffer) < needed:
            self._buffer = ctypes.create_string_buffer(needed)
        raw = RawTransmit()
        if not checked(library.core_output(self._host, raw, self._buffer, len(self._buffer))):
            return None
        data = ctypes.string_at(self._buffer, raw.len)
        to = Address.of_raw(raw.to)
        return Transmit(to, data, Ecn(raw.ecn), bool(raw.dont_fragment), bool(raw.to_stranger))

    def outputs(self) -> Iterator[Transmit]:
        """The datagrams to be sent: after all input, commands and timeout()."""
        while True:
            transmit = self.output()
            if transmit is None:
                return
            yield transmit

    def timeout(self) -> None:
        """Does what is due: when deadline() says so, or in each turn."""
        checked(library.core_timeout(self._host))

    def deadline(self) -> Optional[float]:
        """When timeout() is to be called next; None for never."""
        at = ctypes.c_uint64()
        checked(library.core_deadline(self._host, at))
        return seconds(at.value)

    def buffer_size(self) -> int:
        """The most bytes of a datagram that is sent."""
        size = ctypes.c_uint64()
        checked(library.core_buffer_size(self._host, size))
        return size.value

    def set_unix_time(self, seconds: int) -> None:
        """The time of day, in seconds since 1970 in UTC, by which the host sees whether tokens have expired."""
        checked(library.core_unix_time(self._host, seconds))

    def unreachable(self, to: Union[Address, str]) -> None:
        """The system cannot send to this address."""
        checked(library.core_unreachable(self._host, raw_address(to)))

    def port_closed(self, at: Union[Address, str, None] = None) -> None:
        """Nothing is bound to the port of this address; None if the system does not say of which."""
        checked(library.core_port_closed(self._host, None if at is None else raw_address(at)))

    def backlog(self, waits: bool) -> None:
        """At the end of a turn: whether it has left datagrams behind that had come, for want of time."""
        checked(library.core_backlog(self._host, bool(waits)))
