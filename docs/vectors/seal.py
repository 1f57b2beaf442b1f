"""The handshake, the datagrams and the tokens of sealed connections, a second time: docs/wire.md in Python.

usage: seal.py            prints the examples
       seal.py --check    fails unless sealed.txt, beside this file, has the same ones, and the documentation of
                          porous-token the same ticket

Needs the package `cryptography`. It shares no code with the library, which has to make the same bytes
(porous-crypto/tests/sealing/examples.rs).
"""
import base64
import hashlib
import hmac
import json
import struct
import sys
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

HERE = Path(__file__).resolve().parent
# Vectors of NNpsk0 and NKpsk0 that others have published; the tests of porous-crypto read them as well.
NOISE = HERE / "../../porous-crypto/tests/sealing/noise.json"
# Shows the ticket of the examples as text, and reads it.
TICKETS = HERE / "../../porous-token/src/lib.rs"

# The nonce of an AEAD is four zeros and a number, of which Noise says the order of bytes (§12.3, §12.4).
CIPHERS = {"ChaChaPoly": (ChaCha20Poly1305, "<Q"), "AESGCM": (AESGCM, ">Q")}


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def mac(key, *parts):
    return hmac.new(key, b"".join(parts), hashlib.sha256).digest()


def hkdf(salt, secret, count):
    """RFC 5869 without info, which is Noise's HKDF as well: keys of 32 bytes."""
    key, last, keys = mac(salt, secret), b"", []
    for number in range(1, count + 1):
        last = mac(key, last, bytes([number]))
        keys.append(last)
    return keys


def public(secret):
    key = X25519PrivateKey.from_private_bytes(secret).public_key()
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def agree(secret, other):
    return X25519PrivateKey.from_private_bytes(secret).exchange(X25519PublicKey.from_public_bytes(other))


def seal(cipher, key, number, aad, text):
    make, order = CIPHERS[cipher]
    return make(key).encrypt(bytes(4) + struct.pack(order, number), text, aad)


def opened(cipher, key, number, aad, sealed):
    make, order = CIPHERS[cipher]
    return make(key).decrypt(bytes(4) + struct.pack(order, number), sealed, aad)


def rekey(cipher, key):
    return seal(cipher, key, 2**64 - 1, b"", bytes(32))[:32]


class Noise:
    """The symmetric state of NNpsk0 and NKpsk0 (Noise, revision 34, §5.2)."""

    def __init__(self, name, prologue, psk, server=None):
        self.cipher = name.split("_")[3]
        name = name.encode()
        self.h = name.ljust(32, b"\0") if len(name) <= 32 else sha256(name)
        self.ck = self.h
        self.mix_hash(prologue)
        if server is not None:
            self.mix_hash(server)
        self.ck, temporary, self.key = hkdf(self.ck, psk, 3)
        self.mix_hash(temporary)

    def mix_hash(self, data):
        self.h = sha256(self.h, data)

    def mix_key(self, data):
        self.ck, self.key = hkdf(self.ck, data, 2)

    def ephemeral(self, key):
        self.mix_hash(key)
        self.mix_key(key)  # as in every pattern with a psk, §9.2

    def seal(self, text):
        sealed = seal(self.cipher, self.key, 0, self.h, text)
        self.mix_hash(sealed)
        return sealed

    def open(self, sealed):
        text = opened(self.cipher, self.key, 0, self.h, sealed)
        self.mix_hash(sealed)
        return text

    def split(self):
        """k1 seals what the initiator sends, k2 what the responder sends; all else is derived from k3."""
        return hkdf(self.ck, b"", 3)


def initiate(name, prologue, psk, ephemeral, server, payload):
    state = Noise(name, prologue, psk, server)
    state.ephemeral(public(ephemeral))
    if server is not None:
        state.mix_key(agree(ephemeral, server))
    return state, public(ephemeral) + state.seal(payload)


