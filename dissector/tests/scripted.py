"""Short conversations that show what neither docs/vectors nor a conversation over a bad line has: each is written by
the codec in docs/vectors, and says what the dissector has to show of it.

usage: scripted.py FOLDER       for the captures
"""
import sys
from pathlib import Path

import pcap
from dissected import complaint, datagrams
from vectors import ROOT, handshake

sys.path.insert(0, str(ROOT / "docs" / "vectors"))

from client import OFFER
from porous import encode

CLIENT, SERVER, MOVED = ("10.0.0.2", 5000), ("10.0.0.1", 4000), ("10.0.0.2", 5001)
ASKS, ANSWERS = "0xa7a6a5a4a3a2a1a0", "0xb7b6b5b4b3b2b1b0"
CLIENT_ID, SERVER_ID = "c1c2", "d1d2d3d4"
STEP = 20_000


class Script:
    """Datagrams between a client and a server, and the forms of each."""

    def __init__(self, ids=(CLIENT_ID, SERVER_ID), nonces=(ASKS, ANSWERS), application="0x0123456789abcdef"):
        self.ids, self.nonces = ids, nonces
        self.offer = {**OFFER, "application_id": application}
        self.packets, self.expected = [], []

    def add(self, source, target, data, forms=None):
        self.packets.append(pcap.packet(source, target, data))
        self.expected.append({"forms": forms} if forms else {})

    def forms(self, is_client, *forms):
        hosts = (CLIENT, SERVER) if is_client else (SERVER, CLIENT)
        self.add(*hosts, encode(forms, {}), list(forms))

    def acknowledge(self):
        """The acknowledgements of both hosts, with the request of the client."""
        own = {"nonce_self": self.nonces[0], "nonce_peer": self.nonces[1], "connection_id": self.ids[0],
               "offer": self.offer}
        self.forms(True, {"form": "ACK", **own}, {"form": "REQ", "padding": 0, **own})
        self.forms(False, {"form": "ACK", "nonce_self": self.nonces[1], "nonce_peer": self.nonces[0],
                           "connection_id": self.ids[1], "offer": self.offer})

    def frame(self, is_client, frame_id, messages=(), newest=None, client=CLIENT, missing=()):
        """A short form. `newest` is the newest id that it acknowledges, with those before it that are not missing."""
        own, remote = self.nonces if is_client else self.nonces[::-1]
        form = {"form": "short form", "connection_id": self.ids[is_client], "frame_id": frame_id, "frame_id_bytes": 1,
                "nonce_bit": 0, "acknowledge_now": False, "messages": list(messages)}
        if newest is not None:
            form["acknowledgement"] = {"largest": newest, "largest_bytes": 1, "nonce_sum": 0,
                                       "missing": list(missing)}
        context = {"n_q": 1 << self.offer["log2_n_q"], "check": "head", "nonces": [own, remote]}
        hosts = (client, SERVER) if is_client else (SERVER, client)
        self.add(*hosts, encode([form], context), [form])

    def shown(self, folder, name, *arguments):
        """The datagrams as they are shown, after they were compared with their forms."""
        capture = folder / f"{name}.pcap"
        pcap.write(capture, [(STEP * index, it) for index, it in enumerate(self.packets)])
        shown = list(datagrams(capture, "-2", *arguments))
        assert len(shown) == len(self.packets)
        for datagram, expected in zip(shown, self.expected):
            text = complaint(datagram, expected)
            assert not text, f"{name}, packet {datagram.number}: {text}"
        return shown


def packet(payload, packet_id=0):
    return {"message": "packet", "mode": "unreliable", "channel": 0, "packet_id": packet_id, "dependency": 0,
            "receipt": False, "payload": payload}


def it_follows_a_peer_that_moves_and_a_resync(folder):
    script = Script()
    script.acknowledge()
    script.frame(True, 0, [{"message": "ASK", "channel": 0, "number": 1}])
    script.frame(False, 0, [{"message": "TOLD", "channel": 0, "number": 1, "packet_id": 7}], 0)
    script.frame(True, 1, [{"message": "PING", "id": 1}], 0, client=MOVED)
    script.frame(False, 1, [{"message": "PATH_CHALLENGE", "data": "01" * 8}], 1, client=MOVED)
    script.frame(True, 2, [{"message": "PATH_RESPONSE", "data": "01" * 8}], 1, client=MOVED)
    script.add(SERVER, MOVED, b"\xf2" + bytes.fromhex(SERVER_ID), [{"form": "RESET", "connection_id": SERVER_ID}])
    # Between other hosts nothing is known, so heuristics do not take this for a datagram of this protocol.
    script.add(SERVER, ("10.0.0.3", 5000), b"\xf2" + bytes.fromhex(SERVER_ID))
    shown = script.shown(folder, "moves")
    links = [it.shown("porous.acknowledged_in") for it in shown]
    assert links == [[], [], ["4"], ["5"], ["6"], ["7"], [], [], []], links
    assert shown[3].shown("porous.round_trip") == ["0.020000000"] * 2
    assert [it.is_dissected for it in shown] == [True] * 8 + [False]


