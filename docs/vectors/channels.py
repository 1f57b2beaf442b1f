"""Channels: packets that are sent, and what has come of packets; windows, receipts and what became of them."""
from collections import deque

from basics import demand
from porous import packet_id_bytes

PACKET_CHARGE = 64
WINDOW_INTERVAL = 0.5
# Ids that a frame of a forger may have used up, beside those that it leaps over: it holds this number of messages.
NEAR = 128


class Packet:
    """A packet that has an id and is not passed by the window of the other host."""

    def __init__(self, cost, is_unreliable, messages):
        self.cost, self.is_unreliable, self.unacked = cost, is_unreliable, messages
        self.is_passed = False


class SendChannel:
    def __init__(self, number, agreement):
        self.number, self.agreement = number, agreement
        self.waiting = deque()
        self.next, self.base, self.last_reliable = 0, 0, None
        self.packets = {}
        self.fates = {}

    def dependency(self, packet_id):
        """The distance to the last reliable packet, if that is within the window."""
        if self.last_reliable is None or packet_id - self.last_reliable >= self.agreement.n_q:
            return 0
        return packet_id - self.last_reliable

    def pass_to(self, packet_id):
        """The other host has passed this packet and all before it. Gives the bytes of the budget that are free."""
        # Ids that a forger has used up are not used.
        self.next = max(self.next, packet_id + 1)
        self.base = max(self.base, packet_id + 1)
        passed = [self.packets.pop(it) for it in list(self.packets) if it < self.base]
        for packet in passed:
            packet.is_passed = True
        return sum(packet.cost for packet in passed)

    def check_report(self, packet_id):
        """What was never sent is passed only if a forger has been there, and then only near it."""
        near = min(min(32, self.agreement.n_q // 4) + NEAR, self.agreement.n_q)
        demand(packet_id < self.next + near, "a window beyond what was sent")

    def expand(self, low):
        """A report's id from 32 of its bits, half of their range each way."""
        first = self.base - (1 << 31)
        return first + (low - first) % (1 << 32)


class Entry:
    """What is there of a packet that the window has not passed."""

    def __init__(self, mode, dependency, length, now):
        self.mode, self.dependency, self.length, self.heard = mode, dependency, length, now
        self.bytes, self.have = bytearray(length), bytearray(length)
        self.is_given_up = False

    def is_complete(self):
        return self.is_given_up or all(self.have)


class ReceiveChannel:
    def __init__(self, number, agreement):
        self.number, self.agreement = number, agreement
        self.base, self.newest = 0, 0
        self.entries, self.sentinels = {}, {}
        self.passed_bytes, self.report_at, self.reported = 0, None, None
        self.fates = None

    def place(self, low):
        """The whole id of a packet; None if the window has passed it."""
        ids = 1 << 8 * packet_id_bytes({"n_q": self.agreement.n_q})
        first = self.base + self.agreement.n_q - ids
        packet_id = first + (low - first) % ids
        return packet_id if packet_id >= self.base else None

    def check(self, message):
        """Refuses a message that contradicts what is there."""
        packet_id = self.place(message["packet_id"])
        if packet_id is None:
            return
        demand(message["dependency"] <= packet_id, "depends on what is before the first packet")
        entry, payload = self.entries.get(packet_id), bytes.fromhex(message.get("payload", ""))
        if entry is None or entry.is_given_up or "payload" not in message:
            return
        offset, length = message.get("offset", 0), message.get("packet_length", len(payload))
        same = (entry.mode, entry.dependency, entry.length) == (message["mode"], message["dependency"], length)
        demand(same, "contradiction")
        for index, byte in enumerate(payload, offset):
            demand(not entry.have[index] or entry.bytes[index] == byte, "contradiction")

    def take(self, message, now):
        packet_id = self.place(message["packet_id"])
        if packet_id is None:
            return
        self.newest = max(self.newest, packet_id)
        if message["receipt"] and self.fates is None:
            self.fates = Fates()
        payload = bytes.fromhex(message["payload"])
        length = message.get("packet_length", len(payload))
        entry = self.entries.setdefault(packet_id, Entry(message["mode"], message["dependency"], length, now))
        if entry.is_given_up:
            return
        offset, entry.heard = message.get("offset", 0), now
        entry.bytes[offset:offset + len(payload)] = payload
        entry.have[offset:offset + len(payload)] = b"\x01" * len(payload)

    def mark(self, message, now):
        """A SENTINEL or a TOMBSTONE."""
        packet_id = self.place(message["packet_id"])
        if packet_id is None:
            return
        self.newest = max(self.newest, packet_id)
        if message["message"] == "SENTINEL":
            self.sentinels[packet_id] = message["dependency"]
        elif not (packet_id in self.entries and self.entries[packet_id].is_complete()):
            entry = self.entries[packet_id] = Entry("passive", message["dependency"], 0, now)
            entry.is_given_up = True

    def next_consumable(self):
        def is_free(packet_id, dependency):
            return dependency == 0 or packet_id - dependency < self.base

        complete = (it for it in sorted(self.entries) if self.entries[it].is_complete())
        for packet_id in complete:
            if is_free(packet_id, self.entries[packet_id].dependency):
                return packet_id
        for packet_id in sorted(self.sentinels):
            is_old = self.newest - packet_id >= self.agreement.n_q - self.agreement.spacing
            if is_old and is_free(packet_id, self.sentinels[packet_id]):
                return packet_id
        return None

    def deliver(self, now):
        """The packets that can be delivered now: their modes and their bytes."""
        delivered = []
        while (packet_id := self.next_consumable()) is not None:
            entry = self.entries.get(packet_id)
            is_packet = entry is not None and entry.is_complete() and not entry.is_given_up
            if is_packet:
                delivered.append((entry.mode, bytes(entry.bytes)))
            if self.fates is not None:
                self.fates.add(self.base, packet_id, is_packet)
            for passed in range(self.base, packet_id + 1):
                gone = self.entries.pop(passed, None)
                self.passed_bytes += PACKET_CHARGE + (gone.length if gone else 0)
                self.sentinels.pop(passed, None)
            spacing = self.agreement.spacing
            marked = (packet_id + 1) // spacing * spacing > self.base
            self.base = packet_id + 1
            due = now if marked or self.passed_bytes >= self.agreement.own_budget // 4 else now + WINDOW_INTERVAL
            self.report_at = due if self.report_at is None else min(self.report_at, due)
        return delivered

    def forget_old(self, now):
        """Unreliable packets of which a part has been missing for 2 s."""
        old = [it for it, entry in self.entries.items()
               if entry.mode == "unreliable" and not entry.is_complete() and now - entry.heard > 2]
        for packet_id in old:
            del self.entries[packet_id]


class Fates:
    """What became of the packets that the window has passed, from the first one with a receipt on."""

    def __init__(self):
        self.skipped, self.last, self.is_first = [], None, True

    def add(self, base, packet_id, is_delivered):
        self.skipped += [True] * (packet_id - base) + [not is_delivered]
        self.last = packet_id

    def messages(self, channel):
        """FATES of 64 packets at most, each once."""
        out, first = [], self.last + 1 - len(self.skipped) if self.skipped else 0
        while self.skipped:
            bits, self.skipped = self.skipped[:64], self.skipped[64:]
            first += len(bits)
            out.append({"message": "FATES", "channel": channel, "packet_id": (first - 1) % (1 << 32),
                        "first": self.is_first, "count": len(bits),
                        "skipped": [bit for bit, skipped in enumerate(bits) if skipped]})
            self.is_first = False
        return out