def respond(name, prologue, psk, secret, ephemeral, message, payload):
    state = Noise(name, prologue, psk, None if secret is None else public(secret))
    theirs = message[:32]
    state.ephemeral(theirs)
    if secret is not None:
        state.mix_key(agree(secret, theirs))
    got = state.open(message[32:])
    state.ephemeral(public(ephemeral))
    state.mix_key(agree(ephemeral, theirs))
    return state, got, public(ephemeral) + state.seal(payload)


def finish(state, ephemeral, message):
    state.ephemeral(message[:32])
    state.mix_key(agree(ephemeral, message[:32]))
    return state.open(message[32:])


def check_noise():
    """Fails unless all published vectors come out."""
    of = bytes.fromhex
    vectors = json.loads(NOISE.read_text())["vectors"]
    assert len(vectors) == 4
    for it in vectors:
        name = it["protocol_name"]
        is_nk = "NKpsk0" in name
        messages = [(of(message["payload"]), of(message["ciphertext"])) for message in it["messages"]]
        first, second = messages[:2]
        server = of(it["init_remote_static"]) if is_nk else None
        secret = of(it["resp_static"]) if is_nk else None
        ours, theirs = of(it["init_ephemeral"]), of(it["resp_ephemeral"])
        state, message = initiate(name, of(it["init_prologue"]), of(it["init_psks"][0]), ours, server, first[0])
        assert message == first[1], name
        other, got, message = respond(
            name, of(it["resp_prologue"]), of(it["resp_psks"][0]), secret, theirs, first[1], second[0]
        )
        assert (got, message) == (first[0], second[1]), name
        assert finish(state, ours, message) == second[0], name
        assert state.h == other.h == of(it["handshake_hash"]), name
        keys = state.split()
        for number, (text, sealed) in enumerate(messages[2:]):
            assert seal(state.cipher, keys[number % 2], number // 2, b"", text) == sealed, name


# ---- what is porous's own


def long(byte0, nonce_self, nonce_peer, body):
    return struct.pack("<BHI", byte0, 20 + len(body), 1) + nonce_self + nonce_peer + body


def covered(form):
    """What a cookie covers: bytes 1 to 14, and 23 to the end."""
    return form[1:15] + form[23:]


def mint(key, version, number, expires, random, application, client, created, flags, audiences, ip, data):
    """A token, and the psk that belongs to it."""
    head = struct.pack("<BBQ", version, number, expires) + random
    sealing, psk = hkdf(key, b"porous token" + head, 2)
    body = struct.pack("<QQBB", client, created, flags, len(audiences))
    body += b"".join(struct.pack("<Q", audience) for audience in audiences)
    body += ip + bytes([len(data)]) + data
    aad = b"porous token" + struct.pack("<Q", application) + head
    return head + seal({1: "ChaChaPoly", 2: "AESGCM"}[version], sealing, 0, aad, body), psk


def ticket(token, psk, server_key, ip, port):
    """The bytes of a ticket, as the documentation of porous-token has them, with one server."""
    servers = b"\1\4" + ip + struct.pack("<H", port)
    return b"\1" + psk + bytes([len(server_key)]) + server_key + servers + token


def goodbye(key, byte0, nonce_self, nonce_peer, body):
    form = long(byte0, nonce_self, nonce_peer, body + bytes(16))[:-16]
    return form + mac(key, form)[:16]


def parameters(longest):
    """Those of the examples of REQ in docs/wire.md, and one suite."""
    return bytes.fromhex(
        "0108efcdab8967452301 0203050401 0302"
        + struct.pack("<H", longest).hex()
        + "040400001000 050400004000 06020c0c 0704ffffffff 080400001000 090100 0a0400000000 0c0101"
    )


def short(cipher, key, byte0, connection_id, number, width, text):
    head = bytes([byte0]) + connection_id + struct.pack("<Q", number)[:width]
    return head + seal(cipher, key, number, head, text)


def examples():
    """One connection from the token to the goodbye: names and bytes, in the order of their making."""
    said = {}
    nonce_i, nonce_r = bytes(range(0xA0, 0xA8)), bytes(range(0xB0, 0xB8))
    id_i, id_r = bytes.fromhex("c1c2c3c4"), bytes.fromhex("d1d2d3d4")
    key, secret, e_i, e_r = bytes(range(32)), bytes([1] * 32), bytes([2] * 32), bytes([3] * 32)
    said |= {"token key": key, "server secret": secret, "secret of e 1": e_i, "secret of e 2": e_r}

    request = b"\x04" + id_i + parameters(1200)
    said["req"] = long(0xC0, nonce_i, bytes(8), request)
    said["req cookie"] = cookie = long(0xC1, nonce_r, nonce_i, b"\0" + parameters(1400))
    repeated = long(0xC0, nonce_i, nonce_r, request)
    assert covered(repeated) == covered(said["req"])

    def minted(version):
        return mint(
            key, version, 7, 1_800_000_030, bytes(range(0x40, 0x58)), 0x0123_4567_89AB_CDEF, 42, 1_800_000_000, 1,
            [0x51], b"", b"ana",
        )

    server = public(secret)
    token, psk = minted(1)
    said |= {"token": token, "psk": psk, "server key": server}
    other, its_psk = minted(2)
    said |= {"token of version 2": other, "psk of version 2": its_psk}
    said["ticket"] = ticket(other, its_psk, server, bytes([192, 0, 2, 1]), 7777)

    # The flags K and T; then the tag of the server's key, and the token.
    terms = bytes([1, 0b1010]) + sha256(server)[:4] + struct.pack("<H", len(token)) + token
    said["prologue"] = prologue = b"porous seal 1" + terms + covered(repeated) + covered(cookie)
    name, cipher = "Noise_NKpsk0_25519_ChaChaPoly_SHA256", "ChaChaPoly"
    initiator, first = initiate(name, prologue, psk, e_i, server, b"hi")
    said["step 3"] = long(0xD2, nonce_i, nonce_r, terms + first) + repeated
    responder, got, second = respond(name, prologue, psk, secret, e_r, first, b"\x04" + id_r)
    assert got == b"hi" and finish(initiator, e_i, second) == b"\x04" + id_r
    assert initiator.h == responder.h and initiator.split() == responder.split()
    k1, k2, k3 = initiator.split()
    said |= {"k1": k1, "k2": k2, "k3": k3, "h": initiator.h}

    # PING 1 of the responder; an acknowledgement of the initiator; PING 2, the first frame of phase 1.
    answer = long(0xD2, nonce_r, nonce_i, bytes([1, 1]) + second)
    said["step 4"] = answer + short(cipher, k2, 0x40, id_i, 0, 1, bytes.fromhex("c00101"))
    said["frame 7"] = short(cipher, k1, 0x44, id_r, 7, 1, bytes.fromhex("002a"))
    after = rekey(cipher, k1)
    said["frame 4194304"] = short(cipher, after, 0x58, id_r, 1 << 22, 2, bytes.fromhex("c00102"))

    said["bye"] = bye = mac(k3, b"porous bye")
    said["disc"] = goodbye(bye, 0xF8, nonce_i, nonce_r, struct.pack("<I", 42))
    said["disc ack"] = goodbye(bye, 0xF9, nonce_r, nonce_i, b"")
    return said


def main():
    check_noise()
    made = examples()
    text = "".join(f"{name} = {value.hex()}\n" for name, value in made.items())
    if sys.argv[1:] == ["--check"]:
        if (HERE / "sealed.txt").read_text() != text:
            sys.exit("seal.py: sealed.txt has other examples than docs/vectors/seal.py makes")
        shown = "".join(TICKETS.read_text().replace("//!", "").replace("\\", "").split())
        if base64.b64encode(made["ticket"]).decode() not in shown:
            sys.exit("seal.py: the documentation of porous-token shows another ticket")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        sys.stdout.write(text)


main()
