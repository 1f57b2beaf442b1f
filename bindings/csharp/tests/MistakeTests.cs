// What a program does wrong is told by an exception, or by a status where the network may be the cause.

using System;
using System.Linq;
using System.Threading;

namespace Porous.Tests
{
    public static class MistakeTests
    {
        static Config Client { get { return Config.Of(Preset.Client); } }
        static Config Default { get { return Config.Of(Preset.Default); } }

        static Config With(Action<Box> change)
        {
            var box = new Box { Config = Default };
            change(box);
            return box.Config;
        }

        sealed class Box { internal Config Config; }

        public static void a_configuration_that_breaks_a_rule_is_told()
        {
            Check.Equal(Status.Ok, Default.Check(), "the default");
            Check.Equal(Status.ConfigMaxDatagram, With(b => b.Config.MaxDatagram = 100).Check(), "max_datagram");
            Check.Equal(Status.ConfigRequestSize, With(b => b.Config.RequestSize = 100).Check(), "request_size");
            Check.Equal(Status.ConfigWindow, With(b => b.Config.FrameWindow = 17).Check(), "frame_window");
            Check.Equal(Status.ConfigReceiveBudget, With(b => b.Config.ReceiveBudget = 1).Check(), "receive_budget");
            Check.Equal(Status.ConfigChannels, With(b => b.Config.ChannelCount = 256).Check(), "channels");
            Check.Equal(Status.ConfigConnectionIdLen, With(b => b.Config.ConnectionIdLen = 21).Check(), "ids");
            Check.Equal(Status.ConfigReplyLimit, With(b => b.Config.Replies = 1000001).Check(), "replies");
            Check.Equal(Status.ConfigSuites, With(b => b.Config.Suite0 = b.Config.Suite1 = Suite.AesGcm).Check(), "suites");
            Check.Equal(Status.Value, With(b => b.Config.Policy = (Policy)9).Check(), "policy");
            Check.Equal(Status.ConfigChannels, Default.Check(new Channel[256]), "channels");
            Check.Throws(Status.ConfigWindow, () => Host.Bind("127.0.0.1:0", With(b => b.Config.PacketWindow = 17)));
            Check.Throws(Status.ConfigWindow, () => Host.WithoutSocket(With(b => b.Config.PacketWindow = 17)));
            Check.Throws(Status.Value, () => Config.Of((Preset)9));
        }

        public static void an_address_that_is_none_is_told()
        {
            Check.Throws(Status.Address, () => Address.Parse("here:99"));
            Check.Throws(Status.Address, () => Address.Parse("1.2.3.4"));
            Check.Throws<ArgumentNullException>(() => Address.Parse(null), "null");
            Address address;
            Check.That(!Address.TryParse("somewhere", out address), "no address");
            Check.Throws<ArgumentOutOfRangeException>(() => Address.Own(new byte[25]), "too long");
            Check.Throws(Status.Address, () => Host.Bind("nonsense", Default));
            Address[] found;
            Check.Equal(Status.Address, Library.Resolve("no port", out found), "resolve");
            Check.Equal(0, found.Length, "addresses");
        }

        public static void an_address_that_is_taken_is_an_error_of_the_system()
        {
            using (Host first = Host.Bind("127.0.0.1:0", Default))
            {
                var e = Check.Throws<PorousException>(() => Host.Bind(first.LocalAddress.ToString(), Default), "bind");
                Check.Equal(Status.InUse, e.Status, "status");
                Check.That(e.Message.Contains(first.LocalAddress.ToString()), "the address in: " + e.Message);
            }
            Check.Throws(Status.NotAvailable, () => Host.Bind("192.0.2.1:0", Default));
        }

