"""Records a conversation of the client in docs/vectors with a server of the library, while datagrams get lost, and
compares what the dissector shows of it: every datagram with what the codec in docs/vectors says, and every
acknowledgement with the packets that it acknowledges.

usage: conversation.py ADDRESS:PORT FOLDER [SEED]       for the capture and its lines
"""
import json
import random
import sys
import time
from pathlib import Path

import pcap
from dissected import complaint, datagrams
from vectors import ROOT

sys.path.insert(0, str(ROOT / "docs" / "vectors"))

import talk
from client import Agreement
from porous import decode

CLIENT, SERVER = ("10.0.0.2", 5000), ("10.0.0.1", 4000)
LOSS = 0.05
SECONDS = 60


class Recorder(talk.Link):
    """A link that notes what goes through its socket: what it loses on the way out is not noted, and what it loses on
    the way in is."""

    def __init__(self, address, chance):
        super().__init__(address, LOSS, chance)
        self.begin, self.noted = time.monotonic(), []
        self.socket = Tap(self.socket, self.note)

    def note(self, is_sent, datagram):
        self.noted.append((round((time.monotonic() - self.begin) * 1e6), is_sent, datagram))


class Tap:
    """A socket that notes datagrams."""

    def __init__(self, socket, note):
        self.socket, self.note = socket, note

    def send(self, datagram):
        self.note(True, datagram)
        return self.socket.send(datagram)

    def recv(self, size):
        datagram = self.socket.recv(size)
        self.note(False, datagram)
        return datagram

    def fileno(self):
        return self.socket.fileno()


class Reading:
    """Reads the datagrams of a conversation one after the other, as the dissector has to, by the codec."""

    def __init__(self):
        self.offers, self.ids, self.nonces = {}, {}, None
        self.next_frame, self.next_acknowledged = {True: 0, False: 0}, {True: 0, False: 0}
        self.sent = {True: {}, False: {}}
        self.links = {}

    def context(self, is_sent):
        if len(self.ids) < 2:
            return {}
        agreement = Agreement(self.offers[True], self.offers[False])
        return {"connection_id_bytes": len(self.ids[not is_sent]) // 2, "n_q": agreement.n_q,
                "check": agreement.check, "nonces": [self.nonces[is_sent], self.nonces[not is_sent]],
                "next_frame": self.next_frame[is_sent], "next_acknowledged": self.next_acknowledged[is_sent]}

    def read(self, number, is_sent, datagram):
        if datagram[0] == 0xD0:
            # What an ACK says counts for the short form behind it.
            ack = decode(datagram[:3 + int.from_bytes(datagram[1:3], "little")], {})[0]
            self.offers[is_sent], self.ids[is_sent] = ack["offer"], ack["connection_id"]
            self.nonces = {is_sent: ack["nonce_self"], not is_sent: ack["nonce_peer"]}
        forms = decode(datagram, self.context(is_sent))
        if forms[-1]["form"] == "short form":
            self.note(number, is_sent, forms[-1])
        return forms

    def note(self, number, is_sent, frame):
        self.sent[is_sent].setdefault(frame["frame_id"], number)
        self.next_frame[is_sent] = max(self.next_frame[is_sent], frame["frame_id"] + 1)
        if "acknowledgement" in frame:
            largest = frame["acknowledgement"]["largest"]
            self.next_acknowledged[is_sent] = max(self.next_acknowledged[is_sent], largest + 1)
            for acknowledged in ids_of(frame["acknowledgement"]):
                if acknowledged in self.sent[not is_sent]:
                    self.links.setdefault(self.sent[not is_sent][acknowledged], number)


def ids_of(block):
    """The ids that a block acknowledges."""
    ids = set(range(max(block["largest"] - 32, 0), block["largest"] + 1)) - set(block["missing"])
    at = block["largest"] - 32
    for it in block.get("ranges", []):
        at -= it["gap"]
        ids.update(range(at - it["length"], at))
        at -= it["length"]
    return ids


def record(address, folder, seed):
    """The capture and a line of JSON for each datagram, and which packet is acknowledged by which."""
    chance = random.Random(seed)
    link = Recorder(address, random.Random(seed + 1))
    talk.talk(link, chance, time.monotonic() + SECONDS)
    reading, lines, packets = Reading(), [], []
    for number, (at, is_sent, datagram) in enumerate(link.noted, 1):
        hosts = (CLIENT, SERVER) if is_sent else (SERVER, CLIENT)
        packets.append((at, pcap.packet(*hosts, datagram)))
        lines.append({"forms": reading.read(number, is_sent, datagram)})
    pcap.write(folder / "conversation.pcap", packets)
    (folder / "conversation.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return lines, reading.links, [at for at, _ in packets]


def check_links(shown, links, times):
    """Fails unless the dissector links the same packets, both ways, with their round trips."""
    for datagram in shown:
        by = links.get(datagram.number)
        assert datagram.shown("porous.acknowledged_in") == [str(by)] * (by is not None), (
            f"packet {datagram.number} is acknowledged in {by}")
        expected = sorted(number for number, other in links.items() if other == datagram.number)
        acknowledged = sorted(map(int, datagram.shown("porous.acknowledges_packet")))
        assert acknowledged == expected, f"packet {datagram.number} acknowledges {expected}"
        ends = ([by] if by else []) + expected
        round_trips = sorted(abs(times[end - 1] - times[datagram.number - 1]) for end in ends)
        told = sorted(round(float(it) * 1e6) for it in datagram.shown("porous.round_trip"))
        assert told == round_trips, f"packet {datagram.number}: round trips {told}, not {round_trips}"


def main():
    host, port = sys.argv[1].rsplit(":", 1)
    folder, seed = Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    lines, links, times = record((host, int(port)), folder, seed)
    # Nothing says which port this is: the handshake tells.
    shown = list(datagrams(folder / "conversation.pcap", "-2"))
    assert len(shown) == len(lines), f"{len(shown)} of {len(lines)} datagrams are shown"
    wrong = [f"packet {it.number}: {text}" for it, line in zip(shown, lines) if (text := complaint(it, line))]
    assert not wrong, "\n".join(wrong[:3])
    check_links(shown, links, times)
    kinds = {form["form"] for line in lines for form in line["forms"]}
    messages = {it["message"] for line in lines for form in line["forms"] for it in form.get("messages", [])}
    missing = {"REQ", "REQ with COOKIE", "ACK", "DISC", "DISC_ACK", "short form"} - kinds
    missing |= {"packet", "fragment", "WINDOW", "FATES"} - messages
    assert not missing, f"the conversation has no {missing}"
    assert len(links) > 100, f"only {len(links)} packets are acknowledged"
    print(f"{len(shown)} datagrams, {len(links)} acknowledged: shown as the codec reads them, and linked both ways")


if __name__ == "__main__":
    main()