def it_tells_connections_between_two_addresses_apart_by_their_checks(folder):
    script = Script(ids=("", ""))
    script.acknowledge()
    script.frame(True, 0, [{"message": "PING", "id": 1}])
    first = script.nonces
    script.nonces = ("0x" + "11" * 8, "0x" + "22" * 8)
    script.acknowledge()
    script.frame(True, 0, [{"message": "PING", "id": 2}])
    second, script.nonces = script.nonces, first
    script.frame(True, 1, [{"message": "PING", "id": 3}])
    script.frame(True, 1, [{"message": "PING", "id": 3}])
    script.frame(False, 0, [], 0)
    script.nonces = second
    script.frame(False, 0, [], 0)
    shown = script.shown(folder, "two")
    assert [it.shown("porous.acknowledged_in") for it in (shown[2], shown[5])] == [["9"], ["10"]]
    assert shown[7].shown("porous.duplicate_of") == ["7"]


def it_links_a_frame_that_came_late(folder):
    script = Script()
    script.acknowledge()
    for frame_id in (0, 1):
        script.frame(True, frame_id, [{"message": "PING", "id": frame_id}])
    script.frame(False, 0, [], 1, missing=[0])
    script.frame(False, 1, [], 1)
    links = [it.shown("porous.acknowledged_in") for it in script.shown(folder, "late")]
    assert links[2:4] == [["6"], ["5"]], links


def it_shows_what_a_capture_without_a_handshake_has(folder):
    script = Script()
    script.frame(True, 3, [packet("6869")])
    shown = script_without_forms(script, folder, "-d", "udp.port==4000,porous")
    assert shown.shown("porous.undecoded") and not shown.refused
    shown = script_without_forms(script, folder, "-d", "udp.port==4000,porous", "-o", "porous.connection_id_bytes:4")
    assert shown.shown("porous.connection_id") == ["d1:d2:d3:d4"]
    assert shown.shown("porous.frame_id_low") == ["3"] and shown.shown("porous.message.packet_id") == ["0"]
    # By a port of the preferences, and neither by that nor by heuristics.
    assert script_without_forms(script, folder, "-o", "porous.ports:3999-4001").is_dissected
    assert not script_without_forms(script, folder).is_dissected


def script_without_forms(script, folder, *arguments):
    script.expected = [{} for _ in script.expected]
    return script.shown(folder, "unknown", *arguments)[0]


def it_reads_what_is_plain_in_sealed_connections(folder):
    begin, end = handshake(CLIENT_ID, 12, "head", (ANSWERS, ASKS), True)
    # With an id of 4 bytes and no greeting, 21 bytes are sealed in message 2; with a greeting there are more.
    brief = end[:1] + (len(end) - 3 - 27).to_bytes(2, "little") + end[3:-27]
    for name, answer, connection_id in (("sealed", brief, ["d1:d2:d3:d4"]), ("sealed_with_greeting", end, [])):
        script = Script()
        for is_client, data in ((True, begin[0]), (False, begin[1]), (True, begin[2]), (False, answer)):
            script.add(*((CLIENT, SERVER) if is_client else (SERVER, CLIENT)), data)
        script.add(CLIENT, SERVER, bytes.fromhex("44" + SERVER_ID + "07") + bytes(40))
        script.add(SERVER, CLIENT, bytes.fromhex("48" + CLIENT_ID + "05") + bytes(40))
        *_, to_server, to_client = script.shown(folder, name)
        assert to_server.shown("porous.connection_id") == connection_id, name
        assert to_client.shown("porous.frame_id") == ["5"] and to_client.shown("porous.phase") == ["1"]


def it_shows_the_packets_of_the_tools(folder):
    script = Script(application="0x706f726f75732d6d")
    script.acknowledge()
    probe = b"\x01" + (7).to_bytes(8, "little") + (123).to_bytes(8, "little")
    script.frame(True, 0, [packet(probe.hex())])
    script.frame(True, 1, [packet("0501", 1)])
    shown = script.shown(folder, "ping")
    assert shown[2].shown("porous_tools.serial") == ["7"] and shown[2].shown("porous_tools.time") == ["123"]
    assert shown[3].shown("porous_tools.short") == [""]
    script = Script(application="0x706f726f75732d74")
    script.acknowledge()
    script.frame(True, 0, [packet((b"\x01" + (9).to_bytes(8, "little") + bytes(32) + "é.bin".encode()).hex())])
    shown = script.shown(folder, "send")
    assert shown[2].shown("porous_tools.name") == ["é.bin"] and shown[2].shown("porous_tools.length") == ["9"]


def it_shows_the_acks_of_an_engine(folder):
    script = Script()
    # Packet 258, whose sender has received 65,533, 65,535, 0 and 1: the example of docs/message.md.
    script.add(CLIENT, SERVER, bytes.fromhex("0201010017000000") + b"game")
    pcap.write(folder / "acks.pcap", [(0, script.packets[0])])
    shown = next(datagrams(folder / "acks.pcap", "-d", "udp.port==4000,porous_acks", proto="porous_acks"))
    assert shown.shown("porous_acks.sequence") == ["258"]
    assert shown.shown("porous_acks.received") == ["1", "0", "65535", "65533"]


def main():
    tests = [it for name, it in sorted(globals().items()) if name.startswith("it_")]
    for test in tests:
        test(Path(sys.argv[1]))
    print(f"{len(tests)} scripts, shown as they were written")


if __name__ == "__main__":
    main()
