"""Gives the dissector random datagrams, and mutated ones of docs/vectors, and fails if it fails at any of them.

usage: any_bytes.py FOLDER [SEED]       for the capture; without a seed always the same datagrams
"""
import json
import random
import sys
from pathlib import Path

import pcap
from dissected import datagrams
from vectors import LISTENER, ROOT, before

COUNT = 20_000
CLIENT = ("10.0.0.2", 5000)
# Datagrams are long enough for any form, and a tenth of the capture has the beginnings of datagrams alone.
LONGEST, KEPT = 1500, 100


def random_bytes(chance):
    """Nothing, or bytes of which the first is mostly that of some form."""
    length = chance.choice([0, 1, 2, 5, 12, 23, 24, 60, 100, chance.randrange(LONGEST)])
    data = bytearray(chance.randbytes(length))
    if data and chance.random() < 0.9:
        data[0] = chance.choice([0x40 + chance.randrange(64), 0xC0, 0xC1, 0xD0, 0xD2, 0xE0, 0xF0, 0xF1, 0xF2, 0xF8])
    if len(data) > 7 and chance.random() < 0.5:
        data[1:7] = (len(data) - 3).to_bytes(2, "little") + b"\x02\x00\xff\xff"
    return bytes(data)


def mutated(data, chance):
    """A datagram with some of its bytes changed, removed, repeated, or others between them."""
    data = bytearray(data)
    for _ in range(chance.randrange(1, 5)):
        at, count = chance.randrange(len(data) + 1), chance.randrange(1, 9)
        change = chance.randrange(5)
        if change == 0 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif change == 1 and at < len(data):
            data[at] = chance.choice([0, 1, 0x7F, 0x80, 0xE0, 0xFF, chance.randrange(256)])
        elif change == 2:
            del data[at:at + count]
        elif change == 3:
            data[at:at] = data[at:at + count]
        else:
            data[at:at] = chance.randbytes(count)
    return bytes(data[:LONGEST])


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    print(f"seed {seed}", flush=True)
    chance = random.Random(seed)
    files = sorted((ROOT / "docs" / "vectors").glob("*.json"))
    vectors = [it for file in files for it in json.loads(file.read_text()) if it["hex"]]
    # Those whose context takes thousands of frames are left out.
    near = [it for it in vectors if it.get("context", {}).get("next_acknowledged", 0) < 1 << 31
            and it.get("context", {}).get("next_frame", 0) < 1 << 31]
    packets = []
    for _ in range(COUNT):
        if chance.random() < 0.4:
            packets.append(pcap.packet(LISTENER, CLIENT, random_bytes(chance)))
            continue
        vector = chance.choice(near)
        data = bytes.fromhex(vector["hex"])
        if chance.random() < 0.1:
            # A connection, to which some of what follows belongs.
            from_client, from_listener = before(vector, data)
            packets += [pcap.packet(CLIENT, LISTENER, it) for it in from_client]
            packets += [pcap.packet(LISTENER, CLIENT, it) for it in from_listener]
        hosts = (LISTENER, CLIENT) if chance.random() < 0.7 else (CLIENT, LISTENER)
        packets.append(pcap.packet(*hosts, mutated(data, chance)))
    # Twice over, as in Wireshark itself: once all of them as whole datagrams to a port that is set, and once some of
    # them as a capture that was cut short, by heuristics.
    show(Path(sys.argv[1]) / "any_bytes.pcap", packets, LONGEST * 2, "-d", f"udp.port=={LISTENER[1]},porous")
    show(Path(sys.argv[1]) / "any_bytes_cut.pcap", packets[::10], KEPT)


def show(capture, packets, kept, *arguments):
    pcap.write(capture, [(1000 * index, it) for index, it in enumerate(packets)], kept)
    shown = list(datagrams(capture, "-2", *arguments))
    assert len(shown) == len(packets), f"{len(shown)} of {len(packets)} datagrams are shown"
    refused = sum(it.refused is not None for it in shown)
    dissected = sum(it.is_dissected for it in shown)
    assert dissected > len(packets) / 2 and refused > len(packets) / 4, "most of them have to be read"
    print(f"{capture.name}: {len(shown)} datagrams, {dissected} dissected, {refused} refused, no error", flush=True)


if __name__ == "__main__":
    main()