        public static void calls_that_name_a_wrong_address_throw()
        {
            using (Host host = Host.Bind("127.0.0.1:0", Client))
            {
                Check.Throws(Status.AddressPortZero, () => host.Connect(Address.Parse("127.0.0.1:0")));
                Check.Throws(Status.AddressUnspecified, () => host.Connect(Address.Parse("0.0.0.0:9")));
                Check.Throws(Status.AddressBroadcast, () => host.Connect(Address.Parse("224.0.0.1:9")));
                Check.Throws(Status.AddressFamily, () => host.Connect(Address.Parse("[::1]:9")));
                Check.Throws(Status.AddressItself, () => host.Connect(host.LocalAddress));
                Check.Throws(Status.Address, () => host.Connect(Address.Own(new byte[] { 1 })));
                Check.Throws(Status.Address, () => host.Connect(new Address()));
                Check.Throws(Status.NoAddress, () => host.ConnectAny(new Address[0]));
                var nine = Enumerable.Range(1, 9).Select(i => Address.Parse("127.0.0.1:" + i)).ToArray();
                Check.Throws(Status.TooManyAddresses, () => host.ConnectAny(nine));
                Check.Throws(Status.TooLong, () => host.ConnectAny(new[] { nine[0] }, new byte[256]));
                host.Connect(nine[0]);
                Check.Throws(Status.AlreadyConnected, () => host.Connect(nine[0]));
            }
        }

        public static void a_client_cannot_listen_and_an_unknown_policy_is_none()
        {
            using (Host host = Host.Bind("127.0.0.1:0", Client))
            {
                Check.Throws(Status.CannotListen, () => host.Listen(Listen.Open));
            }
            using (Host host = Host.Bind("127.0.0.1:0", Default))
            {
                Check.Throws(Status.Value, () => host.Listen((Listen)9));
            }
        }

        public static void a_call_for_the_other_kind_of_host_throws()
        {
            var stats = new HostStats();
            Address address = Address.Parse("127.0.0.1:9");
            using (Host host = Host.Bind("127.0.0.1:0", Default))
            {
                Check.Throws(Status.Kind, () => host.SetTime(1));
                Check.Throws(Status.Kind, () => host.Input(address, Ecn.NotEct, new byte[9], 0, 9));
                Check.Throws(Status.Kind, () => { Transmit transmit; host.Output(out transmit, new byte[9999]); });
                Check.Throws(Status.Kind, () => host.Timeout());
                Check.Throws(Status.Kind, () => { ulong deadline = host.Deadline; });
                Check.Throws(Status.Kind, () => { int size = host.BufferSize; });
                Check.Throws(Status.Kind, () => host.Unreachable(address));
                Check.Throws(Status.Kind, () => host.PortClosed(address));
                Check.Throws(Status.Kind, () => host.PortClosed(null));
                Check.Throws(Status.Kind, () => host.SetUnixTime(1));
                host.Info(stats);
            }
            using (Host host = Host.WithoutSocket(Default))
            {
                Check.Throws(Status.Kind, () => host.Step());
                Check.Throws(Status.Kind, () => host.Transmit());
                Check.Throws(Status.Kind, () => host.Wait(1));
                Check.Throws(Status.Kind, () => host.Close(0, 0));
                Check.Throws(Status.Kind, () => { address = host.LocalAddress; });
                Check.Throws(Status.Kind, () => { IntPtr socket = host.Socket; });
                Check.Throws(Status.Kind, () => { ulong due = host.DueInUs; });
                Check.Throws(Status.Kind, () => { bool blocked = host.IsBlocked; });
                Check.Throws(Status.Kind, () => host.SetTimeLimit(1));
                host.Info(stats);
            }
        }

        public static void ids_that_cannot_be_made_are_told()
        {
            using (Host host = Host.WithoutSocket(Default))
            {
                Check.Throws(Status.IdsShardBits, () => host.SetConnectionIds(ConnectionIds.Sharded(0, 9)));
                Check.Throws(Status.IdsShard, () => host.SetConnectionIds(ConnectionIds.Sharded(2, 1)));
                Check.Throws(Status.IdsRotation, () => host.SetConnectionIds(ConnectionIds.QuicLb(7, new byte[1])));
                Check.Throws(Status.IdsServerId, () => host.SetConnectionIds(ConnectionIds.QuicLb(0, new byte[0])));
                Check.Throws(Status.IdsTooShort, () => host.SetConnectionIds(ConnectionIds.QuicLb(0, new byte[1])));
                Check.Throws<ArgumentException>(() => ConnectionIds.QuicLb(0, new byte[16]), "16 bytes");
                Check.Throws<ArgumentException>(() => ConnectionIds.QuicLb(0, new byte[1], new byte[15]), "key");
                host.SetConnectionIds(ConnectionIds.Random());
                host.Backlog(true);
                host.Backlog(false);
                var stats = new HostStats();
                host.Info(stats);
                Check.Equal(0UL, stats.Overloaded, "overloaded");
            }
        }

