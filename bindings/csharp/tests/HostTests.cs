// Hosts on sockets: connections, packets, and what is known of them.

using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;

namespace Porous.Tests
{
    public static class HostTests
    {
        static byte[] Numbers(int count) { return Enumerable.Range(0, count).Select(i => (byte)(i * 7)).ToArray(); }

        public static void a_packet_comes_back()
        {
            using (var pair = Pair.Connected())
            {
                Received what;
                byte[] hello = Encoding.UTF8.GetBytes("hello");
                Check.Equal(Status.Ok, pair.Client.Send(pair.ToServer, 0, Mode.Reliable, hello), "send");
                byte[] got = pair.Next(pair.Server, pair.ToClient, out what);
                Check.Bytes(hello, got, "at the server");
                Check.Equal(0, what.Channel, "channel");
                Check.Equal(Mode.Reliable, what.Mode, "mode");
                pair.Server.Send(pair.ToClient, 0, Mode.Unreliable, new ArraySegment<byte>(got, 1, 3));
                Check.Bytes(Encoding.UTF8.GetBytes("ell"), pair.Next(pair.Client, pair.ToServer, out what), "back");
                Check.Equal(Mode.Unreliable, what.Mode, "mode");
                Event connected = pair.AtServer.First(e => e.Type == EventType.Connected);
                Check.Equal(pair.Client.LocalAddress, connected.Address, "where the client is");
                Address address;
                Check.That(pair.Server.PeerAddress(pair.ToClient, out address), "an address");
                Check.Equal(connected.Address, address, "where the client is");
            }
        }

        public static void packets_are_received_at_an_offset_and_without_a_copy()
        {
            using (var pair = Pair.Connected())
            {
                byte[] large = Numbers(100000);
                pair.Client.Send(pair.ToServer, 0, Mode.Reliable, large);
                pair.Client.Send(pair.ToServer, 0, Mode.Reliable, new byte[0]);
                pair.Client.Send(pair.ToServer, 0, Mode.Reliable, large, 10, 5);
                Received what = new Received();
                Packet packet = null;
                Check.Until(() => pair.Server.Receive(pair.ToClient, out what, out packet) == Status.One, pair.Turn,
                    "a large packet");
                Check.Equal(large.Length, packet.Length, "length");
                Check.Bytes(large, packet.ToArray(), "without a copy");
                packet.Dispose();
                Check.Throws<ObjectDisposedException>(() => packet.ToArray(), "a packet that was disposed");
                Check.Until(() => pair.Server.Receive(pair.ToClient, out what, out packet) == Status.One, pair.Turn,
                    "an empty packet");
                Check.Equal(0, packet.ToArray().Length, "empty");
                packet.Dispose();
                var buffer = new byte[20];
                Check.Until(() => pair.Server.Receive(pair.ToClient, out what, buffer, 4, 5) == Status.One, pair.Turn,
                    "a short packet");
                Check.Bytes(large.Skip(10).Take(5).ToArray(), buffer.Skip(4).Take(5).ToArray(), "at the offset");
                Check.That(buffer.Take(4).Concat(buffer.Skip(9)).All(b => b == 0), "nothing beside it");
                Check.Equal(Status.Ok, pair.Server.Receive(pair.ToClient, out what, out packet), "no more");
                Check.That(packet == null, "no packet");
            }
        }

        public static void a_packet_that_is_longer_than_the_buffer_is_kept()
        {
            using (var pair = Pair.Connected())
            {
                pair.Client.Send(pair.ToServer, 0, Mode.Reliable, Numbers(50));
                Received what = new Received();
                Status status = Status.Ok;
                Check.Until(() => (status = pair.Server.Receive(pair.ToClient, out what, new byte[49])) != Status.Ok,
                    pair.Turn, "a packet");
                Check.Equal(Status.Small, status, "status");
                Check.Equal(50, what.Length, "how long it is");
                var buffer = new byte[50];
                Check.Equal(Status.One, pair.Server.Receive(pair.ToClient, out what, buffer), "status");
                Check.Bytes(Numbers(50), buffer, "the packet");
            }
        }

