"""The datagrams of docs/wire.md a second time: bytes to fields and back, in Python without any package.

usage: porous.py            compares the codec with all vectors beside this file, both ways

It is written from docs/wire.md alone and shares no code with the library, so that a vector on which both agree says
that the document is enough. README.md, beside this file, says what the fields are. The cryptography of sealed
connections is in seal.py; here the sealed parts are bytes.
"""
import json
import sys
from pathlib import Path

from basics import Reader, Refused, crc32c, demand, expand, from_id64, id64, number, siphash13, varint

HERE = Path(__file__).resolve().parent

VERSION = 1
MOST_MESSAGES = 128
SHORTEST_FRAGMENT = 256
KEY_BYTES = {1: (32, 32), 2: (32, 32)}
TAG = 16
CHECK = 4
MODES = ["unreliable", "reliable", "passive"]


def check_of(context, frame_id, acknowledged, form):
    """The four bytes behind a short form `form`. `acknowledged` is None if the form acknowledges nothing."""
    sender, receiver = (from_id64(nonce) for nonce in context["nonces"])
    ids = number(frame_id, 8) + (b"" if acknowledged is None else number(acknowledged, 8))
    if context["check"] == "head":
        return number(siphash13(sender, receiver, ids + form[:1]), 8)[:CHECK]
    return number(crc32c(number(sender, 8) + number(receiver, 8) + ids + form), CHECK)


def packet_id_bytes(context):
    return 2 if context["n_q"] <= 16384 else 3


# --- Offers ----------------------------------------------------------------------------------------------------

# Parameters of four bytes and fewer: type, size, name, least value.
PLAIN = {
    3: (2, "longest_datagram", 512),
    4: (4, "longest_packet", 1),
    5: (4, "receive_budget", 0),
    7: (4, "send_rate", 1),
    8: (4, "receive_rate", 1),
    10: (4, "extensions", 0),
    11: (2, "longest_datagram_of_path", 0),
    13: (4, "timeout_ms", 1),
}
CHECKS = ["head", "all"]