        public static void a_suffix_that_is_too_long_or_too_late_is_told()
        {
            using (Host host = Host.Bind("127.0.0.1:0", Client))
            {
                Address proxy = Address.Parse("127.0.0.1:9");
                Check.Throws(Status.TooLong, () => host.SetSuffix(proxy, new byte[33]));
                host.SetSuffix(proxy, new byte[] { 1, 2 });
                host.Connect(proxy);
                Check.Throws(Status.AlreadyConnected, () => host.SetSuffix(proxy, new byte[0]));
            }
        }

        public static void a_seed_that_is_forgotten_or_short_is_told()
        {
            Check.Throws(Status.Value, () => Host.WithoutSocket(Default, new byte[32]));
            Check.Throws<ArgumentException>(() => Host.WithoutSocket(Default, new byte[31]), "31 bytes");
        }

        public static void a_socket_that_is_none_is_told()
        {
            Check.Throws(Status.Value, () => Host.Adopt((IntPtr)(-1), Default));
        }

        public static void a_buffer_that_is_too_small_is_told()
        {
            using (Host host = Host.WithoutSocket(Default))
            {
                Transmit transmit;
                Check.Throws(Status.Small, () => host.Output(out transmit, new byte[host.BufferSize - 1]));
                Check.That(!host.Output(out transmit, new byte[host.BufferSize]), "nothing to send");
            }
        }

        public static void a_part_beyond_an_array_throws_before_the_library_sees_it()
        {
            using (Host host = Host.Bind("127.0.0.1:0", Default))
            {
                Received what;
                foreach (var part in new[] { new[] { 0, 11 }, new[] { 11, 0 }, new[] { -1, 1 }, new[] { 1, -1 },
                    new[] { 5, 6 }, new[] { int.MaxValue, 2 }, new[] { 2, int.MaxValue } })
                {
                    string text = part[0] + ", " + part[1];
                    Check.Throws<ArgumentOutOfRangeException>(
                        () => host.Send(1, 0, Mode.Reliable, new byte[10], part[0], part[1]), text);
                    Check.Throws<ArgumentOutOfRangeException>(
                        () => host.Receive(1, out what, new byte[10], part[0], part[1]), text);
                    Check.Throws<ArgumentOutOfRangeException>(() => Blob.Copy(new byte[10], part[0], part[1]), text);
                }
                Check.Throws<ArgumentNullException>(() => host.Send(1, 0, Mode.Reliable, null, 0, 1), "null");
                Check.Equal(Status.UnknownPeer, host.Send(1, 0, Mode.Reliable, null, 0, 0), "null of no bytes");
            }
        }

        public static void a_peer_that_never_was_is_a_status()
        {
            using (Host host = Host.Bind("127.0.0.1:0", Default))
            using (Blob blob = Blob.Copy(new byte[3], 0, 3))
            {
                var options = new SendOptions(Mode.Reliable);
                PeerStats stats;
                ChannelStats channel;
                Progress progress;
                Address address;
                Received what;
                Packet packet;
                Check.Equal(Status.UnknownPeer, host.Send(9, 0, Mode.Reliable, new byte[1]), "send");
                Check.Equal(Status.UnknownPeer, host.Send(9, 0, options, new byte[1], 0, 1), "send");
                Check.Equal(Status.UnknownPeer, host.Send(9, 0, options, blob), "send");
                Check.Equal(Status.UnknownPeer, host.Disconnect(9), "disconnect");
                Check.Equal(Status.UnknownPeer, host.Accept(9), "accept");
                Check.Equal(Status.UnknownPeer, host.Refuse(9), "refuse");
                Check.Equal(Status.UnknownPeer, host.Cancel(9, 0, 0), "cancel");
                Check.Equal(Status.UnknownPeer, host.Info(9, out stats), "info");
                Check.Equal(Status.UnknownPeer, host.Info(9, 0, out channel), "info");
                Check.Equal(Status.UnknownPeer, host.SendProgress(9, 0, 0, out progress), "progress");
                Check.Equal(Status.UnknownPeer, host.ReceiveProgress(9, 0, out progress), "progress");
                Check.Equal(Status.Ok, host.Receive(9, out what, new byte[1]), "receive");
                Check.Equal(Status.Ok, host.Receive(9, out what, out packet), "receive");
                Check.That(!host.PeerAddress(9, out address), "address");
                Check.That(host.Greeting(9) == null, "greeting");
                Check.Equal(State.None, host.PeerState(9), "state");
                Check.That(host.IsEmpty, "empty");
                host.DisconnectAll();
            }
        }