        public static void blobs_are_shared_and_their_memory_comes_free()
        {
            using (var pair = Pair.Connected())
            {
                byte[] shared = Numbers(3000);
                Received what;
                using (Blob copy = Blob.Copy(shared, 0, 2000))
                using (Blob wrapped = Blob.Wrap(shared))
                {
                    Check.Equal(Status.Ok, pair.Client.Send(
                        pair.ToServer, 0, new SendOptions(Mode.Reliable), copy), "a copy");
                    Check.Equal(Status.Ok, pair.Client.Send(
                        pair.ToServer, 0, new SendOptions(Mode.Reliable), wrapped), "the array itself");
                }
                Check.Bytes(Numbers(2000), pair.Next(pair.Server, pair.ToClient, out what), "a copy");
                Check.Bytes(shared, pair.Next(pair.Server, pair.ToClient, out what), "the array itself");
            }
            var weak = Forget();
            Check.Until(() => !weak.IsAlive, GC.Collect, "the array of a blob that was freed can be collected");
        }

        [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
        static WeakReference Forget()
        {
            WeakReference weak = null;
            // In a thread of its own, so that no stack of this one holds the array.
            var thread = new System.Threading.Thread(() =>
            {
                var data = new byte[100000];
                weak = new WeakReference(data);
                Blob.Wrap(data).Dispose();
            });
            thread.Start();
            thread.Join();
            return weak;
        }

        public static void the_application_refuses_a_peer_and_says_why()
        {
            using (var pair = new Pair(null, null, Listen.Ask))
            {
                ulong peer = pair.Client.ConnectAny(
                    new[] { pair.Server.LocalAddress }, Encoding.UTF8.GetBytes("let me in"));
                Event request = pair.Await(pair.AtServer, EventType.Request);
                Check.Equal("let me in", Encoding.UTF8.GetString(pair.Server.Greeting(request.Peer)), "greeting");
                byte[] reason = Numbers(64);
                Check.Equal(Status.Ok, pair.Server.Refuse(request.Peer, reason), "refuse");
                Event end = pair.Await(pair.AtClient, EventType.Disconnected);
                Check.Equal(peer, end.Peer, "peer");
                Check.Equal(Reason.RefusedApplication, end.Reason, "reason");
                Check.Bytes(reason, end.Data(), "what the server said");
                Check.Equal(Status.UnknownPeer, pair.Server.Accept(request.Peer), "accept");
            }
        }

        public static void the_application_lets_a_peer_in()
        {
            using (var pair = new Pair(null, null, Listen.Ask))
            {
                pair.Client.Connect(pair.Server.LocalAddress);
                Event request = pair.Await(pair.AtServer, EventType.Request);
                Check.Equal(0, pair.Server.Greeting(request.Peer).Length, "greeting");
                Check.Equal(Status.Ok, pair.Server.Accept(request.Peer), "accept");
                pair.Await(pair.AtClient, EventType.Connected);
                Check.Equal(Status.NotAsked, pair.Server.Accept(request.Peer), "a second time");
                Check.Equal(Status.NotAsked, pair.Server.Refuse(request.Peer), "or refuse");
            }
        }

        public static void a_receipt_tells_that_a_packet_was_delivered_and_another_was_cancelled()
        {
            using (var pair = Pair.Connected())
            {
                var options = new SendOptions(Mode.Reliable) { Receipt = 77 };
                Check.Equal(77UL, options.Receipt, "receipt");
                Check.Equal(null, options.Key, "key");
                pair.Client.Send(pair.ToServer, 0, options, new byte[] { 1 }, 0, 1);
                Received what;
                pair.Next(pair.Server, pair.ToClient, out what);
                Event receipt = pair.Await(pair.AtClient, EventType.Receipt);
                Check.Equal(77UL, receipt.Token, "token");
                Check.Equal(Outcome.Delivered, receipt.Outcome, "outcome");

                options.Receipt = 78;
                pair.AtClient.Clear();
                pair.Client.Send(pair.ToServer, 0, options, Numbers(500000), 0, 500000);
                Progress progress;
                Check.Equal(Status.One, pair.Client.SendProgress(pair.ToServer, 0, 78, out progress), "progress");
                Check.Equal(500000U, progress.Length, "length");
                Check.Equal(Status.One, pair.Client.Cancel(pair.ToServer, 0, 78), "cancel");
                Check.Equal(Status.Ok, pair.Client.Cancel(pair.ToServer, 0, 79), "nothing to cancel");
                Check.Equal(Outcome.Cancelled, pair.Await(pair.AtClient, EventType.Receipt).Outcome, "outcome");
                Check.Equal(Status.Ok, pair.Client.SendProgress(pair.ToServer, 0, 78, out progress), "no progress");
                Check.Equal(Status.Ok, pair.Server.ReceiveProgress(pair.ToClient, 0, out progress), "nothing comes");
            }
        }

        public static void of_packets_with_a_key_only_the_newest_is_sent()
        {
            using (var pair = Pair.Connected())
            {
                var options = new SendOptions(Mode.Reliable) { Key = 5, TtlUs = 20000000 };
                Check.Equal(5UL, options.Key, "key");
                for (byte i = 1; i <= 9; i++) pair.Client.Send(pair.ToServer, 0, options, new[] { i }, 0, 1);
                Received what;
                Check.Bytes(new byte[] { 9 }, pair.Next(pair.Server, pair.ToClient, out what), "the newest");
                PeerStats stats;
                Check.Equal(Status.Ok, pair.Client.Info(pair.ToServer, out stats), "info");
                Check.Equal(8UL, stats.PacketsReplaced, "replaced");
            }
        }

        public static void what_was_sent_is_delivered_before_a_connection_ends()
        {
            using (var pair = Pair.Connected())
            {
                for (int i = 0; i < 100; i++) pair.Client.Send(pair.ToServer, 0, Mode.Reliable, Numbers(1000));
                Check.Equal(Status.Ok, pair.Client.Disconnect(pair.ToServer, 42, 20000000), "disconnect");
                Check.Equal(Status.Disconnecting, pair.Client.Send(pair.ToServer, 0, Mode.Reliable, Numbers(1)), "send");
                Event end = pair.Await(pair.AtServer, EventType.Disconnected);
                Check.Equal(Reason.ByPeer, end.Reason, "reason");
                Check.Equal(42U, end.Code, "code");
                Check.Equal(Reason.ByUs, pair.Await(pair.AtClient, EventType.Disconnected).Reason, "reason");

                var readable = new ulong[4];
                Check.Equal(1, pair.Server.Readable(readable), "peers with packets");
                Check.Equal(pair.ToClient, readable[0], "that has ended");
                Received what;
                var buffer = new byte[1000];
                int count = 0;
                while (pair.Server.Receive(pair.ToClient, out what, buffer) == Status.One) count++;
                Check.Equal(100, count, "packets of the peer that has ended");
                Check.Equal(Status.UnknownPeer, pair.Server.Send(pair.ToClient, 0, Mode.Reliable, Numbers(1)), "send");
                Check.Equal(Status.UnknownPeer, pair.Server.Disconnect(pair.ToClient), "disconnect");
                Check.Until(() => pair.Client.IsEmpty && pair.Server.IsEmpty, pair.Turn, "both are empty");
                Check.That(pair.Client.PeerState(pair.ToServer) != State.Connected, "state");
            }
        }

        public static void a_host_that_is_disposed_says_goodbye_and_one_that_closes_waits()
        {
            using (var pair = Pair.Connected())
            {
                pair.Client.Dispose();
                var what = new Event();
                Check.Until(() => pair.Server.Poll(ref what) && what.Type == EventType.Disconnected,
                    () => pair.Server.Step(), "the end");
                Check.Equal(Reason.ByPeer, what.Reason, "reason");
            }
            using (var pair = Pair.Connected(config => { config.DisconnectTimeoutUs = 20000; return config; }))
            {
                pair.Server.Close(7, 0);
                Check.Equal(7U, pair.Await(pair.AtClient, EventType.Disconnected).Code, "code");
            }
        }

        public static void a_full_send_budget_is_a_status_and_room_is_an_event()
        {
            using (var pair = Pair.Connected(c => { c.SendBudget = 4000; return c; }))
            {
                Status status = Status.Ok;
                for (int i = 0; i < 10 && status == Status.Ok; i++)
                {
                    status = pair.Client.Send(pair.ToServer, 0, Mode.Reliable, Numbers(1000));
                }
                Check.Equal(Status.Full, status, "status");
                pair.Await(pair.AtClient, EventType.Writable);
                Check.Equal(Status.Ok, pair.Client.Send(pair.ToServer, 0, Mode.Reliable, Numbers(1000)), "send");
            }
        }

        public static void channels_have_the_settings_that_they_are_given()
        {
            var channels = new[] { new Channel(), new Channel { High = true, Unordered = true, Weight = 2 } };
            Check.That(channels[1].High && channels[1].Unordered && !channels[0].High, "settings");
            using (var pair = Pair.Connected(null, channels))
            {
                PeerStats stats;
                Check.Equal(Status.Ok, pair.Client.Info(pair.ToServer, out stats), "info");
                Check.Equal(2U, stats.Channels, "channels");
                ChannelStats channel;
                Check.Equal(Status.Ok, pair.Client.Info(pair.ToServer, 1, out channel), "info of a channel");
                Check.Equal(Status.UnknownChannel, pair.Client.Info(pair.ToServer, 2, out channel), "no channel");
                Check.Equal(Status.UnknownChannel, pair.Client.Send(pair.ToServer, 2, Mode.Reliable, Numbers(1)), "send");
                Check.Equal(Status.Ok, pair.Client.SetChannelRate(pair.ToServer, 1, 100000), "rate");
                Check.Equal(Status.UnknownChannel, pair.Client.SetChannelRate(pair.ToServer, 2, 1), "rate");
            }
        }

        public static void statistics_tell_what_happened()
        {
            using (var pair = Pair.Connected())
            {
                var options = new SendOptions(Mode.Reliable) { Receipt = 1 };
                Received what;
                pair.Client.Send(pair.ToServer, 0, options, Numbers(10), 0, 10);
                pair.Next(pair.Server, pair.ToClient, out what);
                pair.Await(pair.AtClient, EventType.Receipt);
                PeerStats sent, got;
                Check.Equal(Status.Ok, pair.Client.Info(pair.ToServer, out sent), "info");
                Check.Equal(Status.Ok, pair.Server.Info(pair.ToClient, out got), "info");
                Check.Equal(State.Connected, sent.State, "state");
                Check.Equal(1UL, sent.PacketsSent.Reliable, "packets sent");
                Check.Equal(10UL, sent.PacketBytesSent.Reliable, "bytes in them");
                Check.Equal(0UL, sent.PacketsSent.Unreliable + sent.PacketsSent.Passive, "other packets");
                Check.Equal(1UL, got.PacketsReceived.Reliable, "packets received");
                Check.Equal(10UL, got.PacketBytesReceived.Reliable, "bytes in them");
                Check.That(sent.RttUs > 0 && sent.RttUs < 10000000, "round trip " + sent.RttUs);
                Check.That(sent.MaxUnfragmented > 400 && sent.MaxUnfragmented < sent.PathMtu, "unfragmented");
                Check.Equal(100, sent.Quality, "quality");
                Check.Equal(0, sent.LossSent, "loss");

                var host = new HostStats();
                pair.Server.Info(host);
                Check.Equal(1UL, host.Accepted, "accepted");
                Check.Equal(1UL, host.Connected, "connected");
                Check.That(host.DatagramsReceived >= 3 && host.BytesReceived > 1200, "datagrams");
                Check.Equal(0UL, host.Ignored(1) + host.TokensRefused(0) + host.SendLost, "nothing bad");
                pair.Client.Info(host);
                Check.Equal(0UL, host.Accepted, "accepted");
                Check.Throws<ArgumentOutOfRangeException>(() => host.Ignored(32), "a cause");

                var peers = new ulong[1];
                Check.Equal(1, pair.Server.Peers(peers), "peers");
                Check.Equal(pair.ToClient, peers[0], "peer");
                Check.Equal(1, pair.Server.Peers(new ulong[0]), "peers, and no room");
            }
        }

        public static void rates_are_kept()
        {
            using (var pair = Pair.Connected())
            {
                Check.Equal(Status.Ok, pair.Client.SetSendRate(pair.ToServer, 1000000), "rate");
                Check.Equal(Status.Ok, pair.Server.SetReceiveRate(pair.ToClient, 1000000), "rate");
                pair.Client.SetHostSendRate(1000000);
                pair.Client.SetTimeLimit(1000);
                Check.Equal(Status.UnknownPeer, pair.Client.SetSendRate(1, 0), "rate");
                Check.Equal(Status.UnknownPeer, pair.Client.SetReceiveRate(1, 0), "rate");
                Check.That(!pair.Client.IsBlocked, "room");
                pair.Client.Wait(1000);
                pair.Client.Transmit();
                Check.That(pair.Client.DueInUs < ulong.MaxValue, "something is due");
                Check.That(pair.Client.Socket != IntPtr.Zero, "a socket");
            }
        }

        public static void nobody_answers_at_a_closed_port()
        {
            Address nobody;
            using (Host gone = Host.Bind("127.0.0.1:0", Config.Of(Preset.Client))) nobody = gone.LocalAddress;
            using (var pair = new Pair(c => { c.ConnectTimeoutUs = 200000; return c; }))
            {
                pair.Client.Connect(nobody);
                Event end = pair.Await(pair.AtClient, EventType.Disconnected);
                Check.Equal(Reason.NeverAnswered, end.Reason, "reason");
                if (pair.AtClient.Any(e => e.Type == EventType.PortClosed))
                {
                    Check.Equal(nobody, pair.AtClient.First(e => e.Type == EventType.PortClosed).Address, "port");
                }
            }
        }

        public static void an_inbox_gives_packets_before_the_end_of_their_peer()
        {
            using (var pair = Pair.Connected())
            {
                var inbox = new Inbox(pair.Server, 4);
                for (byte i = 0; i < 5; i++) pair.Client.Send(pair.ToServer, 0, Mode.Reliable, new[] { i });
                pair.Client.Send(pair.ToServer, 0, Mode.Reliable, Numbers(20000));
                pair.Client.Disconnect(pair.ToServer, 3, 20000000);
                var seen = new List<string>();
                Check.Until(() => seen.Contains("Disconnected 3"), () =>
                {
                    pair.Client.Step();
                    pair.Server.Step();
                    while (inbox.Next())
                    {
                        Check.Equal(pair.ToClient, inbox.Event.Peer, "peer");
                        bool packet = inbox.Event.Type == EventType.Readable;
                        if (packet) Check.Equal(Mode.Reliable, inbox.Mode, "mode");
                        seen.Add(inbox.Event.Type + " " + (packet ? inbox.Bytes.Count : (int)inbox.Event.Code));
                    }
                }, "the end");
                var wanted = Enumerable.Repeat("Readable 1", 5).Concat(new[] { "Readable 20000", "Disconnected 3" });
                Check.Equal(string.Join(", ", wanted.ToArray()), string.Join(", ", seen.ToArray()), "what came");
            }
        }

        public static void an_inbox_tells_packets_from_events()
        {
            using (var pair = Pair.Connected())
            {
                var inbox = new Inbox(pair.Client);
                var seen = new List<string>();
                Action turn = () =>
                {
                    pair.Server.Step();
                    pair.Client.Step();
                    while (inbox.Next()) seen.Add(inbox.Event.Type + " " + inbox.Bytes.Count);
                };
                for (int i = 1; i <= 3; i++)
                {
                    pair.Server.Send(pair.ToClient, 0, Mode.Reliable, new byte[i]);
                    Check.Until(() => seen.Count == 2 * i - 1, turn, "a packet");
                    var options = new SendOptions(Mode.Reliable) { Receipt = 5 };
                    pair.Client.Send(pair.ToServer, 0, options, new byte[9], 0, 9);
                    Check.Until(() => seen.Count == 2 * i, turn, "a receipt");
                }
                Check.Equal("Readable 1, Receipt 0, Readable 2, Receipt 0, Readable 3, Receipt 0",
                    string.Join(", ", seen.ToArray()), "what came");
            }
        }

        /// <summary>The id that a host makes so for its first peer, as it stands in a datagram to it.</summary>
        static byte[] MadeId(ConnectionIds ids)
        {
            Config config = Config.Of(Preset.Default);
            config.ConnectionIdLen = 12;
            var seed = new byte[32];
            seed[0] = 1;
            using (Host server = Host.WithoutSocket(config, seed), client = Host.WithoutSocket(config, new byte[32]
                { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 }))
            {
                Address at = Address.Own(new byte[] { 1 }), from = Address.Own(new byte[] { 2 });
                server.SetConnectionIds(ids);
                server.Listen(Listen.Open);
                ulong peer = client.Connect(at);
                var buffer = new byte[2000];
                for (ulong now = 5000; now < 10000000; now += 5000)
                {
                    Transmit transmit;
                    server.SetTime(now);
                    client.SetTime(now);
                    client.Timeout();
                    while (client.Output(out transmit, buffer))
                    {
                        // Short forms begin with the bits 01, and then with the id.
                        if (buffer[0] >> 6 == 1) return buffer.Skip(1).Take(12).ToArray();
                        server.Input(from, Ecn.NotEct, buffer, 0, transmit.Length);
                    }
                    server.Timeout();
                    while (server.Output(out transmit, buffer)) client.Input(at, Ecn.NotEct, buffer, 0, transmit.Length);
                    client.Send(peer, 0, Mode.Reliable, new byte[] { 1 });
                }
            }
            throw new Failure("no datagram with an id");
        }

        public static void ids_are_made_for_what_routes_by_them()
        {
            Check.Equal(0xA5, (int)MadeId(ConnectionIds.Sharded(0xA5, 8))[0], "shard");
            byte[] server = { 1, 2, 3 }, key = new byte[16], plain = MadeId(ConnectionIds.QuicLb(2, server));
            Check.Bytes(new byte[] { 2 << 5 | 11, 1, 2, 3 }, plain.Take(4).ToArray(), "server");
            byte[] hidden = MadeId(ConnectionIds.QuicLb(2, server, key));
            key[15] = 1;
            byte[] other = MadeId(ConnectionIds.QuicLb(2, server, key));
            Check.Equal(plain[0], hidden[0], "configuration");
            Check.That(!plain.SequenceEqual(hidden) && !hidden.SequenceEqual(other), "encrypted");
        }

        public static void hosts_share_a_port()
        {
            Host[] hosts;
            try
            {
                hosts = Host.BindShards(4, "127.0.0.1:0", Config.Of(Preset.Default));
            }
            catch (PorousException e)
            {
                Check.Equal(Status.Unsupported, e.Status, "on systems that cannot");
                return;
            }
            Check.Equal(hosts[0].LocalAddress, hosts[3].LocalAddress, "address");
            foreach (Host host in hosts) host.Dispose();
            Check.Throws(Status.Value, () => Host.BindShards(3, "127.0.0.1:0", Config.Of(Preset.Default)));
            Check.Throws<ArgumentOutOfRangeException>(
                () => Host.BindShards(129, "127.0.0.1:0", Config.Of(Preset.Default)), "129");
        }

        public static void a_socket_of_the_program_is_adopted()
        {
            var socket = new System.Net.Sockets.Socket(System.Net.Sockets.AddressFamily.InterNetwork,
                System.Net.Sockets.SocketType.Dgram, System.Net.Sockets.ProtocolType.Udp);
            socket.Bind(new System.Net.IPEndPoint(System.Net.IPAddress.Loopback, 0));
            int port = ((System.Net.IPEndPoint)socket.LocalEndPoint).Port;
            using (var generator = Host.Adopt(Duplicate(socket), Config.Of(Preset.Client)))
            {
                Check.Equal(port, generator.LocalAddress.Port, "port");
            }
            socket.Close();
        }

        [System.Runtime.InteropServices.DllImport("libc")]
        static extern int dup(int descriptor);

        static IntPtr Duplicate(System.Net.Sockets.Socket socket) { return (IntPtr)dup((int)socket.Handle); }
    }
}
