"""Captures of UDP datagrams over IPv4, in the format of libpcap: the part of it that these tests need."""
import struct

MAGIC, LONGEST, RAW_IP, UDP = 0xA1B2C3D4, 65535, 101, 17


def packet(source, target, datagram, ttl=64):
    """An IP packet between two addresses, each of which is a text and a port. The checksums are left out."""
    header = struct.pack("!HHHH", source[1], target[1], 8 + len(datagram), 0)
    addresses = b"".join(bytes(map(int, address.split("."))) for address, _ in (source, target))
    return struct.pack("!BBHHHBBH", 0x45, 0, 28 + len(datagram), 0, 0, ttl, UDP, 0) + addresses + header + datagram


def write(path, packets, kept=LONGEST):
    """Writes packets: pairs of a time in microseconds and the bytes, of which `kept` are kept at most."""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", MAGIC, 2, 4, 0, 0, LONGEST, RAW_IP))
        for time, data in packets:
            part = data[:kept]
            file.write(struct.pack("<IIII", time // 1_000_000, time % 1_000_000, len(part), len(data)) + part)