        public static void a_packet_that_cannot_be_sent_is_a_status()
        {
            using (var pair = Pair.Connected(c => { c.MaxPacket = 2000; return c; }))
            {
                var wrong = new SendOptions((Mode)9);
                Check.Equal(Status.TooLarge, pair.Client.Send(
                    pair.ToServer, 0, Mode.Reliable, new byte[2001]), "too large");
                Check.Equal(Status.Value, pair.Client.Send(pair.ToServer, 0, (Mode)9, new byte[1]), "mode");
                Check.Equal(Status.Value, pair.Client.Send(pair.ToServer, 0, wrong, new byte[1], 0, 1), "mode");
                Check.Equal(Status.UnknownChannel, pair.Client.Send(
                    pair.ToServer, 255, Mode.Reliable, new byte[1]), "channel");
            }
            using (var pair = new Pair())
            {
                ulong peer = pair.Client.Connect(pair.Server.LocalAddress);
                Check.Equal(Status.NotConnected, pair.Client.Send(peer, 0, Mode.Reliable, new byte[1]), "send");
                Check.Equal(Status.NotConnected, pair.Client.SetSendRate(peer, 1), "rate");
            }
            using (var pair = new Pair(null, null, Listen.Ask))
            {
                pair.Client.Connect(pair.Server.LocalAddress);
                Event request = pair.Await(pair.AtServer, EventType.Request);
                Check.Equal(Status.TooLong, pair.Server.Refuse(request.Peer, new byte[65]), "65 bytes");
            }
        }

        public static void what_is_disposed_throws()
        {
            Host host = Host.Bind("127.0.0.1:0", Default);
            Blob blob = Blob.Copy(new byte[1], 0, 1);
            host.Dispose();
            host.Dispose();
            var what = new Event();
            Check.Throws<ObjectDisposedException>(() => host.Step(), "step");
            Check.Throws<ObjectDisposedException>(() => host.Poll(ref what), "poll");
            Check.Throws<ObjectDisposedException>(() => host.Send(1, 0, Mode.Reliable, new byte[1]), "send");
            blob.Dispose();
            using (Host other = Host.Bind("127.0.0.1:0", Default))
            {
                Check.Throws<ObjectDisposedException>(() => other.Send(1, 0, new SendOptions(), blob), "a blob");
            }
        }

        public static void two_threads_in_one_host_are_told()
        {
            using (Host host = Host.Bind("127.0.0.1:0", Default))
            {
                bool ended = false;
                var waiting = new Thread(() =>
                {
                    for (int i = 0; i < 3000 && !Volatile.Read(ref ended); i++)
                    {
                        try { host.Wait(2000); } catch (PorousException) { }
                    }
                });
                waiting.Start();
                Check.Until(() =>
                {
                    try { host.Transmit(); return false; }
                    catch (PorousException e) { return e.Status == Status.Busy; }
                }, () => { }, "a host that is busy");
                Volatile.Write(ref ended, true);
                waiting.Join();
                host.Step();
            }
        }

        public static void the_library_is_there_and_each_status_has_a_text()
        {
            string why;
            Check.That(Library.IsAvailable(out why), why);
            foreach (Status status in Enum.GetValues(typeof(Status)))
            {
                Check.That(Library.Text(status).Length > 3, status.ToString());
            }
            Library.OnPanic(text => { });
            Library.OnPanic(null);
        }
    }
}
