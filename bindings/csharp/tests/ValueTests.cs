// Addresses, lookups, hosts without sockets, and garbage.

using System;
using System.Linq;

namespace Porous.Tests
{
    public static class ValueTests
    {
        public static void addresses_are_read_and_written()
        {
            foreach (string text in new[] { "192.0.2.1:4000", "[2001:db8::1]:4000", "[fe80::1%3]:9", "0.0.0.0:0" })
            {
                Check.Equal(text, Address.Parse(text).ToString(), "text");
            }
            Address four = Address.Parse("192.0.2.1:4000"), six = Address.Parse("[2001:db8::1]:4000");
            Check.Equal(AddressKind.Ipv4, four.Kind, "kind");
            Check.Equal(AddressKind.Ipv6, six.Kind, "kind");
            Check.Equal(4000, four.Port, "port");
            Check.Equal("192.0.2.1", four.Ip, "without a port");
            Check.Equal("2001:db8::1", six.Ip, "without a port");
            Check.Bytes(new byte[] { 192, 0, 2, 1 }, four.ToBytes(), "bytes");
            Check.Equal(16, six.ToBytes().Length, "bytes");
            Check.Equal(3U, Address.Parse("[fe80::1%3]:9").Scope, "scope");
            Check.Equal(four, Address.Parse("[::ffff:192.0.2.1]:4000"), "IPv4 in IPv6");
        }

        public static void addresses_are_equal_if_all_of_them_is()
        {
            byte[] bytes = Enumerable.Range(1, 24).Select(i => (byte)i).ToArray();
            Address a = Address.Own(bytes, 5, 6), b = Address.Own(bytes, 5, 6);
            Check.That(a == b && !(a != b) && a.Equals((object)b) && a.GetHashCode() == b.GetHashCode(), "equal");
            Check.Bytes(bytes, a.ToBytes(), "bytes");
            Check.That(a.ToString().StartsWith("Own 01-02"), a.ToString());
            Check.That(a != Address.Own(bytes, 4, 6) && a != Address.Own(bytes, 5, 7), "port and scope");
            for (int i = 0; i < 24; i++)
            {
                var other = (byte[])bytes.Clone();
                other[i]++;
                Check.That(a != Address.Own(other, 5, 6), "byte " + i);
                Check.That(Address.Own(bytes.Take(i).ToArray()) != Address.Own(bytes.Take(i + 1).ToArray()), "length");
            }
        }

        public static void a_lookup_answers_for_addresses_at_once_and_for_names_later()
        {
            var literal = new Lookup("127.0.0.1:7");
            Check.That(literal.Done && literal.Found.Length == 1, "an address");
            Check.Equal(Address.Parse("127.0.0.1:7"), literal.Found[0], "address");
            var name = new Lookup("localhost:7");
            Check.Until(() => name.Done, () => { }, "an answer");
            Check.That(name.Found.Length >= 1 && name.Found.All(a => a.Port == 7), "addresses of localhost");
            var none = new Lookup("no port");
            Check.Until(() => none.Done, () => { }, "an answer");
            Check.Equal(0, none.Found.Length, "addresses");
        }

        public static void two_hosts_without_sockets_talk_in_virtual_time()
        {
            using (var wire = new Wire())
            {
                ulong toB = wire.A.Connect(wire.AddressB);
                wire.Await(wire.A, EventType.Connected);
                Event connected = wire.Await(wire.B, EventType.Connected);
                Check.Equal(wire.AddressA, connected.Address, "where A is");
                byte[] large = Enumerable.Range(0, 100000).Select(i => (byte)(i * 3)).ToArray();
                Check.Equal(Status.Ok, wire.A.Send(toB, 0, Mode.Reliable, large), "send");
                wire.Await(wire.B, EventType.Readable);
                Received what;
                var buffer = new byte[large.Length];
                Check.Equal(Status.One, wire.B.Receive(connected.Peer, out what, buffer), "receive");
                Check.Bytes(large, buffer, "packet");
                wire.Turn();
                PeerStats stats;
                wire.A.Info(toB, out stats);
                Check.That(stats.RttMinimumUs >= 20000 && stats.RttMinimumUs < 23000, "round trip " + stats.RttMinimumUs);
                Check.Equal(Status.Ok, wire.A.Disconnect(toB, 5), "disconnect");
                Check.Equal(5U, wire.Await(wire.B, EventType.Disconnected).Code, "code");
            }
        }

        public static void a_channel_waits_for_what_was_lost_unless_it_is_unordered()
        {
            var channels = new[] { new Channel(), new Channel { Unordered = true } };
            for (byte channel = 0; channel < 2; channel++)
            {
                using (var wire = new Wire(channels))
                {
                    ulong toB = wire.A.Connect(wire.AddressB);
                    wire.Await(wire.A, EventType.Connected);
                    for (int i = 0; i < 100; i++) wire.Turn();
                    wire.Lose = 1;
                    wire.A.Send(toB, channel, Mode.Reliable, new byte[] { 1 });
                    wire.Turn();
                    Check.Equal(0, wire.Lose, "a datagram is lost");
                    wire.A.Send(toB, channel, Mode.Reliable, new byte[] { 2 });
                    Event readable = wire.Await(wire.B, EventType.Readable);
                    var buffer = new byte[1];
                    Received what;
                    wire.B.Receive(readable.Peer, out what, buffer);
                    Check.Equal(channel == 0 ? 1 : 2, (int)buffer[0], "the first packet on channel " + channel);
                }
            }
        }

