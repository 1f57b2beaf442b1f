"""Hosts on sockets."""

import asyncio
import errno
import gc
import socket
import sys
import unittest

import porous
from network import until
from porous import Mode, Reason


def serve(server):
    """Says back what has come."""
    for event in server.events():
        for packet in server.packets(event.peer):
            server.send(event.peer, packet.data, packet.channel, packet.mode)


class TestUdp(unittest.TestCase):
    def setUp(self):
        self.server = porous.Host(address="127.0.0.1:0")
        self.addCleanup(self.server.close)
        self.server.listen()

    def client(self):
        client = porous.Host(porous.Config(preset=porous.Preset.CLIENT), "127.0.0.1:0")
        self.addCleanup(client.close)
        return client

    def test_a_server_says_back_what_it_is_told(self):
        client = self.client()
        peer = client.connect(str(self.server.address))

        def connected():
            serve(self.server)
            return client.peer_state(peer) is porous.State.CONNECTED

        until([client, self.server], connected)
        client.send(peer, b"hello", channel=0, mode=Mode.RELIABLE)

        def echo():
            serve(self.server)
            return client.receive(peer)

        self.assertEqual(until([client, self.server], echo), (b"hello", 0, Mode.RELIABLE))

    def test_fifty_clients_get_each_their_own_packets(self):
        clients = [self.client() for _ in range(50)]
        peers = {client: client.connect(self.server.address) for client in clients}
        got = {}

        def everybody():
            serve(self.server)
            for number, client in enumerate(clients):
                for event in client.events():
                    self.assertNotIsInstance(event, porous.Disconnected)
                    if isinstance(event, porous.Connected):
                        client.send(event.peer, b"%d" % number)
                for packet in client.packets(peers[client]):
                    got.setdefault(number, []).append(packet.data)
            return len(got) == len(clients)

        until([self.server, *clients], everybody)
        self.assertEqual(got, {number: [b"%d" % number] for number in range(50)})
        self.assertEqual(len(self.server.peers()), 50)

    def test_finish_waits_until_the_peer_knows(self):
        client = self.client()
        peer = client.connect(self.server.address)
        until([client, self.server], lambda: client.peer_state(peer) is porous.State.CONNECTED)
        client.close()
        ends = until(
            [self.server], lambda: [e for e in self.server.events() if isinstance(e, porous.Disconnected)]
        )
        self.assertEqual(ends[0].reason, Reason.BY_PEER)
        self.server.finish()
        self.assertTrue(self.server.closed)

    def test_a_host_has_what_an_event_loop_needs(self):
        client = self.client()
        self.assertGreaterEqual(client.fileno(), 0)
        self.assertFalse(client.is_blocked())
        client.connect(self.server.address)
        self.assertIsNotNone(client.deadline())
        client.set_time_limit(0.001)
        client.transmit()

    def test_a_socket_of_the_program_is_adopted(self):
        own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        own.bind(("127.0.0.1", 0))
        port = own.getsockname()[1]
        with porous.Host.adopt(own.detach()) as host:
            self.assertEqual(host.address.port, port)

    def test_what_the_system_refuses_is_told(self):
        with self.assertRaises(porous.SocketError) as raised:
            porous.Host(address="192.0.2.1:0")
        self.assertIn("192.0.2.1", str(raised.exception))
        self.assertEqual(raised.exception.errno, errno.EADDRNOTAVAIL)
        with self.assertRaises(OSError) as raised:
            porous.Host(address=str(self.server.address))
        self.assertEqual(raised.exception.errno, errno.EADDRINUSE)
        for address in ("0.0.0.0:0", "255.255.255.255:5", str(self.server.address)):
            with self.assertRaises(porous.AddressError):
                self.server.connect(address)

    def test_a_suffix_stands_behind_the_datagrams_to_a_proxy(self):
        proxy = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(proxy.close)
        proxy.bind(("127.0.0.1", 0))
        proxy.settimeout(10)
        at = "127.0.0.1:%d" % proxy.getsockname()[1]
        client = self.client()
        client.set_suffix(at, b"token")
        client.connect(at)
        client.step()
        datagram = proxy.recv(2000)
        self.assertEqual((len(datagram), datagram[-5:]), (1205, b"token"))
        with self.assertRaises(porous.Error) as raised:
            client.set_suffix(at, b"")
        self.assertEqual(raised.exception.status, porous.Status.ALREADY_CONNECTED)
        with self.assertRaises(porous.Error) as raised:
            client.set_suffix("127.0.0.1:9", b"x" * 33)
        self.assertEqual(raised.exception.status, porous.Status.TOO_LONG)

    @unittest.skipUnless(sys.platform == "linux", "no other system can do it")
    def test_shards_share_a_port(self):
        hosts = porous.Host.bind_shards(4, address="127.0.0.1:0")
        self.assertEqual(len({str(host.address) for host in hosts}), 1)
        client = self.client()
        for host in hosts:
            self.addCleanup(host.close)
            host.listen()
        peer = client.connect(hosts[0].address)
        until([client, *hosts], lambda: client.peer_state(peer) is porous.State.CONNECTED)
        self.assertEqual(sum(len(host.peers()) for host in hosts), 1)
        for count in (0, 3, 256):
            with self.assertRaises(porous.ValueOutOfRange):
                porous.Host.bind_shards(count, address="127.0.0.1:0")
        with self.assertRaises(porous.ConfigError):
            porous.Host.bind_shards(2, porous.Config(connection_id_len=1), "127.0.0.1:0")

    def test_a_host_that_nobody_has_any_more_is_freed(self):
        host = porous.Host(address="127.0.0.1:0")
        address = str(host.address)
        del host
        gc.collect()
        porous.Host(address=address).close()


