"""What is raised."""

import ctypes
import errno

from ._enums import Status, known
from ._library import library


class Error(Exception):
    """A call that has failed. `status` is the number, and the text says what to do."""

    def __init__(self, status: int, text: str = "") -> None:
        self.status = known(Status, status)
        super().__init__(text or library.status_text(status).decode())


class ValueOutOfRange(Error, ValueError):
    """A number that means nothing where it stands."""


class AddressError(Error, ValueError):
    """A text is no address, or nobody can be at an address."""


class ConfigError(Error, ValueError):
    """A configuration breaks a rule, or connection ids cannot be made so."""


class PeerError(Error):
    """There is no such peer (any more), or it is not connected (yet)."""


class Full(Error):
    """The send budget of the peer has no room for the packet: wait for Writable."""


class BufferTooSmall(Error):
    """A packet is longer than the buffer. It is kept; `needed` says how many bytes it has."""

    needed = 0


class SocketError(Error, OSError):
    """The system refused. `errno` is EADDRINUSE, EADDRNOTAVAIL, EACCES, or None for other reasons."""


class SealError(Error, ValueError):
    """Keys, claims or a ticket that cannot be used."""


class Closed(Error):
    """The host was closed."""


_CLASSES = {
    Status.VALUE: ValueOutOfRange,
    Status.ADDRESS: AddressError,
    Status.UTF8: AddressError,
    Status.UNKNOWN_PEER: PeerError,
    Status.NOT_CONNECTED: PeerError,
    Status.DISCONNECTING: PeerError,
    Status.FULL: Full,
    Status.SMALL: BufferTooSmall,
    Status.NOT_SEALED: SealError,
    Status.SERVER_KEY: SealError,
    Status.NULL: Closed,
}


#: What the system refused, and its own number for that.
_REFUSED = {
    Status.IO: None,
    Status.IN_USE: errno.EADDRINUSE,
    Status.NOT_AVAILABLE: errno.EADDRNOTAVAIL,
    Status.NOT_PERMITTED: errno.EACCES,
}


def _refused(status: int) -> Error:
    text = ctypes.create_string_buffer(1024)
    library.io_error_text(text, len(text))
    error = SocketError(status, text.value.decode(errors="replace"))
    error.errno = _REFUSED[Status(status)]
    return error


def error_of(status: int) -> Error:
    """The error for a status of porous.h."""
    if status in _REFUSED:
        return _refused(status)
    if Status.ADDRESS_ITSELF <= status <= Status.ADDRESS_FAMILY:
        return AddressError(status)
    if Status.IDS_SERVER_ID <= status <= Status.CONFIG_CHANNELS:
        return ConfigError(status)
    if Status.TICKET_MALFORMED <= status <= Status.SECURITY_TOO_MANY:
        return SealError(status)
    return _CLASSES.get(status, Error)(status)  # type: ignore[call-overload]


def checked(status: int) -> int:
    """The status itself, unless it is an error, which is raised."""
    if status < 0:
        raise error_of(status)
    return status
