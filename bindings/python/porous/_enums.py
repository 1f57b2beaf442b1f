"""The constants of porous.h, under the same names without their beginnings."""

from enum import IntEnum
from typing import Type, TypeVar, Union

ABI = 1

ON = 1
OFF = 2

#: For Config.connection_id_len: the host knows its peers by their addresses alone, and cannot listen.
NO_CONNECTION_IDS = 255
#: For Config.path_mtu: larger datagrams than max_datagram are not searched for.
PATH_MTU_OFF = 1
#: For `redundancy` of a packet: no copies, whatever gets lost.
NO_COPIES = 255


class AddressKind(IntEnum):
    """Of what kind an address is."""

    NONE = 0
    IPV4 = 4
    IPV6 = 6
    OWN = 255


class Preset(IntEnum):
    """What a configuration begins with."""

    DEFAULT = 0
    CLIENT = 1
    PAPER = 2
    EMBEDDED = 3


class Policy(IntEnum):
    """The rules where the paper can be improved."""

    MODERN = 1
    PAPER = 2


class Congestion(IntEnum):
    """What decides how many bytes may be in flight."""

    PAPER = 1
    LEAN = 2
    RENO = 3
    CUBIC = 4
    FIXED = 5
    BINARY = 6


class Integrity(IntEnum):
    """What the check at the end of each datagram covers."""

    HEADER = 1
    CRC32C = 2


class Suite(IntEnum):
    """Algorithms of sealed connections."""

    CHACHA_POLY = 1
    AES_GCM = 2


class Ecn(IntEnum):
    """The two bits for congestion in the header of IP."""

    NOT_ECT = 0
    ECT1 = 1
    ECT0 = 2
    CE = 3


class Listen(IntEnum):
    """Whether strangers may connect."""

    CLOSED = 0
    OPEN = 1
    ASK = 2
    FULL = 3


class Ids(IntEnum):
    """How the connection ids of a host are made."""

    RANDOM = 0
    SHARDED = 1
    QUIC_LB = 2


class EventType(IntEnum):
    """What an event tells; each type has a class of its own."""

    REQUEST = 1
    CONNECTED = 2
    READABLE = 3
    WRITABLE = 4
    RECEIPT = 5
    MOVED = 6
    PATH_NARROWED = 7
    PORT_CLOSED = 8
    DISCONNECTED = 9


class OutputType(IntEnum):
    """What a network thread tells."""

    EVENT = 1
    PACKET = 2
    CONNECTING = 3
    NOT_CONNECTING = 4
    NOT_LISTENING = 5
    NOT_ANSWERED = 6
    UNSENT = 7
    STATS = 8
    PEER_STATS = 9
    SEND_PROGRESS = 10
    RECEIVE_PROGRESS = 11
    ENDED = 12
    NOT_SUFFIXED = 13
    IDS_UNCHANGED = 14


class Outcome(IntEnum):
    """What became of a packet."""

    DELIVERED = 1
    SKIPPED = 2
    LOST = 3
    EXPIRED = 4
    CANCELLED = 5


class Reason(IntEnum):
    """Why a peer has ended."""

    BY_PEER = 1
    BY_US = 2
    GOODBYE_UNANSWERED = 3
    NEVER_ANSWERED = 4
    UNFINISHED = 5
    SILENT = 6
    LOST_BY_PEER = 7
    PATH_TOO_NARROW = 8
    RESTARTED = 9
    UNREACHABLE = 10
    TOO_MANY_FORGERIES = 11
    INTERNAL_ERROR = 12
    REFUSED_VERSION = 20
    REFUSED_INCOMPATIBLE = 21
    REFUSED_FULL = 22
    REFUSED_APPLICATION = 23
    REFUSED_SECURITY = 24
    OTHER = 99


class Mode(IntEnum):
    """How hard a packet is tried."""

    UNRELIABLE = 0
    RELIABLE = 1
    PASSIVE = 2


class State(IntEnum):
    """How far a peer is."""

    NONE = 0
    CONNECTING = 1
    CONNECTED = 2
    DISCONNECTING = 3
    DISCONNECTED = 4
    ZOMBIE = 5


class Status(IntEnum):
    """What a call answers that has failed, as Error.status has it."""

    OK = 0
    NULL = -1
    BUSY = -2
    PANIC = -3
    VERSION = -4
    VALUE = -5
    KIND = -6
    SMALL = -7
    UTF8 = -8
    ADDRESS = -9
    IO = -10
    UNSUPPORTED = -11
    OTHER = -12
    IN_USE = -13
    NOT_AVAILABLE = -14
    NOT_PERMITTED = -15
    UNKNOWN_PEER = -20
    NOT_CONNECTED = -21
    DISCONNECTING = -22
    UNKNOWN_CHANNEL = -23
    TOO_LARGE = -24
    FULL = -25
    ALREADY_CONNECTED = -30
    OUT_OF_CONNECTION_IDS = -31
    NO_ADDRESS = -32
    TOO_MANY_ADDRESSES = -33
    NOT_ASKED = -34
    TOO_LONG = -35
    CANNOT_LISTEN = -36
    NOT_SEALED = -37
    SERVER_KEY = -38
    ADDRESS_FAMILY = -40
    ADDRESS_PORT_ZERO = -41
    ADDRESS_UNSPECIFIED = -42
    ADDRESS_BROADCAST = -43
    ADDRESS_ITSELF = -44
    CONFIG_CHANNELS = -50
    CONFIG_UNKNOWN_CHANNEL = -51
    CONFIG_MAX_DATAGRAM = -52
    CONFIG_REQUEST_SIZE = -53
    CONFIG_WINDOW = -54
    CONFIG_RECEIVE_BUDGET = -55
    CONFIG_CONNECTION_ID_LEN = -56
    CONFIG_REPLY_LIMIT = -57
    CONFIG_SUITES = -58
    CONFIG_ZERO = -59
    IDS_NO_BYTES = -60
    IDS_TOO_SHORT = -61
    IDS_SHARD_BITS = -62
    IDS_SHARD = -63
    IDS_ROTATION = -64
    IDS_SERVER_ID = -65
    SECURITY_TOO_MANY = -70
    SECURITY_WEAK = -71
    CLAIMS_AUDIENCES = -72
    CLAIMS_USER_DATA = -73
    TICKET_SERVERS = -74
    TICKET_BASE64 = -75
    TICKET_VERSION = -76
    TICKET_MALFORMED = -77
    THREAD_FULL = -80
    THREAD_ENDED = -81


_E = TypeVar("_E", bound=IntEnum)


def known(kind: Type[_E], number: int) -> Union[_E, int]:
    """The constant with a number; the number itself, if a newer library has one that is not known here."""
    try:
        return kind(number)
    except ValueError:
        return number