class TestAsyncio(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.server = porous.AsyncHost(address="127.0.0.1:0")
        self.server.listen()

    async def asyncTearDown(self):
        self.server.close()

    async def echo(self):
        async for event in self.server:
            if isinstance(event, porous.Readable):
                for packet in self.server.packets(event.peer):
                    self.server.send(event.peer, packet.data, packet.channel, packet.mode)

    async def talk(self, number):
        async with porous.AsyncHost(porous.Config(preset=porous.Preset.CLIENT), "127.0.0.1:0") as client:
            peer = client.connect(self.server.address)
            async for event in client:
                if isinstance(event, porous.Connected):
                    client.send(peer, b"%d" % number)
                if isinstance(event, porous.Readable):
                    packet = client.receive(peer)
                    await client.finished()
                    return packet.data

    async def test_many_talk_with_an_echo_in_one_loop(self):
        echo = asyncio.ensure_future(self.echo())
        talks = asyncio.gather(*(self.talk(number) for number in range(10)))
        got = await asyncio.wait_for(talks, 60)
        self.assertEqual(got, [b"%d" % number for number in range(10)])
        self.server.close()
        await asyncio.wait_for(echo, 60)

    async def test_a_command_is_carried_out_though_nothing_else_happens(self):
        async with porous.AsyncHost(porous.Config(preset=porous.Preset.CLIENT), "127.0.0.1:0") as client:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            self.assertIsNone(client.deadline())
            peer = client.connect(self.server.address)
            event = await asyncio.wait_for(client.next_event(), 10)
            self.assertEqual(event, porous.Connected(peer, self.server.address))

    async def test_what_makes_room_is_told_at_once(self):
        echo = asyncio.ensure_future(self.echo())
        async with porous.AsyncHost(porous.Config(preset=porous.Preset.CLIENT), "127.0.0.1:0") as client:
            peer = client.connect(self.server.address)
            async for event in client:
                if isinstance(event, porous.Connected):
                    client.send(peer, b"hello")
                if isinstance(event, porous.Readable):
                    break
            self.assertIsNone(client._soon)
            self.assertIsNotNone(client.receive(peer))
            self.assertIsNotNone(client._soon)
            for change in (
                lambda: client.set_receive_rate(peer, 50_000),
                lambda: client.set_send_rate(peer, 50_000),
                lambda: client.set_channel_rate(peer, 0, 50_000),
                lambda: client.set_host_send_rate(50_000),
                lambda: client.cancel(peer, 0, 7),
            ):
                client._turn()
                self.assertIsNone(client._soon)
                change()
                self.assertIsNotNone(client._soon)
        echo.cancel()

    async def test_hosts_on_other_sockets_step_by_themselves_too(self):
        echo = asyncio.ensure_future(self.echo())
        own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        own.bind(("127.0.0.1", 0))
        config = porous.Config(preset=porous.Preset.CLIENT)
        async with porous.AsyncHost.adopt(own.detach(), config) as client:
            peer = client.connect(self.server.address)
            event = await asyncio.wait_for(client.next_event(), 10)
            self.assertEqual(event, porous.Connected(peer, self.server.address))
        for shard in porous.AsyncHost.bind_shards(2, address="127.0.0.1:0"):
            shard.close()
        echo.cancel()

    async def test_a_closed_host_leaves_the_loop(self):
        number = self.server.fileno()
        self.server.close()
        self.assertFalse(asyncio.get_running_loop().remove_reader(number))

    async def test_whoever_waits_hears_of_the_end(self):
        waiting = asyncio.ensure_future(self.server.next_event())
        await asyncio.sleep(0)
        self.server.close()
        self.assertIsNone(await asyncio.wait_for(waiting, 60))
        with self.assertRaises(porous.Closed):
            self.server.listen()

    async def test_a_timeout_comes_without_datagrams(self):
        nowhere = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(nowhere.close)
        nowhere.bind(("127.0.0.1", 0))
        config = porous.Config(preset=porous.Preset.CLIENT, connect_timeout=0.2)
        async with porous.AsyncHost(config, "127.0.0.1:0") as client:
            client.connect("127.0.0.1:%d" % nowhere.getsockname()[1])
            event = await asyncio.wait_for(client.next_event(), 60)
        self.assertEqual(event.reason, Reason.NEVER_ANSWERED)

    async def test_an_error_of_the_socket_is_raised(self):
        async with porous.AsyncHost(address="127.0.0.1:0") as host:
            host.step = lambda: porous._errors.checked(porous.Status.IO)
            host.connect(self.server.address)
            with self.assertRaises(porous.SocketError):
                await asyncio.wait_for(host.next_event(), 60)


if __name__ == "__main__":
    unittest.main()
