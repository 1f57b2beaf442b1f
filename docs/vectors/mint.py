"""Tokens and a ticket in the few lines that a backend needs, with the package `cryptography`: docs/wire.md, "Tokens",
and the documentation of porous-token. Prints those of the examples, as in sealed.txt.
"""
import struct

from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

LABEL = b"porous token"


def mint(version, key, number, application, client, created, expires, audience, user_data, random):
    """A token of one use for one server, and the psk that belongs to it."""
    head = struct.pack("<BBQ", version, number, expires) + random
    derived = HKDF(SHA256(), 64, salt=key, info=b"").derive(LABEL + head)
    # Single use; one audience.
    body = struct.pack("<QQBBQB", client, created, 1, 1, audience, len(user_data)) + user_data
    aead = {1: ChaCha20Poly1305, 2: AESGCM}[version](derived[:32])
    associated = LABEL + struct.pack("<Q", application) + head
    return head + aead.encrypt(bytes(12), body, associated), derived[32:]


def ticket(token, psk, server_key, ip, port):
    """What the game gets, as base64: a token, its psk, and one server at an address of IPv4."""
    server = bytes([4]) + ip + struct.pack("<H", port)
    return bytes([1]) + psk + bytes([len(server_key)]) + server_key + bytes([1]) + server + token


def main():
    key = bytes(range(32))  # shared with the game servers
    server_key = bytes.fromhex("a4e09292b651c278b9772c569f5fa9bb13d906b46ab68c9df9dc2b4409f8a209")
    random = bytes(range(0x40, 0x58))  # of a backend: secrets.token_bytes(24)
    for version, name in (1, ""), (2, " of version 2"):
        token, psk = mint(
            version, key, 7, 0x0123_4567_89AB_CDEF, 42, 1_800_000_000, 1_800_000_030, 0x51, b"ana", random
        )
        print(f"token{name} = {token.hex()}")
        print(f"psk{name} = {psk.hex()}")
    print(f"ticket = {ticket(token, psk, server_key, bytes([192, 0, 2, 1]), 7777).hex()}")


main()
