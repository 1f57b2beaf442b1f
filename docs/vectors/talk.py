"""Lets the client of client.py talk to a server of the library over a bad line.

usage: talk.py ADDRESS:PORT [--seed N] [--loss PERCENT] [--seconds N]

The server has to send each packet back, on its channel and in its mode, as porous-std/examples/echo.rs does. The
socket loses datagrams of both directions, as a seeded generator says. The talk fails unless all comes back that has
to, in order, and neither host has refused anything.
"""
import argparse
import random
import select
import socket
import sys
import time

from client import connect

# Packets of each kind. Their channels: one of each mode, and one with all three.
COUNT = 150
MODES = ["reliable", "unreliable", "passive"]
MIXED = 3
LONG = {10: 3000, 40: 20_000, 90: 70_000}


class Link:
    """A connected socket that loses datagrams of both directions."""

    def __init__(self, address, loss, chance):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(address)
        self.socket.setblocking(False)
        self.loss, self.chance = loss, chance
        self.sent = self.came = self.lost_sent = self.lost_came = 0

    def send(self, datagram):
        self.sent += 1
        if self.chance.random() < self.loss:
            self.lost_sent += 1
            return
        try:
            self.socket.send(datagram)
        except (BlockingIOError, ConnectionError):
            self.lost_sent += 1

    def receive(self, until):
        """The next datagram, or None at that time."""
        while True:
            wait = max(0.0, until - time.monotonic())
            if not select.select([self.socket], [], [], wait)[0]:
                return None
            try:
                datagram = self.socket.recv(65536)
            except (BlockingIOError, ConnectionError):
                continue
            self.came += 1
            if self.chance.random() >= self.loss:
                return datagram
            self.lost_came += 1


def payload(channel, number, chance):
    length = LONG.get(number, chance.randrange(4, 120))
    if channel == 1 and number in LONG:
        length = 3000
    return bytes([channel]) + number.to_bytes(2, "little") + chance.randbytes(length)


def check_echoes(sent, came, loss):
    """Fails unless the packets of each channel came back as their modes promise. Gives their numbers."""
    back = []
    for channel in range(MIXED + 1):
        expected = sent[channel]
        numbers = []
        for mode, bytes_ in came[channel]:
            number = int.from_bytes(bytes_[1:3], "little")
            assert expected[number] == (mode, bytes_), f"packet {number} of channel {channel} has changed"
            numbers.append(number)
        assert numbers == sorted(set(numbers)), f"channel {channel} is out of order or repeats: {numbers}"
        missing = set(range(len(expected))) - set(numbers)
        lost = [it for it in missing if expected[it][0] == "reliable"]
        assert not lost, f"reliable packets of channel {channel} are missing: {lost}"
        last = max(it for it, (mode, _) in enumerate(expected) if mode != "unreliable") if channel != 1 else None
        assert last is None or last in numbers, f"the last passive packet of channel {channel} is missing"
        assert len(numbers) > COUNT * (1 - loss) ** 2 / 2, f"only {len(numbers)} packets of channel {channel} came back"
        back.append(numbers)
    return back


def talk(link, chance, until):
    connection = connect(link, chance)
    sent, came = [[] for _ in range(MIXED + 1)], [[] for _ in range(MIXED + 1)]

    def collect():
        while connection.packets:
            channel, mode, bytes_ = connection.packets.popleft()
            came[channel].append((mode, bytes_))

    def is_back():
        numbers = [{int.from_bytes(it[1][1:3], "little") for it in channel} for channel in came]
        return all(number in numbers[channel] for channel, packets in enumerate(sent)
                   for number, (mode, _) in enumerate(packets)
                   if mode == "reliable" or mode == "passive" and number == len(packets) - 1)

    for number in range(COUNT):
        for channel in range(MIXED + 1):
            mode = MODES[channel] if channel < MIXED else MODES[(number + 1) % 3]
            # The mixed channel ends with a reliable packet, so that its last ones are not lost.
            mode = "reliable" if channel == MIXED and number == COUNT - 1 else mode
            packet = mode, payload(channel, number, chance)
            sent[channel].append(packet)
            connection.send(channel, *packet, receipt=channel == 2)
        connection.step(0.005)
        collect()
    while not (connection.is_idle() and is_back()):
        assert time.monotonic() < until, f"not all came back; of each channel {[len(it) for it in came]}"
        connection.step(0.01)
        collect()
    # Late unreliable packets, and the last reports of both sides.
    rest, fates = time.monotonic() + 1, connection.sending[2].fates
    while time.monotonic() < rest or not connection.is_idle() or len(fates) < COUNT:
        assert time.monotonic() < until, "the last reports do not arrive"
        connection.step(0.01)
        collect()
    back = check_echoes(sent, came, link.loss)
    assert connection.disconnect(len(back[MIXED])), "the goodbye was not acknowledged"
    return connection, back


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("address")
    arguments.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    arguments.add_argument("--loss", type=float, default=10)
    arguments.add_argument("--seconds", type=float, default=60)
    arguments = arguments.parse_args()
    host, port = arguments.address.rsplit(":", 1)
    print(f"seed {arguments.seed}, {arguments.loss:g} % of the datagrams of each direction are lost", flush=True)
    chance = random.Random(arguments.seed)
    link = Link((host, int(port)), arguments.loss / 100, random.Random(arguments.seed + 1))
    connection, numbers = talk(link, chance, time.monotonic() + arguments.seconds)
    fates = connection.sending[2].fates
    skipped = sum(fates.values())
    print(f"of {COUNT} packets each, came back: {dict(zip([*MODES, 'mixed'], map(len, numbers)))}")
    print(f"datagrams sent {link.sent}, of which lost {link.lost_sent}; came {link.came}, lost {link.lost_came}; "
          f"messages sent again {connection.repeated}; fates of {len(fates)} packets, skipped {skipped}")
    assert not connection.refused, connection.refused[:3]
    assert not arguments.loss or (link.lost_sent and link.lost_came and connection.repeated), "nothing was lost"
    assert not any(fates[number] for number in numbers[2]), "a packet that came back was told to be skipped"


if __name__ == "__main__":
    sys.exit(main())
