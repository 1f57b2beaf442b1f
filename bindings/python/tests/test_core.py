"""Hosts without sockets, in virtual time: each run is the same."""

import ctypes
import unittest

import porous
from network import PLACES, Pair
from porous import Mode, Outcome, Reason, Status


class TestPair(unittest.TestCase):
    def setUp(self):
        self.pair = Pair(porous.Config(channel_count=2))
        self.client, self.server = self.pair.client, self.pair.server

    def connect(self):
        self.peer, self.there = self.pair.connect(b"it is me")

    def test_packets_arrive_in_their_order_though_datagrams_get_lost(self):
        self.pair.lose_one_of = 7
        self.connect()
        sent = [b"%d" % n + b"." * (4000 if n % 50 == 0 else 20) for n in range(400)]
        for data in sent:
            self.client.send(self.peer, data, channel=1)
        got = []

        def collect():
            got.extend(self.server.packets(self.there))
            return len(got) == len(sent)

        self.pair.until(collect)
        self.assertEqual([packet.data for packet in got], sent)
        self.assertEqual({(packet.channel, packet.mode) for packet in got}, {(1, Mode.RELIABLE)})
        stats = self.client.peer_info(self.peer)
        self.assertGreater(stats.frames_lost, 0)
        self.assertEqual(stats.packets_sent.reliable, len(sent))

    def test_the_same_run_makes_the_same_datagrams(self):
        def run():
            pair = Pair(lose_one_of=5)
            pair.connect()
            return pair.now, pair.count, pair.client.peer_info(pair.client.peers()[0]).bytes_sent

        self.assertEqual(run(), run())

    def test_packets_are_whatever_has_bytes(self):
        self.connect()
        for data in (b"bytes", bytearray(b"bytes"), memoryview(b"bytes"), porous.Blob(b"bytes")):
            self.client.send(self.peer, data)
            self.assertEqual(self.pair.packet(self.server, self.there).data, b"bytes")
        self.client.send(self.peer, b"a\0b")
        self.assertEqual(self.pair.packet(self.server, self.there).data, b"a\0b")
        self.client.send(self.peer, b"")
        self.assertEqual(self.pair.packet(self.server, self.there), (b"", 0, Mode.RELIABLE))
        for data in ("text", 5, None):
            with self.assertRaises(TypeError):
                self.client.send(self.peer, data)

    def test_a_packet_is_kept_when_a_buffer_is_too_small(self):
        self.connect()
        self.client.send(self.peer, b"twelve bytes", mode=Mode.PASSIVE)
        self.pair.event(self.server, porous.Readable)
        for small in (bytearray(11), bytearray()):
            with self.assertRaises(porous.BufferTooSmall) as raised:
                self.server.receive_into(self.there, small)
            self.assertEqual(raised.exception.needed, 12)
        large = bytearray(20)
        self.assertEqual(self.server.receive_into(self.there, large), (12, 0, Mode.PASSIVE))
        self.assertEqual(large, b"twelve bytes" + bytes(8))
        self.assertIsNone(self.server.receive_into(self.there, large))

    def test_packets_may_be_longer_than_any_buffer_before(self):
        self.connect()
        self.client.send(self.peer, b"x" * 100_000)
        self.assertEqual(self.pair.packet(self.server, self.there).data, b"x" * 100_000)

    def test_receipts_tell_what_became_of_packets(self):
        self.connect()
        self.client.send(self.peer, b"x" * 50_000, channel=1, receipt=41, redundancy=porous.NO_COPIES)
        self.assertEqual(self.client.send_progress(self.peer, 1, 41).len, 50_000)
        self.assertGreater(self.client.channel_info(self.peer, 1).waiting, 0)
        coming = self.pair.until(lambda: self.server.receive_progress(self.there, 1))
        self.assertLess(coming.arrived, 50_000)
        self.pair.packet(self.server, self.there)
        receipt = self.pair.event(self.client, porous.Receipt)
        self.assertEqual(receipt, (self.peer, 41, Outcome.DELIVERED))
        self.assertIsNone(self.client.send_progress(self.peer, 1, 41))

    def test_packets_are_cancelled_replaced_and_expire(self):
        self.connect()
        self.client.send(self.peer, b"cancelled", receipt=1)
        self.assertTrue(self.client.cancel(self.peer, 0, 1))
        self.assertFalse(self.client.cancel(self.peer, 0, 1))
        self.client.send(self.peer, b"old", receipt=2, key=0)
        self.client.send(self.peer, b"new", key=0)
        # It waits for a packet that takes longer than that.
        self.client.send(self.peer, b"x" * 200_000, channel=1)
        self.client.send(self.peer, b"late", channel=1, receipt=3, ttl=0.001)
        outcomes = {}

        def collect():
            outcomes.update((e.token, e.outcome) for e in self.client.events() if isinstance(e, porous.Receipt))
            return len(outcomes) == 3

        self.pair.until(collect)
        self.assertEqual(outcomes, {1: Outcome.CANCELLED, 2: Outcome.CANCELLED, 3: Outcome.EXPIRED})
        packets = [self.pair.packet(self.server, self.there) for _ in range(2)]
        self.assertEqual(sorted(len(packet.data) for packet in packets), [3, 200_000])

    def made_id(self, ids):
        """The id that a host makes so for its first peer, as it stands in a datagram to it."""
        pair = Pair(porous.Config(connection_id_len=12))
        pair.server.set_connection_ids(ids)
        peer, _ = pair.connect()
        pair.client.send(peer, b"hello")
        to_server = pair.ways[0][3]
        # Short forms begin with the bits 01, and then with the id.
        found = pair.until(lambda: next((d.data for d in to_server if d.data[0] >> 6 == 1), None))
        return found[1:13]

    def test_ids_are_made_for_what_routes_by_them(self):
        sharded = porous.ConnectionIds.sharded(0xA5, 8)
        self.assertEqual(self.made_id(sharded)[0], 0xA5)
        plain = self.made_id(porous.ConnectionIds.quic_lb(2, b"srv"))
        self.assertEqual(plain[:4], bytes([2 << 5 | 11]) + b"srv")
        hidden = [self.made_id(porous.ConnectionIds.quic_lb(2, b"srv", key)) for key in (bytes(16), b"k" * 16)]
        self.assertEqual({first[0] for first in hidden}, {plain[0]})
        self.assertEqual(len({plain, *hidden}), 3)

    def test_ids_that_cannot_be_made_are_told(self):
        made = porous.ConnectionIds
        for ids, status in (
            (made.sharded(0, 0), Status.IDS_SHARD_BITS),
            (made.sharded(2, 1), Status.IDS_SHARD),
            (made.quic_lb(7, b"a"), Status.IDS_ROTATION),
            (made.quic_lb(0, b""), Status.IDS_SERVER_ID),
            (made.quic_lb(0, b"a"), Status.IDS_TOO_SHORT),
        ):
            with self.assertRaises(porous.ConfigError) as raised:
                self.server.set_connection_ids(ids)
            self.assertEqual(raised.exception.status, status)
        for ids in (made.quic_lb(0, b"a" * 16), made.quic_lb(0, b"a", b"short"), made.sharded(256, 8)):
            with self.assertRaises(ValueError):
                self.server.set_connection_ids(ids)
        self.server.set_connection_ids(made())

    def test_a_host_with_more_than_it_can_take_in_lets_nobody_in(self):
        for _ in range(220):
            self.pair.turn()
            self.server.backlog(True)
        self.client.connect(PLACES["server"])
        self.assertEqual(self.pair.event(self.client, porous.Disconnected).reason, Reason.REFUSED_FULL)
        self.assertEqual(self.server.host_info().overloaded, 1)
        self.server.backlog(False)
        self.connect()

    def test_what_is_known_is_told(self):
        self.connect()
        stats = self.client.peer_info(self.peer)
        self.assertEqual(stats.state, porous.State.CONNECTED)
        self.assertEqual(stats.channels, 2)
        self.assertGreaterEqual(stats.rtt_us, 9000)
        self.assertIn("rtt_us=", repr(stats))
        self.assertEqual(self.client.host_info().connected, 1)
        self.assertEqual(self.client.peers(), [self.peer])
        self.assertEqual(self.server.peer_greeting(self.there), b"it is me")
        self.assertEqual(self.server.peer_address(self.there), PLACES["client"])
        self.client.send(self.peer, b"x")
        self.pair.event(self.server, porous.Readable)
        self.assertEqual(self.server.readable(), [self.there])

    def test_rates_are_set_and_change_what_is_sent(self):
        self.connect()
        self.client.set_receive_rate(self.peer, 1_000_000)
        self.client.set_channel_rate(self.peer, 1, 1_000_000)
        self.client.set_host_send_rate(0)
        self.client.set_send_rate(self.peer, 10_000)
        self.client.send(self.peer, b"x" * 50_000)
        begin = self.pair.now
        self.pair.packet(self.server, self.there)
        self.assertGreater(self.pair.now - begin, 2)
        with self.assertRaises(porous.Error) as raised:
            self.client.set_channel_rate(self.peer, 9, 1)
        self.assertIs(raised.exception.status, Status.UNKNOWN_CHANNEL)

    def test_the_program_decides_who_comes_in(self):
        self.server.listen(porous.Listen.ASK)
        self.client.connect(PLACES["server"], b"please")
        request = self.pair.event(self.server, porous.Request)
        self.assertEqual(request.address, PLACES["client"])
        self.assertEqual(self.server.peer_greeting(request.peer), b"please")
        self.server.refuse(request.peer, b"not you")
        end = self.pair.event(self.client, porous.Disconnected)
        self.assertEqual((end.reason, end.data), (Reason.REFUSED_APPLICATION, b"not you"))

        self.pair.until(self.client.is_empty)
        peer = self.client.connect(PLACES["server"])
        request = self.pair.event(self.server, porous.Request)
        self.server.accept(request.peer)
        with self.assertRaises(porous.Error) as raised:
            self.server.accept(request.peer)
        self.assertIs(raised.exception.status, Status.NOT_ASKED)
        self.assertEqual(self.pair.event(self.client, porous.Connected).peer, peer)

    def test_a_full_budget_is_told_and_its_end(self):
        self.pair = Pair(porous.Config(send_budget=2000))
        self.client, self.server = self.pair.client, self.pair.server
        self.connect()
        with self.assertRaises(porous.Full):
            for _ in range(100):
                self.client.send(self.peer, b"x" * 500)
        self.assertEqual(self.pair.event(self.client, porous.Writable).peer, self.peer)
        self.client.send(self.peer, b"x" * 500)

    def test_ended_peers_are_unknown_and_what_has_come_is_kept(self):
        self.connect()
        self.client.send(self.peer, b"last words")
        self.client.disconnect(self.peer, code=7, flush=1)
        end = self.pair.event(self.server, porous.Disconnected)
        self.assertEqual((end.peer, end.reason, end.code), (self.there, Reason.BY_PEER, 7))
        self.assertEqual(self.server.receive(self.there).data, b"last words")
        self.assertIsNone(self.server.receive(self.there))
        self.assertEqual(self.pair.event(self.client, porous.Disconnected).reason, Reason.BY_US)
        for call in (
            lambda: self.client.send(self.peer, b"late"),
            lambda: self.client.disconnect(self.peer),
            lambda: self.client.peer_info(12345),
        ):
            with self.assertRaises(porous.PeerError):
                call()
        self.pair.until(lambda: self.client.is_empty() and self.server.is_empty())
        self.pair.until(lambda: self.client.peer_state(self.peer) is porous.State.NONE)

    def test_an_address_may_be_unreachable_and_its_port_closed(self):
        peer = self.client.connect_any([PLACES["server"]])
        self.client.port_closed(PLACES["client"])
        self.assertIsNone(self.client.poll_event())
        self.client.port_closed(PLACES["server"])
        self.client.port_closed()
        self.assertEqual(self.client.poll_event(), porous.PortClosed(peer, PLACES["server"]))
        self.client.unreachable(PLACES["server"])
        self.assertEqual(self.pair.event(self.client, porous.Disconnected).reason, Reason.UNREACHABLE)

    def test_datagrams_of_strangers_are_ignored_and_counted(self):
        cause = self.server.input(PLACES["client"], b"what is this?")
        self.assertGreater(cause, 0)
        self.assertEqual(self.server.host_info().ignored[cause], 1)

    def test_a_host_without_a_socket_has_a_deadline(self):
        self.assertIsNone(porous.CoreHost(porous.Config()).deadline())
        self.connect()
        self.assertGreater(self.client.deadline(), 0)
        self.assertGreaterEqual(self.client.buffer_size(), 1200)


