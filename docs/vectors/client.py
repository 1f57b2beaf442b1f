"""A client that was written from docs/wire.md: the handshake, frames and their acknowledgements, losses and
congestion control, pings, the goodbye.

What it leaves out, as nothing on the wire demands it: several addresses, roaming, longer datagrams than those of the
handshake, marks of congestion, copies, sealing, and the doubt of a receiver about packets that leap (it answers the
doubts of the other host).
"""
import time
from collections import deque

from basics import Refused, demand, id64
from channels import PACKET_CHARGE, Packet, ReceiveChannel, SendChannel
from porous import decode, encode, packet_id_bytes
from received import Received

NO_LIMIT = 0xFFFFFFFF
REQUEST_BYTES = 1200
FIRST_INTERVAL, LONGEST_INTERVAL, GROWTH, ATTEMPT = 0.1, 1.0, 1.5, 10.0
# The most bytes of a frame without its messages, and of a message without its payload.
FRAME_HEAD, MESSAGE_HEAD = 90, 16
ANSWER_INTERVAL = 0.01
OFFER = {
    "application_id": id64(0),
    "channels": 8,
    "high_priority": [0],
    "longest_datagram": REQUEST_BYTES,
    "longest_packet": 1 << 20,
    "receive_budget": 4 << 20,
    "log2_n_p": 12,
    "log2_n_q": 12,
    "send_rate": NO_LIMIT,
    "receive_rate": NO_LIMIT,
    "check": "head",
    "extensions": 0,
    "timeout_ms": 10_000,
    "unknown": [],
}


