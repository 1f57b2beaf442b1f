"""Sealed connections: keys, what hosts demand and bring, and tickets."""

import ctypes
import time
from dataclasses import dataclass
from typing import List, Mapping, NamedTuple, Optional, Sequence, Union

from ._enums import Suite, known
from ._errors import checked
from ._library import library
from ._structs import RawAddress, RawClaims, RawCredentials, RawKey, RawSecured, RawSecurity
from ._values import Address, BytesLike, bytes_of, microseconds, raw_address, set_number


def generate_key() -> bytes:
    """Draws a secret of 32 bytes: the secret key of a server, a psk, a token key."""
    secret = ctypes.create_string_buffer(32)
    checked(library.key_generate(secret))
    return secret.raw


def public_key(secret: bytes) -> bytes:
    """The public key of a secret key: clients know the server by it."""
    key = ctypes.create_string_buffer(32)
    checked(library.public_key(_secret(secret), key))
    return key.raw


def _secret(secret: bytes) -> bytes:
    if len(secret) != 32:
        raise ValueError("a secret has 32 bytes")
    return bytes(secret)


def _keys(secrets: Mapping[int, bytes]) -> ctypes.Array:
    raw = (RawKey * len(secrets))()
    for key, (number, secret) in zip(raw, secrets.items()):
        set_number(key, "number", number)
        key.bytes[:] = _secret(secret)
    return raw


def _point(raw: ctypes.Structure, name: str, data: bytes) -> None:
    """Makes a field point to bytes, which live as long as the struct."""
    kept = ctypes.create_string_buffer(data, len(data))
    setattr(raw, name, ctypes.addressof(kept))
    setattr(raw, "_kept_" + name, kept)


@dataclass
class Security:
    """How a host seals. As it is at first, it lets in every client that seals, and none that does not."""

    #: The secret keys that prove to clients that this is the server: 2 at most.
    identities: Sequence[bytes] = ()
    #: Secrets of clients that are let in, by their numbers: 4 at most.
    psks: Optional[Mapping[int, bytes]] = None
    #: Keys of the backends whose tokens are taken, by their numbers: 4 at most.
    token_keys: Optional[Mapping[int, bytes]] = None
    #: Hosts are let in as well that ask for a plain connection.
    allow_plain: bool = False
    #: Clients are refused that prove nothing by a psk or a token.
    require_proof: bool = False
    #: A client, by the id in its token, may have several connections.
    many_per_client: bool = False
    #: Tokens are taken that name this server, and those that name none.
    server_id: Optional[int] = None
    #: Tokens are refused that expire later than this from now, in seconds; 0: an hour.
    max_token_lifetime: float = 0
    #: A connection goes on to the next key after this time, in seconds; 0: an hour.
    rekey_time: float = 0
    #: After how many frames it does so; 0: as many as is safe.
    rekey_frames: int = 0
    #: How many used tokens are remembered; 0: 16,384.
    used_tokens: int = 0

    def raw(self) -> RawSecurity:
        raw = RawSecurity.sized()
        raw.allow_plain, raw.require_proof = self.allow_plain, self.require_proof
        raw.many_per_client = self.many_per_client
        if self.server_id is not None:
            raw.has_server_id = 1
            set_number(raw, "server_id", self.server_id)
        raw.max_token_lifetime_us = microseconds(self.max_token_lifetime)
        raw.rekey_time_us = microseconds(self.rekey_time)
        set_number(raw, "rekey_frames", self.rekey_frames)
        set_number(raw, "used_tokens", self.used_tokens)
        _point(raw, "identities", b"".join(map(_secret, self.identities)))
        raw.identity_count = len(self.identities)
        for name, keys in (("psk", self.psks or {}), ("token_key", self.token_keys or {})):
            _point(raw, name + "s", bytes(_keys(keys)))
            setattr(raw, name + "_count", len(keys))
        return raw