class TestValues(unittest.TestCase):
    def test_addresses_are_read_written_and_compared(self):
        for text in ("192.0.2.1:4000", "[2001:db8::1]:4000", "[fe80::1%3]:4000"):
            address = porous.Address.parse(text)
            self.assertEqual(str(address), text)
            self.assertEqual(len({address, porous.Address.parse(text)}), 1)
        with self.assertRaises(porous.AddressError):
            porous.Address.parse("nowhere")
        with self.assertRaises(ValueError):
            porous.Address.own(b"x" * 25).raw()
        self.assertIn(porous.Address.parse("127.0.0.1:80"), porous.resolve("127.0.0.1:80"))

    def test_a_configuration_says_which_rule_it_breaks(self):
        porous.Config(channels=[porous.Channel(high=True), porous.Channel(unordered=True, weight=3)]).check()
        for status, broken in {
            Status.CONFIG_CHANNELS: porous.Config(channel_count=256),
            Status.CONFIG_WINDOW: porous.Config(frame_window=100),
            Status.CONFIG_MAX_DATAGRAM: porous.Config(max_datagram=100),
            Status.CONFIG_REQUEST_SIZE: porous.Config(request_size=1),
            Status.CONFIG_RECEIVE_BUDGET: porous.Config(max_packet=1000, receive_budget=1000),
            Status.CONFIG_REPLY_LIMIT: porous.Config(replies=2_000_000),
            Status.CONFIG_SUITES: porous.Config(suites=[porous.Suite.AES_GCM] * 2),
        }.items():
            with self.assertRaises(porous.ConfigError) as raised:
                broken.check()
            self.assertIs(raised.exception.status, status)
            self.assertIsInstance(raised.exception, ValueError)
            with self.assertRaises(porous.ConfigError):
                porous.CoreHost(broken)

    def test_numbers_that_do_not_fit_are_no_other_numbers(self):
        for broken in (
            porous.Config(max_peers=2**32),
            porous.Config(max_datagram=-1),
            porous.Config(channels=[porous.Channel(weight=256)]),
            porous.Config(suites=[porous.Suite.AES_GCM] * 5),
        ):
            with self.assertRaises(ValueError):
                broken.check()
        pair = Pair()
        peer, _ = pair.connect()
        for call in (
            lambda: pair.client.send(peer, b"", channel=256),
            lambda: pair.client.send(peer, b"", receipt=2**64),
            lambda: pair.client.send(peer, b"", key=-1),
            lambda: pair.client.send(peer, b"", redundancy=300),
            lambda: pair.client.disconnect(peer, code=2**32),
            lambda: pair.client.set_send_rate(peer, -1),
        ):
            with self.assertRaises((ValueError, ctypes.ArgumentError)):
                call()

    def test_each_value_of_a_configuration_gets_to_its_place(self):
        raw = porous.Config(
            preset=porous.Preset.CLIENT,
            timeout=2.5,
            unreliable_age=float("inf"),
            ecn=False,
            roaming=True,
            application_id=2**63,
            congestion=porous.Congestion.CUBIC,
            channels=[porous.Channel(rate=5)],
        ).raw()
        self.assertEqual((raw.preset, raw.timeout_us, raw.unreliable_age_us), (1, 2_500_000, 2**64 - 1))
        self.assertEqual((raw.ecn, raw.roaming, raw.congestion), (porous.OFF, porous.ON, 4))
        self.assertEqual((raw.application_id, raw.channel_count), (2**63, 1))

    def test_a_seed_is_32_bytes_that_are_not_all_zero(self):
        with self.assertRaises(ValueError):
            porous.CoreHost(seed=b"short")
        with self.assertRaises(porous.ValueOutOfRange):
            porous.CoreHost(seed=bytes(32))

    def test_a_closed_host_says_so(self):
        with porous.CoreHost() as host:
            self.assertFalse(host.closed)
        self.assertTrue(host.closed)
        host.close()
        for call in (
            host.listen,
            host.peers,
            host.poll_event,
            host.timeout,
            host.output,
            lambda: host.receive(1),
            lambda: host.send(1, b""),
            lambda: host.connect(PLACES["server"]),
        ):
            with self.assertRaises(porous.Closed):
                call()

    def test_functions_of_the_other_kind_of_host_are_refused(self):
        core = porous.CoreHost()
        with self.assertRaises(porous.Error) as raised:
            porous.Host.step(core)
        self.assertIs(raised.exception.status, Status.KIND)
        with self.assertRaises(porous.Error):
            porous.CoreHost(porous.Config(preset=porous.Preset.CLIENT)).listen()

    def test_the_function_for_bugs_is_changed(self):
        porous.on_panic(print)
        porous.on_panic(None)


if __name__ == "__main__":
    unittest.main()