class Agreement:
    """What follows from both offers."""

    def __init__(self, ours, theirs):
        def smaller(name):
            return min(ours[name], theirs[name])

        self.channels, self.longest_datagram = smaller("channels"), smaller("longest_datagram")
        self.longest_packet = smaller("longest_packet")
        self.n_p, self.n_q = 1 << smaller("log2_n_p"), 1 << smaller("log2_n_q")
        self.check = "all" if "all" in (ours["check"], theirs["check"]) else "head"
        self.remote_budget, self.own_budget = theirs["receive_budget"], ours["receive_budget"]
        self.send_rate = min(ours["send_rate"], theirs["receive_rate"])
        timeouts = [offer["timeout_ms"] for offer in (ours, theirs) if "timeout_ms" in offer]
        self.timeout = min(timeouts) / 1000
        # M of (18), and B_r.
        self.spacing = self.n_q // 8
        ids = 1 << 8 * packet_id_bytes({"n_q": self.n_q})
        self.behind = min((ids - 2 * self.n_q) // 128, max(self.n_p, 256))


def drawn_offer(chance):
    """An offer of which the seed chooses what a connection depends on most; and random bits in the extensions."""
    return {**OFFER, "extensions": chance.randrange(256) << 24, "check": chance.choice(["head", "all"]),
            "log2_n_p": chance.randrange(8, 13), "log2_n_q": chance.choice([6, 8, 10, 12])}


def connect(link, chance):
    """Asks until a listener has acknowledged. Gives the connection."""
    nonce, own_id = id64(chance.randrange(1, 1 << 64)), chance.randbytes(chance.randrange(21))
    offer = drawn_offer(chance)
    print(f"connection id of {len(own_id)} bytes, check of {offer['check']}, N_P {1 << offer['log2_n_p']}, "
          f"N_Q {1 << offer['log2_n_q']}", flush=True)
    cookie, begin, interval = None, time.monotonic(), FIRST_INTERVAL
    next_request = begin
    while (now := time.monotonic()) < begin + ATTEMPT:
        if now >= next_request:
            link.send(request(nonce, cookie, own_id, offer))
            next_request = now + interval * chance.uniform(0.75, 1.25)
            interval = min(interval * GROWTH, LONGEST_INTERVAL)
        datagram = link.receive(next_request)
        if datagram is None or datagram[0] >> 6 == 1:
            continue
        try:
            # The short form behind an ACK will come again: it is not looked at before the connection is there.
            form = decode(datagram[:3 + int.from_bytes(datagram[1:3], "little")], {})[0]
        except Refused:
            continue
        if form.get("nonce_peer") != nonce:
            continue
        if form["form"] == "REJ":
            raise ConnectionError(f"refused: {form}")
        if form["form"] == "REQ with COOKIE" and cookie is None:
            cookie, next_request = form["nonce_self"], time.monotonic()
        elif form["form"] == "ACK" and form["nonce_self"] == cookie:
            agreement = Agreement(offer, form["offer"])
            return Connection(link, chance, agreement, (nonce, cookie), (own_id, bytes.fromhex(form["connection_id"])))
    raise TimeoutError("nobody has answered")


def request(nonce, cookie, own_id, offer):
    about = {"nonce_self": nonce, "connection_id": own_id.hex(), "offer": offer}
    forms = [{"form": "REQ", "nonce_peer": cookie or id64(0), "padding": 0, **about}]
    if cookie:
        forms.insert(0, {"form": "ACK", "nonce_peer": cookie, **about})
    datagram = encode(forms, {})
    return datagram + bytes(REQUEST_BYTES - len(datagram))


class Item:
    """A message that waits or is under way. `on_lost` stands for sending the same message again."""

    def __init__(self, message, is_reliable=False, on_lost=None, packet=None):
        self.message, self.is_reliable, self.packet, self.on_lost = message, is_reliable, packet, on_lost
        self.is_done = self.is_sent = False


class Frame:
    def __init__(self, items, now):
        self.items, self.at = items, now


def payload_bytes(message):
    return len(message.get("payload", "")) // 2


class Congestion:
    """A window in frames that opens with acknowledgements and halves with each episode of loss (RFC 5681), and a
    timeout that doubles as long as nothing is acknowledged (RFC 6298)."""

    def __init__(self):
        self.window, self.threshold, self.recovery = 10.0, float("inf"), -1
        self.srtt = self.var = None
        self.backoff = 1

    def sample(self, round_trip):
        if self.srtt is None:
            self.srtt, self.var = round_trip, round_trip / 2
        self.var += (abs(self.srtt - round_trip) - self.var) / 4
        self.srtt += (round_trip - self.srtt) / 8

    def timeout(self):
        # The other host holds acknowledgements back for 25 ms.
        plain = 0.2 if self.srtt is None else self.srtt + max(4 * self.var, 0.01) + 0.025
        return min(plain * self.backoff, 1.0)

    def on_acked(self, was_full):
        self.backoff = 1
        if was_full:
            self.window += 1 if self.window < self.threshold else 1 / self.window

    def on_lost(self, frame_id, next_id):
        if frame_id > self.recovery:
            self.recovery, self.threshold = next_id, max(2.0, self.window / 2)
            self.window = self.threshold

    def on_timeout(self):
        self.threshold, self.window = max(2.0, self.window / 2), 2.0
        self.backoff *= 2


class Connection:
    def __init__(self, link, chance, agreement, nonces, ids):
        self.link, self.chance, self.agreement = link, chance, agreement
        self.nonces, (self.own_id, self.remote_id) = nonces, ids
        self.received, self.congestion = Received(agreement), Congestion()
        self.sending = [SendChannel(it, agreement) for it in range(agreement.channels)]
        self.receiving = [ReceiveChannel(it, agreement) for it in range(agreement.channels)]
        self.next_frame, self.next_acknowledged = 0, 0
        self.bits, self.left_out = {}, None
        self.widths = deque()
        self.flight, self.signals, self.again = {}, deque(), deque()
        self.charged, self.answered = 0, {}
        self.came_widths = {}
        now = time.monotonic()
        self.heard, self.said, self.pinged, self.credit, self.credited = now, now, 0, 0.0, now
        self.turn, self.doubt, self.ended = 0, None, None
        self.packets, self.refused, self.repeated = deque(), [], 0

    # --- What the application calls

    def send(self, channel, mode, payload, receipt=False):
        demand(len(payload) <= self.agreement.longest_packet, "the packet is too long")
        self.sending[channel].waiting.append((mode, payload, receipt))

    def is_idle(self):
        """True if nothing waits, and all has arrived that is repeated until it arrives."""
        waits = any(channel.waiting for channel in self.sending) or self.again or self.signals
        waits = waits or any(channel.report_at is not None for channel in self.receiving)
        return not waits and not any(item.is_reliable for frame in self.flight.values() for item in frame.items)

    def step(self, most):
        """Sends and receives for this time at most, or until something has come."""
        now = time.monotonic()
        self.on_time(now)
        self.transmit(now)
        datagram = self.link.receive(now + most)
        while datagram is not None:
            self.handle(datagram)
            datagram = self.link.receive(0)
        self.transmit(time.monotonic())

    def disconnect(self, reason):
        """Says goodbye until the other host has acknowledged it. True if it has."""
        disc = {"form": "DISC", "nonce_self": self.nonces[0], "nonce_peer": self.nonces[1], "reason": reason}
        interval, until = FIRST_INTERVAL, time.monotonic() + ATTEMPT
        while time.monotonic() < until and self.ended is None:
            self.link.send(encode([disc], {}))
            next_time = time.monotonic() + interval
            while self.ended is None and (datagram := self.link.receive(next_time)) is not None:
                self.handle(datagram)
            interval = min(interval * GROWTH, LONGEST_INTERVAL)
        return self.ended == "DISC_ACK"

    # --- Receiving

    def context(self, is_own):
        own, remote = self.nonces
        return {"connection_id_bytes": len(self.remote_id if is_own else self.own_id), "n_q": self.agreement.n_q,
                "check": self.agreement.check, "nonces": [own, remote] if is_own else [remote, own],
                "next_frame": self.received.next, "next_acknowledged": self.next_acknowledged}

    def handle(self, datagram):
        now = time.monotonic()
        try:
            form = decode(datagram, self.context(False))[-1]
            if form["form"] == "short form":
                self.handle_frame(form, now)
            else:
                self.handle_long(form)
        except Refused as cause:
            self.refused.append(f"{cause}: {datagram.hex()}")

    def handle_long(self, form):
        names = form.get("nonce_self"), form.get("nonce_peer")
        if names == self.nonces[::-1] and form["form"] in ("DISC", "DISC_ACK"):
            self.ended = form["form"]
            if self.ended == "DISC":
                ack = {"form": "DISC_ACK", "nonce_self": self.nonces[0], "nonce_peer": self.nonces[1]}
                self.link.send(encode([ack], {}))
        elif form["form"] == "RESET" and form["connection_id"] == self.remote_id.hex() and self.doubt is None:
            # It ends the connection unless something valid comes soon.
            self.doubt = time.monotonic() + 1 + 3 * self.congestion.timeout()
            self.ping()

    def handle_frame(self, form, now):
        if form["connection_id"] != self.own_id.hex() or not self.received.verdict(form["frame_id"]):
            return
        block = form.get("acknowledgement")
        acked = self.check_block(block) if block else set()
        for message in form["messages"]:
            self.check_message(message)
        # All is right: only from here on anything changes.
        asks = form["acknowledge_now"] or any(it["message"] != "PONG" for it in form["messages"])
        self.came_widths[form["frame_id"]] = form["frame_id_bytes"]
        self.received.note(form["frame_id"], form["nonce_bit"], asks, now)
        self.heard, self.doubt = now, None
        self.on_acked(acked, now)
        for message in form["messages"]:
            self.on_message(message, now)
        for channel in self.receiving:
            for mode, payload in channel.deliver(now):
                self.packets.append((channel.number, mode, payload))

    def check_block(self, block):
        """The frames that a block acknowledges. It is refused if its sender cannot know them."""
        acked = {it for it in range(block["largest"], max(block["largest"] - 33, -1), -1)} - set(block["missing"])
        at = block["largest"] - 33
        for it in block.get("ranges", []):
            at -= it["gap"]
            acked.update(range(at - it["length"] + 1, at + 1))
            at -= it["length"]
        demand(all(it in self.bits for it in acked), "acknowledges what was not sent")
        demand(sum(self.bits[it] for it in acked) & 1 == block["nonce_sum"], "the sum of the nonces is wrong")
        return acked

    def check_message(self, message):
        demand(message.get("channel", 0) < self.agreement.channels, "channel")
        if message["message"] in ("packet", "fragment"):
            length = message.get("packet_length", len(message["payload"]) // 2)
            demand(length <= self.agreement.longest_packet, "longer than agreed")
        if message["message"] == "SENTINEL":
            demand(message["packet_id"] % self.agreement.spacing == self.agreement.spacing - 1, "not marked")
        if message["message"] in ("packet", "fragment", "SENTINEL", "TOMBSTONE"):
            self.receiving[message["channel"]].check(message)
        if message["message"] in ("WINDOW", "FATES"):
            channel = self.sending[message["channel"]]
            channel.check_report(channel.expand(message["packet_id"]))

    def on_message(self, message, now):
        kind, channel = message["message"], message.get("channel")
        if kind in ("packet", "fragment"):
            self.receiving[channel].take(message, now)
        elif kind in ("SENTINEL", "TOMBSTONE"):
            self.receiving[channel].mark(message, now)
        elif kind in ("WINDOW", "FATES"):
            self.on_window(self.sending[channel], message)
        elif kind == "LIMITS":
            self.on_limits(message)
        elif kind == "PING" and self.may_answer(kind, now):
            self.signal({"message": "PONG", "id": message["id"]})
        elif kind == "PATH_CHALLENGE" and self.may_answer(kind, now):
            self.signal({"message": "PATH_RESPONSE", "data": message["data"]})
        elif kind == "ASK" and self.may_answer((kind, channel), now):
            self.tell(channel, message["number"])

    def may_answer(self, what, now):
        """Each kind of question gets an answer once in 10 ms."""
        if now - self.answered.get(what, 0) < ANSWER_INTERVAL:
            return False
        self.answered[what] = now
        return True

    def tell(self, channel, number):
        told = {"message": "TOLD", "channel": channel, "number": number,
                "packet_id": self.sending[channel].next % (1 << 32)}
        self.signals.append(Item(told, on_lost=lambda: self.tell(channel, number)))

    def on_limits(self, message):
        ahead = (message["serial"] - self.answered.get("LIMITS", 0)) % (1 << 16)
        if 0 < ahead < 1 << 15:
            self.answered["LIMITS"] = message["serial"]
            self.agreement.send_rate = min(OFFER["send_rate"], message["receive_rate"])

    def on_window(self, channel, message):
        packet_id = channel.expand(message["packet_id"])
        if message["message"] == "FATES":
            for bit in range(message["count"]):
                channel.fates[packet_id - (message["count"] - 1 - bit)] = bit in message["skipped"]
        if packet_id >= channel.base:
            self.charged -= channel.pass_to(packet_id)

    # --- Acknowledgements and losses of own frames

    def on_acked(self, acked, now):
        new = sorted(it for it in acked if it in self.flight)
        was_full = len(self.flight) >= self.congestion.window // 2
        if acked:
            self.next_acknowledged = max(self.next_acknowledged, max(acked) + 1)
        for frame_id in new:
            frame = self.flight.pop(frame_id)
            if frame_id == new[-1] and frame_id == self.next_acknowledged - 1:
                self.congestion.sample(now - frame.at)
            self.congestion.on_acked(was_full)
            for item in frame.items:
                self.on_item_acked(item)
        # Three ids behind one that has arrived.
        for frame_id in [it for it in self.flight if it + 3 < self.next_acknowledged]:
            self.lose(frame_id)

    def on_item_acked(self, item):
        if item.is_done:
            return
        item.is_done = True
        packet = item.packet
        if packet:
            packet.unacked -= 1
            if packet.is_unreliable and packet.unacked == 0:
                self.release(packet)

    def release(self, packet):
        """Unreliable packets are charged only while they are under way."""
        if not packet.is_passed:
            self.charged -= packet.cost
            packet.cost = 0

    def lose(self, frame_id):
        frame = self.flight.pop(frame_id)
        self.congestion.on_lost(frame_id, self.next_frame)
        for item in frame.items:
            if item.is_done or item.packet and item.packet.is_passed:
                continue
            if item.on_lost:
                item.on_lost()
            elif item.is_reliable:
                self.again.append(item)
            elif item.packet:
                self.release(item.packet)

    def on_time(self, now):
        if now - self.heard > self.agreement.timeout or self.doubt is not None and now > self.doubt:
            raise TimeoutError("the other host is silent")
        timeout = self.congestion.timeout()
        old = [it for it, frame in self.flight.items() if now - frame.at > timeout]
        if old:
            self.congestion.on_timeout()
            for frame_id in old:
                self.lose(frame_id)
        if now - self.said > 1:
            self.ping()
        for channel in self.receiving:
            channel.forget_old(now)
            if channel.report_at is not None and now >= channel.report_at:
                self.report(channel)

    def report(self, channel):
        channel.report_at, channel.passed_bytes = None, 0
        if channel.fates is not None:
            for message in channel.fates.messages(channel.number):
                self.signals.append(Item(message, is_reliable=True))
            return
        window = {"message": "WINDOW", "channel": channel.number, "packet_id": (channel.base - 1) % (1 << 32)}
        self.signals.append(Item(window, on_lost=lambda: setattr(channel, "report_at", 0)))

    def ping(self):
        self.pinged = (self.pinged + 1) % (1 << 16)
        self.signal({"message": "PING", "id": self.pinged})

    def signal(self, message):
        self.signals.append(Item(message))

    # --- Sending

    def transmit(self, now):
        """All that may leave now: signals at once, and data within the window and the rate."""
        self.earn(now)
        while True:
            items = self.next_items()
            if not items and not self.received.is_due:
                return
            self.send_frame(items, now)

    def earn(self, now):
        most = max(self.agreement.send_rate / 50, 2 * self.agreement.longest_datagram)
        self.credit = min(self.credit + (now - self.credited) * self.agreement.send_rate, most)
        self.credited = now

    def next_items(self):
        items, room = [], self.agreement.longest_datagram - FRAME_HEAD
        while self.signals and len(items) < 16:
            items.append(self.signals.popleft())
        room -= MESSAGE_HEAD * len(items)
        while len(items) < 100 and room >= MESSAGE_HEAD:
            item = self.next_data(room - MESSAGE_HEAD)
            if item is None:
                break
            items.append(item)
            room -= MESSAGE_HEAD + payload_bytes(item.message)
        return items

    def next_data(self, room):
        data = sum(1 for frame in self.flight.values() if any(item.packet for item in frame.items))
        if data >= min(self.congestion.window, self.agreement.n_p) or self.credit <= 0:
            return None
        while self.again:
            if payload_bytes(self.again[0].message) > room:
                return None
            item = self.again.popleft()
            if not item.is_done and not (item.packet and item.packet.is_passed):
                return item
        for _ in self.sending:
            self.turn = (self.turn + 1) % len(self.sending)
            if self.begin(self.sending[self.turn], room):
                return self.again.popleft()
        return None

    def begin(self, channel, room):
        """Gives the next packet of a channel its id, and cuts it. The messages wait in front of all that is sent
        again; one that does not fit leaves with the next frame."""
        if not channel.waiting or channel.next - channel.base >= self.agreement.n_q:
            return False
        mode, payload, receipt = channel.waiting[0]
        most = self.agreement.longest_datagram - FRAME_HEAD - MESSAGE_HEAD
        if room < min(len(payload), most):
            return False
        cost = len(payload) + PACKET_CHARGE
        if self.charged + cost > self.agreement.remote_budget:
            return False
        channel.waiting.popleft()
        self.charged += cost
        packet_id, channel.next = channel.next, channel.next + 1
        head = {"mode": mode, "receipt": receipt, "channel": channel.number, "dependency": channel.dependency(packet_id),
                "packet_id": packet_id % (1 << 8 * packet_id_bytes({"n_q": self.agreement.n_q}))}
        if mode == "reliable":
            channel.last_reliable = packet_id
        messages = [{"message": "packet", **head, "payload": payload.hex()}]
        if len(payload) > most:
            messages = [{"message": "fragment", **head, "offset": offset, "packet_length": len(payload),
                         "payload": payload[offset:offset + most].hex()} for offset in range(0, len(payload), most)]
        packet = channel.packets[packet_id] = Packet(cost, mode == "unreliable", len(messages))
        items = [Item(message, mode != "unreliable", packet=packet) for message in messages]
        if mode == "unreliable" and packet_id % self.agreement.spacing == self.agreement.spacing - 1:
            names = ("channel", "packet_id", "dependency")
            sentinel = {"message": "SENTINEL", **{name: head[name] for name in names}}
            self.signals.append(Item(sentinel, is_reliable=True))
        self.again.extendleft(reversed(items))
        return True

    def send_frame(self, items, now):
        frame_id = self.frame_id()
        self.bits[frame_id] = bit = self.chance.randrange(2)
        form = {"form": "short form", "connection_id": self.remote_id.hex(), "frame_id": frame_id,
                "frame_id_bytes": self.width(frame_id, now), "nonce_bit": bit, "messages": [it.message for it in items],
                "acknowledge_now": any(item.is_reliable for item in items)}
        block = self.received.block(self.came_widths.get, now) if self.received.has_news else None
        if block:
            form["acknowledgement"] = block
            self.received.is_due = False
        datagram = encode([form], self.context(True))
        assert len(datagram) <= self.agreement.longest_datagram, "the frame is too long"
        self.link.send(datagram)
        self.credit -= len(datagram) if self.agreement.send_rate != NO_LIMIT else 0
        # What asks for no acknowledgement is not missed.
        if any(item.message["message"] != "PONG" for item in items):
            self.flight[frame_id] = Frame(items, now)
            self.said = now
        for item in items:
            self.repeated += item.is_sent
            item.is_sent = True

    def frame_id(self):
        """One id of each 512 is never sent, as the nonce bits are not always 0."""
        if self.next_frame % 512 == 0:
            self.left_out = self.next_frame + self.chance.randrange(512)
        if self.next_frame == self.left_out:
            self.next_frame += 1
            return self.frame_id()
        self.next_frame += 1
        return self.next_frame - 1

    def width(self, frame_id, now):
        """The least width that tells the id, and that a frame of two seconds ago is still understood with; kept for
        two seconds."""
        self.widths.append((now, frame_id, 1))
        while now - self.widths[0][0] > 2:
            self.widths.popleft()
        used = frame_id - self.widths[0][1]
        least = next(w for w in (1, 2, 3, 4) if w == 4 or frame_id - self.next_acknowledged < 1 << 8 * w - 2
                     and used < 5 * (1 << 8 * w - 2) // 2)
        self.widths[-1] = (now, frame_id, least)
        return max(width for _, _, width in self.widths)