class Ticket:
    """A token, its secret, the addresses of servers and their key. str() and bytes() write it; it is a secret until
    it was used."""

    def __init__(self) -> None:
        self._ticket = ctypes.c_void_p()

    @classmethod
    def mint(
        cls,
        token_key: bytes,
        *,
        key_number: int,
        application_id: int,
        client_id: int,
        lifetime: float,
        created: Optional[float] = None,
        suite: Suite = Suite.CHACHA_POLY,
        single_use: bool = False,
        audiences: Sequence[int] = (),
        ip: Union[Address, str, None] = None,
        user_data: BytesLike = b"",
        servers: Sequence[Union[Address, str]] = (),
        server_key: bytes = b"",
    ) -> "Ticket":
        """Makes a ticket by the token key that the servers have as well: a backend's work. It expires `lifetime`
        seconds after `created`, which is now by default, in seconds since 1970 in UTC."""
        raw = RawClaims.sized()
        begin = int(time.time() if created is None else created)
        numbers = {"key_number": key_number, "suite": suite, "application_id": application_id}
        numbers.update({"client_id": client_id, "created": begin, "expires": begin + int(lifetime)})
        for name, number in numbers.items():
            set_number(raw, name, number)
        raw.single_use = single_use
        set_number(raw, "audience_count", len(audiences))
        raw.audiences[: len(audiences[:4])] = list(audiences[:4])
        if ip is not None:
            raw.ip = raw_address(ip)
        user_data = bytes_of(user_data)
        _point(raw, "user_data", user_data)
        raw.user_data_len = len(user_data)
        ticket = cls()
        checked(library.ticket_mint(_secret(token_key), raw, ticket._ticket))
        places = (RawAddress * len(servers))(*map(raw_address, servers))
        checked(library.ticket_set_servers(ticket._ticket, places, len(servers)))
        if server_key:
            checked(library.ticket_set_server_key(ticket._ticket, bytes(server_key), len(server_key)))
        return ticket

    @classmethod
    def from_text(cls, text: str) -> "Ticket":
        ticket = cls()
        checked(library.ticket_from_text(text.encode(), ticket._ticket))
        return ticket

    @classmethod
    def from_bytes(cls, data: BytesLike) -> "Ticket":
        ticket, data = cls(), bytes_of(data)
        checked(library.ticket_from_bytes(data, len(data), ticket._ticket))
        return ticket

    def _written(self, function, most: int) -> bytes:
        buffer = ctypes.create_string_buffer(most)
        length = checked(function(self._ticket, buffer, most))
        return buffer.raw[:length]

    def __str__(self) -> str:
        return self._written(library.ticket_to_text, 1500).decode()

    def __bytes__(self) -> bytes:
        return self._written(library.ticket_to_bytes, 1080)

    @property
    def servers(self) -> List[Address]:
        """Where the servers are."""
        raw = (RawAddress * 32)()
        count = checked(library.ticket_servers(self._ticket, raw, len(raw)))
        return [Address.of_raw(address) for address in raw[:count]]

    @property
    def server_key(self) -> bytes:
        """The public key of the servers; empty if there is none."""
        return self._written(library.ticket_server_key, 65)

    @property
    def token(self) -> bytes:
        return self._written(library.ticket_token, 400)

    @property
    def psk(self) -> bytes:
        """The secret of the token."""
        psk = ctypes.create_string_buffer(32)
        checked(library.ticket_psk(self._ticket, psk))
        return psk.raw

    @property
    def expires(self) -> int:
        """When the token expires, in seconds since 1970 in UTC."""
        seconds = ctypes.c_uint64()
        checked(library.ticket_expires(self._ticket, seconds))
        return seconds.value

    def __del__(self) -> None:
        if self._ticket:
            library.ticket_free(self._ticket)


@dataclass
class Credentials:
    """What a client brings to a sealed connection: nothing, at first."""

    #: The ticket of a backend. With one, there is no `psk` and no `token`.
    ticket: Optional[Ticket] = None
    #: The public key of the server: only that server can answer. With a ticket, that of the ticket by default.
    server_key: bytes = b""
    #: A secret that the server has as well, and the number by which it knows it, if there is no token.
    psk: Optional[bytes] = None
    psk_number: int = 0
    #: A token, whose secret is `psk`.
    token: bytes = b""
    #: What the application of the server reads: up to 255 bytes.
    greeting: BytesLike = b""

    def raw(self) -> RawCredentials:
        raw = RawCredentials.sized()
        set_number(raw, "psk_number", self.psk_number)
        if self.ticket is not None:
            raw.ticket = self.ticket._ticket.value
        if self.psk is not None:
            _point(raw, "psk", _secret(self.psk))
        for name in ("server_key", "token", "greeting"):
            data = bytes_of(getattr(self, name))
            if data:
                _point(raw, name, data)
                setattr(raw, name + "_len", len(data))
        return raw


class Secured(NamedTuple):
    """What is proved of a sealed connection."""

    suite: Union[Suite, int]
    #: The number of the psk that both hosts have.
    psk_number: Optional[int]
    #: The client that a token has let in, as the backend names it; None at the client itself.
    client_id: Optional[int]
    #: What the backend has written into the token.
    user_data: bytes
    #: The key that the server has proved to have the secret of; empty if the client named none.
    server_key: bytes
    #: Names this connection, and is no secret.
    binding: bytes

    @classmethod
    def of_raw(cls, raw: RawSecured) -> "Secured":
        return cls(
            known(Suite, raw.suite),
            raw.psk_number if raw.has_psk else None,
            raw.client_id if raw.has_client_id else None,
            bytes(raw.user_data[: raw.user_data_len]),
            bytes(raw.server_key[: raw.server_key_len]),
            bytes(raw.binding),
        )
