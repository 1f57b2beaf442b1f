"""Compares what the dissector shows of every datagram in docs/vectors with its fields, and with the cause for which a
datagram is refused.

usage: vectors.py FOLDER       for the capture

A vector has a conversation of its own, in which a handshake and frames come first, so that the receiver knows what the
context of the vector says.
"""
import json
import sys
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "docs" / "vectors"))

import pcap
from client import OFFER
from dissected import complaint, datagrams
from porous import encode

LISTENER = ("10.0.0.1", 4000)
# Whatever is no vector has another time to live, by which tshark leaves it out.
SHOWN = 65
SENDER, RECEIVER = "0xb7b6b5b4b3b2b1b0", "0xa7a6a5a4a3a2a1a0"
# Frames and acknowledgements leap this far at most: a quarter of what four bytes tell apart.
LEAP = 1 << 30
SEALED = bytes(48).hex()

# Vectors that the dissector cannot show as refused, and why.
EXCEPTIONS = {
    "refused: no byte": "Wireshark hands no dissector a datagram without bytes",
}


def connection_id_of(data, count):
    """The bytes in the place of the connection id, filled up where the datagram ends before."""
    at = 0 if data[0] >> 6 == 1 else 3 + int.from_bytes(data[1:3], "little")
    return (data[at + 1:at + 1 + count] + bytes(20))[:count].hex()


@lru_cache(maxsize=None)
def handshake(connection_id, log2_n_q, check, nonces, is_sealed):
    """What the two hosts say before the listener sends short forms, and the last of it by itself."""
    listener, client = nonces
    offer = {**OFFER, "application_id": "0x0123456789abcdef", "check": check, "log2_n_q": log2_n_q}
    if is_sealed:
        offer["suites"] = [1]
    own = {"nonce_self": client, "connection_id": connection_id, "offer": offer}
    request = {"form": "REQ", "nonce_peer": listener, "padding": 0, **own}
    cookie = {"form": "REQ with COOKIE", "nonce_self": listener, "nonce_peer": client, "connection_id": "",
              "offer": offer, "padding": 0}
    begin = [[{**request, "nonce_peer": "0x" + "0" * 16}], [cookie]]
    if is_sealed:
        auth = {"form": "ACK with AUTH", "suite": 1, "e": bytes(32).hex(), "sealed": SEALED}
        begin.append([{**auth, "nonce_self": client, "nonce_peer": listener, "message": 1}, request])
        end = [{**auth, "nonce_self": listener, "nonce_peer": client, "message": 2}]
    else:
        begin.append([{**request, "form": "ACK"}, request])
        del begin[-1][0]["padding"]
        end = [{"form": "ACK", "nonce_self": listener, "nonce_peer": client, "connection_id": "d1d2d3d4",
                "offer": offer}]
    return [encode(forms, {}) for forms in begin], encode(end, {})


def leaps(next_id):
    """The newest ids that bring a receiver from the beginning to where `next_id` is next."""
    ids, reached = [], 0
    while reached < next_id:
        reached = min(reached + LEAP, next_id)
        ids.append(reached - 1)
    return ids


@lru_cache(maxsize=None)
def frames(text, connection_id):
    """Frames after which the receiver is where the context, as text, says."""
    context = json.loads(text)
    ids, acknowledged = leaps(context["next_frame"]), leaps(context["next_acknowledged"])
    out = []
    for index in range(max(len(ids), len(acknowledged))):
        form = {"form": "short form", "connection_id": connection_id, "nonce_bit": 0, "acknowledge_now": False,
                "frame_id": ids[min(index, len(ids) - 1)] if ids else 0, "frame_id_bytes": 4}
        if context.get("sealed"):
            form["sealed"] = bytes(16).hex()
        else:
            form["messages"] = []
            if acknowledged:
                newest = acknowledged[min(index, len(acknowledged) - 1)]
                form["acknowledgement"] = {"largest": newest, "largest_bytes": 4, "nonce_sum": 0, "missing": []}
        out.append(encode([form], context))
    return out


def before(vector, data):
    """The datagrams before a vector: those of the client, and those of the listener."""
    context = vector.get("context")
    if context is None or not data:
        return [], []
    connection_id = connection_id_of(data, context["connection_id_bytes"])
    log2_n_q = context["n_q"].bit_length() - 1
    nonces = tuple(context.get("nonces", (SENDER, RECEIVER)))
    is_sealed = context.get("sealed", False) or data[0] == 0xD2
    begin, end = handshake(connection_id, log2_n_q, context.get("check", "head"), nonces, is_sealed)
    begins_with_ack = data[0] >> 4 == 0xD
    answers = [begin[1]] + ([] if begins_with_ack else [end])
    return [begin[0], begin[2]], answers + frames(json.dumps(context), connection_id)


def conversation(index, vector):
    """The packets of a vector: what comes before, the vector itself, and a goodbye that ends the connection."""
    client = (f"10.1.{index >> 8}.{index & 255}", 5000)
    data = bytes.fromhex(vector["hex"])
    from_client, from_listener = before(vector, data)
    goodbye = {"form": "DISC", "nonce_self": SENDER, "nonce_peer": RECEIVER, "reason": 0}
    yield from (pcap.packet(client, LISTENER, it) for it in from_client)
    yield from (pcap.packet(LISTENER, client, it) for it in from_listener)
    yield pcap.packet(LISTENER, client, data, SHOWN)
    yield pcap.packet(LISTENER, client, encode([goodbye], {}))


def main():
    files = sorted((ROOT / "docs" / "vectors").glob("*.json"))
    vectors = [vector for file in files for vector in json.loads(file.read_text())]
    packets = [it for index, vector in enumerate(vectors) for it in conversation(index, vector)]
    capture = Path(sys.argv[1]) / "vectors.pcap"
    pcap.write(capture, [(1000 * index, it) for index, it in enumerate(packets)])
    shown = list(datagrams(capture, "-d", f"udp.port=={LISTENER[1]},porous", "-Y", f"ip.ttl == {SHOWN}"))
    assert len(shown) == len(vectors), f"{len(shown)} datagrams are shown"
    wrong = 0
    for datagram, vector in zip(shown, vectors):
        if vector["name"] in EXCEPTIONS:
            assert not datagram.is_dissected, f"{vector['name']}: no exception any more"
        elif text := complaint(datagram, vector):
            wrong += 1
            print(f"{vector['name']}: {text}", file=sys.stderr)
    if wrong or len(vectors) < 400:
        sys.exit(f"{wrong} of {len(vectors)} vectors differ")
    refused = sum("refused" in vector for vector in vectors)
    print(f"{len(vectors)} vectors in {len(packets)} packets, shown as they are; {refused} of them refused, but for "
          f"{len(EXCEPTIONS)}: " + "; ".join(EXCEPTIONS.values()))


if __name__ == "__main__":
    main()
