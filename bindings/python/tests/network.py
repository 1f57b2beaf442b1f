"""Networks for tests: hosts without sockets in virtual time, and hosts on sockets that are stepped by turns."""

import porous

PLACES = {name: porous.Address.own(name.encode(), 1) for name in ("server", "client")}


class Pair:
    """A listener and a client without sockets, and between them a network that loses datagrams."""

    def __init__(self, config=None, lose_one_of=0):
        config = config or porous.Config()
        self.server = porous.CoreHost(config, b"s" * 32)
        self.client = porous.CoreHost(config, b"c" * 32)
        self.server.listen()
        self.now = 0.0
        self.lose_one_of = lose_one_of
        self.count = 0
        self.ways = [
            (self.client, PLACES["client"], self.server, []),
            (self.server, PLACES["server"], self.client, []),
        ]

    def turn(self):
        """5 ms, which each datagram takes on its way."""
        self.now += 0.005
        for host in (self.server, self.client):
            host.set_time(self.now)
        for _, sender, receiver, under_way in self.ways:
            for datagram in under_way:
                self.count += 1
                if not self.lose_one_of or self.count % self.lose_one_of:
                    receiver.input(sender, datagram.data, datagram.ecn)
            under_way.clear()
        for sender, _, _, under_way in self.ways:
            sender.timeout()
            under_way.extend(sender.outputs())

    def until(self, condition):
        """Takes turns until a condition gives something, which must be soon, and returns that."""
        for _ in range(8000):
            given = condition()
            if given:
                return given
            self.turn()
        raise AssertionError("not in time")

    def event(self, host, kind):
        """The next event of a kind; others are dropped."""
        return self.until(lambda: next((event for event in host.events() if isinstance(event, kind)), None))

    def packet(self, host, peer):
        return self.until(lambda: host.receive(peer))

    def connect(self, greeting=b""):
        """The peer of the client, and that of the server."""
        peer = self.client.connect(PLACES["server"], greeting)
        there = self.event(self.server, porous.Connected)
        self.event(self.client, porous.Connected)
        return peer, there.peer


def until(hosts, condition):
    """Steps hosts on sockets until a condition gives something, and returns that. The first one waits."""
    for _ in range(20000):
        given = condition()
        if given:
            return given
        hosts[0].wait(0.001)
        for host in hosts[1:]:
            host.step()
    raise AssertionError("not in time")
