"""What the codec is made of: a cursor over bytes, varints, the two checks, ids from their low bytes, and delays."""


class Refused(Exception):
    """A datagram that a sender would not have written, and the reason."""


def demand(condition, reason):
    if not condition:
        raise Refused(reason)


class Reader:
    """A cursor over bytes, which refuses to read what is not there."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, count):
        demand(count <= self.left(), "truncated")
        self.at += count
        return self.data[self.at - count:self.at]

    def rest(self):
        return self.take(self.left())

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def varint(self):
        """LEB128 of 32 bits: seven bits a byte from the low end, as few bytes as possible."""
        value = 0
        for index in range(5):
            byte = self.number(1)
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                demand(value <= 0xFFFFFFFF, "bad value")
                demand(index == 0 or byte != 0, "not canonical")
                return value
        raise Refused("bad value")


def number(value, size):
    return value.to_bytes(size, "little")


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def id64(value):
    """Numbers of 64 random bits are text in JSON, of which not all readers have integers of 64 bits."""
    return f"0x{value:016x}"


def from_id64(text):
    return int(text, 16)


# --- Integrity -------------------------------------------------------------------------------------------------


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def siphash13(k0, k1, data):
    """SipHash with one round for each word and three at the end."""
    mask = (1 << 64) - 1

    def rotate(x, bits):
        return (x << bits | x >> (64 - bits)) & mask

    v0, v1 = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D
    v2, v3 = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573

    def a_round():
        nonlocal v0, v1, v2, v3
        v0, v2 = (v0 + v1) & mask, (v2 + v3) & mask
        v1, v3 = rotate(v1, 13) ^ v0, rotate(v3, 16) ^ v2
        v0 = rotate(v0, 32)
        v2, v0 = (v2 + v1) & mask, (v0 + v3) & mask
        v1, v3 = rotate(v1, 17) ^ v2, rotate(v3, 21) ^ v0
        v2 = rotate(v2, 32)

    whole = len(data) // 8 * 8
    words = [int.from_bytes(data[at:at + 8], "little") for at in range(0, whole, 8)]
    words.append(int.from_bytes(data[whole:], "little") | (len(data) & 0xFF) << 56)
    for word in words:
        v3 ^= word
        a_round()
        v0 ^= word
    v2 ^= 0xFF
    for _ in range(3):
        a_round()
    return v0 ^ v1 ^ v2 ^ v3


# --- Ids -------------------------------------------------------------------------------------------------------


def expand(low, width, base):
    """The one id in [base - 3R, base + R) whose low `width` bytes are these; `base` is one past the newest."""
    quarter = 1 << (8 * width - 2)
    first = base - 3 * quarter
    value = first + (low - first) % (1 << (8 * width))
    demand(value >= 0, "bad value")
    return value


# --- Delays ----------------------------------------------------------------------------------------------------

DELAY_UNIT = 125
LONGER_DELAY = 0xFF


def delay_byte(microseconds):
    """The longest delay that can be told and is not longer than this one."""
    units = microseconds // DELAY_UNIT
    for exponent in range(8):
        if units >> exponent < 32:
            return exponent << 5 | units >> exponent
    return LONGER_DELAY