def read_channels(value):
    """One count, then two bits a channel, of which the second one is reserved."""
    count = value[0]
    demand(count >= 1 and len(value) == 1 + (count + 3) // 4, "bad value")
    bits = int.from_bytes(value[1:], "little")
    high = [channel for channel in range(count) if bits >> 2 * channel & 1]
    demand(bits == sum(1 << 2 * channel for channel in high), "reserved")
    return {"channels": count, "high_priority": high}


def write_channels(offer):
    bits = sum(1 << 2 * channel for channel in offer["high_priority"])
    return number(offer["channels"], 1) + number(bits, (offer["channels"] + 3) // 4)


def read_parameter(kind, value, offer, may_greet):
    if kind == 1:
        demand(len(value) == 8, "bad value")
        offer["application_id"] = id64(int.from_bytes(value, "little"))
    elif kind == 2:
        demand(len(value) >= 2, "bad value")
        offer.update(read_channels(value))
    elif kind == 6:
        demand(len(value) == 2 and all(4 <= log <= 16 for log in value), "bad value")
        offer["log2_n_p"], offer["log2_n_q"] = value
    elif kind == 9:
        demand(len(value) == 1 and value[0] < len(CHECKS), "bad value")
        offer["check"] = CHECKS[value[0]]
    elif kind == 12:
        demand(1 <= len(value) <= 4 and 0 not in value and len(set(value)) == len(value), "bad value")
        offer["suites"] = list(value)
    elif kind == 14:
        demand(may_greet, "unknown type")
        demand(len(value) >= 1, "bad value")
        offer["greeting"] = value.hex()
    elif kind in PLAIN:
        size, name, least = PLAIN[kind]
        plain = int.from_bytes(value, "little")
        demand(len(value) == size and plain >= least, "bad value")
        offer[name] = plain
    else:
        demand(kind >= 15, "unknown type")
        offer["unknown"].append({"type": kind, "value": value.hex()})


def read_offer(data, may_greet):
    reader, offer, last = Reader(data), {"unknown": []}, 0
    while reader.left():
        kind, size = reader.number(1), reader.number(1)
        demand(kind > last if last >= 10 else kind == last + 1, "unknown type")
        read_parameter(kind, reader.take(size), offer, may_greet)
        last = kind
    demand(last >= 10, "truncated")
    demand(offer["receive_budget"] >= offer["longest_packet"] + 64, "bad value")
    demand(offer.get("longest_datagram_of_path", 1 << 16) > offer["longest_datagram"], "bad value")
    return offer


def write_offer(offer):
    values = {
        1: number(from_id64(offer["application_id"]), 8),
        2: write_channels(offer),
        6: bytes([offer["log2_n_p"], offer["log2_n_q"]]),
        9: bytes([CHECKS.index(offer["check"])]),
    }
    values.update({kind: number(offer[name], size) for kind, (size, name, _) in PLAIN.items() if name in offer})
    if "suites" in offer:
        values[12] = bytes(offer["suites"])
    if "greeting" in offer:
        values[14] = bytes.fromhex(offer["greeting"])
    values.update({it["type"]: bytes.fromhex(it["value"]) for it in offer["unknown"]})
    return b"".join(bytes([kind, len(values[kind])]) + values[kind] for kind in sorted(values))


# --- Long forms ------------------------------------------------------------------------------------------------


def read_long_head(reader):
    """The head, and a reader of the body."""
    byte0, length = reader.number(1), reader.number(2)
    body = Reader(reader.take(length))
    version, own, peer = body.number(4), body.number(8), body.number(8)
    return byte0, version, own, peer, body


def read_req(byte0, own, peer, body):
    cookie = byte0 == 0xC1
    demand(own != 0 and (peer != 0 or not cookie), "bad value")
    connection_id = read_connection_id(body)
    demand(not (cookie and connection_id), "bad value")
    return {
        "form": "REQ with COOKIE" if cookie else "REQ",
        "nonce_self": id64(own),
        "nonce_peer": id64(peer),
        "connection_id": connection_id.hex(),
        "offer": read_offer(body.rest(), may_greet=not cookie),
    }


def read_connection_id(reader):
    length = reader.number(1)
    demand(length <= 20, "bad value")
    return reader.take(length)


def read_ack(byte0, own, peer, body):
    demand(own != 0 and peer != 0, "bad value")
    form = {"form": "ACK", "nonce_self": id64(own), "nonce_peer": id64(peer)}
    if byte0 == 0xD0:
        form["connection_id"] = read_connection_id(body).hex()
        form["offer"] = read_offer(body.rest(), may_greet=False)
        return form
    form["form"] = "ACK with AUTH"
    suite, flags = body.number(1), body.number(1)
    demand(suite >= 1, "bad value")
    form["suite"], form["message"] = suite, 2 if flags & 1 else 1
    demand(flags == 1 or flags & ~14 == 0, "reserved")
    demand(flags & 12 != 12, "bad value")
    if flags & 2:
        form["server_key_tag"] = body.take(4).hex()
    if flags & 4:
        form["psk"] = body.number(4)
    if flags & 8:
        size = body.number(2)
        demand(1 <= size <= 372, "bad value")
        form["token"] = body.take(size).hex()
    # The greeting of message 1; the length, the connection id and the greeting of message 2; and the tag.
    least, most = (TAG + 1, TAG + 1 + 20 + 255) if flags & 1 else (TAG, TAG + 255)
    key_least, key_most = KEY_BYTES.get(suite, (1, 65))
    demand(body.left() >= key_least + least, "truncated")
    demand(body.left() <= key_most + most, "bad value")
    if suite in KEY_BYTES:
        form["e"], form["sealed"] = body.take(key_most).hex(), body.rest().hex()
    else:
        form["e_and_sealed"] = body.rest().hex()
    return form


def read_rej(byte0, version, own, peer, body):
    demand(own == 0 and peer != 0, "bad value")
    reason, oldest, size = body.number(1), body.number(4), body.number(1)
    form = {"form": "REJ", "version": version, "nonce_peer": id64(peer), "reason": reason, "oldest_version": oldest}
    data = body.take(size)
    demand(body.left() == 0, "trailing bytes")
    demand(reason <= 4 and (size == 8 if reason == 1 else size <= (64 if reason == 3 else 0)), "bad value")
    if reason == 1:
        form["application_id"] = id64(int.from_bytes(data, "little"))
    elif reason == 3:
        form["data"] = data.hex()
    return form


def read_disc(byte0, own, peer, body):
    demand(own != 0 and peer != 0, "bad value")
    form = {"form": "DISC_ACK" if byte0 & 1 else "DISC", "nonce_self": id64(own), "nonce_peer": id64(peer)}
    if not byte0 & 1:
        form["reason"] = body.number(4)
    if byte0 & 8:
        form["mac"] = body.take(16).hex()
    demand(body.left() == 0, "trailing bytes")
    return form


def read_forms_behind_ack(ack, reader, context):
    """An ACK may be followed by a REQ or by a short form. Message 1 is followed by the REQ to which it belongs."""
    message = ack.get("message")
    if not reader.left():
        demand(message != 1, "truncated")
        return []
    first = reader.data[reader.at]
    if first >> 6 == 1 and message != 1:
        return [read_short(reader.rest(), {**context, "sealed": message == 2})]
    demand(first >> 4 == 0xC and message != 2, "trailing bytes")
    byte0, version, own, peer, body = read_long_head(reader)
    demand(byte0 in (0xC0, 0xC1), "reserved")
    demand(version == VERSION, "version")
    req = with_padding(read_req(byte0, own, peer, body), reader)
    if message == 1:
        nonces = ("nonce_self", "nonce_peer")
        demand(req["form"] == "REQ" and all(req[it] == ack[it] for it in nonces), "bad value")
    return [req]


def with_padding(req, reader):
    padding = reader.rest()
    demand(not any(padding), "trailing bytes")
    return {**req, "padding": len(padding)}


def read_long(data, context):
    kind, flags = data[0] >> 4, data[0] & 15
    if kind == 0xC:
        demand(len(data) >= 15, "truncated")
        version, own = (int.from_bytes(data[a:b], "little") for a, b in ((3, 7), (7, 15)))
        if version != VERSION:
            demand(own != 0, "bad value")
            return [{"form": "REQ of another version", "version": version, "nonce_self": id64(own)}]
    demand(kind >= 0xC, "unknown type")
    reader = Reader(data)
    byte0, version, own, peer, body = read_long_head(reader)
    if kind == 0xF:
        demand(flags in (0, 1, 8, 9), "unknown type")
    else:
        demand(flags in {0xC: (0, 1), 0xD: (0, 2), 0xE: (0,)}[kind], "reserved")
    if kind != 0xE:
        demand(version == VERSION, "version")
    if kind == 0xC:
        return [with_padding(read_req(byte0, own, peer, body), reader)]
    if kind == 0xD:
        ack = read_ack(byte0, own, peer, body)
        return [ack] + read_forms_behind_ack(ack, reader, context)
    form = read_rej(byte0, version, own, peer, body) if kind == 0xE else read_disc(byte0, own, peer, body)
    demand(reader.left() == 0, "trailing bytes")
    return [form]


def write_long(byte0, own, peer, body, version=VERSION):
    inner = number(version, 4) + number(from_id64(own), 8) + number(from_id64(peer), 8) + body
    return number(byte0, 1) + number(len(inner), 2) + inner


def write_auth(form):
    flags = 1 if form["message"] == 2 else 0
    body = b""
    if "server_key_tag" in form:
        flags, body = flags | 2, body + bytes.fromhex(form["server_key_tag"])
    if "psk" in form:
        flags, body = flags | 4, body + number(form["psk"], 4)
    if "token" in form:
        token = bytes.fromhex(form["token"])
        flags, body = flags | 8, body + number(len(token), 2) + token
    rest = form["e"] + form["sealed"] if "e" in form else form["e_and_sealed"]
    return bytes([form["suite"], flags]) + body + bytes.fromhex(rest)


def write_form(form, context):
    kind = form["form"]
    if kind == "short form":
        return write_short(form, context)
    if kind == "RESET":
        return b"\xf2" + bytes.fromhex(form["connection_id"])
    if kind == "REJ":
        data = number(from_id64(form["application_id"]), 8) if form["reason"] == 1 else bytes.fromhex(form.get("data", ""))
        body = number(form["reason"], 1) + number(form["oldest_version"], 4) + number(len(data), 1) + data
        return write_long(0xE0, id64(0), form["nonce_peer"], body, form["version"])
    nonces = form["nonce_self"], form["nonce_peer"]
    if kind in ("DISC", "DISC_ACK"):
        byte0 = 0xF0 | (kind == "DISC_ACK") | (8 if "mac" in form else 0)
        body = number(form["reason"], 4) if kind == "DISC" else b""
        return write_long(byte0, *nonces, body + bytes.fromhex(form.get("mac", "")))
    if kind == "ACK with AUTH":
        return write_long(0xD2, *nonces, write_auth(form))
    connection_id = bytes.fromhex(form["connection_id"])
    body = number(len(connection_id), 1) + connection_id + write_offer(form["offer"])
    byte0 = {"REQ": 0xC0, "REQ with COOKIE": 0xC1, "ACK": 0xD0}[kind]
    return write_long(byte0, *nonces, body) + bytes(form.get("padding", 0))


# --- Acknowledgements ------------------------------------------------------------------------------------------


def read_acknowledgement(reader, context):
    head = reader.number(1)
    width, map_bytes = (head >> 6) + 1, head >> 3 & 7
    demand(map_bytes <= 4, "bad value")
    largest = expand(reader.number(width), width, context["next_acknowledged"])
    block = {"largest": largest, "largest_bytes": width, "nonce_sum": head & 1}
    if head & 4:
        block["delay"] = reader.number(1)
    told = reader.take(map_bytes)
    demand(map_bytes == 0 or told[-1] != 0xFF, "not canonical")
    bits = int.from_bytes(told + b"\xff" * (4 - map_bytes), "little")
    missing = [largest - 1 - bit for bit in range(32) if not bits >> bit & 1]
    demand(all(frame >= 0 for frame in missing), "bad value")
    block["missing"] = missing
    if head & 2:
        read_ranges(reader, block)
    return block


def read_ranges(reader, block):
    n = reader.number(1)
    count = n & 31
    demand(n != 0, "not canonical")
    demand(count <= 16 and not n & 32, "bad value")
    if n & 128:
        block["newest_is_ecn_capable"] = True
    if n & 64:
        block["marks"] = reader.varint()
        demand(block["marks"] >= 1, "not canonical")
    ranges, lowest = [], block["largest"] - 32
    for index in range(count):
        gap, length = reader.varint(), reader.varint()
        demand(length >= 1, "bad value")
        demand(gap >= 1 or index == 0, "not canonical")
        lowest -= gap + length
        ranges.append({"gap": gap, "length": length})
    demand(lowest >= 0 or not ranges, "bad value")
    if ranges:
        block["ranges"] = ranges


def write_acknowledgement(block):
    largest, width = block["largest"], block["largest_bytes"]
    bits = 0xFFFFFFFF
    for missing in block["missing"]:
        bits &= ~(1 << largest - 1 - missing)
    told = number(bits, 4)
    while told and told[-1] == 0xFF:
        told = told[:-1]
    ranges = block.get("ranges", [])
    marks = block.get("marks", 0)
    n = len(ranges) | (128 if block.get("newest_is_ecn_capable") else 0) | (64 if marks else 0)
    head = width - 1 << 6 | len(told) << 3 | (4 if "delay" in block else 0) | (2 if n else 0) | block["nonce_sum"]
    out = number(head, 1) + number(largest % (1 << 8 * width), width)
    out += number(block["delay"], 1) if "delay" in block else b""
    out += told + (number(n, 1) if n else b"") + (varint(marks) if marks else b"")
    return out + b"".join(varint(it["gap"]) + varint(it["length"]) for it in ranges)


# --- Messages --------------------------------------------------------------------------------------------------


class Prediction:
    """What the head of the next packet or fragment in a datagram need not say."""

    def __init__(self, context):
        self.ids = 1 << 8 * packet_id_bytes(context)
        self.n_q = context["n_q"]
        self.channel, self.length, self.last = 0, None, {}

    def packet_id(self, channel):
        last = self.last.get(channel)
        return None if last is None else (last[0] + 1) % self.ids

    def dependency(self, channel, packet_id, is_reliable):
        if channel not in self.last:
            return 1 if is_reliable else 0
        before, was_reliable, dependency = self.last[channel]
        step = (packet_id - before) % self.ids
        if step > self.ids // 2:
            step -= self.ids
        predicted = step if was_reliable else dependency + step if dependency else 0
        return predicted if step >= 1 and predicted < self.n_q else 0

    def note(self, message):
        is_reliable = message["mode"] == "reliable"
        self.channel, self.length = message["channel"], len(message["payload"]) // 2
        self.last[self.channel] = message["packet_id"], is_reliable, message["dependency"]


def read_packet(head, reader, prediction, context):
    kind, length_form = head >> 5, head & 3
    demand(kind <= 5, "unknown type")
    message = {"message": "fragment" if kind >= 3 else "packet", "mode": MODES[kind % 3]}
    channel = reader.number(1) if head & 16 else prediction.channel
    demand(not (head & 16 and channel == prediction.channel), "not canonical")
    expected = prediction.packet_id(channel)
    packet_id = reader.number(packet_id_bytes(context)) if head & 8 else expected
    demand(packet_id is not None and not (head & 8 and packet_id == expected), "not canonical")
    expected = prediction.dependency(channel, packet_id, kind % 3 == 1)
    dependency = reader.varint() if head & 4 else expected
    demand(not (head & 4 and dependency == expected), "not canonical")
    demand(dependency < context["n_q"], "bad value")
    length = None
    if length_form == 1:
        length = prediction.length
        demand(length is not None, "not canonical")
    elif length_form >= 2:
        length = reader.number(length_form - 1)
        demand(length != prediction.length and (length_form == 2 or length > 255), "not canonical")
    message.update(channel=channel, packet_id=packet_id, dependency=dependency)
    if kind >= 3:
        message["offset"], message["packet_length"] = reader.varint(), reader.varint()
    payload = reader.rest() if length is None else reader.take(length)
    # What ends the datagram has no length.
    demand(length is None or reader.left(), "not canonical")
    if kind >= 3:
        check_fragment(message["offset"], len(payload), message["packet_length"])
    message["payload"] = payload.hex()
    prediction.note(message)
    return message


def check_fragment(offset, length, packet_length):
    end = offset + length
    demand(offset == 0 or offset >= SHORTEST_FRAGMENT, "bad value")
    demand(end <= packet_length and length < packet_length, "bad value")
    demand(length >= (1 if end == packet_length else SHORTEST_FRAGMENT), "bad value")


# Of each control message: its fields, in order. A size, "packet id" or "varint", or a size in bytes as hex.
CONTROL = [
    ("NOOP", []),
    ("PING", [("id", 2)]),
    ("PONG", [("id", 2)]),
    ("WINDOW", [("channel", 1), ("packet_id", 4)]),
    ("SENTINEL", [("channel", 1), ("packet_id", "packet id"), ("dependency", "varint")]),
    ("TOMBSTONE", [("channel", 1), ("packet_id", "packet id"), ("dependency", "varint")]),
    ("LIMITS", [("serial", 2), ("receive_rate", 4)]),
    ("PATH_CHALLENGE", [("data", "bytes")]),
    ("PATH_RESPONSE", [("data", "bytes")]),
    ("PADDING", []),
    ("ASK", [("channel", 1), ("number", 2)]),
    ("TOLD", [("channel", 1), ("number", 2), ("packet_id", 4)]),
    ("FATES", [("channel", 1), ("packet_id", 4)]),
]
SUBTYPES = {name: subtype for subtype, (name, _) in enumerate(CONTROL)}


def read_field(size, reader, context):
    if size == "bytes":
        return reader.take(8).hex()
    if size == "varint":
        return reader.varint()
    return reader.number(packet_id_bytes(context) if size == "packet id" else size)


def read_control(reader, context):
    subtype = reader.number(1)
    demand(subtype < len(CONTROL), "unknown type")
    name, fields = CONTROL[subtype]
    message = {"message": name}
    for field, size in fields:
        message[field] = read_field(size, reader, context)
    demand(message.get("dependency", 0) < context["n_q"], "bad value")
    demand(message.get("receive_rate", 1) >= 1, "bad value")
    if name == "FATES":
        n = reader.number(1)
        count = n & 127
        demand(1 <= count <= 64, "bad value")
        bits = reader.number((count + 7) // 8)
        demand(bits >> count == 0, "reserved")
        message["first"] = n >= 128
        message["skipped"] = [bit for bit in range(count) if bits >> bit & 1]
        message["count"] = count
    return message


def write_control(message, context):
    subtype = SUBTYPES[message["message"]]
    out = bytes([0xC0, subtype])
    for field, size in CONTROL[subtype][1]:
        value = message[field]
        if size == "bytes":
            out += bytes.fromhex(value)
        elif size == "varint":
            out += varint(value)
        else:
            out += number(value, packet_id_bytes(context) if size == "packet id" else size)
    if message["message"] == "FATES":
        out += number(message["count"] | (128 if message["first"] else 0), 1)
        out += number(sum(1 << bit for bit in message["skipped"]), (message["count"] + 7) // 8)
    return out


def read_messages(reader, context):
    """The messages, and how many bytes of padding stand behind them, or None."""
    messages, prediction = [], Prediction(context)
    while reader.left():
        head = reader.number(1)
        receipt = head == 0xE0
        if receipt:
            head = reader.number(1)
        if head >> 5 == 6:
            demand(not receipt, "bad value")
            demand(head == 0xC0, "reserved")
            if reader.left() and reader.data[reader.at] == SUBTYPES["PADDING"]:
                zeros = reader.rest()[1:]
                demand(not any(zeros), "reserved")
                return messages, len(zeros) + 2
            message = read_control(reader, context)
        else:
            message = read_packet(head, reader, prediction, context)
            message["receipt"] = receipt
        messages.append(message)
        demand(len(messages) <= MOST_MESSAGES, "too many messages")
    return messages, None


def write_packet(message, prediction, context, is_last):
    payload = bytes.fromhex(message["payload"])
    channel, packet_id, dependency = message["channel"], message["packet_id"], message["dependency"]
    is_fragment = message["message"] == "fragment"
    head, out = (MODES.index(message["mode"]) + (3 if is_fragment else 0)) << 5, b""
    if channel != prediction.channel:
        head, out = head | 16, out + number(channel, 1)
    if packet_id != prediction.packet_id(channel):
        head, out = head | 8, out + number(packet_id, packet_id_bytes(context))
    if dependency != prediction.dependency(channel, packet_id, message["mode"] == "reliable"):
        head, out = head | 4, out + varint(dependency)
    if is_last:
        pass
    elif len(payload) == prediction.length:
        head |= 1
    else:
        size = 1 if len(payload) <= 255 else 2
        head, out = head | size + 1, out + number(len(payload), size)
    if is_fragment:
        out += varint(message["offset"]) + varint(message["packet_length"])
    prediction.note(message)
    return (b"\xe0" if message["receipt"] else b"") + number(head, 1) + out + payload


def write_messages(messages, padding, context):
    out, prediction = b"", Prediction(context)
    for index, message in enumerate(messages):
        if message["message"] in SUBTYPES:
            out += write_control(message, context)
        else:
            out += write_packet(message, prediction, context, index == len(messages) - 1 and padding is None)
    return out if padding is None else out + b"\xc0\x09" + bytes(padding - 2)


# --- Short forms -----------------------------------------------------------------------------------------------


def read_short(data, context):
    reader = Reader(data)
    byte0 = reader.number(1)
    form = {"form": "short form", "connection_id": reader.take(context["connection_id_bytes"]).hex()}
    width = (byte0 >> 4 & 3) + 1
    form["frame_id"] = expand(reader.number(width), width, context["next_frame"])
    form["frame_id_bytes"], form["nonce_bit"] = width, byte0 >> 1 & 1
    if context.get("sealed"):
        form.update(phase=byte0 >> 3 & 1, acknowledges=bool(byte0 & 4), acknowledge_now=bool(byte0 & 1))
        demand(reader.left() >= TAG, "truncated")
        form["sealed"] = reader.rest().hex()
        return form
    demand(not byte0 & 8, "reserved")
    if "check" in context:
        demand(reader.left() >= CHECK, "truncated")
        reader.data = data[:-CHECK]
        acknowledged = acknowledged_id(byte0, reader, context)
        demand(data[-CHECK:] == check_of(context, form["frame_id"], acknowledged, reader.data), "integrity")
    form["acknowledge_now"] = bool(byte0 & 1)
    if byte0 & 4:
        form["acknowledgement"] = read_acknowledgement(reader, context)
    form["messages"], padding = read_messages(reader, context)
    if padding is not None:
        form["padding"] = padding
    demand(form["messages"] or not byte0 & 1, "not canonical")
    return form


def acknowledged_id(byte0, reader, context):
    """The newest id that a short form acknowledges, which the check covers; None if there is no acknowledgement."""
    if not byte0 & 4:
        return None
    ahead = Reader(reader.data[reader.at:])
    width = (ahead.number(1) >> 6) + 1
    return expand(ahead.number(width), width, context["next_acknowledged"])


def write_short(form, context):
    width = form["frame_id_bytes"]
    block = form.get("acknowledgement")
    byte0 = 0x40 | width - 1 << 4 | form["nonce_bit"] << 1 | form["acknowledge_now"]
    byte0 |= form.get("phase", 0) << 3 | (4 if block or form.get("acknowledges") else 0)
    out = number(byte0, 1) + bytes.fromhex(form["connection_id"])
    out += number(form["frame_id"] % (1 << 8 * width), width)
    if "sealed" in form:
        return out + bytes.fromhex(form["sealed"])
    out += write_acknowledgement(block) if block else b""
    out += write_messages(form["messages"], form.get("padding"), context)
    if "check" in context:
        out += check_of(context, form["frame_id"], block["largest"] if block else None, out)
    return out


# --- Datagrams -------------------------------------------------------------------------------------------------


def decode(data, context):
    """The forms of a datagram. Raises Refused."""
    demand(data, "truncated")
    if data[0] >> 6 == 1:
        return [read_short(data, context)]
    if data[0] == 0xF2:
        demand(len(data) >= 2, "truncated")
        demand(len(data) <= 21, "trailing bytes")
        return [{"form": "RESET", "connection_id": data[1:].hex()}]
    return read_long(data, context)


def encode(forms, context):
    return b"".join(write_form(form, context) for form in forms)


# --- The vectors -----------------------------------------------------------------------------------------------


def complaint(vector):
    """What is wrong with a vector, or None."""
    data, context = bytes.fromhex(vector["hex"]), vector.get("context", {})
    try:
        forms = decode(data, context)
    except Refused as refused:
        if str(refused) == vector.get("refused"):
            return None
        return f"refused: {refused}"
    if "refused" in vector:
        return f"not refused: {vector['refused']}"
    if forms != vector["forms"]:
        return f"read as {json.dumps(forms)}"
    # Nothing but the head of a request of another version is read.
    if forms[0]["form"] != "REQ of another version" and encode(vector["forms"], context) != data:
        return f"written as {encode(vector['forms'], context).hex()}"
    return None


def main():
    files = sorted([*HERE.glob("*.json"), *HERE.glob("conversations/*.json")])
    # Some lines of conversations are no datagrams.
    vectors = [line for file in files for line in json.loads(file.read_text()) if "name" in line]
    wrong = [(vector["name"], text) for vector in vectors if (text := complaint(vector))]
    for name, text in wrong:
        print(f"{name}: {text}", file=sys.stderr)
    if wrong or len(vectors) < 400:
        sys.exit(f"porous.py: {len(wrong)} of {len(vectors)} vectors differ")
    print(f"{len(vectors)} vectors, read and written alike")


if __name__ == "__main__":
    main()