        public static void the_same_seed_makes_the_same_datagrams()
        {
            ulong[] ends = { 0, 0 };
            for (int run = 0; run < 2; run++)
            {
                using (var wire = new Wire())
                {
                    wire.A.Connect(wire.AddressB);
                    wire.Await(wire.B, EventType.Connected);
                    ends[run] = wire.Now;
                }
            }
            Check.Equal(ends[0], ends[1], "when the connection was there");
        }

        public static void datagrams_that_mean_nothing_are_ignored_with_a_cause()
        {
            using (Host host = Host.WithoutSocket(Config.Of(Preset.Default)))
            {
                Address from = Address.Own(new byte[] { 3 });
                host.SetTime(5);
                host.SetUnixTime(1700000000);
                int cause = host.Input(from, Ecn.Ce, new byte[100], 0, 100);
                Check.That(cause >= 1 && cause <= 17, "cause " + cause);
                Check.Equal(1, host.Input(from, Ecn.NotEct, null, 0, 0), "an empty datagram");
                var stats = new HostStats();
                host.Info(stats);
                Check.Equal(2UL, stats.Ignored(1) + (cause == 1 ? 0 : stats.Ignored(cause)), "ignored");
                Check.Throws(Status.Value, () => host.Input(from, (Ecn)4, new byte[9], 0, 9));
                Check.Throws(Status.Address, () => host.Input(new Address(), Ecn.NotEct, new byte[9], 0, 9));
                Check.Equal(ulong.MaxValue, host.Deadline, "nothing is due");
                host.PortClosed(null);
                host.PortClosed(from);
            }
        }

        public static void an_address_that_the_system_cannot_send_to_ends_an_attempt()
        {
            using (Host host = Host.WithoutSocket(Config.Of(Preset.Client)))
            {
                Address nowhere = Address.Own(new byte[] { 4 });
                host.Connect(nowhere);
                host.Unreachable(nowhere);
                var what = new Event();
                Check.That(host.Poll(ref what), "an event");
                Check.Equal(EventType.Disconnected, what.Type, "type");
                Check.Equal(Reason.Unreachable, what.Reason, "reason");
            }
        }

#if NETSTANDARD2_1_OR_GREATER
        public static void spans_are_sent_and_received()
        {
            using (var pair = Pair.Connected())
            {
                Span<byte> message = new byte[] { 1, 2, 3, 4 };
                var options = new SendOptions(Mode.Reliable);
                pair.Client.Send(pair.ToServer, 0, Mode.Reliable, message.Slice(1, 2));
                pair.Client.Send(pair.ToServer, 0, options, message.Slice(3));
                pair.Client.Send(pair.ToServer, 0, Mode.Reliable, Span<byte>.Empty);
                Received what;
                Check.Bytes(new byte[] { 2, 3 }, pair.Next(pair.Server, pair.ToClient, out what), "a slice");
                Check.Bytes(new byte[] { 4 }, pair.Next(pair.Server, pair.ToClient, out what), "with options");
                Check.Bytes(new byte[0], pair.Next(pair.Server, pair.ToClient, out what), "nothing");
                pair.Client.Send(pair.ToServer, 0, Mode.Reliable, message);
                Received got = what;
                var buffer = new byte[6];
                Check.Until(() => pair.Server.Receive(pair.ToClient, out got, new Span<byte>(buffer, 1, 4)) == Status.One,
                    pair.Turn, "a packet");
                Check.Bytes(new byte[] { 0, 1, 2, 3, 4, 0 }, buffer, "in a slice of the buffer");
            }
        }
#endif

        public static void ten_thousand_messages_make_no_garbage()
        {
            using (var pair = Pair.Connected())
            {
                var inbox = new Inbox(pair.Server);
                var options = new SendOptions(Mode.Unreliable);
                var message = new byte[200];
                var buffer = new byte[1000];
                var what = new Event();
                int received = 0;
                // The first round makes what the runtime keeps.
                Exchange(pair, inbox, options, message, buffer, ref what, 500, ref received);
                GC.Collect();
                int collections = GC.CollectionCount(0);
                long before = GC.GetTotalMemory(false);
                received = 0;
                Exchange(pair, inbox, options, message, buffer, ref what, 10000, ref received);
                long grown = GC.GetTotalMemory(false) - before;
                Check.That(received > 5000, "messages received: " + received);
                Check.Equal(collections, GC.CollectionCount(0), "collections");
                Check.That(grown < 16384, "garbage in bytes: " + grown);
            }
        }

        /// <summary>Messages to the server and back, through all functions that a game calls in each turn.</summary>
        static void Exchange(Pair pair, Inbox inbox, SendOptions options, byte[] message, byte[] buffer,
            ref Event what, int count, ref int received)
        {
            PeerStats stats;
            Received got;
            for (int i = 0; i < count; i++)
            {
                pair.Client.Send(pair.ToServer, 0, Mode.Unreliable, message, 0, message.Length);
                pair.Client.Transmit();
                pair.Server.Step();
                while (inbox.Next())
                {
                    if (inbox.Event.Type != EventType.Readable) continue;
                    ArraySegment<byte> bytes = inbox.Bytes;
                    received++;
                    pair.Server.Send(pair.ToClient, 0, options, bytes.Array, bytes.Offset, bytes.Count);
                }
                pair.Server.Info(pair.ToClient, out stats);
                pair.Server.Transmit();
                pair.Client.Step();
                while (pair.Client.Poll(ref what)) { }
                while (pair.Client.Receive(pair.ToServer, out got, buffer) == Status.One) { }
            }
        }
    }
}
